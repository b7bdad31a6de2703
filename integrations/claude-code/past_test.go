package claudecode_test

import (
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/integrations"
	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	"github.com/tracesmith/tracesmith/runtypes"
)

// tree is a Source: files by path, with their folders.
type tree map[string]string

func (t tree) Glob(pattern string) ([]string, error) {
	found := map[string]bool{}
	for name := range t {
		for ; name != "/" && name != "."; name = path.Dir(name) {
			ok, err := path.Match(pattern, name)
			if err != nil {
				return nil, err
			}
			if ok {
				found[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func (t tree) File(name string) ([]byte, error) {
	text, ok := t[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func (tree) Rows(string, string, ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) { yield(nil, fs.ErrNotExist) }
}

func (tree) Recall(string) (integrations.Event, error) {
	return integrations.Event{}, fs.ErrNotExist
}

func (t tree) Lines(name string, from int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) {
		text, ok := t[name]
		if !ok {
			yield(integrations.Line{}, fs.ErrNotExist)
			return
		}
		var at int64
		for line := range strings.Lines(text) {
			next := at + int64(len(line))
			if at >= from && strings.HasSuffix(line, "\n") {
				if !yield(integrations.Line{Offset: at, Next: next, Data: []byte(strings.TrimSuffix(line, "\n"))}, nil) {
					return
				}
			}
			at = next
		}
	}
}

const (
	oneID   = "11111111-2222-4333-8444-555555555555"
	twoID   = "21111111-2222-4333-8444-555555555555"
	project = "/home/dev/.claude/projects/-home-dev-widgets/"
)

// transcript writes lines at one second each; AT stands for the time, ID for the
// session.
func transcript(id string, lines ...string) string {
	begin := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var text strings.Builder
	for i, line := range lines {
		at := begin.Add(time.Duration(i) * time.Second).Format(time.RFC3339)
		text.WriteString(strings.NewReplacer("AT", at, "ID", id).Replace(line) + "\n")
	}
	return text.String()
}

func prompt(id, text string) string {
	return fmt.Sprintf(`{"type":"user","sessionId":"ID","timestamp":"AT","promptId":%q,"turnOrigin":"human","cwd":"/src","gitBranch":"main","version":"2.1.0","message":{"role":"user","content":%q}}`, id, text)
}

// said is a reply without a reason why it stopped.
func said(id, text string) string {
	return fmt.Sprintf(`{"type":"assistant","sessionId":"ID","timestamp":"AT","message":{"id":%q,"model":"m","stop_reason":null,"content":[{"type":"text","text":%q}]}}`, id, text)
}

func find(t *testing.T, src integrations.Source, place integrations.Place) []integrations.Session {
	t.Helper()
	if place.Home == "" {
		place.Home = "/home/dev"
	}
	if place.Env == nil {
		place.Env = func(string) string { return "" }
	}
	var list []integrations.Session
	for s, err := range claudecode.Agent().Past(src, place) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// build tells a session to a reducer and returns the runs in their last state.
func build(t *testing.T, src integrations.Source, s integrations.Session) []*runtypes.Run {
	t.Helper()
	told, err := s.Tell(src)
	if err != nil {
		t.Fatal(err)
	}
	r := claudecode.Agent().NewReducer(integrations.Options{})
	var order []*runtypes.Run
	for _, e := range append(told.Events, integrations.Event{Kind: integrations.Grew}, integrations.Event{Kind: integrations.Dead}) {
		ops, err := r.Apply(src, e)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			order = slices.DeleteFunc(order, func(run *runtypes.Run) bool { return run.ID == op.Run.ID })
			order = append(order, op.Run)
		}
	}
	return order
}

// roots lists the roots with how they ended.
func roots(runs []*runtypes.Run) []string {
	var list []string
	for _, run := range runs {
		if run.ParentID == [16]byte{} {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%d %s %s", run.Identity.TurnNumber, run.Identity.TurnID, run.Error)))
		}
	}
	return list
}

func TestPastSessionsAreFoundWhereTheUserSays(t *testing.T) {
	src := tree{
		project + oneID + ".jsonl":                                   "",
		project + "notes.jsonl":                                      "",
		"/home/dev/.claude/projects/-tmp-x-y/" + twoID + ".jsonl":    "",
		"/conf/projects/-home-dev-widgets/" + twoID + ".jsonl":       "",
		"/old [2025]/projects/-home-dev-widgets/" + oneID + ".jsonl": "",
	}
	conf := func(string) string { return "/conf" }
	tests := map[string]struct {
		place integrations.Place
		want  []string
	}{
		"nowhere in particular":       {integrations.Place{}, []string{project + oneID, "/home/dev/.claude/projects/-tmp-x-y/" + twoID}},
		"another settings folder":     {integrations.Place{Env: conf}, []string{"/conf/projects/-home-dev-widgets/" + twoID}},
		"a transcript":                {integrations.Place{Path: project + oneID + ".jsonl"}, []string{project + oneID}},
		"any file":                    {integrations.Place{Path: project + "notes.jsonl"}, []string{project + "notes"}},
		"a project's folder":          {integrations.Place{Path: project}, []string{project + oneID}},
		"the folder of projects":      {integrations.Place{Path: "/conf/projects"}, []string{"/conf/projects/-home-dev-widgets/" + twoID}},
		"a settings folder":           {integrations.Place{Path: "/old [2025]"}, []string{"/old [2025]/projects/-home-dev-widgets/" + oneID}},
		"a home":                      {integrations.Place{Path: "/home/dev", Env: conf}, []string{project + oneID, "/home/dev/.claude/projects/-tmp-x-y/" + twoID}},
		"a folder that was worked in": {integrations.Place{Path: "/tmp/x.y"}, []string{"/home/dev/.claude/projects/-tmp-x-y/" + twoID}},
		"a folder without any":        {integrations.Place{Path: "/tmp"}, nil},
		"a file that is not there":    {integrations.Place{Path: "/tmp/a.jsonl"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range find(t, src, test.place) {
				got = append(got, strings.TrimSuffix(s.Main(), ".jsonl"))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPastSessionsKnowTheirFilesAndProcesses(t *testing.T) {
	dir := project + oneID + "/subagents/"
	src := tree{
		project + oneID + ".jsonl":                    "",
		dir + "agent-a1.jsonl":                        "",
		dir + "agent-a1.meta.json":                    "{}",
		dir + "workflows/w1/agent-a2.jsonl":           "",
		dir + "workflows/w1/journal.jsonl":            "",
		"/home/dev/.claude/sessions/7.json":           `{"pid":7,"procStart":"12","sessionId":"` + oneID + `"}`,
		"/home/dev/.claude/sessions/8.json":           `{"pid":8,"sessionId":"` + twoID + `"}`,
		"/home/dev/.claude/sessions/9.json":           `{"pid":`,
		"/copy/-home-dev-widgets/" + oneID + ".jsonl": "",
	}
	s := find(t, src, integrations.Place{})[0]
	want := []string{project + oneID + ".jsonl", dir + "agent-a1.jsonl", dir + "workflows/w1/agent-a2.jsonl"}
	if diff := cmp.Diff(want, s.Files); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]integrations.Proc{{PID: 7, Start: "12"}}, s.Procs); diff != "" || !s.Noted {
		t.Errorf("noted %v: %s", s.Noted, diff)
	}
	if s := find(t, src, integrations.Place{Path: "/copy"})[0]; s.Noted {
		t.Error("processes are noted for a copy of a transcript")
	}
	delete(src, "/home/dev/.claude/sessions/7.json")
	delete(src, "/home/dev/.claude/sessions/8.json")
	delete(src, "/home/dev/.claude/sessions/9.json")
	if s := find(t, src, integrations.Place{})[0]; s.Noted {
		t.Error("a version that keeps no record was taken for one that does")
	}
}

// Some versions never write why the model stopped: an answer ends a turn then.
func TestPastTurnsOfVersionsWithoutStopReasons(t *testing.T) {
	cut := `{"type":"user","sessionId":"ID","timestamp":"AT","promptId":"p2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`
	call := `{"type":"assistant","sessionId":"ID","timestamp":"AT","message":{"id":"m2","model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`
	lines := []string{prompt("p1", "one"), said("m1", "answer"), prompt("p2", "two"), call, cut, prompt("p3", "three"), said("m3", "answer")}
	src := tree{project + oneID + ".jsonl": transcript(oneID, lines...)}
	got := roots(build(t, src, find(t, src, integrations.Place{})[0]))
	want := []string{"1 p1", "2 p2 Interrupted", "3 p3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// The same in a version that does: the last answer was cut off.
	lines[1] = strings.Replace(lines[1], `"stop_reason":null`, `"stop_reason":"end_turn"`, 1)
	src = tree{project + oneID + ".jsonl": transcript(oneID, lines...)}
	got = roots(build(t, src, find(t, src, integrations.Place{})[0]))
	want[2] = "3 p3 Interrupted: the process ended"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A fork copies prompts, replies and compactions, all with the id of its own first
// prompt. None of them is its own.
func TestPastForkLeavesOutWhatItCopied(t *testing.T) {
	copied := strings.Replace(said("m1", "old"), `"sessionId":"ID"`, `"sessionId":"ID","requestSessionId":"other"`, 1)
	src := tree{project + oneID + ".jsonl": transcript(oneID,
		prompt("p9", "old"), copied, prompt("p9", "old, without a reply"),
		`{"type":"system","subtype":"compact_boundary","sessionId":"ID","timestamp":"AT","compactMetadata":{"trigger":"manual","durationMs":10}}`,
		`{"type":"user","isCompactSummary":true,"sessionId":"ID","timestamp":"AT","promptId":"p9","message":{"role":"user","content":"summary"}}`,
		prompt("p9", "own"), said("m2", "answer"), prompt("p10", "own again"), said("m3", "answer"))}
	runs := build(t, src, find(t, src, integrations.Place{})[0])
	if diff := cmp.Diff([]string{"1 p9", "2 p10"}, roots(runs)); diff != "" {
		t.Error(diff)
	}
	for _, run := range runs {
		if run.TraceID == run.ID && strings.Contains(string(run.Inputs), "old") {
			t.Errorf("a copied prompt is in %s", run.Inputs)
		}
	}
}

// "Summarize from here" in the list of prompts bears the id of the turn before it.
func TestPastCompactionWithTheIDOfATurn(t *testing.T) {
	src := tree{project + oneID + ".jsonl": transcript(oneID,
		prompt("p1", "first"), said("m1", "answer"),
		`{"type":"system","subtype":"compact_boundary","sessionId":"ID","timestamp":"AT","compactMetadata":{"trigger":"manual","durationMs":10}}`,
		`{"type":"user","isCompactSummary":true,"sessionId":"ID","timestamp":"AT","promptId":"p1","message":{"role":"user","content":"summary"}}`,
		prompt("p2", "second"), said("m2", "answer"))}
	list := roots(build(t, src, find(t, src, integrations.Place{})[0]))
	slices.Sort(list)
	if diff := cmp.Diff([]string{"0 p1", "1 p1", "2 p2"}, list); diff != "" {
		t.Error(diff)
	}
}

func TestPastSubagents(t *testing.T) {
	agentLine := `{"type":"user","agentId":"a1","isSidechain":true,"sessionId":"ID","timestamp":"AT","promptId":"p1","message":{"role":"user","content":"task"}}`
	done := strings.Replace(said("m2", "done"), "null", `"end_turn"`, 1)
	call := `{"type":"assistant","sessionId":"ID","timestamp":"AT","message":{"id":"m1","model":"m","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t1","name":"Agent","input":{}}]}}`
	dir := project + oneID + "/subagents/"
	for name, test := range map[string]struct {
		meta, parent string
		lines        []string
		err          string
	}{
		"finished":                {`{"agentType":"scout","toolUseId":"t1","finished":true}`, "tool", []string{agentLine}, ""},
		"an answer says so":       {`{"agentType":"scout","toolUseId":"t1"}`, "tool", []string{agentLine, done}, ""},
		"cut off":                 {`{"agentType":"scout","toolUseId":"t1"}`, "tool", []string{agentLine}, "Interrupted"},
		"no record beside it":     {"", "root", []string{agentLine, done}, ""},
		"a record that is broken": {"{", "root", []string{agentLine, done}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			src := tree{
				project + oneID + ".jsonl": transcript(oneID, prompt("p1", "one"), call),
				dir + "agent-a1.jsonl":     transcript(oneID, test.lines...),
			}
			if test.meta != "" {
				src[dir+"agent-a1.meta.json"] = test.meta
			}
			runs := build(t, src, find(t, src, integrations.Place{})[0])
			kinds := map[[16]byte]string{}
			for _, run := range runs {
				kinds[run.ID] = string(run.Kind)
				if run.ParentID == [16]byte{} {
					kinds[run.ID] = "root"
				}
			}
			for _, run := range runs {
				if run.Kind != runtypes.KindSubagent {
					continue
				}
				if run.Error != test.err || kinds[run.ParentID] != test.parent {
					t.Errorf("error %q below a %s, want %q below a %s", run.Error, kinds[run.ParentID], test.err, test.parent)
				}
				return
			}
			t.Error("no subagent")
		})
	}
}
