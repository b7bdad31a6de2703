package opencode

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/shimfile"
)

// node runs a script beside the shim, whose command is the one given, and returns what
// the command was told.
func node(t *testing.T, argv []string, script string) (lines []map[string]any, output string) {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("!!! SKIPPED: node is needed to try the shim")
	}
	dir := t.TempDir()
	command, err := json.Marshal(argv)
	if err != nil {
		t.Fatal(err)
	}
	text, err := shimfile.Add(shim)(nil, nil, string(command))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("shim.mjs", string(text))
	write("host.mjs", `import { Tracesmith } from "./shim.mjs";
const event = (type, properties) => ({ event: { id: "evt_1", type, properties } });
`+script)
	if out, err := exec.Command(program, "--check", filepath.Join(dir, "shim.mjs")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program, filepath.Join(dir, "host.mjs"))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the host ended with %v: %s", err, out)
	}
	told, _ := os.ReadFile(filepath.Join(dir, "told"))
	for line := range strings.Lines(string(told)) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %.200s", err, line)
		}
		lines = append(lines, l)
	}
	return lines, string(out)
}

func sink(script string) []string { return []string{"/bin/sh", "-c", script} }

const session1 = `"ses_1"`

func TestTheShimTellsWhatOpenCodeTellsIt(t *testing.T) {
	lines, _ := node(t, sink("cat > told"), `
const hooks = await Tracesmith({ directory: "/home/dev/widgets" });
await hooks.event(event("session.created", { sessionID: `+session1+`, info: { id: `+session1+`, version: "1", directory: "/d", share: { secret: "s" } } }));
await hooks["chat.message"]({ sessionID: `+session1+` }, { message: { id: "m1" }, parts: [{ type: "text", text: "hi" }] });
await hooks.event(event("file.watcher.updated", {}));
await hooks.event(event("session.status", { sessionID: `+session1+`, status: { type: "busy" } }));
await hooks["chat.params"]({ sessionID: `+session1+`, agent: "build", provider: { options: { apiKey: "the-users-key" } }, model: { headers: { "x-key": "the-users-key" } } }, { temperature: 0.5, options: { apiKey: "the-users-key" } });
await hooks.event(event("message.updated", { sessionID: `+session1+`, info: { id: "m2", role: "assistant", error: { name: "APIError", data: { message: "no", responseHeaders: { k: "the-users-key" }, responseBody: "the-users-key" } } } }));
for (const delta of ["a", "b", "c"]) await hooks.event(event("message.part.delta", { sessionID: `+session1+`, messageID: "m2", partID: "p1", field: "text", delta }));
await hooks.event(event("session.idle", { sessionID: `+session1+` }));
await hooks.dispose();
`)
	var names []string
	for _, l := range lines {
		name := l["hook"].(string)
		if name == "event" {
			name = l["input"].(map[string]any)["event"].(map[string]any)["type"].(string)
		}
		names = append(names, name)
		if l["dir"] != "/home/dev/widgets" || l["t"].(float64) <= 0 {
			t.Errorf("%v", l)
		}
	}
	want := "session.created chat.message chat.params message.updated message.part.delta session.idle"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("told %s, want %s", got, want)
	}
	raw, _ := json.Marshal(lines)
	if strings.Contains(string(raw), "the-users-key") {
		t.Errorf("a secret left the process: %s", raw)
	}
	if !strings.Contains(string(raw), `"delta":"abc"`) || !strings.Contains(string(raw), `"temperature":0.5`) {
		t.Errorf("told %s", raw)
	}
}

// A command's output grows by the line; what it has printed is in its end.
func TestTheShimTellsOfARunningToolOnce(t *testing.T) {
	lines, _ := node(t, sink("cat > told"), `
const hooks = await Tracesmith({ directory: "/d" });
const part = (state) => event("message.part.updated", { sessionID: "s", part: { id: "p", type: "tool", tool: "bash", callID: "c", state } });
hooks.event(part({ status: "pending", input: {} }));
for (let i = 0; i < 100; i++) hooks.event(part({ status: "running", input: { command: "make" }, metadata: { output: "x".repeat(i) } }));
hooks.event(part({ status: "running", input: {}, metadata: { sessionId: "child" } }));
hooks.event(part({ status: "completed", input: {}, output: "all" }));
hooks.event(part({ status: "completed", input: {}, output: "all" }));
await hooks.dispose();
`)
	if len(lines) != 5 {
		t.Errorf("%d lines, want 5", len(lines))
	}
}

func TestTheShimIsSilentWithoutItsProgram(t *testing.T) {
	for name, argv := range map[string][]string{
		"missing": {"/nonexistent/tracesmith", "hook"}, "damaged": {"/dev/null"}, "ends at once": sink("exit 3"), "closes its input": sink("exec <&-; sleep 1"),
	} {
		_, out := node(t, argv, `
const hooks = await Tracesmith({ directory: "/d" });
for (let i = 0; i < 50; i++) {
  await hooks.event(event("session.idle", { sessionID: "s", text: "x".repeat(10000) }));
  if (i % 10 === 0) await new Promise((r) => setTimeout(r, 20));
}
await hooks.dispose();
`)
		if out != "" {
			t.Errorf("%s: the user saw %q", name, out)
		}
	}
}

func TestTheShimNeverThrows(t *testing.T) {
	_, out := node(t, sink("cat > told"), `
const hooks = await Tracesmith({ directory: "/d" });
const circular = { id: "p" }; circular.self = circular;
for (const bad of [undefined, null, {}, { event: null }, { event: { type: "message.updated" } }, event("message.part.updated", { part: circular }), event("message.part.delta"), event("session.status", {})]) {
  for (const name of ["event", "chat.message", "chat.params"]) hooks[name](bad, bad);
}
await hooks.dispose();
await hooks.dispose();
`)
	if out != "" {
		t.Errorf("the user saw %q", out)
	}
}

