package copilot

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// memory is a Source of files that are in memory.
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

func (*memory) File(string) ([]byte, error) { return nil, fs.ErrNotExist }

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
		for at := from; at >= 0 && at < int64(len(text)); {
			end := strings.IndexByte(text[at:], '\n')
			if end < 0 {
				return
			}
			next := at + int64(end) + 1
			m.read += next - at
			if !yield(integrations.Line{Offset: at, Next: next, Data: []byte(text[at : next-1])}, nil) {
				return
			}
			at = next
		}
	}
}

const sessionID = "091e8b1b-7a4f-456e-b749-c97b92e2afa3"

// beginning is when told sessions begin, in milliseconds.
const beginning = int64(1796012618000)

func logPath() string { return logOf("/home/dev/.copilot", sessionID) }

// teller tells a reducer what happens, and holds the runs as a server would.
type teller struct {
	t    *testing.T
	src  *memory
	r    integrations.Reducer
	runs map[string]*runtypes.Run
	list []string
	at   time.Time
}

func tell(t *testing.T) *teller {
	t.Helper()
	return &teller{
		t: t, src: &memory{files: map[string]string{}}, r: newReducer(integrations.Options{}),
		runs: map[string]*runtypes.Run{}, at: time.UnixMilli(beginning),
	}
}

// log writes lines, one each 10 ms: a type and its data, after an agent's id and a slash
// if it is a subagent's. STAMP is the line's own time.
func (x *teller) log(lines ...string) {
	for _, l := range lines {
		x.at = x.at.Add(10 * time.Millisecond)
		kind, payload, _ := strings.Cut(l, " ")
		agent, rest, inner := strings.Cut(kind, "/")
		more := ""
		if inner {
			kind, more = rest, fmt.Sprintf(`,"agentId":%q`, agent)
		}
		payload = strings.ReplaceAll(payload, "STAMP", fmt.Sprint(x.at.UnixMilli()))
		x.src.files[logPath()] += fmt.Sprintf(`{"type":%q,"data":%s%s,"timestamp":%q}`+"\n",
			kind, payload, more, x.at.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
}

// hook tells of a hook that ran just now, at the time of the last line.
func (x *teller) hook(kind string, d data, head ...string) {
	x.t.Helper()
	d.Session, d.Log = sessionID, logPath()
	if d.Stamp == 0 {
		d.Stamp = x.at.UnixMilli()
	}
	raw, err := json.Marshal(d)
	if err != nil {
		x.t.Fatal(err)
	}
	e := integrations.Event{Kind: kind, At: x.at, CWD: "/home/dev/w", Data: raw}
	if len(head) > 0 {
		e.Head = integrations.Head{Branch: "main", SHA: head[0]}
	}
	x.apply(e)
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
	x.r = newReducer(integrations.Options{})
	if err := json.Unmarshal(state, x.r); err != nil {
		x.t.Fatal(err)
	}
}

// told describes the runs in the order of their posts.
func (x *teller) told() []string {
	var lines []string
	for _, id := range x.list {
		run := x.runs[id]
		line := strings.Repeat("  ", strings.Count(run.DottedOrder, ".")) + string(run.Kind) + " " + run.Name
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

func (x *teller) wants(want ...string) {
	x.t.Helper()
	if diff := cmp.Diff(want, x.told()); diff != "" {
		x.t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// wire is what a server would hold, in dotted order.
func (x *teller) wire() string {
	x.t.Helper()
	var all []string
	for _, run := range x.runs {
		w, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: run})
		if err != nil {
			x.t.Fatal(err)
		}
		raw, err := json.Marshal(w)
		if err != nil {
			x.t.Fatal(err)
		}
		all = append(all, run.DottedOrder+" "+string(raw))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func startLine() string {
	return `session.start {"sessionId":"` + sessionID + `","copilotVersion":"1.0.102","selectedModel":"gpt-5.4","context":{"cwd":"/home/dev/w"}}`
}

func promptHook() string {
	return `hook.start {"hookInvocationId":"p","hookType":"userPromptSubmitted","input":{"sessionId":"` + sessionID + `","timestamp":STAMP}}`
}

func promptLine(interaction, text string) string {
	return fmt.Sprintf(`user.message {"content":%q,"delivery":"idle","interactionId":%q}`, text, interaction)
}

func roundLine() string { return `assistant.turn_start {"turnId":"0"}` }

func roundEnd() string { return `assistant.turn_end {"turnId":"0"}` }

func usageLine(call string) string {
	return fmt.Sprintf(`session.usage_record {"usage":{"model":"gpt-5.4","inputTokens":10,"outputTokens":2,"apiCallId":%q,"modelProvider":"other","providerType":"openai"}}`, call)
}

func sayLine(call, text string) string {
	return fmt.Sprintf(`assistant.message {"model":"gpt-5.4","content":%q,"toolRequests":[],"apiCallId":%q}`, text, call)
}

func askLine(call, tool, id string) string {
	return fmt.Sprintf(`assistant.message {"model":"gpt-5.4","content":"","toolRequests":[{"toolCallId":%q,"name":%q,"arguments":{}}],"apiCallId":%q}`, id, tool, call)
}

func toolLine(tool, id string) string {
	return fmt.Sprintf(`tool.execution_start {"toolCallId":%q,"toolName":%q,"arguments":{"command":"x"}}`, id, tool)
}

func doneLine(id string) string {
	return fmt.Sprintf(`tool.execution_complete {"toolCallId":%q,"success":true,"result":{"content":"ok"}}`, id)
}

func stopHook() string {
	return `hook.start {"hookInvocationId":"s","hookType":"agentStop","input":{"sessionId":"` + sessionID + `","timestamp":STAMP}}`
}

func stopEnd() string {
	return `hook.end {"hookInvocationId":"s","hookType":"agentStop","success":true}`
}

func leaveHook() string {
	return `hook.start {"hookInvocationId":"e","hookType":"sessionEnd","input":{"sessionId":"` + sessionID + `","timestamp":STAMP}}`
}

func leaveEnd() string {
	return `hook.end {"hookInvocationId":"e","hookType":"sessionEnd","success":true}`
}

// answerLines are a round with an answer.
func answerLines(call, text string) []string {
	return []string{roundLine(), usageLine(call), sayLine(call, text), roundEnd()}
}

// However a log grows, and wherever the drainer is killed, the runs are those of the
// complete log.
func TestALogThatGrowsLineByLineGivesTheSameRuns(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/home/.copilot/session-state/*/" + logName)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.Split(path, "/")[1], func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			begin := func() *teller {
				x := tell(t)
				x.hook(sessionStart, data{Source: "new", Stamp: 1})
				return x
			}
			at, grown := begin(), begin()
			at.src.files[logPath()] = string(raw)
			at.own(integrations.Grew, integrations.Dead)
			for i := range raw {
				if raw[i] == '\n' {
					grown.src.files[logPath()] = string(raw[:i+1])
					grown.own(integrations.Grew)
				}
			}
			grown.own(integrations.Dead)
			if diff := cmp.Diff(at.wire(), grown.wire()); diff != "" {
				t.Errorf("runs differ (-at once +line by line):\n%s", diff)
			}
		})
	}
}
