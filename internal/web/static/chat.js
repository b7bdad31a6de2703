// Messages as a conversation: who spoke, what was said, which tools were called and
// what they answered.

import { editView, edits } from "./diff.js";
import { el } from "./dom.js";
import { bytes, firstLine, plural } from "./format.js";
import { cutOff, diffLine, isDiff, longText } from "./text.js";

const STEP = 50; // earlier messages made at once

// Chat renders the messages of a run. whole(path) fetches a string that the server
// cut: path leads to it in the run's JSON.
export function chat(messages, path, whole) {
  const list = el("ol", { class: "chat" });
  const fresh = news(messages);
  if (fresh > 0) list.append(earlier(messages.slice(0, fresh), path, whole));
  messages.slice(fresh).forEach((message, i) => list.append(messageView(message, [...path, fresh + i], whole)));
  return list;
}

// news is where the part begins that the model had not seen or said before: after the
// last assistant message, or its tool calls' results.
function news(messages) {
  if (messages.length <= 4) return 0;
  const last = messages.map((m) => m?.role).lastIndexOf("assistant");
  return last > 0 && last < messages.length - 1 ? last + 1 : messages.length - 1;
}

function earlier(messages, path, whole) {
  const item = el("li", { class: "earlier" });
  let from = messages.length;
  const button = el("button", {
    type: "button", onclick: () => {
      const to = from;
      from = Math.max(0, from - STEP);
      item.after(...messages.slice(from, to).map((m, i) => messageView(m, [...path, from + i], whole)));
      mark();
      if (from === 0) item.remove();
    },
  });
  const mark = () => { button.textContent = `Show ${from > STEP ? `${STEP} of ` : ""}${plural(from, "earlier message")}`; };
  mark();
  item.append(button);
  return item;
}

function messageView(message, path, whole) {
  const m = message !== null && typeof message === "object" ? message : { role: "unknown", content: message };
  const role = String(m.role ?? m.type ?? "unknown");
  const item = el("li", { class: `message ${/^(user|assistant|tool|system)$/.test(role) ? role : "other"}` },
    el("h4", {}, m.name ? `${role}: ${m.name}` : role, m.status && m.status !== "success" ? el("span", { class: "badge failed" }, String(m.status)) : null));
  item.append(...blocks(m.content, [...path, "content"], whole));
  if (Array.isArray(m.tool_calls)) item.append(...m.tool_calls.map((call, i) => block({ type: "tool_call", ...call }, [...path, "tool_calls", i], whole)));
  return item;
}

function blocks(content, path, whole) {
  if (content === null || content === undefined || content === "") return [];
  if (Array.isArray(content)) return content.map((part, i) => block(part, [...path, i], whole));
  return [block(content, path, whole)];
}

function block(part, path, whole) {
  if (typeof part === "string" || cutOff(part)) return said(part, path, whole);
  if (part === null || typeof part !== "object") return said(String(part), path, whole);
  const kind = String(part.type ?? "");
  if (kind === "text" && part.text !== undefined) return said(part.text, [...path, "text"], whole);
  if (/^(reasoning|thinking)$/.test(kind)) {
    const name = part.text !== undefined ? "text" : "thinking";
    return el("details", { class: "reasoning" }, el("summary", {}, "reasoning ", el("span", {}, firstLine(cutOff(part[name])?.text ?? part[name] ?? "", 90))),
      said(part[name] ?? "", [...path, name], whole));
  }
  if (/tool_call|tool_use/.test(kind)) return callView(part, path, whole);
  if (typeof part.data === "string" || part.source || part.image_url) return el("p", { class: "note" }, `${kind || "attachment"}, ${bytes(JSON.stringify(part).length)}: see JSON`);
  return jsonView(part);
}

function said(text, path, whole) {
  return longText(text, { className: "prose", whole: () => whole(path), line: isDiff(text) ? diffLine : undefined });
}

function callView(part, path, whole) {
  const at = [["args"], ["input"]].find(([key]) => (part[key] ?? null) !== null) ?? ["function", "arguments"];
  const args = at.reduce((value, key) => value?.[key], part);
  const name = String(part.name ?? part.function?.name ?? "tool");
  return el("div", { class: "call-view" },
    el("h5", {}, el("span", { class: "glyph tool", "aria-hidden": "true" }, "▪ "), name),
    argsView(name, args, [...path, ...at], whole));
}

// argsView shows a tool's arguments: an edit as a diff, a command as one, the rest as
// names and values.
export function argsView(name, args, path, whole) {
  const changes = edits(name, args);
  if (changes) return el("div", {}, changes.map(editView));
  if (args === null || typeof args !== "object" || Array.isArray(args) || cutOff(args)) {
    return args === undefined || args === null ? el("p", { class: "note" }, "no arguments") : valueView(args, path, whole);
  }
  const rows = Object.entries(args).map(([key, value]) => {
    const command = /^(command|cmd|script)$/.test(key);
    return el("div", { class: command ? "command" : "" }, el("dt", {}, key), el("dd", {}, valueView(value, [...path, key], whole, command ? "code" : "")));
  });
  return rows.length > 0 ? el("dl", { class: "args" }, rows) : el("p", { class: "note" }, "no arguments");
}

// valueView shows any value: text as text, the rest as JSON.
export function valueView(value, path, whole, className = "code") {
  if (typeof value === "string" || cutOff(value)) {
    return longText(value, { className, whole: () => whole(path), line: isDiff(value) ? diffLine : undefined });
  }
  return jsonView(value);
}

export function jsonView(value) {
  return longText(JSON.stringify(value, null, 2) ?? "", { className: "code json" });
}
