package journal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// body is read in pieces and never whole.
type body struct{ left, most int }

func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	b.most = max(b.most, len(p))
	n := min(len(p), b.left)
	copy(p, bytes.Repeat([]byte("x"), n))
	b.left -= n
	return n, nil
}

func TestWhatWasSentIsKeptWithoutBeingHeld(t *testing.T) {
	state := open(t)
	kept := func() (sizes []int) {
		t.Helper()
		for r, err := range state.EachSent() {
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, len(r.Body))
		}
		return sizes
	}
	fits := &body{left: maxSentBody}
	if err := state.KeepSent(Sent{At: time.Unix(1, 0), To: "https://a.example", Status: 202}, fits); err != nil {
		t.Fatal(err)
	}
	if fits.most > 1<<20 {
		t.Errorf("%d bytes were wanted at once", fits.most)
	}
	if err := state.KeepSent(Sent{At: time.Unix(2, 0)}, &body{left: maxSentBody + 1}); err != nil {
		t.Errorf("a request that is too large to be kept: %v", err)
	}
	garbled := errors.New("garbled")
	err := state.KeepSent(Sent{At: time.Unix(3, 0)}, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(garbled)))
	if !errors.Is(err, garbled) {
		t.Errorf("half a request: %v", err)
	}
	if got := kept(); len(got) != 1 || got[0] != maxSentBody {
		t.Errorf("kept: %d", got)
	}
	if files, err := os.ReadDir(state.path(sentDir)); err != nil || len(files) != 1 {
		t.Errorf("%d files, %v", len(files), err)
	}
}
