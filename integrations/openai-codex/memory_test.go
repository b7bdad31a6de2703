package openaicodex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// memory is a Source of files in memory, which counts what is read of them.
type memory struct {
	files map[string]string
	read  int64
}

func (m *memory) Glob(pattern string) ([]string, error) {
	var found []string
	for path := range m.files {
		if ok, err := filepath.Match(pattern, path); err != nil {
			return nil, err
		} else if ok {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	return found, nil
}

func (m *memory) File(path string) ([]byte, error) { return nil, fs.ErrNotExist }

func (*memory) Rows(string, string, ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) { yield(nil, fs.ErrNotExist) }
}

func (*memory) Recall(string) (integrations.Event, error) {
	return integrations.Event{}, fs.ErrNotExist
}

func (m *memory) Lines(path string, from int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) {
		text, ok := m.files[path]
		if !ok {
			yield(integrations.Line{}, fmt.Errorf("%s: %w", path, fs.ErrNotExist))
			return
		}
		raw := []byte(text)
		for at := from; at >= 0 && at < int64(len(raw)); {
			end := bytes.IndexByte(raw[at:], '\n')
			if end < 0 {
				return
			}
			next := at + int64(end) + 1
			m.read += next - at
			if !yield(integrations.Line{Offset: at, Next: next, Data: raw[at : next-1]}, nil) {
				return
			}
			at = next
		}
	}
}

const (
	home    = "/home/dev/.codex"
	day     = home + "/sessions/2026/11/30/"
	rootID  = "01a22ab2-4c6c-7b03-b35d-b12d169c82f1"
	childID = "01a22ab2-4c90-7b03-b35d-b12d169c82f2"
	turnID  = "01a22ab2-4c86-7002-a71b-5ecf06410e31"
	turnID2 = "01a22ab2-5c86-7002-a71b-5ecf06410e32"
	childT  = "01a22ab2-4c95-7002-a71b-5ecf06410e33"
)

func rolloutOf(thread string) string { return day + "rollout-2026-11-30T04-24-17-" + thread + ".jsonl" }

// writer writes a rollout, a line each 10 ms.
type writer struct {
	text strings.Builder
	at   time.Time
	n    int
}

func write(lines ...string) string {
	w := &writer{at: time.Date(2026, 11, 30, 4, 24, 18, 0, time.UTC)}
	for _, l := range lines {
		w.line(l)
	}
	return w.text.String()
}

func (w *writer) line(l string) {
	w.at = w.at.Add(10 * time.Millisecond)
	kind, payload, _ := strings.Cut(l, " ")
	fmt.Fprintf(&w.text, `{"timestamp":%q,"ordinal":%d,"type":%q,"payload":%s}`+"\n", w.at.Format("2006-01-02T15:04:05.000Z"), w.n, kind, payload)
	w.n++
}

func metaLine(thread, more string) string {
	return fmt.Sprintf(`session_meta {"id":%q,"cwd":"/home/dev/w","originator":"codex-tui","cli_version":"0.171.0","source":"cli","model_provider":"openai"%s}`, thread, more)
}

func started(turn, parent string) string {
	attribution := "null"
	if parent != "" {
		attribution = fmt.Sprintf(`{"turn_id":%q,"parent_turn_id":%q}`, turn, parent)
	}
	return fmt.Sprintf(`event_msg {"type":"task_started","turn_id":%q,"turn_attribution":%s}`, turn, attribution)
}

func contextLine(turn string) string {
	return fmt.Sprintf(`turn_context {"turn_id":%q,"cwd":"/home/dev/w","model":"gpt-5.5","approval_policy":"never","sandbox_policy":{"type":"workspace-write"}}`, turn)
}

func userLine(thread, turn, text string) string {
	return fmt.Sprintf(`event_msg {"type":"item_completed","thread_id":%q,"turn_id":%q,"item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":%q}]}}`, thread, turn, text)
}

func sayLine(turn, text string) string {
	return fmt.Sprintf(`response_item {"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}],"internal_chat_message_metadata_passthrough":{"turn_id":%q}}`, text, turn)
}

func callLine(turn, id, name, args string) string {
	return fmt.Sprintf(`response_item {"type":"function_call","name":%q,"arguments":%q,"call_id":%q,"internal_chat_message_metadata_passthrough":{"turn_id":%q}}`, name, args, id, turn)
}

