// Long text is shown a piece at a time, so that an output of ten megabytes never
// stops the page. Pieces are text nodes of their own and laid out only when in sight.

import { el } from "./dom.js";
import { bytes } from "./format.js";

const FIRST = 4000; // characters shown at once
const LINES = 60; // or lines, if they are fewer characters
const STEP = 64 * 1024; // characters more with each step

// A string that the server cut is an object: {"…": bytes of the whole, "text": its
// beginning}. cutOff returns both, or null for anything else.
export function cutOff(value) {
  if (value === null || typeof value !== "object" || typeof value["…"] !== "number") return null;
  return { text: String(value.text ?? value.head ?? ""), size: value["…"] };
}

// longText shows a string. line(text), if given, makes the element of one line, its
// newline included.
// whole(), if given, fetches what the server left out and resolves to all of it.
export function longText(value, { className = "", whole, line } = {}) {
  const cut = cutOff(value);
  let text = cut ? cut.text : String(value);
  let left = cut && whole ? cut.size : 0;
  let shown = 0;
  const pre = el("pre", { class: `text ${className}`, tabindex: 0 });
  const box = el("div", { class: "long" }, pre);
  const more = el("button", { type: "button", class: "more-text", onclick: () => step() });
  const note = el("span", { class: "note" });
  const foot = el("div", { class: "foot" }, more, note);
  const add = (to) => {
    const piece = text.slice(shown, to);
    pre.append(el("span", { class: piece.length > FIRST ? "piece" : null }, line ? lines(piece, line) : piece));
    shown = to;
    more.hidden = shown >= text.length && !left;
    const rest = left ? `${bytes(left)} in all` : `${bytes(text.length - shown)} more`;
    more.textContent = left && shown >= text.length ? `Load the whole (${rest})` : `Show more (${rest})`;
  };
  const step = async () => {
    if (shown >= text.length && left) {
      more.disabled = true;
      try {
        text = await whole();
        left = 0;
      } catch (error) {
        note.textContent = ` ${error.message}`;
      }
      more.disabled = false;
      if (left) return;
    }
    add(cutAt(text, Math.min(text.length, shown + STEP)));
    if (more.hidden) pre.focus();
  };
  add(begin(text));
  if (!more.hidden) box.append(foot);
  return box;
}

// begin is where the first piece ends.
function begin(text) {
  if (text.length <= FIRST + 400 && plainLines(text) <= LINES + 10) return text.length;
  let at = -1;
  for (let n = 0; n < LINES; n++) {
    const next = text.indexOf("\n", at + 1);
    if (next < 0 || next > FIRST) return cutAt(text, Math.min(FIRST, text.length));
    at = next;
  }
  return at + 1;
}

function plainLines(text) {
  let n = 1;
  for (let at = text.indexOf("\n"); at >= 0 && n < 1000; at = text.indexOf("\n", at + 1)) n++;
  return n;
}

// cutAt goes back to the end of a line if one is near, and never splits a character.
function cutAt(text, at) {
  if (at >= text.length) return text.length;
  const line = text.lastIndexOf("\n", at);
  if (line > at - 2000 && line > 0) return line + 1;
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}

function lines(piece, line) {
  const parts = piece.split("\n");
  const ended = parts.at(-1) === "";
  if (ended) parts.pop();
  return parts.map((text, i) => line(i < parts.length - 1 || ended ? `${text}\n` : text));
}

// isDiff reports whether a text is a unified diff; diffLine marks its lines.
export function isDiff(text) {
  return typeof text === "string" && /^(diff --git |--- .*\n\+\+\+ |@@ .* @@|\*\*\* Begin Patch)/m.test(text.slice(0, 4000));
}

export function diffLine(text) {
  if (/^(\+\+\+|---|diff |index |@@|\*\*\*)/.test(text)) return el("span", { class: "hunk" }, text);
  if (text.startsWith("+")) return el("ins", {}, text);
  if (text.startsWith("-")) return el("del", {}, text);
  return text;
}
