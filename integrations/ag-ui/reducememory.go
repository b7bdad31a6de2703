package agui

import (
	"sync"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Bounds on what is remembered: threads, and of each thread questions and calls.
const (
	maxThreads = 256
	maxAsked   = 64
)

// Memory is what one stream has to know of those before it: the next run of a thread is
// another request. It holds no more than the threads heard of last. It is safe for
// concurrent use, and its zero value is empty.
type Memory struct {
	mu      sync.Mutex
	threads map[string]*threadMemory
	order   []string // threads, the one heard of last at the end
}

type threadMemory struct {
	asked map[string]string     // runs by the interrupts they ended with
	calls map[string]calledOnce // calls without a result
	order []string              // keys of both, as they came
}

// calledOnce is a call that had no result when its run ended.
type calledOnce struct {
	name  string
	runID string
	run   *runtypes.Run // to be patched with the result; nil: it stays as it ended
}

// thread returns what is known of a thread. The lock is held.
func (m *Memory) thread(id string) *threadMemory {
	if m.threads == nil {
		m.threads = map[string]*threadMemory{}
	}
	t := m.threads[id]
	if t == nil {
		t = &threadMemory{asked: map[string]string{}, calls: map[string]calledOnce{}}
		m.threads[id] = t
	} else {
		for i, each := range m.order {
			if each == id {
				m.order = append(m.order[:i:i], m.order[i+1:]...)
				break
			}
		}
	}
	m.order = append(m.order, id)
	if len(m.order) > maxThreads {
		delete(m.threads, m.order[0])
		m.order = m.order[1:]
	}
	return t
}

// note remembers one more key and lets go of the oldest beyond the bound.
func (t *threadMemory) note(key string) {
	t.order = append(t.order, key)
	if len(t.order) > maxAsked {
		delete(t.asked, t.order[0])
		delete(t.calls, t.order[0])
		t.order = t.order[1:]
	}
}

func (m *Memory) ask(thread, interrupt, runID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.thread(thread)
	t.note(interrupt)
	t.asked[interrupt] = runID
}

// asker is the run that ended with an interrupt; empty: not known.
func (m *Memory) asker(thread, interrupt string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.thread(thread).asked[interrupt]
}

func (m *Memory) leave(thread, callID string, c calledOnce) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.thread(thread)
	t.note(callID)
	t.calls[callID] = c
}

// answer returns a call that was left without a result, and forgets it.
func (m *Memory) answer(thread, callID string) (c calledOnce, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.thread(thread)
	c, known = t.calls[callID]
	delete(t.calls, callID)
	return c, known
}
