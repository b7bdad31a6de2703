package pi

import (
	"encoding/json"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// memory is a Source of one session file and of the events that were told.
type memory struct {
	path, text string
	told       []integrations.Event
}

func (m *memory) Glob(string) ([]string, error) { return []string{m.path}, nil }
func (*memory) File(string) ([]byte, error)     { return nil, fs.ErrNotExist }

func (*memory) Rows(string, string, ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) { yield(nil, fs.ErrNotExist) }
}

func (m *memory) Recall(ref string) (integrations.Event, error) {
	i, err := strconv.Atoi(ref)
	if err != nil || i < 0 || i >= len(m.told) {
		return integrations.Event{}, fs.ErrNotExist
	}
	return m.told[i], nil
}

func (m *memory) Lines(path string, from int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) {
		if path != m.path {
			yield(integrations.Line{}, fs.ErrNotExist)
			return
		}
		at := int64(0)
		for text := range strings.Lines(m.text) {
			next := at + int64(len(text))
			line, whole := strings.CutSuffix(text, "\n")
			if at >= from && whole && !yield(integrations.Line{Offset: at, Next: next, Data: []byte(line)}, nil) {
				return
			}
			at = next
		}
	}
}

// tell gives an event its name and has the reducer apply it.
func (m *memory) tell(r integrations.Reducer, e integrations.Event) ([]runtypes.Op, error) {
	e.Ref = strconv.Itoa(len(m.told))
	m.told = append(m.told, e)
	return r.Apply(m, e)
}

// checker holds what a server would, and what a reducer promises of it.
type checker struct {
	t    *testing.T
	open map[string]bool
}

func (c *checker) take(ops []runtypes.Op) {
	c.t.Helper()
	for _, op := range ops {
		id := op.Run.ID.String()
		if pending, known := c.open[id]; known == (op.Verb == runtypes.Post) || known && !pending {
			c.t.Fatalf("%s of %s %s", op.Verb, op.Run.Kind, op.Run.Name)
		}
		if _, err := runtypes.Encode(op); err != nil {
			c.t.Fatalf("%s of %s %s cannot be written: %v", op.Verb, op.Run.Kind, op.Run.Name, err)
		}
		c.open[id] = op.Run.Pending()
	}
}

func (c *checker) nothingOpen() {
	c.t.Helper()
	for id, pending := range c.open {
		if pending {
			c.t.Fatalf("run %s is left open", id)
		}
	}
}

// roundTrip throws the reducer away and restores it from its checkpoint.
func roundTrip(t *testing.T, r integrations.Reducer) integrations.Reducer {
	t.Helper()
	state, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	fresh := newReducer(integrations.Options{})
	if err := json.Unmarshal(state, fresh); err != nil {
		t.Fatal(err)
	}
	return fresh
}

// Whatever comes out of a pipe, in whatever order, the reducer neither panics nor loops,
// posts no run twice, leaves none open, and gives runs that can be written.
func FuzzReducer(f *testing.F) {
	for _, name := range []string{"task", "rpc-compact", "rpc-followup", "slow-sigint", "rpc-aborttool", "flaky", "rpc-bash"} {
		text, err := os.ReadFile(filepath.Join("testdata", name, "events.jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		paths, err := filepath.Glob(filepath.Join("testdata", name, "home/.pi/agent/sessions/*/*.jsonl"))
		if err != nil || len(paths) == 0 {
			f.Fatal(name, err)
		}
		session, err := os.ReadFile(paths[0])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), string(session), uint8(7))
		lines := strings.SplitAfter(string(text), "\n")
		for i := 0; i+1 < len(lines); i += 2 { // out of order
			lines[i], lines[i+1] = lines[i+1], lines[i]
		}
		f.Add(strings.Join(lines, ""), "", uint8(0))
	}
	f.Fuzz(func(t *testing.T, text, session string, cut uint8) {
		agent := Agent()
		peek := agent.Stream()
		src := &memory{path: "/s.jsonl", text: session}
		c := &checker{t: t, open: map[string]bool{}}
		var r integrations.Reducer = newReducer(integrations.Options{})
		n := 0
		for line := range strings.Lines(text) {
			p := integrations.Payload{Body: []byte(line), Env: func(string) string { return "" }}
			route, err := peek(p)
			if err != nil {
				continue
			}
			kept, err := project(p)
			if err != nil {
				continue
			}
			if !json.Valid(kept) {
				t.Fatalf("kept %q", kept)
			}
			ops, _ := src.tell(r, integrations.Event{Kind: route.Event, CWD: route.CWD, At: time.Unix(1796014794, 0), Data: kept})
			c.take(ops)
			if n++; n == int(cut) {
				r = roundTrip(t, r)
				ops, _ := src.tell(r, integrations.Event{Kind: integrations.Hangup, At: time.Unix(1796014795, 0), Data: []byte(`{"pid":1}`)})
				c.take(ops)
			}
		}
		ops, _ := r.Apply(src, integrations.Event{Kind: integrations.Dead})
		c.take(ops)
		c.nothingOpen()
	})
}

// Whatever stands in a session file, import does the same.
func FuzzPast(f *testing.F) {
	paths, err := filepath.Glob("testdata/*/home/.pi/agent/sessions/*/*.jsonl")
	if err != nil || len(paths) == 0 {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
		f.Add(string(text[:len(text)/2]))
	}
	f.Fuzz(func(t *testing.T, text string) {
		src := &memory{path: "/s.jsonl", text: text}
		header(src, src.path)
		told, err := retold(src, src.path)
		if err != nil {
			return
		}
		c := &checker{t: t, open: map[string]bool{}}
		for _, inputs := range []integrations.Inputs{integrations.InputsTurn, integrations.InputsThread} {
			c.open, src.told = map[string]bool{}, nil
			r := newReducer(integrations.Options{Inputs: inputs})
			for _, e := range told.Events {
				ops, _ := src.tell(r, e)
				c.take(ops)
			}
			ops, _ := r.Apply(src, integrations.Event{Kind: integrations.Dead})
			c.take(ops)
			c.nothingOpen()
		}
	})
}

// Peek and Project take any bytes.
func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"t":1,"pid":2,"ppid":3,"name":"message_end","event":{"message":{"role":"user","content":"\ud800"}},"ctx":{"sessionId":"s","cwd":"/"},"parent":{"session":"a","root":"b"}}`))
	f.Add([]byte(`{"name":"tool_execution_end","event":{"toolCallId":"c","result":{"content":[{"type":"text","text":"x"}],"structuredContent":{"exit_code":3},"details":{"results":[{"messages":[{"role":"user","content":"x"}]}]}}},"ctx":{"sessionId":"s"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p := integrations.Payload{Body: body, Env: func(string) string { return "" }}
		if _, err := Agent().Peek(p); err != nil {
			return
		}
		if kept, err := project(p); err == nil && !json.Valid(kept) {
			t.Fatalf("kept %q", kept)
		}
	})
}
