package drain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAProblemIsToldOnce(t *testing.T) {
	b := newBench(t)
	b.hook("start", toyData{})
	b.mustDrain()
	path := filepath.Join(b.s.Dir(), "checkpoint.one.json")
	if err := os.WriteFile(path, []byte(`{"version":9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if problem := b.status().Sessions[0].Problem; strings.Count(problem, "checkpoint.one.json") != 1 {
		t.Errorf("%q", problem)
	}
}
