package journal

// Process returns the identity of a running process, or the zero Proc if there
// is none of that pid or the system does not tell.
func Process(pid int) Proc {
	if pid <= 0 {
		return Proc{}
	}
	start, running, known := startOf(pid)
	if !running || !known {
		return Proc{}
	}
	return Proc{PID: pid, Start: start, Boot: bootID()}
}

// Gone reports whether the process has certainly ended. What cannot be told, such
// as a pid of another container, counts as running.
func (p Proc) Gone() bool {
	if p.PID <= 0 || p.Start == "" || p.Boot == "" {
		return false
	}
	switch sameBoot(p.Boot, bootID()) {
	case bootOther:
		return true
	case bootUnknown:
		return false
	}
	start, running, known := startOf(p.PID)
	return known && (!running || start != p.Start)
}

type bootAnswer int

const (
	bootUnknown bootAnswer = iota // the pid does not count here
	bootSame
	bootOther // the system was started again since
)
