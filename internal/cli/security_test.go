package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Whoever doubts a row of SECURITY.md runs what it names.
func TestEachThreatInSecurityIsShownByAScriptAndTestsThatExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.Contains(cells[1], "**") {
			continue
		}
		rows++
		scripts, home := 0, ""
		for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[4], -1) {
			name := quoted[1]
			if where, test, ok := strings.Cut(name, "."); ok {
				home, name = where, test
			}
			if !strings.HasPrefix(name, "Test") {
				scripts++
				if _, err := os.Stat(filepath.Join("testdata", "script", name+".txtar")); err != nil {
					t.Errorf("%s: %v", cells[1], err)
				}
			} else if !declares(t, home, name) {
				t.Errorf("%s: package %q has no %s", cells[1], home, name)
			}
		}
		if scripts == 0 {
			t.Errorf("%s: no script", cells[1])
		}
	}
	if rows < 9 {
		t.Errorf("%d rows", rows)
	}
}

// declares reports whether a package, below internal or at the top, has a test.
func declares(t *testing.T, home, test string) bool {
	t.Helper()
	for _, dir := range []string{filepath.Join("..", home), filepath.Join("..", "..", home)} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if home != "" && strings.Contains(string(text), "\nfunc "+test+"(") {
				return true
			}
		}
	}
	return false
}
