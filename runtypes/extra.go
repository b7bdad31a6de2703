package runtypes

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// members are those of a JSON object, on their way to be written sorted by key. A
// run has some thirty, most of them texts: writing them by hand takes a tenth of
// what a map and encoding/json take.
type members []member

// member is a text, a count, JSON, or any other value.
type member struct {
	key   string
	kind  memberKind
	text  string
	n     int64
	other any
}

type memberKind uint8

const (
	textMember memberKind = iota
	countMember
	jsonMember // text is JSON
	otherMember
)

// set adds a text, unless it is empty.
func (m *members) set(key, text string) {
	if text != "" {
		*m = append(*m, member{key: key, text: text})
	}
}

// count adds a whole number.
func (m *members) count(key string, n int64) {
	*m = append(*m, member{key: key, kind: countMember, n: n})
}

// json adds what is encoded already.
func (m *members) json(key string, raw []byte) {
	*m = append(*m, member{key: key, kind: jsonMember, text: string(raw)})
}

// put adds any value.
func (m *members) put(key string, value any) {
	*m = append(*m, member{key: key, kind: otherMember, other: value})
}

// append writes the object. Of a key that was added twice the last value counts.
func (m members) append(dst []byte) (_ []byte, err error) {
	slices.SortStableFunc(m, func(a, b member) int { return strings.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for i := range m {
		each := &m[i]
		if i+1 < len(m) && m[i+1].key == each.key {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(AppendText(dst, each.key), ':')
		switch each.kind {
		case textMember:
			dst = AppendText(dst, each.text)
		case countMember:
			dst = strconv.AppendInt(dst, each.n, 10)
		case jsonMember:
			dst = append(dst, each.text...)
		default:
			if dst, err = appendValue(dst, each.other); err != nil {
				return dst, err
			}
		}
	}
	return append(dst, '}'), nil
}

func appendValue(dst []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case string:
		return AppendText(dst, v), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	}
	raw, err := Marshal(value)
	return append(dst, raw...), err
}

// extra is the run's extra object: its metadata, and what made it.
func (r *Run) extra() (json.RawMessage, error) {
	dst := make([]byte, 0, 1<<10)
	dst = append(dst, '{')
	if len(r.Model.InvocationParams) > 0 && r.Kind == KindLLM {
		raw, err := Marshal(r.Model.InvocationParams)
		if err != nil {
			return nil, err
		}
		dst = append(append(append(dst, `"invocation_params":`...), raw...), ',')
	}
	dst = append(dst, `"metadata":`...)
	var buf [48]member
	meta := members(buf[:0])
	if err := r.metadata(&meta); err != nil {
		return nil, err
	}
	dst, err := meta.append(dst)
	if err != nil {
		return nil, err
	}
	dst = append(dst, `,"runtime":{"library":"tracesmith","sdk":"tracesmith","sdk_version":`...)
	return append(AppendText(dst, Version()), `}}`...), nil
}

// metadata adds the run's extra.metadata: the user's own and run-specific keys,
// those of its kind, and the identity block. The last two have their keys to
// themselves, whether they hold a value or not.
func (r *Run) metadata(m *members) error {
	for key, value := range r.Metadata {
		if present(value) && !reserved(key) {
			m.put(key, value)
		}
	}
	switch r.Kind {
	case KindLLM:
		if len(r.Model.InvocationParams) > 0 {
			raw, err := Marshal(r.Model.InvocationParams)
			if err != nil {
				return err
			}
			m.json("ls_invocation_params", raw)
		}
		m.set("ls_model_name", r.Model.Name)
		m.set("ls_model_type", "chat")
		m.set("ls_provider", r.Model.Provider)
		if r.Usage != nil {
			raw, err := r.Usage.append(make([]byte, 0, 256))
			if err != nil {
				return err
			}
			m.json("usage_metadata", raw)
		}
	case KindTool:
		m.set("ls_skill_name", r.Tool.Skill)
		m.set("ls_tool_name", r.Tool.Name)
	case KindSubagent:
		m.set("ls_subagent_id", r.Subagent.ID)
		m.set("ls_subagent_type", r.Subagent.Type)
	}
	if r.Interrupted && r.Error != "" {
		m.put("ls_is_error_interrupt", true)
	}
	r.Identity.stamp(m, r.Kind, r.AgentType)
	return nil
}

// reserved keys are only ever set from a run's own fields, so that metadata
// handed in can neither put them on the wrong kind nor stand for an identity.
func reserved(key string) bool {
	switch key {
	case "ls_model_name", "ls_provider", "ls_model_type", "ls_invocation_params", "usage_metadata",
		"ls_tool_name", "ls_skill_name", "ls_subagent_id", "ls_subagent_type", "ls_is_error_interrupt":
		return true
	case "ls_agent_type", "ls_agent_purpose", "ls_integration", "ls_integration_version",
		"ls_agent_runtime", "ls_agent_version", "ls_agent_runtime_version", "ls_trace_schema_version",
		"thread_id", "turn_id", "turn_number", "git_branch", "git_commit_sha", "git_repo_url",
		"repository_url", "repository_provider", "repository_name", "working_directory", "cwd",
		"sandbox_type", "user_id", "ls_attribution_identifier", "ls_tracing_mode", "capture_level", "approval_policy":
		return true
	}
	return false
}
