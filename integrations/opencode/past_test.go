package opencode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/integrations/opencode"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/internal/replay/replaytest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// essence is what both ways to a run must agree on. The stream has finer times, and knows
// what was never written down: how long a person took to answer, and what a reply that was
// cut off had said.
type essence struct {
	Parent, Trace, Name, Kind, Inputs, Outputs, Error string
	Thread, Turn, Number, Subagent, Model, Usage      string
}

func essences(runs []runtypes.Wire) map[string]essence {
	all := map[string]essence{}
	for _, r := range runs {
		text := func(key string) string {
			raw, _ := json.Marshal(r.Metadata()[key])
			return string(raw)
		}
		all[r.ID] = essence{
			Parent: r.ParentRunID, Trace: r.TraceID, Name: r.Name, Kind: string(r.Kind()),
			Inputs: replaytest.Canonical(r.Inputs), Outputs: replaytest.Canonical(r.Outputs), Error: r.Error,
			Thread: text("thread_id"), Turn: text("turn_id"), Number: text("turn_number"), Subagent: text("ls_subagent_id"),
			Model: text("ls_model_name"), Usage: text("usage_metadata"),
		}
	}
	return all
}

// agree compares the runs of a recording with those that its database gives.
func agree(t *testing.T, dir string, except func(id string, live, past *essence)) {
	t.Helper()
	home := t.TempDir()
	store(t, home, dir)
	runs, traces := imported(t, home, "")
	past := slices.Collect(maps.Values(runs))
	got, want := essences(past), essences(play(t, dir, replay.Options{}).Runs)
	for id, g := range got {
		w := want[id]
		if except != nil {
			except(id, &w, &g)
		}
		if diff := cmp.Diff(w, g); diff != "" {
			t.Errorf("%s %s (-stream +import):\n%s", g.Kind, g.Name, diff)
		}
		if runs[id].EndTime == "" {
			t.Errorf("%s %s has no end", g.Kind, g.Name)
		}
		if g.Parent == "" && !slices.ContainsFunc(traces, func(trace uuid.UUID) bool { return trace.String() == id }) {
			t.Errorf("turn %s was not told of", id)
		}
	}
	for id, w := range want {
		g, known := got[id]
		if except != nil {
			except(id, &w, &g)
		}
		if !known && w != g {
			t.Errorf("%s %s is missing", w.Kind, w.Name)
		}
	}
	for _, trace := range traces {
		if g, known := got[trace.String()]; !known || g.Parent != "" {
			t.Errorf("turn %s was told of and never came", trace)
		}
	}
	for _, v := range runtypes.ValidateWire(past) {
		t.Error(v)
	}
}

func TestTheDatabaseGivesTheRunsThatTheStreamGave(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			agree(t, dir, func(_ string, live, past *essence) {
				switch filepath.Base(dir) {
				case "serve-sessiondelete": // all of it is gone
					*live = *past
				case "serve-revert": // what was taken back is gone, and not counted
					if *past == (essence{}) {
						*live = *past
					}
					live.Number, past.Number = "", ""
				case "run-slow-sigint": // a text is written when it is whole
					live.Outputs = ""
				case "run-secret": // what import sends is redacted later
					past.redact()
				}
			})
		})
	}
}

func (e *essence) redact() {
	for _, text := range []*string{&e.Inputs, &e.Outputs} {
		*text = strings.ReplaceAll(*text, "AKIAIOSFODNN7EXAMPLE", "[redacted:aws-access-key-id]")
	}
}

// The user may go to the session of a subagent and ask it more, while nothing calls it.
func TestImportTellsWhatWasTypedToASubagent(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "count the files")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
	const task = `"id":"prt_t","type":"tool","tool":"task","callID":"c1","state":{"status":%q,"input":{},"output":"two","metadata":{"sessionId":"ses_2","parentSessionId":"ses_1"},"time":{"start":%d,"end":%d}}`
	began := s.t
	s.session("ses_2", "ses_1")
	s.part("ses_1", "msg_2", fmt.Sprintf(task, "running", began, 0))
	s.prompt("ses_2", "msg_3", "count")
	s.step("ses_2", "msg_4", "msg_3", "general", "two", "stop")
	s.event("session.idle", "ses_2", "")
	s.part("ses_1", "msg_2", fmt.Sprintf(task, "completed", began, s.t))
	s.reply("ses_1", "msg_2", "msg_1", "build", s.done(`,"finish":"stop"`))
	s.event("session.idle", "ses_1", "")
	for i, id := range []string{"a", "b"} {
		s.prompt("ses_2", "msg_5"+id, "and now?")
		s.step("ses_2", "msg_6"+id, "msg_5"+id, "general", "three", "stop")
		s.event("session.idle", "ses_2", "")
		if i == 0 {
			s.prompt("ses_1", "msg_7", "thanks")
			s.step("ses_1", "msg_8", "msg_7", "build", "welcome", "stop")
			s.event("session.idle", "ses_1", "")
		}
	}
	count1(t, "turns", len(roots(s.runs(t))), 4)
	agree(t, s.recording(t), nil)
}

