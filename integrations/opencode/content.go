package opencode

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

// maxCached bounds the bytes of lines that are held to be said again.
const maxCached = 32 << 20

// maxRepeated bounds the bytes of conversation that the calls of one turn repeat
// together; from there on each repeats only what is new.
const maxRepeated = 16 << 20

// maxImage bounds an image that is carried in a run, in characters of its URL.
const maxImage = 1 << 20

// cache holds lines of the journal by their names.
type cache struct {
	lines map[string]*data
	size  int
}

func (c *cache) keep(ref string, d *data, size int) {
	if ref == "" {
		return
	}
	if c.lines == nil || c.size > maxCached {
		c.lines, c.size = map[string]*data{}, 0
	}
	c.lines[ref] = d
	c.size += size
}

// line is a line that was heard before; nil if it is gone.
func (r *reducer) line(src integrations.Source, ref string) (*data, error) {
	if ref == "" {
		return nil, nil
	}
	if d := r.lines.lines[ref]; d != nil {
		return d, nil
	}
	e, err := src.Recall(ref)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opencode: %w", err)
	}
	d := new(data)
	if json.Unmarshal(e.Data, d) != nil {
		return nil, nil
	}
	r.lines.keep(ref, d, len(e.Data))
	return d, nil
}

// info is the message of a line; never nil.
func (r *reducer) info(src integrations.Source, ref string) (*message, error) {
	d, err := r.line(src, ref)
	if d == nil || d.Message == nil {
		return &message{}, err
	}
	return d.Message, err
}

// partOf is the part of a piece, with what is known of its text; never nil.
func (r *reducer) partOf(src integrations.Source, x *piece) (*part, error) {
	d, err := r.line(src, x.Line)
	if err != nil || d == nil || d.Part == nil {
		return &part{ID: x.ID, Type: x.Type, Call: x.Call}, err
	}
	if d.Part.Text != "" || len(x.Deltas) == 0 {
		return d.Part, nil
	}
	var text strings.Builder
	for _, ref := range x.Deltas {
		d, err := r.line(src, ref)
		if err != nil {
			return nil, err
		}
		if d != nil && d.Delta != nil {
			text.WriteString(d.Delta.Text)
		}
	}
	whole := *d.Part
	whole.Text = text.String()
	return &whole, nil
}

// parts are those of a step.
func (r *reducer) parts(src integrations.Source, s *step) ([]*part, error) {
	list := make([]*part, 0, len(s.Pieces))
	for _, x := range s.Pieces {
		p, err := r.partOf(src, x)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// reply renders the parts of one message as the model's reply; false if there is nothing
// in it. Attempts that broke off left empty texts.
func reply(parts []*part) (runtypes.Message, bool) {
	var content []runtypes.Part
	for _, p := range parts {
		switch {
		case p.Type == "tool":
			content = append(content, runtypes.Part{Type: "tool_call", ID: p.Call, Name: p.Tool, Args: p.State.Input})
		case p.Text == "":
		default:
			content = append(content, runtypes.Part{Type: p.Type, Text: p.Text})
		}
	}
	return runtypes.Message{Role: "assistant", Content: content}, len(content) > 0
}

// answers render what the tools of a message told the model.
func answers(parts []*part) []runtypes.Message {
	var list []runtypes.Message
	for _, p := range parts {
		if p.Type != "tool" || !p.State.over() {
			continue
		}
		m := runtypes.Message{Role: "tool", ToolCallID: p.Call, Name: p.Tool, Content: p.State.Output}
		if p.State.Status == "error" {
			m.Content, m.Status = p.State.Error, "error"
		}
		list = append(list, m)
	}
	return list
}

// prompted renders what the user typed, with the files that came with it.
func prompted(parts []part) runtypes.Message {
	var content []runtypes.Part
	for _, p := range parts {
		switch {
		case p.Type == "text" && p.Text != "":
			content = append(content, runtypes.Part{Type: "text", Text: p.Text})
		case p.Type == "subtask" && p.Prompt != "":
			content = append(content, runtypes.Part{Type: "text", Text: p.Prompt})
		case p.Type == "file":
			content = append(content, attached(p))
		}
	}
	if len(content) == 1 && content[0].Type == "text" {
		return runtypes.Message{Role: "user", Content: content[0].Text}
	}
	return runtypes.Message{Role: "user", Content: content}
}

// attached is a file of a prompt: an image as it is, anything else by its name, since
// OpenCode puts the text of others into the prompt.
func attached(p part) runtypes.Part {
	media, encoded, ok := strings.Cut(strings.TrimPrefix(p.URL, "data:"), ";base64,")
	if ok && strings.HasPrefix(p.URL, "data:") && strings.HasPrefix(p.MIME, "image/") && len(encoded) <= maxImage {
		return runtypes.Part{Type: "image", Base64: encoded, MIMEType: media}
	}
	name := p.File
	if name == "" {
		name = p.MIME
	}
	return runtypes.Part{Type: "text", Text: "[file: " + name + "]"}
}

// conversation renders lines in their order: prompts, and parts by their messages.
func (r *reducer) conversation(src integrations.Source, refs []string) ([]runtypes.Message, error) {
	var list []runtypes.Message
	var group []*part
	flush := func() {
		if m, ok := reply(group); ok {
			list = append(append(list, m), answers(group)...)
		}
		group = nil
	}
	for _, ref := range refs {
		d, err := r.line(src, ref)
		switch {
		case err != nil:
			return nil, err
		case d == nil:
		case d.Part != nil:
			if len(group) > 0 && group[0].Message != d.Part.Message {
				flush()
			}
			group = append(group, d.Part)
		case len(d.Parts) > 0:
			flush()
			list = append(list, prompted(d.Parts))
		}
	}
	flush()
	return list, nil
}

// inputs are the messages before a step, as far as the user wants them repeated.
func (r *reducer) inputs(src integrations.Source, t *turn, upTo *step) ([]runtypes.Message, error) {
	refs := slices.Clone(t.Said)
	if t.Kind == compaction {
		refs = slices.Clone(r.History) // which it sums up
	}
	for _, s := range t.Steps {
		if s == upTo {
			break
		}
		refs = append(refs, s.lines()...)
	}
	delta := r.options.Inputs == integrations.InputsDelta || t.Repeated > maxRepeated
	if r.options.Inputs == integrations.InputsThread && !delta && t.Under == "" && !t.Merged {
		refs = append(slices.Clone(r.History), refs...)
	}
	list, err := r.conversation(src, refs)
	if err != nil {
		return nil, err
	}
	if delta {
		for i, m := range slices.Backward(list) {
			if m.Role == "assistant" {
				list = list[i+1:]
				break
			}
		}
	}
	list = agentkit.Bounded(list)
	for _, m := range list {
		t.Repeated += int64(agentkit.SizeOf(m))
	}
	return list, nil
}

// lines are those of a step's parts.
func (s *step) lines() []string {
	refs := make([]string, 0, len(s.Pieces))
	for _, x := range s.Pieces {
		refs = append(refs, x.Line)
	}
	return refs
}
