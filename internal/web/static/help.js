// The keys, in a dialog.

import { el } from "./dom.js";

const KEYS = [
  ["j k", "next, previous row"],
  ["Enter", "open it"],
  ["[ ]", "previous, next prompt of the thread"],
  ["e", "next error of the turn"],
  ["← →", "fold, unfold a run"],
  ["/", "search"],
  ["Esc", "leave the field, close, or go up"],
  ["?", "this help"],
];

export function openHelp() {
  const dialog = el("dialog", { class: "help", "aria-labelledby": "help-title" },
    el("h2", { id: "help-title" }, "Keys"),
    el("dl", {}, KEYS.map(([keys, what]) => el("div", {},
      el("dt", {}, keys.split(" ").map((k) => [el("kbd", {}, k), " "])), el("dd", {}, what)))),
    el("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close"));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
