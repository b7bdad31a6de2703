// Made from the shim of `tracesmith install pi`: change that one.
import { spawn } from "node:child_process";

const command = ["tracesmith","hook","pi","--stream"];
const limit = 4 << 20; // what may wait in a full pipe; what is more is dropped, and counted
const pieces = 250; // milliseconds between two pieces of a reply
const only = Symbol.for("tracesmith.pi"); // reports whether a copy of this file tells what happens
const pick = (from, ...keys) => Object.fromEntries(keys.filter((k) => from?.[k] != null).map((k) => [k, from[k]]));
const summary = (entry) => entry && pick(entry, "id", "timestamp", "summary", "tokensBefore", "usage");

// What is sent of each event; nothing of one that is not told.
const told = {
  session_start: (e) => pick(e, "reason"),
  before_agent_start: (e) => pick(e, "messageType", "prompt"),
  before_provider_request: (e) => ({ payload: pick(e.payload, "max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p", "reasoning_effort") }),
  message_start: ({ message: m }) => m.role === "assistant" && { message: pick(m, "role", "provider", "model", "timestamp", "stopReason") },
  message_end: ({ message: m }) => m.role !== "system" && { message: m.role === "toolResult" ? pick(m, "role", "toolCallId", "toolName", "timestamp") : m },
  tool_execution_start: (e) => pick(e, "toolCallId", "parentToolCallId", "toolName", "args"),
  tool_execution_end: (e) => {
    const { content, details, structuredContent } = e.result ?? {};
    const children = Array.isArray(details?.results) && details.results.some((r) => r?.messages) ? pick(details, "results") : undefined;
    return { ...pick(e, "toolCallId", "parentToolCallId", "toolName", "isError", "durationMs"), result: { content, details: children, structuredContent: pick(structuredContent, "exit_code") } };
  },
  agent_settled: (e) => pick(e, "aborted"),
  session_before_compact: (e) => pick(e, "reason"),
  session_compact: (e) => ({ ...pick(e, "reason"), compactionEntry: summary(e.compactionEntry) }),
  session_compact_failed: (e) => pick(e, "reason", "errorMessage", "aborted"),
  session_before_tree: () => ({}),
  session_tree: (e) => ({ summaryEntry: summary(e.summaryEntry) }),
  user_bash: (e) => pick(e, "command"),
  session_shutdown: (e) => pick(e, "reason"),
};

export default function (pi) {
  let child, version, by, lost = 0, text = "", sent = 0;
  import("@earendil-works/pi-coding-agent").then((m) => { version = m.VERSION; }, () => {});
  const send = (name, event, ctx) => {
    if (!child || !event) return;
    if (child.stdin.writableLength > limit) return void lost++;
    const at = { cwd: ctx.cwd, mode: ctx.mode, sessionId: ctx.sessionManager.getSessionId(), sessionFile: ctx.sessionManager.getSessionFile(), version, model: pick(ctx.model, "provider", "id") };
    const line = JSON.stringify({ t: Date.now(), pid: process.pid, ppid: process.ppid, name, event, ctx: at, parent: by, lost: lost || undefined });
    if (line.length > 3 * limit) return void lost++;
    lost = 0;
    child.stdin.write(line + "\n");
  };
  const start = (ctx) => {
    // The user and a project may both have the extension: one of them tells.
    if (globalThis[only]?.()) return;
    globalThis[only] = () => child !== undefined;
    const session = ctx.sessionManager.getSessionId();
    let known; // what the Pi that started this one said of itself, or this one before /new
    try { known = JSON.parse(process.env.TRACESMITH_PI ?? "{}"); } catch { known = {}; }
    by = known.pid === process.ppid ? pick(known, "session", "root") : known.pid === process.pid ? known.by : undefined;
    process.env.TRACESMITH_PI = JSON.stringify({ pid: process.pid, session, root: by?.root ?? session, by });
    const c = spawn(command[0], command.slice(1), { stdio: ["pipe", "ignore", "ignore"], detached: true, windowsHide: true });
    const gone = () => { if (child === c) child = undefined; };
    c.on("error", gone).on("exit", gone);
    c.stdin.on("error", gone);
    c.unref();
    c.stdin.unref?.();
    child = c;
  };
  const on = (name, handle) => pi.on(name, (event, ctx) => { try { return handle(event, ctx); } catch { /* not the agent's affair */ } });
  for (const [name, part] of Object.entries(told)) on(name, (event, ctx) => {
    if (name === "session_start") { end(); start(ctx); }
    if (name === "message_start") [text, sent] = ["", 0];
    send(name, part(event), ctx);
    if (name === "session_shutdown") return end();
  });
  on("message_update", ({ assistantMessageEvent: e }, ctx) => {
    if (e?.type === "text_delta") text += e.delta;
    if (sent && (!text || Date.now() - sent < pieces)) return; // the first of any kind tells when it came
    send("message_update", { assistantMessageEvent: { type: "text_delta", delta: text } }, ctx);
    sent = Date.now();
    text = "";
  });
  // Only where nothing outlives the agent is the end waited for, until all is delivered.
  const end = () => {
    const c = child;
    child = undefined;
    if (!c) return;
    c.stdin.end();
    if (!/^(?!0$|false$)./i.test(process.env.CI ?? "") && process.env.TRACESMITH_UPLOAD !== "inline") return;
    return new Promise((done) => {
      const timer = setTimeout(done, 60_000);
      c.on("exit", () => { clearTimeout(timer); done(); });
      c.on("error", () => { clearTimeout(timer); done(); });
    });
  };
}
