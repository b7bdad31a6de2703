// The page's start: which view an address shows, keys, theme, and news of changes.

import { about } from "./about.js";
import { el, typing } from "./dom.js";
import { openHelp } from "./help.js";
import { list } from "./lists.js";
import { listen } from "./news.js";
import { thread } from "./thread.js";
import { totals } from "./totals.js";
import { turn } from "./turn.js";

const CALM = 400; // milliseconds between two refreshes

const main = document.getElementById("main");
let view = null;

const VIEWS = {
  threads: (_, params) => list("threads", main, params, { address }),
  turns: (_, params) => list("turns", main, params, { address }),
  thread: (id) => thread(id, main),
  turn: (id, params) => turn(id, main, params, { address }),
  totals: (_, params) => totals(main, params, { address }),
};

// address notes a view's state in the page's address without going anywhere.
function address(path, params) {
  const query = new URLSearchParams(params);
  history.replaceState(null, "", `#/${path}${query.size > 0 ? `?${query}` : ""}`);
}

function show() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [name, id] = path.split("/", 2);
  view?.stop();
  main.replaceChildren();
  const make = VIEWS[name] || VIEWS.threads;
  view = make(id ? decoded(id) : "", new URLSearchParams(query || ""));
  document.title = `${view.title} – Tracesmith`;
  const top = name === "turns" || name === "totals" ? name : "threads";
  for (const a of document.querySelectorAll("[data-view]")) {
    if (a.dataset.view === top) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  main.focus({ preventScroll: true });
  about(document.getElementById("about")); // the settings may have changed
}

// decoded reads a part of the address; what somebody mistyped stands for itself.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  if (typing(event.target)) {
    if (event.key === "Escape") {
      event.target.blur();
      main.focus({ preventScroll: true });
      event.preventDefault();
    }
    return;
  }
  const act = action(event.key);
  if (!act) return;
  event.preventDefault();
  act();
}

function action(name) {
  switch (name) {
    case "?": return openHelp;
    case "/": return view.search && (() => view.search());
    case "j": return view.list && (() => view.list.move(1));
    case "k": return view.list && (() => view.list.move(-1));
    case "ArrowDown": return inList() && (() => view.list.move(1));
    case "ArrowUp": return inList() && (() => view.list.move(-1));
    case "Home": return inList() && (() => view.list.go(0));
    case "End": return inList() && (() => view.list.go(Infinity));
    case "[": return view.prompt && (() => view.prompt(-1));
    case "]": return view.prompt && (() => view.prompt(1));
    case "Escape": return () => {
      if (!view.back?.() && view.up) location.hash = view.up;
    };
    default: return view.key && view.key(name);
  }
}

function inList() {
  return view.list && (view.list.body.contains(document.activeElement) || document.activeElement === main);
}

// News come in bursts while an agent works; a view refreshes at a calm pace.
function hearNews() {
  const pending = new Set();
  const gone = new Set();
  let timer = null;
  const live = document.getElementById("live");
  const state = (on) => {
    if (!on && !live.textContent) return; // it is about to begin
    live.textContent = on ? "live" : "reconnecting…";
    live.classList.toggle("on", on);
    if (on && live.dataset.lost === "1") changed(["*"], ["*"]); // something may have been missed
    else if (on && live.dataset.lost === undefined) changed(["*"], []); // since the page asked for what it shows
    live.dataset.lost = on ? "0" : "1";
  };
  const changed = (ids, lost) => {
    for (const id of ids) pending.add(id);
    for (const id of lost) gone.add(id);
    timer ??= setTimeout(() => {
      timer = null;
      view?.changed?.(new Set([...pending, ...gone]), new Set(gone));
      pending.clear();
      gone.clear();
    }, CALM);
  };
  const abort = new AbortController();
  addEventListener("pagehide", () => abort.abort());
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
  listen(changed, state, abort.signal);
}

function theme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const names = ["auto", "light", "dark"];
  const marks = { auto: "◑", light: "☀", dark: "☾" };
  const mark = () => {
    const name = root.dataset.theme;
    button.replaceChildren(el("span", { "aria-hidden": "true" }, marks[name]));
    button.setAttribute("aria-label", `Theme: ${name}`);
    button.title = `Theme: ${name}`;
  };
  button.addEventListener("click", () => {
    root.dataset.theme = names[(names.indexOf(root.dataset.theme) + 1) % names.length];
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // It holds until the page is closed.
    }
    mark();
  });
  if (!names.includes(root.dataset.theme)) root.dataset.theme = "auto";
  mark();
}

document.getElementById("help").addEventListener("click", openHelp);
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is the view's
  main.focus();
});
addEventListener("keydown", key);
addEventListener("hashchange", show);
theme();
show();
hearNews();
