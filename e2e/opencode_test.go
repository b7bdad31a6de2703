//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/modelserver"
	"github.com/tracesmith/tracesmith/runtypes"
)

// openCodeVersion is the OpenCode that the reducer was made with.
const openCodeVersion = "1.18.33"

var openCodeOnce = sync.OnceValues(func() (string, error) {
	return fetched("opencode-"+openCodeVersion, "opencode-ai@"+openCodeVersion, "opencode", openCodeVersion)
})

// uses is a step of a script that asks for tools.
func uses(text string, tools ...modelserver.Block) modelserver.Step {
	step := modelserver.Step{Usage: modelserver.Usage{Input: 400, CacheRead: 500, Write5m: 300, Output: 45}}
	if text != "" {
		step.Blocks = append(step.Blocks, modelserver.Block{Text: text})
	}
	step.Blocks = append(step.Blocks, tools...)
	return step
}

func tool(name, input string) modelserver.Block {
	return modelserver.Block{Tool: name, Input: json.RawMessage(input)}
}

func openCodeScript() map[string]modelserver.Scenario {
	return map[string]modelserver.Scenario{
		"oc-plain": {uses("Two widgets are in stock.")},
		"oc-tools": {
			uses("I will look.", tool("read", `{"filePath":"README.md"}`), tool("bash", `{"command":"ls","description":"List"}`)),
			uses("There is a README about widgets."),
		},
		"oc-fail": {
			uses("", tool("read", `{"filePath":"none.txt"}`), tool("bash", `{"command":"exit 3","description":"Fail"}`)),
			uses("Both failed."),
		},
		"oc-task": {
			uses("Delegating.", tool("task", `{"description":"Count","prompt":"SCENARIO:oc-child count the files","subagent_type":"general"}`)),
			uses("The subagent counted."),
		},
		"oc-child": {
			uses("", tool("bash", `{"command":"ls | wc -l","description":"Count"}`)),
			uses("There are two files."),
		},
		"oc-slowtool": {
			uses("Running it.", tool("bash", `{"command":"touch running; sleep 60","description":"Long"}`)),
			uses("never"),
		},
		"oc-err400": {{Failure: &modelserver.Failure{Status: 400, Type: "invalid_request_error", Message: "not acceptable"}}},
	}
}

// newOpenCodeWorld sets a machine up with OpenCode, its model behind a provider of the
// user's own, and the shim installed.
func newOpenCodeWorld(t *testing.T) *world {
	t.Helper()
	long(t)
	w := newWorldOf(t, &world{agent: installed(t, "OpenCode", openCodeOnce), name: "opencode", version: openCodeVersion, silent: true}, openCodeScript())
	w.write(filepath.Join(w.home, ".config", "opencode", "opencode.json"), fmt.Sprintf(`{
  "model": "acme/large", "small_model": "acme/large", "autoupdate": false, "share": "disabled",
  "provider": {"acme": {"npm": "@ai-sdk/anthropic", "name": "Acme",
    "options": {"baseURL": "%s/v1", "apiKey": "%s"},
    "models": {"large": {"name": "Large", "limit": {"context": 200000, "output": 8192}, "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}, "tool_call": true}}}}
}`, w.model.URL(), openCodeKey))
	w.env = append(w.env, "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1",
		// At the first start with a plugin it fetches a package of types, and waits for minutes
		// for a registry that cannot be reached. This one does not have it.
		"npm_config_registry="+w.model.URL())
	return w
}

// openCodeKey is of no shape that redaction looks for: where it turns up it was sent.
const openCodeKey = "the users own words for acme"

