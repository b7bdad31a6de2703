package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// try runs a command line in an empty environment.
func try(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Main(args, func(string) string { return "" }, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestACommandLineThatIsWrongExitsWith64(t *testing.T) {
	for _, args := range [][]string{
		{"vesion"}, {"nonsense"}, {"--nonsense"}, {"version", "extra"}, {"version", "--nonsense"},
		{"install", "nobody"}, {"install", "claude-code", "--scope", "world"},
	} {
		code, out, errs := try(args...)
		if code != exitUsage || out != "" || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "tracesmith: ") {
			t.Errorf("%q: exit %d, printed %q, %q", args, code, out, errs)
		}
	}
	if _, _, errs := try("vesion"); !strings.Contains(errs, `did you mean "version"`) {
		t.Errorf("no suggestion: %q", errs)
	}
}

func TestACommandThatFailsSaysSoInOneLine(t *testing.T) {
	code, _, errs := try("install", "claude-code")
	if code != exitError || errs != "tracesmith: no home directory: set HOME\n" {
		t.Errorf("exit %d, printed %q", code, errs)
	}
}

func TestHelpAndVersionSucceed(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"help"}, {"version"}, {"install", "--help"}} {
		if code, out, errs := try(args...); code != exitOK || out == "" || errs != "" {
			t.Errorf("%q: exit %d, printed %q, %q", args, code, out, errs)
		}
	}
}

func TestThePanicOfACommandIsOneLineWithoutContent(t *testing.T) {
	var out, errs bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, now: time.Now, env: func(string) string { return "" }}
	root := a.root()
	root.AddCommand(&cobra.Command{Use: "boom", RunE: func(*cobra.Command, []string) error { panic(errors.New("secret")) }})
	code := a.execute(context.Background(), root, []string{"boom"})
	if code != exitError || strings.Count(errs.String(), "\n") != 1 || strings.Contains(errs.String(), "secret") {
		t.Errorf("exit %d, printed %q", code, errs.String())
	}
}
