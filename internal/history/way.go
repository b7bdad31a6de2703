package history

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// way is the way of one session from its files to the destinations.
type way struct {
	i       *Import
	session found
	src     drain.Snapshot
	reducer integrations.Reducer

	cwd    string                      // where the session began
	mute   journal.Mute                // when it was muted
	traces map[uuid.UUID]*trace        // as the reducer began them
	open   map[uuid.UUID]*runtypes.Run // posts that wait for their run's end
	ready  []runtypes.Op
	bytes  int // of ready

	turns, off int // turns to be traced, and those that are not
	lost       map[string]int
}

// trace is a turn of the session.
type trace struct {
	wanted bool // by a destination
	whole  bool // its root is complete
	runs   int
}

func (i *Import) newWay(s found) *way {
	return &way{
		i: i, session: s, src: drain.NewSnapshot(), reducer: i.cfg.Agent.NewReducer(i.cfg.Reducer),
		traces: map[uuid.UUID]*trace{}, open: map[uuid.UUID]*runtypes.Run{}, lost: map[string]int{},
	}
}

// walk tells the session to the reducer and delivers what comes of it. Only when all
// of it is delivered does it count as done.
func (w *way) walk(ctx context.Context) error {
	told, err := w.listen()
	if err != nil {
		return err
	}
	w.cwd = told.CWD
	if !slices.ContainsFunc(told.Traces, w.lacked) {
		w.turns = len(slices.DeleteFunc(told.Traces, w.early))
		return nil
	}
	if n := w.src.Skipped(); n > 0 { // now: the reducer may meet them more than once
		w.lost[journal.DropLongLine] = n
	}
	w.src.Tells(func(ref string) (integrations.Event, error) {
		i, err := strconv.Atoi(ref)
		if err != nil || i < 0 || i >= len(told.Events) {
			return integrations.Event{}, fmt.Errorf("history: recall: %w", fs.ErrNotExist)
		}
		return told.Events[i], nil
	})
	for i, e := range told.Events {
		e.Ref = strconv.Itoa(i)
		if err := w.tell(ctx, e); err != nil {
			return err
		}
	}
	const most = 1 << 14 // of what it holds back, so that a reducer that never lets go ends
	for i := 0; i == 0 || w.reducer.Status().More && i < most; i++ {
		if err := w.tell(ctx, integrations.Event{Kind: integrations.Grew}); err != nil {
			return err
		}
	}
	if err := w.tell(ctx, integrations.Event{Kind: integrations.Dead}); err != nil {
		return err
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	w.enter()
	return nil
}

// listen reads the session. What may panic there concerns that session alone.
func (w *way) listen() (told integrations.Told, err error) {
	defer caught(&err)
	return w.session.Tell(w.src)
}

// tell gives the reducer an event. Its faults concern that event alone.
func (w *way) tell(ctx context.Context, e integrations.Event) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	ops, err := w.apply(e)
	if err != nil {
		w.lost[journal.DropReducer]++
		// An error may quote what it could not read: its type says enough.
		w.i.cfg.Log.Error("reducer", "session", w.session.ID, "event", e.Kind, "error", fmt.Sprintf("%T", err))
	}
	for _, op := range ops {
		if op.Run == nil || !w.wants(op.Run) {
			continue
		}
		if op, done := w.settle(op); done {
			w.take(op)
		}
		if len(w.ready) >= w.i.cfg.MaxOps || w.bytes >= w.i.cfg.MaxBytes {
			if err := w.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *way) apply(e integrations.Event) (ops []runtypes.Op, err error) {
	defer caught(&err)
	return w.reducer.Apply(w.src, e)
}

// caught makes an error of a panic.
func caught(err *error) {
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("history: panic: %T", fault)
	}
}

// wants reports whether a run's trace is to be sent to anybody. The first run of a
// trace decides.
func (w *way) wants(run *runtypes.Run) bool {
	if t := w.traces[run.TraceID]; t != nil {
		return t.wanted
	}
	t := &trace{}
	w.traces[run.TraceID] = t
	switch {
	case w.early(run.TraceID):
	case w.mute.Covers(run.Start):
		w.off++
	case !w.i.cfg.Wanted(run.Identity.WorkingDirectory):
		w.off++
	default:
		w.turns++
		t.wanted = w.lacked(run.TraceID)
	}
	if t.wanted {
		w.i.progress.Turns++
	}
	return t.wanted
}

// early reports whether a trace's turn began too long ago: its id says when.
func (w *way) early(trace uuid.UUID) bool {
	return time.Unix(trace.Time().UnixTime()).Before(w.i.cfg.Since)
}

// lacked reports whether a trace is to be sent to a destination.
func (w *way) lacked(trace uuid.UUID) bool {
	return !w.early(trace) && slices.ContainsFunc(w.i.targets, func(t *target) bool { return t.lacks(trace) })
}

// settle makes one post of a run's post and its patch: what is imported is over.
func (w *way) settle(op runtypes.Op) (runtypes.Op, bool) {
	if op.Verb == runtypes.Post && op.Run.Pending() {
		w.open[op.Run.ID] = op.Run
		return op, false
	}
	if post := w.open[op.Run.ID]; post != nil && op.Verb == runtypes.Patch {
		delete(w.open, op.Run.ID)
		op = runtypes.Op{Verb: runtypes.Post, Run: runtypes.Merge(post, op.Run)}
	}
	return op, true
}

// take makes a run ready for delivery.
func (w *way) take(op runtypes.Op) {
	t := w.traces[op.Run.TraceID]
	t.runs++
	root := op.Run.ParentID == uuid.Nil
	t.whole = t.whole || root
	if w.i.cfg.DryRun {
		return
	}
	run := *op.Run // the reducer may have kept it
	if root {
		run.Metadata = marked(run.Metadata)
	}
	w.i.cfg.Shape(&run)
	if err := w.i.cfg.Redact(&run); err != nil {
		w.lost[journal.DropRedaction]++
		w.i.cfg.Log.Error("redaction", "run", run.ID.String(), "error", fmt.Sprintf("%T", err))
		return
	}
	op.Run = &run
	w.ready = append(w.ready, op)
	w.bytes += len(run.Inputs) + len(run.Outputs) + len(run.Error)
}

// marked adds the mark of an imported turn.
func marked(metadata map[string]any) map[string]any {
	all := make(map[string]any, len(metadata)+1)
	for key, value := range metadata {
		all[key] = value
	}
	all[integrations.MetaImported] = true
	return all
}

// flush delivers what is ready to all destinations side by side. One that fails is
// left alone from then on.
func (w *way) flush(ctx context.Context) error {
	if len(w.ready) == 0 {
		return nil
	}
	var group sync.WaitGroup
	for _, t := range w.i.targets {
		group.Go(func() {
			if err := t.take(ctx, w.ready); err != nil && ctx.Err() == nil {
				t.err = err
			}
		})
	}
	group.Wait()
	w.ready, w.bytes = nil, 0
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	w.i.cfg.Progress(w.i.progress)
	return nil
}

// enter writes the session's traces into the ledgers of those that have them.
func (w *way) enter() {
	for _, t := range w.i.targets {
		var whole []uuid.UUID
		for id, trace := range w.traces {
			if trace.whole && t.lacks(id) && !t.rootless[id] {
				whole = append(whole, id)
				t.sent.Turns++
				t.sent.Runs += trace.runs - t.refused[id]
			}
		}
		if w.i.cfg.DryRun {
			continue
		}
		for _, id := range whole {
			t.has.Add(id)
		}
		if err := w.i.cfg.State.Enter(t.ID, whole); err != nil {
			// They would be sent once more, which changes nothing.
			w.i.cfg.Log.Warn("ledger", "destination", t.ID, "traces", len(whole), "error", err.Error())
		}
	}
}
