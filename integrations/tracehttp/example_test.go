package tracehttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/tracesmith/tracesmith/integrations/tracehttp"
	"github.com/tracesmith/tracesmith/runtypes"
)

// printer stands for a real sink, such as exporter.Batcher.
type printer struct{}

func (printer) Submit(op runtypes.Op) error {
	fmt.Println(op.Verb, op.Run.Kind, op.Run.Name)
	return nil
}

func Example() {
	// The tool server.
	server := httptest.NewServer(tracehttp.Handler(tracehttp.Options{Sink: printer{}},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			lookup := runtypes.FromContext(r.Context()).Tool("lookup", "", "widgets")
			lookup.End(3)
			fmt.Fprint(w, 3)
		})))
	defer server.Close()

	// The agent.
	turn := runtypes.StartTurn(printer{}, runtypes.Identity{
		Integration: "my-agent", Runtime: "My Agent", ThreadID: "conversation-7",
	}, "How many widgets are there?")
	tool := turn.Tool("search", "call-1", "widgets")
	req, err := http.NewRequestWithContext(tool.Context(context.Background()), http.MethodGet, server.URL+"/search", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: &tracehttp.Transport{}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	found, err := io.ReadAll(resp.Body)
	if err != nil {
		fmt.Println(err)
	}
	tool.End(string(found))
	turn.End("Three.")
	// Output:
	// post root My Agent Turn
	// post chain GET /search
	// post tool lookup
	// patch chain GET /search
	// post tool search
	// patch root My Agent Turn
}
