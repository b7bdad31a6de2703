// Made from the shim of `tracesmith install opencode`: change that one.
// It hands what OpenCode tells its plugins to the program below, a line of JSON for each
// event, and does nothing else: it waits for nothing while a session goes on, throws
// nothing, and opens no connection.
import { spawn } from "node:child_process";

const command = ["tracesmith","hook","opencode","--stream"];
const room = 8 * 1024 * 1024; // characters that may wait for the pipe; more are dropped and counted
const gather = 200; // milliseconds for which pieces of a reply are put together
const patience = 5000; // milliseconds that the end of OpenCode waits for the program's

const wanted = new Set([
  "session.created", "session.updated", "session.deleted", "session.error", "session.idle", "session.status",
  "message.updated", "message.part.updated", "message.part.delta", "permission.asked", "permission.replied",
]);

// One program for all projects that this process serves, and one copy of this file for
// each of them: the user and the project may both have it.
const state = (globalThis[Symbol.for("tracesmith.opencode")] ??= { users: 0, copies: new Map(), child: undefined, waiting: 0, lost: 0, pieces: new Map(), running: new Map(), timer: undefined });

const quietly = (f) => (...args) => {
  try {
    f(...args);
  } catch {}
};

function start() {
  if (state.child && !state.child.gone) return;
  const child = spawn(command[0], command.slice(1), { detached: true, windowsHide: true, stdio: ["pipe", "ignore", "ignore"] });
  state.child = child;
  state.waiting = 0;
  const gone = () => (child.gone = true);
  child.on("error", gone);
  child.on("exit", gone);
  child.stdin.on("error", gone);
  child.unref();
  child.stdin.unref?.();
}

function write(line) {
  const child = state.child;
  if (!child || child.gone) return;
  if (state.lost > 0) line.lost = state.lost;
  const text = JSON.stringify(line) + "\n";
  if (state.waiting > 0 && state.waiting + text.length > room) {
    state.lost++;
    return;
  }
  state.lost = 0;
  state.waiting += text.length;
  child.stdin.write(text, () => (state.waiting -= text.length));
}

function flush() {
  clearTimeout(state.timer);
  state.timer = undefined;
  const pieces = [...state.pieces.values()];
  state.pieces.clear();
  pieces.forEach(write);
}

function send(line) {
  flush();
  write(line);
}

// The pieces of a reply come by the token.
function piece(dir, properties) {
  const known = state.pieces.get(properties.partID);
  const inner = known?.input.event.properties;
  if (inner?.field === properties.field) inner.delta += properties.delta;
  else {
    if (known) flush();
    state.pieces.set(properties.partID, { t: Date.now(), dir, hook: "event", input: { event: { type: "message.part.delta", properties: { ...properties } } } });
  }
  if (!state.timer) {
    state.timer = setTimeout(quietly(flush), gather);
    state.timer.unref?.();
  }
}

// A tool that runs is told of again whenever its output grows.
function known(part) {
  if (part?.type !== "tool") return false;
  if (part.state.status !== "running") {
    state.running.delete(part.id);
    return false;
  }
  const now = `${part.state.title}\n${part.state.metadata?.sessionId}`;
  if (state.running.get(part.id) === now) return true;
  if (state.running.size > 1000) state.running.clear();
  state.running.set(part.id, now);
  return false;
}

const pick = (from, ...keys) => Object.fromEntries(keys.filter((key) => from?.[key] !== undefined).map((key) => [key, from[key]]));

// The answer of a provider may repeat the request, its headers and its keys.
const failure = (error) => error && { name: error.name, data: pick(error.data, "message", "statusCode") };

function reduced(type, properties) {
  switch (type) {
    case "session.created":
    case "session.updated":
    case "session.deleted":
      return { sessionID: properties.sessionID ?? properties.info?.id, info: pick(properties.info, "id", "parentID", "version", "directory", "agent", "time") };
    case "session.error":
      return { sessionID: properties.sessionID, error: failure(properties.error) };
    case "message.updated": {
      const info = pick(properties.info, "id", "sessionID", "role", "parentID", "agent", "mode", "path", "cost", "tokens", "modelID", "providerID", "model", "time", "finish");
      if (properties.info.error) info.error = failure(properties.info.error);
      if (properties.info.summary === true) info.summary = true;
      return { sessionID: properties.sessionID ?? info.sessionID, info };
    }
  }
  return properties;
}

export const Tracesmith = async ({ directory }) => {
  const hooks = {};
  quietly(() => {
    const dir = directory;
    if ((state.copies.get(dir) ?? import.meta.url) !== import.meta.url) return;
    state.copies.set(dir, import.meta.url);
    start();
    state.users++;
    hooks.event = quietly(({ event }) => {
      if (!wanted.has(event.type)) return;
      if (event.type === "session.status" && event.properties.status?.type !== "retry") return;
      if (event.type === "message.part.updated" && known(event.properties.part)) return;
      if (event.type === "message.part.delta") return piece(dir, event.properties);
      send({ t: Date.now(), dir, hook: "event", input: { event: { type: event.type, properties: reduced(event.type, event.properties) } } });
    });
    hooks["chat.message"] = quietly((input, output) => send({ t: Date.now(), dir, hook: "chat.message", input: pick(input, "sessionID"), output: pick(output, "message", "parts") }));
    // input.provider holds the user's key: only what is named here goes on.
    hooks["chat.params"] = quietly((input, output) =>
      send({ t: Date.now(), dir, hook: "chat.params", input: pick(input, "sessionID", "agent"), output: pick(output, "temperature", "topP", "topK", "maxOutputTokens") }),
    );
    hooks.dispose = () => end(dir);
  })();
  return hooks;
};

// OpenCode ends, or lets go of a project. The last one closes the pipe and gives the
// program a moment: it delivers by itself where nothing would outlive this process.
async function end(dir) {
  let timer;
  try {
    flush();
    state.copies.delete(dir);
    const child = state.child;
    if (--state.users > 0 || !child) return;
    state.child = undefined;
    if (child.gone) return;
    const ended = new Promise((resolve) => {
      child.on("exit", resolve);
      child.on("error", resolve);
      child.stdin.on("error", resolve);
      timer = setTimeout(resolve, patience);
    });
    child.ref();
    child.stdin.end();
    await ended;
  } catch {
  } finally {
    clearTimeout(timer);
  }
}
