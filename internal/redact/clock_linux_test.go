package redact

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// elapsed is how long pass works on text, whatever else the machine has to do: the
// processor's time of this thread.
func elapsed(pass func(string), text string) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime()
	pass(text)
	return max(threadTime()-start, time.Microsecond)
}

func threadTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}
