package capture

import (
	"os"
	"os/signal"
)

// ignoreSignals has nothing to do: a closed pipe is an error like any other here.
func ignoreSignals(bool) {}

// outlive keeps the reader of a stream alive when the agent's console is closed.
func outlive() { signal.Ignore(os.Interrupt) }

// reap has nothing to do: the system keeps no ended processes for their parents.
func reap() {}
