// The two long lists: threads, and turns of all threads.

import { el } from "./dom.js";
import { asked, Filters, pick } from "./filters.js";
import { plural } from "./format.js";
import { Pages } from "./pages.js";
import { rowHeight, shell, threadRow, turnRow } from "./rows.js";
import { VirtualList } from "./vlist.js";

const LISTS = {
  threads: { path: "threads", title: "Threads", sums: true, key: (t) => t.id, render: threadRow },
  turns: { path: "turns", title: "Turns", key: (t) => t.trace_id, render: (turn) => turnRow(turn, true) },
};

// list shows one of them until it is stopped.
export function list(name, root, params, { address }) {
  const kind = LISTS[name];
  const { scroller, rows, note } = shell(kind.title);
  const filters = new Filters(pick(params), (chosen) => {
    address(name, chosen);
    scroller.scrollTop = 0;
    pages.ask(asked(chosen));
  });
  const view = new VirtualList({
    scroller, body: rows, rowHeight, key: kind.key, render: kind.render,
    version: (item) => JSON.stringify(item), near: () => pages.more(),
  });
  const pages = new Pages({
    path: kind.path, of: (answer) => answer[kind.path] || [], key: kind.key, sums: kind.sums,
    shown: (items, answer) => {
      filters.facets(answer.facets);
      view.set(items);
      note.classList.remove("failed");
      note.textContent = told(items, pages.next, filters.filters, name);
    },
    failed: (error) => {
      note.classList.add("failed");
      note.textContent = `Cannot load ${name}: ${error.message}`;
    },
  });
  root.append(el("div", { class: "page list" }, el("h1", { class: "hidden" }, kind.title), filters.node, scroller));
  note.textContent = "Loading…";
  pages.ask(asked(filters.filters));
  return {
    title: kind.title, list: view,
    search: () => filters.focus(),
    changed: (ids, gone) => pages.refresh(gone),
    stop: () => {
      filters.stop();
      pages.stop();
      view.stop();
    },
  };
}

function told(items, next, filters, name) {
  if (items.length === 0) {
    return Object.keys(filters).length > 0 ? `No ${name} match. Esc, then Clear, shows all.`
      : "Nothing recorded yet. tracesmith install registers the hooks; the next turn shows up here by itself.";
  }
  return next ? "Loading more…" : `${plural(items.length, name.slice(0, -1))} in all`;
}
