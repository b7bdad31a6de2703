package runtypes

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
)

var start = time.Date(2026, 11, 30, 4, 5, 6, 7_008_999, time.FixedZone("CET", 3600))

func identity() Identity {
	return Identity{
		Integration: "claude-code", Runtime: "Claude Code", RuntimeVersion: "2.1.332",
		ThreadID: "thread-1", TurnID: "turn-1", TurnNumber: 1,
		Repo:             Repo{URL: "git@github.com:o/r.git", Branch: "main", SHA: strings.Repeat("a", 40)},
		WorkingDirectory: "/home/dev/r", ApprovalPolicy: "default",
	}
}

func root() *Run { return Root(idgen.Run(start, "root"), start, identity()) }

func encoded(t *testing.T, op Op) Wire {
	t.Helper()
	w, err := Encode(op)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestTimesAreUTCMicrosecondsAndAgreeWithTheDottedOrder(t *testing.T) {
	w := encoded(t, Op{Post, root()})
	if w.StartTime != "2026-11-30T03:05:06.007008Z" {
		t.Errorf("start_time %s", w.StartTime)
	}
	if !strings.HasPrefix(w.DottedOrder, "20261130T030506007008Z") {
		t.Errorf("dotted_order %s", w.DottedOrder)
	}
	if w.EndTime != "" {
		t.Errorf("a pending run has end_time %s", w.EndTime)
	}
}

func TestAChildIsNeverEarlierThanItsParent(t *testing.T) {
	parent := root()
	child := Tool(parent, idgen.New(), start.Add(-time.Second), "bash")
	if child.Start.Before(parent.Start) {
		t.Fatalf("child starts at %v, parent at %v", child.Start, parent.Start)
	}
	Finish(child, start.Add(-time.Hour))
	if child.End.Before(child.Start) {
		t.Fatalf("child ends at %v before it starts", child.End)
	}
	if v := Validate([]Run{*parent, *child}); len(v) != 0 {
		t.Fatal(v)
	}
}

func TestInputsThatAreNoObjectAreWrapped(t *testing.T) {
	check := func(in, want string) {
		t.Helper()
		r := root()
		r.Inputs = json.RawMessage(in)
		if got := encoded(t, Op{Post, r}).Inputs; string(got) != want {
			t.Errorf("inputs %s became %s, want %s", in, got, want)
		}
	}
	check(`{"a":1}`, `{"a":1}`)
	check(`["a"]`, `{"input":["a"]}`)
	check(`"text"`, `{"input":"text"}`)
	check(`7`, `{"input":7}`)
	check(`null`, ``)
}

func TestAbsentValuesAreLeftOut(t *testing.T) {
	r := Root(idgen.New(), start, Identity{Integration: "x", Runtime: "X", ThreadID: "t"})
	r.Metadata = map[string]any{"nothing": nil, "empty": "", "kept": 0}
	raw, err := json.Marshal(encoded(t, Op{Post, r}))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"null", `""`, "git_", "repository_", "parent_run_id", "end_time", "nothing", "turn_number"} {
		if strings.Contains(string(raw), bad) {
			t.Errorf("%s stands in %s", bad, raw)
		}
	}
	if !strings.Contains(string(raw), `"kept":0`) {
		t.Errorf("a zero that was given is gone: %s", raw)
	}
}

func TestTheIdentityWinsOverUserMetadata(t *testing.T) {
	r := Tool(root(), idgen.New(), start, "bash")
	r.Metadata = map[string]any{"thread_id": "mine", "ls_agent_type": "mine", "ls_tool_name": "mine", "approval_policy": "mine", "usage_metadata": map[string]any{"input_tokens": 1}, "team": "blue"}
	meta := encoded(t, Op{Post, r}).Metadata()
	for key, want := range map[string]any{"thread_id": "thread-1", "ls_agent_type": "root", "ls_tool_name": "bash", "team": "blue"} {
		if meta[key] != want {
			t.Errorf("%s = %v, want %v", key, meta[key], want)
		}
	}
	for _, key := range []string{"approval_policy", "usage_metadata"} {
		if v, ok := meta[key]; ok {
			t.Errorf("%s = %v stands on a tool run", key, v)
		}
	}
}

func TestAPatchCarriesEverythingButTheInputs(t *testing.T) {
	r := root()
	r.Inputs = json.RawMessage(`{"messages":[]}`)
	r.Outputs = json.RawMessage(`{"messages":[]}`)
	Finish(r, start.Add(time.Second))
	w := encoded(t, Op{Patch, r})
	if len(w.Inputs) != 0 {
		t.Errorf("inputs %s", w.Inputs)
	}
	if len(w.Outputs) == 0 || len(w.Extra) == 0 || w.EndTime == "" || w.DottedOrder == "" || w.Name == "" {
		t.Errorf("patch lacks fields: %+v", w)
	}
}

