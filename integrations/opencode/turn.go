package opencode

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/tracesmith/tracesmith/integrations"
)

// Kinds of turns that no prompt began.
const (
	compaction = "compaction" // the user asked for a summary
	shell      = "user_shell" // the user ran a command
)

// turn is a prompt and what followed, in a session or in a subagent's.
type turn struct {
	ID      string `json:"id"` // of the user's message
	Session string `json:"session"`
	Kind    string `json:"kind,omitempty"`
	Start   int64  `json:"start"`
	Prompt  string `json:"prompt,omitempty"` // its line
	PID     int    `json:"pid,omitempty"`
	Number  int    `json:"number,omitempty"`
	CWD     string `json:"cwd,omitempty"`
	Branch  string `json:"branch,omitempty"`
	SHA     string `json:"sha,omitempty"`
	Version string `json:"version,omitempty"`
	Above   string `json:"above,omitempty"` // the dotted order of the run that started OpenCode

	Agent string `json:"agent,omitempty"` // of a subagent
	Under string `json:"under,omitempty"` // of a subagent: the turn that it works for,
	Call  string `json:"call,omitempty"`  // the part of its task there; empty: it was never seen
	Begun int64  `json:"begun,omitempty"` // and when the task began
	Apart bool   `json:"apart,omitempty"` // it goes on when that turn has ended

	Also     []string `json:"also,omitempty"` // messages in the user's name that go on with it
	Steps    []*step  `json:"steps,omitempty"`
	Retired  []string `json:"retired,omitempty"` // the last steps that are out
	Said     []string `json:"said,omitempty"`    // lines of what was said before them
	Spoken   bool     `json:"spoken,omitempty"`  // it has had a step
	Merged   bool     `json:"merged,omitempty"`  // what was said begins with a summary
	Final    string   `json:"final,omitempty"`   // the line of its last complete message
	Answer   string   `json:"answer,omitempty"`  // the line of its last text
	Failure  string   `json:"failure,omitempty"`
	Aborted  bool     `json:"aborted,omitempty"`
	Idle     bool     `json:"idle,omitempty"` // its session had nothing to do after it
	Passed   bool     `json:"passed,omitempty"`
	Posted   bool     `json:"posted,omitempty"`
	Ended    int64    `json:"ended,omitempty"` // when its last step was complete, or it failed
	Repeated int64    `json:"repeated,omitempty"`
}

// sent is how much of a run is out.
type sent int

const (
	unsent sent = iota
	pending
	complete
)

// maxDeltas bounds the pieces of one text that are remembered until all of it comes.
const maxDeltas = 4096

// prompt begins a turn.
func (r *reducer) prompt(src integrations.Source, e integrations.Event, d *data) error {
	m := d.Message
	if m == nil || m.ID == "" || d.Session == "" || r.turn(m.ID) != nil || slices.Contains(r.Closed, m.ID) {
		return nil
	}
	p := r.at(d.Session)
	p.Aborting = false
	t := &turn{
		ID: m.ID, Session: d.Session, Start: m.Time.Created, Prompt: e.Ref, PID: d.PID,
		CWD: e.CWD, Branch: e.Head.Branch, SHA: e.Head.SHA, Version: p.Version, Agent: m.Agent, Above: d.Above,
	}
	if t.Start == 0 {
		t.Start = d.T
	}
	r.Turns = append(r.Turns, t)
	if r.join(d.Session); p.Parent == "" {
		return r.number(src, t, d)
	}
	return nil
}

// join makes the session the thread, or the one that it descends from, if there is none.
func (r *reducer) join(session string) {
	for range 32 {
		p := r.Sessions[session]
		if p == nil || p.Parent == "" {
			break
		}
		session = p.Parent
	}
	if r.Thread == "" {
		r.Thread = session
	}
}

