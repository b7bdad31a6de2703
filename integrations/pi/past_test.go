package pi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/integrations/pi"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/internal/replay/replaytest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// essence is what both ways to a run must agree on. The stream has finer times, and
// knows what the file does not: how the program was run.
type essence struct {
	Parent, Trace, Name, Kind, Inputs, Outputs, Error string
	Thread, Turn, Number, Model, Usage, Exit, Class   string
}

func essences(runs []runtypes.Wire) map[string]essence {
	all := map[string]essence{}
	for _, r := range runs {
		m := r.Metadata()
		text := func(key string) string {
			raw, _ := json.Marshal(m[key])
			return string(raw)
		}
		all[r.ID] = essence{
			Parent: r.ParentRunID, Trace: r.TraceID, Name: r.Name, Kind: string(r.Kind()),
			Inputs: replaytest.Canonical(r.Inputs), Outputs: replaytest.Canonical(r.Outputs), Error: r.Error,
			Thread: text("thread_id"), Turn: text("turn_id"), Number: text("turn_number"),
			Model: text("ls_model_name"), Usage: text("usage_metadata"), Exit: text("exit_code"), Class: text("tool_error_class"),
		}
	}
	return all
}

func TestImportGivesTheRunsThatTheStreamGave(t *testing.T) {
	for _, dir := range recordings(t) {
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, err := filepath.Abs(filepath.Join(dir, "home"))
			if err != nil {
				t.Fatal(err)
			}
			runs, traces := replaytest.Imported(t, pi.Agent(), home, integrations.Options{})
			for _, v := range runtypes.ValidateWire(runs) {
				t.Error(v)
			}
			want, got := essences(play(t, dir, replay.Options{}).Runs), essences(runs)
			for id, w := range want {
				g, ok := got[id]
				switch {
				case name == "slow-sigint" && w.Kind == "llm":
					if ok {
						t.Error("a reply that was never complete is in no file")
					}
					continue
				case name == "slow-sigint": // nor is what came of it
					w.Outputs, g.Outputs = "", ""
				case name == "rpc-abortretry" && w.Parent == "":
					w.Error, g.Error, w.Kind, g.Kind = "", "", "", "" // that the user gave up on it is in no file
				case name == "secret":
					continue // what import sends is redacted later
				}
				if diff := cmp.Diff(w, g); diff != "" {
					t.Errorf("%s %s: (-stream +import)\n%s", w.Kind, w.Name, diff)
				}
			}
			for id, g := range got {
				if _, ok := want[id]; !ok && name != "continue" { // of which the first turn was never streamed
					t.Errorf("only import has %s %s", g.Kind, g.Name)
				}
			}
			var roots []uuid.UUID
			for _, run := range runs {
				if run.ParentRunID == "" {
					roots = append(roots, uuid.MustParse(run.ID))
				}
			}
			byBytes := func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
			slices.SortFunc(traces, byBytes)
			slices.SortFunc(roots, byBytes)
			if diff := cmp.Diff(roots, traces); diff != "" {
				t.Errorf("traces foretold differ (-begun +foretold):\n%s", diff)
			}
		})
	}
}

// The turn before --continue was never streamed; import brings it, and the one that was
// streamed keeps its number.
func TestImportBringsTurnsThatWereNeverStreamed(t *testing.T) {
	home, err := filepath.Abs("testdata/continue/home")
	if err != nil {
		t.Fatal(err)
	}
	runs, _ := replaytest.Imported(t, pi.Agent(), home, integrations.Options{})
	var numbers []string
	for _, r := range runs {
		if r.ParentRunID == "" {
			n, _ := r.Metadata()["turn_number"].(json.Number)
			numbers = append(numbers, n.String())
		}
	}
	if diff := cmp.Diff([]string{"1", "2"}, numbers); diff != "" {
		t.Errorf("turn numbers (-want +got):\n%s", diff)
	}
}

func TestPastFindsWhatAPlaceHolds(t *testing.T) {
	home, err := filepath.Abs("testdata/rpc-newsession/home")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, ".pi/agent/sessions/--home-dev-widgets--")
	f := func(path string, want int) {
		t.Helper()
		if got := len(replaytest.Sessions(t, pi.Agent(), home, path)); got != want {
			t.Errorf("%q: %d sessions, want %d", path, got, want)
		}
	}
	f("", 2)
	f(dir, 2)
	f(filepath.Dir(dir), 2)
	f(filepath.Join(home, ".pi"), 2)
	f(home, 2)
	f("/home/dev/widgets", 2)
	f("/home/dev", 2)
	f("/home/dev/other", 0)
	f(filepath.Join(dir, "2026-11-30T05-01-29-196Z_01a22ad4-58eb-755f-8588-205e58cb0ac4.jsonl"), 1)
}

