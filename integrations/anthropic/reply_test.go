package anthropic

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzReply(f *testing.F) {
	for _, event := range []string{
		`{"type":"message_start","message":{"id":"m","usage":{"input_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":1}}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":{}}}`,
		`{"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":"x"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":-5,"output_tokens_details":{"thinking_tokens":9}}}`,
		`{"type":"error"}`, `null`, `[]`,
	} {
		f.Add([]byte(event))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &reply{}
		r.Event([]byte(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`))
		r.Event(data)
		r.Event([]byte(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a"}}`))
		if out := r.Result().Outputs; len(out) > 0 && !json.Valid(out) {
			t.Errorf("outputs %q", out)
		}
		whole := &reply{}
		whole.Whole(data)
		if out := whole.Result().Outputs; len(out) > 0 && !json.Valid(out) {
			t.Errorf("outputs %q", out)
		}
		if call, ok := read("/v1/messages", data); !ok || !json.Valid(call.Inputs) {
			t.Errorf("inputs %q", call.Inputs)
		}
	})
}

func TestALaterCountWinsAndAMissingOneDoesNot(t *testing.T) {
	r := &reply{}
	r.Event([]byte(`{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}}`))
	r.Event([]byte(`{"type":"message_delta","usage":{"output_tokens":40,"output_tokens_details":{"thinking_tokens":30}}}`))
	u := r.Result().Usage
	if u.Input != 12 || u.CacheRead != 7 || u.Output != 40 || u.Reasoning != 30 {
		t.Errorf("%+v", u)
	}
}

func TestNumbersOfAToolsInputStayAsTheyAre(t *testing.T) {
	const input = `{"id":9007199254740993,"rate":1.50}`
	whole, streamed := &reply{}, &reply{}
	whole.Whole([]byte(`{"content":[{"type":"tool_use","id":"t","name":"f","input":` + input + `}]}`))
	streamed.Event([]byte(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":` + input + `}}`))
	for _, r := range []*reply{whole, streamed} {
		if out := string(r.Result().Outputs); !strings.Contains(out, `"input":`+input) {
			t.Errorf("outputs %s", out)
		}
	}
}
