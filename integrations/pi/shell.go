package pi

import (
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// shell is a command that the user typed. Pi tells that it begins; what came of it is in
// the session file, which may be written much later.
type shell struct {
	Ref    ref       `json:"ref"`
	At     time.Time `json:"at"`
	Number int       `json:"number"`
	Branch string    `json:"branch,omitempty"`
	SHA    string    `json:"sha,omitempty"`
}

// typed takes a command of the user's.
func (h *hearing) typed() {
	s := shell{Ref: h.e.Ref, At: h.at, Branch: h.e.Head.Branch, SHA: h.e.Head.SHA}
	if m := h.d.Event.Message; h.past && m != nil {
		if m.Timestamp <= 0 {
			m.Timestamp = h.at.UnixMilli()
		}
		s.Number = h.number(m.start(), true)
		h.tellShell(s, m, "Interrupted by user")
		return
	}
	if h.a.Parent != "" || len(h.a.Shell) >= maxShell {
		return
	}
	s.Number = h.number(h.at, false)
	h.a.Shell = append(h.a.Shell, s)
}

// shells tells of the commands whose results have been written, or of all if nothing
// more will be. What ran while the agent was busy may have ended, though that is written
// nowhere: Pi keeps it back until the agent is done.
func (h *hearing) shells(last, busy bool) {
	left := h.a.Shell[:0:0]
	for _, s := range h.a.Shell {
		d, err := h.r.recall(h.src, s.Ref)
		if err != nil {
			continue
		}
		m, filed := h.executed(d.Event.Command, s.At)
		switch {
		case m != nil:
			h.tellShell(s, m, "Interrupted by user")
		case last:
			m := &message{Command: d.Event.Command, Timestamp: s.At.UnixMilli(), Cancelled: filed && !busy}
			h.tellShell(s, m, "Interrupted: the process ended")
		default:
			left = append(left, s)
		}
	}
	h.a.Shell = left
}

// executed finds the record of a command in the session file; nil if there is none yet.
// It reports whether there is a file.
func (h *hearing) executed(command string, since time.Time) (found *message, filed bool) {
	if h.a.File == "" {
		return nil, false
	}
	for raw, err := range h.src.Lines(h.sessionFile(), 0) {
		if err != nil {
			return nil, false // as if it were not there: the event says that it ran
		}
		filed = true
		e := parseEntry(raw.Data)
		if e == nil || e.Message == nil || e.Message.Role != "bashExecution" || e.Message.Command != command {
			continue
		}
		if !e.Message.start().Before(since.Truncate(time.Millisecond)) {
			return e.Message, true
		}
	}
	return nil, filed
}

// tellShell tells of a command as a turn of its own. why is the reason if it was cut off.
func (h *hearing) tellShell(s shell, m *message, why string) {
	native := h.r.Roots.unique(m.native())
	made := m.start()
	who := runtypes.Identity{
		Integration: Name, Runtime: runtimeName, RuntimeVersion: h.a.Version,
		ThreadID: h.a.Session, TurnID: native, TurnNumber: s.Number,
		Repo: runtypes.Repo{Branch: s.Branch, SHA: s.SHA}, WorkingDirectory: h.a.CWD,
	}
	start, end := s.At, made
	if start.IsZero() || start.After(end) {
		start = end
	}
	if m.Role == "" && m.Cancelled {
		end = h.at
	}
	id := func(kind string) [16]byte { return idgen.Run(made, Name, who.ThreadID, native, kind, native) }
	root := runtypes.Root(id("root"), start, who)
	root.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: "!" + m.Command})
	root.Metadata = map[string]any{agentkit.MetaOrigin: "user_shell"}
	tool := runtypes.Tool(root, id("tool"), start, "bash")
	tool.Inputs = object("command", m.Command)
	tool.Metadata = map[string]any{agentkit.MetaCallID: native}
	switch {
	case m.Role == "":
		tool.Metadata[agentkit.MetaIncomplete] = true
	case m.Output != "":
		tool.Outputs = object("output", m.Output)
		root.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: m.Output})
	}
	if m.ExitCode != nil {
		tool.Metadata[agentkit.MetaExitCode] = *m.ExitCode
		if *m.ExitCode != 0 {
			tool.Error, tool.Metadata[agentkit.MetaErrorClass] = m.Output, "exit_code"
			if tool.Error == "" {
				tool.Error = "the command failed"
			}
		}
	}
	for _, run := range []*runtypes.Run{root, tool} {
		if m.Cancelled {
			runtypes.Interrupt(run, end, why)
		} else {
			runtypes.Finish(run, end)
		}
		h.post(run)
	}
}
