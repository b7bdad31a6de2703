package modelcall

import (
	"strings"
	"testing"
)

// events feeds a stream in pieces of a size.
func events(stream string, size int) []string {
	d := decoder{limit: 1 << 10}
	var list []string
	for len(stream) > 0 {
		n := min(size, len(stream))
		for data := range d.feed([]byte(stream[:n])) {
			list = append(list, string(data))
		}
		stream = stream[n:]
	}
	return list
}

func FuzzEventsDoNotDependOnHowTheyArrive(f *testing.F) {
	f.Add("data: a\n\nevent: x\ndata: b\r\ndata: c\r\n\r\n: comment\n\ndata\n\n", 1)
	f.Add("\r\r\n\ndata:a\r\r", 2)
	f.Fuzz(func(t *testing.T, stream string, size int) {
		size = max(size, 1)
		whole, pieces := events(stream, len(stream)+1), events(stream, size)
		if strings.Join(whole, "|") != strings.Join(pieces, "|") || len(whole) != len(pieces) {
			t.Errorf("%q in one piece: %q, in pieces of %d: %q", stream, whole, size, pieces)
		}
	})
}

func TestAnEventThatIsTooLargeIsLetGo(t *testing.T) {
	got := events("data: "+strings.Repeat("x", 1<<10)+"\n\ndata: next\n\n", 100)
	if len(got) != 1 || got[0] != "next" {
		t.Errorf("%d events", len(got))
	}
}
