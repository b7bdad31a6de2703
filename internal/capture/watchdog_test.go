package capture

import (
	"io"
	"sync/atomic"
	"testing"
	"time"
)

func TestTheWatchdogLetsALossBeCountedToItsEnd(t *testing.T) {
	var counted, exited atomic.Bool
	h := &hook{dog: &watchdog{}, Config: Config{Stdout: io.Discard, Exit: func(int) {
		if exited.Store(true); !counted.Load() {
			t.Error("the process ended while its loss was counted")
		}
	}}}
	counting := make(chan struct{})
	go h.dog.settle(func() {
		close(counting)
		time.Sleep(lastBreath / 10)
		counted.Store(true)
	})
	<-counting
	h.giveUp()
	if !exited.Load() {
		t.Error("the process goes on")
	}
}
