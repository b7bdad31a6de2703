package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Options vary how the same history is told. Every variation must give the same
// runs: that is what a reducer promises.
type Options struct {
	// Cut throws the reducers away after every step and restores them from their
	// checkpoints.
	Cut bool
	// Polls tells of grown files before every step, as a drainer does that is
	// awake all the time.
	Polls bool
	// Late shows all of the agent's files from the first step on, as a drainer
	// sees them that comes when everything is over.
	Late bool
	// Inputs is the user's choice of what model calls repeat.
	Inputs integrations.Inputs
	// Told is given what each call of a reducer wrote, redacted. Nil: nobody asks.
	Told func([]runtypes.Op)
}

func (o Options) reducer() integrations.Options { return integrations.Options{Inputs: o.Inputs} }

// Result is what a recording gives.
type Result struct {
	Runs []runtypes.Wire // final state, parents first
	Ops  int             // writes it took
}

// Run replays the recording as the given agent's.
func (rec *Recording) Run(agent *integrations.Agent, o Options) (Result, error) {
	p := rec.newPlayer(agent, o)
	if len(rec.Steps) == 0 {
		return Result{}, errors.New("replay: the recording has no events")
	}
	for i, step := range rec.Steps {
		if err := p.step(step); err != nil {
			return Result{}, fmt.Errorf("replay: event %d (%s): %w", i+1, step.Event, err)
		}
	}
	if err := p.finish(); err != nil {
		return Result{}, err
	}
	return Result{Runs: p.runs.final(), Ops: p.runs.ops}, nil
}

// player is a replay under way.
type player struct {
	agent    *integrations.Agent
	options  Options
	files    *files
	sessions map[string]integrations.Reducer
	order    []string // sessions as they appeared
	streams  map[int]*stream
	runs     *ledger
}

// stream is a shim's stream of lines under way.
type stream struct {
	peek     func(integrations.Payload) (integrations.Route, error)
	sessions []string // that it spoke of
}

// newPlayer returns a player at the beginning of the recording.
func (rec *Recording) newPlayer(agent *integrations.Agent, o Options) *player {
	return &player{
		agent: agent, options: o, files: rec.files(), runs: newLedger(),
		sessions: map[string]integrations.Reducer{}, streams: map[int]*stream{},
	}
}

func (p *player) step(s Step) error {
	p.files.moveTo(s)
	payload := integrations.Payload{
		Body: compact(s.Body), Args: s.Argv,
		Env:    p.env,
		Exists: p.files.Exists, Parent: s.PID,
	}
	switch {
	case s.Hangup:
		return p.hangUp(s)
	case len(payload.Body) == 0:
		return nil // the agent was stopped before it had told its hook anything
	}
	route, err := p.peek(s, payload)
	if errors.Is(err, integrations.ErrIdle) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, registered := p.agent.Hook(route.Event); !registered {
		return nil // recorded for study
	}
	kept, err := p.agent.Project(payload)
	if err != nil {
		return err
	}
	if kept, err = redact.Fast(kept); err != nil {
		return err
	}
	if p.options.Late {
		p.files.showAll()
	}
	if p.options.Polls {
		if err := p.tellAll(integrations.Event{Kind: integrations.Grew}); err != nil {
			return err
		}
	}
	entry, err := throughJournal(journal.Entry{
		At: s.At, Event: route.Event, Session: route.Session, CWD: route.CWD, Data: kept,
	})
	if err != nil {
		return err
	}
	return p.enter(entry)
}

// env is the agent's environment: it says where home is, and no more.
func (p *player) env(key string) string {
	if key == "HOME" {
		return p.files.prefix
	}
	return ""
}

// peek reads where an event belongs, as the reader of its stream does if it has one.
func (p *player) peek(s Step, payload integrations.Payload) (integrations.Route, error) {
	if p.agent.Stream == nil {
		return p.agent.Peek(payload)
	}
	if p.streams[s.PID] == nil {
		p.streams[s.PID] = &stream{peek: p.agent.Stream()}
	}
	st := p.streams[s.PID]
	route, err := st.peek(payload)
	if _, registered := p.agent.Hook(route.Event); err == nil && registered && !slices.Contains(st.sessions, route.Session) {
		st.sessions = append(st.sessions, route.Session)
	}
	return route, err
}

