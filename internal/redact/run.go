package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Run replaces secrets in every field of a run that may hold one: inputs, outputs,
// error, names, tags, events, metadata, the model's parameters, the remote and the
// folder. Ids stay. Maps and slices that have to change are copied first, for other
// runs may share them. After an error the run must not be sent: it may be half
// done.
func Run(r *runtypes.Run) (err error) {
	var none struct{}
	defer recoverInto(&none, &err)
	for _, raw := range []*json.RawMessage{&r.Inputs, &r.Outputs} {
		clean, err := JSON(*raw)
		if err != nil {
			return err
		}
		*raw = clean
	}
	for _, s := range []*string{
		&r.Name, &r.Error, &r.Model.Name, &r.Tool.Name, &r.Tool.Skill, &r.Subagent.Type,
		&r.Identity.Repo.URL, &r.Identity.Repo.Branch, &r.Identity.WorkingDirectory,
		&r.Identity.UserID, &r.Identity.Attribution, &r.Identity.SandboxType, &r.Project,
	} {
		*s = Text(*s)
	}
	for i, tag := range r.Tags {
		if clean := Text(tag); clean != tag {
			r.Tags = slices.Clone(r.Tags)
			r.Tags[i] = clean
		}
	}
	if r.Metadata, err = object(r.Metadata); err != nil {
		return err
	}
	if r.Model.InvocationParams, err = object(r.Model.InvocationParams); err != nil {
		return err
	}
	return events(r)
}

func events(r *runtypes.Run) error {
	if len(r.Events) == 0 {
		return nil
	}
	list := slices.Clone(r.Events)
	for i := range list {
		list[i].Name = Text(list[i].Name)
		data, err := object(list[i].Data)
		if err != nil {
			return err
		}
		list[i].Data = data
	}
	r.Events = list
	return nil
}

// object returns m without secrets: m itself if there are none. In a copy only the
// values that had secrets are new: strings, or the JSON of anything else.
func object(m map[string]any) (map[string]any, error) {
	if len(m) == 0 {
		return m, nil
	}
	before, err := runtypes.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	after, err := JSON(before)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(before, after) {
		return m, nil
	}
	var was, is map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(before, &was), json.Unmarshal(after, &is)); err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	clean := make(map[string]any, len(is))
	for key, raw := range is {
		var text string
		switch {
		case bytes.Equal(raw, was[key]):
			clean[key] = m[key]
		case json.Unmarshal(raw, &text) == nil:
			clean[key] = text
		default:
			clean[key] = raw
		}
	}
	return clean, nil
}
