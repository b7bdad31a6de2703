package opencode

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// tool builds the run of a tool's call, without an end if it has none.
func (r *reducer) tool(src integrations.Source, t *turn, parent *runtypes.Run, x *piece) (*runtypes.Run, error) {
	p, err := r.partOf(src, x)
	if err != nil {
		return nil, err
	}
	start := x.Begun
	if start == 0 {
		start = r.Last // it was never begun
	}
	run := runtypes.Tool(parent, r.id(r.root(t), "tool", x.ID), at(start), p.Tool)
	if len(p.State.Input) > 0 && string(p.State.Input) != "null" {
		run.Inputs = p.State.Input
	}
	run.Metadata = map[string]any{agentkit.MetaCallID: x.Call}
	if x.Wait > 0 {
		run.Metadata[agentkit.MetaWait] = x.Wait
	}
	if x.Answer != "" {
		run.Metadata[agentkit.MetaDecision] = decision(x.Answer)
	}
	if p.State.Metadata.Exit != nil {
		run.Metadata[agentkit.MetaExitCode] = *p.State.Metadata.Exit
	}
	if !x.Over {
		return run, nil
	}
	if p.State.Status == "completed" {
		run.Outputs = output(p.State.Output)
	}
	end := at(p.State.Time.End)
	if end.IsZero() {
		end = at(r.Last)
	}
	if x.Stopped {
		return runtypes.Interrupt(run, end, byUser), nil
	}
	run.Error = p.State.problem(p.Tool)
	return runtypes.Finish(run, end), nil
}

// problem is what went wrong in a call. OpenCode takes a command that failed or took too
// long, and a tool that there is not, for a success.
func (s *state) problem(tool string) string {
	switch {
	case s.Status == "error":
		return agentkit.Clip(s.Error)
	case tool == "invalid":
		return agentkit.Clip(s.Output)
	case s.Metadata.Exit != nil && *s.Metadata.Exit != 0:
		return "exit code " + strconv.Itoa(*s.Metadata.Exit)
	case s.Metadata.Exit == nil:
		return s.timeout()
	}
	return ""
}

// timeout is what the output of a command says that took too long: it has no exit code.
func (s *state) timeout() string {
	const note = "<shell_metadata>\n"
	at := strings.LastIndex(s.Output, note)
	if at < 0 || !strings.Contains(s.Output[at:], "exceeding timeout") {
		return ""
	}
	text, _, _ := strings.Cut(s.Output[at+len(note):], ". ")
	return agentkit.Clip(text)
}

func output(text string) json.RawMessage {
	raw, err := runtypes.Marshal(map[string]string{"output": text})
	if err != nil {
		return nil
	}
	return raw
}

// decision is what a person answered, in the words of other agents.
func decision(reply string) string {
	if reply == "reject" {
		return reply
	}
	return "accept"
}
