package runtypes

import (
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
)

// TurnOption changes how a turn starts.
type TurnOption func(*setup)

// setup gathers the options of a turn.
type setup struct {
	now        func() time.Time
	name       string
	project    string
	metadata   map[string]any
	tags       []string
	parent     *Parent
	compaction bool
	trigger    string
}

// WithName names the turn's run; the default is the runtime's name and "Turn".
func WithName(name string) TurnOption { return func(s *setup) { s.name = name } }

// WithProject sends the turn to another project than the sink's.
func WithProject(name string) TurnOption { return func(s *setup) { s.project = name } }

// WithMetadata adds the user's own metadata to every run of the turn. The
// identity block wins over it.
func WithMetadata(m map[string]any) TurnOption {
	return func(s *setup) { s.metadata = merged(s.metadata, frozenMap(m)) }
}

// WithTags adds tags to the turn's run.
func WithTags(tags ...string) TurnOption {
	return func(s *setup) { s.tags = append(slices.Clip(s.tags), tags...) }
}

// WithParent attaches the turn to a run that something else started: see
// [Extract] and [ParseParent]. What the parent says of the thread, the
// turn and the repository holds for this turn too, since a trace has to agree on
// them; see [Parent.Adopt]. The zero Parent changes nothing.
func WithParent(p Parent) TurnOption {
	return func(s *setup) {
		if p.DottedOrder != "" {
			s.parent = &p
		}
	}
}

// AsCompaction makes the turn a compaction that the user asked for: a root of its
// own. trigger is manual, as a rule.
func AsCompaction(trigger string) TurnOption {
	return func(s *setup) { s.compaction, s.trigger = true, trigger }
}

// WithClock replaces time.Now, for tests. Nil changes nothing.
func WithClock(now func() time.Time) TurnOption {
	return func(s *setup) {
		if now != nil {
			s.now = now
		}
	}
}

// root builds the turn's run.
func (s *setup) root(runID uuid.UUID, who Identity) *Run {
	if s.parent != nil {
		who = s.parent.Adopt(who)
	}
	who = named(who, runID)
	var r *Run
	if s.parent != nil {
		r = Join(*s.parent, runID, s.now(), who)
		s.metadata = merged(s.parent.Metadata, s.metadata)
		r.Tags = slices.Clone(s.parent.Tags)
	} else {
		r = Root(runID, s.now(), who)
	}
	if s.compaction {
		r.Kind, r.AgentType, r.Name = KindChain, AgentCompaction, compactionName(s.trigger)
	}
	if s.name != "" {
		r.Name = s.name
	}
	if s.project != "" {
		r.Project = s.project
	}
	r.Tags = append(r.Tags, s.tags...)
	return r
}

// named fills in what every run has to say and can be made up: the turn's id, a
// thread of its own, and one of the agent's two names from the other.
func named(who Identity, runID uuid.UUID) Identity {
	fill := func(to *string, from string) {
		if *to == "" {
			*to = from
		}
	}
	fill(&who.TurnID, runID.String())
	fill(&who.ThreadID, who.TurnID)
	fill(&who.Runtime, who.Integration)
	fill(&who.Integration, who.Runtime)
	return who
}

// merged returns a map of its own that holds both; over wins.
func merged(m, over map[string]any) map[string]any {
	if len(m)+len(over) == 0 {
		return nil
	}
	all := make(map[string]any, len(m)+len(over))
	maps.Copy(all, m)
	maps.Copy(all, over)
	return all
}
