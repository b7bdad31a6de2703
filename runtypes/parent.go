package runtypes

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
)

// Parent is a run that somebody else started and that a turn is attached to.
type Parent struct {
	DottedOrder string
	ID, TraceID uuid.UUID
	Start       time.Time // of the parent; its children start no earlier

	// What the parent says of itself, where it does: see [Extract].
	Identity Identity
	Metadata map[string]any // the user's own
	Tags     []string
	Project  string
}

const (
	// EnvParent is the environment variable that attaches the turns of an agent to
	// a run that started the agent: its dotted order.
	EnvParent = "TRACESMITH_PARENT"
	// EnvParentClaudeCode is the name LangSmith's plugin for Claude Code gives it.
	EnvParentClaudeCode = "CC_LANGSMITH_PARENT_DOTTED_ORDER"
)

// maxDepth bounds the segments of a dotted order that is taken in.
const maxDepth = 64

// segmentTime is the length of a segment's time; a UUID follows it.
const segmentTime = len("20060102T150405000000Z")

// ParseParent reads a run's dotted order: times with six sub-second digits, each
// with a UUID behind it, joined by dots, a parent no later than its child.
func ParseParent(dottedOrder string) (Parent, error) {
	dottedOrder = strings.TrimSpace(dottedOrder)
	segments := strings.SplitN(dottedOrder, ".", maxDepth+1)
	if len(segments) > maxDepth {
		return Parent{}, fmt.Errorf("runtypes: dotted order: deeper than %d runs", maxDepth)
	}
	p := Parent{DottedOrder: dottedOrder}
	for i, segment := range segments {
		start, id, err := parseSegment(segment)
		if err != nil {
			return Parent{}, fmt.Errorf("runtypes: dotted order: segment %d: %w", i+1, err)
		}
		if start.Before(p.Start) {
			return Parent{}, fmt.Errorf("runtypes: dotted order: segment %d: earlier than its parent", i+1)
		}
		if i == 0 {
			p.TraceID = id
		}
		p.ID, p.Start = id, start
	}
	return p, nil
}

// parseSegment reads one run's part of a dotted order, as idgen.Segment writes it.
func parseSegment(s string) (time.Time, uuid.UUID, error) {
	if len(s) != segmentTime+36 {
		return time.Time{}, uuid.Nil, fmt.Errorf("%d bytes, want %d", len(s), segmentTime+36)
	}
	start, err := time.Parse("20060102T150405.000000Z", s[:15]+"."+s[15:segmentTime])
	if err != nil {
		return time.Time{}, uuid.Nil, errors.New("no time with six sub-second digits")
	}
	id, err := uuid.Parse(s[segmentTime:])
	if err != nil || id == uuid.Nil || idgen.Segment(start, id) != s {
		return time.Time{}, uuid.Nil, errors.New("no run id in lower case")
	}
	return start, id, nil
}

// ParentFromEnv reads what [EnvParent], else [EnvParentClaudeCode], holds. The
// zero Parent, which attaches to nothing, is for neither being set.
func ParentFromEnv(env func(string) string) (Parent, error) {
	for _, name := range []string{EnvParent, EnvParentClaudeCode} {
		text := strings.TrimSpace(env(name))
		if text == "" {
			continue
		}
		p, err := ParseParent(text)
		if err != nil {
			return Parent{}, fmt.Errorf("%s: %w", name, err)
		}
		return p, nil
	}
	return Parent{}, nil
}

// Join builds the run of a turn that is attached to another run instead of
// starting a trace. On the wire it is a plain chain.
func Join(p Parent, id uuid.UUID, start time.Time, who Identity) *Run {
	r := Root(id, start, who)
	if r.Start.Before(p.Start) { // another machine's clock
		r.Start = p.Start
	}
	r.Kind = KindChain
	r.TraceID, r.ParentID, r.Remote = p.TraceID, p.ID, p.ID
	r.DottedOrder = idgen.Join(p.DottedOrder, r.Start, id)
	r.Project = p.Project
	return r
}

// Adopt returns the identity of a run under the parent. What all runs of a trace
// share (thread, turn, repository, folder) is the parent's where it says so. The
// program is who's own, or the parent's where who names none; one that has no
// version takes no part in saying so, so name yours if the parent has one.
func (p Parent) Adopt(who Identity) Identity {
	take := func(mine *string, theirs string) {
		if theirs != "" {
			*mine = theirs
		}
	}
	theirs := p.Identity
	take(&who.ThreadID, theirs.ThreadID)
	take(&who.TurnID, theirs.TurnID)
	take(&who.WorkingDirectory, theirs.WorkingDirectory)
	take(&who.UserID, theirs.UserID)
	if theirs.TurnNumber > 0 {
		who.TurnNumber = theirs.TurnNumber
	}
	if theirs.Repo != (Repo{}) {
		who.Repo = theirs.Repo
	}
	who.Level = who.Level.Least(theirs.Level)
	other := who.Integration != "" && who.Integration != theirs.Integration
	if who.Integration == "" {
		who.Integration = theirs.Integration
	}
	if who.Runtime == "" && !other {
		who.Runtime, who.RuntimeVersion = theirs.Runtime, theirs.RuntimeVersion
	}
	return who
}
