// The edits that a tool call makes, as a diff. The agents name the same things
// differently; what is not known here is shown as JSON by the caller.

import { el } from "./dom.js";
import { diffLine, longText } from "./text.js";

const MOST = 1500; // lines beyond which old and new are shown one after the other

// edits returns what a call's arguments would change, or null if it edits nothing or the
// server cut a text of it, of which no diff can be made.
export function edits(name, args) {
  if (args === null || typeof args !== "object") return null;
  const file = args.file_path ?? args.path ?? args.filePath ?? args.filename;
  const found = [];
  let odd = false;
  const one = (old, now) => {
    const texts = [old ?? "", now ?? ""];
    if ((old ?? now ?? null) === null) return;
    if (texts.some((text) => typeof text !== "string")) odd = true;
    else found.push({ file, old: texts[0], now: texts[1] });
  };
  if (Array.isArray(args.edits)) for (const e of args.edits) one(...pair(e || {}));
  else one(...pair(args));
  const content = args.content ?? args.file_text ?? args.contents;
  if (found.length === 0 && file && content !== undefined && /write|create/i.test(name)) one("", content);
  const patch = [args.input, args.patch, args.diff].find((text) => typeof text === "string" && /^(\*\*\* Begin Patch|diff --git |--- )/.test(text));
  if (patch) found.push({ file, patch });
  return found.length > 0 && !odd ? found : null;
}

function pair(args) {
  return [args.old_string ?? args.old_str ?? args.oldString ?? args.oldText,
    args.new_string ?? args.new_str ?? args.newString ?? args.newText];
}

// editView shows one of them.
export function editView(edit) {
  const text = edit.patch ?? compare(edit.old, edit.now).join("\n");
  return el("figure", { class: "diff" },
    edit.file ? el("figcaption", {}, String(edit.file)) : null,
    longText(text, { className: "code", line: diffLine }));
}

// compare returns the lines of old and now, each led by " ", "-" or "+".
function compare(old, now) {
  const a = old === "" ? [] : old.replace(/\n$/, "").split("\n");
  const b = now === "" ? [] : now.replace(/\n$/, "").split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const same = (line) => ` ${line}`;
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

// middle aligns what differs by the longest common subsequence.
function middle(a, b) {
  const minus = (line) => `-${line}`;
  const plus = (line) => `+${line}`;
  if (a.length === 0 || b.length === 0 || a.length > MOST || b.length > MOST) return [...a.map(minus), ...b.map(plus)];
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i * width + j] = a[i] === b[j] ? best[(i + 1) * width + j + 1] + 1
        : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const out = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push(` ${a[i]}`);
      i++;
      j++;
    } else if (i < a.length && (j === b.length || best[(i + 1) * width + j] >= best[i * width + j + 1])) {
      out.push(minus(a[i++]));
    } else {
      out.push(plus(b[j++]));
    }
  }
  return out;
}
