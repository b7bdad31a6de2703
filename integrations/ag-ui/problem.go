package agui

import (
	"slices"
	"strconv"
)

// Codes of what can be wrong with a stream. The first two are the protocol's word on
// metadata; the event that carried it is kept and nothing merges.
const (
	MetadataNull      = "metadata_null"
	MetadataNotObject = "metadata_not_object"

	BadFrame       = "bad_frame"         // no JSON event, bytes that are no protobuf event, or none: skipped
	BadField       = "bad_field"         // a known property of the wrong type: read as absent
	UnknownEvent   = "unknown_event"     // an event this package does not know: skipped
	UnknownMember  = "unknown_member"    // a message or part of a kind this package does not know: left out
	UnknownOutcome = "unknown_outcome"   // read as success
	ArmMismatch    = "arm_type_mismatch" // a protobuf event that calls itself another: its fields decide
	FrameTooLarge  = "frame_too_large"   // beyond the limit: skipped, its bytes never held
	Truncated      = "stream_truncated"  // the stream ended inside a run or a frame

	ContentNotOpen     = "content_not_open" // applied all the same
	ArgsNotOpen        = "args_not_open"    // applied, unless the arguments were complete
	EndNotOpen         = "end_not_open"     // its metadata merges
	ContentUnknownID   = "content_unknown_id"
	ArgsUnknownID      = "args_unknown_id"
	EndUnknownID       = "end_unknown_id"
	ActivityUnknownID  = "activity_unknown_id"
	EncryptedUnknownID = "encrypted_unknown_id"
	ChunkWithoutID     = "chunk_without_id" // not said which item it continues
	OpenItemsAtEnd     = "run_finished_open_items"
	EventAfterRun      = "event_after_run_finished" // applied all the same
	EventBeforeRun     = "event_before_run_started" // opens a run of its own
	NestedRun          = "nested_run_started"       // the run before is interrupted
	DuplicateMessageID = "duplicate_message_id"     // a second tool result under one message id
	ResultWithoutCall  = "result_without_call"      // kept under its call's id
)

// Codes of what the protocol forbids and which yet leaves no doubt what is meant.
const (
	StartAlreadyOpen = "start_already_open" // merges into the item that is open
	ChunkConflict    = "chunk_conflict"     // repeats a property of its item with another value: ignored
	OwnerMismatch    = "owner_mismatch"     // continues another subagent's item: applied
	StepNotOpen      = "step_not_open"
	SubagentNotOpen  = "subagent_not_open"
	SubagentOpen     = "subagent_already_open"
	MissingField     = "missing_field" // a property that the protocol requires of the event
	NullField        = "null_field"    // a null in place of an absent property
)

// MoreProblems stands for those of an event or a stream beyond the first, of which so
// many are kept as the bounds say. Its detail is their number.
const MoreProblems = "more_problems"

// Bounds on the problems that are kept: of one event and of a stream.
const (
	maxEventProblems  = 100
	maxStreamProblems = 10_000
)

// problemList holds problems up to a bound and counts the others.
type problemList struct {
	kept []Problem
	more int
	last int // the event of the latest that was not kept
}

func (l *problemList) add(p Problem, most int) {
	if len(l.kept) < most {
		l.kept = append(l.kept, p)
		return
	}
	l.more, l.last = l.more+1, p.Event
}

// all returns the problems, with one for those that were not kept.
func (l *problemList) all() []Problem {
	if l.more == 0 {
		return l.kept
	}
	more := Problem{Code: MoreProblems, Event: l.last, Detail: strconv.Itoa(l.more)}
	return append(slices.Clip(l.kept), more)
}

// Problem is something wrong with a stream. It carries no content of it.
type Problem struct {
	Code   string `json:"code"`
	Event  int    `json:"event,omitempty"`  // place of the frame in the stream, from 1
	Detail string `json:"detail,omitempty"` // the event's type and property
}

// Error implements error.
func (p *Problem) Error() string {
	if p.Detail == "" {
		return "agui: " + p.Code
	}
	return "agui: " + p.Code + " (" + p.Detail + ")"
}

// Refused reports whether a strict reader refuses the stream for it. What a later
// version of the protocol may add is no fault of the stream, and neither is a change to
// what a snapshot may have dropped.
func (p *Problem) Refused() bool {
	switch p.Code {
	case UnknownEvent, UnknownMember, UnknownOutcome, ActivityUnknownID, EncryptedUnknownID:
		return false
	}
	return true
}

// Harmless reports whether nothing was lost or guessed for it.
func (p *Problem) Harmless() bool {
	switch p.Code {
	case StartAlreadyOpen, ChunkConflict, OwnerMismatch, StepNotOpen, SubagentNotOpen, SubagentOpen, MissingField, NullField:
		return true
	}
	return false
}
