package spool_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/exporter/spool"
	"github.com/tracesmith/tracesmith/runtypes"
)

// A Batcher with a spool loses nothing to an outage that outlasts its process.
func Example() {
	dir, err := os.MkdirTemp("", "spool")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	down := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted) // LangSmith, for the example
	}))
	defer server.Close()

	process := func(patience time.Duration, ops ...runtypes.Op) {
		kept, err := spool.Open(spool.Config{Dir: dir})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer kept.Close()
		batcher, err := exporter.New(exporter.Config{Endpoint: server.URL, APIKey: "lsv2_pt_…", Spool: kept})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, op := range ops {
			if err := batcher.Submit(op); err != nil {
				fmt.Println(err)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = batcher.Shutdown(ctx) // what it leaves is in the spool
		fmt.Println(batcher.Stats().Delivered, "delivered,", kept.Stats().Entries, "kept")
	}

	process(50*time.Millisecond, runtypes.Op{Verb: runtypes.Post, Run: runtypes.Root(uuid.New(), time.Now(), runtypes.Identity{})})
	down = false
	process(time.Minute)
	// Output:
	// 0 delivered, 1 kept
	// 1 delivered, 0 kept
}
