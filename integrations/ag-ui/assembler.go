package agui

// Assembler puts the messages, tool calls and runs of a stream together, as the
// protocol's own client does, but for one thing: it fails on nothing. Messages live on
// from run to run of a stream. It is not for concurrent use.
type Assembler struct {
	normal Normalizer

	items   []*item          // the conversation, in order
	byID    map[string]*item // of several under one id, the first
	callsBy map[string]*call
	open    map[itemID]bool // what the stream has open, which a snapshot does not change
	steps   map[string]int
	spans   map[string]bool // open spans of reasoning

	runs      []*run
	subagents []*subagent
	pending   []string            // calls that the client is to answer
	events    map[string]Metadata // of events whose metadata stays on them
	resumed   map[string]Metadata
	asked     map[string]Interrupt
	encrypted map[string]string

	problems problemList
	frame    int    // the frame being applied
	event    *Event // and its event
	late     bool   // which comes after its run's end
	cut      bool   // the stream's end inside a frame was told
}

// NewAssembler returns an assembler that knows nothing yet.
func NewAssembler() *Assembler {
	return &Assembler{
		byID: map[string]*item{}, callsBy: map[string]*call{}, open: map[itemID]bool{}, steps: map[string]int{}, spans: map[string]bool{},
		events: map[string]Metadata{}, resumed: map[string]Metadata{}, asked: map[string]Interrupt{},
		encrypted: map[string]string{},
	}
}

// Apply takes the next frame in.
func (a *Assembler) Apply(f Frame) {
	a.frame = f.Number
	for _, p := range f.Problems {
		a.cut = a.cut || p.Code == Truncated
		a.note(p)
	}
	if f.Event == nil {
		return
	}
	events, problems := a.normal.Apply(f.Event)
	for _, p := range problems {
		p.Event = f.Number
		a.note(p)
	}
	for _, e := range events {
		a.apply(e)
	}
}

// Problems returns what was wrong so far, in the order it was found: the first ten
// thousand, and one with the code MoreProblems for those beyond.
func (a *Assembler) Problems() []Problem { return a.problems.all() }

func (a *Assembler) note(p Problem) { a.problems.add(p, maxStreamProblems) }

// Messages returns the conversation as it stands.
func (a *Assembler) Messages() []Message {
	all := make([]Message, len(a.items))
	for i, each := range a.items {
		all[i] = each.message()
	}
	return all
}

func (a *Assembler) report(code string) {
	p := Problem{Code: code, Event: a.frame}
	if a.event != nil {
		p.Detail = string(a.event.Type)
	}
	a.note(p)
}

func (a *Assembler) apply(e *Event) {
	a.event = e
	a.enterRun(e)
	switch e.Type {
	case RunStarted:
		a.runStarted(e)
	case RunFinished:
		a.runFinished(e)
	case RunError:
		a.runError(e)
	case StepStarted, StepFinished:
		a.step(e)
	case TextMessageStart, ReasoningMessageStart:
		a.messageStart(e)
	case TextMessageContent, ReasoningMessageContent:
		a.messageContent(e)
	case TextMessageEnd, ReasoningMessageEnd:
		a.messageEnd(e)
	case ToolCallStart:
		a.callStart(e)
	case ToolCallArgs:
		a.callArgs(e)
	case ToolCallEnd:
		a.callEnd(e)
	case ToolCallResult:
		a.callResult(e)
	case MessagesSnapshot:
		a.keepMetadata(e)
		a.snapshot(e.Messages)
	case ActivitySnapshot:
		a.activitySnapshot(e)
	case ActivityDelta:
		a.activityDelta(e)
	case ReasoningStart:
		a.spans[Text(e.MessageID)] = true
	case ReasoningEnd:
		if !a.spans[Text(e.MessageID)] && !a.late {
			a.report(EndNotOpen)
		}
		delete(a.spans, Text(e.MessageID))
	case ReasoningEncryptedValue:
		a.encryptedValue(e)
	case SubagentStarted, SubagentFinished, SubagentError:
		a.subagent(e)
	}
}

// keepMetadata keeps an event's metadata, which merges into nothing.
func (a *Assembler) keepMetadata(e *Event) {
	if e.Metadata != nil {
		a.events[string(e.Type)] = e.Metadata
	}
}

func (a *Assembler) step(e *Event) {
	a.keepMetadata(e)
	name := e.Owner() + "\x00" + Text(e.StepName)
	switch {
	case e.Type == StepStarted:
		a.steps[name]++
	case a.steps[name] == 0:
		if !a.late {
			a.report(StepNotOpen)
		}
	case a.steps[name] == 1:
		delete(a.steps, name)
	default:
		a.steps[name]--
	}
}

// encryptedValue sets what only the provider can read, and merges nothing.
func (a *Assembler) encryptedValue(e *Event) {
	id := Text(e.EntityID)
	switch Text(e.Subtype) {
	case "tool-call":
		if c := a.callsBy[id]; c != nil {
			c.encrypted = e.EncryptedValue
			a.encrypted[id] = Text(e.EncryptedValue)
			return
		}
	default:
		if i := a.byID[id]; i != nil {
			i.EncryptedValue = e.EncryptedValue
			a.encrypted[id] = Text(e.EncryptedValue)
			return
		}
	}
	a.report(EncryptedUnknownID)
}
