package journal

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// startOf returns when a process started, in microseconds since 1970.
func startOf(pid int) (start string, running, known bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) { // no process of that pid: the answer is empty
		return "", false, true
	}
	if err != nil {
		return "", false, false
	}
	const zombie = 5 // SZOMB of sys/proc.h
	if info.Proc.P_stat == zombie {
		return "", false, true
	}
	at := info.Proc.P_starttime
	return strconv.FormatInt(int64(at.Sec)*1_000_000+int64(at.Usec), 10), true, true
}

// bootID names this boot.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

func sameBoot(then, now string) bootAnswer {
	switch {
	case then == "" || now == "":
		return bootUnknown
	case then != now:
		return bootOther
	}
	return bootSame
}
