// The waterfall's axis of time. Long stretches in which nothing ran, such as the night
// before somebody granted a permission, are left out and marked, so that what did run
// keeps its room.

import { duration } from "./format.js";

const BREAK = 10_000; // milliseconds that nothing runs before it can be left out
const SHARE = 0.25; // of the time that is drawn, likewise
const DRAWN = 0.1; // of it: how wide a break is
const ROOM = 0.3; // of it: how wide all breaks are together

// STEPS between ticks, in milliseconds, as clocks have them.
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400].map((s) => s * 1000)];

export class Axis {
  // nodes: a turn's runs, with begin and until; begin, end: what is to be drawn.
  constructor(nodes, begin, end) {
    Object.assign(this, { begin, end });
    const busy = union(nodes.filter(works).map((n) => [n.begin + Math.min(n.run.waiting_ms || 0, n.until - n.begin), n.until]));
    const idle = gaps(busy, begin, end);
    const breaks = left(idle, end - begin);
    const drawn = end - begin - total(breaks);
    const width = drawn * Math.min(DRAWN, ROOM / Math.max(breaks.length, 1));
    this.length = Math.max(drawn + breaks.length * width, 1);
    this.parts = [];
    let from = begin;
    let at = 0;
    const add = (to, size, broken) => {
      this.parts.push({ from, to, at, size, broken });
      from = to;
      at += size;
    };
    for (const [a, b] of breaks) {
      add(a, a - from, false);
      add(b, width, true);
    }
    add(end, end - from, false);
  }

  // at is where a moment is drawn, in hundredths of the lane.
  at(t) {
    const part = this.parts.find((p) => t <= p.to) || this.parts.at(-1);
    const share = part.to > part.from ? Math.min(Math.max((t - part.from) / (part.to - part.from), 0), 1) : 0;
    return ((part.at + share * part.size) / this.length) * 100;
  }

  breaks() {
    return this.parts.filter((p) => p.broken).map((p) => ({
      left: (p.at / this.length) * 100, width: (p.size / this.length) * 100, words: `${duration(p.to - p.from)} left out`,
    }));
  }

  // ticks are some four round times since the beginning, not too close to one another.
  ticks() {
    const step = STEPS.find((s) => s >= this.length / 4) || Math.ceil(this.length / 4 / 86_400_000) * 86_400_000;
    const ticks = [];
    for (const p of this.parts.filter((part) => !part.broken)) {
      for (let t = Math.ceil((p.from - this.begin) / step) * step; t <= p.to - this.begin; t += step) {
        const at = this.at(this.begin + t);
        const words = t === 0 ? "0" : duration(t);
        const last = ticks.at(-1);
        if (at < 88 && (!last || at - last.at > 14 && words !== last.words)) ticks.push({ at, words });
      }
    }
    return ticks;
  }

  // key is the same for axes that draw the same.
  key() {
    return `${this.begin}|${this.length}|${this.parts.length}`;
  }
}

// works: a run with others below it is as long as they are; they tell when it worked.
function works(node) {
  return !Number.isNaN(node.begin) && node.children.length === 0;
}

function total(list) {
  return list.reduce((n, [a, b]) => n + b - a, 0);
}

function union(list) {
  const out = [];
  for (const [a, b] of list.sort((x, y) => x[0] - y[0])) {
    if (out.length > 0 && a <= out.at(-1)[1]) out.at(-1)[1] = Math.max(out.at(-1)[1], b);
    else out.push([a, b]);
  }
  return out;
}

function gaps(busy, begin, end) {
  const out = [];
  let from = begin;
  for (const [a, b] of [...busy, [end, end]]) {
    if (a > from) out.push([from, a]);
    from = Math.max(from, b);
  }
  return out;
}

// left chooses what is left out: the longest first, while it is long beside the rest. A
// turn in which nothing ran is drawn whole.
function left(idle, length) {
  const out = [];
  let rest = length;
  for (const gap of [...idle].sort((a, b) => b[1] - b[0] - (a[1] - a[0]))) {
    const size = gap[1] - gap[0];
    if (size < BREAK || rest - size < 1 || size < SHARE * (rest - size)) break;
    out.push(gap);
    rest -= size;
  }
  return out.sort((a, b) => a[0] - b[0]);
}
