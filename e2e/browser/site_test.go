package browser

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/internal/web"
	"github.com/tracesmith/tracesmith/internal/web/webtest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// site is the page on a store of its own.
type site struct {
	t      testing.TB
	runs   *store.Store
	server *web.Server
	inside map[*tab]bool // whose cookie is there already
}

func newSite(t testing.TB) *site {
	t.Helper()
	return siteOf(t, web.Config{})
}

// siteOf is a site with settings of its own.
func siteOf(t testing.TB, cfg web.Config) *site {
	t.Helper()
	ctx := context.Background()
	runs, err := webtest.Open(ctx, filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store = runs
	server, err := web.Start(cfg, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closing, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := server.Close(closing); err != nil {
			t.Error(err)
		}
		if err := runs.Close(); err != nil {
			t.Error(err)
		}
	})
	return &site{t: t, runs: runs, server: server, inside: map[*tab]bool{}}
}

// put stores runs that are new.
func (s *site) put(runs ...runtypes.Wire) {
	s.t.Helper()
	if err := s.runs.Apply(context.Background(), runs, nil); err != nil {
		s.t.Fatal(err)
	}
}

// end stores what ends a run that is there.
func (s *site) end(run runtypes.Wire) {
	s.t.Helper()
	if err := s.runs.Apply(context.Background(), nil, []runtypes.Wire{run}); err != nil {
		s.t.Fatal(err)
	}
}

// open goes to a view as from a bookmark: the page is loaded anew.
func (s *site) open(b *tab, view string) {
	b.Helper()
	if !s.inside[b] {
		s.inside[b] = true
		b.do(chromedp.Navigate(s.server.URL()))
	}
	base, _, _ := strings.Cut(s.server.URL(), "?")
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(base+view))
}
