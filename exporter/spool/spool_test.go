package spool

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func open(t *testing.T, cfg Config) *Spool {
	t.Helper()
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s *Spool, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := s.Put(fmt.Appendf(nil, "entry %d", n)); err != nil {
			t.Fatal(err)
		}
	}
}

// take checks that the next entries are from..to, and returns their tickets.
func take(t *testing.T, s *Spool, from, to int) []uint64 {
	t.Helper()
	tickets, entries, err := s.Take(math.MaxInt64)
	if err != nil || len(entries) != to-from || len(tickets) != len(entries) {
		t.Fatalf("took %d entries, want %d: %v", len(entries), to-from, err)
	}
	for i, entry := range entries {
		if want := fmt.Sprintf("entry %d", from+i); string(entry) != want {
			t.Fatalf("took %q, want %q", entry, want)
		}
	}
	return tickets
}

// abandon ends a spool as a kill would: the locks go, the files stay.
func (s *Spool) abandon() {
	for _, seg := range s.segments {
		seg.close()
	}
	for _, lock := range append(s.adopted, s.lock) {
		lock.Close()
	}
	s.closed = true
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestEntriesComeOutInTheOrderTheyWentIn(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir(), SegmentBytes: 100})
	put(t, s, 0, 30)
	take(t, s, 0, 30)
	put(t, s, 30, 40)
	take(t, s, 30, 40)
	take(t, s, 40, 40)
}

func TestTakeIsBoundedAndAlwaysMovesOn(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir()})
	put(t, s, 0, 5)
	for _, want := range []int{1, 2, 2} {
		limit := int64(1)
		if want == 2 {
			limit = int64(len("entry 0") + 1)
		}
		if _, got, err := s.Take(limit); err != nil || len(got) != want {
			t.Errorf("took %d, want %d: %v", len(got), want, err)
		}
	}
}

func TestTheNextProcessAdoptsWhatIsNotSettled(t *testing.T) {
	dir := t.TempDir()
	first := open(t, Config{Dir: dir, SegmentBytes: 200})
	put(t, first, 0, 40)
	tickets := take(t, first, 0, 40)
	if err := first.Done(tickets[:25]); err != nil {
		t.Fatal(err)
	}
	first.abandon()

	second := open(t, Config{Dir: dir})
	put(t, second, 40, 45)
	if got := second.Stats(); got.Adopted != 15 || got.Entries != 20 || got.Damaged != 0 {
		t.Errorf("%+v", got)
	}
	if err := second.Done(take(t, second, 25, 45)); err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); !slices.Equal(got, []string{"gate"}) {
		t.Errorf("left behind: %q", got)
	}
}

func TestALivingProcessIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	first, second := open(t, Config{Dir: dir}), open(t, Config{Dir: dir})
	put(t, first, 0, 3)
	third := open(t, Config{Dir: dir})
	take(t, second, 0, 0)
	take(t, third, 0, 0)
	take(t, first, 0, 3)
}

func TestCloseKeepsWhatIsNotSettled(t *testing.T) {
	dir := t.TempDir()
	first := open(t, Config{Dir: dir})
	put(t, first, 0, 3)
	if err := first.Done(take(t, first, 0, 3)[:1]); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.Put(nil); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	take(t, open(t, Config{Dir: dir}), 1, 3)
}

func TestAFullSpoolSaysSo(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir(), MaxBytes: 100, SegmentBytes: 50})
	var n int
	for ; s.Put([]byte("0123456789")) == nil; n++ {
	}
	if n != 5 {
		t.Errorf("%d entries fit", n)
	}
	tickets, _, err := s.Take(math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Done(tickets); err != nil {
		t.Fatal(err)
	}
	if err := s.Put([]byte("0123456789")); err != nil {
		t.Errorf("no room after all is settled: %v", err)
	}
}

