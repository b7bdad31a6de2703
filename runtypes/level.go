package runtypes

import (
	"encoding/json"
	"slices"
	"strings"
)

// Level says how much of the user's work a run carries: capture_level.
type Level string

// The levels, from the least to all. There is none for nothing: such a run is not
// made.
const (
	LevelMetadata      Level = "metadata"        // names, times, usage, identity; nothing that was said
	LevelNoToolContent Level = "no-tool-content" // the conversation, without what tools were given and gave
	LevelFull          Level = "full"            // everything
)

// rank orders levels. What is not known counts as the least: it may be the word of a
// later version for something stricter.
func (l Level) rank() int {
	switch l {
	case LevelFull:
		return 2
	case LevelNoToolContent:
		return 1
	}
	return 0
}

// Least is the lower of two levels. The empty one says nothing.
func (l Level) Least(other Level) Level {
	switch {
	case l == "":
		return other
	case other == "" || l.rank() <= other.rank():
		return l
	}
	return other
}

// Limit lowers a run to a level, or to that of its identity if that is lower, and
// notes it there. The run's maps and slices are replaced, not changed: others may
// share them.
func Limit(r *Run, level Level) {
	level = level.Least(r.Identity.Level)
	switch level {
	case "", LevelFull:
	case LevelNoToolContent:
		stripTools(r)
	default:
		level = LevelMetadata
		*r = *outline(r)
	}
	r.Identity.Level = level
}

// StripContent leaves of a run what says that something happened, not what was
// said: see LevelMetadata.
func StripContent(r *Run) { Limit(r, LevelMetadata) }

// outline builds a run that has what may be known of r where its content may not:
// what is not named here is not in it.
func outline(r *Run) *Run {
	o := &Run{
		ID: r.ID, TraceID: r.TraceID, ParentID: r.ParentID, Remote: r.Remote, DottedOrder: r.DottedOrder,
		Name: label(r.Name, string(r.Kind)), Kind: r.Kind, AgentType: r.AgentType,
		Start: r.Start, End: r.End,
		Interrupted: r.Interrupted, Error: outlineError(r), Usage: r.Usage,
		Model: Model{
			Name: label(r.Model.Name, ""), Provider: label(r.Model.Provider, ""),
			InvocationParams: plainValues(r.Model.InvocationParams, plainParams()),
		},
		Tool:     ToolInfo{Name: label(r.Tool.Name, "tool"), Skill: label(r.Tool.Skill, "")},
		Subagent: SubagentInfo{ID: r.Subagent.ID, Type: label(r.Subagent.Type, "subagent")},
		Identity: r.Identity,
		Metadata: plainValues(r.Metadata, plainKeys()),
		Project:  r.Project,
	}
	if r.Kind != KindTool {
		o.Tool = ToolInfo{}
	}
	if r.Kind != KindSubagent {
		o.Subagent = SubagentInfo{}
	}
	for _, e := range r.Events {
		o.Events = append(o.Events, RunEvent{Name: label(e.Name, "event"), Time: e.Time})
	}
	return o
}

// outlineError says that a run failed or was stopped. Why may quote content.
func outlineError(r *Run) string {
	switch {
	case r.Error == "":
		return ""
	case !r.Interrupted:
		return "error"
	case slices.Contains([]string{"Interrupted by user", "Interrupted: the process ended", "Interrupted: the session ended"}, r.Error):
		return r.Error
	}
	return "Interrupted"
}

// plainKeys are the keys of metadata that the integrations write and that name no
// content: counts, classes and ids. Anything else in a run's metadata was given by
// somebody.
func plainKeys() []string {
	return []string{
		"compaction_trigger", "composer_mode", "context_tokens", "context_tokens_after", "continues_run_id",
		"duration_ms", "error_class", "exit_code", "files_changed", "imported", "is_background", "loop_count", "mcp_server",
		"model_provider", "partial", "permission_decision", "permission_wait_ms", "response_id", "response_model",
		"retries", "stop_reason", "subagent_unresolved", "surface", "tool_call_id", "tool_error_class",
		"turn_origin", "usage_scope",
	}
}

// plainParams are the parameters of a model call that are settings.
func plainParams() []string {
	return []string{
		"effort", "max_completion_tokens", "max_output_tokens", "max_tokens", "model", "reasoning_effort", "seed",
		"service_tier", "stream", "summary", "temperature", "thinking_level", "tool_choice", "top_k", "top_p",
	}
}

// plainValues are those of the keys whose value is a number, a truth or one word.
func plainValues(m map[string]any, keys []string) map[string]any {
	var plain map[string]any
	for _, key := range keys {
		switch v := m[key].(type) {
		case bool, int, int64, float64, json.Number:
		case string:
			if !oneWord(v) {
				continue
			}
		default:
			continue
		}
		if plain == nil {
			plain = map[string]any{}
		}
		plain[key] = m[key]
	}
	return plain
}

// maxLabel bounds a name, in bytes.
const maxLabel = 128

// label is a name, or what stands for it where it is too long for one or more than
// one line.
func label(name, otherwise string) string {
	if len(name) > maxLabel || name != printable(name) {
		return otherwise
	}
	return name
}

// oneWord reports whether a value looks like an id or a class, not like prose.
func oneWord(s string) bool {
	return s != "" && len(s) <= maxLabel && !strings.ContainsFunc(s, func(r rune) bool {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("._:-|", r):
			return false
		}
		return true
	})
}
