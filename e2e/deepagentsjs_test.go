//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/modelserver"
	"github.com/tracesmith/tracesmith/internal/relay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// The library that Deep Agents Code is made of, as JavaScript has it: it traces itself by
// another client of LangSmith's, and is to be had where Python's packages are not.
const (
	deepAgentsLibrary = "1.14.1"
	langchainModel    = "1.5.11"
)

var deepAgentsLibraryOnce = sync.OnceValues(func() (string, error) {
	dir, err := cached("deepagents-" + deepAgentsLibrary)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(dir, "node_modules", "deepagents", "package.json"))
	if err == nil && strings.Contains(string(text), `"version": "`+deepAgentsLibrary+`"`) {
		return dir, nil
	}
	return dir, npmInstall(dir, "deepagents@"+deepAgentsLibrary, "@langchain/anthropic@"+langchainModel)
})

// deepAgentsProgram has an agent answer three prompts of one thread, the last of which is
// given up while its tool runs.
const deepAgentsProgram = `
import { createDeepAgent } from "deepagents";
import { ChatAnthropic } from "@langchain/anthropic";
import { tool } from "@langchain/core/tools";
import { awaitAllCallbacks } from "@langchain/core/callbacks/promises";
const given = JSON.parse(process.argv[1]);
const schema = { type: "object", properties: { what: { type: "string" } }, required: ["what"] };
const stop = new AbortController();
const count = tool(async () => "two", { name: "count", description: "counts", schema });
const wait = tool(() => new Promise(() => setTimeout(() => stop.abort(), 300)), { name: "wait", description: "waits", schema });
const agent = createDeepAgent({
	name: "agent", tools: [count, wait],
	model: new ChatAnthropic({ model: given.model, anthropicApiUrl: process.env.ANTHROPIC_BASE_URL, maxRetries: 0 }),
});
for (const [n, prompt] of given.prompts.entries()) {
	const metadata = { ...given.metadata, turn_id: "turn-" + (n + 1), turn_number: 1 };
	try {
		await agent.invoke({ messages: [{ role: "user", content: prompt }] }, { metadata, signal: stop.signal });
	} catch (error) {
		if (!stop.signal.aborted) throw error;
	}
}
await awaitAllCallbacks();
`

func TestDeepAgentsLibraryThroughTheRelay(t *testing.T) {
	long(t)
	dir := installed(t, "library of Deep Agents", deepAgentsLibraryOnce)
	w := newWorldOf(t, &world{agent: "node", name: "deepagents-code", version: "0.0.1", silent: true}, librarysScript())
	url, token := w.startRelay()
	w.askLibrary(dir, url, token, "SCENARIO:js-tools", "SCENARIO:js-subagent", "SCENARIO:js-abort")

	turns := w.turns("js-thread", 3)
	turns[0].has(2, 1)
	turns[0].completed("There are two.")
	turns[0].numbered(1)
	turns[1].numbered(2)
	turns[1].completed("The helper says two.")
	turns[2].interrupted()
	turns[2].numbered(3)
	if diff := cmp.Diff([]string{"count"}, turns[0].toolNames()); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if len(turns[1].others) != 1 || turns[1].others[0].Kind() != runtypes.KindSubagent {
		t.Fatalf("%d other runs, want one subagent", len(turns[1].others))
	}
	agent := turns[1].others[0]
	w.wants(agent, "ls_subagent_type", "general-purpose")
	turns[1].below(agent).has(1, 0)
	for _, turn := range turns {
		for _, call := range turn.llms {
			if call.Error == "" && usage(call)["output_tokens"] == 0 {
				t.Errorf("%s has no usage", call.Name)
			}
		}
	}
}

func librarysScript() map[string]modelserver.Scenario {
	step := func(blocks ...modelserver.Block) modelserver.Step {
		return modelserver.Step{Blocks: blocks, Usage: modelserver.Usage{Input: 10, Output: 20}}
	}
	say := func(text string) modelserver.Block { return modelserver.Block{Text: text} }
	call := func(tool, args string) modelserver.Block {
		return modelserver.Block{Tool: tool, Input: json.RawMessage(args)}
	}
	return map[string]modelserver.Scenario{
		"js-tools":    {step(say("I will count."), call("count", `{"what":"widgets"}`)), step(say("There are two."))},
		"js-subagent": {step(say("Delegating."), call("task", `{"description":"SCENARIO:js-child","subagent_type":"general-purpose"}`)), step(say("The helper says two."))},
		"js-child":    {step(say("Two."))},
		"js-abort":    {step(say("Waiting."), call("wait", `{"what":"widgets"}`)), step(say("Waited."))},
	}
}

// startRelay starts a relay by hand and returns its address and key.
func (w *world) startRelay() (url, token string) {
	w.t.Helper()
	cmd := exec.Command(binary, "relay", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = w.repo, []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended, which Wait tells
		if err := cmd.Wait(); err != nil {
			w.t.Error("the relay:", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	_, url, _ = strings.Cut(line, " on ")
	url, _, _ = strings.Cut(url, " ")
	state, err := journal.DefaultDir(func(name string) string { return map[string]string{"HOME": w.home}[name] })
	if err == nil {
		token, err = relay.Token(relay.Dir(state))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return url, token
}

// askLibrary runs the program on prompts to its end.
func (w *world) askLibrary(dir, url, token string, prompts ...string) {
	w.t.Helper()
	given, err := json.Marshal(map[string]any{
		"model": deepAgentsModel, "prompts": prompts, "metadata": map[string]any{
			"ls_integration": w.name, "ls_agent_runtime": "Deep Agents Code", "ls_agent_runtime_version": w.version, "thread_id": "js-thread",
			"cwd": w.repo, "git_branch": "trunk", "git_commit_sha": w.sha, "repository_url": "https://git.example.com/acme/widgets",
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.agent, "--input-type=module", "-e", deepAgentsProgram, string(given))
	cmd.Dir = dir // where its imports are looked for
	cmd.Env = w.environ("LANGSMITH_TRACING=true", "LANGSMITH_ENDPOINT="+url, "LANGSMITH_API_KEY="+token)
	out, err := cmd.CombinedOutput()
	w.output.Write(out)
	if err != nil {
		w.t.Fatalf("the program: %v\n%s", err, tail(out))
	}
}
