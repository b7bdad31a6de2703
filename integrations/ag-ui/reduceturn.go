package agui

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// turn is a run of the stream on its way to a trace.
type turn struct {
	r    *Reducer
	asm  *Assembler
	sink *outlet
	of   *run

	root    *runtypes.Run
	began   time.Time // the ids' time
	key     string    // the run's, in ids
	thread  string    // as the stream says; empty: it does not
	started *Event    // RUN_STARTED; nil: there was none
	ends    []*Event  // RUN_FINISHED, RUN_ERROR
	over    time.Time // when the first of them came
	foreign bool      // it traces itself
	posted  bool

	older    map[string]bool // messages from before what the run is asked
	known    map[string]bool // messages that were there when it began
	made     map[string]bool // and calls
	hasInput bool

	children []*child
	calls    map[string]*child // model calls by message
	tools    map[string]*child
	subs     map[string]*child
	waiting  []*child           // model calls that are not told yet
	repeated int                // bytes of conversation that the model calls repeat
	thoughts map[string][]*item // reasoning that no model call took yet, by owner
	thought  map[string]bool
	latest   map[string]string     // by owner, the message of the latest model call
	answers  map[string]calledOnce // calls of runs before that this one answers

	marks        []moment
	marksDropped int
	snapshots    Metadata
	state        json.RawMessage
	settling     bool
	models       models
}

// begin opens the trace of a run that the stream has just begun with e.
func (r *Reducer) begin(of *run, e *Event) *turn {
	t := &turn{
		r: r, asm: r.asm, sink: &r.out, of: of,
		older: map[string]bool{}, known: map[string]bool{}, made: map[string]bool{},
		calls: map[string]*child{}, tools: map[string]*child{}, subs: map[string]*child{},
		thoughts: map[string][]*item{}, thought: map[string]bool{}, latest: map[string]string{},
		answers: map[string]calledOnce{},
	}
	t.began = r.next()
	threadID, runID := of.threadID, of.runID
	if of.implicit {
		threadID, runID = e.ThreadID, e.RunID
		if in := r.opts.Request; in != nil && runID == nil {
			threadID, runID = in.ThreadID, in.RunID
		}
	}
	t.thread = Text(threadID)
	t.key = Text(runID)
	if n := r.seen[t.thread+"\x00"+t.key]; n > 0 {
		t.key += "\x00" + strconv.Itoa(n)
	}
	r.seen[t.thread+"\x00"+Text(runID)]++
	if e.Type == RunStarted {
		t.started = e
		t.remember(e.Input)
		t.foreign = !r.opts.Force && tracesItself(e.Metadata)
	}
	if t.foreign {
		t.sink = &outlet{}
		r.out.counts.Skipped++
	}
	id := idOf(t.began, t.thread, t.key, "root", "")
	who := t.identity(id.String(), Text(runID))
	t.root = runtypes.Root(id, t.began, who)
	if t.root.Name = r.opts.Name; t.root.Name == "" {
		t.root.Name = "AG-UI run"
	}
	t.root.Inputs = t.question()
	t.sink.count(runtypes.KindRoot)
	if !r.opts.Settled {
		t.posted = true
		first := *t.root
		first.Metadata = metadataOfRun(t.startMetadata(), t.facts())
		t.sink.submit(runtypes.Post, &first)
	}
	if t.started != nil && e.Input != nil {
		t.answerOlder(e.Input.Messages)
	}
	return t
}

// remember notes which messages the run found and which of them it is asked.
func (t *turn) remember(in *RunAgentInput) {
	for _, i := range t.asm.items {
		t.older[Text(i.ID)], t.known[Text(i.ID)] = true, true
		for _, c := range i.calls {
			t.made[c.id] = true
		}
	}
	if in == nil {
		return
	}
	t.hasInput = true
	items := make([]*item, 0, len(in.Messages))
	for _, m := range in.Messages {
		items = append(items, itemOf(m))
	}
	at, _ := asked(items)
	for _, i := range items[at:] {
		delete(t.older, Text(i.ID))
	}
}

