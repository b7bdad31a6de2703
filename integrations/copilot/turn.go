package copilot

import (
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// turn is the one that is on: a prompt and what follows from it, a part of that, or a
// compaction that the user asked for.
type turn struct {
	ID         string    `json:"id"` // the interaction
	Part       int       `json:"part"`
	Number     int       `json:"number,omitempty"`
	Line       int64     `json:"line"` // offset of its first line
	Begun      time.Time `json:"begun"`
	Time       time.Time `json:"time"` // the ids' time: of its first part
	Place      place     `json:"place,omitzero"`
	Origin     string    `json:"origin,omitempty"`
	Continues  string    `json:"continues,omitempty"` // the run of the part before
	Compaction bool      `json:"compaction,omitempty"`
	Ending     bool      `json:"ending,omitempty"`    // its end is known but for what is written last
	Tentative  bool      `json:"tentative,omitempty"` // the first hook may have come after its end

	Stamp  int64  `json:"stamp,omitempty"` // of its prompt's hook
	CWD    string `json:"cwd,omitempty"`   // by that hook, as are the next
	Branch string `json:"branch,omitempty"`
	SHA    string `json:"sha,omitempty"`
	Parent string `json:"parent,omitempty"`

	Posted   bool  `json:"posted,omitempty"`
	Calls    int   `json:"calls,omitempty"`    // model calls emitted, in order
	Tools    marks `json:"tools,omitzero"`     // tool calls emitted
	Merges   int   `json:"merges,omitempty"`   // compactions emitted
	Repeated int64 `json:"repeated,omitempty"` // bytes of conversation emitted as inputs
}

// closed is what is kept of the last turn, which may go on.
type closed struct {
	ID     string    `json:"id"`
	Part   int       `json:"part"`
	Number int       `json:"number,omitempty"`
	Time   time.Time `json:"time"`
	Run    string    `json:"run,omitempty"`
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

// heard is what a hook said of a prompt that is not in the log yet.
type heard struct {
	Stamp  int64  `json:"stamp"`
	CWD    string `json:"cwd,omitempty"`
	Branch string `json:"branch,omitempty"`
	SHA    string `json:"sha,omitempty"`
	Parent string `json:"parent,omitempty"`
	Text   string `json:"text,omitempty"` // where there is no log
}

// head is a commit that HEAD was seen at.
type head struct {
	Stamp int64  `json:"stamp"`
	SHA   string `json:"sha"`
}

// heardOf gives a turn what its prompt's hook said.
func (r *reducer) heardOf(t *turn) {
	i := slices.IndexFunc(r.Heard, func(h heard) bool { return h.Stamp == t.Stamp })
	if t.Stamp == 0 || i < 0 {
		return
	}
	h := r.Heard[i]
	t.CWD, t.Branch, t.SHA, t.Parent = h.CWD, h.Branch, h.SHA, h.Parent
	r.Heard = slices.Delete(r.Heard, 0, i+1)
}

// commits lists what HEAD moved to during the turn.
func (r *reducer) commits(t *turn) []string {
	var list []string
	for _, h := range r.Heads {
		if h.Stamp > t.Begun.UnixMilli() && h.SHA != t.SHA && t.SHA != "" && !slices.Contains(list, h.SHA) {
			list = append(list, h.SHA)
		}
	}
	return list
}

// conclude adds to a root what is known of its turn once it is over.
func (r *reducer) conclude(t *turn, root *runtypes.Run, s *stretch) {
	files, commits := map[string]bool{}, false
	for _, tool := range s.tools {
		if err, _ := tool.failure(); err != "" || !tool.done {
			continue
		}
		for _, edit := range tool.result.Edits {
			files[edit.Path] = true
		}
		commits = commits || agentkit.MayCommit(tool.command())
	}
	if len(files) > 0 {
		root.Metadata[agentkit.MetaFilesChanged] = len(files)
	}
	if list := r.commits(t); commits && len(list) > 0 {
		root.Metadata[agentkit.MetaCommitsMade] = list
	}
	for i := len(s.calls) - 1; i >= 0; i-- {
		if u := s.calls[i].tokens(); u != nil {
			root.Metadata[agentkit.MetaContextTokens] = u.Input + u.Output
			return
		}
	}
}

// finish completes the root of a turn that is over.
func finish(root *runtypes.Run, s *stretch, end outcome) *runtypes.Run {
	if text := s.answer(); text != "" {
		root.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: text})
	}
	return closeRun(root, end)
}

// closeRun ends a run the way that its stretch ended.
func closeRun(run *runtypes.Run, end outcome) *runtypes.Run {
	if end.interrupted {
		return runtypes.Interrupt(run, end.at, end.err)
	}
	run.Error = end.err
	return runtypes.Finish(run, end.at)
}
