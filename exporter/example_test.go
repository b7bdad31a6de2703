package exporter_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/runtypes"
)

// A Go agent wraps its turn loop and lets a Batcher deliver the runs.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted) // LangSmith, for the example
	}))
	defer server.Close()

	batcher, err := exporter.New(exporter.Config{
		Endpoint: server.URL,
		APIKey:   "lsv2_pt_…",
		Project:  "my-agent",
		OnDrop: func(lost []runtypes.Op, why error) {
			fmt.Println(len(lost), "ops lost:", why)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	turn := runtypes.StartTurn(batcher, runtypes.Identity{
		Integration: "my-agent", Runtime: "My Agent", ThreadID: "thread-1",
	}, "How many files are there?")
	ls := turn.Tool("bash", "call_1", map[string]string{"command": "ls | wc -l"})
	ls.End("3")
	turn.End("Three.")

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := batcher.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	stats := batcher.Stats()
	fmt.Println(stats.Delivered, "ops delivered,", len(stats.Dropped), "reasons for drops")
	// Output: 3 ops delivered, 0 reasons for drops
}
