package agentkit

import (
	"regexp"
	"sync"
)

// Metadata beside the contract that a team asks for later. The names are the same
// for every agent; each stands on one kind of run only.
const (
	// Tool runs.
	MetaCallID       = "tool_call_id"
	MetaWait         = "permission_wait_ms"  // time a person took to answer
	MetaDecision     = "permission_decision" // accept, reject
	MetaErrorClass   = "tool_error_class"
	MetaExitCode     = "exit_code"
	MetaDuration     = "duration_ms" // by the agent's own clock, without waiting
	MetaMCPServer    = "mcp_server"
	MetaRetryOf      = "retry_of"        // tool_call_id of the failed call that this one repeats
	MetaIncomplete   = "content_missing" // only hooks knew of the call
	MetaBackgroundOf = "is_background"   // the call returned before its work was done

	// Model calls.
	MetaStopReason = "stop_reason"
	MetaProviderID = "model_provider" // the agent's own id of the provider, where it differs
	MetaResponseID = "response_id"

	// Subagents.
	MetaAgentName = "agent_name"

	// Compactions.
	MetaTrigger    = "compaction_trigger" // manual, auto
	MetaPostTokens = "context_tokens_after"

	// Compactions: before it. Roots: after the last model call.
	MetaContextTokens = "context_tokens"

	// Roots.
	MetaOrigin       = "turn_origin"
	MetaSurface      = "surface" // cli, ide, sdk, ci
	MetaPartial      = "partial" // something of the turn is known to be missing
	MetaFailure      = "error_class"
	MetaCommitsMade  = "commits_made"
	MetaFilesChanged = "files_changed"
	MetaContinues    = "continues_run_id" // the root that was closed before this part of its turn was known
)

// committing matches a shell command that may make commits. It is compiled when it
// is first needed: the package is linked into a hook.
var committing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bgit\b[^|;&]*\b(commit|merge|cherry-pick|revert|rebase|am|pull)\b`)
})

// MayCommit reports whether a shell command may make commits.
func MayCommit(command string) bool { return committing().MatchString(command) }