// An extension may start a turn between two of the user's, or join the one that is on. Its
// message is written down a little later than it is told of.
func TestImportKnowsTheTurnThatAnExtensionStarted(t *testing.T) {
	for turns, gap := range map[int]time.Duration{1: 0, 2: 10 * time.Second} {
		dir := t.TempDir()
		now := time.Date(2026, 11, 30, 5, 1, 16, 0, time.UTC)
		later := strings.NewReplacer(
			strconv.FormatInt(now.Unix(), 10), strconv.FormatInt(now.Add(gap).Unix(), 10),
			now.Format("15:04:05"), now.Add(gap).Format("15:04:05"),
		)
		rewrite := func(file string, change func(line string) string) {
			raw, err := os.ReadFile(filepath.Join("testdata/rpc-twoturns", file))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			second := false
			for line := range strings.Lines(string(raw)) {
				if second = second || strings.Contains(line, "[[parallel]] second"); second {
					line = later.Replace(change(line))
				} else if turns == 1 && has(line, "agent_settled") {
					line = ""
				}
				out.WriteString(line)
			}
			to := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		rewrite("events.jsonl", func(line string) string {
			switch {
			case !has(line, "before_agent_start"):
				return strings.Replace(line, `"role":"user"`, `"role":"custom"`, 1)
			case turns == 1:
				return ""
			}
			return strings.Replace(line, `"messageType":"user","prompt":"[[parallel]] second"`, `"messageType":"custom"`, 1)
		})
		rewrite("home/.pi/agent/sessions/--home-dev-widgets--/2026-11-30T05-01-15-771Z_01a22ad4-247a-73d8-9bb6-04235f585a79.jsonl", func(line string) string {
			if !strings.Contains(line, `"role":"user"`) {
				return line
			}
			return `{"type":"custom_message","id":"d5e78baa","parentId":"cebec4a8","timestamp":"2026-11-30T05:01:16.069Z","customType":"ci","content":[{"type":"text","text":"[[parallel]] second"}],"display":true}` + "\n"
		})
		runs, traces := replaytest.Imported(t, pi.Agent(), filepath.Join(dir, "home"), integrations.Options{})
		if len(traces) != turns {
			t.Errorf("%d turns, want %d", len(traces), turns)
		}
		if diff := cmp.Diff(essences(play(t, dir, replay.Options{}).Runs), essences(runs)); diff != "" {
			t.Errorf("%d turns (-stream +import):\n%s", turns, diff)
		}
		for _, root := range of(runs, runtypes.KindRoot)[1:] {
			if root.Metadata()["turn_origin"] != "extension" || !strings.Contains(string(root.Inputs), "second") {
				t.Errorf("%v %s", root.Metadata(), root.Inputs)
			}
		}
	}
}

// The turn that an extension started is one even if the user stopped it at once.
func TestATurnOfAnExtensionsThatIsStoppedAtOnceIsForetold(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".pi/agent/sessions/--w--")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const session = `{"type":"session","version":3,"id":"s","timestamp":"2026-11-30T06:00:00.000Z","cwd":"/w"}
{"type":"custom_message","id":"a","parentId":null,"timestamp":"2026-11-30T06:00:01.000Z","customType":"ci","content":"it failed","display":true}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-11-30T06:00:02.000Z","message":{"role":"assistant","content":[],"stopReason":"aborted","errorMessage":"This operation was aborted","timestamp":1796018402000,"durationMs":0}}
`
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(session), 0o600); err != nil {
		t.Fatal(err)
	}
	runs, traces := replaytest.Imported(t, pi.Agent(), home, integrations.Options{})
	root := one(t, runs, runtypes.KindInterrupted)
	if len(traces) != 1 || traces[0].String() != root.ID || !strings.Contains(string(root.Inputs), "it failed") {
		t.Errorf("%d traces, inputs %s", len(traces), root.Inputs)
	}
}

func TestATurnThatIsStoppedAtOnceEndsBeforeTheNext(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".pi/agent/sessions/--w--")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const session = `{"type":"session","version":3,"id":"s","timestamp":"2026-11-30T06:00:00.000Z","cwd":"/w"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-11-30T06:00:01.000Z","message":{"role":"user","content":"go","timestamp":1796018401000}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-11-30T06:00:02.000Z","message":{"role":"assistant","content":[],"stopReason":"aborted","errorMessage":"This operation was aborted","timestamp":1796018402000,"durationMs":0}}
{"type":"message","id":"c","parentId":"b","timestamp":"2026-11-30T06:10:00.000Z","message":{"role":"user","content":"again","timestamp":1796019000000}}
`
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(session), 0o600); err != nil {
		t.Fatal(err)
	}
	runs, _ := replaytest.Imported(t, pi.Agent(), home, integrations.Options{})
	for _, run := range runs {
		if strings.Contains(string(run.Inputs), `"go"`) && !strings.Contains(run.EndTime, "T06:00:02") {
			t.Errorf("it ended at %s", run.EndTime)
		}
	}
}

