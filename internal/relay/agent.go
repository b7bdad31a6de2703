package relay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Name is what the journals of the relay's turns are kept under.
const Name = "deepagents-relay"

// Integration is the ls_integration of the runs that the relay takes up.
const Integration = "deepagents-code"

// runtimeName is what people call the agent.
const runtimeName = "Deep Agents Code"

// The kinds of line in a turn's journal.
const (
	linePost  = string(runtypes.Post)  // a run was created
	linePatch = string(runtypes.Patch) // a run was amended
	lineNext  = "next"                 // the thread has gone on to another turn
)

// Agent lets a drainer deliver what the relay wrote. A session of it is one turn. It
// has no hooks and is not installed.
func Agent() *integrations.Agent {
	return &integrations.Agent{
		Name:       Name,
		Runtime:    runtimeName,
		NewReducer: func(integrations.Options) integrations.Reducer { return newTurn() },
	}
}

// message is the data of a line that writes a run.
type message struct {
	Number int           `json:"number"`           // of the turn in its thread, from 1
	Thread string        `json:"thread,omitempty"` // the turn's, which a run below its root need not know
	Turn   string        `json:"turn,omitempty"`
	Run    runtypes.Wire `json:"run"`              // as the client sent it
	Origin string        `json:"origin,omitempty"` // of the repository, as it is spelled there
}

// write is a run's write on its way through the reducer.
type write struct {
	verb   runtypes.Verb
	number int
	wire   runtypes.Wire
	meta   map[string]any
	origin string // of the repository; empty: not known
	ref    string // names its line

	thread, turn, dir string // of the turn, as far as any run of its trace told
	head              integrations.Head
}

func readWrite(e integrations.Event) (*write, error) {
	var m message
	if err := json.Unmarshal(e.Data, &m); err != nil {
		return nil, fmt.Errorf("relay: line: %w", err)
	}
	return &write{
		verb: runtypes.Verb(e.Kind), number: m.Number, wire: m.Run, meta: m.Run.Metadata(), origin: m.Origin, ref: e.Ref,
		thread: m.Thread, turn: m.Turn, dir: e.CWD, head: e.Head,
	}, nil
}

// Apply takes one line, or one of the drainer's own events.
func (t *turn) Apply(src integrations.Source, e integrations.Event) ([]runtypes.Op, error) {
	switch e.Kind {
	case linePost, linePatch:
		w, err := readWrite(e)
		if err != nil {
			return nil, err
		}
		ops, err := t.take(src, w)
		return append(ops, t.leave(src)...), err
	case lineNext:
		t.Left = true
		return t.leave(src), nil
	case integrations.Idle:
		ops, err := t.release(src)
		if t.Left || t.settled() {
			ops = append(ops, t.close(src, interruptedByUser, t.Left)...)
		}
		return ops, err
	case integrations.Dead:
		ops, err := t.release(src)
		return append(ops, t.close(src, processEnded, true)...), err
	}
	return nil, nil
}

// Status says what the turn waits for.
func (t *turn) Status() integrations.Status {
	return integrations.Status{
		Open:    len(t.Open),
		Waiting: len(t.Late) > 0 || t.settled() || t.Left && len(t.Open) > 0,
		Ended:   len(t.Open) == 0 && len(t.Late) == 0,
	}
}

// maxLate bounds the lines that wait for one which should have come before. Beyond it
// they are taken as they are.
const maxLate = 512

// late is a line that waits for the post of a run.
type late struct {
	Ref   string `json:"ref"`
	For   string `json:"for"` // the run: its own, or its parent
	Patch bool   `json:"patch,omitempty"`
	Depth int    `json:"depth,omitempty"` // of its run below the root
}

// take folds one write, and those that waited for it.
func (t *turn) take(src integrations.Source, w *write) ([]runtypes.Op, error) {
	if missing := t.lacks(w); missing != "" {
		t.Late = append(t.Late, late{w.ref, missing, w.verb == runtypes.Patch, strings.Count(w.wire.DottedOrder, ".")})
		if len(t.Late) <= maxLate {
			return nil, nil
		}
		return t.release(src)
	}
	ops := t.fold(w)
	for {
		i := slices.IndexFunc(t.Late, func(l late) bool { return t.posted(l.For) })
		if i < 0 {
			return ops, nil
		}
		ref := t.Late[i].Ref
		t.Late = slices.Delete(slices.Clone(t.Late), i, i+1)
		w, err := recall(src, ref)
		if err != nil {
			return ops, err
		}
		ops = append(ops, t.fold(w)...)
	}
}

// release takes what waits, whatever is missing: parents before their children, and of
// each run the post before the patch.
func (t *turn) release(src integrations.Source) (ops []runtypes.Op, failure error) {
	waiting := slices.Clone(t.Late)
	t.Late = nil
	slices.SortStableFunc(waiting, func(a, b late) int {
		if a.Patch != b.Patch {
			if a.Patch {
				return 1
			}
			return -1
		}
		return a.Depth - b.Depth
	})
	for _, each := range waiting {
		w, err := recall(src, each.Ref)
		if err != nil {
			failure = err
			continue
		}
		ops = append(ops, t.fold(w)...)
	}
	return ops, failure
}

func recall(src integrations.Source, ref string) (*write, error) {
	e, err := src.Recall(ref)
	if err != nil {
		return nil, err
	}
	return readWrite(e)
}
