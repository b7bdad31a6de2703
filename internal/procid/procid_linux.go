package procid

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// startOf reads the start time of a pid in clock ticks since boot. known is false
// where the answer would be a guess; a process that is gone has start "".
func startOf(pid int) (start string, known bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) {
		return "", mounted()
	}
	if err != nil {
		return "", false
	}
	return parseStat(stat)
}

// parentOf returns the program that a pid runs and its parent.
func parentOf(pid int) (program string, parent int, known bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return "", 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return "", 0, false
	}
	// The name in stat is a script's own; the link is to what runs it.
	if program, err = os.Readlink(dir + "/exe"); err != nil {
		return "", 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return program, parent, err == nil
}

// parseStat finds fields 3 and 22 of proc_pid_stat(5). The second, the program's
// name, may hold blanks and parentheses, so that counting starts after its last.
func parseStat(stat []byte) (start string, known bool) {
	after := bytes.LastIndexByte(stat, ')')
	if after < 0 {
		return "", false
	}
	fields := bytes.Fields(stat[after+1:])
	if len(fields) < 20 {
		return "", false
	}
	if state := fields[0][0]; state == 'Z' || state == 'X' {
		return "", true // dead, and its parent has not looked yet
	}
	return string(fields[19]), true
}

// mounted reports whether /proc is there and shows this process: without it every
// process would look gone.
func mounted() bool {
	_, err := os.Lstat("/proc/self/stat")
	return err == nil
}

// here is the machine's id, the kernel's id of this boot, and the pid namespace.
// Without a machine's id its name has to do: a home folder may be shared.
func here() place {
	machine, _ := os.ReadFile("/etc/machine-id")
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	p := place{strings.TrimSpace(string(machine)), strings.TrimSpace(string(boot)), space}
	if p.machine == "" {
		p.machine, _ = os.Hostname()
	}
	return p
}
