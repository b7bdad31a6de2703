package pi

import (
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// compacting is a summary under way: of a conversation, or of a branch that is left.
type compacting struct {
	At      time.Time `json:"at"`
	Model   model     `json:"model,omitzero"`
	Branch  string    `json:"branch,omitempty"`
	SHA     string    `json:"sha,omitempty"`
	Trigger string    `json:"trigger,omitempty"` // manual, auto; empty: of a branch
}

// made is the time of the entry.
func (c *compaction) made() time.Time {
	at, err := time.Parse(time.RFC3339Nano, c.Timestamp)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// compacts takes the beginning of a compaction.
func (h *hearing) compacts() {
	h.branches()
	h.a.Compact.Trigger = "auto"
	if h.d.Event.Reason == "manual" {
		h.a.Compact.Trigger = "manual"
	}
}

// branches takes the beginning of a move to another branch, of which a summary may come.
func (h *hearing) branches() {
	h.a.Compact = &compacting{At: h.at, Model: h.a.Model, Branch: h.e.Head.Branch, SHA: h.e.Head.SHA}
}

// compacted takes a compaction: in the middle of a turn, or a root of its own.
func (h *hearing) compacted() {
	if c := h.d.Event.Compaction; c != nil {
		trigger := "auto"
		if h.d.Event.Reason == "manual" || h.d.Event.Reason == "" && !h.inTurn() {
			trigger = "manual"
		}
		h.summed(c, "Context Compaction ("+trigger+")", trigger, ending{})
		if t := h.a.Turn; t != nil && t.Begun && h.e.Ref != "" {
			t.Said, t.Since = []string{h.e.Ref}, 0
		}
	}
	h.a.Compact = nil
}

// compactFailed takes a compaction that came to nothing.
func (h *hearing) compactFailed() {
	e := h.d.Event
	why := agentkit.Clip(e.Error)
	switch {
	case e.Aborted:
		why = "Interrupted by user"
	case why == "":
		why = "the compaction failed"
	}
	h.uncompacted(why, e.Aborted)
}

// uncompacted tells of a compaction that gave no summary.
func (h *hearing) uncompacted(why string, interrupted bool) {
	if u := h.a.Compact; u != nil && u.Trigger != "" {
		c := &compaction{ID: "failed:" + u.At.Format(time.RFC3339Nano), Timestamp: h.at.Format(time.RFC3339Nano)}
		h.summed(c, "Context Compaction ("+u.Trigger+")", u.Trigger, ending{why, interrupted})
	}
	h.a.Compact = nil
}

// branched takes the summary of a branch that the user left.
func (h *hearing) branched() {
	if c := h.d.Event.Summary; c != nil && c.Summary != "" {
		h.summed(c, "Branch Summary", "branch", ending{})
	}
	h.a.Compact = nil
}

func (h *hearing) inTurn() bool { return h.a.Turn != nil && h.a.Turn.Begun }

// ending is how a summary ended that was not written.
type ending struct {
	why         string
	interrupted bool
}

// summed tells of a summary that a model wrote. Its calls are not announced; their usage
// is, all together.
func (h *hearing) summed(c *compaction, name, trigger string, how ending) {
	at := c.made()
	if at.IsZero() {
		at = h.at
	}
	start, by := at, h.a.Model
	if u := h.a.Compact; u != nil && u.At.Before(at) {
		start, by = u.At, u.Model
	}
	native := c.ID
	if native == "" {
		native = at.Format(time.RFC3339Nano)
	}
	if h.inTurn() && !h.a.Turn.tell("compaction", native) {
		return
	}
	run, llm := h.chain(native, start, at, name)
	run.Metadata = map[string]any{agentkit.MetaTrigger: trigger}
	if c.TokensBefore > 0 {
		run.Metadata[agentkit.MetaContextTokens] = c.TokensBefore
	}
	if c.Summary != "" {
		run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: c.Summary})
	}
	if how.interrupted {
		runtypes.Interrupt(run, at, how.why)
	} else {
		run.Error = how.why
		runtypes.Finish(run, at)
	}
	h.post(run)
	if h.inTurn() {
		h.a.Turn.ran(at)
	}
	used := c.Usage.tokens()
	if used == nil {
		return
	}
	call := runtypes.LLM(run, llm, start, runtypes.Model{Name: by.Name, Provider: by.Provider})
	call.Usage, call.Outputs = used, run.Outputs
	h.post(runtypes.Finish(call, at))
}

// chain builds the run of a summary, and makes the id of its model call.
func (h *hearing) chain(native string, start, at time.Time, name string) (run *runtypes.Run, llm [16]byte) {
	if h.inTurn() {
		t := h.a.Turn
		run := runtypes.Chain(h.r.top(h.a, t), t.id("compaction", native), start, name, runtypes.AgentCompaction)
		return run, t.id("llm", native)
	}
	repo := runtypes.Repo{Branch: h.e.Head.Branch, SHA: h.e.Head.SHA}
	if u := h.a.Compact; u != nil {
		repo = runtypes.Repo{Branch: u.Branch, SHA: u.SHA}
	}
	native = h.r.Roots.unique(native)
	who := runtypes.Identity{
		Integration: Name, Runtime: runtimeName, RuntimeVersion: h.a.Version,
		ThreadID: h.a.Session, TurnID: native,
		Repo: repo, WorkingDirectory: h.a.CWD,
	}
	root := runtypes.Root(idgen.Run(at, Name, who.ThreadID, native, "root", native), start, who)
	root.Name, root.Kind, root.AgentType = name, runtypes.KindChain, runtypes.AgentCompaction
	return root, idgen.Run(at, Name, who.ThreadID, native, "llm", native)
}
