package relay

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Why runs that did not end by themselves ended.
const (
	interruptedByUser = "Interrupted by user"
	processEnded      = "The agent's process ended"
	pausedForAnswer   = "Paused for an answer"
	outlived          = "The turn ended before it did"
)

// Bounds of an error, in bytes: of what went wrong, and of where, of which the end tells
// most.
const (
	maxFailure = 4 << 10
	maxWhere   = 2 << 10
)

// fail takes over a native error. One that only says that the run was stopped becomes
// a short reason.
func fail(run *runtypes.Run, native string) {
	if native == "" {
		return
	}
	if reason := stopped(native); reason != "" {
		run.Error, run.Interrupted = reason, true
		return
	}
	what, where := failure(native)
	if len(what) > maxFailure {
		what = strings.ToValidUTF8(what[:maxFailure], "") + " ..."
	}
	if len(where) > maxWhere {
		where = where[len(where)-maxWhere:]
		for len(where) > 0 && !utf8.RuneStart(where[0]) {
			where = where[1:]
		}
		where = "... " + where
	}
	run.Error = strings.TrimSpace(what + "\n\n" + where)
}

const traceback = "Traceback (most recent call last):"

// failure takes an error of Python's or JavaScript's apart: what went wrong, and the lines
// that say where. In Python what may be in front of them, on the same line, or their last.
func failure(native string) (what, where string) {
	native = strings.TrimSpace(native)
	if before, _, found := strings.Cut(native, traceback); found {
		where = native[len(before):]
		if what = strings.TrimSpace(before); what != "" {
			return what, where
		}
		for _, line := range slices.Backward(strings.Split(where, "\n")) {
			if line != "" && strings.TrimLeft(line, " \t|+") == line {
				return strings.TrimSpace(line), where
			}
		}
		return traceback, where
	}
	what, where, _ = strings.Cut(native, "\n")
	if where = strings.TrimSpace(where); where == "NoneType: None" { // no trace, as Python prints it
		where = ""
	}
	return strings.TrimSpace(what), where
}

// stopped is the reason of a run that was stopped; empty: it failed.
func stopped(native string) string {
	what, where := failure(native)
	switch exception(what) {
	case "GraphInterrupt", "NodeInterrupt":
		return pausedForAnswer
	case "CancelledError", "KeyboardInterrupt", "AbortError":
		return interruptedByUser
	}
	switch what {
	case "Abort", "Aborted", "This operation was aborted", "The operation was aborted", "Request was aborted.":
		return interruptedByUser
	}
	if strings.HasPrefix(where, "AbortError:") {
		return interruptedByUser
	}
	return ""
}

// exception is the name that an error begins with, less the modules it is in; empty: it
// begins with something else.
func exception(what string) string {
	name := what
	if end := strings.IndexAny(what, "(: "); end >= 0 {
		if name = what[:end]; what[end] == ' ' {
			return ""
		}
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}
