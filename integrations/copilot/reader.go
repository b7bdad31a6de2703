package copilot

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// reader is what a process knows of the lines that it has read: of the turn that is on,
// and of each subagent.
type reader struct {
	next    int64
	root    *stretch
	agents  map[string]*stretch
	notices []record // that came while nothing was on: what may have woken the agent
	tail    []byte   // of the line that was looked at last
	last    time.Time
}

// open starts reading where the oldest of what is open began.
func (r *reducer) open() {
	if r.reader != nil {
		return
	}
	rd := &reader{next: r.From, agents: map[string]*stretch{}}
	if r.Turn != nil {
		rd.next = min(rd.next, r.Turn.Line)
	}
	if r.Notice > 0 {
		rd.next = min(rd.next, r.Notice-1)
	}
	for _, a := range r.Agents {
		if a.Busy {
			rd.next = min(rd.next, a.Line)
		}
	}
	r.reader = rd
}

// read takes in lines up to the end of the turn that is on, or to the end of what is
// there. A file that is not there has no lines.
func (r *reducer) read(src integrations.Source) (ended bool, err error) {
	r.open()
	rd := r.reader
	line := int64(-1)
	defer func() {
		if line >= 0 {
			r.marked(line, rd.tail)
		}
	}()
	for raw, err := range src.Lines(r.Log, rd.next) {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("copilot: log: %w", err)
		}
		rd.next = raw.Next
		if rd.next > r.From {
			rd.tail, line = append(rd.tail[:0], tailOf(raw.Data)...), raw.Offset
		}
		if !r.foreign(raw.Data) {
			if rec, ok := parseRecord(raw.Data); ok {
				rec.offset = raw.Offset
				ended = r.take(&rec)
				rd.last = rec.at
			}
		}
		if rd.next > r.From {
			r.From = rd.next
		}
		if ended {
			return true, nil
		}
	}
	return false, nil
}

// foreign reports whether a line tells of a turn before those that are ours.
func (r *reducer) foreign(line []byte) bool {
	if r.Back || r.reader.root != nil || len(r.reader.agents) > 0 || r.Since <= 1 || !content(kindOf(line)) {
		return false
	}
	at := timeOf(line)
	return !at.IsZero() && r.before(at)
}

// take sorts a line: to a subagent, to the turn that is on, or to what is known of the
// session. A line that was looked at before goes to what is still open alone.
func (r *reducer) take(rec *record) (ended bool) {
	h, isHook := rec.data.(*hookRun)
	fresh := rec.offset >= r.From
	if isHook && fresh {
		r.Shown = max(r.Shown, stampOf(h.Input.Stamp))
	}
	if r.Turn != nil && r.Turn.Tentative && !r.before(rec.at) {
		r.Turn.Tentative = false
	}
	if rec.agent != "" {
		r.takeAgent(rec, fresh)
		return false
	}
	if isHook {
		return r.takeHook(rec, h, fresh)
	}
	s := r.reader.root
	if s != nil && s.mute && fresh && rec.begins() {
		return r.cutBefore(rec)
	}
	if fresh && r.Place.take(rec) || !fresh && (&place{}).take(rec) {
		if fresh && rec.kind == "session.start" { // a fork's log begins with a copy of what was before it
			r.Since = max(r.Since, rec.at.UnixMilli())
		}
		if _, opens := rec.data.(*opening); opens { // another process goes on
			r.lasted(r.reader.last)
			return r.cut()
		}
		return false
	}
	switch d := rec.data.(type) {
	case *userMessage:
		return r.takePrompt(rec, d, fresh)
	case *struct{}: // session.shutdown
		r.lasted(rec.at)
		for _, each := range r.reader.agents {
			each.gone()
		}
		if s != nil {
			s.gone()
			return true
		}
		return false
	case *systemMessage:
		if s == nil && rec.kind == "system.notification" {
			r.notice(rec, fresh)
		}
	case *compacted:
		if s == nil && rec.kind == "session.compaction_start" {
			r.beginTurn(rec, fresh, turn{ID: cmp.Or(d.ID, fmt.Sprintf("compaction@%d", rec.offset)), Compaction: true})
		}
	case *round, *assistantMessage, *toolStart:
		r.goesOn(rec, fresh)
	}
	if s = r.reader.root; s == nil {
		return false
	}
	s.add(rec)
	if r.Turn != nil && r.Turn.Compaction && len(s.merges) > 0 && s.merging == nil {
		s.cutOff()
	}
	return s.over()
}

