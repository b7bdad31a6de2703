package claudecode

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// anchor remembers a tool call that may have started a subagent.
func (r *reducer) anchor(toolID string, run *runtypes.Run, f *family) {
	switch run.Tool.Name {
	case "Agent", "Task", "Workflow", "SendMessage", "Skill":
	default:
		return
	}
	r.setAnchor(toolID, run, f)
	res := f.thread.results[toolID]
	if res == nil {
		return
	}
	if res.launched.Run != "" {
		r.setAnchor(runAnchor(res.launched.Run), run, f)
	}
	if run.Tool.Name == "Skill" && res.launched.Agent != "" {
		r.setAnchor(agentAnchor(res.launched.Agent), run, f)
	}
	if id := res.resumed(); run.Tool.Name == "SendMessage" && id != "" {
		r.Messages = append(r.Messages, sent{Agent: id, Tool: toolID, Answered: res.at})
		if len(r.Messages) > maxAnchors {
			r.Messages = r.Messages[1:]
		}
	}
}

// rootAnchor, runAnchor and agentAnchor name what a subagent hangs under when its own
// files do not name its call: its turn's root, the call that started its workflow, or
// that of the skill it runs.
func rootAnchor(prompt string) string { return "root " + prompt }
func runAnchor(run string) string     { return "run " + run }
func agentAnchor(id string) string    { return "agent " + id }

// above finds the run that a subagent hangs under; nil if it has not been emitted.
func (r *reducer) above(a *agent) *agentkit.Anchor {
	run := a.workflow()
	if !a.Messaged.IsZero() {
		up := r.messenger(a)
		if up != nil || !a.Forced {
			return up
		}
	}
	switch {
	case a.Tool != "" && r.Anchors[a.Tool] != nil:
		return r.Anchors[a.Tool]
	case r.Anchors[agentAnchor(a.ID)] != nil:
		return r.Anchors[agentAnchor(a.ID)]
	case run != "" && r.Anchors[runAnchor(run)] != nil:
		return r.Anchors[runAnchor(run)]
	case a.Forced || a.Tool == "" && run == "":
		return r.Anchors[rootAnchor(a.Prompt)]
	}
	return nil
}

// launched is what a call's result names: the run of a Workflow call, whose stages'
// files lie in a folder of that name, or a subagent.
type launched struct {
	Run   string `json:"runId"`
	Agent string `json:"agentId"`
}

func launchedBy(result json.RawMessage) launched {
	var l launched
	if len(result) > 0 && result[0] == '{' {
		_ = json.Unmarshal(result, &l) // a result of another shape names none
	}
	return l
}

// workflow is the run id in the path of a workflow's stage; "" of any other.
func (a *agent) workflow() string {
	dir := path.Dir(a.Path)
	if path.Base(path.Dir(dir)) != "workflows" {
		return ""
	}
	return path.Base(dir)
}

func (r *reducer) setAnchor(key string, run *runtypes.Run, f *family) {
	r.Anchors[key] = agentkit.NewAnchor(run, f.start, f.prompt)
	r.AnchorAge = append(r.AnchorAge, key)
	if len(r.AnchorAge) > maxAnchors {
		delete(r.Anchors, r.AnchorAge[0])
		r.AnchorAge = r.AnchorAge[1:]
	}
}

// adopter is the turn that a subagent hangs under which outlived a /clear: it goes on in
// the session that this began, with a prompt id that may be no turn's. It is the last
// turn that began before it was heard of, or else the first.
func (r *reducer) adopter(a *agent) *agentkit.Anchor {
	if !r.Cleared {
		return nil
	}
	var up *agentkit.Anchor
	for _, key := range r.AnchorAge {
		root := r.Anchors[key]
		if root != nil && strings.HasPrefix(key, rootAnchor("")) && (up == nil || !root.Turn.After(a.Begun)) {
			up = root
		}
	}
	return up
}
