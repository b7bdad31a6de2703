package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/modelcall"
)

func FuzzReplies(f *testing.F) {
	for _, data := range []string{
		`{"choices":[{"index":999999999,"delta":{"content":"x"}},{"index":-1}]}`,
		`{"choices":[{"index":1,"message":{"role":"assistant"},"delta":{"tool_calls":[{"index":2,"function":{"name":"f"}}]}}]}`,
		`{"type":"response.output_item.added","output_index":3,"item":{"type":"message"}}`,
		`{"type":"response.output_text.delta","output_index":0,"delta":"x"}`,
		`{"type":"response.completed","response":{"output":[null,1,{"type":"computer_call"}],"error":{"code":1}}}`,
		`{"type":"error"}`, `{"error":{}}`, `null`, `[DONE]`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, reply := range []modelcall.Reply{&chat{}, &response{}} {
			reply.Event([]byte(`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","name":"f"}}`))
			reply.Event(data)
			reply.Event(data)
			if out := reply.Result().Outputs; len(out) > 0 && !json.Valid(out) {
				t.Errorf("outputs %q", out)
			}
			reply.Whole(data)
			if out := reply.Result().Outputs; len(out) > 0 && !json.Valid(out) {
				t.Errorf("outputs %q", out)
			}
		}
		for _, path := range []string{"/chat/completions", "/responses"} {
			if call, ok := read(path, data); !ok || !json.Valid(call.Inputs) {
				t.Errorf("inputs %q", call.Inputs)
			}
		}
	})
}

func TestNumbersOfAnItemThatIsCutStayAsTheyAre(t *testing.T) {
	r := &response{}
	r.Event([]byte(`{"type":"response.output_item.added","output_index":0,"item":{"type":"mcp_call","seed":9007199254740993}}`))
	r.Event([]byte(`{"type":"response.mcp_call_arguments.delta","output_index":0,"delta":"{\"q\""}`))
	if out := string(r.Result().Outputs); !strings.Contains(out, `"seed":9007199254740993`) || !strings.Contains(out, `"arguments":"{\"q\""`) {
		t.Errorf("outputs %s", out)
	}
}
