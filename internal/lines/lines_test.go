package lines

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestOnlyCompleteLinesWithinTheBoundsAreRead(t *testing.T) {
	text := "one\n\ntwo\nthree"
	f := func(from, to int64, want ...string) {
		t.Helper()
		var got []string
		for line, err := range Read(strings.NewReader(text), from, to, 100) {
			if err != nil {
				t.Fatal(err)
			}
			if text[line.Offset:line.Next-1] != string(line.Data) {
				t.Errorf("line %q is not at %d", line.Data, line.Offset)
			}
			got = append(got, string(line.Data))
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%d..%d: got %q, want %q", from, to, got, want)
		}
	}
	f(0, int64(len(text)), "one", "", "two")
	f(4, int64(len(text)), "", "two")
	f(0, 3)
	f(0, 4, "one")
	f(9, int64(len(text)))
	f(99, int64(len(text)))
	f(-1, 5)
}

func TestALineBeyondTheLimitIsSkippedWithoutItsData(t *testing.T) {
	for _, size := range []int{9, 10, 11, 70 << 10, 200 << 10} {
		text := "a\n" + strings.Repeat("x", size) + "\nb\n"
		var got []string
		for line, err := range Read(strings.NewReader(text), 0, int64(len(text)), 10) {
			if err != nil {
				t.Fatal(err)
			}
			if line.Long != (line.Next-line.Offset-1 > 10) || line.Long && line.Data != nil {
				t.Errorf("size %d: %+v", size, line)
			}
			got = append(got, string(line.Data))
		}
		if len(got) != 3 || got[0] != "a" || got[2] != "b" {
			t.Errorf("size %d: got %d lines, %q", size, len(got), got)
		}
	}
}

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errors.New("disk on fire") }

func TestAReadErrorEndsTheLines(t *testing.T) {
	n := 0
	for _, err := range Read(broken{}, 0, 10, 10) {
		n++
		if err == nil {
			t.Error("no error")
		}
	}
	if n != 1 {
		t.Errorf("%d yields, want 1", n)
	}
}

func FuzzReadAgreesWithSplit(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), 2)
	f.Add([]byte("\n\n"), 0)
	f.Fuzz(func(t *testing.T, text []byte, limit int) {
		if limit < 0 || limit > 1<<20 {
			return
		}
		parts := bytes.Split(text, []byte("\n"))
		parts = parts[:len(parts)-1]
		i := 0
		for line, err := range Read(bytes.NewReader(text), 0, int64(len(text)), limit) {
			if err != nil {
				t.Fatal(err)
			}
			if line.Long != (len(parts[i]) > limit) || !line.Long && !bytes.Equal(line.Data, parts[i]) {
				t.Fatalf("line %d: got %+v, want %q", i, line, parts[i])
			}
			i++
		}
		if i != len(parts) {
			t.Fatalf("%d lines, want %d", i, len(parts))
		}
	})
}

func TestALongLineIsHeldOnce(t *testing.T) {
	text := strings.NewReader(strings.Repeat("x", 4<<20) + "\n" + strings.Repeat("y", 3<<20) + "\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := 0
	for line, err := range Read(text, 0, text.Size(), 8<<20) {
		if err != nil {
			t.Fatal(err)
		}
		got += len(line.Data)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; got != 7<<20 || used > 5<<20 {
		t.Errorf("%d bytes for lines of up to 4 MiB, %d in all", used, got)
	}
}

// cut is a file that loses what is behind its first bytes once it was read to its end.
type cut struct {
	*strings.Reader
	left int64
	read bool
}

func (c *cut) ReadAt(p []byte, at int64) (int, error) {
	if c.read && at+int64(len(p)) > c.left {
		return 0, io.EOF
	}
	n, err := c.Reader.ReadAt(p, at)
	c.read = c.read || at+int64(n) == c.Size()
	return n, err
}

func TestALongLineThatIsCutWhileItIsReadIsNoLine(t *testing.T) {
	text := "one\n" + strings.Repeat("x", 200<<10) + "\n"
	var got []string
	for line, err := range Read(&cut{Reader: strings.NewReader(text), left: 4}, 0, int64(len(text)), 1<<20) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(line.Data))
	}
	if len(got) != 1 || got[0] != "one" {
		t.Errorf("%d lines", len(got))
	}
}
