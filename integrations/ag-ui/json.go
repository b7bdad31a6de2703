package agui

import (
	"encoding/json"
	"slices"
)

// DecodeJSON reads one event. The event is nil if there is none to be had; what else is
// wrong leaves an event that lacks the property. The problems' places are not set.
func DecodeJSON(raw []byte) (*Event, []Problem) {
	tidied, err := tidy(raw)
	if err != nil || kindOf(tidied) != objectKind {
		return nil, []Problem{{Code: BadFrame}}
	}
	return decodeObject(tidied)
}

// decodeObject reads an event from a tidy object.
func decodeObject(raw json.RawMessage) (*Event, []Problem) {
	members := membersOf(raw)
	name, ok := typeOf(members)
	if !ok {
		return nil, []Problem{{Code: BadFrame}}
	}
	tables := eventTables()
	props := tables.properties[name]
	if props == nil {
		return nil, []Problem{{Code: UnknownEvent}}
	}
	r := reader{place: string(name)}
	e := &Event{Type: name}
	readMembers(&r, props, members, e)
	for _, p := range tables.required[name] {
		if p.write(e) == nil {
			r.report(BadFrame, p.name)
			return nil, r.problems.all()
		}
	}
	for _, p := range tables.expected[name] {
		if !slices.ContainsFunc(members, func(m member) bool { return m.key == p.name }) {
			r.report(MissingField, p.name)
		}
	}
	return e, r.problems.all()
}

// typeOf finds the event's type; of two, the last counts, as everywhere in JSON.
func typeOf(members []member) (t Type, ok bool) {
	for _, m := range members {
		if m.key == "type" {
			t, ok = Type(textOf(m.value)), kindOf(m.value) == stringKind
		}
	}
	return t, ok
}