// While the agent is busy what is typed to a subagent is part of its turn.
func TestWhatIsTypedToASubagentMeanwhileIsNoInterrupt(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.session("ses_2", "ses_1")
	s.prompt("ses_1", "msg_1", "a long task")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
	began := s.t
	s.prompt("ses_2", "msg_3", "and you?")
	s.step("ses_2", "msg_4", "msg_3", "general", "fine", "stop")
	s.event("session.idle", "ses_2", "")
	s.reply("ses_1", "msg_2", "msg_1", "build", fmt.Sprintf(`,"finish":"stop","time":{"created":%d,"completed":%d}`, began-100, s.t))
	s.event("session.idle", "ses_1", "")
	runs := s.runs(t)
	count1(t, "turns", len(roots(runs)), 1)
	if agent := kinds(runs, runtypes.KindSubagent)[0]; agent.Error != "" || !strings.Contains(string(agent.Outputs), "fine") {
		t.Errorf("error %q, outputs %s", agent.Error, agent.Outputs)
	}
	agree(t, s.recording(t), nil)
}

// A compaction that was asked for in the middle of a turn is part of it; one that was asked
// for after the turn is not.
func TestImportKnowsInWhichTurnACompactionWas(t *testing.T) {
	for _, busy := range []bool{true, false} {
		s := newStory()
		s.session("ses_1", "")
		s.prompt("ses_1", "msg_1", "a long task")
		if busy {
			s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
			s.unspoken("ses_1", "msg_3", `"type":"compaction","auto":false`)
			s.reply("ses_1", "msg_2", "msg_1", "build", fmt.Sprintf(`,"finish":"tool-calls","time":{"created":%d,"completed":%d}`, s.t-200, s.t))
		} else {
			s.step("ses_1", "msg_2", "msg_1", "build", "done", "stop")
			s.t += 1000 // its end is later than it was told
			s.event("session.idle", "ses_1", "")
			s.unspoken("ses_1", "msg_3", `"type":"compaction","auto":false`)
		}
		s.reply("ses_1", "msg_4", "msg_3", "compaction", s.begun())
		s.reply("ses_1", "msg_4", "msg_3", "compaction", s.done(`,"finish":"stop"`))
		s.event("session.idle", "ses_1", "")
		merge := kinds(s.runs(t), runtypes.KindChain)[0]
		if busy != (merge.ParentRunID != "") {
			t.Errorf("busy %t: it hangs under %q", busy, merge.ParentRunID)
		}
		agree(t, s.recording(t), nil)
	}
}

func TestImportFindsTheSessionsOfAFolder(t *testing.T) {
	home := t.TempDir()
	store(t, home, "testdata/serve-twosessions")
	db := filepath.Join(home, ".local", "share", "opencode", "opencode.db")
	for path, want := range map[string]int{"": 2, "/home/dev/widgets": 2, "/home/dev": 2, "/home/dev/wid": 0, "/elsewhere": 0, db: 2} {
		if _, traces := imported(t, home, path); len(traces) != want {
			t.Errorf("%q: %d turns, want %d", path, len(traces), want)
		}
	}
	if runs, _ := imported(t, t.TempDir(), ""); len(runs) != 0 {
		t.Errorf("%d runs without a database", len(runs))
	}
}

