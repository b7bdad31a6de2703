package claudecode

import (
	"time"

	"github.com/tracesmith/tracesmith/integrations"
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
	Ran       *float64  `json:"ran,omitempty"` // milliseconds, without waiting for a person
	MCP       string    `json:"mcp,omitempty"`
}

// heardTool keeps what hooks tell of a tool call's times.
func (r *reducer) heardTool(e integrations.Event, d *data) {
	if e.Kind == "PermissionRequest" {
		for _, id := range sortedKeys(r.Tools) { // it has no tool_use id: the call is the one with its input
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
		t.Pre, t.InputHash, t.Name = e.At, d.InputHash, d.Tool
	case "PostToolUse", "PostToolUseFailure":
		t.Post, t.Ran = e.At, d.DurationMS
	}
	if d.MCP != "" {
		t.MCP = d.MCP
	}
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
