package anthropic_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	traced "github.com/tracesmith/tracesmith/integrations/anthropic"
	"github.com/tracesmith/tracesmith/runtypes"
)

// printer stands for a real sink, such as exporter.Batcher.
type printer struct{}

func (printer) Submit(op runtypes.Op) error {
	r := op.Run
	fmt.Println(strings.TrimSpace(fmt.Sprintln(op.Verb, r.Kind, r.Name, r.Model.Provider, r.Model.Name)))
	if r.Usage != nil {
		fmt.Println(r.Usage.Input, "in,", r.Usage.CacheRead, "of them cached,", r.Usage.Output, "out")
	}
	return nil
}

func Example() {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"content":[{"type":"text","text":"Three."}],"usage":{"input_tokens":40,"cache_read_input_tokens":60,"output_tokens":20}}`)
	}))
	defer model.Close()

	turn := runtypes.StartTurn(printer{}, runtypes.Identity{
		Integration: "my-agent", Runtime: "My Agent", ThreadID: "conversation-7",
	}, "How many widgets are there?")
	ctx := runtypes.NewContext(context.Background(), turn)

	// Any client that takes an http.Client: an SDK's, or your own.
	client := &http.Client{Transport: &traced.Transport{}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, model.URL+"/v1/messages", strings.NewReader(
		`{"model":"claude-opus-4-5","max_tokens":100,"messages":[{"role":"user","content":"How many widgets are there?"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		fmt.Println(err)
	}
	turn.End("Three.")
	// Output:
	// post root My Agent Turn
	// post llm My Agent anthropic claude-opus-4-5
	// 100 in, 60 of them cached, 20 out
	// patch root My Agent Turn
}
