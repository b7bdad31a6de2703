package pi

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// turn is a user's turn, or what a subagent does for one prompt: from
// before_agent_start to agent_settled. It begins with the message that holds the
// prompt, whose time ids are made of.
type turn struct {
	Begun  bool              `json:"begun,omitempty"` // its run is posted
	Start  time.Time         `json:"start,omitzero"`
	Base   time.Time         `json:"base,omitzero"`    // the ids' time: of the thread's turn
	Key    string            `json:"key,omitempty"`    // of the thread's turn in ids
	Prefix string            `json:"prefix,omitempty"` // of native ids
	Who    runtypes.Identity `json:"who,omitzero"`
	Link   *link             `json:"link,omitempty"` // of a subagent

	At     time.Time `json:"at,omitzero"` // when it was prompted
	Branch string    `json:"branch,omitempty"`
	SHA    string    `json:"sha,omitempty"`
	CWD    string    `json:"cwd,omitempty"`
	Under  string    `json:"under,omitempty"`  // dotted order of the run that started Pi
	Origin string    `json:"origin,omitempty"` // extension: no user asked
	Prompt string    `json:"prompt,omitempty"` // reference to what the hook said of it
	Past   bool      `json:"past,omitempty"`   // it was read from a session file

	Said     []string         `json:"said,omitempty"`     // references: the conversation so far
	Since    int              `json:"since,omitempty"`    // of it, before the last call
	Repeated int64            `json:"repeated,omitempty"` // bytes that calls have repeated
	Answers  map[string]ref   `json:"answers,omitempty"`  // results of tools that the model was not told yet
	Call     *call            `json:"call,omitempty"`     // the model call under way
	Tools    map[string]*tool `json:"tools,omitempty"`    // open ones, by call
	Emitted  []string         `json:"emitted,omitempty"`  // calls and tools that are told
	Again    map[string]int   `json:"again,omitempty"`    // how often a tool's call was named like one that is told
	Extra    []extra          `json:"extra,omitempty"`    // what else the user said
	Reply    time.Time        `json:"reply,omitzero"`     // end of the last reply
	Stepped  bool             `json:"stepped,omitempty"`  // a tool that it called has ended

	Active  time.Time `json:"active,omitzero"` // when it was heard of last
	Last    time.Time `json:"last,omitzero"`   // end of its last run
	Stop    string    `json:"stop,omitempty"`  // of the last reply
	Error   string    `json:"error,omitempty"` // of the last reply
	Answer  string    `json:"answer,omitempty"`
	Partial string    `json:"partial,omitempty"` // of a reply that was cut off
	Context int64     `json:"context,omitempty"` // tokens after the last call
	Aborted bool      `json:"aborted,omitempty"`

	Files   []string `json:"files,omitempty"` // that were changed, by hash
	Commits bool     `json:"commits,omitempty"`
	Heads   []string `json:"heads,omitempty"` // commits that HEAD moved to
}

// ref names a message: see content.go.
type ref = string

// extra is something the user said while the turn went on.
type extra struct {
	Answer ref `json:"answer,omitempty"` // what had been answered before
	User   ref `json:"user"`
}

// Bounds of the checkpoint.
const (
	maxSaid    = 600
	maxEmitted = 1500
	maxExtra   = 64
	maxFiles   = 256
	maxHeads   = 32
)

// heard notes that a turn is alive, and where HEAD is.
func (t *turn) heard(h *hearing) {
	if h.at.After(t.Active) {
		t.Active = h.at
	}
	sha := h.e.Head.SHA
	if sha != "" && t.SHA != "" && sha != t.SHA && !slices.Contains(t.Heads, sha) && len(t.Heads) < maxHeads {
		t.Heads = append(t.Heads, sha)
	}
}

// say adds a message to the conversation. Of a very long one the middle is dropped.
func (t *turn) say(r ref) {
	t.Said = append(t.Said, r)
	if len(t.Said) > maxSaid {
		const first = 8
		cut := len(t.Said) - maxSaid*3/4
		t.Said = slices.Delete(t.Said, first, first+cut)
		t.Since = max(first, t.Since-cut)
	}
}

// tell notes that a run is told; false if it was before.
func (t *turn) tell(kind, native string) bool {
	if t.told(kind, native) {
		return false
	}
	t.Emitted = append(t.Emitted, emitted(kind, native))
	if len(t.Emitted) > maxEmitted {
		t.Emitted = slices.Delete(t.Emitted, 0, maxEmitted/4)
	}
	return true
}

