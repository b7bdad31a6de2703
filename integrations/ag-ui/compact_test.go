package agui

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// events are the events of a stream.
func events(t *testing.T, stream []byte) []*Event {
	t.Helper()
	var all []*Event
	for _, f := range readAll(t, bytes.NewReader(stream), Options{}) {
		if f.Event != nil {
			all = append(all, f.Event)
		}
	}
	return all
}

// assembled is what events assemble to, but for the positions of problems.
func assembled(all []*Event) *Summary {
	a := NewAssembler()
	for i, e := range all {
		a.Apply(Frame{Number: i + 1, Event: e})
	}
	a.Close()
	return a.Summary()
}

func checkCompaction(t *testing.T, stream []byte) []*Event {
	t.Helper()
	all := events(t, stream)
	before, err := assembled(all).JSON()
	if err != nil {
		t.Fatal(err)
	}
	compacted := Compact(all)
	want, got := assembled(all), assembled(compacted)
	for _, s := range []*Summary{want, got} {
		s.Problems, s.Diagnostics = nil, nil // one delta is one problem
		s.MessageMetadataRaw = nil           // an item's keys may come in another order
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(sameMetadata)); diff != "" {
		t.Errorf("compacted, the stream assembles to something else:\n%s", diff)
	}
	after, err := assembled(all).JSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("compaction changed the events it was given")
	}
	return compacted
}

func sameMetadata(a, b Metadata) bool {
	if len(a) != len(b) {
		return false
	}
	for _, f := range a {
		if v, ok := b.Get(f.Key); !ok || !bytes.Equal(v, f.Value) {
			return false
		}
	}
	return true
}

func TestACompactedStreamAssemblesToTheSame(t *testing.T) {
	streams, err := filepath.Glob("testdata/*/events.*")
	if err != nil || len(streams) == 0 {
		t.Fatal("no recorded streams", err)
	}
	for _, path := range streams {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			stream, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkCompaction(t, stream)
		})
	}
}

func TestCompactionFoldsDeltasAndStates(t *testing.T) {
	f := func(stream string, want ...string) {
		t.Helper()
		var got []string
		for _, e := range checkCompaction(t, []byte(stream)) {
			raw, err := e.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(raw))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	// two messages at once, with metadata in arrival order
	f(`{"type":"TEXT_MESSAGE_START","messageId":"a","metadata":{"n":0}}
{"type":"TEXT_MESSAGE_START","messageId":"b"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"1","metadata":{"n":1}}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"b","delta":"x"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"2","metadata":{"n":2,"k":null}}
{"type":"TEXT_MESSAGE_END","messageId":"a"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"a","metadata":{"n":0}}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"b"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"12","metadata":{"n":2,"k":null}}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"b","delta":"x"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"a"}`)
	// a START that comes again keeps its place among the deltas
	f(`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}
{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{","metadata":{"n":1}}
{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"g","metadata":{"n":2}}
{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"}"}`,
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{","metadata":{"n":1}}`,
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"g","metadata":{"n":2}}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"}"}`)
	// a snapshot inside an open message replaces what was built, and no delta passes it
	f(`{"type":"TEXT_MESSAGE_START","messageId":"a"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"lost","metadata":{"lost":1}}
{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":"kept ","metadata":{"k":1}}]}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"and grown"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"a"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"lost","metadata":{"lost":1}}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":"kept ","metadata":{"k":1}}]}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"and grown"}`)
	// the state from its last snapshot on
	f(`{"type":"STATE_SNAPSHOT","snapshot":{"old":1},"metadata":{"gone":1}}
{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x","value":1}]}
{"type":"STATE_SNAPSHOT","snapshot":{"n":1},"metadata":{"a":1}}
{"type":"CUSTOM","name":"between","value":null}
{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":2.50}],"metadata":{"b":2}}`,
		`{"type":"CUSTOM","name":"between","value":null}`,
		`{"type":"STATE_SNAPSHOT","snapshot":{"n":2.50},"metadata":{"a":1,"b":2}}`)
	// changes alone pass
	f(`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x","value":1}]}`,
		`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x","value":1}]}`)
}