// number counts the turn. Of a session that began before it was traced the database
// knows how many there were; where it does not, none has a number.
func (r *reducer) number(src integrations.Source, t *turn, d *data) error {
	if !r.Counted {
		r.Counted = true
		if p := r.at(t.Session); !p.New {
			before, err := promptsBefore(src, d.DB, t)
			if err != nil {
				r.Count = -1
				if errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
				return err
			}
			r.Count = before
		}
	}
	if r.Count >= 0 {
		r.Count++
		t.Number = r.Count
	}
	return nil
}

// turn finds an open turn by one of its messages in the user's name.
func (r *reducer) turn(id string) *turn {
	for _, t := range r.Turns {
		if t.ID == id || slices.Contains(t.Also, id) {
			return t
		}
	}
	return nil
}

// step finds an open step, and its turn.
func (r *reducer) step(id string) (*turn, *step) {
	for _, t := range r.Turns {
		for _, s := range t.Steps {
			if s.ID == id {
				return t, s
			}
		}
	}
	return nil, nil
}

// message takes a message as it stands now.
func (r *reducer) message(e integrations.Event, d *data) {
	m := d.Message
	if m == nil || m.ID == "" {
		return
	}
	if m.Role == "user" {
		r.unspoken(d.Session, m)
		return
	}
	t, s := r.step(m.ID)
	if s == nil {
		r.failedAfter(e, m)
		asked := slices.ContainsFunc(r.at(d.Session).Others, func(u unspoken) bool { return u.ID == m.Parent && u.Asked })
		if t = r.answered(d, m); t == nil {
			return
		}
		if t.Prompt == "" && !t.Spoken {
			t.CWD, t.Branch, t.SHA = e.CWD, e.Head.Branch, e.Head.SHA
		}
		s = &step{ID: m.ID, Agent: m.Agent, Created: m.Time.Created, Compacts: m.compacts(), Asked: asked}
		t.Aborted = t.Aborted && t.Spoken // one that waited had its turn after all
		t.Steps, t.Spoken, t.Idle = append(t.Steps, s), true, false
	}
	s.Line = e.Ref
	s.Completed = m.Time.Completed
	t.Aborted = t.Aborted || m.Error.aborted()
}

// failedAfter notes that the last message of a turn, which is out, is said to have failed
// after all: with an answer of another form than was asked for.
func (r *reducer) failedAfter(e integrations.Event, m *message) {
	for _, t := range r.Turns {
		if n := len(t.Retired); n > 0 && t.Retired[n-1] == m.ID && m.Error != nil && !m.compacts() {
			t.Final = e.Ref
		}
	}
}

// unspoken notes a message in the user's name that is no prompt, as far as is known.
func (r *reducer) unspoken(session string, m *message) {
	if r.turn(m.ID) != nil || slices.Contains(r.Closed, m.ID) || session == "" {
		return
	}
	p := r.at(session)
	if slices.ContainsFunc(p.Others, func(u unspoken) bool { return u.ID == m.ID }) {
		return
	}
	p.Others = append(p.Others, unspoken{ID: m.ID, Created: m.Time.Created})
	if len(p.Others) > maxOthers {
		p.Others = p.Others[1:]
	}
}

// answered finds the turn that a new message of the assistant's belongs to, or begins
// it; nil: none of ours. A message that is complete when it is first seen is a copy, or
// the last word on what is closed.
func (r *reducer) answered(d *data, m *message) *turn {
	p := r.at(d.Session)
	if m.Time.Completed > 0 || m.Time.Created < p.Created {
		return nil
	}
	t := r.turn(m.Parent)
	if t != nil && slices.Contains(t.Retired, m.ID) {
		return nil
	}
	if t == nil {
		i := slices.IndexFunc(p.Others, func(u unspoken) bool { return u.ID == m.Parent })
		if i < 0 {
			return nil
		}
		other := p.Others[i]
		if t = r.busy(d.Session); t != nil {
			t.Also = append(t.Also, m.Parent)
		} else {
			t = r.unprompted(d, m, other)
		}
		p.Others = slices.Delete(p.Others, i, i+1)
	}
	for _, each := range r.of(d.Session) {
		if each == t {
			break
		}
		each.Passed = true // the next one has its turn
	}
	return t
}

