package drain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Bounds of what a checkpoint remembers of traces.
const (
	maxSkipped   = 512      // traces that are not for the destination
	maxRemotes   = 64       // traces whose repository was looked up
	maxHeldPosts = 64       // posts held back, and
	maxHeldBytes = 16 << 20 // their bytes; beyond that they are sent at once
)

// writes turns what a reducer says into what a destination gets.
type writes struct {
	d     *Drainer
	dest  Destination
	since time.Time
	of    *journal.Session    // whose turns they are
	cp    *journal.Checkpoint // of which it keeps Skipped, Remotes and Held
	lost  map[string]int      // by reason, to be counted with the next commit
}

// take returns the ops to deliver, in order. at is when the event behind them
// happened.
func (w *writes) take(ctx context.Context, at time.Time, ops []runtypes.Op) []runtypes.Op {
	kept := ops[:0:0]
	for _, op := range ops {
		if op.Run == nil || w.skips(at, op) {
			continue
		}
		run := *op.Run // the reducer may have kept it
		op.Run = &run
		w.enrich(ctx, op.Run)
		runtypes.Limit(op.Run, w.level(op)) // first: what the user adds to every run stays
		if w.d.cfg.Shape != nil {
			w.d.cfg.Shape(op.Run)
		}
		if err := w.redact(op.Run); err != nil {
			w.lost[journal.DropRedaction]++
			w.d.log.Error("redaction", "run", op.Run.ID.String(), "error", fmt.Sprintf("%T", err))
			continue
		}
		if op, now := w.hold(op); now {
			kept = append(kept, op)
		}
	}
	return kept
}

// skips reports whether an op belongs to a trace that is not for this destination:
// its hooks wanted it elsewhere, or it began before the destination was configured.
// The clock is that of the hooks: the times in a transcript may be of another day.
func (w *writes) skips(at time.Time, op runtypes.Op) bool {
	trace := op.Run.TraceID
	if slices.Contains(w.cp.Skipped, trace) {
		return true
	}
	if op.Verb != runtypes.Post || op.Run.ParentID != uuid.Nil {
		return false
	}
	if !w.muted(op.Run) {
		policy := w.cp.Policy
		if w.dest.Past || policy.Wants(w.dest.ID) || policy.To == "" && !at.Before(w.since) && w.admits(op.Run) {
			return false
		}
	}
	w.cp.Skipped = newest(append(w.cp.Skipped, trace), maxSkipped)
	return true
}

// muted reports whether a turn goes nowhere. An agent may keep several threads in one
// session: either may have been muted. Where that cannot be read they count as muted.
func (w *writes) muted(root *runtypes.Run) bool {
	for _, each := range []*journal.Session{w.of, w.d.state.Session(w.of.Agent(), root.Identity.ThreadID)} {
		mute, err := each.Mute()
		if err != nil {
			w.d.log.Error("mute", "session", each.Key(), "error", err.Error())
			w.lost[journal.DropMute]++
		}
		if err != nil || mute.Covers(root.Start) {
			return true
		}
	}
	return false
}

// admits reports whether a turn of hooks that knew no destination may go to this one.
func (w *writes) admits(root *runtypes.Run) bool {
	return w.d.cfg.Admits == nil || w.d.cfg.Admits(root, w.dest.ID)
}

// level is how much of an op may leave: the least that the user's settings said when
// hooks of its turn ran.
func (w *writes) level(op runtypes.Op) runtypes.Level {
	trace, policy := op.Run.TraceID, w.cp.Policy
	level := runtypes.LevelFull.Least(runtypes.Level(policy.Content))
	if policy.Restraint != "" && policy.Restraint != w.d.cfg.Restraint {
		level = runtypes.LevelMetadata
	}
	known := slices.Contains(w.cp.Toolless, trace)
	switch {
	case slices.Contains(w.cp.Stripped, trace):
		return runtypes.LevelMetadata
	case level == runtypes.LevelFull && known, level == runtypes.LevelNoToolContent:
		if !known {
			w.cp.Toolless = newest(append(w.cp.Toolless, trace), maxSkipped)
		}
		return runtypes.LevelNoToolContent
	case level == runtypes.LevelFull:
		return level
	}
	w.cp.Stripped = newest(append(w.cp.Stripped, trace), maxSkipped)
	return runtypes.LevelMetadata
}

// redact takes the secrets out of a run. It is left out only where both the hook and
// the drainer were told to.
func (w *writes) redact(run *runtypes.Run) error {
	if w.d.cfg.Plain && w.cp.Policy.Plain {
		return nil
	}
	return w.d.cfg.Redact(run)
}

// enrich adds the repository's remote, which the hook had no time to look up. It
// is looked up once for a trace so that all runs of a turn agree.
func (w *writes) enrich(ctx context.Context, run *runtypes.Run) {
	who := &run.Identity
	if who.Repo.URL != "" || who.WorkingDirectory == "" || who.Repo.Branch == "" && who.Repo.SHA == "" {
		return
	}
	i := slices.IndexFunc(w.cp.Remotes, func(r journal.Remote) bool { return r.Trace == run.TraceID })
	if i < 0 {
		url := w.d.remote(ctx, who.WorkingDirectory)
		w.cp.Remotes = newest(append(w.cp.Remotes, journal.Remote{Trace: run.TraceID, URL: url}), maxRemotes)
		i = len(w.cp.Remotes) - 1
	}
	who.Repo.URL = w.cp.Remotes[i].URL
}

// hold keeps the post of a run that has not ended, where runs are not sent live or the
// destination takes none such, and merges it with the patch that ends it into one post.
func (w *writes) hold(op runtypes.Op) (runtypes.Op, bool) {
	if op.Verb == runtypes.Post {
		return op, w.d.live && !w.dest.Ended || !op.Run.Pending() || !w.keep(op.Run)
	}
	for i, raw := range w.cp.Held {
		post, err := thaw(raw)
		if err != nil || post.ID != op.Run.ID {
			continue
		}
		w.cp.Held = slices.Delete(slices.Clone(w.cp.Held), i, i+1)
		return runtypes.Op{Verb: runtypes.Post, Run: runtypes.Merge(post, op.Run)}, true
	}
	return op, true
}

// keep holds a post in the checkpoint if there is room.
func (w *writes) keep(run *runtypes.Run) bool {
	raw, err := json.Marshal(run)
	if err != nil || len(run.Events) > 0 && !w.dest.Ended || len(w.cp.Held) >= maxHeldPosts { // what events say more is not kept
		return false
	}
	size := len(raw)
	for _, each := range w.cp.Held {
		size += len(each)
	}
	if size > maxHeldBytes {
		return false
	}
	w.cp.Held = append(slices.Clone(w.cp.Held), raw)
	return true
}

// thaw decodes a held post; its numbers keep their digits.
func thaw(raw json.RawMessage) (*runtypes.Run, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	run := new(runtypes.Run)
	if err := dec.Decode(run); err != nil {
		return nil, fmt.Errorf("drain: held post: %w", err)
	}
	return run, nil
}

// newest keeps the last n of a list that grows at its end.
func newest[T any](list []T, n int) []T {
	return slices.Clone(list[max(0, len(list)-n):])
}

// sizeOfOp is about how many bytes an op takes in memory and on the wire.
func sizeOfOp(op runtypes.Op) int {
	const rest = 2048 // names, identity, metadata
	return rest + len(op.Run.Inputs) + len(op.Run.Outputs) + len(op.Run.Error)
}
