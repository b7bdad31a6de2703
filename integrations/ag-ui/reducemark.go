package agui

import (
	"encoding/json"

	"github.com/tracesmith/tracesmith/runtypes"
)

// VendorKey is the metadata key under which an agent that is traced tells the reader of
// its stream which runs it wrote.
const VendorKey = "langsmith"

// tracesItself reports whether RUN_STARTED says that its agent writes the run already.
func tracesItself(md Metadata) bool {
	raw, _ := md.Get(VendorKey)
	id := lookUp(raw, "trace_id")
	return kindOf(id) == stringKind && len(id) > 2
}

// Marks says what of a run's identity goes out on its stream, which a browser may read.
type Marks struct {
	Git  bool // branch, commit and remote
	Path bool // the working directory
}

// Mark returns the event with the runs that were written for it under VendorKey: on
// RUN_STARTED the trace and who wrote it, on TEXT_MESSAGE_END and TOOL_CALL_END the run of
// the message or call. The event must have been added before. Other events come back as
// they are; e itself is never changed.
func (r *Reducer) Mark(e *Event, show Marks) *Event {
	t := r.turn
	if t == nil || t.foreign {
		return e
	}
	mark := map[string]any{}
	switch e.Type {
	case RunStarted:
		t.markRun(mark, show)
	case TextMessageEnd:
		if c := t.calls[Text(e.MessageID)]; c != nil {
			run := t.told(c)
			mark["run_id"] = run.ID.String()
			setText(mark, "ls_model_name", run.Model.Name)
			setText(mark, "ls_provider", run.Model.Provider)
		}
	case ToolCallEnd:
		if c := t.tools[Text(e.ToolCallID)]; c != nil {
			mark["run_id"] = c.base.ID.String()
		}
	}
	if len(mark) == 0 {
		return e
	}
	raw, err := json.Marshal(mark)
	if err != nil { // texts only
		return e
	}
	marked := *e
	marked.Metadata = MergeMetadata(e.Metadata, Metadata{{Key: VendorKey, Value: raw}})
	return &marked
}

func (t *turn) markRun(mark map[string]any, show Marks) {
	who := t.root.Identity
	mark["run_id"], mark["trace_id"] = t.root.ID.String(), t.root.TraceID.String()
	mark["ls_trace_schema_version"], mark["ls_agent_type"] = runtypes.SchemaVersion, string(runtypes.AgentRoot)
	setText(mark, "ls_integration", who.Integration)
	setText(mark, "ls_agent_runtime", who.AgentRuntime())
	if show.Git {
		setText(mark, "git_branch", who.Repo.Branch)
		setText(mark, "git_commit_sha", who.Repo.SHA)
		setText(mark, "git_repo_url", who.Repo.URL)
	}
	if show.Path {
		setText(mark, "working_directory", who.WorkingDirectory)
	}
}

func setText(m map[string]any, key, value string) {
	if value != "" {
		m[key] = value
	}
}
