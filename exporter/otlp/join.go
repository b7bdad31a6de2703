package otlp

import (
	"sync"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// joiner makes one write of a run's two: a span is sent once. It keeps the posts of runs
// that have not ended, within a bound. It is safe for concurrent use.
type joiner struct {
	limit int64 // bytes of the posts

	mu     sync.Mutex
	posts  map[uuid.UUID]*runtypes.Run
	bytes  int64
	bare   int64 // runs that go without what only their posts said
	closed bool  // nothing is kept any more
}

// join returns what is to be sent of an op: the run as a whole, once it has ended. Where its
// post was not kept it lacks the inputs, which a patch does not repeat, and stays a patch.
func (j *joiner) join(op runtypes.Op) (whole runtypes.Op, ended bool) {
	if op.Run == nil {
		return op, true // for whoever checks ops
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if op.Verb == runtypes.Patch {
		if post := j.posts[op.Run.ID]; post != nil {
			j.forget(post)
			op.Run = runtypes.Merge(post, op.Run)
		} else if !op.Run.Pending() && len(op.Run.Inputs) == 0 {
			j.bare++
			return op, true
		}
		op.Verb = runtypes.Post
	}
	if !op.Run.Pending() || j.closed { // of one that came too late whoever sends it says so
		return op, true
	}
	j.keep(op.Run)
	return op, false
}

func (j *joiner) keep(run *runtypes.Run) {
	size := sizeOf(run)
	if j.bytes+size > j.limit {
		return
	}
	if j.posts == nil {
		j.posts = map[uuid.UUID]*runtypes.Run{}
	}
	if before := j.posts[run.ID]; before != nil {
		j.forget(before)
	}
	j.posts[run.ID] = run
	j.bytes += size
}

func (j *joiner) forget(run *runtypes.Run) {
	delete(j.posts, run.ID)
	j.bytes -= sizeOf(run)
}

// sizeOf is about how many bytes a run takes. It changes no more once the run was handed in.
func sizeOf(run *runtypes.Run) int64 {
	const rest = 2048 // names, identity, metadata
	n := rest + len(run.Inputs) + len(run.Outputs) + len(run.Error)
	for _, file := range run.Attachments {
		n += len(file.Data)
	}
	return int64(n)
}

// left gives up the posts of runs that never ended, and keeps no others.
func (j *joiner) left() (ops []runtypes.Op) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, run := range j.posts {
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
	}
	j.posts, j.bytes, j.closed = nil, 0, true
	return ops
}

func (j *joiner) bareRuns() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.bare
}
