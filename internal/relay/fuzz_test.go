package relay

import (
	"encoding/json"
	"io/fs"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// told is a source that knows the lines it was given and has no files.
type told struct{ lines []integrations.Event }

func (s *told) Glob(string) ([]string, error) { return nil, nil }
func (s *told) File(string) ([]byte, error)   { return nil, fs.ErrNotExist }
func (s *told) Lines(string, int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) { yield(integrations.Line{}, fs.ErrNotExist) }
}
func (s *told) Rows(string, string, ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) { yield(nil, fs.ErrNotExist) }
}
func (s *told) Recall(ref string) (integrations.Event, error) {
	n, err := strconv.Atoi(ref)
	if err != nil || n < 0 || n >= len(s.lines) {
		return integrations.Event{}, fs.ErrNotExist
	}
	return s.lines[n], nil
}

// line adds a line and returns its event.
func (s *told) line(kind string, w runtypes.Wire) integrations.Event {
	data, err := runtypes.Marshal(message{Number: 1, Run: w})
	if err != nil {
		panic(err)
	}
	e := integrations.Event{Kind: kind, Data: data, Ref: strconv.Itoa(len(s.lines))}
	s.lines = append(s.lines, e)
	return e
}

// restored is the turn after its checkpoint was written and read.
func restored(t testing.TB, was *turn) *turn {
	t.Helper()
	raw, err := json.Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	is := newTurn()
	if err := json.Unmarshal(raw, is); err != nil {
		t.Fatal(err)
	}
	return is
}

// FuzzTurn folds whatever a strict LangSmith would take, and holds what comes of it to
// the rules of ids and dotted orders.
func FuzzTurn(f *testing.F) {
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	task := s.run(root, "task", "tool", nil)
	below := s.run(task, "explore", "chain", map[string]any{"ls_agent_type": "subagent"})
	list := append([]native{begin(root), begin(task), begin(below)}, s.model(below, nil)...)
	f.Add(batchOf(list))
	f.Add(batchOf(append(list, s.end(below, nil, ""), s.end(task, nil, "Abort"), s.end(root, says("ok", "call"), ""))))
	again := s.run(nil, "agent", "chain", nil)
	f.Add(batchOf([]native{begin(again), s.end(again, says("ok"), ""), begin(root)}))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/runs/batch", nil)
		if err != nil {
			t.Fatal(err)
		}
		writes, err := ingest.Decode(r, body, ingest.Limits{})
		if err != nil {
			return
		}
		src, turn := &told{}, newTurn()
		var ops []runtypes.Op
		apply := func(e integrations.Event) {
			turn = restored(t, turn)
			more, err := turn.Apply(src, e)
			if err != nil {
				t.Fatal(err)
			}
			ops = append(ops, more...)
		}
		for _, w := range writes.Posts {
			apply(src.line(linePost, w))
		}
		for _, w := range writes.Patches {
			apply(src.line(linePatch, w))
		}
		for _, kind := range []string{integrations.Idle, lineNext, integrations.Dead} {
			apply(integrations.Event{Kind: kind})
		}
		if status := turn.Status(); status.Open > 0 || status.Waiting || !status.Ended {
			t.Errorf("after its end: %+v", status)
		}
		written := map[string]bool{}
		var runs []runtypes.Wire
		for _, op := range ops {
			w, err := runtypes.Encode(op)
			if err != nil {
				t.Fatal(err)
			}
			if written[string(op.Verb)+w.ID] {
				t.Errorf("%s of %s is written twice", op.Verb, w.ID)
			}
			written[string(op.Verb)+w.ID] = true
			if op.Verb == runtypes.Patch && !written["post"+w.ID] {
				t.Errorf("%s is patched before it is posted", w.ID)
			}
			if op.Verb == runtypes.Post {
				runs = append(runs, w)
			}
		}
		for _, v := range runtypes.ValidateWire(runs) {
			if strings.Contains("id trace_id parent_run_id dotted_order start_time end_time", v.Key) {
				t.Error(v)
			}
		}
	})
}
