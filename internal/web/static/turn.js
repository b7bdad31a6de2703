// One turn: what was asked, what failed, the tree with its waterfall, and the run chosen.

import { exportPath, get } from "./api.js";
import { costBadge, state, stateBadge, sum, tag, tokensText, tokensTitle } from "./badge.js";
import { growth, patterns } from "./context.js";
import { el, outLink, say } from "./dom.js";
import { count, duration, exactly, firstLine, gist, plural, repoName, when } from "./format.js";
import { Model, SHADES } from "./model.js";
import { neighbours } from "./neighbours.js";
import { threadLink, turnLink } from "./rows.js";
import { RunPanel } from "./run.js";
import { label, Tree } from "./tree.js";

const SHOWN = 4; // errors named at the top

export function turn(id, root, params, { address }) {
  return new TurnPage(id, root, params, address);
}

class TurnPage {
  constructor(id, root, params, address) {
    Object.assign(this, { id, address, title: "Turn", abort: new AbortController(), wanted: params.get("run") });
    this.head = el("header", { class: "head" }, el("p", { class: "note" }, "Loading…"));
    this.tree = new Tree((node) => this.#chose(node));
    this.panel = new RunPanel(id, (run) => this.tree.show(run));
    this.list = this.tree.list;
    this.node = el("div", { class: "page turn-page" }, patterns(), this.head,
      el("div", { class: "split" },
        el("section", { class: "left", "aria-label": "Tree and waterfall" }, this.tree.node, key()),
        this.panel.node));
    root.append(this.node);
    this.#load();
  }

  // load asks anew. Of two questions under way the later one counts.
  async #load() {
    const question = this.question = {};
    try {
      const answer = await get(`traces/${encodeURIComponent(this.id)}`, {}, this.abort.signal);
      if (question === this.question) this.#show(answer);
    } catch (error) {
      if (this.abort.signal.aborted || question !== this.question) return;
      if (error.gone) return this.#gone();
      this.head.replaceChildren(el("p", { class: "note failed", role: "alert" }, `Cannot load the turn: ${error.message}`));
    }
  }

  #show(answer) {
    const first = !this.model;
    this.answer = answer;
    this.model = new Model(answer.runs || []);
    this.up = answer.thread?.id ? threadLink(answer.thread.id) : "#/threads";
    this.#heading();
    this.tree.set(this.model);
    if (first) {
      const start = this.model.nodes.has(this.wanted) ? this.wanted : this.model.order[0]?.id;
      if (start) this.tree.show(start, { focus: document.activeElement === document.getElementById("main") || document.activeElement === document.body });
      this.#neighbours();
    } else {
      this.panel.refresh(this.model);
    }
    clearTimeout(this.timer);
    if (this.model.running) this.timer = setTimeout(() => this.#tick(), 2000);
  }

