package web_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/web"
	"github.com/tracesmith/tracesmith/internal/web/webtest"
)

// manyTurns is what the page has to stay quick with.
const manyTurns = 10_000

// BenchmarkManyTurns asks what a page asks, of a store of 10,000 turns and 100,000 runs.
func BenchmarkManyTurns(b *testing.B) {
	runs, err := webtest.Open(b.Context(), filepath.Join(b.TempDir(), "store", "runs.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer runs.Close()
	began := time.Now()
	if err := webtest.Seed(b.Context(), runs, manyTurns, noon); err != nil {
		b.Fatal(err)
	}
	size, err := runs.Size(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d turns, %d runs, %d MiB, stored in %s", manyTurns, manyTurns*webtest.RunsPerTurn, size>>20, time.Since(began).Round(time.Second))
	server, err := web.Start(web.Config{Store: runs, Token: token}, "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close(b.Context())
	page := newPage(b, server)
	turns := page.list(b, "turns", "")
	if len(turns) == 0 {
		b.Fatal("no turns")
	}
	trace := turns[0]["trace_id"].(string)
	threads := page.list(b, "threads", "")
	for _, ask := range []struct{ name, path string }{
		{"list threads", "/api/threads"},
		{"list turns", "/api/turns"},
		{"search a rare word", "/api/threads?q=zebra"},
		{"search a common word", "/api/threads?q=handler+err"},
		{"search in vain", "/api/threads?q=nowhere"},
		{"filter failed", "/api/threads?failed=1"},
		{"filter failed steps", "/api/threads?failed_steps=1"},
		{"filter agent", "/api/threads?agent=pi&branch=main"},
		{"open a thread", "/api/threads/" + threads[0]["id"].(string)},
		{"open a turn", "/api/traces/" + trace},
		{"open a run", "/api/runs/" + trace + "?trace=" + trace},
		{"export a turn", "/api/traces/" + trace + "/export.html"},
		{"totals by day", "/api/totals?by=day"},
		{"totals by thread", "/api/totals?by=thread"},
	} {
		b.Run(ask.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				page.get(b, ask.path, http.StatusOK)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(0, "ns/op")
			for _, p := range []int{50, 99} {
				b.ReportMetric(float64(took[(len(took)-1)*p/100].Microseconds())/1e3, fmt.Sprintf("p%d-ms", p))
			}
		})
	}
}