func (t *turn) told(kind, native string) bool {
	return slices.Contains(t.Emitted, emitted(kind, native))
}

// native names a tool's call. Some providers count the calls of each reply anew.
func (t *turn) native(id string) string {
	if n := t.Again[id]; n > 0 {
		return fmt.Sprintf("%s#%d", id, n+1)
	}
	return id
}

// calls takes note of the calls that a reply makes.
func (t *turn) calls(m *message) {
	for _, p := range m.calls() {
		if !t.told("tool", t.native(p.ID)) || len(t.Again) >= maxTools && t.Again[p.ID] == 0 {
			continue
		}
		if t.Again == nil {
			t.Again = map[string]int{}
		}
		t.Again[p.ID]++
	}
}

// emitted names a run in the checkpoint.
func emitted(kind, native string) string { return agentkit.HashText(kind + native)[:10] }

func (t *turn) ran(end time.Time) {
	if end.After(t.Last) {
		t.Last = end
	}
}

// id derives the id of a run of the turn.
func (t *turn) id(kind, native string) uuid.UUID {
	return idgen.Run(t.Base, Name, t.Who.ThreadID, t.Key, kind, t.Prefix+native)
}

// prompted takes a prompt: a turn begins when its message comes.
func (h *hearing) prompted() {
	h.close("Interrupted")
	h.shells(false, false)
	t := &turn{
		At: h.at, Active: h.at, CWD: h.e.CWD, Branch: h.e.Head.Branch, SHA: h.e.Head.SHA,
		Under: h.d.Under, Prompt: h.e.Ref, Past: h.past,
	}
	if h.d.Event.MessageType == "custom" {
		t.Origin = "extension"
	}
	h.a.Turn = t
	h.link(h.d.Event.Prompt)
}

// begin posts the run of a turn: what was said first is its prompt. A turn that an
// extension asked for begins with the reply, see pace.
func (h *hearing) begin(m *message, from ref) *turn {
	t := h.a.Turn
	if t == nil { // its prompt was lost on the way, or is of the past
		t = &turn{
			At: h.at, Active: h.at, CWD: h.e.CWD, Branch: h.e.Head.Branch, SHA: h.e.Head.SHA, Past: h.past,
		}
		h.a.Turn = t
		h.link(textOf(m.Content))
	}
	if t.CWD == "" {
		t.CWD = h.a.CWD
	}
	t.Start = m.start()
	native := m.native()
	if from == "" && m.Role == "user" { // the message never came
		native = "prompt:" + native
	}
	h.identify(t, native)
	run := h.r.top(h.a, t)
	if m.Role == "user" {
		run.Inputs = runtypes.Messages(m.prompt())
		if from != "" {
			t.say(from)
		}
	} else if called, ok := h.calling(t); ok {
		run.Inputs = runtypes.Messages(called.prompt())
	}
	t.Begun = true
	h.post(run)
	return t
}

// calling is what an extension asked for in a turn that has not begun.
func (h *hearing) calling(t *turn) (*message, bool) {
	if t.Begun || len(t.Said) == 0 {
		return nil, false
	}
	return h.r.fetch(h.src, t.Said[0])
}

// identify says who the runs of a turn are, and what their ids are made of.
func (h *hearing) identify(t *turn, native string) {
	if t.Link = h.a.Link; t.Link != nil {
		h.a.Turns++
		t.Base, t.Key, t.Who = t.Link.Base, t.Link.Key, t.Link.Under.Who
		t.Prefix = t.Link.prefix(h.a.Turns)
		return
	}
	native = h.r.Roots.unique(native)
	t.Base, t.Key = t.Start, native
	t.Who = runtypes.Identity{
		Integration: Name, Runtime: runtimeName, RuntimeVersion: h.a.Version,
		ThreadID: h.a.Session, TurnID: native,
		Repo: runtypes.Repo{Branch: t.Branch, SHA: t.SHA}, WorkingDirectory: t.CWD,
	}
	if h.a.Parent == "" {
		t.Who.TurnNumber = h.number(t.Start, t.Past)
	}
}

// top builds the run of a turn as it is when it begins: a root, or a subagent under the
// call that started it.
func (r *reducer) top(a *actor, t *turn) *runtypes.Run {
	if t.Link != nil {
		return t.Link.subagent(t)
	}
	root := agentkit.Top(t.Under, t.id("root", t.Key), t.Start, t.Who)
	root.Metadata = map[string]any{}
	if t.Origin != "" {
		root.Metadata[agentkit.MetaOrigin] = t.Origin
	}
	if s := surface(a.Mode); s != "" {
		root.Metadata[agentkit.MetaSurface] = s
	}
	return root
}