// unprompted begins the turn of a compaction or a command that the user asked for, or one
// whose prompt was lost on the way.
func (r *reducer) unprompted(d *data, m *message, from unspoken) *turn {
	p := r.at(d.Session)
	p.Aborting = false
	r.join(d.Session)
	t := &turn{ID: from.ID, Session: d.Session, Start: from.Created, PID: d.PID, Version: p.Version}
	switch {
	case m.compacts():
		t.Kind = compaction
	case from.Written:
		t.Kind = shell
	default:
		t.Agent = m.Agent
		if p.Parent == "" && r.Count >= 0 && (r.Counted || p.New) {
			r.Counted, r.Count = true, r.Count+1
			t.Number = r.Count
		}
	}
	if t.Start == 0 {
		t.Start = m.Time.Created
	}
	r.Turns = append(r.Turns, t)
	return t
}

// part takes a part as it stands now.
func (r *reducer) part(e integrations.Event, d *data) {
	in := d.Part
	if in == nil {
		return
	}
	t, s := r.step(in.Message)
	if s == nil {
		p := r.at(d.Session)
		if i := slices.IndexFunc(p.Others, func(u unspoken) bool { return u.ID == in.Message }); i >= 0 {
			p.Others[i].Written = p.Others[i].Written || in.Synthetic
			p.Others[i].Asked = p.Others[i].Asked || in.Type == compaction && !in.Auto
		}
		return
	}
	if in.Type == "step-start" {
		s.restart()
		return
	}
	if s.Sent && in.Type != "tool" || in.Type != "text" && in.Type != "reasoning" && in.Type != "tool" {
		return
	}
	x := s.piece(in.ID, in.Type)
	if x.Over {
		return
	}
	x.Line, x.Call = e.Ref, in.Call
	if in.Text != "" || in.Time.End > 0 {
		x.Deltas = nil
	}
	if in.Type != "tool" {
		return
	}
	if in.State.Time.Start > 0 && x.Begun == 0 {
		x.Begun = in.State.Time.Start
	}
	if child := in.State.Metadata.Session; child != "" {
		x.Child = child
		if p := r.at(child); p.Parent == "" && child != d.Session {
			p.Parent = d.Session // which began before it was traced
		}
	}
	if in.State.over() {
		x.Over, x.Apart = true, in.State.Metadata.Apart
		for _, below := range r.Turns {
			below.Apart = below.Apart || x.Apart && below.Under == t.ID && below.Call == x.ID
		}
		x.Stopped = r.at(d.Session).Aborting ||
			x.Child != "" && in.State.Status == "error" && (r.at(x.Child).Aborting || in.State.cancelled())
		if t.Kind == shell && in.State.aborted() {
			x.Stopped, t.Aborted = true, true
		}
		if x.Begun == 0 {
			x.Begun = d.T
		}
	}
}

// delta takes a piece of a text that is being written.
func (r *reducer) delta(e integrations.Event, d *data) {
	if d.Delta == nil {
		return
	}
	if _, s := r.step(d.Delta.Message); s != nil && !s.Sent {
		for _, x := range s.Pieces {
			if x.ID == d.Delta.Part && len(x.Deltas) < maxDeltas {
				x.Deltas = append(x.Deltas, e.Ref)
			}
		}
	}
}

// held reports whether the turn is at its end but for a subagent, which goes on with work
// that it began: its runs belong below that of the turn.
func (r *reducer) held(t *turn) bool {
	return t.over() && slices.ContainsFunc(r.Turns, func(below *turn) bool { return below.Under == t.ID && below.Apart })
}

// over reports whether the turn is at its end: its session is idle, or another prompt
// has its turn, and its messages are complete.
func (t *turn) over() bool {
	if t.Passed {
		return true
	}
	return t.Idle && !slices.ContainsFunc(t.Steps, func(s *step) bool { return s.Completed == 0 })
}
