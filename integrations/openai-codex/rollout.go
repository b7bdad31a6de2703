package openaicodex

import (
	"bytes"
	"encoding/json"
	"time"
)

// record is one line of a rollout, as far as it is read. Exactly one of the pointers
// is set.
type record struct {
	at      time.Time
	ordinal int64 // -1: this version numbers no lines
	offset  int64
	heard   int64 // of what the model said: how much of the conversation it was told; 0: not known

	meta      *sessionMeta
	context   *turnContext
	usage     *usageRecord
	compacted *compactedHistory
	item      *responseItem
	event     *eventMsg
}

// sessionMeta is the first line of a rollout. A second one is copied history.
type sessionMeta struct {
	ID           string          `json:"id"`
	Session      string          `json:"session_id"` // the root thread
	Parent       string          `json:"parent_thread_id"`
	CWD          string          `json:"cwd"`
	Originator   string          `json:"originator"`
	Version      string          `json:"cli_version"`
	Source       json.RawMessage `json:"source"` // a word, or {"subagent": ...}
	Provider     string          `json:"model_provider"`
	Nickname     string          `json:"agent_nickname"`
	AgentPath    string          `json:"agent_path"`
	ForkedFrom   string          `json:"forked_from_id"`
	HistoryStart int64           `json:"subagent_history_start_ordinal"`
	Base         *struct {
		Thread string `json:"thread_id"`
		End    int64  `json:"end_ordinal_exclusive"`
	} `json:"history_base"`
	Git struct {
		SHA    string `json:"commit_hash"`
		Branch string `json:"branch"`
		URL    string `json:"repository_url"`
	} `json:"git"`
}

// turnContext says under which settings the model is called. It follows the start of
// its turn, and stands again after a compaction.
type turnContext struct {
	Turn           string `json:"turn_id"`
	CWD            string `json:"cwd"`
	Model          string `json:"model"`
	Effort         string `json:"effort"`
	Summary        string `json:"summary"`
	ApprovalPolicy string `json:"approval_policy"`
	Sandbox        struct {
		Type string `json:"type"`
	} `json:"sandbox_policy"`
}

// tokens are counts whose input includes what was cached and whose output includes
// the reasoning.
type tokens struct {
	Input      int64 `json:"input_tokens"`
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Reasoning  int64 `json:"reasoning_output_tokens"`
}

type usageRecord struct {
	Turn     string `json:"turn_id"`
	Response string `json:"response_id"`
	Usage    tokens `json:"usage"`
}

type compactedHistory struct {
	Message     string         `json:"message"`
	Replacement []responseItem `json:"replacement_history"`
	Response    string         `json:"compaction_response_id"`
}

