package relay

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// turn folds the native runs of one turn. Its fields are what a checkpoint holds.
type turn struct {
	Who  runtypes.Identity `json:"who,omitzero"`
	Seen bool              `json:"seen,omitempty"` // Who is known
	Root string            `json:"root,omitempty"` // id of the run that stands for the turn
	// Segment is the root's dotted order.
	Segment string                   `json:"segment,omitempty"`
	Nodes   map[string]*node         `json:"nodes"`          // native runs by id, but for those that ended long ago
	Done    []string                 `json:"done,omitempty"` // of these, below the root, what has ended, in that order
	Open    map[string]*runtypes.Run `json:"open"`           // posted and not ended, without content
	Late    []late                   `json:"waiting,omitempty"`
	Live    int                      `json:"live,omitempty"` // native roots that have not ended
	End     *end                     `json:"end,omitempty"`  // of the last native root that did
	Model   runtypes.Model           `json:"model,omitzero"` // of the last model call that said it
	Last    time.Time                `json:"last,omitzero"`  // newest time that any run told
	Left    bool                     `json:"left,omitempty"` // the thread has gone on to another turn
}

// node is a native run, as far as others depend on it.
type node struct {
	Posted  bool   `json:"p,omitempty"`
	Patched bool   `json:"e,omitempty"`
	Hidden  string `json:"h,omitempty"` // name of a run that is left out, and its children move up
	Note    bool   `json:"n,omitempty"` // a root in which the client changed its state and did nothing
	Aside   bool   `json:"s,omitempty"` // see aside
	Root    bool   `json:"r,omitempty"` // a further root of the turn: its children go to the first
	Call    string `json:"c,omitempty"` // of a tool: the id of its call
	Agent   string `json:"a,omitempty"` // of a tool that starts a subagent: that one's type
	Tool    bool   `json:"t,omitempty"`
	Sub     bool   `json:"b,omitempty"` // a subagent's, or one itself
	Order   string `json:"o,omitempty"` // dotted order of a run that others may stand below
}

// end is how a native root ended. Its outputs stay in the journal.
type end struct {
	Ref      string    `json:"ref"`
	At       time.Time `json:"at"`
	Awaiting bool      `json:"awaiting,omitempty"` // tools were called and have no answer: the turn goes on
}

// isNote reports whether a run is what LangGraph makes where a client changes the state
// of a thread by hand, as after an abort.
func isNote(w runtypes.Wire) bool {
	return w.ParentRunID == "" && strings.HasSuffix(w.Name, "UpdateState")
}

// aside reports whether a run is a model call that the client makes for itself and for no
// turn, as for a thread's title: its own mark is all that it says of the agent.
func aside(w runtypes.Wire) bool {
	meta := w.Metadata()
	return w.ParentRunID == "" && w.RunType == "llm" && text(meta, "turn_id") == "" && text(meta, "deepagents_code_configured_model") != ""
}

func newTurn() *turn {
	return &turn{Nodes: map[string]*node{}, Open: map[string]*runtypes.Run{}}
}

// lacks is the id of the run whose post has to come before a write: its own, or its
// parent; empty: that is there.
func (t *turn) lacks(w *write) string {
	id := w.wire.ParentRunID
	if w.verb == runtypes.Patch {
		id = w.wire.ID
	}
	if id == "" || t.posted(id) {
		return ""
	}
	return id
}

func (t *turn) posted(id string) bool {
	n := t.Nodes[id]
	return n != nil && n.Posted
}

// fold takes a write, of which the turn may have had the like before.
func (t *turn) fold(w *write) []runtypes.Op {
	n := t.Nodes[w.wire.ID]
	if n == nil {
		n = &node{}
		t.Nodes[w.wire.ID] = n
	}
	known := n.Posted
	if w.verb == runtypes.Patch {
		known = n.Patched
	}
	if known {
		return nil
	}
	first := !n.Posted // of a patch whose post was lost as well: it says all but the inputs
	n.Posted = true
	n.Patched = n.Patched || w.verb == runtypes.Patch || w.wire.EndTime != ""
	t.identify(w)
	n.Aside = n.Aside || first && aside(w.wire)
	if w.wire.ParentRunID == "" && !n.Aside {
		if n.Note = n.Note || first && isNote(w.wire); n.Note {
			return nil
		}
		return t.root(n, w, first)
	}
	if first {
		n.describe(w)
	}
	if n.Patched {
		defer t.forget(w.wire.ID)
	}
	if n.Hidden != "" {
		return nil
	}
	if first {
		return t.post(n, w)
	}
	return t.patch(w)
}

// maxDone bounds the ended runs that are remembered: a request that is sent again has fewer.
// What comes of an older one once more has the same id, and LangSmith has it.
const maxDone = 200

// forget notes that a run has ended, and drops the one that has been ended for longest.
func (t *turn) forget(id string) {
	if t.Done = append(t.Done, id); len(t.Done) > maxDone {
		delete(t.Nodes, t.Done[0])
		t.Done = slices.Delete(t.Done, 0, 1)
	}
}

