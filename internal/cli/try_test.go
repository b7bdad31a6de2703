package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestTryRefusesWhatItCannotShow(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		argv []string
		env  map[string]string
		code int
		want string
	}{
		{nil, nil, exitUsage, "missing argument"},
		{[]string{"--"}, nil, exitUsage, "missing argument"},
		{[]string{"nobody"}, nil, exitUsage, `"nobody" is no agent that is known`},
		{[]string{"claude"}, map[string]string{"TRACESMITH": "0"}, exitError, "tracing is switched off by TRACESMITH"},
		{[]string{"claude"}, map[string]string{"TRACESMITH_STORE": "0"}, exitError, "is switched off by TRACESMITH_STORE"},
		{[]string{"codex"}, nil, exitError, "run: tracesmith install openai-codex"},
		{[]string{filepath.Join(dir, "claude")}, nil, exitError, "no such file"},
	} {
		env := map[string]string{"HOME": dir, "USERPROFILE": dir, "TRACESMITH_STATE": filepath.Join(dir, "state")}
		for name, value := range c.env {
			env[name] = value
		}
		var out, errs bytes.Buffer
		code := Main(append([]string{"try"}, c.argv...), func(name string) string { return env[name] }, strings.NewReader(""), &out, &errs)
		if code != c.code || !strings.Contains(errs.String(), c.want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%q: exit %d, printed %q", c.argv, code, errs.String())
		}
	}
}
