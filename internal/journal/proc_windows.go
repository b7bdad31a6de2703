package journal

import (
	"errors"
	"strconv"

	"golang.org/x/sys/windows"
)

// startOf returns when a process started, in 100 ns since 1601. That is unique
// across boots, so no boot id is needed beside it.
func startOf(pid int) (start string, running, known bool) {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return "", false, true // no process of that pid
	}
	if err != nil {
		return "", false, false
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	var code uint32
	const stillActive = 259
	if err := windows.GetExitCodeProcess(handle, &code); err == nil && code != stillActive {
		return "", false, true
	}
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(handle, &created, &exited, &kernel, &user); err != nil {
		return "", false, false
	}
	return strconv.FormatInt(created.Nanoseconds(), 10), true, true
}

// bootID is the same for every boot: see startOf.
func bootID() string { return "windows" }

func sameBoot(then, now string) bootAnswer {
	if then != now {
		return bootUnknown
	}
	return bootSame
}
