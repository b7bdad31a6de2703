package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestOpenFindsThePageOfATurn(t *testing.T) {
	d := newDesk(t)
	known := map[string]bool{}
	smith := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := strings.TrimPrefix(r.URL.Path, "/api/v1/runs/")
		if r.Header.Get("x-api-key") != "key" || !known[id] {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprintf(w, `{"id": %q, "app_path": "/o/t/r/%s"}`, id, id)
	}))
	defer smith.Close()
	open := func(want, wrong string, args ...string) {
		t.Helper()
		page, err := d.page(t.Context(), args, d.env["CLAUDE_CODE_SESSION_ID"])
		if wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) || wrong == "" && err != nil || page != want {
			t.Errorf("got %q, %v, want %q", page, err, want+wrong)
		}
	}
	open("", "no turn is stored yet")
	start := time.Now().Add(-time.Minute)
	first, _ := turn("one", start)
	last, _ := turn("two", start.Add(time.Second))
	d.write(t, runtypes.Post, first, last)
	open("", "there is no key")
	d.env["LANGSMITH_API_KEY"], d.env["LANGSMITH_ENDPOINT"] = "key", smith.URL+"/api/v1"
	open("", "does not have trace "+last.ID.String())
	known[first.ID.String()], known[last.ID.String()] = true, true
	open(smith.URL+"/o/t/r/"+last.ID.String(), "")
	d.env["CLAUDE_CODE_SESSION_ID"] = "one"
	open(smith.URL+"/o/t/r/"+first.ID.String(), "")
	open(smith.URL+"/o/t/r/"+last.ID.String(), "", last.ID.String())
	elsewhere := idgen.New().String()
	known[elsewhere] = true
	open(smith.URL+"/o/t/r/"+elsewhere, "", elsewhere) // from another machine
	open("", "no such trace", "0123456789")
	d.env["LANGSMITH_API_KEY"] = "another"
	open("", "does not have trace", last.ID.String())
}
