package examples

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// programs is the folder of the built examples and of tracesmith itself.
var programs string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "tracesmith-examples-")
	if err != nil {
		panic(err)
	}
	programs = dir
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+string(filepath.Separator),
		"../cmd/tracesmith", "./turnloop", "./turnloop-streaming", "./subagents", "./http-tool-server", "./ag-ui-agent")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(programs, name)
}

// world is an environment of the test's own, and a server that plays LangSmith.
type world struct {
	t      *testing.T
	server *ingest.Server
	env    []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server, err := ingest.Start(ingest.Config{Key: "key"}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Close(ctx)
	})
	w := &world{t: t, server: server}
	for _, variable := range os.Environ() { // go has to find its caches
		name, _, _ := strings.Cut(variable, "=")
		for _, prefix := range []string{"TRACESMITH", "LANGSMITH", "LANGCHAIN", "ANTHROPIC", "XDG", "CC_"} {
			if strings.HasPrefix(name, prefix) {
				name = ""
			}
		}
		if name != "" {
			w.env = append(w.env, variable)
		}
	}
	w.env = append(w.env, "XDG_CONFIG_HOME="+t.TempDir(), "TRACESMITH_STATE="+t.TempDir())
	return w
}

// langsmith has the world's programs deliver to the server.
func (w *world) langsmith() *world {
	w.env = append(w.env, "LANGSMITH_ENDPOINT="+w.server.URL(), "LANGSMITH_API_KEY=key")
	return w
}

// run runs a program and returns what it printed.
func (w *world) run(name string, args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), program(name), args...)
	cmd.Env = w.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		w.t.Fatalf("%s: %v: %s", name, err, errs.String())
	}
	return out.String()
}

// runs returns what the server holds, valid.
func (w *world) runs() []runtypes.Wire {
	w.t.Helper()
	runs := w.server.Memory().Runs()
	for _, v := range runtypes.ValidateWire(runs) {
		w.t.Error(v)
	}
	if orphans := w.server.Memory().Orphans(); len(orphans) > 0 {
		w.t.Errorf("patches without a post: %v", orphans)
	}
	for _, run := range runs {
		if run.EndTime == "" {
			w.t.Errorf("%s is left open", run.Name)
		}
	}
	return runs
}

// sketch draws runs as an indented list of kinds, names and errors.
func sketch(runs []runtypes.Wire) string {
	var b strings.Builder
	for _, run := range runs {
		depth := strings.Count(run.DottedOrder, ".")
		line := strings.TrimSpace(fmt.Sprintf("%s%s %s %s", strings.Repeat("  ", depth), run.Kind(), run.Name, run.Error))
		b.WriteString(strings.Repeat("  ", depth) + line + "\n")
	}
	return b.String()
}

func (w *world) expect(runs []runtypes.Wire, want string) {
	w.t.Helper()
	if got := sketch(runs); got != strings.TrimPrefix(want, "\n") {
		w.t.Errorf("the server holds\n%swant%s", got, want)
	}
}

// usage sums the tokens of all model calls.
func usage(t *testing.T, runs []runtypes.Wire) (in, cached, out int64) {
	t.Helper()
	for _, run := range runs {
		if run.RunType != "llm" {
			continue
		}
		var extra struct {
			Metadata struct {
				Usage struct {
					In      int64 `json:"input_tokens"`
					Out     int64 `json:"output_tokens"`
					Details struct {
						Read int64 `json:"cache_read"`
					} `json:"input_token_details"`
				} `json:"usage_metadata"`
			}
		}
		if err := json.Unmarshal(run.Extra, &extra); err != nil {
			t.Fatal(err)
		}
		u := extra.Metadata.Usage
		in, cached, out = in+u.In, cached+u.Details.Read, out+u.Out
	}
	return in, cached, out
}

