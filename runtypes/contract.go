package runtypes

// Tier says when a key must be there.
type Tier string

// The tiers of the contract.
const (
	TierAlways     Tier = "always"      // on every run of its kinds
	TierWhereKnown Tier = "where_known" // whenever the runtime can tell
	TierContextual Tier = "contextual"  // where it applies
)

// Key is one metadata key of the contract.
type Key struct {
	Name    string
	Tier    Tier
	Kinds   []Kind   // nil: every kind
	Allowed []string // nil: any non-empty value
	Number  bool     // a positive integer rather than a string
	Object  bool     // an object rather than a string
	Bool    bool     // true rather than a string
	Same    string   // a second spelling: the key it must equal where both are there
}

// Contract lists the keys of coding-agent-v1 with the second spellings that
// LangSmith's shipped plugins use.
// Source: LangSmith's published coding agent metadata contract.
func Contract() []Key {
	turn := []Kind{KindRoot, KindInterrupted}
	llm, tool, sub := []Kind{KindLLM}, []Kind{KindTool}, []Kind{KindSubagent}
	return []Key{
		{Name: "ls_agent_type", Tier: TierAlways, Allowed: []string{"root", "subagent", "middleware", "compaction"}},
		{Name: "ls_agent_purpose", Tier: TierAlways, Allowed: []string{"coding"}},
		{Name: "ls_integration", Tier: TierAlways},
		{Name: "ls_agent_runtime", Tier: TierAlways},
		{Name: "thread_id", Tier: TierAlways},
		{Name: "ls_trace_schema_version", Tier: TierAlways, Allowed: []string{SchemaVersion}},

		{Name: "ls_agent_version", Tier: TierWhereKnown},
		{Name: "git_branch", Tier: TierWhereKnown},
		{Name: "git_commit_sha", Tier: TierWhereKnown},
		{Name: "git_repo_url", Tier: TierWhereKnown},
		{Name: "working_directory", Tier: TierWhereKnown},
		{Name: "ls_model_name", Tier: TierWhereKnown, Kinds: llm},
		{Name: "ls_provider", Tier: TierWhereKnown, Kinds: llm},
		{Name: "ls_tool_name", Tier: TierAlways, Kinds: tool},
		{Name: "ls_subagent_id", Tier: TierAlways, Kinds: sub},
		{Name: "ls_subagent_type", Tier: TierAlways, Kinds: sub},

		{Name: "ls_agent_runtime_version", Tier: TierContextual, Same: "ls_agent_version"},
		{Name: "ls_integration_version", Tier: TierContextual},
		{Name: "repository_url", Tier: TierContextual},
		{Name: "repository_provider", Tier: TierContextual, Allowed: []string{"github", "gitlab", "bitbucket", "other"}},
		{Name: "repository_name", Tier: TierContextual},
		{Name: "cwd", Tier: TierContextual, Same: "working_directory"},
		{Name: "turn_id", Tier: TierContextual},
		{Name: "turn_number", Tier: TierContextual, Number: true},
		{Name: "sandbox_type", Tier: TierContextual},
		{Name: "user_id", Tier: TierContextual},
		{Name: "ls_attribution_identifier", Tier: TierContextual},
		{Name: "capture_level", Tier: TierContextual, Allowed: []string{"metadata", "no-tool-content", "full"}},
		{Name: "ls_tracing_mode", Tier: TierContextual, Allowed: []string{"metadata"}},
		{Name: "ls_skill_name", Tier: TierContextual, Kinds: tool},
		{Name: "approval_policy", Tier: TierContextual, Kinds: turn},
		{Name: "ls_model_type", Tier: TierContextual, Kinds: llm},
		{Name: "ls_invocation_params", Tier: TierContextual, Kinds: llm, Object: true},
		{Name: "usage_metadata", Tier: TierContextual, Kinds: llm, Object: true},
		{Name: "ls_is_error_interrupt", Tier: TierContextual, Bool: true},
	}
}

// applies reports whether the key may stand on a run of the given kind.
func (k Key) applies(kind Kind) bool {
	if k.Kinds == nil {
		return true
	}
	for _, each := range k.Kinds {
		if each == kind {
			return true
		}
	}
	return false
}
