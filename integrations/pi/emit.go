package pi

import (
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Metadata of model calls beside agentkit's.
const metaResponseModel = "response_model" // the model that the provider says it used

// call is a model call under way.
type call struct {
	At     time.Time `json:"at,omitzero"`      // when it was sent
	Start  int64     `json:"start,omitempty"`  // of the reply's message, milliseconds
	Model  model     `json:"model,omitzero"`   //
	Params *params   `json:"params,omitempty"` //
	Text   string    `json:"text,omitempty"`   // that came so far
	First  time.Time `json:"first,omitzero"`   // when the first of it came
}

// requested takes the sending of a model call.
func (h *hearing) requested() {
	t := h.a.Turn
	if t == nil {
		return
	}
	t.Call = &call{At: h.at, Params: h.d.Event.Payload, Model: h.a.Model}
}

// replying takes the beginning of a reply.
func (h *hearing) replying() {
	t, m := h.a.Turn, h.d.Event.Message
	if t == nil || m == nil || m.Role != "assistant" || m.StopReason != "" && m.StopReason != "pending" {
		return
	}
	if t.Call == nil {
		t.Call = &call{At: h.at}
	}
	t.Call.Start, t.Call.Model = m.Timestamp, model{m.Provider, m.Model}
	if !t.Begun && t.Origin != "" && m.Timestamp > 0 {
		h.open(m)
	}
}

// said takes a piece of a reply. It is kept for the case that nothing follows.
func (h *hearing) said() {
	t, d := h.a.Turn, h.d.Event.Delta
	if t == nil || t.Call == nil || d == nil {
		return
	}
	if t.Call.First.IsZero() {
		t.Call.First = h.at
	}
	if d.Type == "text_delta" && len(t.Call.Text) < agentkit.MaxCarried {
		t.Call.Text = agentkit.Clip(t.Call.Text + d.Text)
	}
}

// message takes a message that is complete.
func (h *hearing) message() {
	m := h.d.Event.Message
	if m == nil {
		return
	}
	if m.Timestamp <= 0 { // which every message has
		timed := *m
		timed.Timestamp = h.at.UnixMilli()
		m = &timed
	}
	switch m.Role {
	case "user", "custom":
		h.userMessage(m)
	case "assistant":
		h.reply(m)
	case "toolResult":
		h.answered(m)
	}
}

// userMessage takes what the user, or an extension, said: a prompt, or something more
// in the middle of a turn.
func (h *hearing) userMessage(m *message) {
	t := h.a.Turn
	switch {
	case t == nil && m.Role == "custom":
		return // shown, not asked
	case t == nil, !t.Begun && m.Role == "user":
		h.begin(m, h.e.Ref)
		return
	case !t.Begun && t.Origin == "":
		return
	}
	t.say(h.e.Ref)
	if m.Role == "user" {
		t.Stop = ""
		if len(t.Extra) < maxExtra {
			t.Extra = append(t.Extra, extra{Answer: t.Answer, User: h.e.Ref})
			t.Answer = ""
		}
	}
}

// open is the open turn, begun: what came first may have been lost on the way.
func (h *hearing) open(m *message) *turn {
	if t := h.a.Turn; t != nil && t.Begun {
		return t
	}
	first := *m
	first.Role = "assistant"
	return h.begin(&first, "")
}

// reply takes what a model said.
func (h *hearing) reply(m *message) {
	asked := m.ErrorMessage != unasked
	if !h.past {
		asked = h.a.Turn != nil && h.a.Turn.Call != nil
	}
	if h.a.Turn == nil && m.empty(asked) {
		return
	}
	t := h.open(m)
	under := t.Call
	t.Call, t.Stepped = nil, false
	t.Stop, t.Error = m.StopReason, short(m.ErrorMessage)
	if m.empty(asked) {
		t.ran(m.start()) // it tells when the turn was stopped
		return
	}
	if !t.tell("llm", m.native()) {
		return
	}
	t.calls(m)
	end := m.end()
	if m.Duration == 0 && h.at.After(end) {
		end = h.at
	}
	run := h.llm(t, m, m.native(), under)
	switch m.StopReason {
	case "aborted":
		runtypes.Interrupt(run, end, "Interrupted by user")
	case "error":
		run.Error = m.ErrorMessage
		runtypes.Finish(run, end)
	default:
		runtypes.Finish(run, end)
	}
	h.post(run)
	t.ran(end)
	t.Reply = end
	if textOf(m.Content) != "" {
		t.Answer = h.e.Ref
	}
	if m.used() {
		t.say(h.e.Ref)
		t.Since = len(t.Said)
	}
	if h.past {
		for _, p := range m.calls() {
			h.startTool(t, p.ID, &tool{Name: p.Name, Args: h.e.Ref, Start: end})
		}
	}
}

// short bounds an error that the checkpoint holds.
func short(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " […]"
}

// llm builds the run of a model call, without its end.
func (h *hearing) llm(t *turn, m *message, native string, under *call) *runtypes.Run {
	run := runtypes.LLM(h.r.top(h.a, t), t.id("llm", native), m.start(), runtypes.Model{
		Name: m.Model, Provider: m.Provider, InvocationParams: invocation(m, under),
	})
	if told := h.inputs(t); len(told) > 0 {
		run.Inputs = runtypes.Messages(told...)
	}
	if len(m.parts()) > 0 {
		run.Outputs = runtypes.Messages(m.render())
	}
	run.Usage = m.Usage.tokens()
	if run.Usage != nil {
		t.Context = run.Usage.Input + run.Usage.Output
	}
	run.Metadata = map[string]any{}
	for key, value := range map[string]string{
		agentkit.MetaStopReason: m.StopReason, agentkit.MetaResponseID: m.ResponseID, metaResponseModel: m.ResponseModel,
	} {
		if value != "" {
			run.Metadata[key] = value
		}
	}
	if under != nil && !under.First.IsZero() {
		run.Events = []runtypes.RunEvent{{Name: "new_token", Time: under.First}}
	}
	return run
}

// invocation lists the model parameters that are recorded.
func invocation(m *message, under *call) map[string]any {
	list := map[string]any{}
	if m.Model != "" {
		list["model"] = m.Model
	}
	if m.Thinking != "" {
		list["thinking_level"] = m.Thinking
	}
	if under == nil || under.Params == nil {
		return list
	}
	p := under.Params
	for key, value := range map[string]*int64{
		"max_tokens": p.MaxTokens, "max_completion_tokens": p.MaxCompletionTokens, "max_output_tokens": p.MaxOutputTokens,
	} {
		if value != nil {
			list[key] = *value
		}
	}
	if p.Temperature != nil {
		list["temperature"] = *p.Temperature
	}
	if p.TopP != nil {
		list["top_p"] = *p.TopP
	}
	if p.Effort != "" {
		list["reasoning_effort"] = p.Effort
	}
	return list
}

// cutOff ends the model call and the tools that are open in a turn which is over.
func (h *hearing) cutOff(t *turn, why string) {
	if c := t.Call; c != nil {
		h.cutCall(t, c, why)
	}
	for _, id := range agentkit.SortedKeys(t.Tools) {
		h.endTool(t, id, nil, nil, why)
	}
	t.Tools = nil
}

// cutCall tells of a model call whose reply never was complete.
func (h *hearing) cutCall(t *turn, c *call, why string) {
	m := &message{Timestamp: c.Start, Provider: c.Model.Provider, Model: c.Model.Name}
	native := m.native()
	if c.Start == 0 {
		m.Timestamp = c.At.UnixMilli()
		native = "request:" + m.native()
	}
	if !t.tell("llm", native) {
		return
	}
	if c.Text != "" {
		m.Content = textMessage(c.Text).Content
		t.Partial = c.Text
	}
	m.Role = "assistant"
	run := h.llm(t, m, native, c)
	h.post(runtypes.Interrupt(run, h.at, why))
	t.ran(h.at)
}
