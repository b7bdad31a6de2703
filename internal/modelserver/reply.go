package modelserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// piece is how much of a block one streamed delta holds, in bytes of ASCII.
const piece = 20

// reply is one step on its way to the client.
type reply struct {
	id, model string
	step      Step
	toolID    func() string
	hold      func(context.Context)
	whole     bool // every event of the stream was written
}

// fields is a JSON object of the wire.
type fields = map[string]any

func (r *reply) usage(output int) fields {
	u := r.step.Usage
	return fields{
		"input_tokens":                u.Input,
		"output_tokens":               output,
		"cache_read_input_tokens":     u.CacheRead,
		"cache_creation_input_tokens": u.Write5m + u.Write1h,
		"cache_creation": fields{
			"ephemeral_5m_input_tokens": u.Write5m,
			"ephemeral_1h_input_tokens": u.Write1h,
		},
		"service_tier": "standard",
	}
}

func (r *reply) message(content []fields, stopReason any, output int) fields {
	return fields{
		"id": r.id, "type": "message", "role": "assistant", "model": r.model,
		"content": content, "stop_reason": stopReason, "stop_sequence": nil, "usage": r.usage(output),
	}
}

// document is the reply to a request that did not ask for a stream.
func (r *reply) document() fields {
	content := make([]fields, len(r.step.Blocks))
	for i, b := range r.step.Blocks {
		switch {
		case b.Tool != "":
			content[i] = fields{"type": "tool_use", "id": r.toolID(), "name": b.Tool, "input": b.Input}
		case b.Thinking != "":
			content[i] = fields{"type": "thinking", "thinking": b.Thinking, "signature": signature}
		default:
			content[i] = fields{"type": "text", "text": b.Text}
		}
	}
	return r.message(content, r.step.stopReason(), r.step.Usage.Output)
}

// signature stands for the seal the API puts on thinking; clients only keep it.
const signature = "c2NyaXB0ZWQ="

// stream writes the reply as server-sent events. The first event carries a
// placeholder for the output tokens, as the API's does: the count is known at
// the end. A client that hangs up ends it: that is the client's affair.
func (r *reply) stream(ctx context.Context, w http.ResponseWriter) {
	s := &sse{w: w, flush: http.NewResponseController(w)}
	s.send("message_start", fields{"message": r.message([]fields{}, nil, 1)})
	s.send("ping", fields{})
	for i, b := range r.step.Blocks {
		r.block(s, i, b)
	}
	switch {
	case r.step.Hold:
		r.hold(ctx)
		return
	case r.step.BreakOff:
		s.send("error", fields{"error": fields{"type": "overloaded_error", "message": "Overloaded"}})
		return
	}
	s.send("message_delta", fields{
		"delta": fields{"stop_reason": r.step.stopReason(), "stop_sequence": nil},
		"usage": r.usage(r.step.Usage.Output),
	})
	s.send("message_stop", fields{})
	r.whole = s.err == nil
}

func (r *reply) block(s *sse, i int, b Block) {
	start := func(block fields) { s.send("content_block_start", fields{"index": i, "content_block": block}) }
	delta := func(kind, key, text string) {
		s.send("content_block_delta", fields{"index": i, "delta": fields{"type": kind, key: text}})
	}
	switch {
	case b.Tool != "":
		start(fields{"type": "tool_use", "id": r.toolID(), "name": b.Tool, "input": fields{}})
		for _, part := range split(string(b.Input)) {
			delta("input_json_delta", "partial_json", part)
		}
	case b.Thinking != "":
		start(fields{"type": "thinking", "thinking": "", "signature": ""})
		for _, part := range split(b.Thinking) {
			delta("thinking_delta", "thinking", part)
		}
		delta("signature_delta", "signature", signature)
	default:
		start(fields{"type": "text", "text": ""})
		for _, part := range split(b.Text) {
			delta("text_delta", "text", part)
		}
	}
	s.send("content_block_stop", fields{"index": i})
}

// split cuts text into pieces without cutting a character.
func split(text string) []string {
	var parts []string
	start := 0
	for i := range text {
		if i-start >= piece {
			parts = append(parts, text[start:i])
			start = i
		}
	}
	return append(parts, text[start:])
}

// sse writes events until the first error, which it keeps.
type sse struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	err   error
}

func (s *sse) send(kind string, data fields) {
	if s.err != nil {
		return
	}
	data["type"] = kind
	line, err := json.Marshal(data)
	if err != nil {
		s.err = fmt.Errorf("modelserver: encode %s: %w", kind, err)
		return
	}
	if _, s.err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, line); s.err == nil {
		s.err = s.flush.Flush()
	}
}
