package agui

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// fuzzLimit bounds a frame, so that the limit is reached.
const fuzzLimit = 4096

// seed adds the recorded streams of a name.
func seed(f *testing.F, name string) {
	f.Helper()
	paths, err := filepath.Glob("testdata/*/" + name)
	if err != nil || len(paths) == 0 {
		f.Fatal("no recorded streams", err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
}

// checkStream holds any bytes to what must be true of all: they read the same however
// they come, they assemble to valid JSON, and compacting changes nothing.
func checkStream(t *testing.T, stream []byte, format Format) []Frame {
	t.Helper()
	opts := Options{Format: format, MaxFrame: fuzzLimit}
	frames := readAll(t, bytes.NewReader(stream), opts)
	again := readAll(t, iotest.OneByteReader(bytes.NewReader(stream)), opts)
	if diff := cmp.Diff(plain(t, frames), plain(t, again)); diff != "" {
		t.Fatalf("a byte at a time, the stream reads otherwise:\n%s", diff)
	}
	a := NewAssembler()
	var all []*Event
	for _, f := range frames {
		a.Apply(f)
		if f.Event != nil {
			all = append(all, f.Event)
		}
	}
	a.Close()
	raw, err := a.Summary().JSON()
	if err != nil || !json.Valid(raw) {
		t.Fatalf("the summary is no JSON: %v\n%s", err, raw)
	}
	want, got := assembled(all), assembled(Compact(all))
	for _, pair := range []struct {
		what          string
		before, after map[string]Metadata
	}{
		{"messages", want.MessageMetadata, got.MessageMetadata},
		{"calls", want.ToolCallMetadata, got.ToolCallMetadata},
	} {
		if diff := cmp.Diff(pair.before, pair.after, cmp.Comparer(sameMetadata)); diff != "" {
			t.Fatalf("compacted, %s have other metadata:\n%s", pair.what, diff)
		}
	}
	if diff := cmp.Diff(want.ToolCallArgs, got.ToolCallArgs); diff != "" {
		t.Fatalf("compacted, calls have other arguments:\n%s", diff)
	}
	return frames
}

// damaged reports problems other than that an event never said all it should.
func damaged(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Code != MissingField })
}

func FuzzSSE(f *testing.F) {
	seed(f, "events.sse")
	f.Fuzz(func(t *testing.T, stream []byte) { checkStream(t, stream, SSE) })
}

func FuzzJSON(f *testing.F) {
	seed(f, "events.jsonl")
	f.Fuzz(func(t *testing.T, stream []byte) {
		array := slices.Concat([]byte("["), bytes.ReplaceAll(stream, []byte("\n"), []byte(",")), []byte("]"))
		checkStream(t, array, Array)
		for _, frame := range checkStream(t, stream, Lines) {
			if frame.Event == nil {
				continue
			}
			raw, err := frame.Event.MarshalJSON()
			if err != nil || !json.Valid(raw) {
				t.Fatalf("no JSON: %v\n%s", err, raw)
			}
			again, problems := DecodeJSON(raw)
			if again == nil || damaged(problems) {
				t.Fatalf("what was written does not read: %v\n%s", problems, raw)
			}
			if twice, err := again.MarshalJSON(); err != nil || !bytes.Equal(raw, twice) {
				t.Fatalf("%v\n%s\n%s", err, raw, twice)
			}
		}
	})
}

func FuzzProtobuf(f *testing.F) {
	seed(f, "events.bin")
	f.Fuzz(func(t *testing.T, stream []byte) {
		for _, frame := range checkStream(t, stream, Protobuf) {
			if frame.Event == nil {
				continue
			}
			raw, err := EncodeProtobuf(frame.Event, PeerV1)
			if err != nil {
				continue // a patch operation or a part that the schema has no name for
			}
			again, problems := DecodeProtobuf(raw)
			if again == nil || damaged(problems) {
				t.Fatalf("what was written does not read: %v", problems)
			}
			if diff := cmp.Diff(plain(t, []Frame{{Event: frame.Event}}), plain(t, []Frame{{Event: again}})); diff != "" {
				t.Fatalf("protobuf and back:\n%s", diff)
			}
		}
	})
}
