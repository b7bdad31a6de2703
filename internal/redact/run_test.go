package redact

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
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
		raw := onTheWire(t, r)
		for _, left := range []string{secret, "hunter22"} {
			if strings.Contains(raw, left) {
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

// survivors are the ids that hold a thread together.
var survivors = []string{".DottedOrder", ".Identity.ThreadID", ".Identity.TurnID", ".Identity.Repo.SHA"}

func TestEveryFieldOfARunIsLookedThrough(t *testing.T) {
	for _, kind := range []runtypes.Kind{
		runtypes.KindRoot, runtypes.KindLLM, runtypes.KindTool, runtypes.KindSubagent, runtypes.KindInterrupted, runtypes.KindChain,
	} {
		fields := &planted{}
		var r runtypes.Run
		fields.fill("", reflect.ValueOf(&r).Elem())
		if len(fields.paths) < 30 {
			t.Fatalf("only %q are filled", fields.paths)
		}
		r.Kind, r.ID, r.TraceID, r.Start = kind, uuid.New(), uuid.New(), time.Now()
		if err := Run(&r); err != nil {
			t.Fatal(err)
		}
		left := onTheWire(t, &r) + fmt.Sprintf("%+v", r) // the second also has what the kind does not send
		for i, path := range fields.paths {
			if strings.Contains(left, fields.token(i)) != slices.Contains(survivors, path) {
				t.Errorf("%s: %s is left: %v", kind, path, !slices.Contains(survivors, path))
			}
		}
	}
}

// planted fills every text of a value with a token of its own.
type planted struct{ paths []string }

func (p *planted) token(i int) string { return fmt.Sprintf("ghp_%s%04d", alnum, i) }

func (p *planted) next(path string) string {
	p.paths = append(p.paths, path)
	return p.token(len(p.paths) - 1)
}

func (p *planted) fill(path string, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time, uuid.UUID, runtypes.Kind: // no text of others
		return
	case json.RawMessage:
		v.SetBytes([]byte(`{"x":"` + p.next(path) + `"}`))
		return
	case []byte:
		v.SetBytes([]byte(p.next(path)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(p.next(path))
	case reflect.Struct:
		for i := range v.NumField() {
			p.fill(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		p.fill(path, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		p.fill(path+"[0]", v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		p.fill(path+" key", key)
		p.fill(path+" value", value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Interface:
		v.Set(reflect.ValueOf(p.next(path)))
	case reflect.Int64:
		v.SetInt(7)
	case reflect.Float64, reflect.Int, reflect.Bool: // no text
	default:
		panic("a run has a field of a kind that this test does not know: " + path)
	}
}

// onTheWire is all that a request says of a run.
func onTheWire(t *testing.T, r *runtypes.Run) string {
	t.Helper()
	wire, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: r})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(wire)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Attachments {
		raw = append(raw, a.Name+" "+a.MIMEType+" "+string(a.Data)...)
	}
	return string(raw)
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
