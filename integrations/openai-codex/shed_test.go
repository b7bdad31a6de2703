package openaicodex

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// held is about how much of a turn's content a reducer has in memory.
func (r *reducer) held() int {
	n := 0
	for _, s := range r.reader.stretches {
		for _, e := range s.entries {
			if e.call == nil {
				n += agentkit.SizeOf(e.message)
			}
		}
		for _, t := range s.tools {
			n += len(t.output) + len(t.input)
		}
	}
	return n
}

// inUse is what the whole process holds.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A turn of any length is told in pieces, and none but what later calls may repeat
// stays in memory.
func TestALongTurnIsToldInPiecesAndLetGo(t *testing.T) {
	const calls, size = 1200, 20 << 10
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	for i := range calls {
		id := fmt.Sprintf("c%d", i)
		lines = append(lines, callLine(turnID, id, "exec_command", `{"cmd":"make"}`), usageLine(turnID, "r"+id, 10, 2),
			outputLine(turnID, id, strings.Repeat("x", size)), commandLine(turnID, id, 0))
	}
	lines = append(lines, sayLine(turnID, "done"), usageLine(turnID, "last", 10, 2), doneLine(turnID, "done"))
	src := &memory{files: map[string]string{rolloutOf(rootID): write(lines...)}}
	r := newReducer(integrations.Options{})
	seen, runs, most := map[string]bool{}, 0, 0
	before, grown := inUse(), int64(0)
	apply := func(e integrations.Event) {
		t.Helper()
		grown = max(grown, inUse()-before)
		ops, err := r.Apply(src, e)
		if err != nil {
			t.Fatal(err)
		}
		if n := sizeOf(ops); n > maxRepeated+3*maxOps {
			t.Errorf("%d bytes of runs at once", n)
		}
		for _, op := range ops {
			if !seen[op.Run.ID.String()] {
				seen[op.Run.ID.String()] = true
				runs++
			}
		}
		most = max(most, r.held())
	}
	event := func(kind string, d data) integrations.Event {
		d.Session = rootID
		raw, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return integrations.Event{Kind: kind, Data: raw}
	}
	apply(event("SessionStart", start("startup")))
	apply(event("UserPromptSubmit", names(turnID)))
	for r.Status().More {
		apply(integrations.Event{Kind: integrations.Grew})
	}
	apply(event("Stop", names(turnID)))
	for r.Status().More {
		apply(integrations.Event{Kind: integrations.Grew})
	}
	apply(integrations.Event{Kind: integrations.Dead})
	if want := 1 + calls + 1 + calls; runs != want {
		t.Errorf("%d runs, want %d", runs, want)
	}
	if limit := 5 * maxOps; most > limit {
		t.Errorf("%d bytes of %d were in memory, want less than %d", most, calls*size, limit)
	}
	if limit := int64(4 * maxOps); grown > limit {
		t.Errorf("%d bytes more of %d were in use between the pieces, want less than %d", grown, calls*size, limit)
	}
	if s := r.Status(); s.Open != 0 {
		t.Errorf("status %+v", s)
	}
}
