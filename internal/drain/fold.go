package drain

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxReducer bounds a reducer's state; a larger one is reported.
const maxReducer = 64 << 10

// maxLooks bounds how often a pass starts over because the reducer asked for
// files whose sizes had not been noted.
const maxLooks = 8

// maxKnown bounds the files whose sizes are noted in every pass; beyond it the
// drainer starts over with those that are watched.
const maxKnown = 4096

// fold is one destination's way through one session.
type fold struct {
	d       *Drainer
	session *journal.Session
	agent   *integrations.Agent
	dest    Destination

	cp      journal.Checkpoint // the committed one, and what has been applied since
	reducer integrations.Reducer
	out     writes
	pending []runtypes.Op // taken and not delivered
	whole   []uuid.UUID   // traces delivered with their ends since the last commit
	corrupt []string      // lines that are no entries, read since then
	long    []string      // and lines of the agent's that were too long
	bytes   int           // of pending
	entries int           // applied since the last commit
	slowly  bool          // the destination is to be left alone after the commit

	known map[string]bool // files the reducer read, watched or not

	waiting   time.Time // since when the reducer waits; zero: it does not
	idled     bool      // and it has been told that the wait is over
	goneSince time.Time // when the agent's process was first seen gone
}

func (d *Drainer) newFold(s *journal.Session, agent *integrations.Agent, dest Destination) *fold {
	return &fold{d: d, session: s, agent: agent, dest: dest, known: map[string]bool{}}
}

// load starts from the committed checkpoint and forgets what was applied since.
func (f *fold) load() error {
	cp, err := f.session.Checkpoint(f.dest.ID)
	if err != nil {
		return err
	}
	reducer := f.agent.NewReducer(f.d.cfg.Reducer)
	if len(cp.Reducer) > 0 {
		if err := json.Unmarshal(cp.Reducer, reducer); err != nil {
			return fmt.Errorf("drain: reducer: %w", err)
		}
	}
	if cp.Positions == nil {
		cp.Positions = journal.Positions{}
	}
	f.cp, f.reducer = cp, reducer
	f.out = writes{d: f.d, of: f.session, dest: f.dest, since: f.d.since[f.dest.ID], cp: &f.cp, lost: map[string]int{}}
	f.pending, f.bytes, f.entries, f.whole, f.corrupt, f.long = nil, 0, 0, nil, nil, nil
	return nil
}

// pass takes what is new: the journal to its end, then, if the agent's files have
// grown, the event that says so. It reports whether anything was new.
func (f *fold) pass(ctx context.Context) (moved bool, err error) {
	gone := f.agentGone() // before all else: what it wrote last is then on disk
	for range maxLooks {
		look := newFiles(f.watched())
		look.recall = f.recall
		to, err := f.session.Sizes()
		if err != nil {
			return moved, err
		}
		more, err := f.journal(ctx, look, to)
		moved = moved || more
		if err != nil {
			return moved, err
		}
		if more {
			f.stir()
			gone = false // there may be a newer process, and its hooks go first
		}
		if f.unnoted(look) {
			continue
		}
		kind := f.due(look, gone)
		if kind == "" {
			break
		}
		again, err := f.own(ctx, look, kind)
		if err != nil {
			return moved, err
		}
		if !again {
			moved = true
			break
		}
	}
	return moved, f.flush(ctx)
}

// watched yields the files whose sizes are to be noted.
func (f *fold) watched() iter.Seq[string] {
	if len(f.known) > maxKnown {
		clear(f.known)
	}
	for _, path := range f.reducer.Status().Watch {
		f.known[path] = true
	}
	return maps.Keys(f.known)
}

// unnoted reports whether the reducer now watches a file whose size was not noted
// before the journal was read.
func (f *fold) unnoted(look *files) bool {
	return slices.ContainsFunc(f.reducer.Status().Watch, func(path string) bool {
		_, ok := look.sizes[path]
		return !ok
	})
}

// journal applies the new lines of the journal up to the noted sizes.
func (f *fold) journal(ctx context.Context, look *files, to journal.Positions) (moved bool, err error) {
	for record, err := range f.session.Read(f.cp.Positions, to) {
		if err != nil {
			return moved, err
		}
		moved = true
		if record.Bad {
			f.corrupt = append(f.corrupt, record.ID)
		} else if record.Entry.Event != "" {
			f.entry(ctx, look, record)
		}
		f.cp.Positions[record.File] = record.Next
		f.entries++
		if f.full() {
			if err := f.flush(ctx); err != nil {
				return moved, err
			}
		}
	}
	return moved, nil
}

// entry applies a hook's line.
func (f *fold) entry(ctx context.Context, look *files, record journal.Record) {
	e := record.Entry
	f.cp.Session = e.Session
	f.cp.CWD = e.CWD
	f.cp.Policy = e.Policy
	if e.At.After(f.cp.Last) {
		f.cp.Last = e.At
	}
	if e.Proc.PID > 0 && e.Proc != f.cp.Proc {
		f.cp.Proc, f.cp.Dead = e.Proc, false
		f.goneSince = time.Time{}
	}
	f.take(ctx, e.At, f.apply(look, event(record)))
}

