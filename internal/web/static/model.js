// A turn's runs as a tree, with what follows from it: order, depth, time, tokens.

import { Axis } from "./axis.js";
import { knownTokens, sum } from "./badge.js";
import { millis } from "./format.js";

// shade is how a run is drawn: model, tool, subagent, compaction, turn.
export function shade(run) {
  if (run.run_type === "llm") return "model";
  if (run.run_type === "tool") return "tool";
  if (run.metadata?.ls_agent_type === "compaction") return "compaction";
  if (run.kind === "subagent") return "subagent";
  return run.parent_id ? "step" : "root";
}

export const SHADES = {
  model: { glyph: "◆", word: "model" },
  tool: { glyph: "▪", word: "tool" },
  waiting: { glyph: "‖", word: "waiting for permission" },
  compaction: { glyph: "≋", word: "compaction" },
  subagent: { glyph: "◇", word: "subagent" },
  step: { glyph: "○", word: "step" },
  root: { glyph: "●", word: "turn" },
};

export class Model {
  constructor(runs) {
    for (const run of runs) run.tokens = knownTokens(run.tokens);
    this.nodes = new Map(runs.map((run) => [run.id, { run, id: run.id, children: [], shade: shade(run) }]));
    this.roots = [];
    for (const node of this.nodes.values()) {
      node.parent = this.nodes.get(node.run.parent_id) || null;
      node.begin = millis(node.run.start);
      node.end = node.run.end ? millis(node.run.end) : NaN;
      (node.parent ? node.parent.children : this.roots).push(node);
    }
    this.order = [];
    for (const root of this.roots) this.#walk(root);
    for (const node of this.nodes.values()) if (!node.depth) this.#uproot(node);
    for (const node of [...this.order].reverse()) this.#total(node);
    this.#span();
  }

  // uproot opens a circle that a bad trace has in it: no root leads there.
  #uproot(node) {
    node.parent.children = node.parent.children.filter((child) => child !== node);
    node.parent = null;
    this.roots.push(node);
    this.#walk(node);
  }

  // walk goes down without recursion, so that no depth overflows the stack.
  #walk(root) {
    const stack = [[root, 1]];
    while (stack.length > 0) {
      const [node, depth] = stack.pop();
      node.depth = depth;
      this.order.push(node);
      node.children.sort((a, b) => a.begin - b.begin || (a.id < b.id ? -1 : 1));
      node.children.forEach((child, i) => { child.place = i + 1; });
      for (const child of [...node.children].reverse()) stack.push([child, depth + 1]);
    }
  }

  // own: tokens of the agent's own model calls; spawned: those of the subagents below.
  #total(node) {
    const calls = (n) => (n.shade === "model" ? [n.run.tokens] : []);
    const own = [...calls(node)];
    const spawned = [];
    node.agents = 0;
    node.failed = 0;
    for (const child of node.children) {
      node.agents += child.agents + (child.shade === "subagent" ? 1 : 0);
      node.failed += child.failed + (failed(child.run) ? 1 : 0);
      (child.shade === "subagent" ? spawned : own).push(child.own);
      spawned.push(child.spawned);
    }
    node.own = sum(own);
    node.spawned = sum(spawned);
    node.all = sum([node.own, node.spawned]);
  }

  // span is the turn's time; a run without an end goes on until now.
  #span() {
    const now = Date.now();
    this.begin = Infinity;
    this.end = -Infinity;
    this.running = false;
    for (const node of this.order) {
      if (Number.isNaN(node.begin)) continue;
      if (Number.isNaN(node.end)) {
        this.running = true;
        node.until = Math.max(now, node.begin);
      } else {
        node.until = Math.max(node.end, node.begin);
      }
      this.begin = Math.min(this.begin, node.begin);
      this.end = Math.max(this.end, node.until);
    }
    if (this.begin === Infinity) this.begin = this.end = now;
    this.axis = new Axis(this.order, this.begin, Math.max(this.end, this.begin + 1));
  }

  // visible is the order without what is folded away.
  visible(folded) {
    const out = [];
    let below = Infinity;
    for (const node of this.order) {
      if (node.depth > below) continue;
      below = folded.has(node.id) ? node.depth : Infinity;
      out.push(node);
    }
    return out;
  }

  errors() {
    return this.order.filter((node) => failed(node.run));
  }

  // calls are the model calls of the turn's own agent, in order: they share a context.
  calls() {
    return this.order.filter((node) => node.shade === "model" && !this.#within(node));
  }

  #within(node) {
    for (let up = node.parent; up; up = up.parent) {
      if (up.shade === "subagent" || up.shade === "compaction") return true;
    }
    return false;
  }

  waiting() {
    const waits = this.order.map((node) => node.run.waiting_ms).filter((ms) => typeof ms === "number");
    return waits.length > 0 ? waits.reduce((a, b) => a + b, 0) : null;
  }
}

export function failed(run) {
  return Boolean(run.error) && !run.interrupted;
}
