package store_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

var _ ingest.Sink = (*store.Store)(nil)

func TestAProtocolServerKeepsRunsInTheStore(t *testing.T) {
	s := open(t, store.Config{})
	server, err := ingest.Start(ingest.Config{Sink: s}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close(context.Background()) // the test is over
	root, llm, tool := turn("th", 1, noon)
	runtypes.Finish(root, noon.Add(time.Second))
	send := func(want int, ops ...runtypes.Op) {
		t.Helper()
		runs := make([]string, len(ops))
		for i, op := range ops {
			w, err := runtypes.Encode(op)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := runtypes.Marshal(w)
			if err != nil {
				t.Fatal(err)
			}
			runs[i] = string(raw)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL()+"/runs/batch",
			strings.NewReader(`{"post":[`+strings.Join(runs, ",")+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		res, err := (&http.Transport{}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%d, want %d", res.StatusCode, want)
		}
	}
	send(202, post(root, llm)...)
	send(409, post(llm, tool)...) // and nothing of it is kept
	send(202, post(tool)...)
	runs := trace(t, s, root.ID.String())
	if len(runs) != 3 || runs[0].EndTime == "" || server.Stats().Posts != 3 {
		t.Errorf("%d runs, %+v", len(runs), server.Stats())
	}
}
