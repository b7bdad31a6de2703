package openaicodex

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxRepeated bounds the bytes of conversation that the calls of one turn repeat
// together. From there on each repeats only what is new: a turn of a thousand calls
// would otherwise take a thousand times its size.
const maxRepeated = 16 << 20

// inputs are the messages before a call: what the model was told, as far as the user
// wants it repeated. before is the conversation of earlier turns.
func (s *stretch) inputs(c *call, choice integrations.Inputs, before []runtypes.Message, repeated *int64) []runtypes.Message {
	delta := choice == integrations.InputsDelta || *repeated > maxRepeated
	list := s.said(c, delta)
	if len(before) > 0 && !delta && choice == integrations.InputsThread {
		list = append(slices.Clone(before), list...)
	}
	list = agentkit.Bounded(list)
	for _, m := range list {
		*repeated += int64(agentkit.SizeOf(m))
	}
	return list
}

// said renders the conversation before a call since it was last replaced, or only
// what is new since the call before it. A nil call means all of it.
func (s *stretch) said(upTo *call, delta bool) []runtypes.Message {
	from, to := 0, len(s.entries)
	for i, e := range s.entries {
		if e.call != nil && e.call == upTo {
			to = i
			break
		}
		if e.replaced || e.call != nil && delta {
			from = i + 1
		}
	}
	list := make([]runtypes.Message, 0, to-from)
	for _, e := range s.entries[from:to] {
		if e.call != nil {
			list = append(list, e.call.message())
			continue
		}
		list = append(list, e.message)
	}
	return list
}

// said renders an item of a replaced conversation; false for what the program wrote
// in the user's name.
func said(i *responseItem) (runtypes.Message, bool) {
	if i.Type != "message" || i.Role != "user" && i.Role != "assistant" {
		return runtypes.Message{}, false
	}
	text := contentText(i.Content)
	switch kind := i.kind(); {
	case i.Role == "assistant", kind == "user.text", kind == "compaction.summary":
	case kind == "" && !strings.HasPrefix(text, "<"):
	case kind == "unknown" && !strings.HasPrefix(text, "<"):
	default:
		return runtypes.Message{}, false
	}
	return runtypes.Message{Role: i.Role, Content: text}, true
}

// recall reads what was said in a thread before a line of its rollout, where the user
// wants it repeated: since the last compaction, and no more than is ever sent.
func (r *reducer) recall(src integrations.Source, path string, line int64) ([]runtypes.Message, error) {
	if r.options.Inputs != integrations.InputsThread {
		return nil, nil
	}
	before := newStretch("", nil)
	for raw, err := range src.Lines(path, 0) {
		if errors.Is(err, fs.ErrNotExist) || err == nil && raw.Offset >= line {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("openaicodex: rollout: %w", err)
		}
		if rec, ok := parseRecord(raw.Data); ok && !rec.ends() {
			before.add(&rec)
		}
	}
	return agentkit.Bounded(before.said(nil, false)), nil
}

// contentText flattens a string or a list of parts to text. What is no text is named.
func contentText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		return plain
	}
	var parts []contentPart
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var all strings.Builder
	for _, p := range parts {
		text := p.Text
		switch {
		case text != "":
		case strings.Contains(p.Type, "image"):
			text = "[image]"
		case p.Type == "encrypted_content":
			text = "[encrypted by the provider]"
		default:
			continue
		}
		if all.Len() > 0 && !strings.HasSuffix(all.String(), "\n") {
			all.WriteByte('\n')
		}
		all.WriteString(text)
	}
	return all.String()
}

func summaryText(parts []contentPart) string {
	var list []string
	for _, p := range parts {
		list = append(list, p.Text)
	}
	return strings.Join(list, "\n")
}

// messageName makes a message's name of an agent's path, whose parts are joined by slashes.
func messageName(path string) string {
	return strings.Trim(strings.ReplaceAll(path, "/", "_"), "_")
}

// outputOf is what the tool told the model, without the bytes of images.
func outputOf(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] != '"' {
		if text := contentText(raw); text != "" {
			return field("output", text)
		}
	}
	return field("output", raw)
}

// stringField is a field of a JSON object, if it is a string.
func stringField(object json.RawMessage, key string) string {
	var fields map[string]json.RawMessage
	var text string
	if json.Unmarshal(object, &fields) == nil {
		_ = json.Unmarshal(fields[key], &text) // of another type: as if it were not there
	}
	return text
}
