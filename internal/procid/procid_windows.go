package procid

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

const (
	queryLimited     = 0x1000 // PROCESS_QUERY_LIMITED_INFORMATION
	invalidParameter = syscall.Errno(87)
)

// startOf asks the system when a pid started, in 100 ns since 1601. A process
// that is gone has start "".
func startOf(pid int) (start string, known bool) {
	h, err := syscall.OpenProcess(queryLimited, false, uint32(pid))
	if err != nil {
		return "", errors.Is(err, invalidParameter) // nobody has that pid
	}
	defer syscall.CloseHandle(h)
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return "", false
	}
	if exited.HighDateTime != 0 || exited.LowDateTime != 0 {
		return "", true // ended; somebody still holds a handle
	}
	return strconv.FormatUint(uint64(created.HighDateTime)<<32|uint64(created.LowDateTime), 10), true
}

// parentOf returns the program that a pid runs and its parent.
func parentOf(pid int) (program string, parent int, known bool) {
	all, err := syscall.CreateToolhelp32Snapshot(syscall.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return "", 0, false
	}
	defer syscall.CloseHandle(all)
	var each syscall.ProcessEntry32
	each.Size = uint32(unsafe.Sizeof(each))
	for err = syscall.Process32First(all, &each); err == nil; err = syscall.Process32Next(all, &each) {
		if int(each.ProcessID) == pid {
			return syscall.UTF16ToString(each.ExeFile[:]), int(each.ParentProcessID), true
		}
	}
	return "", 0, false
}

// here is the machine's name. Start times are absolute, so that a boot tells
// nothing more.
func here() place {
	machine, _ := os.Hostname()
	return place{machine: machine}
}
