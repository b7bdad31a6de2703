package sqliteread_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/internal/sqliteread"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// owner makes a database as its owner has it: with a log of what is not in the
// database yet.
func owner(t *testing.T) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "their folder #1", "a%20b?.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.db") // a name that needs no escaping
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("symbolic links are needed: %v", err)
	}
	db, err := sql.Open("sqlite", "file:"+link+"?_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec(`create table t (a integer, b text, c blob, d real, e text);
		insert into t values (1, 'one', x'00ff', 1.5, null), (2, 'two', null, null, 'x')`); err != nil {
		t.Fatal(err)
	}
	return path, db
}

func read(t *testing.T, path, query string, args ...any) [][]any {
	t.Helper()
	var all [][]any
	for row, err := range sqliteread.Rows(path, query, args...) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

// contents are the files of a folder but the shared memory, which holds no data.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".db-shm" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

func TestRowsReadWhatIsStillInTheOwnersLogAndChangeNothing(t *testing.T) {
	path, db := owner(t)
	before := contents(t, filepath.Dir(path))
	got := read(t, path, "select * from t where a <= ? order by a", 2)
	want := [][]any{{int64(1), "one", []byte{0, 0xff}, 1.5, nil}, {int64(2), "two", nil, nil, "x"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, contents(t, filepath.Dir(path))); diff != "" {
		t.Errorf("the owner's files changed:\n%s", diff)
	}
	if _, err := db.Exec("insert into t (a) values (3)"); err != nil {
		t.Errorf("the owner cannot go on: %v", err)
	}
}

func TestRowsOfAFileThatItsOwnerClosedLeaveNoFileBehind(t *testing.T) {
	path, db := owner(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := contents(t, filepath.Dir(path))
	if got := read(t, path, "select b from t order by a"); len(got) != 2 {
		t.Errorf("%d rows", len(got))
	}
	for range sqliteread.Rows(path, "select b from t") {
		break // whoever has enough leaves nothing open
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff(before, contents(t, filepath.Dir(path))); diff != "" || !slices.Equal(names, []string{filepath.Base(path)}) {
		t.Errorf("left %q, changed: %s", names, diff)
	}
}

func TestRowsNeitherMakeAFileNorWriteOne(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.db")
	for _, err := range sqliteread.Rows(missing, "select 1") {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing file: %v", err)
		}
	}
	if _, err := os.Lstat(missing); err == nil {
		t.Error("it was made")
	}
	path, _ := owner(t)
	for _, query := range []string{"delete from t returning a", "create table u (a)", "nonsense"} {
		failed := false
		for _, err := range sqliteread.Rows(path, query) {
			failed = failed || err != nil
		}
		if !failed {
			t.Errorf("%s: no error", query)
		}
	}
	if got := read(t, path, "select count(*) from t"); got[0][0] != int64(2) {
		t.Errorf("%v rows are left", got[0][0])
	}
}