// surface names where Pi runs.
func surface(mode string) string {
	switch mode {
	case "tui":
		return "cli"
	case "json", "print", "rpc":
		return "sdk"
	}
	return mode
}

// settled takes the end of a turn: nothing will go on by itself.
func (h *hearing) settled() {
	if t := h.a.Turn; t != nil {
		t.Aborted = t.Aborted || h.d.Event.Aborted
		h.close("")
	}
	h.shells(false, false)
}

// close ends the open turn, and all of it that is open. why is the reason if it did not
// end by itself.
func (h *hearing) close(why string) {
	t := h.a.Turn
	if t == nil {
		return
	}
	h.a.Turn = nil
	if !t.Begun {
		h.beginUntold(t)
		if !t.Begun {
			return
		}
		h.a.Turn = nil
	}
	err, interrupted := t.outcome(why)
	if interrupted {
		h.cutOff(t, err)
	} else {
		h.cutOff(t, "Interrupted")
	}
	run := h.r.top(h.a, t)
	h.conclude(t, run)
	end := t.Last
	if end.IsZero() || interrupted && !t.Past && h.at.After(end) { // a reply may end after it is told
		end = h.at
	}
	if interrupted {
		h.patch(runtypes.Interrupt(run, end, err))
		return
	}
	run.Error = err
	if err != "" && run.Kind == runtypes.KindRoot {
		run.Metadata[agentkit.MetaFailure] = failure(t.Error)
	}
	h.patch(runtypes.Finish(run, end))
}

// beginUntold posts a turn whose message, or the reply that it begins with, never came: it
// was ended before.
func (h *hearing) beginUntold(t *turn) {
	if m, ok := h.calling(t); ok {
		h.a.Turn = t
		h.begin(m, "")
		return
	}
	d, err := h.r.recall(h.src, t.Prompt)
	if err != nil || d.Event.Prompt == "" {
		return
	}
	m := textMessage(d.Event.Prompt)
	m.Timestamp = t.At.UnixMilli()
	h.a.Turn = t
	h.begin(&m, "")
}

// outcome is how a turn ended: an error, an interrupt, or neither. A turn whose last
// reply was complete has ended, whatever came after.
func (t *turn) outcome(why string) (err string, interrupted bool) {
	whole := (t.Stop == "stop" || t.Stop == "length") && t.Call == nil && len(t.Tools) == 0
	switch {
	case t.Aborted, t.Stop == "aborted":
		return "Interrupted by user", true
	case whole:
		return "", false
	case t.Stop == "error" && t.Call == nil && len(t.Tools) == 0 && (why == "" || t.Past):
		return t.Error, false
	case why != "":
		return why, true
	case t.Stop == "":
		return "the turn ended without an answer", false
	}
	return "", false
}

// conclude adds to a turn's run what is known once it is over.
func (h *hearing) conclude(t *turn, run *runtypes.Run) {
	var list []runtypes.Message
	for _, x := range t.Extra {
		list = h.answer(list, x.Answer)
		if m, ok := h.r.fetch(h.src, x.User); ok {
			list = append(list, m.render())
		}
	}
	if t.Partial != "" {
		list = append(list, runtypes.Message{Role: "assistant", Content: t.Partial})
	} else {
		list = h.answer(list, t.Answer)
	}
	if len(list) > 0 {
		run.Outputs = runtypes.Messages(list...)
	}
	if t.Link != nil {
		return
	}
	if t.Context > 0 {
		run.Metadata[agentkit.MetaContextTokens] = t.Context
	}
	if len(t.Files) > 0 {
		run.Metadata[agentkit.MetaFilesChanged] = len(t.Files)
	}
	if t.Commits && len(t.Heads) > 0 {
		run.Metadata[agentkit.MetaCommitsMade] = t.Heads
	}
}

// answer adds the text of a reply, if there is one.
func (h *hearing) answer(list []runtypes.Message, from ref) []runtypes.Message {
	if from == "" {
		return list
	}
	m, ok := h.r.fetch(h.src, from)
	if !ok {
		return list
	}
	if text := textOf(m.Content); text != "" {
		list = append(list, runtypes.Message{Role: "assistant", Content: text})
	}
	return list
}
