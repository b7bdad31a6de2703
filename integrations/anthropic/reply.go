package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/tracesmith/tracesmith/internal/modelcall"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxBlocks bounds the blocks of a reply.
const maxBlocks = 10_000

// reply gathers a message.
type reply struct {
	message message
	blocks  []*block
	done    bool
	failure string
}

// message is what is read of a message beside its content.
type message struct {
	ID         string            `json:"id"`
	Model      string            `json:"model"`
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Usage      *usage            `json:"usage"`
}

// block is a content block that comes in pieces.
type block struct {
	start     json.RawMessage
	text      modelcall.Text
	thinking  modelcall.Text
	arguments modelcall.Text
}

func (r *reply) Whole(body []byte) {
	if json.Unmarshal(body, &r.message) == nil {
		for _, raw := range r.message.Content {
			r.blocks = append(r.blocks, &block{start: raw})
		}
	}
	r.done = true
}

// event is any event of a stream.
type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message json.RawMessage `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Usage   *usage          `json:"usage"`
	Delta   struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		Arguments  string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

func (r *reply) Event(data []byte) bool {
	var e event
	if json.Unmarshal(data, &e) != nil {
		return false
	}
	switch e.Type {
	case "message_start":
		_ = json.Unmarshal(e.Message, &r.message) // what can be read of it stands
	case "content_block_start":
		if e.Index == len(r.blocks) && e.Index < maxBlocks {
			r.blocks = append(r.blocks, &block{start: e.Block})
		}
	case "content_block_delta":
		if e.Index < 0 || e.Index >= len(r.blocks) {
			return false
		}
		b := r.blocks[e.Index]
		b.text.Add(e.Delta.Text)
		b.thinking.Add(e.Delta.Thinking)
		b.arguments.Add(e.Delta.Arguments)
		return e.Delta.Text+e.Delta.Thinking+e.Delta.Arguments != ""
	case "message_delta":
		if e.Delta.StopReason != "" {
			r.message.StopReason = e.Delta.StopReason
		}
		r.message.Usage = r.message.Usage.merge(e.Usage)
	case "message_stop":
		r.done = true
	case "error":
		r.failure = strings.Trim(e.Error.Type+": "+e.Error.Message, ": ")
		r.done = true
	}
	return false
}

func (r *reply) Done() bool { return r.done }

func (r *reply) Result() modelcall.Result {
	result := modelcall.Result{Failure: r.failure, Usage: r.message.Usage.tokens(), Metadata: map[string]any{}}
	if len(r.blocks) > 0 {
		content := make([]json.RawMessage, len(r.blocks))
		for i, b := range r.blocks {
			content[i] = b.json()
		}
		result.Outputs = modelcall.Outputs(modelcall.Members("role", "assistant", "content", content))
	}
	for key, text := range map[string]string{
		"stop_reason": r.message.StopReason, "response_id": r.message.ID, "response_model": r.message.Model,
	} {
		if text != "" {
			result.Metadata[key] = text
		}
	}
	return result
}

// json is the block as it would have come in one piece. The seal on thinking is
// left out: nobody but the API reads it.
func (b *block) json() json.RawMessage {
	start := modelcall.Values(b.start)
	if start == nil {
		return json.RawMessage(`{}`)
	}
	delete(start, "signature")
	add := func(key string, text *modelcall.Text) {
		if more := text.String(); more != "" {
			before, _ := start[key].(string)
			start[key] = before + more
		}
	}
	add("text", &b.text)
	add("thinking", &b.thinking)
	if text := b.arguments.String(); text != "" {
		start["input"] = modelcall.Arguments(text)
	}
	raw, err := runtypes.Marshal(start)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return raw
}
