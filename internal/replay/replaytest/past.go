package replaytest

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// disk is a Source of the files as they are, and of the events of a told session.
type disk struct{ told []integrations.Event }

func (*disk) Glob(pattern string) ([]string, error) { return filepath.Glob(pattern) }
func (*disk) File(path string) ([]byte, error)      { return os.ReadFile(path) }

func (*disk) Rows(string, string, ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) { yield(nil, fs.ErrNotExist) }
}

func (d *disk) Recall(ref string) (integrations.Event, error) {
	i, err := strconv.Atoi(ref)
	if err != nil || i < 0 || i >= len(d.told) {
		return integrations.Event{}, fs.ErrNotExist
	}
	return d.told[i], nil
}

func (*disk) Lines(path string, from int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) {
		raw, err := os.ReadFile(path)
		if err != nil {
			yield(integrations.Line{}, err)
			return
		}
		for at := from; at < int64(len(raw)); {
			end := bytes.IndexByte(raw[at:], '\n')
			if end < 0 {
				return
			}
			next := at + int64(end) + 1
			if !yield(integrations.Line{Offset: at, Next: next, Data: raw[at : next-1]}, nil) {
				return
			}
			at = next
		}
	}
}

// Sessions lists an agent's past sessions below a home, or those of one path.
func Sessions(t *testing.T, agent *integrations.Agent, home, path string) []integrations.Session {
	t.Helper()
	var list []integrations.Session
	place := integrations.Place{Home: home, Path: path, Env: func(string) string { return "" }}
	for s, err := range agent.Past(&disk{}, place) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// Imported builds the runs of a home's past sessions as they stand in the end, in
// dotted order, and lists the traces that were foretold.
func Imported(t *testing.T, agent *integrations.Agent, home string, o integrations.Options) (runs []runtypes.Wire, traces []uuid.UUID) {
	t.Helper()
	final := map[uuid.UUID]runtypes.Wire{}
	for _, s := range Sessions(t, agent, home, "") {
		src := &disk{}
		told, err := s.Tell(src)
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, told.Traces...)
		r := agent.NewReducer(o)
		for i, e := range append(told.Events, integrations.Event{Kind: integrations.Grew}, integrations.Event{Kind: integrations.Dead}) {
			if i < len(told.Events) {
				e.Ref = strconv.Itoa(i)
				src.told = append(src.told, e)
			}
			ops, err := r.Apply(src, e)
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range ops {
				keep(t, final, op)
			}
		}
	}
	for _, wire := range final {
		runs = append(runs, wire)
	}
	slices.SortFunc(runs, func(a, b runtypes.Wire) int { return strings.Compare(a.DottedOrder, b.DottedOrder) })
	return runs, traces
}

// keep merges an op into what is known of its run. A run is posted once, and first.
func keep(t *testing.T, final map[uuid.UUID]runtypes.Wire, op runtypes.Op) {
	t.Helper()
	wire, err := runtypes.Encode(op)
	if err != nil {
		t.Fatal(err)
	}
	before, known := final[op.Run.ID]
	if known == (op.Verb == runtypes.Post) {
		t.Fatalf("%s of %s %s", op.Verb, op.Run.Kind, op.Run.Name)
	}
	if known {
		wire = runtypes.MergeWire(before, wire)
	}
	final[op.Run.ID] = wire
}

// Canonical writes a value as one writer does: a journal escapes more than a file, and a
// database need not keep the order of keys.
func Canonical(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, _ := json.Marshal(v)
	return string(out)
}
