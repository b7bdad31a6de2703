package cursor_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/integrations/cursor"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// A hook that is killed before it writes costs its event: what is left still makes whole
// runs.
func TestAnEventThatIsLostLeavesNothingOpen(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			whole, err := replay.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			for i := range whole.Steps {
				rec := *whole
				if rec.Steps = slices.Delete(slices.Clone(whole.Steps), i, i+1); len(rec.Steps) == 0 {
					continue
				}
				res, err := rec.Run(cursor.Agent(), replay.Options{Cut: true})
				if err != nil {
					t.Fatalf("without event %d (%s): %v", i+1, whole.Steps[i].Event, err)
				}
				for _, run := range res.Runs {
					if run.EndTime == "" {
						t.Errorf("without event %d (%s): %s is left open", i+1, whole.Steps[i].Event, run.Name)
					}
				}
				for _, v := range runtypes.ValidateWire(res.Runs) {
					t.Errorf("without event %d (%s): %s", i+1, whole.Steps[i].Event, v)
				}
			}
		})
	}
}

// Cursor writes its files when it likes: what they say is the same however late it comes.
func TestFilesThatAppearLateChangeNothing(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want := string(indent(t, play(t, dir, replay.Options{}).Runs))
			for lines := range 3 { // that are there while the session lasts
				for _, o := range []replay.Options{{Polls: true}, {Cut: true}} {
					rec, err := replay.Load(dir)
					if err != nil {
						t.Fatal(err)
					}
					for i := range rec.Steps {
						rec.Steps[i].Lines = visible(t, dir, lines)
					}
					res, err := rec.Run(cursor.Agent(), o)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, string(indent(t, res.Runs))); diff != "" {
						t.Errorf("with %s lines at first: runs differ (-want +got):\n%s", strconv.Itoa(lines), diff)
					}
				}
			}
		})
	}
}

// visible says of every file of a recording that it shows some lines.
func visible(t *testing.T, dir string, lines int) map[string]int {
	t.Helper()
	shown := map[string]int{}
	home := filepath.Join(dir, "home")
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // a session without files
		}
		rest, err := filepath.Rel(home, path)
		shown["/home/dev/"+filepath.ToSlash(rest)] = lines
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return shown
}