func scriptLine(turn, id, code string) string {
	return fmt.Sprintf(`response_item {"type":"custom_tool_call","name":"exec","input":%q,"call_id":%q,"internal_chat_message_metadata_passthrough":{"turn_id":%q}}`, code, id, turn)
}

func outputLine(turn, id, text string) string {
	return fmt.Sprintf(`response_item {"type":"function_call_output","call_id":%q,"output":%q,"internal_chat_message_metadata_passthrough":{"turn_id":%q}}`, id, text, turn)
}

func commandLine(turn, id string, code int) string {
	return fmt.Sprintf(`event_msg {"type":"item_completed","turn_id":%q,"item":{"type":"CommandExecution","id":%q,"command":["/bin/sh","-lc","make"],"status":"completed","exit_code":%d,"aggregated_output":"done","duration":{"secs":1,"nanos":0}}}`, turn, id, code)
}

func usageLine(turn, response string, in, out int) string {
	return fmt.Sprintf(`token_usage_record {"turn_id":%q,"response_id":%q,"usage":{"input_tokens":%d,"output_tokens":%d}}`, turn, response, in, out)
}

func doneLine(turn, last string) string {
	return fmt.Sprintf(`event_msg {"type":"task_complete","turn_id":%q,"last_agent_message":%q}`, turn, last)
}

// teller tells a reducer what happens, and holds the runs as a server would.
type teller struct {
	t    *testing.T
	src  *memory
	r    *reducer
	runs map[string]*runtypes.Run
	list []string
}

func tell(t *testing.T, files map[string]string) *teller {
	t.Helper()
	return &teller{t: t, src: &memory{files: files}, r: newReducer(integrations.Options{}), runs: map[string]*runtypes.Run{}}
}

func (x *teller) event(kind string, d data) {
	x.t.Helper()
	if d.Session == "" {
		d.Session = rootID
	}
	raw, err := json.Marshal(d)
	if err != nil {
		x.t.Fatal(err)
	}
	x.apply(integrations.Event{Kind: kind, At: time.Date(2026, 11, 30, 4, 30, 0, 0, time.UTC), CWD: "/home/dev/w", Data: raw})
}

func (x *teller) own(kinds ...string) {
	x.t.Helper()
	for _, kind := range kinds {
		x.apply(integrations.Event{Kind: kind})
	}
}

// apply also restores the reducer from its checkpoint after every event.
func (x *teller) apply(e integrations.Event) {
	x.t.Helper()
	ops, err := x.r.Apply(x.src, e)
	if err != nil {
		x.t.Fatal(err)
	}
	for _, op := range ops {
		id := op.Run.ID.String()
		switch before := x.runs[id]; {
		case op.Verb == runtypes.Post && before != nil:
			x.t.Fatalf("%s posted twice", op.Run.Name)
		case op.Verb == runtypes.Post:
			x.list = append(x.list, id)
		case before == nil || !before.Pending():
			x.t.Fatalf("%s patched before its post or after its end", op.Run.Name)
		}
		x.runs[id] = op.Run
	}
	state, err := json.Marshal(x.r)
	if err != nil {
		x.t.Fatal(err)
	}
	if len(state) > 64<<10 {
		x.t.Fatalf("a checkpoint of %d bytes", len(state))
	}
	x.r = newReducer(x.r.options)
	if err := json.Unmarshal(state, x.r); err != nil {
		x.t.Fatal(err)
	}
}

// told describes the runs in the order of their posts.
func (x *teller) told() []string {
	var lines []string
	for _, id := range x.list {
		run := x.runs[id]
		depth := strings.Count(run.DottedOrder, ".")
		line := strings.Repeat("  ", depth) + string(run.Kind) + " " + run.Name
		if run.Usage != nil {
			line += fmt.Sprintf(" %d/%d", run.Usage.Input, run.Usage.Output)
		}
		if run.Error != "" {
			line += ": " + run.Error
		}
		if run.Pending() {
			line += " (open)"
		}
		lines = append(lines, line)
	}
	return lines
}

// sorted checks the runs in the order of the tree, whichever way they came.
func (x *teller) sorted(want ...string) {
	x.t.Helper()
	slices.SortFunc(x.list, func(a, b string) int { return strings.Compare(x.runs[a].DottedOrder, x.runs[b].DottedOrder) })
	check(x.t, x, want...)
}
