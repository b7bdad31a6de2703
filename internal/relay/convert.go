package relay

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// stampLen is the length of the time in a segment of a dotted order.
const stampLen = len("20060102T150405000000Z")

// convert makes a run of a native one: in its place below the turn's root, of a kind
// of the contract, with the turn's identity.
func (t *turn) convert(n *node, w *write) *runtypes.Run {
	id, _ := uuid.Parse(w.wire.ID) // checked when it was taken in
	run := &runtypes.Run{ID: id, Name: w.wire.Name, Identity: t.Who, Inputs: w.wire.Inputs}
	if run.Name == "" {
		run.Name = "run"
	}
	above := t.place(run, n, w)
	switch {
	case w.wire.RunType == "llm":
		run.Kind = runtypes.KindLLM
	case n.Tool:
		run.Kind = runtypes.KindTool
		run.Tool.Name = run.Name
	case above != nil && above.Tool && (text(w.meta, "ls_agent_type") == "subagent" || above.Agent != ""):
		run.Kind = runtypes.KindSubagent
		run.Subagent = subagent(above, w)
	default:
		run.Kind = runtypes.KindChain
	}
	if run.AgentType == "" {
		run.AgentType = role(text(w.meta, "ls_agent_type"))
	}
	n.Sub = run.Kind == runtypes.KindSubagent || above != nil && above.Sub
	if run.Kind == runtypes.KindSubagent || n.Sub && run.AgentType == runtypes.AgentRoot { // as its parent had been told
		run.AgentType = runtypes.AgentSubagent
	}
	t.amend(run, w)
	if run.Kind == runtypes.KindLLM {
		run.Inputs = withTools(run.Inputs, w.wire.Extra)
	}
	return run
}

// place puts a run below the nearest ancestor that is shown, and returns that one's
// node: nil is the root.
func (t *turn) place(run *runtypes.Run, n *node, w *write) (above *node) {
	segments := strings.Split(w.wire.DottedOrder, ".")
	own := segments[len(segments)-1]
	if t.Root == "" { // no root has come yet: it is known by its children
		t.Root = strings.ToLower(segments[0][stampLen:])
	}
	if t.Segment == "" {
		t.Segment = segments[0]
	}
	order, parent := t.Segment, t.Root
	for _, segment := range segments[1:max(1, len(segments)-1)] {
		id := strings.ToLower(segment[stampLen:])
		each := t.Nodes[id]
		switch {
		case each == nil || each.Root:
		case each.Hidden != "":
			if kind := middleware(each.Hidden); kind != "" {
				run.AgentType = kind
			}
		case each.Order != "":
			order, parent, above = each.Order, id, each
			run.AgentType = "" // of whatever is between here and the run
		}
	}
	if len(segments) == 1 {
		order, parent = "", "" // a root
	} else if last := order[strings.LastIndexByte(order, '.')+1:]; own[:stampLen] < last[:stampLen] {
		own = last[:stampLen] + own[stampLen:] // a child does not begin before its parent
	}
	run.TraceID, _ = uuid.Parse(t.Root)
	run.ParentID, _ = uuid.Parse(parent)
	run.DottedOrder = strings.TrimPrefix(order+"."+own, ".")
	if w.wire.RunType != "llm" {
		n.Order = run.DottedOrder
	}
	run.Start = startOf(own)
	return above
}

// startOf is the time of a segment, so that the two always agree.
func startOf(segment string) time.Time {
	at, err := time.Parse("20060102T150405.000000Z", segment[:15]+"."+segment[15:stampLen])
	if err != nil {
		return time.Time{} // checked when it was taken in
	}
	return at
}

// amend takes from a write what may change until the end.
func (t *turn) amend(run *runtypes.Run, w *write) {
	if _, end, err := w.wire.Times(); err == nil && !end.IsZero() {
		run.End = later(end, run.Start)
	}
	if len(w.wire.Outputs) > 0 {
		run.Outputs = w.wire.Outputs
	}
	if w.wire.SessionName != "" {
		run.Project = w.wire.SessionName
	}
	if tags := tags(w.wire.Tags); len(tags) > 0 {
		run.Tags = tags
	}
	if list := moments(w.wire.Events); len(list) > 0 {
		run.Events = list
	}
	run.Metadata = metadata(run.Metadata, w.meta)
	if run.Kind == runtypes.KindLLM {
		t.model(run, w)
		if usage := usageOf(w); usage != nil {
			run.Usage = usage
		}
	}
	fail(run, w.wire.Error)
}

