package modelserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// responsesBody is what the server reads of a request of OpenAI's Responses API.
type responsesBody struct {
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Input  []struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		Content responseContent `json:"content"`
	} `json:"input"`
}

// responseContent is the text of an item: a string or a list of parts.
type responseContent string

func (c *responseContent) UnmarshalJSON(raw []byte) error {
	if strings.HasPrefix(string(raw), `"`) {
		return json.Unmarshal(raw, (*string)(c))
	}
	var parts []struct {
		Text      string `json:"text"`
		Encrypted string `json:"encrypted_content"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return nil // null, or a shape that has no text
	}
	for _, p := range parts {
		*c += responseContent(p.Text + "\n" + p.Encrypted + "\n")
	}
	return nil
}

// handoff is how Codex asks for a summary of its conversation.
var handoff = regexp.MustCompile(`CONTEXT CHECKPOINT COMPACTION|handoff summary`)

// place finds where in which scenario the conversation stands: by the calls that were
// answered since it was named, each of which may have had several answers.
func (b *responsesBody) place() (name string, step int) {
	if n := len(b.Input); n > 0 && handoff.MatchString(string(b.Input[n-1].Content)) {
		return Summary, 0
	}
	name = unnamed
	answered := false
	for _, item := range b.Input {
		output := strings.HasSuffix(item.Type, "_output")
		if output && !answered {
			step++
		}
		answered = output
		if item.Role == "assistant" || item.Role == "developer" || item.Type != "message" && item.Type != "agent_message" && item.Type != "" {
			continue
		}
		if tags := tag.FindAllStringSubmatch(string(item.Content), -1); len(tags) > 0 {
			name, step = tags[len(tags)-1][1], 0
		}
	}
	return name, step
}

// responses plays OpenAI's Responses API, as far as Codex uses it.
func (s *Server) responses(w http.ResponseWriter, r *http.Request) {
	if !s.admit(w, r) {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	var b responsesBody
	if err == nil {
		err = json.Unmarshal(raw, &b)
	}
	if err != nil {
		s.refuse(w, Failure{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: err.Error()})
		return
	}
	name, n := b.place()
	scenario, known := s.scenarios[name]
	if !known {
		s.refuse(w, Failure{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: fmt.Sprintf("the script has no scenario %q", name)})
		return
	}
	step := scenario.step(n)
	seen := Request{At: time.Now(), Session: r.Header.Get("Session_id"), Scenario: name, Step: n, Model: b.Model, Stream: b.Stream, Messages: len(b.Input)}
	if f := step.Failure; f != nil && s.stillFails(seen, f.Times) {
		seen.Status = f.Status
		s.refuse(w, *f)
		s.record(seen)
		return
	}
	seen.Status, seen.MessageID, seen.Usage = http.StatusOK, s.newID("resp_"), step.Usage
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	out := &response{id: seen.MessageID, model: b.Model, step: step, newID: s.newID, hold: s.hold}
	out.stream(r.Context(), w)
	seen.Cut = !out.whole
	s.record(seen)
}

// response is one step on its way to the client.
type response struct {
	id, model string
	step      Step
	newID     func(prefix string) string
	hold      func(context.Context)
	whole     bool // every event of the stream was written
}

func (r *response) object(status string, more fields) fields {
	o := fields{"id": r.id, "object": "response", "status": status, "model": r.model}
	for key, value := range more {
		o[key] = value
	}
	return o
}

// stream writes the response as server-sent events.
func (r *response) stream(ctx context.Context, w http.ResponseWriter) {
	s := &sse{w: w, flush: http.NewResponseController(w)}
	s.send("response.created", fields{"response": r.object("in_progress", nil)})
	for i, b := range r.step.Blocks {
		r.item(s, i, b)
	}
	if r.step.Hold {
		r.hold(ctx)
		return
	}
	s.send("response.completed", fields{"response": r.object("completed", fields{"usage": r.usage()})})
	r.whole = s.err == nil
}

// usage counts the way OpenAI does: the input includes what was cached.
func (r *response) usage() fields {
	u := r.step.Usage
	input := u.Input + u.CacheRead + u.Write5m + u.Write1h
	return fields{
		"input_tokens": input, "input_tokens_details": fields{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": fields{"reasoning_tokens": 0},
		"total_tokens": input + u.Output,
	}
}

func (r *response) item(s *sse, i int, b Block) {
	item := r.render(b)
	begun := fields{}
	for key, value := range item {
		begun[key] = value
	}
	switch item["type"] {
	case "message":
		begun["content"], begun["status"] = []fields{}, "in_progress"
	case "reasoning":
		begun["summary"] = []fields{}
	}
	s.send("response.output_item.added", fields{"output_index": i, "item": begun})
	if b.Tool == "" && b.Thinking == "" {
		s.send("response.content_part.added", fields{"item_id": item["id"], "output_index": i, "content_index": 0, "part": fields{"type": "output_text", "text": "", "annotations": []fields{}}})
		for _, part := range split(b.Text) {
			s.send("response.output_text.delta", fields{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": part})
		}
	}
	s.send("response.output_item.done", fields{"output_index": i, "item": item})
}

// render is a block as an item. A tool's name may begin with its namespace and a
// slash; arguments that are a JSON string make a call of free text.
func (r *response) render(b Block) fields {
	switch {
	case b.Thinking != "":
		return fields{"type": "reasoning", "id": r.newID("rs_"), "encrypted_content": signature, "summary": []fields{{"type": "summary_text", "text": b.Thinking}}}
	case b.Tool == "":
		return fields{"type": "message", "id": r.newID("msg_"), "role": "assistant", "status": "completed", "content": []fields{{"type": "output_text", "text": b.Text, "annotations": []fields{}}}}
	}
	item := fields{"id": r.newID("fc_"), "call_id": r.newID("call_"), "name": b.Tool, "status": "completed"}
	if namespace, name, ok := strings.Cut(b.Tool, "/"); ok {
		item["namespace"], item["name"] = namespace, name
	}
	var free string
	if json.Unmarshal(b.Input, &free) == nil {
		item["type"], item["input"] = "custom_tool_call", free
		return item
	}
	item["type"], item["arguments"] = "function_call", string(b.Input)
	return item
}

// quoted is a JSON string.
func quoted(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil {
		return nil // a string always encodes
	}
	return raw
}
