package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/tracesmith/tracesmith/runtypes"
)

// maxMemoryRuns bounds a Memory; it is far beyond what a test sends.
const maxMemoryRuns = 500_000

// ErrFull is returned by a Memory that holds all it may.
var ErrFull = errors.New("ingest: memory is full")

// Memory is a Sink that forgets when the process ends. The zero value is ready
// for use, by many goroutines.
type Memory struct {
	mu     sync.Mutex
	runs   map[string]*held
	counts Counts
}

// held is a run with the writes it has had.
type held struct {
	wire            runtypes.Wire
	posted, patched bool
}

// Counts is what a Memory was given.
type Counts struct {
	Posts   int
	Patches int
	Early   int // patches that came, in a request of their own, before the post
	Again   int // writes that were applied although the run already had them; the last one stands
}

// Fresh returns the writes that are new.
func (m *Memory) Fresh(_ context.Context, posts, patches []runtypes.Wire) (newPosts, newPatches []runtypes.Wire, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range posts {
		if have := m.runs[w.ID]; have == nil || !have.posted {
			newPosts = append(newPosts, w)
		}
	}
	for _, w := range patches {
		if have := m.runs[w.ID]; have == nil || !have.patched {
			newPatches = append(newPatches, w)
		}
	}
	return newPosts, newPatches, nil
}

// Apply stores posts, then patches.
func (m *Memory) Apply(_ context.Context, posts, patches []runtypes.Wire) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.runs)+len(posts)+len(patches) > maxMemoryRuns {
		return ErrFull
	}
	for _, w := range posts {
		run := m.run(w)
		m.counts.Posts++
		if run.posted {
			m.counts.Again++
		}
		if run.patched { // the patch was first: it still has the last word
			run.wire = runtypes.MergeWire(w, run.wire)
		} else {
			run.wire = w
		}
		run.posted = true
	}
	for _, w := range patches {
		run := m.run(w)
		m.counts.Patches++
		if run.patched {
			m.counts.Again++
		}
		if !run.posted {
			m.counts.Early++
		}
		run.wire = runtypes.MergeWire(run.wire, w)
		run.patched = true
	}
	return nil
}

func (m *Memory) run(w runtypes.Wire) *held {
	if m.runs == nil {
		m.runs = map[string]*held{}
	}
	run := m.runs[w.ID]
	if run == nil {
		run = &held{wire: w}
		m.runs[w.ID] = run
	}
	return run
}

// Runs returns every run, post and patch merged, in dotted order: a parent
// before its children. Runs that were only ever patched are among them.
func (m *Memory) Runs() []runtypes.Wire {
	m.mu.Lock()
	defer m.mu.Unlock()
	runs := make([]runtypes.Wire, 0, len(m.runs))
	for _, run := range m.runs {
		runs = append(runs, run.wire)
	}
	slices.SortFunc(runs, func(a, b runtypes.Wire) int { return cmp.Compare(a.DottedOrder, b.DottedOrder) })
	return runs
}

// Run returns one run.
func (m *Memory) Run(id string) (runtypes.Wire, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if run := m.runs[id]; run != nil {
		return run.wire, true
	}
	return runtypes.Wire{}, false
}

// Orphans returns the ids of runs that were patched and never posted, which
// LangSmith shows as broken.
func (m *Memory) Orphans() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for id, run := range m.runs {
		if !run.posted {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Counts returns what the memory was given so far.
func (m *Memory) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts
}
