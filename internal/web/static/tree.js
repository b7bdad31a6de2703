// The tree of runs beside a waterfall of their time: one treegrid, so that a screen
// reader hears a run's time with its name.

import { state, stateBadge, tag, tokensTitle } from "./badge.js";
import { el, place } from "./dom.js";
import { count, duration, plural, whole } from "./format.js";
import { SHADES } from "./model.js";
import { VirtualList } from "./vlist.js";

const ROW = 30; // pixels, as in turn.css
const DEEP = 8; // levels that are indented; below, a number says how deep
const MANY = 50; // siblings beyond which a parent starts folded

export class Tree {
  // chosen(node) is called when another run becomes the active one.
  constructor(chosen) {
    this.chosen = chosen;
    this.folded = new Set();
    this.seen = new Set();
    this.axis = el("div", { class: "axis", "aria-hidden": "true" });
    this.when = el("span", { class: "hidden" }, "When");
    const head = el("div", { class: "trow thead", role: "row" },
      el("div", { role: "columnheader", class: "tname" }, "Run"),
      el("div", { role: "columnheader", class: "ttokens" }, "Tokens"),
      el("div", { role: "columnheader", class: "ttime" }, "Time"),
      el("div", { role: "columnheader", class: "lane" }, this.when, this.axis));
    this.rows = el("div", { role: "rowgroup" });
    this.node = el("div", { class: "tree scroller", role: "treegrid", "aria-label": "Runs of this turn", "aria-readonly": "true" }, head, this.rows);
    this.list = new VirtualList({
      scroller: this.node, body: this.rows, rowHeight: ROW, key: (n) => n.id,
      render: (node) => this.#row(node), version: (node) => this.#version(node),
    });
    this.rows.addEventListener("focusin", () => this.#picked());
    this.rows.addEventListener("click", (event) => this.#clicked(event));
  }

  set(model) {
    this.model = model;
    for (const node of model.order) {
      if (!this.seen.has(node.id) && node.children.length > MANY) this.folded.add(node.id);
      this.seen.add(node.id);
    }
    this.#ticks();
    this.#fill();
  }

  #fill() {
    const visible = this.model.visible(this.folded);
    this.node.setAttribute("aria-rowcount", visible.length + 1);
    this.list.set(visible);
  }

  // ticks draws the axis, and what is left out of it over every lane.
  #ticks() {
    const { axis } = this.model;
    const ticks = axis.ticks();
    const breaks = axis.breaks();
    this.axis.replaceChildren(...ticks.map(({ at, words }) => mark("", at, 0, words)),
      ...breaks.map(({ left, width, words }) => mark("break", left, width, "≈", words)));
    this.when.textContent = ["When", ...breaks.map((b) => `${b.words}, in which nothing ran`)].join("; ");
    const lines = ticks.map(({ at }) => `linear-gradient(var(--line) 0 0) ${at.toFixed(2)}% 0 / 1px 100% no-repeat`);
    // A hole is the middle of a break, so that a bar that spans it is seen on both sides.
    const holes = breaks.map(({ left, width }) => `var(--hole) ${(((left + width * 0.35) / (100 - width * 0.3)) * 100).toFixed(2)}% 0 / ${(width * 0.3).toFixed(2)}% 100% no-repeat`);
    this.node.style.setProperty("--lines", lines.join(", ") || "none");
    this.node.style.setProperty("--holes", holes.join(", ") || "none");
  }

