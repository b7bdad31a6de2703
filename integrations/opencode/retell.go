package opencode

import (
	"encoding/json"
	"errors"
	"math"

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
	below  []prompt        // of subagents that have not been told
	errs   []error
}

// prompt is one of a subagent's session.
type prompt struct {
	id, session string
	created     int64
}

// tell reads a session with those of its subagents.
func tell(src integrations.Source, db string, root session) (integrations.Told, error) {
	t := &teller{src: src, db: db, root: root, spoken: map[string]bool{}, told: integrations.Told{CWD: root.Directory}}
	list, err := messages(src, db, root.ID)
	if err != nil {
		return t.told, err
	}
	for row, err := range src.Rows(db, promptsBelow, root.ID) {
		if err != nil {
			return t.told, err
		}
		t.below = append(t.below, prompt{text(row[0]), text(row[1]), number(row[2])})
	}
	t.begin(root)
	t.session(list, true)
	t.typed(math.MaxInt64, true)
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
// before is answered after it: then the prompt had to wait. An abort meanwhile stopped it
// too. A compaction that the user asked for meanwhile is part of what was on. top says that
// its turns are roots.
func (t *teller) session(list []*stored, top bool) {
	last := map[string]int{} // where a message of the user's has its last answer
	for i, m := range list {
		last[m.Parent] = i
	}
	open, answer, stopped := "", int64(0), (*stored)(nil)
	for i, m := range list {
		if m.Role != "user" {
			t.assistant(m)
			answer = max(answer, m.end())
			if m.Error.aborted() {
				stopped = m
			}
			continue
		}
		on := open != "" && (m.Time.Created < answer || last[open] > i)
		apart := m.spoken() || !m.goesOn() && !on
		idle := apart && open != "" && last[open] > 0 && last[open] < i
		if idle {
			t.say(onIdle, data{T: answer, Session: m.Session})
		}
		if m.Session == t.root.ID {
			t.typed(m.Time.Created, idle)
		}
		if apart || open == "" {
			if top && (m.spoken() || last[m.ID] > i) {
				t.trace(m)
			}
			open = m.ID
		} else if next, answered := last[m.ID]; answered {
			last[open] = max(last[open], next)
		}
		t.user(m)
		if stopped != nil && m.Time.Created < stopped.end() && last[m.ID] == 0 { // with it went what waited
			t.say(onError, data{T: stopped.end(), Session: m.Session, Error: stopped.Error})
		}
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
		switch p := &m.parts[i]; {
		case p.Type != "tool":
			t.say(onPart, data{T: max(m.Time.Created, p.Time.End), Session: m.Session, Part: p})
		case p.State.Time.Start > 0:
			running := *p
			running.State.Status, running.State.Output, running.State.Error, running.State.Time.End = "running", "", "", 0
			t.say(onPart, data{T: p.State.Time.Start, Session: m.Session, Part: &running})
		}
	}
	for i := range m.parts {
		if p := &m.parts[i]; p.State.Metadata.Session != "" {
			t.work(p)
		}
	}
	// Tools that were through have nothing to do with what ended the message.
	for _, whole := range []bool{true, false} {
		for i := range m.parts {
			p := &m.parts[i]
			if p.Type == "tool" && p.State.over() && p.State.whole() == whole {
				t.say(onPart, data{T: max(m.Time.Created, p.State.Time.End), Session: m.Session, Part: p})
			}
		}
		if whole && m.Error != nil {
			t.say(onError, data{T: m.end(), Session: m.Session, Error: m.Error})
		}
	}
	if m.Session == t.root.ID {
		t.typed(m.end(), false)
	}
	t.say(onMessage, data{T: m.end(), Session: m.Session, Message: &m.message})
}

// work tells what a subagent did for a call: the prompts that came while it was open,
// which no other call had.
func (t *teller) work(call *part) {
	t.child(call.State.Metadata.Session, false, func(p *stored) bool {
		late := call.State.Time.End > 0 && p.Time.Created > call.State.Time.End
		return p.Time.Created >= call.State.Time.Start && !late
	})
}

// typed tells what the user typed into the sessions of subagents before a time: the
// prompts that came while no call was open. They begin roots if the session above was idle.
func (t *teller) typed(before int64, idle bool) {
	for len(t.below) > 0 && t.below[0].created < before {
		next := t.below[0]
		t.below = t.below[1:]
		if !t.spoken[next.id] && !t.called(next) {
			t.child(next.session, idle, func(p *stored) bool { return p.ID == next.id })
		}
	}
}

// called reports whether a prompt is the work of a call, be it one of a fork.
func (t *teller) called(p prompt) bool {
	for _, err := range t.src.Rows(t.db, callsOf, p.session, p.created) {
		if err != nil {
			t.errs = append(t.errs, err)
		}
		return true
	}
	return false
}

// child tells those prompts of a subagent's session, with all that followed, that are
// wanted and have not been told.
func (t *teller) child(id string, top bool, wanted func(prompt *stored) bool) {
	for row, err := range t.src.Rows(t.db, childSession, id) {
		if err != nil {
			t.errs = append(t.errs, err)
			return
		}
		list, err := messages(t.src, t.db, id)
		if err != nil {
			t.errs = append(t.errs, err)
			return
		}
		var mine []*stored
		taken := false
		for _, each := range list {
			if each.Role == "user" && each.spoken() {
				taken = !t.spoken[each.ID] && wanted(each)
				t.spoken[each.ID] = t.spoken[each.ID] || taken
			}
			if taken {
				mine = append(mine, each)
			}
		}
		t.begin(session{
			ID: id, Parent: text(row[0]), Directory: text(row[1]), Version: text(row[2]), Agent: text(row[3]),
			Time: span{Created: number(row[4])},
		})
		t.session(mine, top)
	}
}