// A program that does not read must cost the host neither time nor memory without
// bound, and what is dropped is told with the first line that goes through again.
func TestTheShimDropsAndCountsWhenThePipeIsFull(t *testing.T) {
	lines, out := node(t, sink("while ! [ -e read ]; do sleep 0.05; done; cat > told"), `
const hooks = await Tracesmith({ directory: "/d" });
const text = "x".repeat(1024 * 1024);
for (let i = 0; i < 40; i++) hooks.event(event("message.part.updated", { sessionID: "s", part: { id: "p" + i, text } }));
const s = globalThis[Symbol.for("tracesmith.opencode")];
if (s.waiting > 9 * 1024 * 1024) console.log("holds", s.waiting);
if (s.lost < 20) console.log("lost", s.lost);
const { writeFileSync } = await import("node:fs");
writeFileSync("read", ""); // only now does the program begin to
while (s.waiting > 0) await new Promise((r) => setTimeout(r, 50));
hooks.event(event("session.idle", { sessionID: "s" }));
await hooks.dispose();
`)
	if out != "" {
		t.Error(out)
	}
	lost := 0.0
	for _, l := range lines {
		n, _ := l["lost"].(float64)
		lost += n
	}
	if len(lines)+int(lost) != 41 || lost < 20 {
		t.Errorf("%d lines arrived and %v were told as lost, of 41", len(lines), lost)
	}
}

// Its timers and its pipe keep no host alive that forgets to let go of it.
func TestTheShimKeepsNoProcessAlive(t *testing.T) {
	node(t, sink("cat > told"), `
const hooks = await Tracesmith({ directory: "/d" });
hooks.event(event("message.part.delta", { sessionID: "s", messageID: "m", partID: "p", field: "text", delta: "x" }));
setTimeout(() => { console.error("still here"); process.exit(9); }, 8000).unref();
`)
}

// One program for all the projects of a process, until the last has gone.
func TestTheShimStartsOneProgram(t *testing.T) {
	lines, _ := node(t, sink("echo '{}' >> started; cat >> told"), `
const a = await Tracesmith({ directory: "/a" });
const b = await Tracesmith({ directory: "/b" });
a.event(event("session.idle", { sessionID: "1" }));
await a.dispose();
b.event(event("session.idle", { sessionID: "2" }));
await b.dispose();
const c = await Tracesmith({ directory: "/c" });
c.event(event("session.idle", { sessionID: "3" }));
await c.dispose();
const { readFileSync } = await import("node:fs");
if (readFileSync("started", "utf8") !== "{}\n{}\n") throw new Error(readFileSync("started", "utf8"));
`)
	if len(lines) != 3 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestAProgramThatEndedIsStartedForTheNextProject(t *testing.T) {
	lines, _ := node(t, sink("[ -e started ] || { touch started; exit 1; }; cat >> told"), `
const a = await Tracesmith({ directory: "/a" });
const { existsSync } = await import("node:fs");
const s = globalThis[Symbol.for("tracesmith.opencode")];
while (!existsSync("started") || !s.child.gone) await new Promise((r) => setTimeout(r, 20));
const b = await Tracesmith({ directory: "/b" });
a.event(event("session.idle", { sessionID: "1" }));
b.event(event("session.idle", { sessionID: "2" }));
await a.dispose();
await b.dispose();
`)
	if len(lines) != 2 {
		t.Errorf("%d lines, want those of both projects", len(lines))
	}
}

// The user and a project may both have it; each of two projects may have its own.
func TestTwoCopiesOfTheShimTellOnce(t *testing.T) {
	lines, _ := node(t, sink("cat >> told"), `
const other = (await import("./shim.mjs?project")).Tracesmith;
const say = (all) => all.forEach((hooks) => hooks.event?.(event("session.idle", { sessionID: "s" })));
const first = [await Tracesmith({ directory: "/a" }), await other({ directory: "/a" }), await other({ directory: "/b" })];
say(first);
for (const hooks of first.slice(0, 2)) await hooks.dispose?.();
const again = [await other({ directory: "/a" }), await Tracesmith({ directory: "/a" })];
say(again);
for (const hooks of [...again, first[2]]) await hooks.dispose?.();
`)
	var dirs []string
	for _, l := range lines {
		dirs = append(dirs, l["dir"].(string))
	}
	if got := strings.Join(dirs, " "); got != "/a /b /a" {
		t.Errorf("told of %s", got)
	}
}

func TestTheShimHasItsPlace(t *testing.T) {
	env := func(values ...string) func(string) string {
		return func(key string) string {
			for i := 0; i < len(values); i += 2 {
				if values[i] == key {
					return values[i+1]
				}
			}
			return ""
		}
	}
	for want, got := range map[string]string{
		"/h/.config/opencode/plugins/tracesmith.js": shimPath("/h", false, env()),
		"/x/opencode/plugins/tracesmith.js":         shimPath("/h", false, env("XDG_CONFIG_HOME", "/x")),
		"/c/plugins/tracesmith.js":                  shimPath("/h", false, env("XDG_CONFIG_HOME", "/x", "OPENCODE_CONFIG_DIR", "/c")),
		"/p/.opencode/plugins/tracesmith.js":        shimPath("/p", true, env("OPENCODE_CONFIG_DIR", "/c")),
	} {
		if filepath.ToSlash(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if s := setup(); s.Shell("linux") != integrations.Argv || !s.Whole {
		t.Error("the shim needs its command as an array, and is a file of ours")
	}
}
