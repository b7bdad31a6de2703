package aguitrace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Defaults of Options.
const (
	defaultQueue   = 8 << 20
	defaultRequest = 8 << 20
	defaultStream  = 256 << 20
)

// Options say how streams are recorded. The zero value of every field is usable.
type Options struct {
	// Runs say how runs are made: who the agent is, what is kept. Request and Memory are
	// set for each stream.
	Runs agui.RunOptions
	// Queue bounds what of one stream waits to be folded, in bytes: 8 MiB. What goes
	// beyond ends the recording of that stream.
	Queue int
	// Request bounds what is read of a request's body, in bytes: 8 MiB. Of a larger one
	// nothing is known.
	Request int
	// Stream bounds what is recorded of one stream, in bytes: 256 MiB. Its messages are in
	// memory until their run is over.
	Stream int64
	Logger *slog.Logger     // gets ids, counts and codes, never content. Nil: silence
	Now    func() time.Time // Nil: time.Now
}

// Tracer records streams. It is safe for concurrent use.
type Tracer struct {
	sink   runtypes.Sink
	opts   Options
	memory *agui.Memory

	mu      sync.Mutex
	folding []*folding // in the order they began
	total   Totals
}

// Totals are what a Tracer has recorded.
type Totals struct {
	agui.Counts
	Streams  int
	Lost     int            // streams of which not all was recorded
	Problems map[string]int // by code
}

// New returns a tracer that writes to sink. With a nil sink everything passes and
// nothing is recorded.
func New(sink runtypes.Sink, opts Options) *Tracer {
	if opts.Queue <= 0 {
		opts.Queue = defaultQueue
	}
	if opts.Request <= 0 {
		opts.Request = defaultRequest
	}
	if opts.Stream <= 0 {
		opts.Stream = defaultStream
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Tracer{sink: sink, opts: opts, memory: &agui.Memory{}, total: Totals{Problems: map[string]int{}}}
}

// Handler records what an AG-UI server answers, with the defaults. See [Tracer.Handler].
func Handler(next http.Handler, sink runtypes.Sink) http.Handler {
	return New(sink, Options{}).Handler(next)
}

// Transport records what an AG-UI client reads, with the defaults. See
// [Tracer.Transport].
func Transport(base http.RoundTripper, sink runtypes.Sink) http.RoundTripper {
	return New(sink, Options{}).Transport(base)
}

// Totals returns what was recorded so far.
func (t *Tracer) Totals() Totals {
	t.mu.Lock()
	defer t.mu.Unlock()
	total := t.total
	total.Problems = make(map[string]int, len(t.total.Problems))
	for code, n := range t.total.Problems {
		total.Problems[code] = n
	}
	return total
}

// Wait waits until all streams that have begun are over, folded and handed to the sink,
// or ctx ends.
func (t *Tracer) Wait(ctx context.Context) error {
	t.mu.Lock()
	begun := slices.Clone(t.folding)
	t.mu.Unlock()
	for _, each := range begun {
		select {
		case <-each.done:
		case <-ctx.Done():
			return fmt.Errorf("aguitrace: wait: %w", ctx.Err())
		}
	}
	return nil
}

// folding is a stream on its way to runs.
type folding struct {
	from *pipe
	done chan struct{}
}

// fold starts the goroutine that turns a stream's bytes into runs. It begins when the
// streams that are over by now are folded: what they left, the next run of their thread
// has to know.
func (t *Tracer) fold(from *pipe, how decoding, request *agui.RunAgentInput) {
	own := &folding{from, make(chan struct{})}
	t.mu.Lock()
	var before []*folding
	for _, each := range t.folding {
		if each.from.why() != nil {
			before = append(before, each)
		}
	}
	t.folding = append(t.folding, own)
	t.total.Streams++
	t.mu.Unlock()
	go func() {
		defer t.folded(own)
		for _, each := range before {
			<-each.done
		}
		t.read(from, how, request)
	}()
}

func (t *Tracer) folded(own *folding) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.folding = slices.DeleteFunc(t.folding, func(each *folding) bool { return each == own })
	close(own.done)
}

// decoding is how a stream's bytes are read.
type decoding struct {
	format agui.Format
	packed string // Content-Encoding
}

// read folds a stream to its end. A fault of ours costs the stream's runs, never the
// program that is traced.
func (t *Tracer) read(from *pipe, how decoding, request *agui.RunAgentInput) {
	reducer := t.reducer(request)
	lost := false
	defer func() {
		if r := recover(); r != nil {
			from.Close(errFull)
			t.lose("fault", fmt.Sprintf("%T", r))
			return
		}
		t.count(reducer, lost)
	}()
	plain, err := unpack(from, how.packed)
	if err != nil {
		from.Close(errFull)
		reducer.Close(agui.Lost, t.opts.Now())
		t.log("a stream cannot be read", "encoding", how.packed)
		lost = true
		return
	}
	decoder := agui.NewDecoder(&bounded{plain, t.opts.Stream}, agui.Options{Format: how.format})
	for {
		frame, err := decoder.Next()
		if err != nil {
			lost = !errors.Is(err, io.EOF)
			break
		}
		reducer.Add(frame, from.at)
	}
	end := agui.EndOfStream
	if lost { // the rest cannot be unpacked, or is too much
		from.Close(errFull)
	}
	switch why := from.why(); {
	case lost, errors.Is(why, errFull):
		end, lost = agui.Lost, true
		t.log("a stream was not recorded to its end")
	case errors.Is(why, errLeft):
		end = agui.Disconnected
	case errors.Is(why, errPanic):
		reducer.Abort("the handler panicked", t.opts.Now())
	}
	reducer.Close(end, t.opts.Now())
}

// reducer returns the reducer of one stream.
func (t *Tracer) reducer(request *agui.RunAgentInput) *agui.Reducer {
	opts := t.opts.Runs
	opts.Request, opts.Memory = request, t.memory
	return agui.NewReducer(t.sink, opts)
}

// fail records a request that was not answered with a stream.
func (t *Tracer) fail(request *agui.RunAgentInput, message string) {
	if request == nil {
		return
	}
	reducer := t.reducer(request)
	reducer.Fail(message, t.opts.Now())
	reducer.Close(agui.EndOfStream, t.opts.Now())
	t.count(reducer, false)
}

func (t *Tracer) count(r *agui.Reducer, lost bool) {
	c := r.Counts()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.Runs += c.Runs
	t.total.LLM += c.LLM
	t.total.Tools += c.Tools
	t.total.Subagents += c.Subagents
	t.total.Skipped += c.Skipped
	t.total.Refused += c.Refused
	if lost {
		t.total.Lost++
	}
	for _, p := range r.Problems() {
		t.total.Problems[p.Code]++
	}
}

func (t *Tracer) lose(what, detail string) {
	t.log("a stream was lost", "reason", what, "detail", detail)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.Lost++
}

func (t *Tracer) log(message string, args ...any) {
	if t.opts.Logger != nil {
		t.opts.Logger.Warn(message, args...)
	}
}