// takePrompt takes a prompt of the user's: it joins the turn that is on, or ends it and
// begins another.
func (r *reducer) takePrompt(rec *record, u *userMessage, fresh bool) (ended bool) {
	s := r.reader.root
	if s != nil && (s.joins(u) || !fresh) {
		s.add(rec)
		return false
	}
	if s != nil {
		return r.cutBefore(rec)
	}
	t := turn{ID: cmp.Or(u.Interaction, fmt.Sprintf("prompt@%d", rec.offset)), Stamp: r.Prompt}
	if u.Autopilot {
		t.Origin = "autopilot"
	}
	r.beginTurn(rec, fresh, t)
	if r.reader.root != nil {
		r.reader.root.add(rec)
	}
	return false
}

// takeHook takes the log's own line of a hook.
func (r *reducer) takeHook(rec *record, h *hookRun, fresh bool) (ended bool) {
	if h.Type == userPrompt && rec.kind == "hook.start" && fresh {
		r.Prompt = stampOf(h.Input.Stamp)
	}
	s := r.reader.root
	if s == nil {
		return false
	}
	s.hooked(rec, h)
	return s.over()
}

// lasted notes how long the process was there that has what is open.
func (r *reducer) lasted(until time.Time) {
	if s := r.reader.root; s != nil && s.until.IsZero() {
		s.until = until
	}
	for _, s := range r.reader.agents {
		s.until = until
	}
}

// cut ends the turn that is on.
func (r *reducer) cut() bool {
	if r.reader.root == nil {
		return false
	}
	r.reader.root.cutOff()
	return true
}

// cutBefore ends the turn that is on before a line, which is read again when it has gone
// out.
func (r *reducer) cutBefore(rec *record) bool {
	r.reader.next, r.From = rec.offset, min(r.From, rec.offset)
	return r.cut()
}

func (r *reducer) turnLine() int64 {
	if r.Turn == nil {
		return -1
	}
	return r.Turn.Line
}

// notice keeps what the program says while nothing is on, or takes up the part of a turn
// that it began.
func (r *reducer) notice(rec *record, fresh bool) {
	switch {
	case fresh && r.Notice == 0:
		r.Notice = rec.offset + 1
	case !fresh && rec.offset == r.turnLine():
		r.beginTurn(rec, false, turn{})
		return
	case !fresh && (r.Notice == 0 || rec.offset < r.Notice-1):
		return
	}
	r.reader.notices = append(r.reader.notices, *rec)
}

// goesOn begins the next part of a turn that is closed: something woke the agent, such
// as a subagent that reports back.
func (r *reducer) goesOn(rec *record, fresh bool) {
	if r.reader.root != nil || rec.kind == "assistant.turn_end" || fresh && r.Last == nil {
		return
	}
	if !fresh {
		r.beginTurn(rec, false, turn{})
		return
	}
	notices := r.reader.notices
	t := turn{ID: r.Last.ID, Stamp: r.Prompt}
	first := *rec
	if len(notices) > 0 {
		t.Origin, first = "task_notification", notices[0]
	}
	r.beginTurn(&first, true, t)
	if s := r.reader.root; s != nil {
		for i := range notices {
			s.add(&notices[i])
		}
	}
}

