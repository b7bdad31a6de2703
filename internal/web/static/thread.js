// One thread: what was asked, in order.

import { costBadge, failedSteps, failedTurns, tag, tokensBadge } from "./badge.js";
import { el } from "./dom.js";
import { duration, plural, repoName, when } from "./format.js";
import { Pages } from "./pages.js";
import { rowHeight, shell, turnRow } from "./rows.js";
import { VirtualList } from "./vlist.js";

export function thread(id, root) {
  const { scroller, rows, note } = shell("Prompts of this thread");
  const head = el("header", { class: "head" });
  const view = new VirtualList({
    scroller, body: rows, rowHeight, key: (t) => t.trace_id, render: (turn) => turnRow(turn, false),
    version: (turn) => JSON.stringify(turn), near: () => pages.more(),
  });
  const pages = new Pages({
    path: `threads/${encodeURIComponent(id)}`, of: (answer) => answer.turns || [], key: (t) => t.trace_id, grows: "end",
    shown: (items, answer) => {
      if (answer.thread) head.replaceChildren(...heading(answer.thread));
      view.set(items);
      note.classList.remove("failed");
      note.textContent = pages.next ? "Loading more…" : `${plural(items.length, "turn")} in all`;
    },
    failed: (error) => {
      if (error.gone) {
        head.replaceChildren();
        view.set([]);
      }
      note.classList.add("failed");
      note.textContent = error.gone ? "This thread is not in the store: it was forgotten, or had to make room." : `Cannot load the thread: ${error.message}`;
    },
  });
  root.append(el("div", { class: "page list" }, head, scroller));
  note.textContent = "Loading…";
  pages.ask({});
  return {
    title: "Thread", list: view, up: "#/threads",
    prompt: (by) => view.move(by),
    changed: (ids, gone) => pages.refresh(gone),
    stop: () => {
      pages.stop();
      view.stop();
    },
  };
}

function heading(thread) {
  return [
    el("nav", { class: "crumbs", "aria-label": "Where this is" }, el("a", { href: "#/threads" }, "Threads"), " › "),
    el("h1", {}, thread.title || "(no prompt recorded)"),
    el("p", { class: "facts" },
      el("span", { class: "agent" }, thread.agent),
      thread.repo ? el("span", { class: "where" }, repoName(thread.repo)) : null,
      thread.branch ? el("span", { class: "where" }, thread.branch) : null,
      el("span", {}, plural(thread.turns, "turn")), tokensBadge(thread.tokens),
      el("span", { class: "num" }, duration(thread.duration_ms)),
      costBadge(thread), failedTurns(thread.errors), failedSteps(thread.failed_steps), thread.running ? tag("running", "running") : null,
      el("span", {}, when(thread.start)),
      el("span", { class: "id", title: "thread id" }, thread.id)),
  ];
}
