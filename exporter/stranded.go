package exporter

import (
	"sync"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// stranded keeps patches that a spool had no room for while their posts wait in it:
// through the queue alone they would overtake them.
type stranded struct {
	mu    sync.Mutex
	posts map[uuid.UUID]*runtypes.Op // in the spool, their patches not; the patch, where it is here
	bytes int64                      // of the patches
}

// expect notes that a run's post goes into the spool, before it does.
func (s *stranded) expect(op runtypes.Op) {
	if op.Verb != runtypes.Post || !op.Run.Pending() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.posts == nil {
		s.posts = map[uuid.UUID]*runtypes.Op{}
	}
	s.posts[op.Run.ID] = nil
}

// forget notes that a patch is in the spool as well, or that a post is not.
func (s *stranded) forget(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.posts[id] == nil {
		delete(s.posts, id)
	}
}

// keep takes a patch that the spool has no room for, if its post waits there and
// the patches kept hold no more than limit bytes.
func (s *stranded) keep(op runtypes.Op, limit int64) (kept, full bool) {
	if op.Verb != runtypes.Patch {
		return false, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	patch, waits := s.posts[op.Run.ID]
	switch size := weight(op.Run); {
	case !waits || patch != nil:
		return false, false
	case s.bytes+size > limit:
		return false, true
	default:
		s.posts[op.Run.ID] = &op
		s.bytes += size
		return true, false
	}
}

// release returns the patch of a post that has left the spool, nil if it is not here.
func (s *stranded) release(id uuid.UUID) *runtypes.Op {
	s.mu.Lock()
	defer s.mu.Unlock()
	patch := s.posts[id]
	delete(s.posts, id)
	if patch != nil {
		s.bytes -= weight(patch.Run)
	}
	return patch
}

// all gives up the patches.
func (s *stranded) all() (ops []runtypes.Op) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, patch := range s.posts {
		if patch != nil {
			ops = append(ops, *patch)
		}
	}
	s.posts, s.bytes = nil, 0
	return ops
}
