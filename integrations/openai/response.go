package openai

import (
	"encoding/json"

	"github.com/tracesmith/tracesmith/internal/modelcall"
	"github.com/tracesmith/tracesmith/runtypes"
)

// response gathers a response of the Responses API.
type response struct {
	id, model, tier string
	items           []*item
	usage           *usage
	done            bool
	failure         string
	incomplete      string
}

// item is an output item, as it grows.
type item struct {
	raw       json.RawMessage // as it began, or as it is when it is done
	whole     bool
	text      modelcall.Text
	reasoning modelcall.Text
	arguments modelcall.Text
}

// document is a response as a whole.
type document struct {
	ID         string            `json:"id"`
	Model      string            `json:"model"`
	Tier       string            `json:"service_tier"`
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Usage      *usage            `json:"usage"`
	Error      *failure          `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

func (r *response) Whole(body []byte) {
	var doc document
	if json.Unmarshal(body, &doc) == nil {
		r.take(doc)
	}
	r.done = true
}

// take takes in a response that is as it stands now.
func (r *response) take(doc document) {
	keep(&r.id, doc.ID)
	keep(&r.model, doc.Model)
	if doc.Tier != "" {
		r.tier = doc.Tier // auto at the start, what it came to at the end
	}
	if doc.Usage != nil {
		r.usage = doc.Usage
	}
	if len(doc.Output) > 0 {
		r.items = nil
		for i, raw := range doc.Output {
			if to := at(&r.items, i); to != nil {
				to.raw, to.whole = raw, true
			}
		}
	}
	switch {
	case doc.Error != nil:
		r.failure = doc.Error.text()
	case doc.Status == "failed":
		r.failure = "the response failed"
	case doc.Incomplete != nil:
		r.incomplete = doc.Incomplete.Reason
	}
}

func (r *response) Event(data []byte) bool {
	var e struct {
		failure
		Type     string          `json:"type"`
		Index    int             `json:"output_index"`
		Delta    json.RawMessage `json:"delta"`
		Item     json.RawMessage `json:"item"`
		Response document        `json:"response"`
	}
	if json.Unmarshal(data, &e) != nil {
		return false
	}
	switch e.Type {
	case "response.created", "response.in_progress", "response.queued":
		r.take(e.Response)
	case "response.completed", "response.failed", "response.incomplete":
		r.take(e.Response)
		r.done = true
	case "error":
		e.failure.Type = ""
		r.failure, r.done = e.failure.text(), true
	case "response.output_item.added", "response.output_item.done":
		if to := at(&r.items, e.Index); to != nil {
			to.raw, to.whole = e.Item, e.Type == "response.output_item.done"
		}
	default:
		return r.grow(e.Type, e.Index, modelcall.String(e.Delta))
	}
	return false
}

// grow adds a piece to an item.
func (r *response) grow(kind string, index int, piece string) bool {
	if piece == "" || index < 0 || index >= len(r.items) {
		return false
	}
	to := r.items[index]
	switch kind {
	case "response.output_text.delta", "response.refusal.delta":
		to.text.Add(piece)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		to.reasoning.Add(piece)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta", "response.mcp_call_arguments.delta":
		to.arguments.Add(piece)
	default:
		return false
	}
	return true
}

func (r *response) Done() bool { return r.done }

func (r *response) Result() modelcall.Result {
	result := modelcall.Result{Failure: r.failure, Usage: r.usage.tokens(r.tier), Metadata: described(r.id, r.model)}
	if r.incomplete != "" {
		result.Metadata["incomplete_reason"] = r.incomplete
	}
	var messages []json.RawMessage
	for _, each := range r.items {
		messages = append(messages, itemMessages(each.json())...)
	}
	if len(messages) > 0 {
		result.Outputs = modelcall.Outputs(messages...)
	}
	return result
}

// json is the item as it stands.
func (i *item) json() json.RawMessage {
	if i.whole {
		return i.raw
	}
	m := modelcall.Values(i.raw)
	if m == nil {
		return i.raw
	}
	if s := i.text.String(); s != "" {
		m["content"] = []any{map[string]any{"type": "output_text", "text": s}}
	}
	if s := i.reasoning.String(); s != "" {
		m["summary"] = []any{map[string]any{"type": "summary_text", "text": s}}
	}
	if s := i.arguments.String(); s != "" {
		m["arguments"] = s
		if m["type"] == "custom_tool_call" {
			m["input"] = s
		}
	}
	raw, err := runtypes.Marshal(m)
	if err != nil {
		return i.raw
	}
	return raw
}