// event is what a reducer is told of a line.
func event(record journal.Record) integrations.Event {
	e := record.Entry
	return integrations.Event{Kind: e.Event, At: e.At, CWD: e.CWD, Head: e.Head, Data: e.Data, Ref: record.Ref()}
}

// recall reads a line once more, for a reducer that kept its name.
func (f *fold) recall(ref string) (integrations.Event, error) {
	record, err := f.session.Recall(ref)
	if err != nil {
		return integrations.Event{}, fmt.Errorf("drain: %w", err)
	}
	return event(record), nil
}

// due says which of the drainer's own events is next: the reducer has more of what it
// read, or the agent's files have grown; else they were read to the end and its process is gone; else what was
// promised has not come in time.
func (f *fold) due(look *files, gone bool) string {
	status := f.reducer.Status()
	if status.Open == 0 && !status.Waiting && !status.More {
		return ""
	}
	switch {
	case status.More, look.grown(status.Watch, f.cp.Seen):
		return integrations.Grew
	case gone && !f.cp.Dead:
		return integrations.Dead
	case f.overdue(status):
		return integrations.Idle
	}
	return ""
}

// own applies one of the drainer's own events and commits what follows from it.
// If the reducer reads a file whose size was not noted before the journal was
// read, it may have seen lines whose hooks it has not: then nothing counts, the
// file is noted, and the pass has to look again.
func (f *fold) own(ctx context.Context, look *files, kind string) (again bool, err error) {
	if err := f.flush(ctx); err != nil {
		return false, err
	}
	look.late = journal.Positions{}
	ops := f.apply(look, integrations.Event{Kind: kind})
	if len(look.late) > 0 {
		for path := range look.late {
			f.known[path] = true
		}
		return true, f.load()
	}
	switch kind {
	case integrations.Grew:
		f.stir()
	case integrations.Idle:
		f.idled = true
	case integrations.Dead:
		f.cp.Dead = true
	}
	f.cp.Seen = look.noted(f.reducer.Status().Watch)
	f.take(ctx, f.cp.Last, ops)
	f.entries++
	return false, f.flush(ctx)
}

// apply gives the reducer an event. Its faults concern that event alone.
func (f *fold) apply(look *files, e integrations.Event) (ops []runtypes.Op) {
	defer func() {
		if fault := recover(); fault != nil {
			f.fault(e.Kind, &panicError{fault})
		}
		f.long = slices.AppendSeq(f.long, maps.Keys(look.skipped))
		clear(look.skipped)
	}()
	ops, err := f.reducer.Apply(look, e)
	if err != nil {
		f.fault(e.Kind, err)
	}
	return ops
}

func (f *fold) fault(kind string, err error) {
	f.count(journal.DropReducer, 1)
	// An error may quote what it could not read: its type says enough.
	f.d.log.Error("reducer", "session", f.session.Key(), "event", kind, "error", fmt.Sprintf("%T", err))
}

// panicError is what a reducer panicked with.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("drain: panic: %T", e.value) }

func (f *fold) count(reason string, n int) {
	if n > 0 {
		f.out.lost[reason] += n
	}
}

func (f *fold) take(ctx context.Context, at time.Time, ops []runtypes.Op) {
	for _, op := range f.out.take(ctx, at, ops) {
		f.pending = append(f.pending, op)
		f.bytes += sizeOfOp(op)
	}
}

// stir starts the waits anew: something has come.
func (f *fold) stir() {
	f.waiting, f.idled = time.Time{}, false
}

// overdue reports whether the reducer has waited for as long as it may.
func (f *fold) overdue(status integrations.Status) bool {
	if !status.Waiting {
		f.waiting = time.Time{}
		return false
	}
	if f.waiting.IsZero() {
		f.waiting = f.d.now()
	}
	return !f.idled && f.d.now().Sub(f.waiting) >= f.d.cfg.Idle
}

// agentGone reports whether the agent's process has been gone for long enough
// that none of its hooks can still be writing.
func (f *fold) agentGone() bool {
	if f.cp.Dead || !f.d.cfg.Gone(f.cp.Proc) {
		f.goneSince = time.Time{}
		return false
	}
	if f.goneSince.IsZero() {
		f.goneSince = f.d.now()
	}
	return f.d.now().Sub(f.goneSince) >= f.d.cfg.Grace
}

// expecting reports whether one of the drainer's own events is only a matter of
// a bounded time.
func (f *fold) expecting() bool {
	status := f.reducer.Status()
	if status.More {
		return true
	}
	if status.Open == 0 && !status.Waiting {
		return false
	}
	return status.Waiting && !f.idled || !f.cp.Dead && f.d.cfg.Gone(f.cp.Proc)
}