// beginTurn begins a turn with a line, if it is ours, or takes up the one that is open
// where it began.
func (r *reducer) beginTurn(rec *record, fresh bool, t turn) {
	if !fresh {
		if r.Turn != nil && rec.offset == r.Turn.Line {
			r.reader.root = newStretch(r.Turn.Place, rec.at)
		}
		return
	}
	r.Prompt, r.Notice, r.reader.notices = 0, 0, nil
	t.Line, t.Begun, t.Place = rec.offset, rec.at, r.Place
	switch {
	case r.Last != nil && r.Last.ID == t.ID: // it was closed, and goes on
		t.Part = r.Last.Part + 1
		t.Number, t.Time, t.Continues = r.Last.Number, r.Last.Time, r.Last.Run
	case t.Compaction:
		t.Part, t.Time = 1, rec.at
	default:
		r.Count++
		t.Part, t.Number, t.Time = 1, r.Count, rec.at
	}
	if !t.Compaction {
		r.Last = &closed{ID: t.ID, Part: t.Part, Number: t.Number, Time: t.Time, Run: t.Continues}
	}
	if r.before(rec.at) {
		if !r.Back {
			return
		}
		t.Tentative = true
	}
	r.heardOf(&t)
	r.Turn = &t
	r.reader.root = newStretch(t.Place, rec.at)
}

// before reports whether something was before the first hook that was heard of.
func (r *reducer) before(at time.Time) bool { return at.UnixMilli() < r.Since }

// takeAgent takes a line of a subagent.
func (r *reducer) takeAgent(rec *record, fresh bool) {
	a := r.Agents[rec.agent]
	s := r.reader.agents[rec.agent]
	d, told := rec.data.(*subagent)
	_, prompted := rec.data.(*userMessage)
	if told && d.Mode == "background" {
		if t := r.caller(d.Call); t != nil {
			t.background = true
		}
	}
	switch {
	case a == nil:
		if !fresh || !told || rec.kind != "subagent.started" || r.Last == nil || !r.hasRoom() {
			return
		}
		if r.Turn == nil && r.before(r.Last.Time) {
			return // of a turn that is not ours
		}
		a = &agent{
			ID: rec.agent, Call: d.Call, Owner: r.ownerOf(d.Call), Kind: d.Kind, Name: d.Title,
			Turn: r.Last.ID, Part: r.Last.Part, Time: r.Last.Time, Busy: true, Line: rec.offset,
		}
		r.Agents[rec.agent] = a
		s = newStretch(r.Place, rec.at)
	case s == nil && a.Busy && rec.offset == a.Line, s == nil && !a.Busy && fresh && (prompted || rec.kind == "subagent.started"):
		a.Busy, a.Line = true, rec.offset
		s = newStretch(r.Place, rec.at)
	case s == nil:
		return
	}
	if t := r.caller(a.Call); t != nil && told && len(s.calls) == 0 && a.Done == 0 {
		s.task = t.task()
	}
	r.reader.agents[rec.agent] = s
	s.add(rec)
}

// callers lists who may have made a call, by id: the root, which has none, goes first.
func (r *reducer) callers(call string) (owners []string) {
	for id, s := range r.reader.agents {
		if s.running(call) != nil {
			owners = append(owners, id)
		}
	}
	if s := r.reader.root; s != nil && s.running(call) != nil {
		owners = append(owners, "")
	}
	slices.Sort(owners)
	return owners
}

// ownerOf is the subagent that made a call; "" for the root.
func (r *reducer) ownerOf(call string) string {
	if owners := r.callers(call); len(owners) > 0 {
		return owners[0]
	}
	return ""
}

// caller is the call of a tool that is under way.
func (r *reducer) caller(call string) *tool {
	owners := r.callers(call)
	switch {
	case len(owners) == 0:
		return nil
	case owners[0] == "":
		return r.reader.root.running(call)
	}
	return r.reader.agents[owners[0]].running(call)
}
