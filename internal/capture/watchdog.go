package capture

import (
	"sync"
	"sync/atomic"
	"time"
)

// The hook's patience, and what of it is left to count the failure.
const (
	patience   = 700 * time.Millisecond
	lastBreath = 50 * time.Millisecond
)

// watchdog ends the process when the hook takes too long: an agent that never
// closes its pipe, a disk that hangs.
type watchdog struct {
	bite    func()
	timer   *time.Timer
	claimed atomic.Bool
	kept    atomic.Bool // the event is in the journal: running out of time loses nothing
	settled sync.Once   // its loss is counted
}

func (w *watchdog) start() { w.timer = time.AfterFunc(patience, w.bite) }

func (w *watchdog) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// first reports whether the caller is the first to ask: one of the hook and its
// watchdog may print the reply.
func (w *watchdog) first() bool { return w.claimed.CompareAndSwap(false, true) }

// settle counts what became of the event, unless that was done, and waits for whoever is
// at it: it is lost once at most, whatever the hook and its watchdog each find.
func (w *watchdog) settle(count func()) { w.settled.Do(count) }

// giveUp counts the failure if that can be done at once, and ends the process.
func (h *hook) giveUp() {
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		if !h.dog.kept.Load() {
			h.dog.settle(func() { h.record(&loss{reason: reasonTimeout}) })
		}
	}()
	select {
	case <-counted:
	case <-time.After(lastBreath):
	}
	h.print(h.usual())
	h.Exit(0)
}
