package claudecode

import (
	"strings"
	"time"
)

// reply is one model message, gathered from its lines.
type reply struct {
	id       string
	model    string
	blocks   []block
	usage    *usage
	stop     string
	aborted  bool
	err      *line // the synthetic line of a failed call
	start    time.Time
	end      time.Time
	params   *requestParams
	retries  []retry
	attempts int
	final    bool                 // something that can only come later stands behind it
	asked    map[string]time.Time // tool_use id -> when its block was complete
}

// retry is one failed attempt of a model call.
type retry struct {
	at      time.Time
	attempt int
	wait    float64
	err     string
}

func (t *thread) addAssistant(l *line) {
	r := t.messages[l.Message.ID]
	if r == nil {
		t.settle()
		r = &reply{id: l.Message.ID, model: l.Message.Model, asked: map[string]time.Time{}}
		t.open(r, l)
		t.messages[r.id] = r
		t.order = append(t.order, r)
		t.entries = append(t.entries, entry{uuid: l.UUID, reply: r})
		t.closed = false
	}
	r.end = l.Timestamp
	r.aborted = r.aborted || l.Aborted
	if l.IsAPIError || l.Message.Model == "<synthetic>" {
		r.err = l
	}
	if l.Message.StopReason != nil {
		if r.stop == "" && ends(*l.Message.StopReason) {
			t.rests++
		}
		r.stop = *l.Message.StopReason
	}
	if u := l.Message.Usage; u != nil && (r.usage == nil || u.Output >= r.usage.Output) {
		r.usage = u
	}
	for _, b := range l.Message.blocks() {
		r.blocks = append(r.blocks, b)
		if b.Type == "tool_use" {
			r.asked[b.ID] = l.Timestamp
		}
	}
}

// open gives a reply the requests and the failed attempts that led to it.
func (t *thread) open(r *reply, l *line) {
	r.start = l.Timestamp
	r.attempts = len(t.requests)
	if len(t.requests) > 0 {
		r.start = t.requests[0].at
		r.params = t.requests[len(t.requests)-1].params
	} else if prev := t.previous(); !prev.IsZero() && prev.Before(r.start) {
		r.start = prev // no record of the request: the model was asked when the last input stood
	}
	r.retries = t.retries
	t.requests, t.retries = nil, nil
}

// ends reports whether a reply that stopped for this reason is an answer.
func ends(reason string) bool {
	return reason == "end_turn" || reason == "stop_sequence" || reason == "refusal"
}

// text is the reply's visible text.
func (r *reply) text() string {
	var parts []string
	for _, b := range r.blocks {
		if b.Type == "text" && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// lastText is the last text block alone.
func (r *reply) lastText() string {
	for i := len(r.blocks) - 1; i >= 0; i-- {
		if r.blocks[i].Type == "text" {
			return r.blocks[i].Text
		}
	}
	return ""
}

// apiErrorText is the error of a failed attempt in one line.
func apiErrorText(v any) string {
	switch e := v.(type) {
	case string:
		return e
	case map[string]any:
		for _, key := range []string{"formatted", "message"} {
			if s, ok := e[key].(string); ok && s != "" {
				return s
			}
		}
	}
	return ""
}
