package openaicodex

import (
	"cmp"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// ask is what one thread told another to do: to begin with, or when it had done what it
// was told before. Each begins a turn, unless the other was at work and took it in.
type ask struct {
	Call    string           `json:"call,omitempty"`    // that told it; "": it was adopted
	Turn    string           `json:"turn"`              // of the session, in which it was told
	By      string           `json:"by"`                // the turn of the thread that told it
	At      time.Time        `json:"at,omitzero"`       // zero: at any time
	Message string           `json:"message,omitempty"` // where the thread's own file hides it
	Up      *agentkit.Anchor `json:"up,omitempty"`      // what its turn hangs under; nil: not emitted yet
	Used    bool             `json:"used,omitempty"`    // it has begun a turn
}

// maxAsks bounds what is kept of that a thread was told while it was at work.
const maxAsks = 8

// parent is the run of a turn that is over, of the session's thread or of another.
type parent struct {
	Turn string           `json:"turn"`
	Up   *agentkit.Anchor `json:"up"`
}

// noteAsks takes over what a stretch told other threads. What a thread that was not
// known did before is not ours.
func (r *reducer) noteAsks(s *stretch, f *family, noted *int) {
	for ; *noted < len(s.links); *noted++ {
		l := s.links[*noted]
		a := r.Agents[l.thread]
		if a == nil {
			if !r.hasRoom() {
				continue
			}
			a = &agent{Thread: l.thread}
			if made := idTime(l.thread); made.Before(s.made().Add(-time.Second)) {
				a.Since = l.at
			}
			r.Agents[l.thread] = a
		}
		a.Asks = append(a.Asks, &ask{
			Call: f.prefix + l.call, Turn: f.turn, By: s.id, At: l.at,
			Message: agentkit.Clip(cmp.Or(l.message, s.told(l.call))),
		})
		slices.SortStableFunc(a.Asks, func(a, b *ask) int { return a.At.Compare(b.At) }) // agents are read one after another
		if len(a.Asks) > maxAsks {
			a.Asks = a.Asks[1:]
		}
	}
}

// told is the message in a call that told a thread something.
func (s *stretch) told(call string) string {
	t := s.byID[call]
	if t == nil {
		return ""
	}
	return stringField(t.input, "message")
}

// raise gives what a tool call told the run that it hangs under.
func (r *reducer) raise(call string, run *runtypes.Run, f *family) {
	for _, a := range r.Agents {
		for _, k := range a.Asks {
			if k.Up == nil && k.Call == f.prefix+call && k.Turn == f.turn {
				k.Up = agentkit.NewAnchor(run, f.start, f.turn)
			}
		}
	}
}

// anchor notes the run of a turn that is over. What it told by a call that is not known
// hangs under it.
func (r *reducer) anchor(run *runtypes.Run, f *family) {
	up := agentkit.NewAnchor(run, f.start, f.turn)
	r.Parents = append(r.Parents, parent{Turn: f.stretch.id, Up: up})
	if len(r.Parents) > maxParents {
		r.Parents = r.Parents[1:]
	}
	for _, a := range r.Agents {
		for _, k := range a.Asks {
			if k.Up == nil && k.By == f.stretch.id && k.Turn == f.turn {
				k.Up = up
			}
		}
	}
}

// began is the ask that began a turn: the last one before it by the turn that it names.
// nil: none that is known.
func (a *agent) began(s *stretch) *ask {
	var first, last *ask
	for _, k := range a.Asks {
		switch {
		case k.Used, s.parent != "" && k.By != s.parent:
		case !k.At.After(s.made()):
			last = k
		default:
			first = cmp.Or(first, k) // clocks differ
		}
	}
	return cmp.Or(last, first)
}

// above is what a turn of an agent hangs under: what was asked of it, else the turn that
// it names, which began it in a way that nothing tells. nil: that is not over yet, unless
// all is that may be (rest).
func (r *reducer) above(a *agent, s *stretch, rest bool) *ask {
	k := a.began(s)
	if k != nil && k.Up != nil {
		return k
	}
	for _, p := range r.Parents {
		if k == nil && p.Turn == s.parent {
			return &ask{Up: p.Up}
		}
	}
	over := slices.Contains(r.Closed, s.parent) || s.parent == "" && len(r.Turns) == 0
	if k == nil && over || rest && a.Forced {
		return a.usual()
	}
	return nil
}

// usual is what an agent's turns hang under if nothing else is known; nil: nothing.
func (a *agent) usual() *ask {
	for _, k := range a.Asks {
		if k.Up != nil {
			return &ask{Up: k.Up}
		}
	}
	return nil
}

// use notes that an ask has begun a turn, which took in all that was told before.
func (a *agent) use(k *ask) {
	if at := slices.Index(a.Asks, k); at >= 0 {
		k.Used, k.Message = true, ""
		a.Asks = a.Asks[at:]
	}
}
