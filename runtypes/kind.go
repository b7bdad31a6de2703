package runtypes

// Kind is the role of a run within the coding agent contract.
type Kind string

// The five kinds of the contract, and the plain chain that a compaction is.
const (
	KindRoot        Kind = "root"        // a whole turn
	KindLLM         Kind = "llm"         // a model call
	KindTool        Kind = "tool"        // a tool call
	KindSubagent    Kind = "subagent"    // a nested agent
	KindInterrupted Kind = "interrupted" // a turn that was stopped before it completed
	KindChain       Kind = "chain"       // any other run: a compaction
)

// RunType is the kind's run_type on the wire.
func (k Kind) RunType() string {
	switch k {
	case KindLLM, KindTool:
		return string(k)
	default:
		return "chain"
	}
}

// AgentType is the value of ls_agent_type: the role of the agent a run belongs
// to, not of the run itself. A tool that a subagent calls is of AgentSubagent.
type AgentType string

// The agent types the contract allows.
const (
	AgentRoot       AgentType = "root"
	AgentSubagent   AgentType = "subagent"
	AgentMiddleware AgentType = "middleware"
	AgentCompaction AgentType = "compaction"
)
