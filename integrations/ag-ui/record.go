package agui

import (
	"encoding/json"
	"fmt"
)

// record is an object between JSON and the wire: its properties in order.
type record []entry

type entry struct {
	name  string
	value json.RawMessage
}

func (r record) get(name string) json.RawMessage {
	for _, e := range r {
		if e.name == name {
			return e.value
		}
	}
	return nil
}

// without returns the record but for some properties.
func (r record) without(names ...string) record {
	kept := make(record, 0, len(r))
next:
	for _, e := range r {
		for _, name := range names {
			if e.name == name {
				continue next
			}
		}
		kept = append(kept, e)
	}
	return kept
}

func (r record) with(name string, value json.RawMessage) record {
	if value == nil {
		return r.without(name)
	}
	return append(r.without(name), entry{name, value})
}

func (r record) json() json.RawMessage {
	out := json.RawMessage{'{'}
	for i, e := range r {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendString(out, e.name)
		out = append(out, ':')
		out = append(out, e.value...)
	}
	return append(out, '}')
}

// recordOf splits a tidy object.
func recordOf(raw json.RawMessage) record {
	if kindOf(raw) != objectKind {
		return nil
	}
	var r record
	for _, m := range membersOf(raw) {
		r = append(r, entry{m.key, m.value})
	}
	return r
}

// joinArm makes {"type": "image", ...} of the one arm of a union.
func joinArm(r record) record {
	if len(r) == 0 {
		return nil
	}
	arm := r[len(r)-1]
	return append(record{{"type", appendString(nil, arm.name)}}, recordOf(arm.value)...)
}

// splitArm is the reverse of joinArm.
func splitArm(r record) (record, error) {
	name := textOf(r.get("type"))
	return record{{name, r.without("type").json()}}, nil
}

// splitPart is splitArm for a part of a message's content. The retired binary part has
// no arm and travels as a document, marked as the protocol's own packages mark it.
func splitPart(r record) (record, error) {
	if textOf(r.get("type")) != "binary" {
		return splitArm(r)
	}
	var source record
	switch {
	case r.get("data") != nil:
		source = record{{"type", json.RawMessage(`"data"`)}, {"value", r.get("data")}}
	case r.get("url") != nil:
		source = record{{"type", json.RawMessage(`"url"`)}, {"value", r.get("url")}}
	case r.get("id") != nil:
		source = record{{"type", json.RawMessage(`"url"`)}, {"value", r.get("id")}}
	default:
		return nil, fmt.Errorf("agui: a binary part without content has no protobuf form")
	}
	source = source.with("mimeType", r.get("mimeType"))
	marks := record{{"legacyBinary", json.RawMessage("true")}}
	marks = marks.with("filename", r.get("filename")).with("id", r.get("id"))
	document := record{{"source", source.json()}, {"metadata", marks.json()}}
	return record{{"document", document.json()}}, nil
}

// joinMessage puts the content of a message where its role has it.
func joinMessage(r record) record {
	parts, activity := r.get(partsField), r.get(activityField)
	r = r.without(partsField, activityField)
	switch Role(textOf(r.get("role"))) {
	case User, ToolRole:
		return r.joinParts(parts)
	case Activity:
		return r.with("content", activity)
	}
	return r
}

// joinParts makes content of parts unless it is a string.
func (r record) joinParts(parts json.RawMessage) record {
	if r.get("content") != nil {
		return r
	}
	if parts == nil {
		parts = json.RawMessage("[]")
	}
	return r.with("content", parts)
}

func splitMessage(r record) (record, error) {
	switch content := r.get("content"); kindOf(content) {
	case arrayKind:
		return r.without("content").with(partsField, content), nil
	case objectKind:
		return r.without("content").with(activityField, content), nil
	}
	return r, nil
}

// fillInput gives an input the lists that the wire cannot tell from absent ones.
func fillInput(r record) record {
	for _, name := range []string{"messages", "tools", "context", "resume"} {
		if r.get(name) == nil {
			r = r.with(name, json.RawMessage("[]"))
		}
	}
	return r
}

// joinEvent makes an event's object of its arm's fields.
func joinEvent(t Type, r record) record {
	base := recordOf(r.get(baseField))
	r = append(record{{"type", appendString(nil, string(t))}}, r.without(baseField)...)
	switch t {
	case RunFinished:
		r = r.joinOutcome("interrupts", "pendingToolCallIds")
	case SubagentFinished:
		r = r.joinOutcome("interruptIds")
	case ToolCallResult:
		parts := r.get(partsField)
		r = r.without(partsField).joinParts(parts)
	case StateDelta, ActivityDelta:
		name := "delta"
		if t == ActivityDelta {
			name = "patch"
		}
		if r.get(name) == nil {
			r = r.with(name, json.RawMessage("[]"))
		}
	case MessagesSnapshot:
		if r.get("messages") == nil {
			r = r.with("messages", json.RawMessage("[]"))
		}
	}
	return append(r, base.without("type")...)
}

// joinOutcome makes an object of an outcome's name and what stands beside it.
func (r record) joinOutcome(beside ...string) record {
	name := r.get("outcome")
	outcome := record{{"type", name}}
	for _, each := range beside {
		if list := r.get(each); list != nil {
			outcome = append(outcome, entry{each, list})
		}
	}
	r = r.without(append(beside, "outcome")...)
	if name == nil || textOf(name) == "" {
		return r
	}
	return r.with("outcome", outcome.json())
}

// splitEvent is the reverse of joinEvent.
func splitEvent(a *arm, r record) record {
	base := record{{"type", json.RawMessage(fmt.Sprint(a.enum))}}
	for _, name := range []string{"timestamp", "rawEvent", "metadata"} {
		base = base.with(name, r.get(name))
	}
	r = r.without("type", "timestamp", "rawEvent", "metadata").with(baseField, base.json())
	switch a.event {
	case RunFinished, SubagentFinished:
		outcome := recordOf(r.get("outcome"))
		name := outcome.get("type")
		r = r.with("outcome", name)
		return append(r, outcome.without("type")...)
	case ToolCallResult:
		if content := r.get("content"); kindOf(content) == arrayKind {
			return r.without("content").with(partsField, content)
		}
	}
	return r
}
