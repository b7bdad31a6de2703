package runtypes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
)

// scope is a run that is still open, and what is open under it. sink, now, above, cause
// and the run's ids, times, kind and identity do not change once it is made.
type scope struct {
	sink  Sink
	now   func() time.Time
	above *scope       // nil on a turn that StartTurn began
	cause func() error // of a turn that is tied to a context: why that ended; nil: it has not

	streaming atomic.Bool // the first token has come
	ending    sync.Mutex  // held until the run is written in its final state

	mu     sync.Mutex
	run    *Run
	shared map[string]any // metadata that the runs below take on, beside that of those above; replaced, never changed
	posted bool
	ended  bool
	open   map[*scope]struct{}
	unbind func() bool // lets go of the context that ends the turn
	late   *time.Timer // ends what does not end by itself
}

// build makes a run under parent.
type build func(parent *Run, id uuid.UUID, at time.Time) *Run

// child opens a run under the scope; nil if the scope has ended.
func (s *scope) child(build build) *Child {
	handed := s.handed()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	r := build(s.run, idgen.New(), s.now())
	if len(handed) > 0 {
		r.Metadata = merged(handed, r.Metadata)
	}
	c := &Child{scope{sink: s.sink, now: s.now, above: s, run: r}}
	if s.open == nil {
		s.open = map[*scope]struct{}{}
	}
	s.open[&c.scope] = struct{}{}
	return c
}

// handed is the metadata that a run which starts now takes on. It is not to be changed.
func (s *scope) handed() map[string]any {
	var above map[string]any
	if s.above != nil {
		above = s.above.handed()
	}
	s.mu.Lock()
	own := s.shared
	s.mu.Unlock()
	switch {
	case len(above) == 0:
		return own
	case len(own) == 0:
		return above
	}
	return merged(above, own)
}

// nested opens a run that others hang under: a subagent, a compaction.
func (s *scope) nested(build build) *Turn {
	return (*Turn)(s.child(build))
}

// change edits the run unless it has ended.
func (s *scope) change(f func(*Run)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		f(s.run)
	}
}

func (s *scope) describe(key string, v any) {
	v = frozen(v)
	s.change(func(r *Run) {
		if r.Metadata == nil {
			r.Metadata = map[string]any{}
		}
		r.Metadata[key] = v
	})
}

// share describes the run and all that start under it later.
func (s *scope) share(key string, v any) {
	v = frozen(v)
	s.describe(key, v)
	s.mu.Lock()
	defer s.mu.Unlock()
	shared := make(map[string]any, len(s.shared)+1)
	maps.Copy(shared, s.shared)
	shared[key] = v
	s.shared = shared
}

// post writes the run as it stands, pending.
func (s *scope) post() {
	s.posted = true
	first := *s.run
	first.Metadata = copyMap(first.Metadata) // the turn goes on changing its own
	_ = s.sink.Submit(Op{Verb: Post, Run: &first})
}

// stop is called when the turn's context has ended.
func (s *scope) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.late = time.AfterFunc(grace, func() { s.finish(nil, nil, fmt.Sprint(s.cause())) })
	}
}

// stopped says why the turn's context has ended; nil: it has not, or there is none.
func (s *scope) stopped() error {
	for each := s; each != nil; each = each.above {
		if each.cause != nil {
			return each.cause()
		}
	}
	return nil
}

// fail finishes the run with an error. Of a turn that was cancelled it is no more
// than what that looks like from within.
func (s *scope) fail(err error) {
	cause := s.stopped()
	switch {
	case cause != nil:
		s.finish(nil, nil, fmt.Sprint(cause))
	case err == nil:
		s.finish(nil, errors.New("unknown error"), "")
	case errors.Is(err, context.Canceled):
		s.finish(nil, nil, fmt.Sprint(err))
	default:
		s.finish(nil, err, "")
	}
}

// finish ends the run once; later calls do nothing, but return only when it has
// ended: the sink may be closed next. What is open below goes first, so that it is
// delivered before its parent says that all is done.
func (s *scope) finish(output json.RawMessage, err error, reason string) {
	if s.cause != nil && err == nil && reason == "" {
		if cause := s.cause(); cause != nil {
			reason = fmt.Sprint(cause)
		}
	}
	s.ending.Lock()
	defer s.ending.Unlock()
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	below := make([]*scope, 0, len(s.open))
	for c := range s.open {
		below = append(below, c)
	}
	if s.unbind != nil {
		s.unbind()
	}
	if s.late != nil {
		s.late.Stop()
	}
	s.mu.Unlock()

	stopped := reason
	if stopped == "" {
		stopped = "its turn ended first"
	}
	for _, c := range below {
		c.finish(nil, nil, stopped)
	}
	if s.above != nil {
		s.above.mu.Lock()
		delete(s.above.open, s)
		s.above.mu.Unlock()
	}
	s.write(output, err, reason)
}

// write submits the run in its final state. Nobody else touches it any more.
func (s *scope) write(output json.RawMessage, err error, reason string) {
	if output != nil {
		s.run.Outputs = output
	}
	if reason != "" {
		Interrupt(s.run, s.now(), reason)
	} else {
		if err != nil {
			s.run.Error = fmt.Sprint(err) // which survives an Error method that panics
		}
		Finish(s.run, s.now())
	}
	verb := Post
	if s.posted {
		verb = Patch
	}
	_ = s.sink.Submit(Op{Verb: verb, Run: s.run}) // the sink counts what it cannot take
}

func orReason(reason string) string {
	if reason == "" {
		return "Interrupted"
	}
	return reason
}

// copyMap returns a map of the caller's own; nil for an empty one.
func copyMap[V any](m map[string]V) map[string]V {
	if len(m) == 0 {
		return nil
	}
	return maps.Clone(m)
}