// opencode starts the program in a process group of its own.
func (w *world) opencode(args ...string) *session {
	w.t.Helper()
	s := &session{w: w}
	s.cmd = exec.CommandContext(w.t.Context(), w.agent, args...)
	s.cmd.Dir, s.cmd.Env = w.repo, w.environ(w.env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.WaitDelay = 5 * time.Second
	if err := s.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// onlyThread waits for the one conversation that there is.
func (w *world) onlyThread() string {
	w.t.Helper()
	w.until("a turn arrives", func() bool { return len(w.threads()) > 0 })
	threads := w.threads()
	if len(threads) != 1 {
		w.t.Fatalf("%d threads, want one", len(threads))
	}
	for thread := range threads {
		return thread
	}
	return ""
}

// repliesOnce compares the model calls that were traced with those that were answered,
// and looks for the user's key.
func (w *world) repliesOnce() {
	w.t.Helper()
	w.everyReplyOnce(w.server.Memory().Runs())
	all, _ := json.Marshal(w.server.Memory().Runs())
	if bytes.Contains(all, []byte(openCodeKey)) {
		w.t.Error("the user's key was sent")
	}
	_ = filepath.WalkDir(filepath.Join(w.home, ".local", "state"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if text, _ := os.ReadFile(path); bytes.Contains(text, []byte(openCodeKey)) {
				w.t.Errorf("the user's key is in %s", filepath.Base(path))
			}
		}
		return nil
	})
}

func TestOpenCodePlainAndTwoTurns(t *testing.T) {
	t.Parallel()
	w := newOpenCodeWorld(t)
	if out, code := w.opencode("run", "SCENARIO:oc-plain").wait(); code != 0 || !strings.Contains(out, "Two widgets are in stock.") {
		t.Errorf("exit code %d, output %q", code, out)
	}
	thread := w.onlyThread()
	turn := w.turns(thread, 1)[0]
	turn.has(1, 0)
	turn.completed("Two widgets are in stock.")
	turn.numbered(1)
	w.wants(turn.llms[0], "ls_model_name", "large")
	w.opencode("run", "--session", thread, "SCENARIO:oc-tools").wait()
	turns := w.turns(thread, 2)
	turns[1].numbered(2)
	turns[1].has(2, 2)
	turns[1].succeeded(turns[1].tools)
	w.repliesOnce()
}

func TestOpenCodeParallelTools(t *testing.T) {
	t.Parallel()
	w := newOpenCodeWorld(t)
	w.opencode("run", "SCENARIO:oc-tools").wait()
	turn := w.turns(w.onlyThread(), 1)[0]
	turn.has(2, 2)
	turn.completed("There is a README about widgets.")
	turn.succeeded(turn.tools)
	w.repliesOnce()
}

func TestOpenCodeFailingTools(t *testing.T) {
	t.Parallel()
	w := newOpenCodeWorld(t)
	w.opencode("run", "SCENARIO:oc-fail").wait()
	turn := w.turns(w.onlyThread(), 1)[0]
	turn.has(2, 2)
	turn.completed("Both failed.")
	turn.failed(turn.tools)
	w.repliesOnce()
}

func TestOpenCodeSubagent(t *testing.T) {
	t.Parallel()
	w := newOpenCodeWorld(t)
	w.opencode("run", "SCENARIO:oc-task").wait()
	turn := w.turns(w.onlyThread(), 1)[0]
	if len(turn.others) != 1 || turn.others[0].Kind() != runtypes.KindSubagent {
		t.Fatalf("%d other runs, want one subagent", len(turn.others))
	}
	child := turn.below(turn.others[0])
	child.has(2, 1)
	for _, tool := range turn.tools {
		if tool.Name == "task" && turn.others[0].ParentRunID != tool.ID {
			t.Errorf("the subagent hangs under %s, its task is %s", turn.others[0].ParentRunID, tool.ID)
		}
	}
	w.repliesOnce()
}

func TestOpenCodeModelFailure(t *testing.T) {
	t.Parallel()
	w := newOpenCodeWorld(t)
	if _, code := w.opencode("run", "SCENARIO:oc-err400").wait(); code == 0 {
		t.Error("the agent exited 0")
	}
	turn := w.turns(w.onlyThread(), 1)[0]
	turn.has(1, 0)
	turn.failed([]runtypes.Wire{turn.root})
}

// A host that is killed says nothing any more. Its tree is whole within two seconds.
func TestOpenCodeKilledInATool(t *testing.T) {
	t.Parallel()
	w := newOpenCodeWorld(t)
	s := w.opencode("run", "SCENARIO:oc-slowtool")
	w.until("the tool runs", func() bool {
		_, err := os.Stat(filepath.Join(w.repo, "running"))
		return err == nil
	})
	time.Sleep(300 * time.Millisecond) // what OpenCode has told its plugins is on its way
	s.signal(syscall.SIGKILL)
	killed := time.Now()
	w.until("the turn arrives", func() bool {
		for _, turns := range w.threads() {
			return len(turns) == 1 && turns[0].root.EndTime != ""
		}
		return false
	})
	if took := time.Since(killed); took > 2*time.Second {
		t.Errorf("it took %v", took)
	} else {
		t.Logf("it took %v", took)
	}
	s.wait()
	w.turns(w.onlyThread(), 1)[0].interruptedInTool()
}

func TestOpenCodeAbort(t *testing.T) {
	t.Parallel()
	w := newOpenCodeWorld(t)
	url := w.serveOpenCode()
	id := w.newSession(url)
	prompt := `{"parts":[{"type":"text","text":"SCENARIO:oc-slowtool"}]}`
	w.post(url+"/session/"+id+"/prompt_async", prompt)
	w.until("the tool runs", func() bool {
		_, err := os.Stat(filepath.Join(w.repo, "running"))
		return err == nil
	})
	w.post(url+"/session/"+id+"/abort", "{}")
	w.until("the turn ends", func() bool {
		turns := w.threads()[id]
		return len(turns) == 1 && turns[0].root.EndTime != ""
	})
	w.stopServing()
	w.turns(id, 1)[0].interruptedInTool()
}

// serveOpenCode starts OpenCode's server and waits until it answers.
func (w *world) serveOpenCode() string {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	w.host = w.opencode("serve", "--hostname", "127.0.0.1", "--port", fmt.Sprint(port))
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	client := &http.Client{Timeout: 5 * time.Second} // a request that comes too early is never answered
	w.until("the server answers", func() bool {
		resp, err := client.Get(url + "/session")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return url
}

func (w *world) stopServing() {
	w.t.Helper()
	w.host.signal(syscall.SIGTERM)
	w.host.wait()
}

func (w *world) post(url, body string) []byte {
	w.t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(resp.Body)
	if resp.StatusCode >= 300 {
		w.t.Fatalf("%s: %s: %s", url, resp.Status, out.Bytes())
	}
	return out.Bytes()
}

func (w *world) newSession(url string) string {
	w.t.Helper()
	var session struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(w.post(url+"/session", "{}"), &session); err != nil {
		w.t.Fatal(err)
	}
	return session.ID
}