func TestMergingAPatchIntoItsPostLosesNothing(t *testing.T) {
	post := root()
	post.Inputs = json.RawMessage(`{"p":1}`)
	post.Metadata = map[string]any{"a": 1, "b": 1}
	patch := root()
	patch.Outputs = json.RawMessage(`{"q":2}`)
	patch.Metadata = map[string]any{"b": 2}
	Interrupt(patch, start.Add(time.Second), "Interrupted by user")
	merged := encoded(t, Op{Post, Merge(post, patch)})
	apart := MergeWire(encoded(t, Op{Post, post}), encoded(t, Op{Patch, patch}))
	if string(merged.Inputs) != `{"p":1}` || string(merged.Outputs) != `{"q":2}` || merged.Error != apart.Error || merged.EndTime != apart.EndTime {
		t.Errorf("merged %+v", merged)
	}
	meta := merged.Metadata()
	if meta["a"] != json.Number("1") || meta["b"] != json.Number("2") {
		t.Errorf("metadata %v", meta)
	}
	if merged.Kind() != KindInterrupted {
		t.Errorf("kind %s", merged.Kind())
	}
}

func TestARunThatCannotBeWrittenNamesFieldAndRun(t *testing.T) {
	check := func(field string, change func(*Run)) {
		t.Helper()
		r := root()
		change(r)
		_, err := Encode(Op{Post, r})
		var fe *FieldError
		if !errors.As(err, &fe) || fe.Field != field {
			t.Errorf("want an error about %s, got %v", field, err)
		}
	}
	check("id", func(r *Run) { r.ID = uuid.Nil })
	check("trace_id", func(r *Run) { r.TraceID = uuid.Nil })
	check("start_time", func(r *Run) { r.Start = time.Time{} })
	check("dotted_order", func(r *Run) { r.DottedOrder = "" })
	check("inputs", func(r *Run) { r.Inputs = json.RawMessage(`{`) })
	check("outputs", func(r *Run) { r.Outputs = json.RawMessage(`nope`) })
	if _, err := Encode(Op{Post, nil}); err == nil {
		t.Error("no run gave no error")
	}
	if _, err := Encode(Op{"put", root()}); err == nil {
		t.Error("an unknown verb gave no error")
	}
}

func TestNamesHoldNoControlCharacters(t *testing.T) {
	r := root()
	r.Name = "a\nb\x00c\xff"
	if got := encoded(t, Op{Post, r}).Name; got != "a b c�" {
		t.Errorf("name %q", got)
	}
}

func TestUsageTotalsIncludeTheirDetails(t *testing.T) {
	r := LLM(root(), idgen.New(), start, Model{Name: "claude-opus-4-5", Provider: "anthropic"})
	r.Usage = &Usage{Input: 100, Output: 20, CacheRead: 60, CacheCreation: 10, Ephemeral5m: 10, Reasoning: 5}
	got, err := Marshal(encoded(t, Op{Post, r}).Metadata()["usage_metadata"])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"input_token_details":{"cache_read":60,"ephemeral_5m_input_tokens":10},"input_tokens":100,"output_token_details":{"reasoning":5},"output_tokens":20,"total_tokens":120}`
	if string(got) != want {
		t.Errorf("usage %s\nwant  %s", got, want)
	}
}

func TestRemotesGiveTheirWebAddress(t *testing.T) {
	check := func(remote, url, provider, name string) {
		t.Helper()
		u, p, n := Repo{URL: remote}.Web()
		if u != url || p != provider || n != name {
			t.Errorf("%s gave %q %q %q", remote, u, p, n)
		}
	}
	check("git@github.com:o/r.git", "https://github.com/o/r", "github", "o/r")
	check("https://gitlab.com/g/sub/r.git", "https://gitlab.com/g/sub/r", "gitlab", "g/sub/r")
	check("ssh://git@bitbucket.org:22/o/r", "https://bitbucket.org/o/r", "bitbucket", "o/r")
	check("https://git.example.com:8443/o/r/", "https://git.example.com:8443/o/r", "other", "o/r")
	check("github.corp.example:o/r.git", "https://github.corp.example/o/r", "github", "o/r")
	check("/home/dev/r", "", "", "")
	check("../r", "", "", "")
	check("", "", "", "")
}

// A reducer keeps a run that has not ended in its state; its patch repeats no inputs.
func TestARunThatWasStoredWithoutInputsHasNone(t *testing.T) {
	raw, err := json.Marshal(&Run{Name: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	patch := new(Run)
	if err := json.Unmarshal(raw, patch); err != nil {
		t.Fatal(err)
	}
	merged := Merge(&Run{Inputs: json.RawMessage(`{"a":1}`), Outputs: json.RawMessage(`{"b":2}`)}, patch)
	if string(merged.Inputs) != `{"a":1}` || string(merged.Outputs) != `{"b":2}` {
		t.Errorf("inputs %s, outputs %s", merged.Inputs, merged.Outputs)
	}
}
