package agui

import (
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Integration is what runs of a stream call themselves unless they are told otherwise.
const Integration = "ag-ui"

// RunOptions say how runs are made of a stream. The zero value of every field is usable.
type RunOptions struct {
	// Identity is who the agent is and which repository it works in. A stream never
	// says so. Empty: the integration ag-ui, the runtime AG-UI with the protocol's
	// version. Its thread holds for runs that name none.
	Identity runtypes.Identity
	Name     string // of the root runs. Empty: AG-UI run
	// Request is what the client posted, for a stream whose RUN_STARTED does not repeat
	// it. Nil: not known.
	Request *RunAgentInput
	Inputs  integrations.Inputs // what model calls repeat. Empty: this run's messages
	Unit    time.Duration       // of the events' timestamps. 0: milliseconds
	State   bool                // keep the final state on the root
	Answers bool                // keep the payloads that resume a run
	Settled bool                // write each run once, when its AG-UI run is over
	Force   bool                // record runs that say they trace themselves
	Memory  *Memory             // what streams before have left. Nil: nothing
}

// End is why a stream is over.
type End string

// Ends of a stream.
const (
	EndOfStream  End = ReasonTruncated     // it came to its end; an open run was cut off
	Disconnected End = "client_disconnect" // the client went away
	Stopped      End = "stopped"           // whoever recorded it was stopped
	Lost         End = "not_recorded"      // the recording fell behind, or what came could not be read
)

// Reducer folds the events of one stream into runs: each run of the stream becomes a
// trace of its own, with its model calls, tool calls and subagents. The root is written
// when it begins, what is below it as it completes, and the root again when no event can
// change it any more: at the next run, or at the stream's end. It is deterministic, and
// not for concurrent use.
type Reducer struct {
	opts RunOptions
	out  outlet
	asm  *Assembler
	turn *turn
	seen map[string]int // runs of the stream by thread and run

	clock  time.Time     // of the latest event; never goes back
	start  time.Time     // of the latest run: no two begin at once
	skew   time.Duration // from our clock to the stream's
	closed bool
}

// NewReducer returns a reducer that writes to sink. A nil sink takes nothing.
func NewReducer(sink runtypes.Sink, opts RunOptions) *Reducer {
	if opts.Unit <= 0 {
		opts.Unit = time.Millisecond
	}
	if opts.Memory == nil {
		opts.Memory = &Memory{}
	}
	return &Reducer{opts: opts, out: outlet{sink: sink}, asm: NewAssembler(), seen: map[string]int{}}
}

// Add takes the next frame of the stream, which arrived at a time.
func (r *Reducer) Add(f Frame, arrived time.Time) {
	if r.closed {
		return
	}
	r.asm.Apply(Frame{Number: f.Number, Problems: f.Problems})
	if f.Event == nil {
		return
	}
	e := r.withRequest(f.Event)
	r.tick(e, arrived)
	events, problems := r.asm.normal.Apply(e)
	for i := range problems {
		problems[i].Event = f.Number
	}
	r.asm.Apply(Frame{Number: f.Number, Problems: problems})
	for _, each := range events {
		r.asm.apply(each)
		r.fold(each)
	}
}

// Close says that the stream is over, and why: a run that is open is interrupted.
func (r *Reducer) Close(end End, at time.Time) {
	if r.closed {
		return
	}
	r.closed = true
	r.tick(&Event{}, at)
	if r.turn == nil {
		return
	}
	if r.turn.of.open {
		r.asm.Close()
		if end != "" {
			r.turn.of.reason = string(end)
		}
	}
	r.turn.settle()
}

// Fail records that a request was not answered with a stream: a run that never began.
func (r *Reducer) Fail(message string, at time.Time) {
	in := r.opts.Request
	if in == nil || in.RunID == nil || r.closed {
		return
	}
	started := &Event{Type: RunStarted, ThreadID: in.ThreadID, RunID: in.RunID, ParentRunID: in.ParentRunID, Input: in}
	r.Add(Frame{Event: started}, at)
	r.Add(Frame{Event: &Event{Type: RunError, Message: &message}}, at)
}

// Abort fails a run that is open for a reason that its stream does not tell, or one that
// a request named and that never began.
func (r *Reducer) Abort(message string, at time.Time) {
	switch {
	case r.closed:
	case r.turn == nil:
		r.Fail(message, at)
	case r.turn.of.open:
		r.Add(Frame{Event: &Event{Type: RunError, Message: &message}}, at)
	}
}

// Problems returns what was wrong with the stream so far.
func (r *Reducer) Problems() []Problem { return r.asm.Problems() }

// Counts says how many runs were written.
func (r *Reducer) Counts() Counts { return r.out.counts }

// withRequest gives RUN_STARTED the input that it does not repeat.
func (r *Reducer) withRequest(e *Event) *Event {
	in := r.opts.Request
	if e.Type != RunStarted || in == nil || e.Input != nil {
		return e
	}
	if in.RunID != nil && e.RunID != nil && *in.RunID != *e.RunID {
		return e
	}
	own := *e
	own.Input = in
	return &own
}

// fold takes in an event that the assembler has applied.
func (r *Reducer) fold(e *Event) {
	run := r.asm.last()
	if r.turn == nil || r.turn.of != run {
		if r.turn != nil {
			r.turn.settle()
		}
		r.turn = r.begin(run, e)
	}
	r.turn.fold(e)
}

// Bounds between which a timestamp is taken for one.
var (
	earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// tick moves the clock to an event: to its own timestamp where that can be one, else to
// its arrival. Events are never put in another order for it.
func (r *Reducer) tick(e *Event, arrived time.Time) {
	arrived = arrived.UTC()
	now := arrived.Add(r.skew)
	if e.Timestamp != nil {
		if at, ok := r.timeOf(*e.Timestamp); ok {
			now, r.skew = at, at.Sub(arrived)
		}
	}
	if now.After(r.clock) {
		r.clock = now
	}
}

func (r *Reducer) timeOf(stamp int64) (time.Time, bool) {
	perSecond := int64(time.Second / r.opts.Unit)
	if perSecond == 0 {
		return time.Time{}, false
	}
	at := time.Unix(stamp/perSecond, stamp%perSecond*int64(r.opts.Unit)).UTC()
	return at, at.After(earliest) && at.Before(latest)
}

// next is the time at which a run begins: later than every run before it, so that the
// dotted order is that of arrival.
func (r *Reducer) next() time.Time {
	at := r.clock.Truncate(time.Microsecond)
	if !at.After(r.start) {
		at = r.start.Add(time.Microsecond)
	}
	r.start = at
	return at
}

// Counts are numbers of runs.
type Counts struct {
	Runs, LLM, Tools, Subagents int
	Skipped                     int // runs of the stream that trace themselves
	Refused                     int // writes that the sink did not take
}

// outlet hands runs to a sink and counts them.
type outlet struct {
	sink   runtypes.Sink
	counts Counts
}

func (o *outlet) submit(verb runtypes.Verb, run *runtypes.Run) {
	if o.sink != nil && o.sink.Submit(runtypes.Op{Verb: verb, Run: run}) != nil {
		o.refuse()
	}
}

func (o *outlet) refuse() { o.counts.Refused++ }

func (o *outlet) count(kind runtypes.Kind) {
	switch kind {
	case runtypes.KindLLM:
		o.counts.LLM++
	case runtypes.KindTool:
		o.counts.Tools++
	case runtypes.KindSubagent:
		o.counts.Subagents++
	default:
		o.counts.Runs++
	}
}

// idOf derives the id of a run of a turn.
func idOf(turn time.Time, thread, run, kind, native string) uuid.UUID {
	return idgen.Run(turn, Integration, thread, run, kind, native)
}
