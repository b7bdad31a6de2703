package sdktest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	traced "github.com/tracesmith/tracesmith/integrations/openai"
)

const (
	chatUsage     = `"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}`
	responseUsage = `"usage":{"input_tokens":100,"output_tokens":20,"total_tokens":120,"input_tokens_details":{"cached_tokens":0},"output_tokens_details":{"reasoning_tokens":0}}`
	message       = `{"type":"message","id":"i","role":"assistant","status":"completed","content":[{"type":"output_text","text":"It is empty.","annotations":[]}]}`
	response      = `{"id":"r","object":"response","model":"gpt-5.5","status":"completed","output":[` + message + `],` + responseUsage + `}`
)

// answers is a server that speaks both APIs, streamed or not.
func answers(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	chat := strings.HasSuffix(r.URL.Path, "/chat/completions")
	var text string
	if strings.Contains(string(body), `"stream":true`) {
		w.Header().Set("Content-Type", "text/event-stream")
		if text = `data: {"type":"response.completed","response":` + response + "}\n\n"; chat {
			text = `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"It is empty."}}]}` + "\n\n" +
				`data: {"id":"c","choices":[],` + chatUsage + "}\n\ndata: [DONE]\n\n"
		}
	} else {
		w.Header().Set("Content-Type", "application/json")
		if text = response; chat {
			text = `{"id":"c","model":"gpt-5.5","choices":[{"index":0,"message":{"role":"assistant","content":"It is empty."},"finish_reason":"stop"}],` + chatUsage + `}`
		}
	}
	_, _ = io.WriteString(w, text)
}

func TestTheOpenAIClientIsRecorded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(answers))
	defer server.Close()
	client := openai.NewClient(option.WithBaseURL(server.URL+"/v1"), option.WithAPIKey("k"), option.WithMiddleware(traced.Middleware))
	chat := openai.ChatCompletionNewParams{
		Model: "gpt-5.5", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("what is in it?")},
	}
	ask := responses.ResponseNewParams{
		Model: "gpt-5.5", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("what is in it?")},
	}
	runs := record(t, func(ctx context.Context) {
		if _, err := client.Chat.Completions.New(ctx, chat); err != nil {
			t.Fatal(err)
		}
		chats := client.Chat.Completions.NewStreaming(ctx, chat)
		for chats.Next() {
		}
		if err := chats.Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Responses.New(ctx, ask); err != nil {
			t.Fatal(err)
		}
		stream := client.Responses.NewStreaming(ctx, ask)
		for stream.Next() {
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
	})
	if len(runs) != 5 {
		t.Fatalf("%d runs", len(runs))
	}
	for _, r := range runs[1:] {
		check(t, r, "openai", "what is in it?", "It is empty.")
	}
}