// forkOf writes a fork of a session: its entries copied, and a turn of its own.
func forkOf(t *testing.T, name string) (home string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", name, "home/.pi/agent/sessions/*/*.jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	raw, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	home = t.TempDir()
	dir := filepath.Join(home, ".pi/agent/sessions/--home-dev-widgets--")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(paths[0])), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	_, entries, _ := bytes.Cut(raw, []byte("\n"))
	fork := `{"type":"session","version":3,"id":"fork","timestamp":"2026-11-30T06:00:00.000Z","cwd":"/home/dev/widgets","parentSession":"` + paths[0] + `"}` + "\n" +
		string(entries) +
		`{"type":"message","id":"f1","parentId":null,"timestamp":"2026-11-30T06:00:01.000Z","message":{"role":"user","content":"on the fork","timestamp":1796018401000}}` + "\n" +
		`{"type":"message","id":"f2","parentId":"f1","timestamp":"2026-11-30T06:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"forked"}],"provider":"acme","model":"acme-large","usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"cost":{"total":0}},"stopReason":"stop","timestamp":1796018401500,"responseId":"r9","durationMs":400}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "2026-11-30T06-00-00-000Z_fork.jsonl"), []byte(fork), 0o644); err != nil {
		t.Fatal(err)
	}
	return home
}

func TestAForkDoesNotTellItsCopiedHistoryAgain(t *testing.T) {
	original := len(play(t, "testdata/rpc-twoturns", replay.Options{}).Runs)
	runs, traces := replaytest.Imported(t, pi.Agent(), forkOf(t, "rpc-twoturns"), integrations.Options{})
	if len(runs) != original+2 || len(traces) != 3 {
		t.Fatalf("%d runs in %d traces, want %d in 3", len(runs), len(traces), original+2)
	}
	last := runs[len(runs)-1].Metadata()
	if last["thread_id"] != "fork" || last["turn_number"] != json.Number("3") {
		t.Errorf("the fork's own turn is %v of %v, want 3 of fork", last["turn_number"], last["thread_id"])
	}
}

// A message that was queued while the agent worked is older than what was said before it;
// so is a prompt after the clock was put back.
func TestAPromptAfterTheClockWasPutBackBeginsATurn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".pi/agent/sessions/--w--")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := `{"type":"session","version":3,"id":"s","timestamp":"2026-11-30T06:00:00.000Z","cwd":"/w"}` + "\n"
	say := func(role, written string, at int64, more string) {
		text += fmt.Sprintf(`{"type":"message","id":"e%d","timestamp":"2026-11-30T%sZ","message":{"role":%q,"content":[{"type":"text","text":"%d"}],"timestamp":%d%s}}`+"\n", at, written, role, at, at, more)
	}
	const reply = `,"stopReason":"stop","provider":"p","model":"m","durationMs":400`
	say("user", "06:00:01.000", 1796018401000, "")
	say("assistant", "06:00:01.600", 1796018401100, reply)
	say("user", "06:00:01.700", 1796018401200, "") // typed while the reply came
	say("assistant", "06:00:02.200", 1796018401800, reply)
	say("user", "05:00:09.000", 1796014809000, "")
	say("assistant", "05:00:09.500", 1796014809100, reply)
	if err := os.WriteFile(filepath.Join(dir, "1_s.jsonl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "../../../..")
	runs, traces := replaytest.Imported(t, pi.Agent(), home, integrations.Options{})
	roots := of(runs, runtypes.KindRoot)
	if len(traces) != 2 || len(roots) != 2 || len(of(runs, runtypes.KindLLM)) != 3 {
		t.Fatalf("%d traces, %d roots among %d runs, want 2, 2 and 5", len(traces), len(roots), len(runs))
	}
	if m := roots[0].Metadata(); m["turn_id"] != "1796014809000" || m["turn_number"] != json.Number("2") {
		t.Errorf("the second turn is %v, number %v", m["turn_id"], m["turn_number"])
	}
}

func TestAModelCallRepeatsWhatTheUserWants(t *testing.T) {
	home, err := filepath.Abs("testdata/rpc-compact/home")
	if err != nil {
		t.Fatal(err)
	}
	f := func(inputs integrations.Inputs, want ...int) {
		t.Helper()
		for way, runs := range map[string][]runtypes.Wire{
			"stream": play(t, "testdata/rpc-compact", replay.Options{Inputs: inputs}).Runs,
			"import": func() []runtypes.Wire {
				runs, _ := replaytest.Imported(t, pi.Agent(), home, integrations.Options{Inputs: inputs})
				return runs
			}(),
		} {
			var got []int
			for _, r := range of(runs, runtypes.KindLLM) {
				if len(r.Inputs) > 2 {
					got = append(got, messages(r.Inputs))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s by %s: messages (-want +got):\n%s", inputs, way, diff)
			}
		}
	}
	f(integrations.InputsTurn, 1, 4, 1, 1)
	f(integrations.InputsDelta, 1, 2, 1, 1)
	f(integrations.InputsThread, 1, 4, 6, 3) // after the compaction: its summary, what it kept, the prompt
}
