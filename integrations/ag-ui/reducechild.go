package agui

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// child is a run below a run of the stream: a model call, a tool call or a subagent.
type child struct {
	kind  runtypes.Kind
	id    string        // of the message, the call or the subagent
	owner string        // subagent whose it is; empty: the root agent's
	base  *runtypes.Run // ids, times and place; the rest is filled in when it is told

	end      time.Time // zero: open
	heard    time.Time // when the latest piece of it came
	cut      bool      // its run ended while it was open
	streamed bool      // there was more of it than a place in a snapshot
	token    time.Time // first content of a model call

	dropped bool // a snapshot took it out: what it was stands

	message   *item   // of a model call, as it was last seen
	reasoning []*item // messages that led to it, as they were last seen
	inputs    json.RawMessage

	call        *call // of a tool call, as it was last seen
	result      *item
	toolName    string // of a call that the stream does not hold
	originalRun string // which made it

	started  *Event // of a subagent
	finished *Event // SUBAGENT_FINISHED or _ERROR

	marks        []moment
	marksDropped int

	posted bool
	sent   [sha256.Size]byte // what was posted
}

// moment is something that happened within a run and is no run.
type moment struct {
	name string
	at   time.Time
	data map[string]any
}

// maxMoments bounds the events of one run; what goes beyond is counted.
const maxMoments = 1000

func (c *child) note(m moment) {
	if len(c.marks) >= maxMoments {
		c.marksDropped++
		return
	}
	c.marks = append(c.marks, m)
}

// runEvents are the moments of a run that began at a time. A run may be given a later
// start than its events, so that no two begin at once; none of them precedes it.
func runEvents(start time.Time, marks []moment) []runtypes.RunEvent {
	var all []runtypes.RunEvent
	for _, m := range marks {
		if m.at.Before(start) {
			m.at = start
		}
		all = append(all, runtypes.RunEvent{Name: m.name, Time: m.at, Data: m.data})
	}
	return all
}

// told is the run of a child as it stands.
func (t *turn) told(c *child) *runtypes.Run {
	run := *c.base
	own := facts{}.text("run_id", t.of.runID)
	if !c.streamed {
		own["source"] = "snapshot"
	}
	if c.marksDropped > 0 {
		own["events_dropped"] = c.marksDropped
	}
	run.Events = runEvents(run.Start, c.marks)
	switch c.kind {
	case runtypes.KindLLM:
		t.tellModelCall(c, &run, own)
	case runtypes.KindTool:
		t.tellToolCall(c, &run, own)
	default:
		t.tellSubagent(c, &run, own)
	}
	return &run
}

// tellModelCall fills in what a model was asked and said.
func (t *turn) tellModelCall(c *child, run *runtypes.Run, own facts) {
	message := t.messageOf(c)
	t.refresh(c.reasoning)
	var told []facts
	for _, r := range c.reasoning {
		told = append(told, facts{}.text("message_id", r.ID).metadata("metadata", r.Metadata))
	}
	own.text("message_id", &c.id).metadata("metadata", message.Metadata)
	if len(told) > 0 {
		own["reasoning"] = told
	}
	run.Inputs = c.inputs
	run.Outputs = outputOf(message, c.reasoning)
	run.Usage = usageOf(message.Metadata)
	run.Model.Name, run.Model.Provider = modelOf(message.Metadata)
	if !c.token.IsZero() {
		run.Events = append(run.Events, runEvents(run.Start, []moment{{name: "new_token", at: c.token}})...)
	}
	t.fillModel(c, run, own)
	run.Metadata = metadataOfRun(message.Metadata, own)
	t.end(c, run)
}

// messageOf is the message of a model call: as it stands, or as it last stood where a
// snapshot took it out.
func (t *turn) messageOf(c *child) *item {
	if now := t.asm.byID[c.id]; now != nil && now.role() == Assistant && !c.dropped {
		c.message = now
	}
	if c.message == nil {
		return &item{}
	}
	return c.message
}

// callOf is a tool call likewise; nil: the stream does not hold it.
func (t *turn) callOf(c *child) *call {
	if now := t.asm.callsBy[c.id]; now != nil && !c.dropped {
		c.call = now
	}
	return c.call
}

// refresh makes messages what they are now; one that a snapshot took out stays.
func (t *turn) refresh(all []*item) {
	for n, each := range all {
		if now := t.asm.byID[Text(each.ID)]; now != nil && now.role() == each.role() {
			all[n] = now
		}
	}
}

// outputOf is what a model call gave: the message, and why it ended where it says so.
func outputOf(message *item, thoughts []*item) json.RawMessage {
	out := struct {
		Messages     []runtypes.Message `json:"messages"`
		FinishReason json.RawMessage    `json:"finishReason,omitempty"`
	}{Messages: []runtypes.Message{{Role: string(Assistant), Content: spoken(message, thoughts), Name: Text(message.Name)}}}
	if why, _ := message.Metadata.Get("finishReason"); kindOf(why) == stringKind {
		out.FinishReason = why
	}
	raw, err := runtypes.Marshal(out)
	if err != nil {
		return nil
	}
	return raw
}

