package sdktest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	traced "github.com/tracesmith/tracesmith/integrations/anthropic"
	"github.com/tracesmith/tracesmith/internal/modelserver"
	"github.com/tracesmith/tracesmith/runtypes"
)

// record runs f in a turn and returns the runs, the turn's first.
func record(t *testing.T, f func(context.Context)) []runtypes.Run {
	t.Helper()
	sink := &runtypes.Recorder{}
	id := runtypes.Identity{Integration: "my-agent", Runtime: "My Agent", ThreadID: "t"}
	turn := runtypes.StartTurn(sink, id, "x")
	f(runtypes.NewContext(t.Context(), turn))
	turn.End("y")
	runs, err := sink.Runs()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range runtypes.Validate(runs) {
		t.Error(v)
	}
	return runs
}

func anthropicClient(t *testing.T) anthropic.Client {
	t.Helper()
	server, err := modelserver.Start(modelserver.Config{Scenarios: map[string]modelserver.Scenario{
		"tool": {{
			Blocks: []modelserver.Block{{Text: "I will read it."}, {Tool: "read", Input: json.RawMessage(`{"path":"main.go"}`)}},
			Usage:  modelserver.Usage{Input: 10, Output: 20, CacheRead: 70, Write5m: 20},
		}},
		"busy": {
			{Blocks: []modelserver.Block{{Text: "At last."}}, Failure: &modelserver.Failure{Status: 529, Type: "overloaded_error", Message: "Overloaded", Times: 1}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return anthropic.NewClient(option.WithBaseURL(server.URL()), option.WithAPIKey("k"), option.WithMiddleware(traced.Middleware))
}

func params(scenario string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: "claude-opus-4-5", MaxTokens: 100,
		System:   []anthropic.TextBlockParam{{Text: "Be terse."}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("SCENARIO:" + scenario))},
	}
}

func check(t *testing.T, r runtypes.Run, provider, inputs, outputs string) {
	t.Helper()
	if r.Kind != runtypes.KindLLM || r.Model.Provider != provider || r.Error != "" || r.Usage == nil || r.Usage.Input != 100 || r.Usage.Output != 20 {
		t.Errorf("%s run, provider %s, error %q, usage %+v", r.Kind, r.Model.Provider, r.Error, r.Usage)
	}
	if !strings.Contains(string(r.Inputs), inputs) || !strings.Contains(string(r.Outputs), outputs) {
		t.Errorf("inputs %s, outputs %s", r.Inputs, r.Outputs)
	}
}

func TestTheAnthropicClientIsRecorded(t *testing.T) {
	client := anthropicClient(t)
	runs := record(t, func(ctx context.Context) {
		if _, err := client.Messages.New(ctx, params("tool")); err != nil {
			t.Fatal(err)
		}
		stream := client.Messages.NewStreaming(ctx, params("tool"))
		message := anthropic.Message{}
		for stream.Next() {
			if err := message.Accumulate(stream.Current()); err != nil {
				t.Fatal(err)
			}
		}
		if err := stream.Err(); err != nil || len(message.Content) != 2 {
			t.Fatalf("%v, %+v", err, message)
		}
	})
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	for _, r := range runs[1:] {
		check(t, r, "anthropic", "Be terse.", `"input":{"path":"main.go"},"name":"read"`)
	}
	if len(runs[2].Events) != 1 {
		t.Errorf("events of the stream: %+v", runs[2].Events)
	}
}

func TestARetryOfTheAnthropicClientIsACallOfItsOwn(t *testing.T) {
	client := anthropicClient(t)
	runs := record(t, func(ctx context.Context) {
		if _, err := client.Messages.New(ctx, params("busy")); err != nil {
			t.Fatal(err)
		}
	})
	if len(runs) != 3 || !strings.Contains(runs[1].Error, "529") || runs[2].Error != "" {
		t.Errorf("%+v", runs)
	}
}
