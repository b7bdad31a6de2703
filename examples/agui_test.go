package examples

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long a server may take to start and to end.
const patience = 30 * time.Second

// server runs a program that prints where it listens, and returns that and what ends it.
func (w *world) serve(name string, args ...string) (url string, end func() string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), program(name), args...)
	cmd.Env = w.env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	for _, word := range strings.Fields(line) {
		if strings.HasPrefix(word, "http://") && url == "" {
			url = word
		}
	}
	return url, func() string {
		w.t.Helper()
		watchdog := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || !watchdog.Stop() {
			w.t.Errorf("%s: %v: %s", name, err, errs.String())
		}
		return errs.String()
	}
}

// ask posts a prompt to an agent and returns its stream.
func (w *world) ask(url, run, prompt, more string) string {
	w.t.Helper()
	body := `{"threadId":"t","runId":"` + run + `","messages":[{"id":"u-` + run + `","role":"user","content":"` + prompt + `"}],"tools":[],"context":[]` + more + `}`
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("%v: %s: %s", err, resp.Status, raw)
	}
	return string(raw)
}

const aguiRuns = `
root AG-UI run
  llm AG-UI 1.0
  tool ls
  llm AG-UI 1.0
interrupted AG-UI run Interrupted to ask
  llm AG-UI 1.0
  tool delete
root AG-UI run
  tool delete
  llm AG-UI 1.0
root AG-UI run the model is overloaded
  llm AG-UI 1.0
`

func TestAGUIAgentTracesItsStreams(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("!!! SKIPPED: a program cannot be interrupted on Windows")
	}
	w := newWorld(t).langsmith()
	url, end := w.serve("ag-ui-agent", "-listen", "127.0.0.1:0", "-trace")
	w.talk(url)
	end()
	w.expect(w.runs(), aguiRuns)
}

// talk has an agent do a run of each kind.
func (w *world) talk(url string) (streams []string) {
	w.t.Helper()
	return []string{
		w.ask(url, "r1", "what is here?", ""),
		w.ask(url, "r2", "please ask", ""),
		w.ask(url, "r3", "go on", `,"resume":[{"interruptId":"may-i-call-r2","status":"resolved"}]`),
		w.ask(url, "r4", "please fail", ""),
	}
}

func TestAProxyTracesAnAGUIAgentAndChangesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("!!! SKIPPED: a program cannot be interrupted on Windows")
	}
	w := newWorld(t).langsmith()
	agent, endAgent := w.serve("ag-ui-agent", "-listen", "127.0.0.1:0")
	proxy, endProxy := w.serve("tracesmith", "ag-ui", "proxy", "--listen", "127.0.0.1:0", "--target", agent)
	want, got := w.talk(agent), w.talk(proxy)
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("through the proxy the stream is\n%s\nnot\n%s", got[i], want[i])
		}
	}
	said := endProxy()
	endAgent()
	if said != "4 runs, 5 model calls, 3 tool calls, 0 subagents; warnings: result_without_call 1\n" {
		t.Errorf("the proxy says %q", said)
	}
	runs := w.runs()
	w.expect(runs, aguiRuns)
	if in, cached, out := usage(t, runs); in != 120 || cached != 100 || out != 30 {
		t.Errorf("%d tokens in, %d of them cached, %d out", in, cached, out)
	}
}
