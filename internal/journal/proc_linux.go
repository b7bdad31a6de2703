package journal

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// startOf returns when a process started, in clock ticks since boot.
func startOf(pid int) (start string, running, known bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) {
		_, self := os.Stat("/proc/self/stat")
		return "", false, self == nil
	}
	if err != nil {
		return "", false, false
	}
	// The second field is the program's name and may hold anything, blanks and
	// parentheses included; what follows its last parenthesis is plain.
	stat := string(raw)
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const state, starttime = 0, 19 // fields 3 and 22 of proc_pid_stat(5)
	if len(fields) <= starttime {
		return "", false, false
	}
	if fields[state] == "Z" || fields[state] == "X" {
		return "", false, true // ended, and its parent has not asked yet
	}
	return fields[starttime], true, true
}

// bootID names this boot and the pid namespace we see.
func bootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw)) + " " + space
}

// sameBoot compares two boot ids. A pid of another namespace says nothing here.
func sameBoot(then, now string) bootAnswer {
	thenBoot, _, _ := strings.Cut(then, " ")
	nowBoot, _, _ := strings.Cut(now, " ")
	switch {
	case nowBoot == "" || thenBoot == "":
		return bootUnknown
	case thenBoot != nowBoot:
		return bootOther
	case then != now:
		return bootUnknown
	}
	return bootSame
}
