package opencode

import (
	"encoding/json"
	"errors"

	"github.com/tracesmith/tracesmith/integrations"
)

// teller tells a thread of the database as its stream would have: the reducer hears the
// same, less the moments of requests and what was never written down.
type teller struct {
	src    integrations.Source
	db     string
	root   session
	told   integrations.Told
	spoken map[string]bool // prompts of subagents that have been told
	errs   []error
}

// tell reads a session with those of its subagents.
func tell(src integrations.Source, db string, root session) (integrations.Told, error) {
	t := &teller{src: src, db: db, root: root, spoken: map[string]bool{}, told: integrations.Told{CWD: root.Directory}}
	list, err := messages(src, db, root.ID)
	if err != nil {
		return t.told, err
	}
	t.begin(root)
	t.session(list)
	return t.told, errors.Join(t.errs...)
}

func unmarshal(column, into any) error { return json.Unmarshal([]byte(text(column)), into) }

func (t *teller) begin(s session) {
	t.say(onCreated, data{T: s.Time.Created, Session: s.ID, Info: &s})
}

// say adds an event.
func (t *teller) say(kind string, d data) {
	raw, err := marshalData(d)
	if err != nil {
		t.errs = append(t.errs, err)
		return
	}
	t.told.Events = append(t.told.Events, integrations.Event{Kind: kind, At: at(d.T), CWD: t.root.Directory, Data: raw})
}

// session tells the messages of a session. It was idle before a prompt unless the one
// before is answered after it: then the prompt had to wait.
func (t *teller) session(list []*stored) {
	last := map[string]int{} // where a message of the user's has its last answer
	for i, m := range list {
		last[m.Parent] = i
	}
	open, answer := "", int64(0)
	for i, m := range list {
		if m.Role != "user" {
			t.assistant(m)
			answer = max(answer, m.end())
			continue
		}
		apart := m.spoken() || !m.goesOn()
		if apart && open != "" && last[open] > 0 && last[open] < i {
			t.say(onIdle, data{T: answer, Session: m.Session})
		}
		if apart || open == "" {
			if m.Session == t.root.ID && (m.spoken() || last[m.ID] > i) {
				t.trace(m)
			}
			open = m.ID
		} else if next, answered := last[m.ID]; answered {
			last[open] = max(last[open], next)
		}
		t.user(m)
	}
	if n := len(list); n > 0 && list[n-1].Role != "user" && list[n-1].Time.Completed > 0 {
		t.say(onIdle, data{T: answer, Session: list[n-1].Session})
	}
}

// trace notes that the reducer will begin a turn.
func (t *teller) trace(m *stored) {
	r := &reducer{Thread: t.root.ID}
	begun := &turn{ID: m.ID, Start: m.Time.Created}
	t.told.Traces = append(t.told.Traces, r.id(begun, "root", m.ID))
}

func (t *teller) user(m *stored) {
	if m.spoken() {
		t.say(onPrompt, data{T: m.Time.Created, Session: m.Session, Message: &m.message, Parts: m.parts})
		return
	}
	t.say(onMessage, data{T: m.Time.Created, Session: m.Session, Message: &m.message})
	for i := range m.parts {
		t.say(onPart, data{T: m.Time.Created, Session: m.Session, Part: &m.parts[i]})
	}
}

// assistant tells a message as it was written: begun, its parts, complete.
func (t *teller) assistant(m *stored) {
	begun := m.message
	begun.Time.Completed, begun.Finish, begun.Error, begun.Tokens, begun.Cost = 0, "", nil, tokens{}, 0
	t.say(onMessage, data{T: m.Time.Created, Session: m.Session, Message: &begun})
	for i := range m.parts {
		if p := &m.parts[i]; p.Type == "tool" && p.State.Time.Start > 0 {
			running := *p
			running.State.Status, running.State.Output, running.State.Error, running.State.Time.End = "running", "", "", 0
			t.say(onPart, data{T: p.State.Time.Start, Session: m.Session, Part: &running})
		}
	}
	for i := range m.parts {
		if p := &m.parts[i]; p.State.Metadata.Session != "" {
			t.work(m, p)
		}
	}
	// Tools that were through have nothing to do with what ended the message.
	for _, whole := range []bool{true, false} {
		for i := range m.parts {
			p := &m.parts[i]
			if p.State.whole() == whole && (p.Type != "tool" || p.State.over()) {
				t.say(onPart, data{T: max(m.Time.Created, p.Time.End, p.State.Time.End), Session: m.Session, Part: p})
			}
		}
		if whole && m.Error != nil {
			t.say(onError, data{T: m.end(), Session: m.Session, Error: m.Error})
		}
	}
	t.say(onMessage, data{T: m.end(), Session: m.Session, Message: &m.message})
}

// work tells what a subagent did for a call: the prompts that came while it was open,
// which no other call had.
func (t *teller) work(m *stored, call *part) {
	child := t.child(m.Session, call.State.Metadata.Session)
	if child == nil {
		return
	}
	list, err := messages(t.src, t.db, child.ID)
	if err != nil {
		t.errs = append(t.errs, err)
		return
	}
	var mine []*stored
	taken := false
	for _, each := range list {
		if each.Role == "user" && each.spoken() {
			late := call.State.Time.End > 0 && each.Time.Created > call.State.Time.End
			taken = !t.spoken[each.ID] && each.Time.Created >= call.State.Time.Start && !late
			t.spoken[each.ID] = t.spoken[each.ID] || taken
		}
		if taken {
			mine = append(mine, each)
		}
	}
	t.begin(*child)
	t.session(mine)
}

// child is a session that another one started; nil if there is no such.
func (t *teller) child(parent, id string) *session {
	for row, err := range t.src.Rows(t.db, childSessions, parent) {
		if err != nil {
			t.errs = append(t.errs, err)
			return nil
		}
		if text(row[0]) == id {
			return &session{
				ID: id, Parent: text(row[1]), Directory: text(row[2]), Version: text(row[3]), Agent: text(row[4]),
				Time: span{Created: number(row[5])},
			}
		}
	}
	return nil
}
