package cursor

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// scope is what one agent does, a turn's own or a subagent: the names of its events in
// the journal. The story they tell is read from there again.
type scope struct {
	Refs []string `json:"refs,omitempty"` // a name, and behind a blank the subagent that it is about
	Told int      `json:"told,omitempty"` // model calls that were emitted, once all is over

	story *story
}

// story is what the events of a scope say, in order.
type story struct {
	calls    []*call
	segments []*segment
	merges   []moment // compactions
	model    data     // its labels, as the last event that names it has them
	used     *tokens  // of all model calls together
	answer   string   // the last response's event
	answers  string   // its hash
	thought  string   // hash of the last event, if it was a thought
	ready    time.Time
	open     int
	book     *book
	last     held // where it is one that is held
	complete bool // with what Cursor's file has of it
}

// moment is an event that stands for itself.
type moment struct {
	ref string
	at  time.Time
	key string // what it says
}

// segment is what the model did without a break, as far as hooks tell: from the prompt
// or the end of the tools before it to its own tools or its response. Where one model
// call ends and the next begins inside it is not known.
type segment struct {
	start, end time.Time
	thoughts   []string
	calls      []*call
	answer     string
	said       string // out of the transcript, when all is over
	failed     bool   // it came to nothing: the model reported an error
	cut        bool   // it was interrupted
}

// call is one tool call.
type call struct {
	id, name, hash string
	key            string // unique in its scope
	agent          string // the subagent it started
	task           string // hash of what it told that
	pre, post      string // its events
	start, end     time.Time
	ended          bool
}

// tell is the scope's story, read from the journal if it is not in memory. An event that
// is gone leaves a gap.
func (s *scope) tell(src integrations.Source, start time.Time) *story {
	if s.story != nil {
		return s.story
	}
	s.story = &story{ready: start}
	for _, each := range s.Refs {
		ref, agent, about := strings.Cut(each, " ")
		if about && agent == "" {
			continue // kept for later, see turn.keep
		}
		if e, d, err := recall(src, ref); err == nil {
			s.story.add(e, d, agent)
		}
	}
	return s.story
}

// take adds an event to the story and returns the call that it ends.
func (s *scope) take(src integrations.Source, start time.Time, e integrations.Event, d *data, agent string) *call {
	t := s.tell(src, start)
	ended, news := t.add(e, d, agent)
	if news {
		ref := e.Ref
		if agent != "" {
			ref += " " + agent
		}
		s.Refs = append(s.Refs, ref)
	}
	return ended
}

// add takes an event. It returns the call that it ends, and whether it says anything
// new: a hook that is registered twice tells everything twice.
func (t *story) add(e integrations.Event, d *data, agent string) (ended *call, news bool) {
	thought := ""
	defer func() {
		if news {
			t.thought = thought
			t.learnModel(e.Kind, d)
		}
	}()
	switch e.Kind {
	case "beforeSubmitPrompt":
		return nil, true
	case "afterAgentThought":
		if thought = agentkit.HashText(d.Text); thought == t.thought {
			return nil, false
		}
		seg := t.current(false)
		seg.thoughts = append(seg.thoughts, e.Ref)
		seg.end = e.At
		return nil, true
	case "afterAgentResponse":
		return nil, t.respond(e, d)
	case "preToolUse":
		return nil, t.begin(e, d)
	case "postToolUse", "postToolUseFailure":
		return t.finish(e, d)
	case "subagentStart":
		if c := t.starter(d.Agent, d.Hash); c != nil && c.agent == "" {
			c.agent = agent
			return nil, true
		}
		return nil, false
	case "subagentStop":
		c := t.callOf(agent)
		if c == nil { // its start was not heard of
			c = t.starter(d.Agent, d.Hash)
		}
		if c == nil || c.ended || agent == "" || c.agent != "" && c.agent != agent {
			return nil, false
		}
		c.agent, c.post = agent, e.Ref
		t.end(c, e)
		return c, true
	case compacting:
		m := moment{e.Ref, e.At, d.Trigger + " " + strconv.FormatInt(d.Context, 10)}
		if n := len(t.merges); n > 0 && t.merges[n-1].key == m.key {
			return nil, false
		}
		t.merges = append(t.merges, m)
		return nil, true
	}
	return nil, false
}

// learnModel keeps the labels of the model. Those on a tool's events are shorter, or
// empty.
func (t *story) learnModel(kind string, d *data) {
	if d.Model == "" && d.ModelID == "" || strings.Contains(kind, "ToolUse") && t.model.Model != "" || strings.HasPrefix(kind, "subagent") {
		return
	}
	t.model.Model, t.model.ModelID, t.model.Params = d.Model, d.ModelID, d.Params
}