// A session that began before it was traced has turns that nobody told of.
func TestTurnsAreCountedOnWhereASessionWasNotTracedFromItsStart(t *testing.T) {
	home := t.TempDir()
	store(t, home, "testdata/serve-compact")
	rec, err := replay.Load("testdata/serve-compact")
	if err != nil {
		t.Fatal(err)
	}
	agent := opencode.Agent()
	peek := agent.Stream()
	r := agent.NewReducer(integrations.Options{})
	var last runtypes.Wire
	var src library
	seen := false
	for _, step := range rec.Steps {
		// From the last prompt on.
		seen = seen || bytes.Contains(step.Body, []byte(`"chat.message"`)) && bytes.Contains(step.Body, []byte("after compaction"))
		if !seen || step.Hangup {
			continue
		}
		p := integrations.Payload{Body: step.Body, Env: func(key string) string {
			if key == "HOME" {
				return home
			}
			return ""
		}}
		route, err := peek(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := agent.Hook(route.Event); !ok {
			continue
		}
		kept, err := agent.Project(p)
		if err != nil {
			t.Fatal(err)
		}
		e := integrations.Event{Kind: route.Event, At: step.At, Data: kept, Ref: strconv.Itoa(len(src.told))}
		src.told = append(src.told, e)
		ops, err := r.Apply(src, e)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			if wire, err := runtypes.Encode(op); err == nil && wire.ParentRunID == "" && op.Verb == runtypes.Post {
				last = wire
			}
		}
	}
	if got := last.Metadata()["turn_number"]; got != json.Number("2") {
		t.Errorf("turn %v, want 2: one prompt came before, and a compaction, which is none", got)
	}
}

// The database does not tell why a prompt has no answer: it may have been no question.
func TestAPromptWithoutAnAnswerIsNoInterruptInThePast(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "for your information")
	s.prompt("ses_1", "msg_2", "go")
	s.reply("ses_1", "msg_3", "msg_2", "build", fmt.Sprintf(`,"finish":"stop","time":{"created":%d,"completed":%d}`, s.t, s.t+50))
	home := t.TempDir()
	store(t, home, s.recording(t))
	runs, traces := imported(t, home, "")
	count1(t, "turns", len(traces), 2)
	for _, run := range runs {
		if run.Error != "" {
			t.Errorf("%s has error %q", run.Kind(), run.Error)
		}
	}
}

// A prompt that waited when the user stopped the turn before it never was answered.
func TestAnAbortInThePastInterruptsThePromptThatWaited(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "one")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
	began := s.t
	s.prompt("ses_1", "msg_3", "two")
	s.reply("ses_1", "msg_2", "msg_1", "build", fmt.Sprintf(`,"time":{"created":%d,"completed":%d},"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}`, began, s.t))
	s.prompt("ses_1", "msg_5", "three")
	s.step("ses_1", "msg_6", "msg_5", "build", "fine", "stop")
	home := t.TempDir()
	store(t, home, s.recording(t))
	runs, _ := imported(t, home, "")
	all := roots(slices.Collect(maps.Values(runs)))
	count1(t, "turns", len(all), 3)
	slices.SortFunc(all, func(a, b runtypes.Wire) int { return strings.Compare(a.DottedOrder, b.DottedOrder) })
	for i, want := range []string{"Interrupted by user", "Interrupted by user", ""} {
		if all[i].Error != want {
			t.Errorf("turn %d has error %q, want %q", i+1, all[i].Error, want)
		}
	}
}

func TestAnAbortInThePastInterruptsWhatItStopped(t *testing.T) {
	const aborted = `,"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}`
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "go")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
	s.part("ses_1", "msg_2", `"id":"prt_1","type":"step-start"`)
	for id, output := range map[string]string{"prt_2": "read", "prt_3": "\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"} {
		s.part("ses_1", "msg_2", fmt.Sprintf(`"id":%q,"type":"tool","tool":%q,"callID":%q,"state":{"status":"completed","input":{},"output":%q,"time":{"start":%d,"end":%d}}`, id, id, id, output, s.t, s.t+50))
	}
	s.reply("ses_1", "msg_2", "msg_1", "build", fmt.Sprintf(`,"time":{"created":%d,"completed":%d}`, s.t, s.t)+aborted)
	home := t.TempDir()
	store(t, home, s.recording(t))
	runs, _ := imported(t, home, "")
	for _, run := range runs {
		if want := map[string]string{"prt_2": "", "prt_3": "Interrupted by user"}; run.Kind() == runtypes.KindTool && run.Error != want[run.Name] {
			t.Errorf("%s has error %q", run.Name, run.Error)
		}
	}
	count1(t, "runs", len(runs), 4)
}
