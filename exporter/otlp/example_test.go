package otlp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/exporter/otlp"
	"github.com/tracesmith/tracesmith/runtypes"
)

// A Go agent sends its turns to a Collector.
func Example() {
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()

	sink, err := otlp.New(exporter.Config{
		Endpoint:    collector.URL,
		Credentials: http.Header{"Authorization": {"Bearer …"}},
		Project:     "my-agent",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	turn := runtypes.StartTurn(sink, runtypes.Identity{
		Integration: "my-agent", Runtime: "My Agent", ThreadID: "thread-1",
	}, "How many files are there?")
	turn.Tool("bash", "call_1", map[string]string{"command": "ls | wc -l"}).End("3")
	turn.End("Three.")

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := sink.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(sink.Stats().Delivered, "spans delivered")
	// Output: 2 spans delivered
}