// damage writes 20 entries, lets harm change the files, and returns how many of
// the entries are found again.
func damage(t *testing.T, harm func(base string)) (found int, stats Stats) {
	dir := t.TempDir()
	first := open(t, Config{Dir: dir})
	put(t, first, 0, 20)
	if err := first.Done(take(t, first, 0, 20)[:4]); err != nil {
		t.Fatal(err)
	}
	first.abandon()
	paths, err := filepath.Glob(filepath.Join(dir, "*.spool"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	harm(strings.TrimSuffix(paths[0], ".spool"))
	second := open(t, Config{Dir: dir})
	_, entries, err := second.Take(math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries), second.Stats()
}

func TestDamageCostsNoMoreThanItHits(t *testing.T) {
	check := func(name string, harm func(base string) error, found, damaged int) {
		t.Run(name, func(t *testing.T) {
			got, stats := damage(t, func(base string) {
				if err := harm(base); err != nil {
					t.Fatal(err)
				}
			})
			if got != found || stats.Damaged != damaged {
				t.Errorf("found %d entries, want %d; %+v", got, found, stats)
			}
		})
	}
	change := func(path string, f func([]byte) []byte) error {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, f(raw), 0o600)
	}
	check("none", func(string) error { return nil }, 16, 0)
	check("entry cut short", func(base string) error {
		return change(base+".spool", func(b []byte) []byte { return b[:len(b)-3] })
	}, 15, 1)
	check("head cut short", func(base string) error {
		return change(base+".spool", func(b []byte) []byte { return append(b, 9, 0) })
	}, 16, 1)
	check("wrong checksum", func(base string) error {
		return change(base+".spool", func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	}, 15, 1)
	check("absurd length", func(base string) error {
		return change(base+".spool", func(b []byte) []byte { return append(b, 255, 255, 255, 255, 0, 0, 0, 0, 1) })
	}, 16, 1)
	check("settlement cut short", func(base string) error {
		return change(base+".done", func(b []byte) []byte { return b[:len(b)-5] })
	}, 17, 0)
	check("settlements gone", func(base string) error { return os.Remove(base + ".done") }, 20, 0)
	check("empty", func(base string) error { return os.Truncate(base+".spool", 0) }, 0, 0)
}

func TestADirectoryThatCannotBeIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file, filepath.Join(file, "below")} {
		if s, err := Open(Config{Dir: dir}); err == nil {
			t.Errorf("%q is a spool: %v", dir, s)
		}
	}
}

func FuzzSegment(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add([]byte{1, 0, 0, 0, 0xb7, 0xef, 0xdc, 0xe8, 'a'}, []byte{0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0}, []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, data, done []byte) {
		dir := t.TempDir()
		for name, content := range map[string][]byte{"x.lock": nil, "x-1.spool": data, "x-1.done": done} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := open(t, Config{Dir: dir})
		tickets, _, err := s.Take(math.MaxInt64)
		if err != nil {
			t.Fatal(err)
		}
		if len(tickets) != s.Stats().Entries {
			t.Errorf("took %d of %d", len(tickets), s.Stats().Entries)
		}
		if err := s.Done(tickets); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := files(t, dir); len(got) > 1 {
			t.Errorf("left behind: %q", got)
		}
	})
}

func TestWhatIsNoSpoolsIsPassedOver(t *testing.T) {
	dir := t.TempDir()
	first := open(t, Config{Dir: dir})
	put(t, first, 0, 3)
	first.abandon()
	for _, name := range []string{"0-dir-1.spool", "0-lock.lock"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte("not a spool's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "0-link-1.spool")); err != nil {
		t.Fatal(err)
	}
	second := open(t, Config{Dir: dir})
	if err := second.Done(take(t, second, 0, 3)); err != nil {
		t.Fatal(err)
	}
	if got := second.Stats(); got.Damaged != 3 {
		t.Errorf("%+v", got)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if raw, err := os.ReadFile(outside); err != nil || string(raw) != "not a spool's" {
		t.Errorf("%q, %v", raw, err)
	}
}

func TestWhatADiskDoesNotReadStays(t *testing.T) {
	dir := t.TempDir()
	first := open(t, Config{Dir: dir})
	put(t, first, 0, 3)
	path := first.segments[first.active].path
	first.abandon()

	second := open(t, Config{Dir: t.TempDir()})
	seg, err := openSegment(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	seg.data.Close()
	if seg.data, err = os.Open(dir); err != nil { // opens, and cannot be read
		t.Fatal(err)
	}
	if err := second.enlist(seg); err != nil {
		t.Fatal(err)
	}
	if got := second.Stats(); got.Damaged != 1 || got.Entries != 0 {
		t.Errorf("%+v", got)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	take(t, open(t, Config{Dir: dir}), 0, 3)
}

func TestSegmentsWhoseLockIsGoneAreAdopted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[odd]") // no pattern
	first := open(t, Config{Dir: dir, SegmentBytes: 20})
	put(t, first, 0, 3)
	first.abandon()
	if err := os.Remove(first.lock.Path()); err != nil {
		t.Fatal(err)
	}
	second := open(t, Config{Dir: dir})
	if err := second.Done(take(t, second, 0, 3)); err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); len(got) != 1 || got[0] != "gate" {
		t.Errorf("left behind: %q", got)
	}
}
