package cursor

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// result is what a tool gave back, as far as it tells of failure.
type result struct {
	Output   *string         `json:"output"`
	ExitCode *int            `json:"exitCode"`
	IsError  bool            `json:"isError"`
	Content  json.RawMessage `json:"content"`
}

// endTool builds the run of a call that is over. over says how its agent ended, where
// no event tells how the call did.
func (r *reducer) endTool(src integrations.Source, f *family, c *call, over *ending) runtypes.Op {
	run := runtypes.Tool(f.parent, f.id("tool", c.key), c.start, c.name)
	run.Metadata = map[string]any{agentkit.MetaCallID: c.id}
	d := c.recall(src)
	run.Inputs = d.Input
	switch {
	case c.ended:
		d.judge(run, c)
	case over != nil && over.interrupted():
		runtypes.Interrupt(run, over.At, over.reason())
	case over != nil:
		run.Error = "no result"
		if over.reason() != "" {
			run.Error = over.reason()
		}
		runtypes.Finish(run, over.At)
	}
	return runtypes.Op{Verb: runtypes.Post, Run: run}
}

// callData is what the events of a call hold.
type callData struct {
	data
	failed bool
}

func (c *call) recall(src integrations.Source) *callData {
	d := &callData{}
	if e, post, err := recall(src, c.post); c.post != "" && err == nil {
		d.data, d.failed = *post, e.Kind == "postToolUseFailure"
	}
	if len(d.Input) == 0 && c.pre != "" {
		if _, pre, err := recall(src, c.pre); err == nil {
			d.Input = pre.Input
		}
	}
	return d
}

// judge says of a run how its call ended.
func (d *callData) judge(run *runtypes.Run, c *call) {
	if d.DurationMS != nil {
		run.Metadata[agentkit.MetaDuration] = *d.DurationMS
	}
	if d.failed && d.Interrupt {
		runtypes.Interrupt(run, c.end, "Interrupted by user")
		return
	}
	err, class := d.complaint()
	run.Error = err
	if err != "" {
		run.Metadata[agentkit.MetaErrorClass] = class
	}
	if class == "denied" {
		run.Metadata[agentkit.MetaDecision] = "reject"
	}
	if res := d.result(); res.ExitCode != nil {
		run.Metadata[agentkit.MetaExitCode] = *res.ExitCode
	}
	run.Outputs = output(d.Output)
	runtypes.Finish(run, c.end)
}

func (d *callData) result() result {
	var res result
	_ = json.Unmarshal(d.Output, &res) // of another shape: it says nothing of failure
	return res
}

// complaint is why a call failed. A shell's exit code and a server's error arrive as
// success.
func (d *callData) complaint() (err, class string) {
	res := d.result()
	switch {
	case d.failed:
		err, class = d.Error, "failed"
		switch d.FailureType {
		case "timeout":
			class = "timeout"
		case "permission_denied":
			class = "denied"
		}
		if err == "" {
			err = "tool failed"
		}
	case res.ExitCode != nil && *res.ExitCode != 0:
		return fmt.Sprintf("exit code %d", *res.ExitCode), "exit_code"
	case res.IsError:
		if err, _ = content(res.Content); err == "" {
			err = "tool failed"
		}
		return err, "failed"
	}
	return err, class
}

// message is what the model was told of a call.
func (d *callData) message(c *call) runtypes.Message {
	m := runtypes.Message{Role: "tool", ToolCallID: c.key}
	res := d.result()
	switch {
	case c.agent != "":
		m.Content = agentkit.Clip(d.Text)
	case d.failed:
		m.Content = agentkit.Clip(d.Error)
	case res.Output != nil:
		m.Content = agentkit.Clip(*res.Output)
	default:
		m.Content = agentkit.Clip(strings.Trim(string(d.Output), `"`))
	}
	if err, _ := d.complaint(); err != "" {
		m.Status = "error"
	}
	return m
}

// args is a call's input as messages repeat it; its own run has all of it.
func (d *callData) args() json.RawMessage {
	if len(d.Input) <= agentkit.MaxCarried {
		return d.Input
	}
	return text(agentkit.Clip(string(d.Input)))
}

// output wraps what a tool gave back.
func output(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	wrapped, err := runtypes.Marshal(map[string]json.RawMessage{"output": raw})
	if err != nil {
		return nil
	}
	return wrapped
}

func text(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return raw
}