// model says which model answered. A call that does not say so used, as far as
// anybody knows, that of the call before.
func (t *turn) model(run *runtypes.Run, w *write) {
	if name := text(w.meta, "ls_model_name"); name != "" {
		run.Model.Name, run.Model.Provider = name, text(w.meta, "ls_provider")
	}
	if params := parameters(w.wire.Extra); len(params) > 0 {
		run.Model.InvocationParams = params
	}
	if run.Model.Name == "" {
		run.Model.Name = t.Model.Name
	}
	if run.Model.Provider == "" && run.Model.Name == t.Model.Name {
		run.Model.Provider = t.Model.Provider
	}
	t.Model.Name, t.Model.Provider = run.Model.Name, run.Model.Provider
}

// role is the agent type that a native run names.
func role(native string) runtypes.AgentType {
	switch kind := runtypes.AgentType(native); kind {
	case runtypes.AgentSubagent, runtypes.AgentMiddleware, runtypes.AgentCompaction:
		return kind
	}
	return runtypes.AgentRoot
}

// middleware is the agent type of what runs in a piece of the graph that is left out;
// empty: the agent's own.
func middleware(name string) runtypes.AgentType {
	switch {
	case !strings.Contains(name, "Middleware"), wraps(name):
		return ""
	case strings.Contains(name, "Summarization"), strings.Contains(name, "Compact"):
		return runtypes.AgentCompaction
	}
	return runtypes.AgentMiddleware
}

// wraps reports whether a piece of the graph is around the agent's own model calls and
// tools. A middleware need not be named one.
func wraps(name string) bool {
	return strings.HasSuffix(name, "wrap_model_call") || strings.HasSuffix(name, "wrap_tool_call")
}

// subagent names an agent by the call that started it: the name that the graph gives
// it may be that of its parent.
func subagent(call *node, w *write) runtypes.SubagentInfo {
	info := runtypes.SubagentInfo{ID: call.Call, Type: call.Agent}
	if info.Type == "" {
		info.Type = text(w.meta, "lc_agent_name")
	}
	if info.Type == "" {
		info.Type = w.wire.Name
	}
	return info
}

// describe notes what a run's children need to know of it.
func (n *node) describe(w *write) {
	if w.wire.RunType == "tool" {
		n.Tool = true
		n.Call = callID(w)
		if w.wire.Name == "task" {
			n.Agent = agentAsked(w.wire.Inputs)
		}
		return
	}
	if w.wire.RunType != "llm" && machinery(w.wire) {
		n.Hidden = w.wire.Name
	}
}

// machinery reports whether a run is the graph's own work, which says nothing of the
// agent's that its children do not.
func machinery(w runtypes.Wire) bool {
	if slices.Contains(w.Tags, "langsmith:hidden") {
		return true
	}
	switch name := w.Name; name {
	case "__start__", "model", "model_request", "tools", "LangGraph:tools":
		return true
	default:
		return strings.HasPrefix(name, "Runnable") || strings.Contains(name, "Middleware.") || wraps(name) ||
			strings.HasPrefix(name, "ChannelWrite") || strings.HasPrefix(name, "Branch<")
	}
}

// callID is the id of a tool's call; the run's own where the call is not named.
func callID(w *write) string {
	var extra struct {
		ToolCallID string `json:"tool_call_id"`
	}
	if agentkit.Decode(w.wire.Extra, &extra) == nil && extra.ToolCallID != "" {
		return extra.ToolCallID
	}
	return w.wire.ID
}

// agentAsked is the type of subagent that the inputs of a task ask for.
func agentAsked(inputs json.RawMessage) string {
	var in struct {
		Type  string `json:"subagent_type"`
		Input any    `json:"input"`
	}
	if agentkit.Decode(inputs, &in) != nil {
		return ""
	}
	if in.Type != "" {
		return in.Type
	}
	switch input := in.Input.(type) {
	case map[string]any:
		return text(input, "subagent_type")
	case string: // as Python prints a dictionary, or as JSON
		_, rest, found := strings.Cut(input, "subagent_type")
		if !found {
			return ""
		}
		rest = strings.TrimLeft(rest, `'": `)
		if i := strings.IndexAny(rest, `'"`); i > 0 {
			return rest[:i]
		}
	}
	return ""
}