// identify settles whose turn it is by the first run that tells.
func (t *turn) identify(w *write) {
	for _, at := range []string{w.wire.StartTime, w.wire.EndTime} {
		if when, err := time.Parse(time.RFC3339Nano, at); err == nil && when.After(t.Last) {
			t.Last = when
		}
	}
	if !t.Seen {
		t.Who, t.Seen = identity(w), true
	}
}

// root takes a write of a native root: the first is the turn's, others go on with it.
func (t *turn) root(n *node, w *write, first bool) []runtypes.Op {
	var ops []runtypes.Op
	switch {
	case first && t.Root == "":
		t.Root = w.wire.ID
		fallthrough
	case first && t.Root == w.wire.ID: // its children were here before
		run := t.convert(n, w)
		t.Segment, run.TraceID, run.ParentID = run.DottedOrder, run.ID, uuid.Nil
		run.Kind, run.AgentType = runtypes.KindRoot, runtypes.AgentRoot
		run.End, run.Outputs, run.Error, run.Interrupted = time.Time{}, nil, "", false
		t.open(run)
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
	case first:
		n.Root = true
	}
	if first {
		t.Live++
	}
	if n.Patched {
		t.Live--
		_, at, err := w.wire.Times()
		if err != nil || at.IsZero() {
			at = t.Last
		}
		t.End = &end{Ref: w.ref, At: at, Awaiting: awaiting(w.wire.Outputs) || stopped(w.wire.Error) == pausedForAnswer}
	}
	return ops
}

// post creates a run.
func (t *turn) post(n *node, w *write) []runtypes.Op {
	run := t.convert(n, w)
	if run.Pending() {
		t.open(run)
	}
	return []runtypes.Op{{Verb: runtypes.Post, Run: run}}
}

// patch ends a run, or amends it.
func (t *turn) patch(w *write) []runtypes.Op {
	run := t.Open[w.wire.ID]
	if run == nil {
		return nil
	}
	delete(t.Open, w.wire.ID)
	amended := *run
	t.amend(&amended, w)
	if amended.Pending() { // nothing may amend it any more
		amended.End = t.Last
	}
	return []runtypes.Op{{Verb: runtypes.Patch, Run: &amended}}
}

// open remembers a run that has not ended, without what was said in it.
func (t *turn) open(run *runtypes.Run) {
	bare := *run
	bare.Inputs, bare.Outputs, bare.Events = nil, nil, nil
	bare.Model.InvocationParams = nil
	t.Open[run.ID.String()] = &bare
}

// settled reports whether the turn's root has ended as far as one can tell: another
// round may follow at once, as when a hook answered.
func (t *turn) settled() bool {
	return t.Open[t.Root] != nil && t.Live <= 0 && t.End != nil && !t.End.Awaiting
}

// leave ends a turn that the thread has left, if nothing of it is missing. Else its end
// may be on another request's way, and is waited for as the drainer waits.
func (t *turn) leave(src integrations.Source) []runtypes.Op {
	if !t.Left || len(t.Late) > 0 || !t.settled() {
		return nil
	}
	return t.close(src, "", false)
}

// close ends the turn, for a reason where it did not end by itself. With all, nothing
// below it can go on either.
func (t *turn) close(src integrations.Source, reason string, all bool) []runtypes.Op {
	root := t.Open[t.Root]
	delete(t.Open, t.Root)
	var last []runtypes.Op
	at, halted := t.Last, false
	if root != nil {
		whole := t.Live <= 0 && t.End != nil && !t.End.Awaiting
		done := *root
		t.finish(src, &done)
		if !whole {
			runtypes.Interrupt(&done, done.End, reason)
		}
		at, halted = done.End, done.Interrupted
		all = all || halted
		last = []runtypes.Op{{Verb: runtypes.Patch, Run: &done}}
	}
	if !all {
		return last
	}
	switch {
	case reason != processEnded && halted:
		reason = interruptedByUser
	case reason != processEnded:
		reason = outlived
	}
	below := slices.Collect(maps.Values(t.Open))
	slices.SortFunc(below, func(a, b *runtypes.Run) int { return strings.Compare(b.DottedOrder, a.DottedOrder) })
	var ops []runtypes.Op
	for _, run := range below {
		done := *run
		runtypes.Interrupt(&done, later(at, done.Start), reason)
		ops = append(ops, runtypes.Op{Verb: runtypes.Patch, Run: &done})
	}
	clear(t.Open)
	return append(ops, last...)
}

// finish gives the root what its last round ended with.
func (t *turn) finish(src integrations.Source, root *runtypes.Run) {
	root.End = later(t.Last, root.Start)
	if t.End == nil {
		return
	}
	root.End = later(t.End.At, root.Start)
	w, err := recall(src, t.End.Ref)
	if err != nil {
		return // the line is gone: its end is known all the same
	}
	root.Outputs, root.Events = w.wire.Outputs, moments(w.wire.Events)
	fail(root, w.wire.Error)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
