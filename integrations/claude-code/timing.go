package claudecode

import (
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// timing is what hooks told of one tool call.
type timing struct {
	Prompt    string    `json:"prompt,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	Name      string    `json:"name,omitempty"`
	InputHash string    `json:"input_hash,omitempty"`
	Pre       time.Time `json:"pre,omitzero"`
	Asked     time.Time `json:"asked,omitzero"` // PermissionRequest
	Post      time.Time `json:"post,omitzero"`
	Failed    bool      `json:"failed,omitempty"`
	Ran       *float64  `json:"ran,omitempty"` // milliseconds, without waiting for a person
	MCP       string    `json:"mcp,omitempty"`
	Ref       string    `json:"ref,omitempty"` // the event that holds its content, where no transcript does
}

// times are a call's start and end as hooks know them, else as given: the transcript
// would count waiting for a person and for hooks as work.
func (t *timing) times(start, end time.Time) (time.Time, time.Time) {
	if t == nil {
		return start, end
	}
	if !t.Pre.IsZero() {
		start = t.Pre
	}
	if !t.Post.IsZero() {
		end = t.Post
		if t.Ran != nil {
			start = end.Add(-time.Duration(*t.Ran * float64(time.Millisecond)))
		}
	}
	return start, end
}

// heardTool keeps what hooks tell of a tool call's times.
func (r *reducer) heardTool(e integrations.Event, d *data) {
	if e.Kind == "PermissionRequest" {
		for _, id := range agentkit.SortedKeys(r.Tools) { // it has no tool_use id: the call is the one with its input
			if t := r.Tools[id]; t.Asked.IsZero() && t.Post.IsZero() && t.InputHash == d.InputHash && t.Agent == d.Agent {
				t.Asked = e.At
				return
			}
		}
		return
	}
	if d.ToolID == "" {
		return
	}
	t := r.Tools[d.ToolID]
	if t == nil {
		if len(r.Tools) >= maxTools || r.emitted(d.ToolID) {
			return
		}
		t = &timing{Prompt: d.Prompt, Agent: d.Agent}
		r.Tools[d.ToolID] = t
	}
	switch e.Kind {
	case "PreToolUse":
		t.Pre, t.InputHash = e.At, d.InputHash
	case "PostToolUse", "PostToolUseFailure":
		t.Post, t.Ran, t.Failed = e.At, d.DurationMS, e.Kind == "PostToolUseFailure"
		if len(d.Input) > 0 {
			t.Ref = e.Ref
		}
	}
	if d.MCP != "" {
		t.MCP = d.MCP
	}
	t.Name = d.Tool
}

// emitted reports whether a tool's run has gone out already.
func (r *reducer) emitted(id string) bool {
	for _, t := range r.Turns {
		if t.has(id) {
			return true
		}
	}
	return false
}
