package agui

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

const (
	started  = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	finished = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
)

// run puts lines between the start and the end of a run.
func inRun(lines ...string) []byte {
	all := append([]string{started}, lines...)
	return []byte(strings.Join(append(all, finished), "\n"))
}

func codes(s *Summary) []string {
	var all []string
	for _, p := range s.Problems {
		all = append(all, p.Code)
	}
	slices.Sort(all)
	return all
}

// wantMetadata compares metadata as it is written.
func wantMetadata(t *testing.T, what string, got Metadata, want string) {
	t.Helper()
	text := "none"
	if got != nil {
		text = got.text()
	}
	if text != want {
		t.Errorf("%s: metadata is %s, want %s", what, text, want)
	}
}

func TestServerSentEventsMayEndTheirLinesAsTheyLike(t *testing.T) {
	const lf = "\uFEFF: hello\n\ndata:" + started + "\n\nevent: x\ndata: {\"type\":\ndata: \"CUSTOM\",\"name\":\"n\",\"value\":1}\n\n\n\ndata: " + finished
	want := plain(t, readAll(t, strings.NewReader(lf), Options{}))
	if len(want) != 3 || strings.Contains(strings.Join(want, ""), "!") {
		t.Fatal(want)
	}
	for _, end := range []string{"\r\n", "\r"} {
		stream := strings.ReplaceAll(lf, "\n", end)
		for _, in := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream))} {
			if diff := cmp.Diff(want, plain(t, readAll(t, in, Options{}))); diff != "" {
				t.Errorf("%q: %s", end, diff)
			}
		}
	}
}

func TestAnEventIsThereAsSoonAsItsLastByteIs(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		r, w := io.Pipe()
		d := NewDecoder(r, Options{})
		for range 2 {
			go func() { _, _ = io.WriteString(w, "data: "+started+end) }()
			frame, err := d.Next()
			if err != nil || frame.Event == nil {
				t.Fatalf("%q: %v %v", end, frame.Problems, err)
			}
		}
		_ = w.Close()
	}
}

func TestAnEventBeyondTheLimitIsSkippedAndTheStreamGoesOn(t *testing.T) {
	long := `{"type":"CUSTOM","name":"` + strings.Repeat("x", 5000) + `"}`
	frame := func(body []byte) []byte { return AppendFrame(nil, body) }
	event, _ := DecodeJSON([]byte(started))
	small, err := EncodeProtobuf(event, PeerUnknown)
	if err != nil {
		t.Fatal(err)
	}
	streams := map[Format]string{
		SSE:      "data: " + started + "\n\ndata: " + long + "\n\ndata: " + started,
		Lines:    started + "\n" + long + "\n" + started,
		Array:    "[" + started + "," + long + "," + started + "]",
		Protobuf: string(slices.Concat(frame(small), frame(make([]byte, 5000)), frame(small))),
	}
	want := []string{started, " !" + FrameTooLarge, started}
	for format, stream := range streams {
		got := plain(t, readAll(t, strings.NewReader(stream), Options{MaxFrame: 1000}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
	}
	many := "data: x\n" + strings.Repeat("data: "+strings.Repeat("y", 90)+"\n", 100) + "\ndata: " + started
	if diff := cmp.Diff([]string{" !" + FrameTooLarge, started}, plain(t, readAll(t, strings.NewReader(many), Options{MaxFrame: 1000}))); diff != "" {
		t.Errorf("many lines of one event: %s", diff)
	}
}

func TestAnEmptyProtobufFrameIsSkippedAndReported(t *testing.T) {
	event, _ := DecodeJSON([]byte(started))
	body, err := EncodeProtobuf(event, PeerUnknown)
	if err != nil {
		t.Fatal(err)
	}
	stream := AppendFrame(AppendFrame(AppendFrame(nil, body), nil), body)
	got := plain(t, readAll(t, bytes.NewReader(stream), Options{}))
	if diff := cmp.Diff([]string{started, " !" + BadFrame, started}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAStreamCutInsideAFrameInterruptsItsRun(t *testing.T) {
	event, _ := DecodeJSON([]byte(started))
	body, err := EncodeProtobuf(event, PeerUnknown)
	if err != nil {
		t.Fatal(err)
	}
	stream := AppendFrame(AppendFrame(nil, body), body)
	for cut := len(body) + 5; cut < len(stream); cut++ {
		s := assemble(t, stream[:cut])
		if diff := cmp.Diff([]string{Truncated}, codes(s)); diff != "" {
			t.Fatalf("cut at %d: %s", cut, diff)
		}
		if s.Runs[0].Status != StatusInterrupted || s.Runs[0].Reason != ReasonTruncated {
			t.Fatalf("cut at %d: the run is %+v", cut, s.Runs[0])
		}
	}
	s := assemble(t, []byte("["+started))
	if diff := cmp.Diff([]string{Truncated}, codes(s)); diff != "" {
		t.Errorf("array: %s", diff)
	}
}

func TestAFailingReaderEndsTheStreamWithItsError(t *testing.T) {
	broken := errors.New("broken")
	for _, format := range []Format{SSE, Lines, Array, Protobuf} {
		d := NewDecoder(io.MultiReader(strings.NewReader("["), iotest.ErrReader(broken)), Options{Format: format})
		for range 3 {
			if _, err := d.Next(); !errors.Is(err, broken) {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
}

func TestTheFormatIsToldByTheStreamsBeginning(t *testing.T) {
	f := func(begin string, want Format) {
		t.Helper()
		d := NewDecoder(strings.NewReader(begin), Options{})
		for range 4 {
			if _, err := d.Next(); err != nil {
				break
			}
		}
		if d.Format() != want {
			t.Errorf("%q: %s, want %s", begin, d.Format(), want)
		}
	}
	f(started, Lines)
	f("\uFEFF \r\n"+started, Lines)
	f("[DONE]\n"+started, Lines)
	f("[ \n"+started+"]", Array)
	f("[]", Array)
	f(":\n", SSE)
	f("data:"+started, SSE)
	f("id: 1\ndata:"+started, SSE)
	f("event: message\n", SSE)
	f("\x00\x00\x00\x10", Protobuf)
	f("\x7f\xff\xff\xff", Protobuf)
	f("", SSE)
}

func TestTheFormatOfAResponseIsItsMediaType(t *testing.T) {
	f := func(contentType string, want Format, wantOK bool) {
		t.Helper()
		if got, ok := FormatOf(contentType); got != want || ok != wantOK {
			t.Errorf("%q: %q, %v", contentType, got, ok)
		}
	}
	f("text/event-stream", SSE, true)
	f("Text/Event-Stream; charset=utf-8", SSE, true)
	f("application/vnd.ag-ui.event+proto; x=y", Protobuf, true)
	f("application/json", "", false)
	f("", "", false)
}

func TestALengthThatIsRefusedIsNotAllocated(t *testing.T) {
	stream := binary.BigEndian.AppendUint32(nil, 1<<32-1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	readAll(t, bytes.NewReader(stream), Options{Format: Protobuf})
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes for a frame that is refused", got)
	}
}