func TestTurnloopWithNothingConfiguredPrintsItsTreeAndWhereItIs(t *testing.T) {
	w := newWorld(t)
	out := w.run("turnloop")
	for _, want := range []string{
		"go vet has nothing to say.\n", "\n● root Turnloop Turn  8.2k in, 350 out", "\n├─ ▪ tool bash", "error: exit status 1\n",
		"\n└─ ◆ llm Turnloop claude-opus-4-5", "\nstored in ", "runs.db (see: tracesmith show)\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if shown := w.run("tracesmith", "show"); !strings.Contains(out, shown) {
		t.Errorf("tracesmith show prints\n%s, not what the example did:\n%s", shown, out)
	}
	if n := len(w.server.Memory().Runs()); n > 0 {
		t.Errorf("%d runs left the machine", n)
	}
}

func TestTurnloop(t *testing.T) {
	w := newWorld(t).langsmith()
	if out := w.run("turnloop"); !strings.Contains(out, "\nstored in "+w.server.URL()+"\n") {
		t.Errorf("printed\n%s", out)
	}
	runs := w.runs()
	w.expect(runs, `
root Turnloop Turn
  llm Turnloop
  tool bash exit status 1
  llm Turnloop
  tool read
  tool read
  llm Turnloop
  tool edit
  llm Turnloop
  tool bash
  llm Turnloop
`)
	if in, cached, out := usage(t, runs); in != 8200 || cached != 7500 || out != 350 {
		t.Errorf("tokens: %d in, %d of them cached, %d out", in, cached, out)
	}
	root, llm, vet := runs[0], runs[1], runs[2]
	for key, want := range map[string]string{
		"git_branch": "fix-count", "git_commit_sha": "5f3c1a9e0b7d4c2a8e6f1d3b5a7c9e0f2b4d6a81",
		"repository_name": "example/widgets", "ls_integration": "turnloop", "thread_id": "thread-1",
	} {
		for _, run := range runs {
			if got := run.Metadata()[key]; got != want {
				t.Errorf("%s: %s is %v, want %s", run.Name, key, got, want)
			}
		}
	}
	if params, ok := llm.Metadata()["ls_invocation_params"].(map[string]any); !ok || fmt.Sprint(params["max_tokens"]) != "4096" {
		t.Errorf("parameters %v", llm.Metadata()["ls_invocation_params"])
	}
	if meta := llm.Metadata(); meta["ls_provider"] != "anthropic" || meta["ls_model_name"] != "claude-opus-4-5" || meta["stop_reason"] != "tool_use" {
		t.Errorf("%v", meta)
	}
	for run, texts := range map[*runtypes.Wire][2]string{
		&root: {`{"messages":[{"role":"user","content":"Fix what go vet complains about.`, `"content":"main.go printed a string with %d;`},
		&llm:  {`{"messages":[{"role":"system","content":"You are a coding agent`, `"name":"bash","type":"tool_use"}`},
		&vet:  {`{"command":"go vet ."}`, `wrong type string`},
	} {
		if !strings.Contains(string(run.Inputs), texts[0]) || !strings.Contains(string(run.Outputs), texts[1]) {
			t.Errorf("%s: inputs %s, outputs %s", run.Name, run.Inputs, run.Outputs)
		}
	}
	if root.SessionName != "turnloop" {
		t.Errorf("project %q", root.SessionName)
	}
}

func TestTurnloopStreaming(t *testing.T) {
	w := newWorld(t).langsmith()
	if out := w.run("turnloop-streaming"); !strings.HasPrefix(out, "Let me read it first.\nThe program prints how many") {
		t.Errorf("printed\n%s", out)
	}
	runs := w.runs()
	w.expect(runs, `
root Turnloop Streaming Turn
  llm Turnloop Streaming
  tool read
  llm Turnloop Streaming
`)
	if in, cached, out := usage(t, runs); in != 3280 || cached != 3000 || out != 110 {
		t.Errorf("tokens: %d in, %d of them cached, %d out", in, cached, out)
	}
	if len(runs[0].Tags) != 1 || runs[0].Tags[0] != "streaming" {
		t.Errorf("tags %v", runs[0].Tags)
	}
	for _, run := range runs {
		if token := strings.HasPrefix(string(run.Events), `[{"name":"new_token","time":"`); token != (run.RunType == "llm") {
			t.Errorf("%s: events %s", run.Name, run.Events)
		}
	}
}

