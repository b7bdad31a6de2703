package agui

// Compact returns the events of a stored stream with less of them: the deltas of a
// message or a call become one, with their metadata merged in arrival order, chunks are
// spelled out, and the changes of the state within a run become one snapshot. What
// assembles from it is the same, metadata and content alike: a delta never moves across
// an event that could see the difference, such as a snapshot of the messages. The events
// given are not changed; the result shares their values.
func Compact(events []*Event) []*Event {
	c := compactor{
		spell: Normalizer{verbatim: true},
		open:  map[itemID]bool{}, folds: map[itemID]*fold{}, states: map[string]*stateFold{},
	}
	for _, e := range events {
		spelled, _ := c.spell.Apply(e)
		for _, each := range spelled {
			c.take(each)
		}
	}
	c.settle()
	kept := c.out[:0]
	for _, e := range c.out {
		if e != nil {
			kept = append(kept, e)
		}
	}
	return kept
}

// itemID is a message or a call.
type itemID struct {
	call bool
	id   string
}

// fold is the delta that later ones of its item are folded into.
type fold struct {
	event *Event // a copy, to be changed
	text  grown
	owner string
}

// stateFold is the state of an owner since its last snapshot within a run.
type stateFold struct {
	snapshot *Event // a copy, nil: none yet
	places   []int  // of the events it stands for
}

type compactor struct {
	spell  Normalizer
	out    []*Event // nil: folded into another
	open   map[itemID]bool
	folds  map[itemID]*fold
	states map[string]*stateFold
}

func (c *compactor) take(e *Event) {
	switch e.Type {
	case TextMessageContent, ToolCallArgs:
		if c.fold(e) {
			return
		}
	case StateSnapshot, StateDelta:
		c.state(e)
		return
	case RunStarted, RunFinished, RunError:
		c.settle()
		clear(c.open)
	case MessagesSnapshot:
		c.endFolds()
	}
	for _, id := range mentioned(e) {
		c.endFold(id)
	}
	switch e.Type {
	case TextMessageStart:
		c.open[itemID{false, Text(e.MessageID)}] = true
	case TextMessageEnd:
		delete(c.open, itemID{false, Text(e.MessageID)})
	case ToolCallStart:
		c.open[itemID{true, Text(e.ToolCallID)}] = true
	case ToolCallEnd:
		delete(c.open, itemID{true, Text(e.ToolCallID)})
	}
	c.out = append(c.out, e)
}

// mentioned lists what an event is about: the items whose deltas must not pass it.
func mentioned(e *Event) []itemID {
	var ids []itemID
	for _, id := range []*string{e.MessageID, e.ParentMessageID, e.ToolCallID} {
		if id != nil {
			ids = append(ids, itemID{false, *id}) // a call may make a message of its own id
		}
	}
	if e.ToolCallID != nil {
		ids = append(ids, itemID{true, *e.ToolCallID})
	}
	return ids
}

// fold adds a delta to the one before it, or begins with it. It is false for a delta
// that stands alone: of an item that is not open, what becomes of it depends on what is
// there.
func (c *compactor) fold(e *Event) bool {
	id := itemID{false, Text(e.MessageID)}
	if e.Type == ToolCallArgs {
		id = itemID{true, Text(e.ToolCallID)}
	}
	if !c.open[id] {
		return false
	}
	f := c.folds[id]
	if f != nil && f.owner != e.Owner() {
		c.endFold(id)
		f = nil
	}
	if f == nil {
		first := *e
		f = &fold{event: &first, owner: e.Owner()}
		c.folds[id] = f
		c.out = append(c.out, f.event)
	} else {
		f.event.Metadata = MergeMetadata(f.event.Metadata, e.Metadata)
	}
	f.text.add(e.Delta, e.ends)
	return true
}

func (c *compactor) endFold(id itemID) {
	if f := c.folds[id]; f != nil {
		text := f.text.String()
		f.event.Delta = &text
		f.event.ends.tail = f.text.half
		delete(c.folds, id)
	}
}

func (c *compactor) endFolds() {
	for id := range c.folds {
		c.endFold(id)
	}
}

// settle ends all that is being folded.
func (c *compactor) settle() {
	c.endFolds()
	clear(c.states)
}

// state folds a snapshot and the changes after it into one snapshot, where the last of
// them stood. Changes without a snapshot before them pass, as does what does not fit.
func (c *compactor) state(e *Event) {
	s := c.states[e.Owner()]
	if s == nil {
		s = &stateFold{}
		c.states[e.Owner()] = s
	}
	here := len(c.out)
	c.out = append(c.out, e)
	if e.Type == StateSnapshot {
		for _, place := range s.places {
			c.out[place] = nil
		}
		s.snapshot, s.places = e, []int{here}
		return
	}
	if s.snapshot == nil {
		s.places = append(s.places, here) // dropped by a snapshot that follows
		return
	}
	patched, err := applyPatch(s.snapshot.Snapshot, e.Patch)
	if err != nil {
		delete(c.states, e.Owner())
		return
	}
	now := *s.snapshot
	now.Snapshot, now.Timestamp = patched, e.Timestamp
	now.Metadata = MergeMetadata(now.Metadata, e.Metadata)
	for _, place := range s.places {
		c.out[place] = nil
	}
	c.out[here] = &now
	s.snapshot, s.places = &now, []int{here}
}
