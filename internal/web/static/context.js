// How full the model's context was, call by call, and how much of it came from cache.

import { el, svg } from "./dom.js";
import { count, whole } from "./format.js";

const HEIGHT = 72;
const BAR = 18;
const GAP = 4;

// PARTS of a call, from the bottom of its bar up. Each has a pattern besides a colour.
export const PARTS = [
  ["cache_read", "read from cache"],
  ["cache_write", "written to cache"],
  ["fresh", "new input"],
  ["output", "output"],
];

// split divides a call's tokens into parts that add up: input holds what is cached.
export function split(tokens) {
  const input = tokens?.input ?? 0;
  const read = Math.min(tokens?.cache_read ?? 0, input);
  const write = Math.min(tokens?.cache_write ?? 0, input - read);
  return { cache_read: read, cache_write: write, fresh: input - read - write, output: tokens?.output ?? 0 };
}

// patterns are shared by all charts of a document; the style sheet colours them.
export function patterns() {
  const tile = (id, ...marks) => svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    svg("rect", { width: 6, height: 6, class: "ground" }), ...marks);
  return svg("svg", { width: 0, height: 0, class: "patterns", "aria-hidden": "true" }, svg("defs", {},
    tile("p-cache_read", svg("circle", { cx: 3, cy: 3, r: 1, class: "mark" })),
    tile("p-cache_write", svg("path", { d: "M-1 1l2-2M0 6L6 0M5 7l2-2", class: "line" })),
    tile("p-fresh"),
    tile("p-output", svg("path", { d: "M0 3h6", class: "line" }))));
}

export function legend() {
  return el("ul", { class: "legend" }, PARTS.map(([part, words]) => el("li", {},
    svg("svg", { width: 12, height: 12, "aria-hidden": "true" }, svg("rect", { width: 12, height: 12, rx: 2, class: part, fill: `url(#p-${part})` })),
    words)));
}

// growth draws the calls; picked(node) is called when one is chosen.
export function growth(calls, picked) {
  const known = calls.filter((node) => node.run.tokens);
  if (known.length === 0) return null;
  const parts = known.map((node) => split(node.run.tokens));
  const most = Math.max(1, ...parts.map(total));
  const width = known.length * (BAR + GAP) + GAP;
  const first = known[0].run.tokens.input;
  const last = known.at(-1).run.tokens.input;
  const bars = known.map((node, i) => bar(node, parts[i], i, most, picked));
  const wide = matchMedia("(min-width: 641px)").matches;
  return el("details", { class: "context", open: wide },
    el("summary", {}, "Context ", el("span", { class: "facts" }, `${count(first)} → ${count(last)} tokens over ${known.length} model calls, ${cacheShare(parts)}`)),
    el("div", { class: "context-body" }, el("div", { class: "chart-scroll", tabindex: 0, role: "group", "aria-label": "Tokens of each model call" },
      svg("svg", { width, height: HEIGHT + 14, class: "chart", role: "img", "aria-label": `Context from ${whole(first)} to ${whole(last)} tokens over ${known.length} model calls` }, bars)),
    legend()));
}

function total(p) {
  return p.cache_read + p.cache_write + p.fresh + p.output;
}

function bar(node, part, i, most, picked) {
  const x = GAP + i * (BAR + GAP);
  let y = HEIGHT;
  const g = svg("g", { class: "call", onclick: () => picked(node) },
    svg("title", {}, `call ${i + 1}\n${PARTS.map(([name, words]) => `${words}: ${whole(part[name])}`).join("\n")}`),
    svg("rect", { x, y: 0, width: BAR, height: HEIGHT, class: "hit" }));
  for (const [name] of PARTS) {
    const height = (part[name] / most) * (HEIGHT - 4);
    if (height <= 0) continue;
    y -= height;
    g.append(svg("rect", { x, y, width: BAR, height, class: name, fill: `url(#p-${name})` }));
  }
  g.append(svg("text", { x: x + BAR / 2, y: HEIGHT + 11, "text-anchor": "middle" }, String(i + 1)));
  return g;
}

function cacheShare(parts) {
  const read = parts.reduce((n, p) => n + p.cache_read, 0);
  const input = parts.reduce((n, p) => n + p.cache_read + p.cache_write + p.fresh, 0);
  return input > 0 ? `${Math.round((read / input) * 100)}% read from cache` : "cache not known";
}
