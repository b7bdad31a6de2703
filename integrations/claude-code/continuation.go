package claudecode

import (
	"encoding/json"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// sent is a message that made a subagent go on which had ended.
type sent struct {
	Agent    string    `json:"agent"`
	Tool     string    `json:"tool"` // tool_use id of the call
	Answered time.Time `json:"answered"`
}

// resumed is the subagent that a message made go on.
func (res *result) resumed() string {
	var said struct {
		Agent string `json:"resumedAgentId"`
	}
	_ = json.Unmarshal([]byte(contentText(res.content)), &said) // an answer of another shape names none
	return said.Agent
}

// messenger finds the call that sent a subagent the message that it goes on with: the
// message stands in the subagent's file before the call is answered.
func (r *reducer) messenger(a *agent) *agentkit.Anchor {
	for _, m := range r.Messages {
		if m.Agent == a.ID && !m.Answered.Before(a.Messaged) {
			return r.Anchors[m.Tool]
		}
	}
	return nil
}

// notification tells of a background task.
type notification struct {
	task string
	at   time.Time
}

// heed takes what the notifications in a thread say of subagents.
func (r *reducer) heed(th *thread) {
	for _, n := range th.notified {
		if a := r.Agents[n.task]; a != nil && n.at.After(a.Notified) {
			a.Notified = n.at
		}
	}
	th.notified = nil
}

// final reports whether a subagent does not go on in the run under way. That it
// stopped is not enough: a hook may object, and its own subagents may report back.
// Whoever started it is told when it is over, by the call's result or by a notification.
func (a *agent) final(th *thread, up *agentkit.Anchor, hard bool) bool {
	notified := a.Notified.After(a.StopAt) && a.Notified.After(th.begun())
	switch {
	case a.Forced:
		return true
	case a.Stops == 0:
		return notified && hard
	case a.Stops < th.rests && !a.Waited:
		return false // a later stop is visible, and not yet heard of
	case th.over, notified:
		return true
	case len(th.entries) == 0, a.Tool == "", a.workflow() != "": // nobody tells
		return true
	}
	return up.End.After(a.StopAt)
}

// rest puts a subagent aside whose runs have gone out, or goes on with what its file
// holds behind them.
func (r *reducer) rest(a *agent) {
	key := "agent " + a.ID
	th := r.threads[key]
	delete(r.threads, key)
	next := &agent{ID: a.ID, Type: a.Type, Tool: a.Tool, Path: a.Path, From: th.next}
	if th.over {
		next.Forced = a.Forced && r.Ended
		next.Stops, next.StopAt, next.LastHash = max(0, a.Stops-th.rests), a.StopAt, a.LastHash
		r.Agents[a.ID] = next
		return
	}
	delete(r.Agents, a.ID)
	r.Rested = append(r.Rested, next)
	if len(r.Rested) > maxRested {
		r.Rested = r.Rested[1:]
	}
}
