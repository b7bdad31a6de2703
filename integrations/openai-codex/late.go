package openaicodex

import (
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Codex notes what a script ran when it has ended, and a script that is interrupted, or
// that nobody waits for, ends after its turn. What it ran is then posted into the trace
// that is closed: its run was never there before.

// maxLate bounds how many scripts are remembered beyond their turns.
const maxLate = 16

// script is a script of a turn that was emitted, which may still be at work.
type script struct {
	Turn   string           `json:"turn"`             // of its own thread
	Prefix string           `json:"prefix,omitempty"` // of native ids
	Up     *agentkit.Anchor `json:"up"`
}

// leave notes the script of a stretch that may still be at work.
func (r *reducer) leave(s *stretch, f *family) {
	if len(s.scripts) == 0 {
		return
	}
	t := s.scripts[len(s.scripts)-1]
	if _, _, interrupted := t.outcome(); t.answered() && !t.running && !interrupted {
		return
	}
	r.Scripts = append(r.Scripts, &script{Turn: s.id, Prefix: f.prefix, Up: agentkit.NewAnchor(r.tool(f, t), f.start, f.turn)})
	if len(r.Scripts) > maxLate {
		r.Scripts = r.Scripts[1:]
	}
}

// late emits what a script ran, when its turn is over.
func (r *reducer) late(rec *record) {
	e := rec.event
	if e == nil || e.Item == nil || !nested(e.Item.ID) {
		return
	}
	for _, left := range r.Scripts {
		if left.Turn != e.Turn {
			continue
		}
		up := left.Up.Run()
		s := newStretch(left.Turn, nil)
		s.ready = up.Start
		s.inner(e.Item.ID, itemFacts(rec, e.Item), nil)
		run := r.tool(&family{parent: up, stretch: s, turn: left.Up.Prompt, prefix: left.Prefix, start: left.Up.Turn}, s.tools[0])
		r.lateOps = append(r.lateOps, runtypes.Op{Verb: runtypes.Post, Run: run})
		return
	}
}
