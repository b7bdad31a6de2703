package openaicodex

import (
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// turn is one open turn of the root thread.
type turn struct {
	ID     string  `json:"id"`
	Number int     `json:"number,omitempty"`
	Line   int64   `json:"line"`            // offset of its first line, -1: not found
	Total  *tokens `json:"total,omitempty"` // the thread's total there

	Heard  bool      `json:"heard,omitempty"` // a hook named it
	At     time.Time `json:"at,omitzero"`     // the first hook that did
	CWD    string    `json:"cwd,omitempty"`
	Branch string    `json:"branch,omitempty"`
	SHA    string    `json:"sha,omitempty"`
	Mode   string    `json:"mode,omitempty"`
	Parent string    `json:"parent,omitempty"` // dotted order of the run the turn hangs under
	Heads  []string  `json:"heads,omitempty"`  // commits that HEAD moved to since

	Text       string    `json:"text,omitempty"` // the prompt, where no rollout has it
	StopText   string    `json:"stop_text,omitempty"`
	Stops      int       `json:"stops,omitempty"`
	Aborted    bool      `json:"aborted,omitempty"` // the Interrupt hook ran
	Active     time.Time `json:"active,omitzero"`   // the last hook that named it
	Superseded bool      `json:"superseded,omitempty"`
	Ended      bool      `json:"ended,omitempty"` // the session ended over it
	Idle       bool      `json:"idle,omitempty"`
	Dead       bool      `json:"dead,omitempty"`

	Posted   bool  `json:"posted,omitempty"`
	Calls    int   `json:"calls,omitempty"`    // model calls emitted, in order
	Tools    marks `json:"tools,omitzero"`     // tool calls emitted
	Merges   int   `json:"merges,omitempty"`   // compactions emitted
	Links    int   `json:"links,omitempty"`    // subagents noted
	Repeated int64 `json:"repeated,omitempty"` // bytes of conversation emitted as inputs

	// A Stop hook of somebody else's may let a turn go on that is closed already:
	// what follows is a root of its own.
	Part      int       `json:"part,omitempty"`
	PartStart time.Time `json:"part_start,omitzero"`
	Continues string    `json:"continues,omitempty"`
}

// marks are the numbers of things that were emitted: all below Below, and More.
type marks struct {
	Below int   `json:"below,omitempty"`
	More  []int `json:"more,omitempty"`
}

func (m *marks) has(i int) bool { return i < m.Below || slices.Contains(m.More, i) }

func (m *marks) set(i int) {
	m.More = append(m.More, i)
	for {
		at := slices.Index(m.More, m.Below)
		if at < 0 {
			return
		}
		m.More = slices.Delete(m.More, at, at+1)
		m.Below++
	}
}

func (t *turn) located() bool { return t.Line >= 0 }

// hear takes what a hook says of the turn.
func (t *turn) hear(e integrations.Event, d *data) {
	if !t.Heard {
		t.Heard, t.At, t.CWD, t.Mode = true, e.At, e.CWD, d.Mode
		t.Branch, t.SHA = e.Head.Branch, e.Head.SHA
		if !t.Posted { // a run stays where it was posted
			t.Parent = d.Parent
		}
	}
	if e.Kind != notified { // it comes after the end
		t.Active = e.At
	}
	if sha := e.Head.SHA; sha != "" && t.SHA != "" && sha != t.SHA && !slices.Contains(t.Heads, sha) && len(t.Heads) < 32 {
		t.Heads = append(t.Heads, sha)
	}
	switch e.Kind {
	case "UserPromptSubmit":
		if t.Text == "" {
			t.Text = d.Text
		}
	case "Stop":
		t.Stops++
		if d.Text != "" {
			t.StopText = d.Text
		}
	case notified:
		t.Stops++
	case "Interrupt":
		t.Aborted = true
	}
}

// waits reports whether the turn's end is known but not yet what Codex writes last.
// While a Stop hook runs it writes nothing, and the turn may go on.
func (t *turn) waits() bool {
	return t.Stops > 0 || t.Aborted || t.Ended || t.Superseded
}

// over reports whether there is evidence that the turn has ended, and that all hooks
// which concern it have been heard. The rollout may be ahead of the hooks until the
// session's own end, a later turn's hook or a look between the hooks (hard).
func (t *turn) over(s *stretch, hard, followed bool) bool {
	switch {
	case t.Dead, t.Idle:
		return true
	case !s.over():
		return false
	case t.Stops > 0 && s.end != nil, t.Aborted:
		return true
	}
	return hard || followed || t.Ended || t.Superseded
}

// outcome says how a turn or a subagent ended.
type outcome struct {
	at          time.Time
	err, class  string
	interrupted bool
}

// outcome reads the end of a turn that is over. The rollout's own words count more
// than which event closed it.
func (t *turn) outcome(s *stretch) outcome {
	if o, ended := s.outcome(); ended {
		return o
	}
	o := outcome{at: s.last}
	if o.at.IsZero() || !t.located() {
		o.at = t.Active
	}
	switch {
	case t.Aborted:
		o.interrupted, o.err = true, "Interrupted by user"
	case t.Stops > 0 && !s.cut:
	case t.Ended:
		o.interrupted, o.err = true, "Interrupted: the session ended"
	case t.Dead:
		o.interrupted, o.err = true, "Interrupted: the process ended"
	default:
		o.interrupted, o.err = true, "Interrupted"
	}
	return o
}

// outcome reads how a turn ended off its lines; false if they do not say. A turn that
// completed ends with its last work: the end is written after every Stop hook.
func (s *stretch) outcome() (outcome, bool) {
	e := s.end
	if e == nil {
		return outcome{}, false
	}
	o := outcome{at: s.last}
	if o.at.IsZero() {
		o.at = e.at
	}
	switch {
	case e.aborted:
		o.at, o.interrupted, o.err = e.at, true, "Interrupted by user"
		if e.reason != "" && e.reason != "interrupted" {
			o.err = "Interrupted: " + e.reason
		}
	case e.err != "":
		o.at, o.err, o.class = e.at, e.err, e.class
	case e.mute && !e.said && s.prompt != nil && !s.review:
		o.at, o.err = e.at, "the turn ended without an answer" // older versions do not say why
	}
	return o, true
}

// finish completes the root of a turn that is over.
func (t *turn) finish(root *runtypes.Run, s *stretch, end outcome) *runtypes.Run {
	text := s.answer()
	if text == "" && !end.interrupted && end.err == "" {
		text = t.StopText
	}
	if text != "" {
		root.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: text})
	}
	if end.class != "" {
		root.Metadata[agentkit.MetaFailure] = end.class
	}
	if end.interrupted {
		return runtypes.Interrupt(root, end.at, end.err)
	}
	root.Error = end.err
	return runtypes.Finish(root, end.at)
}

// conclude adds to a root what is known of its turn once it is over.
func (t *turn) conclude(root *runtypes.Run, s *stretch) {
	files, commits := 0, false
	for _, tool := range s.tools {
		if err, _, _ := tool.outcome(); err != "" || tool.facts == nil {
			continue
		}
		files += tool.facts.files
		commits = commits || agentkit.MayCommit(tool.facts.command)
	}
	if files > 0 {
		root.Metadata[agentkit.MetaFilesChanged] = files
	}
	if commits && len(t.Heads) > 0 {
		root.Metadata[agentkit.MetaCommitsMade] = t.Heads
	}
	for i := len(s.calls) - 1; i >= 0; i-- {
		if u := s.calls[i].usage; u != nil && s.calls[i].compaction == nil {
			root.Metadata[agentkit.MetaContextTokens] = u.Input + u.Output
			return
		}
	}
}
