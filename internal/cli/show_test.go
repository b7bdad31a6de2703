package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// stateApp is an app with a state directory of the test's own.
func stateApp(t *testing.T) (a *app, stdout, stderr *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return &app{
		stdin: strings.NewReader(""), stdout: stdout, stderr: stderr, now: time.Now,
		env: func(key string) string {
			if key == "TRACESMITH_STATE" {
				return dir
			}
			return ""
		},
	}, stdout, stderr
}

// sampleRuns is a turn of seven runs and one that was interrupted, children first.
func sampleRuns(t *testing.T) []runtypes.Wire {
	t.Helper()
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	who := runtypes.Identity{Integration: "claude-code", Runtime: "Claude Code", ThreadID: "th"}
	root := runtypes.Finish(runtypes.Root(idgen.Run(start, "root"), start, who), at(60))
	stopped := runtypes.Root(idgen.Run(at(200), "stopped"), at(200), who)
	runtypes.Interrupt(stopped, at(260), "Interrupted by user")

	runs := []*runtypes.Run{stopped}
	for i := range 6 {
		tool := runtypes.Tool(root, idgen.Run(start, "tool", fmt.Sprint(i)), at(i), "Bash")
		runs = append(runs, runtypes.Finish(tool, at(i+1)))
	}
	var wires []runtypes.Wire
	for _, r := range append(runs, root) {
		w, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: r})
		if err != nil {
			t.Fatal(err)
		}
		wires = append(wires, w)
	}
	return wires
}

func TestWhatServeTakesShowPrints(t *testing.T) {
	a, stdout, stderr := stateApp(t)
	runs := sampleRuns(t)
	sendToServe(t, a, runs)

	show := func(want int, args ...string) string {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		if code := a.execute(t.Context(), a.root(), append([]string{"show"}, args...)); code != want {
			t.Fatalf("show %q: exit %d: %s", args, code, stderr)
		}
		if n := strings.Count(stderr.String(), "\n"); (want == exitOK) != (n == 0) || n > 1 {
			t.Errorf("show %q says %q", args, stderr)
		}
		return stdout.String()
	}
	if out := show(exitOK); !strings.HasPrefix(out, "◐ interrupted") || strings.Count(out, "\n") != 1 {
		t.Errorf("the last turn: %q", out)
	}
	if out := show(exitOK, "--last", "5"); !strings.HasPrefix(out, "● root") || !strings.Contains(out, "\n\n◐ interrupted") {
		t.Errorf("newest last: %q", out)
	}
	if out := show(exitOK, runs[len(runs)-1].TraceID); strings.Count(out, "\n") != 7 {
		t.Errorf("one trace: %q", out)
	}
	if out := show(exitOK, "--failed", "--last", "5", "--thread", "th"); strings.Contains(out, "● root") {
		t.Errorf("failed: %q", out)
	}
	lines := strings.Split(strings.TrimSpace(show(exitOK, "--json", "--last", "5")), "\n")
	if len(lines) != len(runs) {
		t.Errorf("%d lines of JSON", len(lines))
	}
	for _, line := range lines {
		var w runtypes.Wire
		if err := json.Unmarshal([]byte(line), &w); err != nil || w.DottedOrder == "" {
			t.Errorf("%q: %v", line, err)
		}
	}
	show(exitError, "--thread", "nobody")
	show(exitError, "00000000-0000-7000-8000-000000000000")
	show(exitUsage, "--last", "0")
	show(exitUsage, runs[0].TraceID, "--failed")
}

// sendToServe starts serve, posts runs to it and ends it.
func sendToServe(t *testing.T, a *app, runs []runtypes.Wire) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	server := *a
	reader, writer := io.Pipe()
	server.stdout, server.getwd = writer, os.Getwd
	server.env = func(name string) string {
		if name == "LANGSMITH_API_KEY" {
			return "my-own-key"
		}
		return a.env(name)
	}
	done := make(chan int)
	go func() {
		code := server.execute(ctx, server.root(), []string{"serve", "--listen", "127.0.0.1:0"})
		_ = writer.Close()
		done <- code
	}()
	lines := bufio.NewScanner(reader)
	says := func(start string) string {
		t.Helper()
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), start); ok {
				return strings.Fields(rest)[0]
			}
		}
		t.Fatalf("serve does not say %q: %s", start, a.stderr)
		return ""
	}
	assigned := func(name string) string {
		if runtime.GOOS == "windows" {
			return strings.Trim(says("  $env:"+name+" = "), `"`)
		}
		return says("  export " + name + "=")
	}
	url, own := assigned("LANGSMITH_ENDPOINT"), assigned("LANGSMITH_API_KEY")
	_ = says("The page is ")
	body, err := json.Marshal(map[string]any{"post": runs})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		key, host string
		want      int
	}{
		{"", "", http.StatusUnauthorized}, {"another", "", http.StatusUnauthorized}, {own, "rebound.example", http.StatusForbidden},
		{own, "", http.StatusAccepted}, {"my-own-key", "", http.StatusConflict}, // taken, and known
	} {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/runs/batch", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Close, req.Host = true, tc.host
		req.Header.Set("X-Api-Key", tc.key)
		res, err := (&http.Transport{}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		told, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != tc.want || tc.want == http.StatusUnauthorized && !strings.Contains(string(told), "LANGSMITH_API_KEY") {
			t.Errorf("%+v: serve answers %d %s", tc, res.StatusCode, told)
		}
	}
	stop()
	if posts := says("8 posts and 0 patches in "); posts != "4" { // 403 comes before it is counted
		t.Errorf("%s requests", posts)
	}
	_, _ = io.Copy(io.Discard, reader)
	if code := <-done; code != exitOK {
		t.Errorf("serve exits %d", code)
	}
}

func TestServeAndShowSayWhatIsWrong(t *testing.T) {
	a, _, stderr := stateApp(t)
	for _, args := range [][]string{{"show"}, {"serve", "--listen", "0.0.0.0:0"}} {
		stderr.Reset()
		if code := a.execute(t.Context(), a.root(), args); code != exitError || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