// tellToolCall fills in a call and its result.
func (t *turn) tellToolCall(c *child, run *runtypes.Run, own facts) {
	call := t.callOf(c)
	own.text("tool_call_id", &c.id).text("original_run_id", &c.originalRun)
	var md Metadata
	if call != nil {
		md = call.metadata
		own.metadata("metadata", md).text("parent_message_id", call.parent.ID)
		run.Inputs = arguments(call)
	}
	run.Tool.Name = t.toolName(c)
	run.Name = run.Tool.Name
	if c.result != nil {
		own.text("message_id", c.result.ID).metadata("result_metadata", c.result.Metadata)
		run.Outputs = withoutMedia(c.result.content())
		run.Error = Text(c.result.Error)
	} else if t.waits(c) {
		own["pending"] = true
	}
	run.Metadata = metadataOfRun(md, own)
	run.Metadata["tool_call_id"] = c.id
	if c.result == nil {
		t.end(c, run)
		return
	}
	runtypes.Finish(run, c.end)
}

// toolName is a tool's name, unknown where nothing tells it.
func (t *turn) toolName(c *child) string {
	if call := t.callOf(c); call != nil && call.name != "" {
		return call.name
	}
	if c.toolName != "" {
		return c.toolName
	}
	return "unknown"
}

// waits reports whether a call that ended without a result is one that somebody else is
// to answer: the run ended as it should, or to ask.
func (t *turn) waits(c *child) bool {
	if c.result != nil || c.end.IsZero() {
		return false
	}
	return t.of.status == StatusSuccess || t.of.status == StatusInterrupted && t.reason() == Interrupted && !c.cut
}

// tellSubagent fills in a subagent's task and how it ended.
func (t *turn) tellSubagent(c *child, run *runtypes.Run, own facts) {
	own.text("subagent_run_id", &c.id)
	var md Metadata
	if e := c.started; e != nil {
		md = e.Metadata
		own.metadata("subagent_started", e.Metadata).text("parent_message_id", e.ParentMessageID)
		if e.Description != nil {
			run.Inputs = appendString(nil, *e.Description)
		}
	}
	e := c.finished
	if e != nil {
		md = MergeMetadata(md, e.Metadata)
		own.metadata("subagent_finished", e.Metadata)
		run.Outputs = e.Result
		if run.Outputs == nil {
			run.Outputs = t.lastSaid(c.base)
		}
	}
	own.metadata("metadata", md)
	switch {
	case e == nil:
		own["unfinished"] = true
		t.end(c, run)
	case e.Type == SubagentError:
		run.Error = orText(e.Message, "subagent failed without a message")
		own.text("error_code", e.Code)
		runtypes.Finish(run, c.end)
	case e.Outcome != nil && Text(e.Outcome.Type) == Suspended:
		own["end_reason"] = Suspended
		if len(e.Outcome.InterruptIDs) > 0 {
			own["interrupt_ids"] = e.Outcome.InterruptIDs
		}
		runtypes.Interrupt(run, c.end, "Suspended until an answer comes")
	default:
		runtypes.Finish(run, c.end)
	}
	run.Metadata = metadataOfRun(md, own)
}

// end ends a child as far as its own events say, else as its run ended.
func (t *turn) end(c *child, run *runtypes.Run) {
	end := c.end
	if end.IsZero() {
		end = t.over
	}
	unanswered := c.kind == runtypes.KindTool && c.result == nil && !t.waits(c)
	switch {
	case !c.cut && !unanswered, t.of.status == StatusSuccess:
		runtypes.Finish(run, end)
	case t.of.status == StatusError:
		run.Error = orText(t.of.err, noMessage)
		runtypes.Finish(run, t.over)
	default:
		runtypes.Interrupt(run, t.over, why(t.reason()))
	}
}

func orText(s *string, other string) string {
	if s == nil || *s == "" {
		return other
	}
	return *s
}

// emit tells a child's run once it has come to an end, and again if that has changed.
// Only the last chance is used: a run is posted once and patched at most once.
func (t *turn) emit(c *child) {
	run := t.told(c)
	wire, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: run})
	if err != nil {
		t.sink.refuse()
		return
	}
	raw, err := json.Marshal(wire)
	if err != nil {
		t.sink.refuse()
		return
	}
	sum := sha256.Sum256(raw)
	switch {
	case !c.posted:
		c.posted, c.sent = true, sum
		t.sink.submit(runtypes.Post, run)
	case sum != c.sent && t.settling:
		t.sink.submit(runtypes.Patch, run)
	}
}
