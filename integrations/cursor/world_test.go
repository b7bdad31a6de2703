package cursor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/sqliteread"
	"github.com/tracesmith/tracesmith/runtypes"
)

// world is a workspace in memory, its reducer, and what came of it.
type world struct {
	t       *testing.T
	r       integrations.Reducer
	options integrations.Options
	cut     bool // restore the reducer from its checkpoint at every event
	at      time.Time
	told    []integrations.Event
	gone    bool // the journal cannot be read again
	files   map[string]string
	runs    map[uuid.UUID]*runtypes.Run
	order   []uuid.UUID
	largest int // checkpoint
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{
		t: t, r: newReducer(integrations.Options{}), files: map[string]string{}, runs: map[uuid.UUID]*runtypes.Run{},
		at: time.Date(2026, 11, 30, 4, 30, 0, 0, time.UTC),
	}
}

func (w *world) Recall(ref string) (integrations.Event, error) {
	i, err := strconv.Atoi(ref)
	if w.gone || err != nil || i < 0 || i >= len(w.told) {
		return integrations.Event{}, fs.ErrNotExist
	}
	return w.told[i], nil
}

func (w *world) Glob(pattern string) ([]string, error) {
	var found []string
	for path := range w.files {
		if ok, err := filepath.Match(pattern, path); err == nil && ok {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	return found, nil
}

func (w *world) File(path string) ([]byte, error) {
	if text, ok := w.files[path]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

// Rows reads a real database, by the place it has on the disk.
func (w *world) Rows(path, query string, args ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) {
		for row, err := range sqliteread.Rows(path, query, args...) {
			if !yield(row, err) {
				return
			}
		}
	}
}

func (w *world) Lines(path string, from int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) {
		text, ok := w.files[path]
		if !ok {
			yield(integrations.Line{}, fmt.Errorf("%s: %w", path, fs.ErrNotExist))
			return
		}
		for _, line := range bytes.SplitAfter([]byte(text), []byte("\n")) {
			if len(line) > 0 && !yield(integrations.Line{Data: bytes.TrimSuffix(line, []byte("\n"))}, nil) {
				return
			}
		}
	}
}

// hear tells of an event a second after the last one.
func (w *world) hear(kind string, d data) {
	w.t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		w.t.Fatal(err)
	}
	w.at = w.at.Add(time.Second)
	w.tell(integrations.Event{Kind: kind, At: w.at, CWD: "/home/dev/widgets", Data: raw})
}

func (w *world) tell(e integrations.Event) {
	w.t.Helper()
	e.Ref = strconv.Itoa(len(w.told))
	w.told = append(w.told, e)
	w.apply(e)
}

func (w *world) own(kind string) { w.t.Helper(); w.apply(integrations.Event{Kind: kind}) }

func (w *world) apply(e integrations.Event) {
	w.t.Helper()
	ops, err := w.r.Apply(w, e)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, op := range ops {
		before := w.runs[op.Run.ID]
		switch {
		case op.Verb == runtypes.Post && before != nil:
			w.t.Fatalf("%s posted twice", op.Run.Name)
		case op.Verb == runtypes.Patch && (before == nil || !before.Pending()):
			w.t.Fatalf("%s patched without need", op.Run.Name)
		case op.Verb == runtypes.Patch:
			w.runs[op.Run.ID] = runtypes.Merge(before, op.Run)
		default:
			w.order = append(w.order, op.Run.ID)
			w.runs[op.Run.ID] = op.Run
		}
		if _, err := runtypes.Encode(op); err != nil {
			w.t.Fatal(err)
		}
	}
	state, err := json.Marshal(w.r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.largest = max(w.largest, len(state))
	if w.cut {
		w.r = newReducer(w.options)
		if err := json.Unmarshal(state, w.r); err != nil {
			w.t.Fatal(err)
		}
	}
}

// of returns the runs of a kind in the order of their posts.
func (w *world) of(kind runtypes.Kind) []*runtypes.Run {
	var list []*runtypes.Run
	for _, id := range w.order {
		if w.runs[id].Kind == kind {
			list = append(list, w.runs[id])
		}
	}
	return list
}

func of(talk, turn string) data {
	return data{Conversation: talk, Generation: turn, Model: "claude-opus-5"}
}

func saying(d data, text string) data { d.Text, d.Hash = text, "hash of "+text; return d }

func using(d data, id string) data {
	d.Tool, d.ToolID, d.Input = "Shell", id, json.RawMessage(`{"command":"ls"}`)
	return d
}
