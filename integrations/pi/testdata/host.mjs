// A host for the extension, as far as it needs one: node host.mjs SHIM SCENE.
import { spawnSync } from "node:child_process";

const [shim, scene] = process.argv.slice(2);
const handlers = {};
const extension = (await import(shim)).default;
const session = { id: scene };
const ctx = { cwd: "/w", mode: "rpc", model: { provider: "acme", id: "large", apiKey: "SECRET" }, sessionManager: { getSessionId: () => session.id, getSessionFile: () => undefined } };
let odd = 0;
const emit = (name, event = {}) => {
  for (const handler of handlers[name] ?? []) {
    try {
      const out = handler({ type: name, ...event }, ctx);
      if (out !== undefined) odd++;
    } catch { odd++; }
  }
};
const load = () => {
  for (const name of Object.keys(handlers)) delete handlers[name];
  extension({ on: (name, handler) => (handlers[name] ??= []).push(handler) });
};
const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const say = (text) => emit("message_end", { message: { role: "user", content: text, timestamp: Date.now() } });

load();
if (scene === "twice") (await import(`${shim}?project`)).default({ on: (name, handler) => (handlers[name] ??= []).push(handler) });
emit("session_start", { reason: "startup" });
if (scene === "secrets") {
  emit("before_agent_start", { messageType: "user", prompt: "hello", systemPrompt: "SECRET", systemPromptOptions: { a: "SECRET" } });
  emit("before_provider_request", { payload: { model: "large", messages: [{ content: "SECRET" }], headers: { authorization: "SECRET" }, max_tokens: 7 } });
  emit("before_provider_headers", { headers: { authorization: "SECRET" } });
  emit("message_start", { message: { role: "assistant", provider: "acme", model: "large", timestamp: 5, stopReason: "pending" } });
  for (const delta of ["one ", "two ", "three"]) emit("message_update", { message: { content: "SECRET" }, assistantMessageEvent: { type: "text_delta", delta } });
  emit("message_end", { message: { role: "system", content: "SECRET" } });
  emit("message_end", { message: { role: "toolResult", toolCallId: "c", content: "SECRET" } });
  emit("tool_execution_end", { toolCallId: "c", result: { content: [], details: { diff: "SECRET" }, structuredContent: { output: "SECRET", exit_code: 3 } } });
  emit("agent_end", { messages: ["SECRET"] });
}
if (scene === "odd") { // nothing of this is what it should be
  for (const name of Object.keys(handlers)) {
    for (const event of [undefined, null, 7, {}, { message: null }, { get message() { throw new Error("no"); } }, { result: 3, payload: "x" }]) {
      for (const handler of handlers[name]) {
        if (name === "session_start" || name === "session_shutdown") continue;
        try { if (handler(event, ctx) !== undefined) odd++; handler(event, undefined); } catch { odd++; }
      }
    }
  }
  const loop = {}; loop.self = loop;
  emit("tool_execution_start", { args: loop });
}
if (scene === "flood") {
  const from = performance.now();
  for (let i = 0; i < 400; i++) say("x".repeat(64 << 10));
  process.stdout.write(`flood ${Math.round(performance.now() - from)}\n`);
  await rest(3000);
  say("after the flood");
}
if (scene === "family") spawnSync(process.execPath, [process.argv[1], shim, "child"], { stdio: "inherit" });
if (scene === "child") spawnSync(process.execPath, [process.argv[1], shim, "grandchild"], { stdio: "inherit" });
if (scene === "again") { // /new loads the extension anew in the same process
  say("first");
  emit("session_shutdown", { reason: "new" });
  session.id = "second";
  load();
  emit("session_start", { reason: "new" });
  say("second");
}
say("last");
emit("session_shutdown", { reason: "quit" });
process.stdout.write(`odd ${odd}\n`);