  // gone: what was forgotten does not stay on the screen.
  #gone() {
    clearTimeout(this.timer);
    clearTimeout(this.choosing);
    this.panel.stop();
    this.node.replaceChildren(el("div", { class: "head" },
      el("nav", { class: "crumbs", "aria-label": "Where this is" }, el("a", { href: this.up || "#/threads" }, this.up ? "The thread" : "Threads")),
      el("p", { class: "note failed", role: "alert" }, "This turn is not in the store: it was forgotten, or had to make room.")));
  }

  // tick lets the bars of running runs grow.
  #tick() {
    this.model = new Model(this.answer.runs || []);
    this.tree.set(this.model);
    this.timer = setTimeout(() => this.#tick(), 2000);
  }

  #heading() {
    const { turn: t, thread, langsmith_url: smith } = this.answer;
    const top = this.model.roots[0]?.run || {};
    const errors = this.model.errors();
    const focused = this.head.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    this.chart ??= el("div", {});
    const calls = this.model.calls();
    const drawn = JSON.stringify(calls.map((c) => c.run.tokens));
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.chart.replaceChildren(...[growth(calls, (node) => this.tree.show(node.id))].filter(Boolean));
    }
    this.nav ??= el("span", { class: "neighbours" });
    this.head.replaceChildren(
      el("nav", { class: "crumbs", "aria-label": "Where this is" },
        el("a", { href: "#/threads", "data-focus": "threads" }, "Threads"), " › ",
        el("a", { href: this.up, "data-focus": "thread" }, firstLine(thread?.title || "Thread", 60)), this.nav,
        el("span", { class: "spacer" }),
        elsewhere(smith),
        el("a", { class: "button", href: exportPath(this.id), download: true, title: "One HTML file, redacted", "data-focus": "export" }, "Export HTML")),
      el("h1", {}, stateBadge(t), " ", t.title || "(no prompt recorded)"),
      this.#facts(t, thread, top, errors),
      ...[failures(errors, t, (node) => this.tree.show(node.id))].filter(Boolean), this.chart);
    if (focused) this.head.querySelector(`[data-focus="${focused}"]`)?.focus();
  }

  #facts(t, thread, top, errors) {
    const node = this.model.roots[0];
    const all = sum(this.model.roots.map((r) => r.all));
    const spawned = sum(this.model.roots.map((r) => r.spawned));
    const agents = this.model.roots.reduce((n, r) => n + r.agents, 0);
    const waiting = this.model.waiting();
    const facts = [
      el("span", { class: "agent" }, top.metadata?.ls_agent_runtime || thread?.agent || t.agent),
      t.model ? el("span", { class: "where" }, t.model) : null,
      el("time", { datetime: t.start, title: exactly(t.start) }, when(t.start)),
      el("span", { class: "num" }, node ? duration(node.until - node.begin) : null),
      el("span", {}, plural(this.model.order.length, "run")),
      all ? el("span", { title: tokensTitle(all) }, tokensText(all)) : null,
      costBadge(t),
      spawned && agents ? tag(`of it ${count((spawned.input ?? 0) + (spawned.output ?? 0))} in ${plural(agents, "agent")}`, "spawned") : null,
      waiting ? tag(`‖ ${duration(waiting)} waiting`, "waiting") : null,
      thread?.repo ? el("span", { class: "where" }, repoName(thread.repo)) : null,
      thread?.branch ? el("span", { class: "where" }, thread.branch) : null,
      errors.length > 0 ? tag(`✕ ${plural(errors.length, "error")}`, "failed") : null,
      t.interrupted ? tag("◐ interrupted", "interrupted") : null,
      this.model.running ? tag("running", "running") : null,
      t.capture_level === "metadata" ? tag("recorded without content") : null,
    ];
    return el("p", { class: "facts" }, facts);
  }

  #chose(node) {
    this.address(`turn/${encodeURIComponent(this.id)}`, node.parent ? { run: node.id } : {});
    clearTimeout(this.choosing);
    this.choosing = setTimeout(() => this.panel.show(node, this.model), 60);
  }

  async #neighbours() {
    const thread = this.answer.thread?.id;
    if (!thread) return;
    try {
      this.near = await neighbours(thread, this.id, this.abort.signal);
    } catch {
      return; // the turn stands without them
    }
    const { before, after, place } = this.near;
    this.nav.replaceChildren(...[
      before ? el("a", { href: turnLink(before.trace_id), title: `Previous prompt ([): ${before.title}`, "aria-label": "Previous prompt", "data-focus": "before" }, "‹") : null,
      el("span", {}, `prompt ${place}`),
      after ? el("a", { href: turnLink(after.trace_id), title: `Next prompt (]): ${after.title}`, "aria-label": "Next prompt", "data-focus": "after" }, "›") : null,
    ].filter(Boolean));
  }

  prompt(by) {
    const to = by < 0 ? this.near?.before : this.near?.after;
    if (to) location.hash = turnLink(to.trace_id);
    else say(by < 0 ? "This is the first prompt" : "This is the last prompt");
  }

  key(name) {
    if (name === "ArrowLeft" && this.#inTree()) return () => this.tree.left();
    if (name === "ArrowRight" && this.#inTree()) return () => this.tree.right();
    if (name === "Enter" && this.#inTree()) return () => this.panel.focus();
    if (name === "e") return () => this.#nextError();
    return null;
  }

  // back goes from the run to the tree, and reports whether there was a way.
  back() {
    if (!this.panel.node.contains(document.activeElement)) return false;
    this.list.go(this.list.activeIndex());
    return true;
  }

  #inTree() {
    return this.tree.rows.contains(document.activeElement);
  }

  #nextError() {
    const errors = this.model?.errors() || [];
    if (errors.length === 0) return say("No errors in this turn");
    const at = this.model.order.indexOf(this.model.nodes.get(this.list.active));
    const next = errors.find((node) => this.model.order.indexOf(node) > at) || errors[0];
    this.tree.show(next.id);
  }

  search() {
    this.panel.search();
  }

  changed(ids) {
    if (ids.has(this.id) || ids.has("*")) this.#load();
  }

  stop() {
    this.abort.abort();
    clearTimeout(this.timer);
    clearTimeout(this.choosing);
    this.panel.stop();
    this.list.stop();
  }
}

// elsewhere leads to the same trace in LangSmith: by way of this server, which asks for
// the address, or straight there.
function elsewhere(address) {
  const words = "Open in LangSmith ↗";
  if (!address) return null;
  if (!address.startsWith("/api/")) return outLink(address, words, "button");
  return el("a", { class: "button", href: address, target: "_blank", rel: "noopener noreferrer", "data-focus": "langsmith" }, words);
}

// failures come first on the page, each a way to its run.
function failures(errors, t, show) {
  const roots = errors.filter((node) => !node.parent);
  const list = errors.filter((node) => node.parent).concat(roots);
  if (list.length === 0 && !t.error) return null;
  const items = list.slice(0, SHOWN).map((node) => el("li", {},
    el("button", { type: "button", onclick: () => show(node), "data-focus": node.id },
      el("strong", {}, label(node.run)), " ", el("span", {}, gist(node.run.error)))));
  if (list.length === 0) items.push(el("li", {}, el("span", { class: state(t).name }, gist(t.error))));
  return el("section", { class: `failures ${list.length === 0 ? "interrupted" : ""}`, "aria-label": "Errors" },
    el("ul", {}, items),
    list.length > SHOWN ? el("p", {}, `and ${list.length - SHOWN} more: e goes through them`) : null);
}

function key() {
  return el("ul", { class: "legend shades", "aria-label": "Shades" },
    ["model", "tool", "waiting", "subagent", "compaction"].map((name) => el("li", {},
      el("span", { class: `bar ${name}`, "aria-hidden": "true" }), SHADES[name].word)));
}
