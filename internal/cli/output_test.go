package cli

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"
)

// shut is a stream that takes some bytes and then fails.
type shut struct {
	room int
	err  error
}

func (s *shut) Write(p []byte) (int, error) {
	if len(p) <= s.room {
		s.room -= len(p)
		return len(p), nil
	}
	return 0, s.err
}

func TestAReportThatCannotBeWrittenIsNoSuccess(t *testing.T) {
	dir := t.TempDir()
	env := func(name string) string {
		return map[string]string{"HOME": dir, "TRACESMITH_STATE": dir}[name]
	}
	for _, args := range [][]string{
		{"status"}, {"status", "--json"}, {"help"}, {"version"}, {"--version"}, {"completion", "bash"}, {"config", "explain"},
		{"config", "path"}, {"doctor", "--offline"}, {"doctor", "--offline", "--json"}, {"purge", "--dry-run"},
		{"uninstall", "--yes"}, {"import", "claude-code"},
	} {
		for _, room := range []int{0, 10} {
			var errs bytes.Buffer
			code := Main(args, env, strings.NewReader(""), &shut{room, errors.New("no room")}, &errs)
			if code != exitError || errs.String() != "tracesmith: no room\n" {
				t.Errorf("%q: exit %d, printed %q", args, code, errs.String())
			}
			errs.Reset()
			code = Main(args, env, strings.NewReader(""), &shut{room, syscall.EPIPE}, &errs)
			if code != exitError || errs.Len() > 0 {
				t.Errorf("%q into a pipe that nobody reads: exit %d, printed %q", args, code, errs.String())
			}
		}
	}
}
