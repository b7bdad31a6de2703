package aguitrace

import (
	"fmt"
	"sync"

	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
)

// Recorder records a stream that this program makes. It is safe for concurrent use; the
// order of events is that of the calls.
type Recorder struct {
	tracer  *Tracer
	mu      sync.Mutex
	reducer *agui.Reducer
	number  int
	closed  bool
}

// Recorder returns the recorder of a new stream. request is what the client asked for;
// nil: not known.
func (t *Tracer) Recorder(request *agui.RunAgentInput) *Recorder {
	t.mu.Lock()
	t.total.Streams++
	t.mu.Unlock()
	return &Recorder{tracer: t, reducer: t.reducer(request)}
}

// Event takes the JSON of one event. What is wrong with it is counted, and the event goes
// on its way all the same.
func (r *Recorder) Event(raw []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.guard()
	r.take(raw)
}

// Mark takes the JSON of one event and returns what to send in its place: the event with
// the runs that were written for it, under the metadata key langsmith, on RUN_STARTED,
// TEXT_MESSAGE_END and TOOL_CALL_END. All others come back as they are.
func (r *Recorder) Mark(raw []byte, show agui.Marks) (out []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out = raw
	defer r.guard()
	e := r.take(raw)
	if e == nil || r.tracer.sink == nil {
		return raw
	}
	marked := r.reducer.Mark(e, show)
	if marked == e {
		return raw
	}
	if text, err := marked.MarshalJSON(); err == nil {
		out = text
	}
	return out
}

// guard keeps a fault of ours from the agent, at the cost of the rest of the stream.
func (r *Recorder) guard() {
	if fault := recover(); fault != nil {
		r.closed = true
		r.tracer.lose("fault", fmt.Sprintf("%T", fault))
	}
}

func (r *Recorder) take(raw []byte) *agui.Event {
	if r.closed {
		return nil
	}
	r.number++
	e, problems := agui.DecodeJSON(raw)
	for i := range problems {
		problems[i].Event = r.number
	}
	r.reducer.Add(agui.Frame{Number: r.number, Event: e, Problems: problems}, r.tracer.opts.Now())
	return e
}

// Close ends the stream. A run that is open is interrupted: client says whether that was
// by the client's leaving.
func (r *Recorder) Close(clientLeft bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.closed = true
	defer r.guard()
	end := agui.EndOfStream
	if clientLeft {
		end = agui.Disconnected
	}
	r.reducer.Close(end, r.tracer.opts.Now())
	r.tracer.count(r.reducer, false)
}
