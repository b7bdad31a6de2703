package procid

import "strings"

// place is where a pid counts: a machine, one of its boots, and there a namespace
// of pids, such as a container's.
type place struct{ machine, boot, space string }

func (p place) String() string { return p.machine + "/" + p.boot + "/" + p.space }

func parsePlace(s string) (place, bool) {
	machine, rest, _ := strings.Cut(s, "/")
	boot, space, ok := strings.Cut(rest, "/")
	return place{machine, boot, space}, ok && machine != ""
}

// Of returns when the process of a pid started, in the system's own unit, and the
// boot in which that pid counts. Both are empty where they cannot be known.
func Of(pid int) (start, boot string) {
	start, known := startOf(pid)
	if pid <= 0 || !known || start == "" {
		return "", ""
	}
	return start, here().String()
}

// Gone reports whether the process that Of described is certainly gone. Where it
// cannot be known, such as for a pid of another container, it is not.
func Gone(pid int, start, boot string) bool {
	then, ok := parsePlace(boot)
	now := here()
	switch {
	case pid <= 0 || start == "" || !ok || then.machine != now.machine:
		return false
	case then.boot != now.boot:
		return true // nothing outlives a restart
	case then.space != now.space:
		return false
	}
	current, known := startOf(pid)
	return known && current != start
}
