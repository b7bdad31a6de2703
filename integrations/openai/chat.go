package openai

import (
	"encoding/json"
	"strings"

	"github.com/tracesmith/tracesmith/internal/modelcall"
)

// maxParts bounds the choices of a reply, the tool calls of a choice and the items
// of a response.
const maxParts = 1000

// chat gathers a chat completion.
type chat struct {
	id, model, tier string
	choices         []*choice
	usage           *usage
	done            bool
	failure         string
}

// choice is one answer, as it grows.
type choice struct {
	message json.RawMessage // where it came in one piece
	content modelcall.Text
	refusal modelcall.Text
	reason  modelcall.Text // some servers stream reasoning beside the content
	calls   []*call
	finish  string
}

// call is a tool call, as it grows.
type call struct {
	id, kind  string
	name      modelcall.Text
	arguments modelcall.Text
}

// completion is a whole completion, or a chunk of a streamed one.
type completion struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Tier    string `json:"service_tier"`
	Usage   *usage `json:"usage"`
	Choices []struct {
		Index   int             `json:"index"`
		Message json.RawMessage `json:"message"`
		Finish  string          `json:"finish_reason"`
		Delta   struct {
			Content   string `json:"content"`
			Refusal   string `json:"refusal"`
			Reasoning string `json:"reasoning_content"`
			Calls     []struct {
				Index    int    `json:"index"`
				ID       string `json:"id"`
				Type     string `json:"type"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
	Error *failure `json:"error"`
}

// failure is an error in the API's own form.
type failure struct {
	Code    any    `json:"code"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

func (f *failure) text() string {
	kind := f.Type
	if code, ok := f.Code.(string); ok && kind == "" {
		kind = code
	}
	if text := strings.Trim(kind+": "+f.Message, ": "); text != "" {
		return text
	}
	return "unknown error"
}

func (c *chat) Whole(body []byte) {
	c.take(body)
	c.done = true
}

func (c *chat) Event(data []byte) bool {
	if string(data) == "[DONE]" {
		c.done = true
		return false
	}
	return c.take(data)
}

// take adds a chunk, and reports whether it held a piece of the answer.
func (c *chat) take(data []byte) (piece bool) {
	var chunk completion
	if json.Unmarshal(data, &chunk) != nil {
		return false
	}
	keep(&c.id, chunk.ID)
	keep(&c.model, chunk.Model)
	keep(&c.tier, chunk.Tier)
	if chunk.Usage != nil {
		c.usage = chunk.Usage
	}
	if chunk.Error != nil {
		c.failure, c.done = chunk.Error.text(), true
	}
	for _, from := range chunk.Choices {
		to := at(&c.choices, from.Index)
		if to == nil {
			continue
		}
		keep(&to.finish, from.Finish)
		if len(from.Message) > 0 {
			to.message = from.Message
		}
		to.content.Add(from.Delta.Content)
		to.refusal.Add(from.Delta.Refusal)
		to.reason.Add(from.Delta.Reasoning)
		piece = piece || from.Delta.Content+from.Delta.Refusal+from.Delta.Reasoning != ""
		for _, f := range from.Delta.Calls {
			t := at(&to.calls, f.Index)
			if t == nil {
				continue
			}
			keep(&t.id, f.ID)
			keep(&t.kind, f.Type)
			t.name.Add(f.Function.Name)
			t.arguments.Add(f.Function.Arguments)
			piece = true
		}
	}
	return piece
}

func (c *chat) Done() bool { return c.done }

func (c *chat) Result() modelcall.Result {
	result := modelcall.Result{Failure: c.failure, Usage: c.usage.tokens(c.tier), Metadata: described(c.id, c.model)}
	var choices []json.RawMessage
	for i, each := range c.choices {
		choices = append(choices, modelcall.Members("index", i, "message", each.json(), "finish_reason", text(each.finish)))
	}
	if len(choices) > 0 {
		result.Outputs = modelcall.Members("choices", choices)
	}
	return result
}

// json is the choice's message as it would have come in one piece.
func (c *choice) json() json.RawMessage {
	if len(c.message) > 0 {
		return c.message
	}
	var calls any
	var list []json.RawMessage
	for _, t := range c.calls {
		kind := t.kind
		keep(&kind, "function")
		list = append(list, modelcall.Members("id", t.id, "type", kind,
			"function", modelcall.Members("name", t.name.String(), "arguments", t.arguments.String())))
	}
	if len(list) > 0 {
		calls = list
	}
	return modelcall.Members("role", "assistant", "content", text(c.content.String()), "refusal", text(c.refusal.String()),
		"reasoning_content", text(c.reason.String()), "tool_calls", calls)
}

// keep sets a text that is not known yet.
func keep(to *string, from string) {
	if *to == "" {
		*to = from
	}
}

// text is s, or nil so that Members leaves it out.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// at returns the element of a list that grows up to the index; nil beyond the bound.
func at[T any](list *[]*T, index int) *T {
	if index < 0 || index >= maxParts {
		return nil
	}
	for len(*list) <= index {
		*list = append(*list, new(T))
	}
	return (*list)[index]
}

// described is what a run says of the answer beside its content.
func described(id, model string) map[string]any {
	m := map[string]any{}
	if id != "" {
		m["response_id"] = id
	}
	if model != "" {
		m["response_model"] = model
	}
	return m
}
