package procid

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// startOf asks the kernel when a pid started, in microseconds since 1970. A
// process that is gone has start "".
func startOf(pid int) (start string, known bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		// The kernel answers with an empty record for a pid that nobody has,
		// which the library reports as EIO.
		return "", errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH)
	}
	at := info.Proc.P_starttime
	return strconv.FormatInt(at.Sec*1e6+int64(at.Usec), 10), true
}

// parentOf returns the program that a pid runs and its parent.
func parentOf(pid int) (program string, parent int, known bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return "", 0, false
	}
	return unix.ByteSliceToString(info.Proc.P_comm[:]), int(info.Eproc.Ppid), true
}

// here is the machine's name and the kernel's id of this boot.
func here() place {
	machine, _ := os.Hostname()
	boot, _ := unix.Sysctl("kern.bootsessionuuid")
	return place{machine: machine, boot: boot}
}
