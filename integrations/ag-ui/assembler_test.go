package agui

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// assemble puts a stream together.
func assemble(t *testing.T, stream []byte) *Summary {
	t.Helper()
	a := NewAssembler()
	for _, f := range readAll(t, bytes.NewReader(stream), Options{}) {
		a.Apply(f)
	}
	a.Close()
	return a.Summary()
}

func TestEveryRecordedStreamAssemblesAsItsConsumerBlockSays(t *testing.T) {
	recorded, err := filepath.Glob("testdata/*/expected.json")
	if err != nil || len(recorded) == 0 {
		t.Fatal("no recorded streams", err)
	}
	for _, path := range recorded {
		dir := filepath.Dir(path)
		var expected struct {
			Consumer map[string]any `json:"consumer"`
		}
		if err := json.Unmarshal(readFile(t, path), &expected); err != nil {
			t.Fatal(err)
		}
		streams := 0
		for _, name := range []string{"events.sse", "events.jsonl", "events.bin"} {
			stream, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				continue // not every stream was recorded in every format
			}
			streams++
			t.Run(filepath.Base(dir)+"/"+name, func(t *testing.T) {
				s := assemble(t, stream)
				checkConsumer(t, expected.Consumer, s, name == "events.bin")
				refused := slices.ContainsFunc(s.Problems, func(p Problem) bool { return p.Refused() })
				if expected.Consumer["strict"] == "reject" && !refused {
					t.Error("a strict reader does not refuse it")
				}
			})
		}
		if streams == 0 {
			t.Errorf("%s: no stream", dir)
		}
	}
}

// checkConsumer holds a summary to a consumer block. Protobuf keeps neither the exact
// bytes of numbers nor the order of keys.
func checkConsumer(t *testing.T, want map[string]any, s *Summary, isProtobuf bool) {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if want["diagnostics"] == nil && want["decode"] == nil {
		want["diagnostics"] = []any{}
	}
	for key, value := range want {
		switch key {
		case "strict", "note", "decode":
			continue // not of the assembled messages
		case "message_metadata_raw":
			if isProtobuf {
				continue
			}
		case "diagnostics":
			sortTexts(value)
			sortTexts(got[key])
		}
		if diff := cmp.Diff(withoutNone(value), withoutNone(got[key])); diff != "" {
			t.Errorf("%s:\n%s", key, diff)
		}
	}
}

func sortTexts(list any) {
	slices.SortFunc(list.([]any), func(a, b any) int { return bytes.Compare([]byte(a.(string)), []byte(b.(string))) })
}

// withoutNone drops metadata that says nothing: a null expectation means none.
func withoutNone(v any) any {
	all, ok := v.(map[string]any)
	if !ok {
		return v
	}
	kept := map[string]any{}
	for key, value := range all {
		if object, ok := value.(map[string]any); value != nil && (!ok || len(object) > 0) {
			kept[key] = value
		}
	}
	return kept
}
