// Package memsink keeps the runs of a turn in memory, for tests.
package memsink

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Sink keeps what it is given. The zero value is ready for use, by many goroutines.
type Sink struct {
	mu   sync.Mutex
	runs map[uuid.UUID]*runtypes.Run
	bad  []error
}

// Submit keeps an op. A run that is posted twice or patched before its post is an
// error that Runs returns.
func (s *Sink) Submit(op runtypes.Op) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs == nil {
		s.runs = map[uuid.UUID]*runtypes.Run{}
	}
	before := s.runs[op.Run.ID]
	switch {
	case op.Verb == runtypes.Post && before == nil:
		s.runs[op.Run.ID] = op.Run
	case op.Verb == runtypes.Patch && before != nil:
		s.runs[op.Run.ID] = runtypes.Merge(before, op.Run)
	default:
		s.bad = append(s.bad, fmt.Errorf("memsink: out of order: %s of %s", op.Verb, op.Run.Name))
	}
	return nil
}

// Runs returns the runs as they stand, in dotted order: a parent before its
// children. The error is the first op that was out of order.
func (s *Sink) Runs() ([]runtypes.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []runtypes.Run
	for _, r := range s.runs {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b runtypes.Run) int { return cmp.Compare(a.DottedOrder, b.DottedOrder) })
	if len(s.bad) > 0 {
		return list, s.bad[0]
	}
	return list, nil
}
