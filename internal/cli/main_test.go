package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
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
		{"help", "nonsense"}, {"help", "config", "nonsense"},
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
	for _, args := range [][]string{
		{}, {"--help"}, {"help"}, {"version"}, {"--version"}, {"install", "--help"},
		{"help", "install"}, {"help", "config", "explain"}, {"hook", "--help"},
	} {
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

func TestACommandThatWaitsForItsInputEndsWithASignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs bytes.Buffer
		a := &app{stderr: &errs}
		ctx, signal := context.WithCancel(t.Context())
		input, restored := make(chan int), false
		start := time.Now()
		time.AfterFunc(time.Minute, signal)
		code := a.obey(ctx, func() { restored = true }, func() int { return <-input })
		if took := time.Since(start); code != exitError || !restored || took != time.Minute+endWithin {
			t.Errorf("exit %d after %v, signals restored: %v", code, took, restored)
		}
		if errs.String() != "tracesmith: interrupted\n" {
			t.Errorf("printed %q", errs.String())
		}
		close(input)
	})
}

func TestACommandThatHeedsASignalSaysHowItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &app{}
		ctx, signal := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, signal)
		code := a.obey(ctx, func() {}, func() int {
			<-ctx.Done()
			time.Sleep(endWithin / 2) // a server that lets its requests end
			return exitOK
		})
		if code != exitOK {
			t.Errorf("exit %d", code)
		}
	})
}
