package deepagentscode

import (
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// nowhere is a Source of nothing.
type nowhere struct{}

func (nowhere) Glob(string) ([]string, error) { return nil, nil }
func (nowhere) File(string) ([]byte, error)   { return nil, fs.ErrNotExist }
func (nowhere) Recall(string) (integrations.Event, error) {
	return integrations.Event{}, fs.ErrNotExist
}

func (nowhere) Rows(string, string, ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) { yield(nil, fs.ErrNotExist) }
}

func (nowhere) Lines(string, int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) { yield(integrations.Line{}, fs.ErrNotExist) }
}

func TestEveryKindOfValueIsUnpacked(t *testing.T) {
	for packed, want := range map[string]string{
		"c0":                 `null`,
		"c2":                 `false`,
		"c3":                 `true`,
		"07":                 `7`,
		"ff":                 `-1`,
		"ccff":               `255`,
		"cd0100":             `256`,
		"cfffffffffffffffff": `18446744073709551615`,
		"d080":               `-128`,
		"d1ff7f":             `-129`,
		"d3ffffffffffffffff": `-1`,
		"ca3fc00000":         `1.5`,
		"cb3ff8000000000000": `1.5`,
		"cb7ff8000000000000": `null`,
		"a3c3a978":           `"éx"`,
		"d90178":             `"x"`,
		"da000178":           `"x"`,
		"c40201ff":           `null`,
		"92c301":             `[true,1]`,
		"dc0001c0":           `[null]`,
		"82a161010202":       `{"a":1,"2":2}`,
		"de0001a16101":       `{"a":1}`,
		"c7040593a16da163":   ``, // the list is short of one
		"c7060593a16da16380": `["m","c",{}]`,
		"d40601":             `null`,
	} {
		raw, err := hex.DecodeString(packed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpack(raw)
		if want == "" {
			if err == nil {
				t.Errorf("%s: made %s of it", packed, got)
			}
			continue
		}
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", packed, got, err, want)
		}
	}
}

// A length says what may follow, never what is there.
func TestALengthThatLiesIsRefused(t *testing.T) {
	for _, packed := range []string{"dd7fffffff", "df7fffffff", "dbffffffff", "c6ffffffff", "c9ffffffff05", "a5", "", "c1", "c0c0", strings.Repeat("91", 100) + "c0"} {
		raw, err := hex.DecodeString(packed)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unpack(raw); err == nil {
			t.Errorf("%s: made %s of it", packed, got)
		}
	}
}

func TestIDsTellTheirTime(t *testing.T) {
	for id, want := range map[string]string{
		"1f1ed02c-434a-6376-8016-f0e7c0822f5c": "2026-11-30T21:12:36.269759Z",
		"01a22e4d-6e49-726d-9970-5fbd364c3b41": "2026-11-30T21:12:36.169Z",
		"d3bb55e1-5da7-4daf-b463-3421c6e44d83": "0001-01-01T00:00:00Z",
		"assistant-1":                          "0001-01-01T00:00:00Z",
	} {
		at, err := time.Parse(time.RFC3339Nano, want)
		if err != nil {
			t.Fatal(err)
		}
		if got := timeOf(id).Truncate(time.Microsecond); !got.Equal(at) {
			t.Errorf("%s: %s, want %s", id, got.Format(time.RFC3339Nano), want)
		}
	}
}

func TestExceptionsReadAsPeoplePrintThem(t *testing.T) {
	for printed, want := range map[string]string{
		`CancelledError()`:                                  "CancelledError",
		`TimeoutError('interrupted')`:                       "TimeoutError: interrupted",
		`BadRequestError('Error code: 400 - {\'a\': "b"}')`: `BadRequestError: Error code: 400 - {'a': "b"}`,
		`KeyError("it's")`:                                  "KeyError: it's",
		`odd`:                                               "odd",
	} {
		what, called := failure(printed)
		if what != want || called != strings.HasPrefix(printed, "Cancelled") {
			t.Errorf("%s: %q, called off %v", printed, what, called)
		}
	}
}

// A write that replaces the conversation repeats all that was said before it.
func TestAWriteThatReplacesTheConversationSaysNothing(t *testing.T) {
	w := &write{value: json.RawMessage(`[["m","RemoveMessage",{"type":"remove","id":"__remove_all__"},"f"],["m","AIMessage",{"type":"ai","id":"1","content":"old"},"f"]]`)}
	if n := w.notes(); len(n) != 0 {
		t.Errorf("%d messages", len(n))
	}
	w.value = json.RawMessage(`["m","AIMessage",{"type":"ai","id":"1","content":"new"},"f"]`)
	if n := w.notes(); len(n) != 1 || words(n[0].Content) != "new" {
		t.Errorf("%+v", n)
	}
}

// A tool's artifact may be anything.
func TestAnArtifactOfAnotherShapeHidesNoMessage(t *testing.T) {
	n, ok := parseNote(json.RawMessage(`{"type":"tool","artifact":[1,2],"tool_call_id":"c","content":"x","status":"error"}`))
	if !ok || n.Call != "c" || n.Status != "error" || words(n.Content) != "x" {
		t.Errorf("%v %+v", ok, n)
	}
}
