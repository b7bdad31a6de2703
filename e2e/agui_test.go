//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// aguiVersion is the published TypeScript client that streams are read with.
const aguiVersion = "1.0.0"

// aguiClient is the folder that the client is installed in, at most once.
var aguiClient = sync.OnceValues(func() (string, error) {
	dir, err := cached("ag-ui-client-" + aguiVersion)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(dir, "node_modules", "@ag-ui", "client", "package.json"))
	if err == nil && bytes.Contains(text, []byte(`"version": "`+aguiVersion+`"`)) {
		return dir, nil
	}
	return dir, npmInstall(dir, "@ag-ui/client@"+aguiVersion)
})

// aguiTalk has the client do a run of each kind and prints what it got: the bytes of
// every answer as they came, the events it made of them and the messages in the end.
const aguiTalk = `
import { HttpAgent } from "@ag-ui/client";
const heard = [];
const real = globalThis.fetch;
globalThis.fetch = async (...args) => {
	const response = await real(...args);
	const [mine, theirs] = response.body.tee();
	const kept = { type: response.headers.get("content-type"), status: response.status, body: "" };
	heard.push(kept);
	kept.done = new Response(mine).arrayBuffer().then((bytes) => { kept.body = Buffer.from(bytes).toString("base64"); }, () => {});
	return new Response(theirs, { status: response.status, headers: response.headers });
};
const agent = new HttpAgent({ url: process.argv[1], threadId: "conversation" });
const events = [], failures = [];
const watch = { onEvent: ({ event }) => { events.push(event.type); } };
const run = async (runId, prompt, more) => {
	if (prompt) agent.addMessage({ id: "user-" + runId, role: "user", content: prompt });
	try { await agent.runAgent({ runId, ...more }, watch); } catch (error) { failures.push(runId + ": " + error.message); }
};
await run("r1", "what is here?");
await run("r2", "please ask");
await run("r3", "", { resume: [{ interruptId: "may-i-call-r2", status: "resolved", payload: { yes: true } }] });
await run("r4", "please fail");
const waiting = run("r5", "please wait");
while (!(events.at(-1) === "TEXT_MESSAGE_END")) await new Promise((again) => setTimeout(again, 10));
agent.abortRun();
await waiting;
for (const each of heard.slice(0, 4)) await each.done;
heard.length = 4; // how much of the last arrived depends on when it was broken off
for (const each of heard) delete each.done;
console.log(JSON.stringify({ heard, events, failures, messages: agent.messages }));
`

// aguiHeard is what the client prints.
type aguiHeard struct {
	Heard []struct {
		Type, Body string
		Status     int
	}
	Events, Failures []string
	Messages         json.RawMessage
}

func TestAGUIClientThroughTheProxy(t *testing.T) {
	t.Parallel()
	dir := installed(t, "AG-UI client", aguiClient)
	server, err := ingest.Start(ingest.Config{Key: apiKey}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(context.Background()) })
	home := t.TempDir()
	env := []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TRACESMITH_STATE=" + filepath.Join(home, "state"),
		"LANGSMITH_ENDPOINT=" + server.URL(), "LANGSMITH_API_KEY=" + apiKey,
	}
	example := filepath.Join(home, "ag-ui-agent")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", example, "../examples/ag-ui-agent")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	agent, _ := listening(t, env, example, "-listen", "127.0.0.1:0")
	proxy, end := listening(t, env, binary, "ag-ui", "proxy", "--listen", "127.0.0.1:0", "--target", agent)

	direct, passed := talkAGUI(t, dir, agent), talkAGUI(t, dir, proxy)
	if len(direct.Heard) != 4 || len(direct.Events) == 0 {
		t.Fatalf("the client heard %+v", direct)
	}
	if diff := cmp.Diff(direct, passed); diff != "" {
		t.Errorf("through the proxy the client hears (-direct +proxy):\n%s", diff)
	}
	for deadline := time.Now().Add(patience); aguiOpen(server) && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	end()
	runs := server.Memory().Runs()
	for _, v := range runtypes.ValidateWire(runs) {
		t.Error(v)
	}
	var tree strings.Builder
	for _, run := range runs {
		tree.WriteString(strings.TrimSpace(strings.Repeat("  ", strings.Count(run.DottedOrder, "."))+string(run.Kind())+" "+run.Name+" "+run.Error) + "\n")
		if thread := run.Metadata()["thread_id"]; thread != "conversation" {
			t.Errorf("%s is of thread %v", run.Name, thread)
		}
	}
	want := `root AG-UI run
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
interrupted AG-UI run The client disconnected
llm AG-UI 1.0
`
	if diff := cmp.Diff(want, tree.String()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(runs[0].Inputs), "what is here?") {
		t.Errorf("the first run is asked %s", runs[0].Inputs)
	}
}

// aguiOpen reports whether not all five runs have arrived and ended.
func aguiOpen(server *ingest.Server) bool {
	ended := 0
	for _, run := range server.Memory().Runs() {
		if run.ParentRunID == "" && run.EndTime != "" {
			ended++
		}
	}
	return ended < 5
}

// listening starts a program that prints where it listens. end interrupts it.
func listening(t *testing.T, env []string, program string, args ...string) (url string, end func()) {
	t.Helper()
	cmd := exec.Command(program, args...) // end stops it, when the test's context is over already
	cmd.Env = env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		watchdog := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer watchdog.Stop()
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v: %s", filepath.Base(program), err, stderr.String())
		}
	})
	t.Cleanup(end)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v: %s", filepath.Base(program), err, stderr.String())
	}
	for _, word := range strings.Fields(line) {
		if strings.HasPrefix(word, "http://") {
			return word, end
		}
	}
	t.Fatalf("%s says %q", filepath.Base(program), line)
	return "", nil
}

// talkAGUI has the published client talk to an agent.
func talkAGUI(t *testing.T, dir, url string) aguiHeard {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "--input-type=module", "-e", aguiTalk, url)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the client: %v\n%s", err, stderr.String())
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n")) // the client may warn before
	var heard aguiHeard
	if err := json.Unmarshal(lines[len(lines)-1], &heard); err != nil {
		t.Fatalf("the client prints %s", out)
	}
	return heard
}
