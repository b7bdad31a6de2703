package doctor

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/drain"
)

// minFree is how many bytes should be free for what is recorded.
const minFree = 200 << 20

// State reports on the state directory: can it be written, is there room, and does
// what is recorded get delivered.
func (r *Report) State(dir string, unwritable error, status drain.Status, now time.Time) {
	if unwritable != nil {
		r.problem("state", "make it writable, or set TRACESMITH_STATE to another folder", "nothing can be recorded: %v", unwritable)
		return
	}
	free, known := freeBytes(dir)
	switch {
	case known && free < minFree:
		r.problem("state", "make room", "only %d MB are free in %s", free>>20, dir)
	default:
		r.ok("state", "%s is writable", dir)
	}
	for _, other := range status.OtherVersions {
		r.note("state", "", "%s belongs to another version and is left alone", other)
	}
	for _, unread := range status.Problems {
		r.problem("state", "move away what cannot be read", "%s", unread)
	}
	r.leftAlone(status.Sessions)
	r.progress(status, now)
}

// leftAlone reports sessions of which nothing is delivered.
func (r *Report) leftAlone(sessions []drain.SessionStatus) {
	why := map[string]int{}
	for _, s := range sessions {
		if s.Problem != "" {
			why[s.Problem]++
		}
	}
	for _, problem := range slices.Sorted(maps.Keys(why)) {
		r.problem("state", "find them with: tracesmith status", "sessions that wait: %d: %s", why[problem], problem)
	}
}

// Store reports what is wrong with the local store; nil: nothing.
func (r *Report) Store(wrong error) {
	if wrong != nil {
		r.problem("store", "", "%v", wrong)
		return
	}
	r.ok("store", "the local store is whole")
}

// NoState reports that there is no state directory.
func (r *Report) NoState(why error) {
	r.problem("state", "move away what is in the way, or set TRACESMITH_STATE to another folder", "nothing can be recorded: %v", why)
}

// progress reports how deliveries have gone so far.
func (r *Report) progress(status drain.Status, now time.Time) {
	for _, d := range status.Destinations {
		name := d.Name
		if name == "" {
			name = d.ID
		}
		switch {
		case d.Broken:
			r.problem("delivery", "", "%s cannot be used: %s", name, d.Error)
		case d.Late(now):
			r.problem("delivery", "see the network and key lines of this report; what is recorded is kept for 7 days", "%s: %s", name, d.Trouble(now))
		case d.Failures > 0:
			r.note("delivery", "", "%s: %s", name, d.Trouble(now))
		case d.Dead > 0:
			r.note("delivery", "see dead/"+d.ID+" in the state directory", "%s has refused %d runs for good", name, d.Dead)
		case !d.Delivered.IsZero():
			r.ok("delivery", "%s last accepted runs at %s", name, d.Delivered.Local().Format(time.DateTime))
		}
	}
	for _, reason := range []string{"state_unwritable", "drainer_not_started", "hook_timeout", "hook_panic", "config_unreadable"} {
		if n := status.Dropped[reason]; n > 0 {
			r.note("state", "see the log folder in the state directory", "%d times so far: %s", n, strings.ReplaceAll(reason, "_", " "))
		}
	}
}
