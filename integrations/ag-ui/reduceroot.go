package agui

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/tracesmith/tracesmith/runtypes"
)

// startMetadata is what RUN_STARTED carries.
func (t *turn) startMetadata() Metadata {
	if t.started == nil {
		return nil
	}
	return t.started.Metadata
}

// facts are what AG-UI says of a run when it begins.
func (t *turn) facts() facts {
	own := facts{}.text("run_id", t.of.runID).text("thread_id", t.of.threadID).
		metadata("run_started", t.startMetadata())
	if t.started == nil {
		return own
	}
	own.text("protocol_version", t.started.ProtocolVersion).text("parent_run_id", t.started.ParentRunID)
	in := t.started.Input
	if in == nil || len(in.Resume) == 0 {
		return own
	}
	var resume []facts
	for _, entry := range in.Resume {
		each := facts{}.text("interruptId", entry.InterruptID).text("status", entry.Status).metadata("metadata", entry.Metadata)
		if t.r.opts.Answers {
			each.json("payload", entry.Payload)
		}
		resume = append(resume, each)
		if of := t.r.opts.Memory.asker(t.thread, Text(entry.InterruptID)); of != "" {
			own["resumes_run_id"] = of
		}
	}
	own["resume"] = resume
	return own
}

// ended is the root as it stands when the run is over.
func (t *turn) ended() *runtypes.Run {
	run := *t.root
	own, md := t.facts(), t.startMetadata()
	for _, e := range t.ends {
		md = MergeMetadata(md, e.Metadata)
		own.json("usage", runUsage(e))
		if len(e.Metadata) > 0 {
			before, _ := own["run_finished"].(Metadata)
			own["run_finished"] = MergeMetadata(before, e.Metadata)
		}
		if o := e.Outcome; o != nil {
			if len(o.PendingToolCallIDs) > 0 {
				own["pending_tool_call_ids"] = o.PendingToolCallIDs
			}
			if list := questions(o.Interrupts); list != nil {
				own["interrupts"] = list
			}
		}
	}
	own.metadata("snapshot", t.snapshots).json("state", t.state)
	if left := t.leftThoughts(); left != nil {
		own["reasoning"] = left
	}
	if t.marksDropped > 0 {
		own["events_dropped"] = t.marksDropped
	}
	run.Events = runEvents(run.Start, t.marks)
	if run.Outputs = t.of.result; run.Outputs == nil {
		run.Outputs = t.lastSaid(t.root)
	}
	switch t.of.status {
	case StatusError:
		run.Error = orText(t.of.err, noMessage)
		own.text("error_code", t.of.code)
		runtypes.Finish(&run, t.over)
	case StatusInterrupted:
		own["end_reason"] = t.reason()
		runtypes.Interrupt(&run, t.over, why(t.reason()))
	default:
		runtypes.Finish(&run, t.over)
	}
	run.Metadata = metadataOfRun(md, own)
	return &run
}

// questions are the interrupts that a run ended with.
func questions(list []Interrupt) []facts {
	var all []facts
	for _, i := range list {
		all = append(all, facts{}.text("id", i.ID).text("reason", i.Reason).text("message", i.Message).
			text("toolCallId", i.ToolCallID).text("subagentRunId", i.SubagentRunID).json("metadata", i.Metadata))
	}
	return all
}

// leftThoughts are reasoning messages that no model call followed.
func (t *turn) leftThoughts() []facts {
	var all []facts
	for _, owner := range slices.Sorted(maps.Keys(t.thoughts)) {
		t.refresh(t.thoughts[owner])
		for _, i := range t.thoughts[owner] {
			all = append(all, facts{}.text("message_id", i.ID).text("subagent_run_id", i.SubagentRunID).metadata("metadata", i.Metadata))
		}
	}
	return all
}

// lastSaid is the last text of the model calls of an agent, whose run they hang under.
func (t *turn) lastSaid(agent *runtypes.Run) json.RawMessage {
	for _, c := range slices.Backward(t.children) {
		if c.kind != runtypes.KindLLM || c.base.ParentID != agent.ID {
			continue
		}
		i := t.messageOf(c)
		if raw := i.content(); kindOf(raw) == stringKind && len(raw) > 2 {
			return runtypes.Messages(runtypes.Message{Role: string(Assistant), Content: textOf(raw), Name: Text(i.Name)})
		}
	}
	return nil
}

// leave remembers what the next runs of the thread have to know.
func (t *turn) leave() {
	if t.thread == "" {
		return
	}
	memory, runID := t.r.opts.Memory, Text(t.of.runID)
	for _, i := range t.of.interrupts {
		memory.ask(t.thread, Text(i.ID), runID)
	}
	for _, c := range t.children {
		if c.kind != runtypes.KindTool || c.result != nil || c.end.IsZero() {
			continue
		}
		left := calledOnce{name: t.toolName(c), runID: runID}
		if t.of.status == StatusSuccess && !t.r.opts.Settled && !t.foreign {
			left.run = t.told(c)
		}
		memory.leave(t.thread, c.id, left)
	}
}

// answered returns the call of a run before that a result answers.
func (t *turn) answered(callID string) (calledOnce, bool) {
	if t.thread == "" {
		return calledOnce{}, false
	}
	if before, known := t.answers[callID]; known { // by the client, and now by the stream
		return before, true
	}
	before, known := t.r.opts.Memory.answer(t.thread, callID)
	if known {
		t.answers[callID] = before
	}
	return before, known
}

// answerOlder finishes the calls of runs before whose results the client brings.
func (t *turn) answerOlder(messages []Message) {
	for _, m := range messages {
		if Role(Text(m.Role)) != ToolRole || m.ToolCallID == nil {
			continue
		}
		if before, known := t.answered(*m.ToolCallID); known && before.run != nil {
			t.patch(before.run, itemOf(m))
		}
	}
}

// patch adds a result to the call of a run before.
func (t *turn) patch(run *runtypes.Run, result *item) {
	own, ok := run.Metadata[ownKey].(facts)
	if !ok {
		return
	}
	own, all := maps.Clone(own), maps.Clone(run.Metadata)
	delete(own, "pending")
	own.text("message_id", result.ID).metadata("result_metadata", result.Metadata)
	all[ownKey] = own
	done := *run
	done.Metadata = all
	done.Outputs = withoutMedia(result.content())
	done.Error = Text(result.Error)
	t.sink.submit(runtypes.Patch, runtypes.Finish(&done, t.r.clock))
}
