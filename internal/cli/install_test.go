package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstallAsksBesideLangSmithsPlugin(t *testing.T) {
	const theirs = `{"enabledPlugins": {"langsmith-tracing@x": true}}`
	for answer, want := range map[string]string{
		"\n": "left to", "s\n": "left to", "what\nstand\n": "left to", "": "left to",
		"take over\n": "changed",
	} {
		d := newDesk(t)
		d.interactive = func() bool { return true }
		d.stdin = strings.NewReader(answer)
		path := filepath.Join(d.home(), ".claude", "settings.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(theirs), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := d.install(setupFlags{names: []string{"claude-code"}, scope: "user"}); err != nil {
			t.Errorf("%q: %v", answer, err)
		}
		text, err := os.ReadFile(path)
		took := !bytes.Equal(text, []byte(theirs))
		if err != nil || !strings.Contains(d.out.String(), want) || took != (want == "changed") {
			t.Errorf("%q: printed %s, left %s", answer, d.out.String(), text)
		}
	}
}

func TestInstallWithoutANameChangesNothingUnlessSomebodySaysYes(t *testing.T) {
	for answer, want := range map[string]bool{"n\n": false, "": false, "\n": true, "yes\n": true} {
		d := newDesk(t)
		d.interactive = func() bool { return true }
		d.stdin = strings.NewReader(answer)
		folder := filepath.Join(d.home(), ".claude")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		err := d.install(setupFlags{scope: "user"})
		_, missing := os.Stat(filepath.Join(folder, "settings.json"))
		if (missing == nil) != want || (err == nil) != want {
			t.Errorf("%q: %v, %v: %s", answer, err, missing, d.out.String())
		}
	}
}
