package runtypes

import "github.com/google/uuid"

// Child is a model call or a tool call of a turn. Like a [Turn] it may be nil, and
// is safe for concurrent use. What is set after it has ended has no effect.
type Child struct{ scope }

// ID is the run's id; uuid.Nil when tracing is off.
func (c *Child) ID() uuid.UUID {
	if c == nil {
		return uuid.Nil
	}
	return c.run.ID
}

// DottedOrder is the call's place in its trace, for what it starts in another
// process: see [EnvParent]. It is empty when tracing is off.
func (c *Child) DottedOrder() string { return (*Turn)(c).DottedOrder() }

// End finishes the call with the model's or the tool's output: of a model a
// string, a [Message], a list, or an object in a shape that LangSmith renders; of a
// tool any value that encodes to JSON. Bytes are text: what is none, such as an
// image, is left out, and is for [Child.Attach].
func (c *Child) End(output any) {
	if c != nil {
		c.end(output)
	}
}

func (c *Child) end(output any) {
	if c.run.Kind == KindLLM {
		c.finish(conversation("assistant", output), nil, "")
		return
	}
	c.finish(value(output), nil, "")
}

// Fail finishes the call with an error; with one that is [context.Canceled] it was
// interrupted. Output, if any came before, is set by [Child.Output].
func (c *Child) Fail(err error) {
	if c != nil {
		c.fail(err)
	}
}

// Interrupt finishes a call that was stopped before it completed.
func (c *Child) Interrupt(reason string) {
	if c != nil {
		c.finish(nil, nil, orReason(reason))
	}
}

// Done finishes the call with what it gave back: output, and an error if it failed.
func (c *Child) Done(output any, err error) {
	if c != nil {
		c.done(output, err)
	}
}

func (c *Child) done(output any, err error) {
	if err == nil {
		c.end(output)
		return
	}
	if output != nil && output != "" {
		c.output(output)
	}
	c.fail(err)
}

// Output sets what came out so far, for a call that is about to fail or to be
// interrupted. End replaces it, unless it ends with nil.
func (c *Child) Output(output any) *Child {
	if c != nil {
		c.output(output)
	}
	return c
}

func (c *Child) output(output any) {
	raw := value(output)
	if c.run.Kind == KindLLM {
		raw = conversation("assistant", output)
	}
	c.change(func(r *Run) { r.Outputs = raw })
}

// Token notes that a piece of a streamed reply came. Call it for every piece: the
// first one is the run's time to first token, the others cost nothing.
func (c *Child) Token() {
	if c != nil && !c.streaming.Load() {
		c.firstToken()
	}
}

func (c *Child) firstToken() {
	if c.streaming.CompareAndSwap(false, true) {
		at := c.now()
		c.change(func(r *Run) { r.Events = append(r.Events, RunEvent{Name: "new_token", Time: micro(at)}) })
	}
}

// Event notes a moment within the call, such as a retried attempt.
func (c *Child) Event(name string, data map[string]any) *Child {
	if c != nil {
		at := c.now()
		c.change(func(r *Run) {
			if len(r.Events) < maxEvents {
				r.Events = append(r.Events, RunEvent{Name: name, Time: micro(at), Data: frozenMap(data)})
			}
		})
	}
	return c
}

// maxEvents bounds the moments of a run.
const maxEvents = 1000

// Usage sets the tokens a model call used. It has no effect on a tool.
func (c *Child) Usage(u Usage) *Child {
	if c != nil {
		c.usage(u)
	}
	return c
}

func (c *Child) usage(u Usage) {
	u.InputDetails, u.OutputDetails = copyMap(u.InputDetails), copyMap(u.OutputDetails)
	c.change(func(r *Run) { r.Usage = &u })
}

// Model sets provider and parameters of a model call; an empty name keeps the one
// the call was started with. The parameters go out as they are: leave out what is
// not the model's.
func (c *Child) Model(m Model) *Child {
	if c != nil {
		c.model(m)
	}
	return c
}

func (c *Child) model(m Model) {
	m.InvocationParams = frozenMap(m.InvocationParams)
	c.change(func(r *Run) {
		if m.Name == "" {
			m.Name = r.Model.Name
		}
		r.Model = m
	})
}

// Skill names the skill that a Skill tool invoked.
func (c *Child) Skill(name string) *Child {
	if c != nil {
		c.change(func(r *Run) { r.Tool.Skill = name })
	}
	return c
}

// Metadata adds metadata to the call's run.
func (c *Child) Metadata(key string, v any) *Child {
	if c != nil {
		c.describe(key, v)
	}
	return c
}

// Tags adds tags to the call's run.
func (c *Child) Tags(tags ...string) *Child {
	if c != nil {
		c.change(func(r *Run) { r.Tags = append(r.Tags, tags...) })
	}
	return c
}

// Attach adds a file to the call's run, such as a screenshot. The bytes are kept,
// not copied: do not change them. A name's dots become underscores, as LangSmith
// allows none, and a name that is taken replaces the file of that name. A run
// takes [MaxAttachments] bytes; what goes beyond is left out and counted in the
// metadata key attachments_dropped.
func (c *Child) Attach(name, mimeType string, data []byte) *Child {
	if c != nil {
		c.attach(name, mimeType, data)
	}
	return c
}

// Subagent starts a nested agent under the tool call that asked for it.
func (c *Child) Subagent(kind, id string, prompt any) *Turn {
	return (*Turn)(c).Subagent(kind, id, prompt)
}
