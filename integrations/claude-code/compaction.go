package claudecode

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// compacted is a compaction as the transcript records it: a boundary and the
// summary that follows. The model call behind it is in no transcript.
type compacted struct {
	boundary, summary *line
}

// addSummary takes what stands in place of the conversation from here on.
func (t *thread) addSummary(l *line) {
	kept := len(t.entries)
	if n := len(t.compacts); n > 0 && t.compacts[n-1].summary == nil {
		t.compacts[n-1].summary = l
		kept = t.keptBy(t.compacts[n-1].boundary.Compact)
	}
	t.entries = append(t.entries, entry{uuid: l.UUID, user: l, kept: kept})
}

// keptBy is the first entry that a compaction leaves as it was.
func (t *thread) keptBy(d *compactDetails) int {
	if d != nil {
		for _, id := range d.Preserved.UUIDs {
			if i := slices.IndexFunc(t.entries, func(e entry) bool { return e.uuid == id }); i >= 0 {
				return i
			}
		}
	}
	return len(t.entries)
}

// compacted is the thread without what its last entry, if that is a compaction's
// summary, stands for.
func (t *thread) compacted() *thread {
	last := len(t.entries) - 1
	if last < 0 || !t.entries[last].sums() {
		return t
	}
	after := newThread(0)
	after.entries = slices.Clone(t.entries[t.entries[last].kept:])
	after.entries[len(after.entries)-1].kept = 0
	return after
}

// sums reports whether the entry is a compaction's summary.
func (e entry) sums() bool { return e.user != nil && e.user.IsCompactSummary }

// compaction is one that the user asked for, between turns: a root of its own. It
// has hooks of its own and neither prompt nor Stop.
type compaction struct {
	Prompt  string    `json:"prompt"`
	Pre     time.Time `json:"pre,omitzero"`
	Post    time.Time `json:"post,omitzero"`
	Text    string    `json:"text,omitempty"` // the summary, where no transcript holds it
	CWD     string    `json:"cwd,omitempty"`
	Branch  string    `json:"branch,omitempty"`
	SHA     string    `json:"sha,omitempty"`
	Release bool      `json:"release,omitempty"`
}

func (c *compaction) release() {
	if c != nil {
		c.Release = true
	}
}

// heardCompaction takes what hooks say of a compaction. An automatic one happens
// inside a turn, whose transcript tells of it.
func (r *reducer) heardCompaction(e integrations.Event, d *data) {
	if e.Kind != "PreCompact" && e.Kind != "PostCompact" || d.Trigger != "manual" {
		return
	}
	if r.Compacting == nil {
		r.Compacting = &compaction{Prompt: d.Prompt, CWD: e.CWD, Branch: e.Head.Branch, SHA: e.Head.SHA}
	}
	if e.Kind == "PreCompact" {
		r.Compacting.Pre = e.At
	} else {
		r.Compacting.Post, r.Compacting.Text = e.At, d.Text
	}
}

// compactions emits the automatic compactions of a turn, or a subagent, that are complete.
func (r *reducer) compactions(f *family, done *int) []runtypes.Op {
	var ops []runtypes.Op
	for ; *done < len(f.thread.compacts); *done++ {
		c := f.thread.compacts[*done]
		if c.summary == nil && !f.over && !f.thread.spokeAfter(c.boundary) {
			break
		}
		if c.boundary.Compact != nil && c.boundary.Compact.Trigger == "manual" {
			continue
		}
		start, end := c.times()
		run := runtypes.Chain(f.parent, r.id(f.start, f.prompt, "compaction", c.boundary.UUID), start, "", runtypes.AgentCompaction)
		c.describe(run, "auto")
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: runtypes.Finish(run, end)})
	}
	return ops
}

// spokeAfter reports whether the conversation went on after a line.
func (t *thread) spokeAfter(l *line) bool {
	last := t.lastReply()
	return last != nil && last.start.After(l.Timestamp)
}

// times are those of the boundary line, which is written at the end.
func (c compacted) times() (start, end time.Time) {
	end = c.boundary.Timestamp
	start = end
	if d := c.boundary.Compact; d != nil && d.DurationMs > 0 {
		start = end.Add(-time.Duration(d.DurationMs * float64(time.Millisecond)))
	}
	return start, end
}

// describe fills in what a compaction's run says.
func (c compacted) describe(run *runtypes.Run, trigger string) {
	run.Metadata = map[string]any{}
	if c.boundary != nil && c.boundary.Compact != nil {
		d := c.boundary.Compact
		if d.Trigger != "" {
			trigger = d.Trigger
		}
		if d.PreTokens > 0 {
			run.Metadata[agentkit.MetaContextTokens] = d.PreTokens
		}
		if d.PostTokens > 0 {
			run.Metadata[agentkit.MetaPostTokens] = d.PostTokens
		}
	}
	run.Metadata[agentkit.MetaTrigger] = trigger
	run.Name = "Context Compaction (" + trigger + ")"
	if c.summary != nil {
		run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: c.summary.userMessage().Content})
	}
}

// advanceCompaction emits a compaction the user asked for, once its boundary is on
// disk, or from its hooks alone when it never will be.
func (r *reducer) advanceCompaction(src integrations.Source) ([]runtypes.Op, error) {
	c := r.Compacting
	if c == nil || c.Post.IsZero() && !c.Release {
		return nil, nil
	}
	found, err := r.findBoundary(src, c)
	if err != nil {
		return nil, err
	}
	if found.boundary == nil && !c.Release {
		return nil, nil
	}
	r.Compacting = nil
	start, end := c.Pre, c.Post
	who := runtypes.Identity{
		Integration: Name, Runtime: "Claude Code", ThreadID: r.Session, TurnID: c.Prompt,
		Repo: runtypes.Repo{Branch: c.Branch, SHA: c.SHA}, WorkingDirectory: c.CWD,
	}
	native := start
	if b := found.boundary; b != nil {
		start, end = found.times()
		native = b.Timestamp
		who.RuntimeVersion = b.Version
		if who.Repo.Branch == "" && b.GitBranch != "HEAD" {
			who.Repo.Branch = b.GitBranch
		}
	}
	if start.IsZero() {
		start, native = end, end
	}
	run := runtypes.Root(r.id(native, c.Prompt, "compaction", c.Prompt), start, who)
	run.Kind, run.AgentType = runtypes.KindChain, runtypes.AgentCompaction
	found.describe(run, "manual")
	if len(run.Outputs) == 0 && c.Text != "" {
		run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: c.Text})
	}
	if c.Post.IsZero() && found.boundary == nil {
		runtypes.Interrupt(run, start, "Interrupted")
	} else {
		runtypes.Finish(run, end)
	}
	return []runtypes.Op{{Verb: runtypes.Post, Run: run}}, nil
}

// findBoundary looks for the boundary line that a compaction wrote.
func (r *reducer) findBoundary(src integrations.Source, c *compaction) (compacted, error) {
	var found compacted
	for raw, err := range src.Lines(r.Transcript, r.From) {
		if errors.Is(err, fs.ErrNotExist) {
			return found, nil
		}
		if err != nil {
			return found, fmt.Errorf("claudecode: transcript: %w", err)
		}
		l, ok := parseLine(raw.Data)
		switch {
		case !ok:
		case found.boundary == nil && l.Subtype == "compact_boundary" && !l.Timestamp.Before(c.Pre):
			found.boundary = &l
		case found.boundary != nil && l.IsCompactSummary:
			found.summary = &l
			return found, nil
		}
	}
	if found.summary == nil && !c.Release {
		found.boundary = nil // its summary is about to follow
	}
	return found, nil
}
