package agui

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// values are events as JSON values, with numbers as doubles: what protobuf keeps.
func values(t *testing.T, frames []Frame) []any {
	t.Helper()
	var all []any
	for _, line := range plain(t, frames) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, v)
	}
	return all
}

func readFile(t *testing.T, parts ...string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestProtobufGivesTheEventsThatJSONGives(t *testing.T) {
	streams, err := filepath.Glob("testdata/*/events.bin")
	if err != nil || len(streams) == 0 {
		t.Fatal("no recorded streams", err)
	}
	for _, path := range streams {
		dir := filepath.Dir(path)
		if filepath.Base(dir) == "35-protobuf-every-arm" {
			continue // the test below holds it to more
		}
		text, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
		if err != nil {
			continue // recorded as protobuf alone
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			// The encoder that recorded these streams loses this one key.
			text = bytes.ReplaceAll(text, []byte(`"__proto__":{"x":1},`), nil)
			want := values(t, readAll(t, bytes.NewReader(text), Options{}))
			got := values(t, readAll(t, bytes.NewReader(readFile(t, path)), Options{}))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryArmDecodesAsTheProtocolsOwnPackageDecodesIt(t *testing.T) {
	const dir = "testdata/35-protobuf-every-arm"
	var expected struct {
		Decoded []any `json:"ts_decoded"`
	}
	if err := json.Unmarshal(readFile(t, dir, "expected.json"), &expected); err != nil {
		t.Fatal(err)
	}
	got := values(t, readAll(t, bytes.NewReader(readFile(t, dir, "events.bin")), Options{}))
	if diff := cmp.Diff(expected.Decoded, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsEncodedDecodesToTheSame(t *testing.T) {
	streams, err := filepath.Glob("testdata/*/events.jsonl")
	if err != nil || len(streams) == 0 {
		t.Fatal("no recorded streams", err)
	}
	for _, path := range streams {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			var binary, text bytes.Buffer
			var want []any
			for _, f := range readAll(t, bytes.NewReader(readFile(t, path)), Options{}) {
				if f.Event == nil {
					continue
				}
				f.Problems = nil
				line, err := f.Event.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				text.Write(append(line, '\n'))
				raw, err := EncodeProtobuf(f.Event, PeerV1)
				if err != nil {
					if armOf(f.Event.Type) != nil {
						t.Fatal(err)
					}
					continue // a retired event
				}
				binary.Write(AppendFrame(nil, raw))
				want = append(want, values(t, []Frame{f})...)
			}
			if diff := cmp.Diff(want, values(t, readAll(t, &binary, Options{Format: Protobuf}))); diff != "" {
				t.Errorf("protobuf:\n%s", diff)
			}
			again := plain(t, readAll(t, bytes.NewReader(text.Bytes()), Options{}))
			if diff := cmp.Diff(text.String(), joinLines(again)); diff != "" {
				t.Errorf("JSON:\n%s", diff)
			}
		})
	}
}

func joinLines(lines []string) string {
	out := ""
	for _, l := range lines {
		out += l + "\n"
	}
	return out
}

func TestOlderProtobufIsRefusedWhatItCannotCarry(t *testing.T) {
	for eventType := range eventTables().properties {
		event, problems := DecodeJSON([]byte(`{"type":"` + string(eventType) +
			`","messageId":"m","toolCallId":"c","entityId":"e","subagentRunId":"s"}`))
		if event == nil {
			t.Fatal(eventType, problems)
		}
		_, err := EncodeProtobuf(event, PeerUnknown)
		var unsupported *UnsupportedError
		a := armOf(eventType)
		switch {
		case a == nil:
			if err == nil {
				t.Errorf("%s: a retired event was encoded", eventType)
			}
		case a.number <= lastOldArm:
			if err != nil {
				t.Errorf("%s: %v", eventType, err)
			}
		case !errors.As(err, &unsupported) || unsupported.Event != eventType:
			t.Errorf("%s: got %v, want an UnsupportedError", eventType, err)
		}
		if _, err := EncodeProtobuf(event, PeerV1); err != nil && a != nil {
			t.Errorf("%s: a peer of 1.0 is refused: %v", eventType, err)
		}
	}
}