  #version(node) {
    const { run } = node;
    return [run.end, run.error, run.interrupted, node.children.length, this.folded.has(node.id), node.depth,
      node.all?.input, node.all?.output, node.failed, this.model.axis.key()].join("|");
  }

  #row(node) {
    const { run } = node;
    const parent = node.children.length > 0;
    const open = parent && !this.folded.has(node.id);
    const kind = SHADES[node.shade];
    const long = node.until - node.begin;
    const name = el("div", { role: "gridcell", class: "tname" },
      el("span", { class: `twisty ${parent ? "" : "none"}`, "aria-hidden": "true" }, open ? "▾" : "▸"),
      node.depth - 1 > DEEP ? el("span", { class: "hint", "aria-hidden": "true", title: "levels deep" }, String(node.depth)) : null,
      el("span", { class: `glyph ${node.shade}`, "aria-hidden": "true" }, kind.glyph),
      state(run).name === "done" ? null : stateBadge(run),
      el("span", { class: "label" }, label(run)),
      hint(run) ? el("span", { class: "hint" }, hint(run)) : null,
      this.folded.has(node.id) ? tag(`${node.children.length} folded${node.failed ? `, ${plural(node.failed, "error")}` : ""}`) : null,
      chip(node));
    name.style.setProperty("--depth", Math.min(node.depth - 1, DEEP));
    return el("div", {
      role: "row", class: `trow ${node.shade} ${state(run).name}`, "data-row": true,
      "aria-level": node.depth, "aria-setsize": node.parent ? node.parent.children.length : this.model.roots.length,
      "aria-expanded": parent ? String(open) : null, "data-id": node.id,
      "aria-label": spoken(node, kind.word, long),
    }, name,
    el("div", { role: "gridcell", class: "ttokens", title: tokensTitle(node.shade === "model" ? run.tokens : node.own) }, tokens(node)),
    el("div", { role: "gridcell", class: "ttime" }, duration(long)),
    el("div", { role: "gridcell", class: "lane" }, this.#bars(node)));
  }

  // bars: waiting for a person comes first in a tool's time, in a shade of its own.
  #bars(node) {
    const { run } = node;
    if (Number.isNaN(node.begin)) return [];
    const at = (t) => this.model.axis.at(t);
    const bars = [];
    const wait = Math.min(run.waiting_ms || 0, node.until - node.begin);
    if (wait > 0) {
      const bar = el("span", { class: "bar waiting", title: `waiting for permission: ${duration(wait)}` });
      place(bar, at(node.begin), at(node.begin + wait) - at(node.begin));
      bars.push(bar);
    }
    const bar = el("span", { class: `bar ${node.shade} ${state(run).name}`, title: `${label(run)}: ${duration(node.until - node.begin - wait)}` });
    place(bar, at(node.begin + wait), at(node.until) - at(node.begin + wait));
    bars.push(bar);
    if (typeof run.ttft_ms === "number" && run.ttft_ms > 0 && run.ttft_ms < node.until - node.begin) {
      const mark = el("span", { class: "first", title: `first token after ${duration(run.ttft_ms)}` });
      place(mark, at(node.begin + run.ttft_ms), 0);
      bars.push(mark);
    }
    return bars;
  }

  #picked() {
    const node = this.model.nodes.get(this.list.active);
    for (const row of this.rows.children) row.setAttribute("aria-selected", String(row.dataset.id === this.list.active));
    if (node && node.id !== this.last) {
      this.last = node.id;
      this.chosen(node);
    }
  }

  #clicked(event) {
    const row = event.target.closest("[data-id]");
    if (row && event.target.closest(".twisty")) this.fold(row.dataset.id, !this.folded.has(row.dataset.id));
  }

  fold(id, fold) {
    const node = this.model.nodes.get(id);
    if (!node || node.children.length === 0 || this.folded.has(id) === fold) return false;
    if (fold) this.folded.add(id);
    else this.folded.delete(id);
    this.#fill();
    return true;
  }

  // left folds, or goes to the parent; right unfolds, or goes to the first child.
  left() {
    const node = this.model.nodes.get(this.list.active);
    if (node && !this.fold(node.id, true) && node.parent) this.show(node.parent.id);
  }

  right() {
    const node = this.model.nodes.get(this.list.active);
    if (node && !this.fold(node.id, false) && node.children.length > 0) this.show(node.children[0].id);
  }

  // show makes a run the active one, unfolding what hides it.
  show(id, options) {
    const node = this.model.nodes.get(id);
    if (!node) return;
    let hidden = false;
    for (let up = node.parent; up; up = up.parent) hidden = this.folded.delete(up.id) || hidden;
    if (hidden) this.#fill();
    this.list.go(this.list.items.indexOf(node), options);
    this.#picked();
  }
}

function mark(className, left, width, text, title) {
  const node = el("span", { class: className, title }, text);
  place(node, left, width);
  return node;
}

export function label(run) {
  return run.tool?.name || run.name || run.run_type;
}

// hint says a little more of a run than its name.
function hint(run) {
  if (run.run_type === "llm") return run.model || "";
  return run.metadata?.ls_subagent_type || run.metadata?.compaction_trigger || "";
}

function tokens(node) {
  const t = node.shade === "model" ? node.run.tokens : node.own;
  return t ? `${count(t.input)}→${count(t.output)}` : "";
}

// chip is what the subagents below a run took beside its own.
function chip(node) {
  if (!node.agents || !node.spawned) return null;
  const { spawned } = node;
  return el("span", {
    class: "badge spawned",
    title: `own: ${whole(node.own?.input)} in, ${whole(node.own?.output)} out\nin ${plural(node.agents, "subagent")}: ${whole(spawned.input)} in, ${whole(spawned.output)} out`,
  }, `+${count((spawned.input ?? 0) + (spawned.output ?? 0))} in ${plural(node.agents, "agent")}`);
}

function spoken(node, kind, long) {
  const t = node.shade === "model" ? node.run.tokens : node.own;
  const parts = [`${kind} ${label(node.run)}`, hint(node.run), state(node.run).name === "done" ? "" : state(node.run).word, duration(long)];
  if (t) parts.push(`${whole(t.input)} tokens in, ${whole(t.output)} out`);
  if (node.run.waiting_ms > 0) parts.push(`waited ${duration(node.run.waiting_ms)} for permission`);
  if (node.failed) parts.push(`${plural(node.failed, "error")} below`);
  return parts.filter(Boolean).join(", ");
}
