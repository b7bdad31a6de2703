package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Rule is one of the user's own, beside those that are built in.
type Rule struct {
	Pattern *regexp.Regexp
	With    string // taken as it is
	Allow   Allow  // which of its matches stay
}

// Marker is what stands in place of what the named rule finds.
func Marker(rule string) string { return markerStart + rule + "]" }

// Rules are the user's own. The zero value changes nothing.
type Rules []Rule

// Run applies the rules to every text of a run but the names of its agent; the keys of
// its maps stay. Maps and slices that have to change are copied first. After an error
// the run's content must not be sent.
func (all Rules) Run(r *runtypes.Run) error {
	if len(all) == 0 {
		return nil
	}
	var err error
	for _, raw := range []*json.RawMessage{&r.Inputs, &r.Outputs} {
		if *raw, err = all.JSON(*raw); err != nil {
			return err
		}
	}
	for _, s := range texts(r) {
		if s != &r.Identity.Integration && s != &r.Identity.Runtime {
			*s = all.Text(*s)
		}
	}
	r.Tags = each(r.Tags, all.clean)
	r.Attachments = each(r.Attachments, all.file)
	r.Events = slices.Clone(r.Events)
	maps := []*map[string]any{&r.Metadata, &r.Model.InvocationParams}
	for i := range r.Events {
		r.Events[i].Name = all.Text(r.Events[i].Name)
		maps = append(maps, &r.Events[i].Data)
	}
	for _, m := range maps {
		if *m, err = all.object(*m); err != nil {
			return err
		}
	}
	return nil
}

// Text applies the rules to a text.
func (all Rules) Text(s string) string {
	for _, rule := range all {
		s = rule.Pattern.ReplaceAllStringFunc(s, func(found string) string {
			if rule.Allow.permits([]byte(found)) {
				return found
			}
			return rule.With
		})
	}
	return s
}

// clean applies the rules to a text and reports whether it changed.
func (all Rules) clean(s *string) bool {
	was := *s
	*s = all.Text(was)
	return *s != was
}

// file applies the rules to an attachment that is text.
func (all Rules) file(a *runtypes.Attachment) bool {
	changed := all.clean(&a.Name)
	data := readable(a)
	if !utf8.Valid(data) {
		return changed
	}
	if text := string(data); all.clean(&text) {
		a.Data, changed = []byte(text), true
	}
	return changed
}

// JSON applies the rules to the texts of a document; its keys stay. A document in
// which nothing is found is returned itself.
func (all Rules) JSON(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || len(all) == 0 {
		return raw, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, errors.New("redact: rules: not JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("redact: rules: not JSON")
	}
	v, changed := all.value(v)
	if !changed {
		return raw, nil
	}
	clean, err := runtypes.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("redact: rules: %w", err)
	}
	return clean, nil
}

// value applies the rules to the texts of a decoded document, in place.
func (all Rules) value(v any) (clean any, changed bool) {
	switch v := v.(type) {
	case string:
		clean := all.Text(v)
		return clean, clean != v
	case []any:
		for i := range v {
			each, did := all.value(v[i])
			v[i], changed = each, changed || did
		}
	case map[string]any:
		for key := range v {
			each, did := all.value(v[key])
			v[key], changed = each, changed || did
		}
	}
	return v, changed
}

// object applies the rules to a map of anything.
func (all Rules) object(m map[string]any) (map[string]any, error) {
	if len(m) == 0 {
		return m, nil
	}
	clean := make(map[string]any, len(m))
	for key, value := range m {
		before, err := runtypes.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("redact: rules: %w", err)
		}
		after, err := all.JSON(before)
		var text string
		switch {
		case err != nil:
			return nil, err
		case bytes.Equal(before, after):
			clean[key] = value
		case json.Unmarshal(after, &text) == nil:
			clean[key] = text
		default:
			clean[key] = after
		}
	}
	return clean, nil
}