func TestSubagents(t *testing.T) {
	w := newWorld(t).langsmith()
	w.run("subagents")
	runs := w.runs()
	w.expect(runs, `
root Subagents Turn
  llm Subagents
  tool task
    subagent explorer Subagent
      llm Subagents
      tool read
      tool task
        subagent summarizer Subagent
          llm Subagents
          tool read
          llm Subagents
      llm Subagents
  tool task
    subagent reviewer Subagent
      llm Subagents
      tool read
      tool bash exit status 1
      llm Subagents
  llm Subagents
`)
	for _, run := range runs {
		want := "subagent"
		if strings.Count(run.DottedOrder, ".") < 2 {
			want = "root"
		}
		if got := run.Metadata()["ls_agent_type"]; got != want {
			t.Errorf("%s at %s: agent type %v, want %s", run.Name, run.DottedOrder, got, want)
		}
	}
	if sub := runs[3]; !strings.Contains(string(sub.Outputs), "A module that counts widgets") || sub.Metadata()["ls_subagent_type"] != "explorer" {
		t.Errorf("%s, outputs %s", sub.Extra, sub.Outputs)
	}
}

func TestHTTPToolServer(t *testing.T) {
	w := newWorld(t).langsmith()
	w.run("http-tool-server")
	runs := w.runs()
	w.expect(runs, `
root Counter Turn
  llm Counter
  tool count
    chain GET /count
      tool look at the shelf
  tool count 404 Not Found
    chain GET /count
      tool look at the shelf no shelf for sprockets
  llm Counter
`)
	for _, run := range runs {
		if run.TraceID != runs[0].ID || run.SessionName != "http-tool-server" || run.Metadata()["ls_integration"] != "http-tool-server" {
			t.Errorf("%s: trace %s, project %s, %s", run.Name, run.TraceID, run.SessionName, run.Extra)
		}
	}
	if shelf := runs[4]; string(shelf.Inputs) != `{"item":"widgets"}` || string(shelf.Outputs) != `{"output":3}` {
		t.Errorf("inputs %s, outputs %s", shelf.Inputs, shelf.Outputs)
	}
}

// The README shows what tracing turnloop took.
func TestTracingTurnloopTakesFifteenLines(t *testing.T) {
	read := func(name string) []string {
		raw, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(raw), "\n")
	}
	changes := changed(read("turnloop/testdata/untraced.go.txt"), read("turnloop/main.go"))
	added := 0
	for _, line := range changes {
		if line[0] == '+' {
			added++
		}
	}
	if added > 15 {
		t.Errorf("%d lines are new or changed", added)
	}
	readme := strings.Join(read("turnloop/README.md"), "\n")
	for _, line := range changes {
		if !strings.Contains(readme, "\n"+line+"\n") {
			t.Errorf("the README's diff lacks %q", line)
		}
	}
}

// changed returns the lines that two texts do not share, as a diff writes them.
func changed(before, after []string) []string {
	// common[i][j] is the most lines that before[i:] and after[j:] share in order.
	common := make([][]int, len(before)+1)
	for i := range common {
		common[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			if before[i] == after[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var lines []string
	for i, j := 0, 0; i < len(before) || j < len(after); {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			i, j = i+1, j+1
		case i < len(before) && (j == len(after) || common[i+1][j] >= common[i][j+1]):
			lines = append(lines, "-"+before[i])
			i++
		default:
			lines = append(lines, "+"+after[j])
			j++
		}
	}
	return lines
}