// current is the segment that goes on. After its tools another one begins, unless some
// still run: then what comes belongs to the same batch. answered says that the model has
// the last word: it is done with its tools.
func (t *story) current(answered bool) *segment {
	if n := len(t.segments); n > 0 {
		seg := t.segments[n-1]
		if seg.answer == "" && (len(seg.calls) == 0 || t.open > 0 && !answered) {
			return seg
		}
	}
	start := t.ready
	if n := len(t.segments); n > 0 && t.segments[n-1].end.After(start) { // its tools still run
		start = t.segments[n-1].end
	}
	seg := &segment{start: start, end: start}
	t.segments = append(t.segments, seg)
	return seg
}

func (t *story) respond(e integrations.Event, d *data) bool {
	hash := agentkit.HashText(d.Text)
	if n := len(t.segments); n > 0 && t.segments[n-1].answer != "" && hash == t.answers {
		return false
	}
	seg := t.current(true)
	seg.answer, seg.end = e.Ref, e.At
	t.answer, t.answers, t.ready = e.Ref, hash, e.At
	if d.Tokens != nil {
		t.used = d.Tokens
	}
	return true
}

func (t *story) begin(e integrations.Event, d *data) bool {
	for _, c := range t.calls {
		if d.ToolID != "" && c.id == d.ToolID || d.ToolID == "" && (!c.ended || c.pre == "") && c.matches(d) {
			return false // it was heard of, or its end was
		}
	}
	seg := t.current(false)
	if len(seg.calls) == 0 {
		seg.end = e.At
	}
	t.enter(seg, &call{id: d.ToolID, name: d.Tool, hash: d.InputHash, task: d.Hash, pre: e.Ref, start: e.At})
	t.open++
	return true
}

// finish pairs the end of a call with its beginning: by its id, else with the first
// open one of the same tool and input. One whose beginning was not heard of is known by
// how long it took.
func (t *story) finish(e integrations.Event, d *data) (ended *call, news bool) {
	var same *call
	for _, c := range t.calls {
		switch {
		case d.ToolID != "" && c.id == d.ToolID:
			if c.ended {
				return nil, false
			}
			same = c
		case same == nil && !c.ended && c.matches(d) && (d.ToolID == "" || c.id == ""):
			same = c
		}
	}
	if same == nil {
		for _, c := range t.calls {
			if d.ToolID == "" && c.id == "" && c.ended && c.pre != "" && c.matches(d) {
				return nil, false
			}
		}
		seg := t.current(false)
		same = &call{id: d.ToolID, name: d.Tool, hash: d.InputHash, start: e.At}
		if d.DurationMS != nil && *d.DurationMS > 0 {
			same.start = e.At.Add(-time.Duration(*d.DurationMS * float64(time.Millisecond)))
		}
		if same.start.Before(seg.start) {
			same.start = seg.start
		}
		if len(seg.calls) == 0 {
			seg.end = same.start
		}
		t.enter(seg, same)
		t.open++
	}
	same.post = e.Ref
	t.end(same, e)
	if same.agent != "" {
		return nil, true
	}
	return same, true
}

// running reports whether a call has not ended, other than those that subagents end.
func (t *story) running() bool {
	return slices.ContainsFunc(t.calls, func(c *call) bool { return !c.ended && c.agent == "" })
}

func (c *call) matches(d *data) bool { return c.name == d.Tool && c.hash == d.InputHash }

// enter gives a call its place, and a key that no other has.
func (t *story) enter(seg *segment, c *call) {
	c.key = c.id
	if c.key == "" {
		c.key = c.name + "#" + strconv.Itoa(len(t.calls)+1)
	}
	t.calls = append(t.calls, c)
	seg.calls = append(seg.calls, c)
}

func (t *story) end(c *call, e integrations.Event) {
	c.ended, c.end = true, e.At
	t.open--
	if e.At.After(t.ready) {
		t.ready = e.At
	}
}

// callOf is the call that started a subagent, where that is known.
func (t *story) callOf(agent string) *call {
	for _, c := range t.calls {
		if c.agent == agent && agent != "" {
			return c
		}
	}
	return nil
}

// starter is the call that starts a subagent: the one of that id, else of the open ones
// that can be the first with its task, else the only one.
func (t *story) starter(id, task string) *call {
	var open []*call
	for _, c := range t.calls {
		switch {
		case c.id == id && id != "":
			return c
		case !c.ended && c.agent == "" && startsAgent(c.name):
			open = append(open, c)
		}
	}
	for _, c := range open {
		if c.task == task && task != "" {
			return c
		}
	}
	if len(open) == 1 {
		return open[0]
	}
	return nil
}

// refOf is the name of an event in a scope's list.
func refOf(each string) string {
	ref, _, _ := strings.Cut(each, " ")
	return ref
}
