package agui

import "encoding/json"

// Status is how a run or a subagent stands or ended.
type Status string

// Statuses of assembled runs and subagents.
const (
	StatusSuccess     Status = "success"
	StatusError       Status = "error"
	StatusInterrupted Status = "interrupted"
)

// Reasons why a run was interrupted other than by a question.
const (
	ReasonTruncated  = "truncated"  // the stream ended before the run did
	ReasonCancelled  = "cancelled"  // stopped on purpose
	ReasonSuperseded = "superseded" // another run started
)

// run is one run of the stream.
type run struct {
	threadID, runID *string
	implicit        bool // no RUN_STARTED tells of it
	open            bool
	status          Status
	reason          string
	err, code       *string
	usage           []TokenUsage
	result          json.RawMessage
	interrupts      []Interrupt
	resume          []string
	start, end      *int64
}

// subagent is one subagent of the stream.
type subagent struct {
	id, name string
	open     bool
	status   Status
	err      *string
	parent   *string
	call     *string
}

func (a *Assembler) last() *run {
	if len(a.runs) == 0 {
		return nil
	}
	return a.runs[len(a.runs)-1]
}

// enterRun sees to it that the event has a run to belong to.
func (a *Assembler) enterRun(e *Event) {
	last := a.last()
	a.late = false
	switch {
	case e.Type == RunStarted || last != nil && last.open:
	case last == nil:
		a.runs = append(a.runs, &run{implicit: true, open: true, start: e.Timestamp})
		if e.Type != RunError { // a run that could not begin has no other event
			a.report(EventBeforeRun)
		}
	case e.Type == RunError && last.status != StatusError: // fails the run that just finished
	default:
		a.late = true
		a.report(EventAfterRun)
	}
}

func (a *Assembler) runStarted(e *Event) {
	if last := a.last(); last != nil && last.open {
		if !last.implicit { // its missing RUN_STARTED was the fault, and is reported
			a.report(NestedRun)
		}
		a.endRun(StatusInterrupted, ReasonSuperseded, e.Timestamp)
	}
	a.keepMetadata(e)
	r := &run{threadID: e.ThreadID, runID: e.RunID, open: true, start: e.Timestamp}
	a.runs = append(a.runs, r)
	if e.Input == nil {
		return
	}
	for _, m := range e.Input.Messages {
		if a.byID[Text(m.ID)] == nil {
			a.append(itemOf(m))
		}
	}
	for _, entry := range e.Input.Resume {
		r.resume = append(r.resume, Text(entry.InterruptID))
		a.resumed[Text(entry.InterruptID)] = entry.Metadata
	}
}

func (a *Assembler) runFinished(e *Event) {
	a.keepMetadata(e)
	r := a.last()
	if !r.open {
		return // how a run ended does not change but by a failure
	}
	if a.somethingOpen() {
		a.report(OpenItemsAtEnd)
	}
	if r.implicit {
		r.threadID, r.runID = e.ThreadID, e.RunID
	}
	r.result, r.usage = e.Result, e.Usage
	status, reason := StatusSuccess, ""
	if e.Outcome != nil {
		switch Text(e.Outcome.Type) {
		case Success:
			a.pending = append(a.pending, e.Outcome.PendingToolCallIDs...)
		case Interrupted:
			status = StatusInterrupted
			r.interrupts = e.Outcome.Interrupts
			for _, i := range r.interrupts {
				a.asked[Text(i.ID)] = i
			}
		case Cancelled:
			status, reason = StatusInterrupted, ReasonCancelled
		default:
			a.report(UnknownOutcome)
		}
	}
	a.endRun(status, reason, e.Timestamp)
}

func (a *Assembler) runError(e *Event) {
	a.keepMetadata(e)
	r := a.last()
	if !r.open && r.status == StatusError {
		return // the first failure stands
	}
	r.err, r.code = e.Message, e.Code
	if r.err == nil || *r.err == "" {
		text := "run failed without a message"
		r.err = &text
	}
	if e.Usage != nil {
		r.usage = e.Usage
	}
	a.endRun(StatusError, "", e.Timestamp)
}

// endRun ends the latest run and closes what it left open.
func (a *Assembler) endRun(status Status, reason string, at *int64) {
	r := a.last()
	r.open, r.status, r.reason = false, status, reason
	if at != nil {
		r.end = at
	}
	clear(a.open)
	for _, s := range a.subagents {
		if s.open {
			s.open, s.status = false, status
		}
	}
	clear(a.steps)
	clear(a.spans)
}

func (a *Assembler) somethingOpen() bool {
	if len(a.open) > 0 || len(a.steps) > 0 || len(a.spans) > 0 {
		return true
	}
	for _, s := range a.subagents {
		if s.open {
			return true
		}
	}
	return false
}

// Close says that the stream is over. A run that is still open was cut off.
func (a *Assembler) Close() {
	r := a.last()
	if r == nil || !r.open {
		return
	}
	if !a.cut {
		a.event = nil
		a.report(Truncated)
	}
	a.endRun(StatusInterrupted, ReasonTruncated, nil)
}

// subagent keeps the subagents by what is said of them.
func (a *Assembler) subagent(e *Event) {
	a.keepMetadata(e)
	var s *subagent
	for _, each := range a.subagents {
		if each.id == e.Owner() {
			s = each
		}
	}
	if e.Type == SubagentStarted {
		if s != nil && s.open {
			a.report(SubagentOpen)
			return
		}
		a.subagents = append(a.subagents, &subagent{id: e.Owner(), name: Text(e.Name), open: true,
			parent: e.ParentSubagentRunID, call: e.ParentToolCallID})
		return
	}
	if s == nil {
		s = &subagent{id: e.Owner()}
		a.subagents = append(a.subagents, s)
	}
	if !s.open && !a.late {
		a.report(SubagentNotOpen)
	}
	s.open, s.status = false, StatusSuccess
	switch {
	case e.Type == SubagentError:
		s.status, s.err = StatusError, e.Message
	case e.Outcome == nil || Text(e.Outcome.Type) == Success:
	case Text(e.Outcome.Type) == Suspended:
		s.status = StatusInterrupted
	default:
		a.report(UnknownOutcome)
	}
}
