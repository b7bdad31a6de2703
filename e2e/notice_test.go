//go:build e2e

package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// A user whose turns do not arrive is told so at the start of a session. The model is
// not.
func TestDeliveriesThatFailAreShownToTheUserAlone(t *testing.T) {
	t.Parallel()
	needTerminal(t)
	w := newWorld(t)
	w.told = true
	w.failing()
	heard := w.listen()
	term := w.open()
	term.shows("Tracesmith cannot deliver to")
	term.prompt("SCENARIO:plain please")
	term.shows("Two widgets are in stock")
	term.leave()
	if text := heard(); len(text) == 0 || bytes.Contains(text, []byte("cannot deliver")) {
		t.Errorf("the model was told, or nothing (%d bytes)", len(text))
	}
	w.turns(term.thread, 1)[0].completed("Hello from the scripted model. Two widgets are in stock.")
}

// failing notes three failures in a row of the destination that is configured.
func (w *world) failing() {
	w.t.Helper()
	env := func(name string) string {
		if name == "HOME" || name == "USERPROFILE" {
			return w.home
		}
		return ""
	}
	settings, err := config.Load(config.Options{Env: env, Agent: w.name})
	if err != nil {
		w.t.Fatal(err)
	}
	dir, err := journal.DefaultDir(env)
	if err != nil {
		w.t.Fatal(err)
	}
	state, err := journal.Open(filepath.Clean(dir))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := state.UpdateDestination(settings.Destination(), func(d *journal.Destination) {
		d.Name, d.Since, d.Failures, d.Error = w.server.URL(), time.Now().UTC(), 3, "status 503"
	}); err != nil {
		w.t.Fatal(err)
	}
}

// listen stands between the agent and the model and returns what was said to it.
func (w *world) listen() (heard func() []byte) {
	w.t.Helper()
	model, err := url.Parse(w.model.URL())
	if err != nil {
		w.t.Fatal(err)
	}
	var mu sync.Mutex
	var said bytes.Buffer
	proxy := httputil.NewSingleHostReverseProxy(model)
	ear := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		said.Write(body)
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(rw, r)
	}))
	w.t.Cleanup(ear.Close)
	w.env = append(w.env, "ANTHROPIC_BASE_URL="+ear.URL)
	return func() []byte {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Clone(said.Bytes())
	}
}
