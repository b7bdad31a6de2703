package spawn

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The test program is the drainer that the tests start.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "drain":
		dir, _ := os.Getwd()
		report := strings.Join(append(os.Args[1:], "cwd="+dir, "env="+strings.Join(os.Environ(), "|")), "\n")
		_ = os.WriteFile("report.temp", []byte(report), 0o600)
		_ = os.Rename("report.temp", "report")
		_, _ = os.Stdin.Read(make([]byte, 1)) // the null device: returns at once
		os.Exit(0)
	case os.Getenv("SPAWN_HOOK") != "":
		if err := Start(Command{Program: os.Args[0], Dir: os.Getenv("SPAWN_HOOK"), Session: "toy/abc", Environ: os.Environ()}); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestADrainerOutlivesItsHookAndHoldsNoneOfItsStreams(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hook := exec.Command(os.Args[0])
	hook.Env = append(os.Environ(), "SPAWN_HOOK="+dir, "ANTHROPIC_API_KEY=secret", "LANGSMITH_PROJECT=mine")
	var out bytes.Buffer
	hook.Stdout, hook.Stderr = &out, &out // Run waits until nobody holds the pipe
	if err := hook.Run(); err != nil || out.Len() > 0 {
		t.Fatalf("hook: %v, %q", err, out.String())
	}
	var report string
	for report == "" {
		raw, err := os.ReadFile(filepath.Join(dir, "report"))
		if err == nil {
			report = string(raw)
		}
		time.Sleep(time.Millisecond)
	}
	want := []string{"drain", "--session", "toy/abc", "--linger", "cwd=" + dir}
	if lines := strings.Split(report, "\n"); !slices.Equal(lines[:5], want) {
		t.Errorf("drainer ran as %q, want %q", lines[:5], want)
	}
	if strings.Contains(report, "secret") || !strings.Contains(report, "LANGSMITH_PROJECT=mine") {
		t.Errorf("drainer's environment: %s", report)
	}
}

func TestTheEnvironmentIsAllowListed(t *testing.T) {
	got := environ([]string{
		"HOME=/home/dev", "AWS_SECRET_ACCESS_KEY=x", "TRACESMITH_STATE=state", "https_proxy=http://proxy",
		"LANGCHAIN_API_KEY=k", "CC_LANGSMITH_API_KEY=c", "LANGSMITH_PI_PROJECT=p", "TRACE_TO_LANGSMITH=true", "GIT_DIR=/elsewhere", "OPENAI_API_KEY=x",
	}, filepath.FromSlash("/srv/state/tracesmith/v1"))
	want := []string{
		"HOME=/home/dev", "TRACESMITH_STATE=" + filepath.FromSlash("/srv/state"), "https_proxy=http://proxy", "LANGCHAIN_API_KEY=k",
		"CC_LANGSMITH_API_KEY=c", "LANGSMITH_PI_PROJECT=p", "TRACE_TO_LANGSMITH=true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