// identity is who the run is: what the options say, and never the stream but for thread
// and run.
func (t *turn) identity(rootID, runID string) runtypes.Identity {
	who := t.r.opts.Identity
	if who.Integration == "" {
		who.Integration = Integration
	}
	if who.Runtime == "" {
		who.Runtime = "AG-UI"
		if t.started != nil && Text(t.started.ProtocolVersion) != "" {
			who.Runtime += " " + *t.started.ProtocolVersion
		}
	}
	if t.thread != "" {
		who.ThreadID = t.thread
	}
	if who.ThreadID == "" {
		who.ThreadID = rootID // a thread of its own
	}
	who.TurnID = runID
	return who
}

// question is what the run is asked: the last messages of the user.
func (t *turn) question() json.RawMessage {
	if t.started == nil || t.started.Input == nil {
		return nil
	}
	var items []*item
	for _, m := range t.started.Input.Messages {
		items = append(items, itemOf(m))
	}
	_, block := asked(items)
	if len(block) == 0 {
		return nil
	}
	return conversation(block)
}

// conversation is a list of messages as a model reads them; nil: none.
func conversation(items []*item) json.RawMessage {
	var list []runtypes.Message
	for _, i := range items {
		if m, ok := said(i); ok {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return runtypes.Messages(list...)
}

// maxRepeated bounds the bytes of conversation that the model calls of one run repeat
// together. From there on each repeats only what is new: a run of a thousand calls would
// otherwise take a thousand times its size.
const maxRepeated = 16 << 20

// before is the conversation that leads to a message of an owner. The reasoning that no
// model call took yet is what this one gives, and none of it.
func (t *turn) before(last *item, owner string) json.RawMessage {
	previous, full := t.latest[owner], t.repeated > maxRepeated
	delta := full || t.r.opts.Inputs == integrations.InputsDelta
	found := previous == ""
	var items []*item
	for _, i := range t.asm.items {
		if i == last {
			break
		}
		id := Text(i.ID)
		switch {
		case Text(i.SubagentRunID) != owner:
		case t.r.opts.Inputs != integrations.InputsThread && t.older[id]:
		case slices.ContainsFunc(t.thoughts[owner], func(r *item) bool { return Text(r.ID) == id }):
		default:
			items = append(items, i)
		}
		if delta && id == previous && previous != "" {
			items, found = items[:0], true
		}
	}
	if full && !found {
		return nil // a snapshot dropped what the new would follow
	}
	inputs := conversation(items)
	t.repeated += len(inputs)
	return inputs
}

// place is the run that an owner's runs hang under.
func (t *turn) place(owner string) *runtypes.Run {
	if c := t.subs[owner]; owner != "" && c != nil {
		return c.base
	}
	return t.root
}

// add makes a child of the turn. of tells children of one native id apart.
func (t *turn) add(kind runtypes.Kind, id, owner string, build func(*runtypes.Run, time.Time) *runtypes.Run) *child {
	c := &child{kind: kind, id: id, owner: owner, streamed: true}
	c.base = build(t.place(owner), t.r.next())
	t.children = append(t.children, c)
	t.sink.count(kind)
	return c
}

// reason is why the run was interrupted.
func (t *turn) reason() string {
	if t.of.reason == "" {
		return Interrupted
	}
	return t.of.reason
}

// why is a reason in words, as the error of an interrupted run.
func why(reason string) string {
	switch End(reason) {
	case Interrupted:
		return "Interrupted to ask"
	case ReasonCancelled:
		return "Cancelled"
	case ReasonSuperseded:
		return "Another run started first"
	case Disconnected:
		return "The client disconnected"
	case Stopped:
		return "Recording was stopped"
	case Lost:
		return "The rest was not recorded"
	}
	return "The stream ended before the run did"
}

const noMessage = "run failed without a message"

// settle tells all that is left of the run. No event can change it any more.
func (t *turn) settle() {
	if t.settling {
		return
	}
	if t.over.IsZero() {
		t.finish(nil)
	}
	t.settling = true
	t.models = t.modelsKnown()
	for _, c := range t.children {
		t.emit(c)
	}
	t.leave()
	verb := runtypes.Patch
	if !t.posted {
		verb = runtypes.Post
	}
	t.sink.submit(verb, t.ended())
}

// finish notes the end of the run, with its event where there is one. What is open then
// was cut off, unless its own end comes late.
func (t *turn) finish(e *Event) {
	if e != nil {
		t.ends = append(t.ends, e)
	}
	if !t.over.IsZero() {
		return
	}
	t.over = t.r.clock
	for _, c := range t.children {
		c.cut = c.cut || c.end.IsZero()
	}
}
