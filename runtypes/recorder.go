package runtypes

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// Recorder is a [Sink] that keeps runs in memory, without a bound: for tests of an
// agent, whose runs [Validate] can then judge. The zero value is ready for use, by
// many goroutines.
type Recorder struct {
	mu   sync.Mutex
	runs map[uuid.UUID]*Run
	bad  []error
}

// Submit keeps an op. A run that is posted twice or patched before its post is an
// error that Runs returns.
func (s *Recorder) Submit(op Op) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs == nil {
		s.runs = map[uuid.UUID]*Run{}
	}
	before := s.runs[op.Run.ID]
	switch {
	case op.Verb == Post && before == nil:
		s.runs[op.Run.ID] = op.Run
	case op.Verb == Patch && before != nil:
		s.runs[op.Run.ID] = Merge(before, op.Run)
	default:
		s.bad = append(s.bad, fmt.Errorf("runtypes: recorder: out of order: %s of %s", op.Verb, op.Run.Name))
	}
	return nil
}

// Runs returns the runs as they stand, in dotted order: a parent before its
// children. The error is the first op that was out of order.
func (s *Recorder) Runs() ([]Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Run
	for _, r := range s.runs {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b Run) int { return cmp.Compare(a.DottedOrder, b.DottedOrder) })
	if len(s.bad) > 0 {
		return list, s.bad[0]
	}
	return list, nil
}
