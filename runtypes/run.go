package runtypes

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Run is one node that LangSmith stores: a turn, a model call, a tool call or a
// nested agent. The builders fill ids, times and dotted order so that they agree,
// which LangSmith demands of every request.
type Run struct {
	ID, TraceID, ParentID uuid.UUID // ParentID is uuid.Nil on a root
	Remote                uuid.UUID // the run of another program that Join attached the turn to; uuid.Nil: none
	DottedOrder           string
	Name                  string
	Kind                  Kind
	AgentType             AgentType       // zero: AgentRoot
	Start, End            time.Time       // zero End: still running
	Inputs, Outputs       json.RawMessage `json:",omitempty"` // none is not null once a run was stored
	Error                 string
	Interrupted           bool // Error says why the run was stopped, not why it failed
	Usage                 *Usage
	Model                 Model // llm runs
	Tool                  ToolInfo
	Subagent              SubagentInfo
	Identity              Identity
	Metadata              map[string]any // the user's own and run-specific keys; the identity wins over them
	Tags                  []string
	Events                []RunEvent
	Attachments           []Attachment
	Project               string // overrides the client's project
}

// Model is what an llm run says of its model.
type Model struct {
	Name             string         // ls_model_name: claude-opus-4-5
	Provider         string         // ls_provider: anthropic
	InvocationParams map[string]any // ls_invocation_params, allow-listed by the caller
}

// ToolInfo is what a tool run says of its tool.
type ToolInfo struct {
	Name  string // ls_tool_name: the tool's native name
	Skill string // ls_skill_name: the skill a Skill tool invoked
}

// SubagentInfo is what a subagent run says of its agent.
type SubagentInfo struct {
	ID   string // ls_subagent_id
	Type string // ls_subagent_type: researcher
}

// RunEvent is a moment within a run, such as the first token (new_token) or a
// retried attempt.
type RunEvent struct {
	Name string         `json:"name"`
	Time time.Time      `json:"time"`
	Data map[string]any `json:"-"`
}

// Verb says what an Op does to a run.
type Verb string

// A run is created by one Post and amended by at most one Patch: LangSmith
// refuses a second one.
const (
	Post  Verb = "post"
	Patch Verb = "patch"
)

// Op is one write of a run.
type Op struct {
	Verb Verb
	Run  *Run
}

// Sink takes the ops of a turn, in order, and keeps the *Run it is given: the
// caller no longer touches it. Submit does not block. One with a method Project() string
// says where it sends runs that name no project: [Inject] tells the programs that join.
type Sink interface {
	Submit(Op) error
}

// Pending reports whether the run has not ended.
func (r *Run) Pending() bool { return r.End.IsZero() }

// present reports whether a metadata value says anything: null and the empty
// string are left out, as the contract wants an unknown value to be absent.
func present(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case json.RawMessage:
		s := string(v)
		return s != "" && s != "null" && s != `""`
	default:
		return true
	}
}
