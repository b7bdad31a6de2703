package redact

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

var secret = "ghp_" + alnum + "Abcd"

// full is a run with a secret in every field that takes text of others.
func full() *runtypes.Run {
	text := "see " + secret
	doc := json.RawMessage(`{"text":"` + text + `"}`)
	any := func() map[string]any {
		return map[string]any{
			"text": text, secret: 1, "password": "hunter22", "list": []string{text}, "raw": doc,
			"deep": map[string]any{"x": []any{map[string]any{"y": text}}}, "n": 1, "nan": math.NaN(), "none": nil,
			"typed": struct {
				Token string `json:"token"`
			}{"hunter22"},
		}
	}
	return &runtypes.Run{
		Name: text, Error: text, Inputs: doc, Outputs: doc, Tags: []string{"a", text}, Project: text,
		Model: runtypes.Model{Name: text, InvocationParams: any()}, Tool: runtypes.ToolInfo{Name: text, Skill: text},
		Subagent: runtypes.SubagentInfo{ID: "id", Type: text}, Metadata: any(),
		Events: []runtypes.RunEvent{{Name: text, Data: any()}},
		Identity: runtypes.Identity{
			ThreadID: "550e8400-e29b-41d4-a716-446655440000", TurnID: "t1", WorkingDirectory: "/home/" + secret, UserID: text, Attribution: text,
			Repo: runtypes.Repo{URL: "https://bob:hunter22@github.com/o/r", Branch: "fix/" + secret, SHA: strings.Repeat("9f8e7d6c", 5)},
		},
	}
}

func TestNoFieldOfARunKeepsASecret(t *testing.T) {
	for _, kind := range []runtypes.Kind{runtypes.KindRoot, runtypes.KindLLM, runtypes.KindTool, runtypes.KindSubagent} {
		r := full()
		r.Kind, r.ID = kind, uuid.New()
		r.TraceID, r.Start, r.DottedOrder = r.ID, time.Now(), "x"
		identity := r.Identity
		if err := Run(r); err != nil {
			t.Fatal(err)
		}
		wire, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: r})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(wire)
		if err != nil {
			t.Fatal(err)
		}
		for _, left := range []string{secret, "hunter22"} {
			if strings.Contains(string(raw), left) {
				t.Errorf("%s: %s is left in %s", kind, left, raw)
			}
		}
		if r.Identity.ThreadID != identity.ThreadID || r.Identity.Repo.SHA != identity.Repo.SHA || r.Subagent.ID != "id" || r.ID != r.TraceID {
			t.Errorf("an id changed: %+v", r)
		}
		if r.Metadata["n"] != 1 || r.Metadata["text"] != "see [redacted:github-pat]" || r.Metadata["password"] != "[redacted:password]" {
			t.Errorf("metadata is %v", r.Metadata)
		}
	}
}

func TestWhatRunsShareIsNotChangedInPlace(t *testing.T) {
	r, same := full(), full()
	tags, meta, events := r.Tags, r.Metadata, r.Events
	delete(meta, "nan") // it does not equal itself
	delete(same.Metadata, "nan")
	if err := Run(r); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(tags, same.Tags) || !reflect.DeepEqual(meta, same.Metadata) || events[0].Name != same.Events[0].Name {
		t.Error("a shared value was changed")
	}
}

func TestARunWithoutSecretsStaysAsItIs(t *testing.T) {
	r := &runtypes.Run{Name: "x", Inputs: json.RawMessage(`{"a":1}`), Metadata: map[string]any{"input_tokens": 1234567}, Tags: []string{"t"}}
	inputs, meta := &r.Inputs[0], reflect.ValueOf(r.Metadata).Pointer()
	if err := Run(r); err != nil {
		t.Fatal(err)
	}
	if &r.Inputs[0] != inputs || reflect.ValueOf(r.Metadata).Pointer() != meta {
		t.Error("it was copied")
	}
}

func TestARunThatCannotBeLookedThroughIsAnError(t *testing.T) {
	for _, r := range []*runtypes.Run{
		nil, {Inputs: json.RawMessage(`{"a":"open}`)}, {Outputs: json.RawMessage(`text`)},
		{Metadata: map[string]any{"f": func() {}}}, {Model: runtypes.Model{InvocationParams: map[string]any{"c": make(chan int)}}},
		{Events: []runtypes.RunEvent{{Data: map[string]any{"x": json.RawMessage(`{`)}}}},
	} {
		if err := Run(r); err == nil {
			t.Errorf("no error for %+v", r)
		}
	}
}