// responseItem is something that was said to the model or by it.
type responseItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"` // a list; null in reasoning
	Summary   []contentPart   `json:"summary"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments json.RawMessage `json:"arguments"` // an object, mostly as the text of one
	Input     string          `json:"input"`
	CallID    string          `json:"call_id"`
	Output    json.RawMessage `json:"output"` // a string or a list
	Tools     json.RawMessage `json:"tools"`  // that a search for tools found
	Revised   string          `json:"revised_prompt"`
	Action    json.RawMessage `json:"action"`
	Author    string          `json:"author"`
	About     struct {
		Turn  string   `json:"turn_id"`
		Kinds []string `json:"content_item_kinds"`
	} `json:"internal_chat_message_metadata_passthrough"`
	Kinds []string `json:"content_item_kinds"`
}

// kind is what the first part of a message is: user.text, or the name of what the
// program wrote as the user.
func (i *responseItem) kind() string {
	switch {
	case len(i.Kinds) > 0:
		return i.Kinds[0]
	case len(i.About.Kinds) > 0:
		return i.About.Kinds[0]
	}
	return ""
}

type contentPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// eventMsg is what the program tells its user interface.
type eventMsg struct {
	Type        string `json:"type"`
	Turn        string `json:"turn_id"`
	Thread      string `json:"thread_id"`
	Attribution *struct {
		Trigger string `json:"turn_trigger"`
		Parent  string `json:"parent_turn_id"`
		Root    string `json:"root_turn_id"`
	} `json:"turn_attribution"`
	Last  *string `json:"last_agent_message"`
	Error *struct {
		Message string          `json:"message"`
		Info    json.RawMessage `json:"codex_error_info"` // a word, or {word: details}
	} `json:"error"`
	Started json.RawMessage `json:"started_at"`
	Reason  string          `json:"reason"`
	Message string          `json:"message"`          // user_message
	Hint    string          `json:"user_facing_hint"` // entered_review_mode
	Info    *struct {
		Total tokens `json:"total_token_usage"`
		Last  tokens `json:"last_token_usage"`
	} `json:"info"` // token_count; null before the first call
	Item        *completedItem `json:"item"`
	CompletedMS int64          `json:"completed_at_ms"`

	// Ends of tools in versions without items.
	CallID   string          `json:"call_id"`
	Result   json.RawMessage `json:"result"`
	Duration json.RawMessage `json:"duration"`
	Success  *bool           `json:"success"`
	Stderr   string          `json:"stderr"`
	Changes  map[string]any  `json:"changes"`
	ExitCode *int            `json:"exit_code"`
}

// completedItem is an entry of item_completed: what a tool did, a message, a step of a
// subagent. Items of types that are not known are passed over.
type completedItem struct {
	Type       string          `json:"type"`
	ID         string          `json:"id"`
	Status     string          `json:"status"`
	Content    json.RawMessage `json:"content"`
	Fragments  []contentPart   `json:"fragments"`
	Command    []string        `json:"command"`
	ExitCode   *int            `json:"exit_code"`
	Output     string          `json:"aggregated_output"`
	Duration   json.RawMessage `json:"duration"`
	Source     string          `json:"source"`
	Changes    map[string]any  `json:"changes"`
	Stdout     string          `json:"stdout"`
	Stderr     string          `json:"stderr"`
	Server     string          `json:"server"`
	Tool       string          `json:"tool"`
	Arguments  json.RawMessage `json:"arguments"`
	Result     json.RawMessage `json:"result"`
	Error      json.RawMessage `json:"error"`
	Action     json.RawMessage `json:"action"`
	Query      string          `json:"query"`
	Path       string          `json:"path"`
	Prompt     string          `json:"prompt"`
	Kind       string          `json:"kind"`
	Agent      string          `json:"agent_thread_id"`
	Receivers  []string        `json:"receiver_thread_ids"`
	ReviewHint string          `json:"user_facing_hint"`
}

// parseRecord decodes a line, or reports that it is none that matters. A field of an
// unexpected shape voids that line only.
func parseRecord(data []byte) (record, bool) {
	if !relevant(data) {
		return record{}, false
	}
	var l struct {
		At      time.Time       `json:"timestamp"`
		Ordinal *int64          `json:"ordinal"`
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
		About   struct {
			Heard int64 `json:"sampled_through_sequence"`
		} `json:"metadata"`
	}
	if json.Unmarshal(data, &l) != nil {
		return record{}, false
	}
	r := record{at: l.At, ordinal: -1, heard: l.About.Heard}
	if l.Ordinal != nil {
		r.ordinal = *l.Ordinal
	}
	var err error
	switch l.Type {
	case "session_meta":
		r.meta = &sessionMeta{}
		err = json.Unmarshal(l.Payload, r.meta)
	case "turn_context":
		r.context = &turnContext{}
		err = json.Unmarshal(l.Payload, r.context)
	case "token_usage_record":
		r.usage = &usageRecord{}
		err = json.Unmarshal(l.Payload, r.usage)
	case "compacted":
		r.compacted = &compactedHistory{}
		err = json.Unmarshal(l.Payload, r.compacted)
	case "response_item":
		r.item = &responseItem{}
		err = json.Unmarshal(l.Payload, r.item)
	case "event_msg":
		r.event = &eventMsg{}
		err = json.Unmarshal(l.Payload, r.event)
	default:
		return record{}, false
	}
	return r, err == nil
}

// relevant is a cheap look at the first bytes, so that what the program notes for
// itself, lists of tools and system prompts are not decoded.
func relevant(data []byte) bool {
	head := data[:min(len(data), 256)]
	for _, noise := range [...]string{
		`"type":"world_state"`, `"type":"inter_agent_communication_metadata"`,
		`"payload":{"type":"thread_settings_applied"`, `"payload":{"type":"additional_tools"`,
		`"payload":{"type":"agent_message","message"`, `"payload":{"type":"agent_reasoning"`,
	} {
		if bytes.Contains(head, []byte(noise)) {
			return false
		}
	}
	return !bytes.Contains(head, []byte(`"role":"developer"`))
}

// structural reports whether a line may begin or end a turn, come after its end, or
// change the thread's total: what has to be looked at where no turn is wanted. It goes by the first bytes,
// and takes what it does not know for structural.
func structural(data []byte) bool {
	head := data[:min(len(data), 512)]
	for _, content := range [...]string{
		`"type":"response_item"`, `"type":"turn_context"`, `"type":"token_usage_record"`, `"type":"compacted"`,
	} {
		if bytes.Contains(head[:min(len(head), 128)], []byte(content)) {
			return false
		}
	}
	return !bytes.Contains(head, []byte(`"payload":{"type":"item_completed"`)) ||
		bytes.Contains(head, []byte(`"EnteredReviewMode"`)) || bytes.Contains(head, []byte(`"id":"exec-`))
}

// turn is the id of the turn that a line names; "" if it names none.
func (r *record) turn() string {
	switch {
	case r.context != nil:
		return r.context.Turn
	case r.usage != nil:
		return r.usage.Turn
	case r.item != nil:
		return r.item.About.Turn
	case r.event != nil:
		return r.event.Turn
	}
	return ""
}

// starts reports whether the line begins a turn.
func (r *record) starts() bool {
	return r.event != nil && r.event.Type == "task_started" && r.event.Turn != ""
}

// ends reports whether the line ends a turn.
func (r *record) ends() bool {
	return r.event != nil && (r.event.Type == "task_complete" || r.event.Type == "turn_aborted")
}

// agent tells the type of a thread that is no root: the role of a subagent, review,
// guardian; "" of a root. parent is the thread that started it.
func (m *sessionMeta) agent() (kind, parent string) {
	var source struct {
		Subagent json.RawMessage `json:"subagent"`
	}
	if json.Unmarshal(m.Source, &source) != nil || len(source.Subagent) == 0 {
		if m.Parent != "" {
			return "subagent", m.Parent
		}
		return "", ""
	}
	var word string
	if json.Unmarshal(source.Subagent, &word) == nil {
		return word, m.Parent
	}
	var forms struct {
		Other string `json:"other"`
		Spawn *struct {
			Parent string `json:"parent_thread_id"`
			Role   string `json:"agent_role"`
		} `json:"thread_spawn"`
	}
	_ = json.Unmarshal(source.Subagent, &forms) // another form: a subagent all the same
	switch {
	case forms.Other != "":
		return forms.Other, m.Parent
	case forms.Spawn != nil:
		parent = m.Parent
		if parent == "" {
			parent = forms.Spawn.Parent
		}
		if forms.Spawn.Role != "" {
			return forms.Spawn.Role, parent
		}
		return "default", parent
	}
	return "subagent", m.Parent
}

// idTime is when an id was made: Codex's are version 7 UUIDs. Zero if it is not one.
func idTime(id string) time.Time {
	if len(id) != 36 || id[8] != '-' || id[14] != '7' {
		return time.Time{}
	}
	var ms int64
	for _, c := range []byte(id[:8] + id[9:13]) {
		n := bytes.IndexByte([]byte("0123456789abcdef"), c)
		if n < 0 {
			return time.Time{}
		}
		ms = ms<<4 | int64(n)
	}
	return time.UnixMilli(ms).UTC()
}