// hangUp ends a stream: its sessions are told so.
func (p *player) hangUp(s Step) error {
	st := p.streams[s.PID]
	if st == nil {
		return nil
	}
	delete(p.streams, s.PID)
	data, err := json.Marshal(integrations.Stream{PID: s.PID})
	if err != nil {
		return fmt.Errorf("hang-up: %w", err)
	}
	for _, session := range st.sessions {
		entry, err := throughJournal(journal.Entry{At: s.At, Event: integrations.Hangup, Session: session, Data: data})
		if err != nil {
			return err
		}
		if err := p.enter(entry); err != nil {
			return err
		}
	}
	return nil
}

// enter tells a journal entry to its session's reducer.
func (p *player) enter(entry journal.Entry) error {
	if p.sessions[entry.Session] == nil {
		p.sessions[entry.Session] = p.agent.NewReducer(p.options.reducer())
		p.order = append(p.order, entry.Session)
	}
	return p.tell(entry.Session, p.files.tell(integrations.Event{
		Kind: entry.Event, At: entry.At, CWD: entry.CWD, Head: entry.Head, Data: entry.Data,
	}))
}

// finish tells what a drainer learns in the end: the files are complete and the
// agent's process is gone.
func (p *player) finish() error {
	p.files.showAll()
	for _, kind := range []string{integrations.Grew, integrations.Dead} {
		if err := p.tellAll(integrations.Event{Kind: kind}); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) tellAll(e integrations.Event) error {
	for _, session := range p.order {
		if err := p.tell(session, e); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) tell(session string, e integrations.Event) error {
	ops, err := p.sessions[session].Apply(p.files, e)
	if err != nil {
		return err
	}
	told := make([]runtypes.Op, 0, len(ops))
	for _, op := range ops {
		run, err := p.runs.add(op)
		if err != nil {
			return err
		}
		told = append(told, runtypes.Op{Verb: op.Verb, Run: run})
	}
	if p.options.Told != nil && len(told) > 0 {
		p.options.Told(told)
	}
	if !p.options.Cut {
		return nil
	}
	state, err := json.Marshal(p.sessions[session])
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	restored := p.agent.NewReducer(p.options.reducer())
	if err := json.Unmarshal(state, restored); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	p.sessions[session] = restored
	return nil
}

// throughJournal is what a journal line makes of an entry.
func throughJournal(e journal.Entry) (journal.Entry, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return journal.Entry{}, fmt.Errorf("journal: %w", err)
	}
	var back journal.Entry
	if err := json.Unmarshal(raw, &back); err != nil {
		return journal.Entry{}, fmt.Errorf("journal: %w", err)
	}
	return back, nil
}

// ledger holds what a server would: each run posted once and patched at most once.
type ledger struct {
	ops    int
	posted map[uuid.UUID]runtypes.Wire
	closed map[uuid.UUID]bool
	order  []uuid.UUID
}

func newLedger() *ledger {
	return &ledger{posted: map[uuid.UUID]runtypes.Wire{}, closed: map[uuid.UUID]bool{}}
}

// add takes an op in and returns its run as redacted.
func (l *ledger) add(op runtypes.Op) (*runtypes.Run, error) {
	l.ops++
	run := *op.Run
	if err := redact.Run(&run); err != nil {
		return nil, fmt.Errorf("redact run %s: %w", run.ID, err)
	}
	wire, err := runtypes.Encode(runtypes.Op{Verb: op.Verb, Run: &run})
	if err != nil {
		return nil, err
	}
	before, known := l.posted[run.ID]
	switch {
	case op.Verb == runtypes.Post && known:
		return nil, fmt.Errorf("run %s (%s) posted twice", run.ID, run.Name)
	case op.Verb == runtypes.Post:
		l.order = append(l.order, run.ID)
		l.posted[run.ID] = wire
	case !known:
		return nil, fmt.Errorf("run %s (%s) patched before its post", run.ID, run.Name)
	case l.closed[run.ID]:
		return nil, fmt.Errorf("run %s (%s) patched twice", run.ID, run.Name)
	default:
		l.closed[run.ID] = true
		l.posted[run.ID] = runtypes.MergeWire(before, wire)
	}
	return &run, nil
}

// final sorts by dotted order: parents first, siblings by time.
func (l *ledger) final() []runtypes.Wire {
	runs := make([]runtypes.Wire, 0, len(l.order))
	for _, id := range l.order {
		runs = append(runs, l.posted[id])
	}
	slices.SortFunc(runs, func(a, b runtypes.Wire) int {
		switch {
		case a.DottedOrder < b.DottedOrder:
			return -1
		case a.DottedOrder > b.DottedOrder:
			return 1
		default:
			return 0
		}
	})
	return runs
}
