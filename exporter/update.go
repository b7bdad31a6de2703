package exporter

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tracesmith/tracesmith/runtypes"
)

// control are members of Replica.Updates that say what to do with a run, or that
// would not agree with each other any more.
func control(name string) bool {
	switch name {
	case "id", "trace_id", "parent_run_id", "dotted_order", "start_time", "reroot":
		return true
	}
	return false
}

// checkUpdates finds what LangSmith would refuse in every run.
func (r *Replica) checkUpdates() error {
	for name, value := range r.Updates {
		raw, err := runtypes.Marshal(value)
		if err != nil {
			return fmt.Errorf("exporter: updates: %s: %w", name, err)
		}
		var into any
		switch name {
		case "inputs", "outputs", "extra", "metadata":
			into = new(map[string]json.RawMessage)
		case "events":
			into = new([]map[string]json.RawMessage)
		case "tags":
			into = new([]string)
		case "error", "name", "run_type", "session_name", "end_time", "status":
			into = new(string)
		case "reroot":
			into = new(bool)
		default:
			continue
		}
		if json.Unmarshal(raw, into) != nil { // its error may quote the value
			return fmt.Errorf("exporter: updates: %s: %w", name, errors.New("not of its type"))
		}
	}
	return nil
}

// apply puts the replica's updates over a serialised run.
func (r *Replica) apply(rec *record) error {
	for name, value := range r.Updates {
		if control(name) {
			continue
		}
		raw, err := runtypes.Marshal(value)
		if err != nil {
			return err
		}
		switch name {
		case "inputs", "outputs", "events", "extra", "error":
			if string(raw) == "null" {
				rec.omit(name)
				continue
			}
			rec.set(name, raw)
		case "metadata":
			err = rec.addMetadata(raw)
		default:
			rec.main, err = withMember(rec.main, name, raw)
		}
		if err != nil {
			return fmt.Errorf("exporter: updates: %s: %w", name, err)
		}
	}
	return nil
}

// addMetadata adds to extra.metadata.
func (r *record) addMetadata(raw json.RawMessage) error {
	var more map[string]json.RawMessage
	if err := json.Unmarshal(raw, &more); err != nil {
		return err
	}
	extra := []byte("{}")
	for _, f := range r.fields {
		if f.name == "extra" {
			extra = f.raw
		}
	}
	var parts struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(extra, &parts); err != nil {
		return err
	}
	meta := []byte(parts.Metadata)
	if len(meta) == 0 {
		meta = []byte("{}")
	}
	for key, value := range more {
		var err error
		if meta, err = withMember(meta, key, value); err != nil {
			return err
		}
	}
	extra, err := withMember(extra, "metadata", meta)
	r.set("extra", extra)
	return err
}

// withMember returns a JSON object with a member set.
func withMember(object []byte, name string, raw json.RawMessage) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	if members[name] = raw; string(raw) == "null" {
		delete(members, name) // LangSmith refuses some nulls
	}
	return runtypes.Marshal(members)
}
