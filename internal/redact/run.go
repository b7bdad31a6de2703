package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Run is the built-in rules' [Pass.Run].
func Run(r *runtypes.Run) error { return Pass{}.Run(r) }

// Run replaces secrets in every text of a run: what it says of itself and of its
// work, the keys and values of its maps, its files where they are text. The ids
// that hold a thread together stay, even if somebody made them of a secret: those of
// runs, thread and turn, and the commit's. Maps and slices that have to change are
// copied first, for other runs may share them. After an error the run must not be
// sent: it may be half done.
func (p Pass) Run(r *runtypes.Run) (err error) {
	var none struct{}
	defer recoverInto(&none, &err)
	for _, raw := range []*json.RawMessage{&r.Inputs, &r.Outputs} {
		clean, err := p.JSON(*raw)
		if err != nil {
			return err
		}
		*raw = clean
	}
	for _, s := range texts(r) {
		*s = p.Text(*s)
	}
	r.AgentType = runtypes.AgentType(p.Text(string(r.AgentType)))
	r.Identity.Level = runtypes.Level(p.Text(string(r.Identity.Level)))
	r.Tags = each(r.Tags, p.text)
	r.Attachments = each(r.Attachments, p.file)
	r.Usage = p.usage(r.Usage)
	if r.Metadata, err = p.object(r.Metadata); err != nil {
		return err
	}
	if r.Model.InvocationParams, err = p.object(r.Model.InvocationParams); err != nil {
		return err
	}
	return p.events(r)
}

// texts are the run's fields of plain text. A test fills every field there is and
// says which one is missing here.
func texts(r *runtypes.Run) []*string {
	who := &r.Identity
	return []*string{
		&r.Name, &r.Error, &r.Project, &r.Model.Name, &r.Model.Provider, &r.Tool.Name, &r.Tool.Skill,
		&r.Subagent.ID, &r.Subagent.Type,
		&who.Integration, &who.Runtime, &who.RuntimeVersion, &who.Repo.URL, &who.Repo.Branch, &who.WorkingDirectory,
		&who.ApprovalPolicy, &who.SandboxType, &who.UserID, &who.Attribution,
	}
}

// text cleans a text and reports whether it changed.
func (p Pass) text(s *string) bool {
	was := *s
	*s = p.Text(was)
	return *s != was
}

// each returns all with every one cleaned, in a copy if that changes any.
func each[T any](all []T, clean func(*T) bool) []T {
	out, changed := slices.Clone(all), false
	for i := range out {
		changed = clean(&out[i]) || changed
	}
	if !changed {
		return all
	}
	return out
}

// file cleans an attachment. What is not text, such as a screenshot, stays. UTF-16
// that holds a secret becomes UTF-8.
func (p Pass) file(a *runtypes.Attachment) bool {
	changed := p.text(&a.Name)
	changed = p.text(&a.MIMEType) || changed
	data := readable(a)
	spans := p.scan(data, nil)
	if len(spans) == 0 {
		return changed
	}
	a.Data = replace(nil, data, spans)
	return true
}

// usage cleans the names of the tokens that were counted.
func (p Pass) usage(u *runtypes.Usage) *runtypes.Usage {
	if u == nil {
		return nil
	}
	clean := *u
	clean.InputDetails, clean.OutputDetails = p.counts(u.InputDetails), p.counts(u.OutputDetails)
	return &clean
}

func (p Pass) counts(m map[string]int64) map[string]int64 {
	if len(m) == 0 {
		return m
	}
	clean := make(map[string]int64, len(m))
	for key, n := range m {
		clean[p.Text(key)] += n
	}
	return clean
}

func (p Pass) events(r *runtypes.Run) error {
	if len(r.Events) == 0 {
		return nil
	}
	list := slices.Clone(r.Events)
	for i := range list {
		list[i].Name = p.Text(list[i].Name)
		data, err := p.object(list[i].Data)
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
func (p Pass) object(m map[string]any) (map[string]any, error) {
	if len(m) == 0 {
		return m, nil
	}
	before, err := runtypes.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	after, err := p.JSON(before)
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
