package drain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// toyData is what the toy agent's hooks say.
type toyData struct {
	Prompt string `json:"prompt,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Path   string `json:"path,omitempty"` // its transcript
	Step   int    `json:"step,omitempty"` // at most so many runs at once; 0: all
}

// toyReducer folds the toy agent's events: start, tool, stop, end. If it keeps a
// transcript then tools stand there, one a line, and stop is followed by a line
// that says last.
type toyReducer struct {
	Turns   int
	Open    bool
	Start   time.Time
	CWD     string
	Head    integrations.Head
	Path    string
	Offset  int64
	Stopped bool
	Ended   bool
	Step    int
	More    bool

	kept *runtypes.Run // a cache that does not survive
	spy  func(*toyReducer, integrations.Source, integrations.Event)
}

func (r *toyReducer) Status() integrations.Status {
	s := integrations.Status{Waiting: r.Open && r.Stopped, Ended: r.Ended, More: r.More}
	if r.Open {
		s.Open = 1
	}
	if r.Path != "" {
		s.Watch = []string{r.Path}
	}
	return s
}

func (r *toyReducer) root() *runtypes.Run {
	id := idgen.Run(r.Start, "toy", "thread", fmt.Sprint(r.Turns), "root", "")
	return runtypes.Root(id, r.Start, runtypes.Identity{
		Integration: "toy", Runtime: "Toy", ThreadID: "thread", TurnNumber: r.Turns,
		WorkingDirectory: r.CWD, Repo: runtypes.Repo{Branch: r.Head.Branch},
	})
}

func (r *toyReducer) tool(name string) runtypes.Op {
	id := idgen.Run(r.Start, "toy", "thread", fmt.Sprint(r.Turns), "tool", name)
	run := runtypes.Tool(r.root(), id, r.Start.Add(time.Second), name)
	run.Inputs = json.RawMessage(`{"tool":"` + name + `"}`)
	return runtypes.Op{Verb: runtypes.Post, Run: runtypes.Finish(run, r.Start.Add(2*time.Second))}
}

func (r *toyReducer) close(reason string) []runtypes.Op {
	run := r.root()
	run.Outputs = json.RawMessage(`{"output":"done"}`)
	end := r.Start.Add(time.Minute)
	if reason == "" {
		runtypes.Finish(run, end)
	} else {
		runtypes.Interrupt(run, end, reason)
	}
	r.Open, r.Stopped = false, false
	return []runtypes.Op{{Verb: runtypes.Patch, Run: run}}
}

func (r *toyReducer) Apply(src integrations.Source, e integrations.Event) ([]runtypes.Op, error) {
	if r.spy != nil {
		r.spy(r, src, e)
	}
	var data toyData
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return nil, err
		}
	}
	switch e.Kind {
	case "panic":
		panic("secret")
	case "start":
		var ops []runtypes.Op
		if r.Open {
			ops = r.close("Interrupted by another prompt")
		}
		r.Turns++
		r.Open, r.Stopped, r.Ended = true, false, false
		r.Start, r.CWD, r.Head, r.Step = e.At, e.CWD, e.Head, data.Step
		if data.Path != r.Path {
			r.Path, r.Offset = data.Path, 0
		}
		root := r.root()
		root.Inputs = json.RawMessage(fmt.Sprintf(`{"input":%q}`, data.Prompt))
		r.kept = root
		return append(ops, runtypes.Op{Verb: runtypes.Post, Run: root}), nil
	case "tool":
		return []runtypes.Op{r.tool(data.Tool)}, nil
	case "stop":
		if r.Path == "" && r.Open {
			return r.close(""), nil
		}
		r.Stopped = true
	case "end":
		r.Ended = true
	case integrations.Grew:
		return r.transcript(src)
	case integrations.Idle:
		return r.close(""), nil
	case integrations.Dead:
		if r.Open {
			return r.close("The agent's process ended"), nil
		}
	}
	return nil, nil
}

func (r *toyReducer) transcript(src integrations.Source) (ops []runtypes.Op, err error) {
	r.More = false
	for line, err := range src.Lines(r.Path, r.Offset) {
		if err != nil {
			return ops, err
		}
		if r.More = r.Step > 0 && len(ops) == r.Step; r.More {
			return ops, nil
		}
		r.Offset = line.Next
		switch name := string(line.Data); {
		case name == "last" && r.Stopped && r.Open:
			ops = append(ops, r.close("")...)
		case r.Open && name != "last":
			ops = append(ops, r.tool(name))
		}
	}
	return ops, nil
}

// server is a destination in memory that keeps what a real one would.
type server struct {
	mu    sync.Mutex
	runs  map[uuid.UUID]runtypes.Wire
	order []string // post NAME, patch NAME, as they came
	again int      // ops that had been there before
	sizes []int    // ops of each export
	// fail is asked before an export (after is false) and after it was taken.
	fail func(call int, after bool) error
}

func newServer() *server { return &server{runs: map[uuid.UUID]runtypes.Wire{}} }

func (s *server) export(_ context.Context, ops []runtypes.Op) ([]runtypes.Op, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes = append(s.sizes, len(ops))
	call := len(s.sizes)
	if s.fail != nil {
		if err := s.fail(call, false); err != nil {
			return ops, err
		}
	}
	for _, op := range ops {
		s.apply(op)
	}
	if s.fail != nil {
		if err := s.fail(call, true); err != nil {
			return ops, err
		}
	}
	return nil, nil
}

func (s *server) apply(op runtypes.Op) {
	wire, err := runtypes.Encode(op)
	if err != nil {
		panic(err)
	}
	known, ok := s.runs[op.Run.ID]
	s.order = append(s.order, string(op.Verb)+" "+wire.Name)
	switch {
	case op.Verb == runtypes.Post && ok, op.Verb == runtypes.Patch && known.EndTime != "":
		s.again++ // 409: what is there stays
		if op.Verb == runtypes.Post && known.EndTime == "" && wire.EndTime != "" {
			s.runs[op.Run.ID] = runtypes.MergeWire(known, wire)
		}
	case op.Verb == runtypes.Post:
		s.runs[op.Run.ID] = wire
	default:
		s.runs[op.Run.ID] = runtypes.MergeWire(known, wire)
	}
}

// state lists the runs as they stand, each in one line.
func (s *server) state() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, w := range s.runs {
		lines = append(lines, fmt.Sprintf("%s %s [%s] %s%s %s", w.DottedOrder, w.Name, w.EndTime, w.Inputs, w.Outputs, w.Error))
	}
	slices.Sort(lines)
	return lines
}

// names lists the runs' names with how they ended, in dotted order.
func (s *server) names() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.SortedFunc(maps.Values(s.runs), func(a, b runtypes.Wire) int { return strings.Compare(a.DottedOrder, b.DottedOrder) })
	var names []string
	for _, w := range all {
		name := w.Name
		if w.EndTime == "" {
			name += " (open)"
		} else if w.Error != "" {
			name += " (" + w.Error + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func (s *server) destination(id string) Destination {
	return Destination{ID: id, Name: id, Export: Plain(s.export), Past: true}
}

// bench is a state with the toy agent, a server, and a drainer's configuration
// that does not wait.
type bench struct {
	t      *testing.T
	state  *journal.State
	s      *journal.Session
	server *server
	cfg    Config
}

// began is when the toy agent's first turn began.
var began = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newBench(t *testing.T) *bench {
	t.Helper()
	state, err := journal.Open(filepath.Join(t.TempDir(), "tracesmith", "v1"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, state: state, s: state.Session("toy", "thread"), server: newServer()}
	b.cfg = Config{
		State:        state,
		Agents:       toyAgents(nil),
		Destinations: []Destination{b.server.destination("one")},
		Redact:       func(*runtypes.Run) error { return nil },
		Linger:       time.Nanosecond, Poll: time.Millisecond, Idle: time.Millisecond, Grace: time.Nanosecond, Adopt: time.Nanosecond,
		Gone: func(journal.Proc) bool { return false },
	}
	return b
}

func toyAgents(spy func(*toyReducer, integrations.Source, integrations.Event)) func(string) *integrations.Agent {
	return func(name string) *integrations.Agent {
		if name != "toy" {
			return nil
		}
		return &integrations.Agent{Name: "toy", NewReducer: func(integrations.Options) integrations.Reducer { return &toyReducer{spy: spy} }}
	}
}

func (b *bench) hook(event string, data toyData) { b.hookAt(b.s, event, began, data) }

func (b *bench) hookAt(s *journal.Session, event string, at time.Time, data toyData) {
	b.t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		b.t.Fatal(err)
	}
	err = s.Append(journal.Entry{
		Event: event, At: at, Data: raw, CWD: "/src", Head: integrations.Head{Branch: "main"},
		Proc: journal.Proc{PID: 7, Start: "1", Boot: "b"},
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) drainer() *Drainer {
	b.t.Helper()
	d, err := New(b.cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

// drain delivers the session once and returns what stopped it.
func (b *bench) drain() error {
	b.t.Helper()
	return b.drainer().Deliver(b.t.Context(), b.s.Key(), false)
}

func (b *bench) mustDrain() {
	b.t.Helper()
	if err := b.drain(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) want(names string) {
	b.t.Helper()
	if got := b.server.names(); got != names {
		b.t.Errorf("the server has %q, want %q", got, names)
	}
}

// write appends lines to a file of the agent's.
func (b *bench) write(path string, lines ...string) {
	b.t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	for _, line := range lines {
		if _, err := f.WriteString(line + "\n"); err != nil {
			b.t.Fatal(err)
		}
	}
}

var errDown = errors.New("server is down")
