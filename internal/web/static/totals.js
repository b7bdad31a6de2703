// Totals by day, repository, branch or thread, as small charts over a table.

import { get } from "./api.js";
import { knownTokens } from "./badge.js";
import { legend, patterns, PARTS, split } from "./context.js";
import { el, svg } from "./dom.js";
import { asked, Filters, pick } from "./filters.js";
import { count, dollars, duration, plural, repoName, whole } from "./format.js";
import { threadLink } from "./rows.js";

const BY = { day: "Day", repo: "Repository", branch: "Branch", thread: "Thread" };
const SHOWN = 200; // rows of the table made at first
const BARS = 60; // bars of a chart

export function totals(root, params, { address }) {
  const abort = new AbortController();
  let asking = new AbortController();
  let by = BY[params.get("by")] ? params.get("by") : "day";
  let rows = [];
  const body = el("div", { class: "scroller totals" }, el("p", { class: "note" }, "Loading…"));
  const filters = new Filters(pick(params), () => ask());
  const choices = el("div", { class: "choices", role: "group", "aria-label": "Totals by" }, Object.entries(BY).map(([name, word]) =>
    el("button", { type: "button", "aria-pressed": String(name === by), onclick: (event) => {
      by = name;
      for (const b of choices.children) b.setAttribute("aria-pressed", String(b === event.currentTarget));
      ask();
    } }, word)));
  const ask = async () => {
    address("totals", { by, ...filters.filters });
    asking.abort(); // the last question is the one that is answered
    asking = new AbortController();
    const { signal } = asking;
    try {
      const answer = await get("totals", { by, ...asked(filters.filters) }, signal);
      if (signal.aborted) return;
      rows = answer.rows || [];
      body.replaceChildren(...draw(rows, by));
    } catch (error) {
      if (!signal.aborted) body.replaceChildren(el("p", { class: "note failed", role: "alert" }, `Cannot load totals: ${error.message}`));
    }
  };
  root.append(el("div", { class: "page list" }, patterns(), el("h1", { class: "hidden" }, "Totals"), filters.node, choices, body));
  get("threads", { limit: 1 }, abort.signal).then((answer) => filters.facets(answer.facets)).catch(() => {});
  ask();
  return { title: "Totals", search: () => filters.focus(), changed: ask, stop: () => {
    filters.stop();
    abort.abort();
    asking.abort();
  } };
}

function draw(rows, by) {
  if (rows.length === 0) return [el("p", { class: "note" }, "Nothing recorded in this choice.")];
  const bars = by === "day" ? [...rows].sort((a, b) => (a.key < b.key ? -1 : 1)).slice(-BARS) : rows.slice(0, BARS);
  return [
    el("div", { class: "charts" },
      chart("Tokens by kind", bars, by, (row) => parts(row.tokens), count, true),
      chart("Tool calls", bars, by, (row) => [["tool", row.tool_calls]], count),
      chart("Failed turns", bars, by, (row) => [["failed", row.failures]], count),
      chart("Waiting for permission", bars, by, (row) => [["waiting", row.waiting_ms]], duration)),
    table(rows, by),
  ];
}

function parts(tokens) {
  if (!knownTokens(tokens)) return [];
  const of = split(tokens);
  return PARTS.map(([name]) => [name, of[name]]);
}

const WIDTH = 480;
const HEIGHT = 110;

// chart draws one bar for each row; of(row) are its parts as [class, amount].
function chart(title, rows, by, of, format, keyed) {
  const amounts = rows.map((row) => of(row).filter(([, n]) => typeof n === "number"));
  const sums = amounts.map((list) => (list.length > 0 ? list.reduce((n, [, m]) => n + m, 0) : null));
  const most = Math.max(0, ...sums);
  const all = sums.some((n) => n !== null) ? sums.reduce((a, b) => a + (b ?? 0), 0) : null;
  const step = Math.min(48, WIDTH / rows.length);
  const bars = rows.map((row, i) => {
    const x = i * step + step * 0.12;
    let y = HEIGHT;
    const g = svg("g", {}, svg("title", {}, `${keyText(row.key, by)}: ${sums[i] === null ? "not known" : format(sums[i])}`),
      svg("rect", { x: i * step, y: 0, width: step, height: HEIGHT, class: "hit" }));
    for (const [name, n] of amounts[i]) {
      const height = most > 0 ? (n / most) * (HEIGHT - 6) : 0;
      if (height <= 0) continue;
      y -= height;
      g.append(svg("rect", { x, y, width: step * 0.76, height: Math.max(height, 1), class: name, fill: keyed ? `url(#p-${name})` : null }));
    }
    return g;
  });
  return el("figure", { class: "total" },
    el("figcaption", {}, el("strong", {}, title), " ", el("span", { class: "num" }, all === null ? "not known" : `${format(all)} in all${rows.length > 1 ? `, ${format(most)} at most` : ""}`)),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + 2}`, class: "chart wide", role: "img", "aria-label": `${title} by ${BY[by].toLowerCase()}; the table below has the numbers` },
      svg("path", { d: `M0 ${HEIGHT}.5H${WIDTH}`, class: "base" }), bars),
    el("p", { class: "ends", "aria-hidden": "true" }, el("span", {}, short(keyText(rows[0].key, by))),
      rows.length * step > WIDTH / 2 ? el("span", {}, short(keyText(rows.at(-1).key, by))) : null),
    keyed ? legend() : null);
}

function short(text) {
  return text.length > 26 ? `${text.slice(0, 25)}…` : text;
}

function keyText(key, by) {
  if (!key) return "not known";
  return by === "repo" ? repoName(key) : String(key);
}

function table(rows, by) {
  const body = el("tbody", {});
  let shown = 0;
  const more = el("button", { type: "button", onclick: () => add() });
  const add = () => {
    body.append(...rows.slice(shown, shown + SHOWN).map((row) => line(row, by)));
    shown = Math.min(rows.length, shown + SHOWN);
    more.hidden = shown >= rows.length;
    more.textContent = `Show more (${rows.length - shown} left)`;
  };
  add();
  const heads = [BY[by], "Turns", "Tool calls", "Failed", "Waiting", "Input", "From cache", "Output", "Cost"];
  return el("div", { class: "table-scroll", tabindex: 0, role: "group", "aria-label": "Totals as a table" },
    el("table", { class: "numbers" }, el("thead", {}, el("tr", {}, heads.map((h) => el("th", { scope: "col" }, h)))), body), more);
}

function line(row, by) {
  const name = by === "thread" && row.key ? el("a", { href: threadLink(row.key) }, row.title || row.key) : keyText(row.key, by);
  const t = row.tokens || {};
  return el("tr", {}, el("th", { scope: "row" }, name),
    [whole(row.turns), whole(row.tool_calls), whole(row.failures), duration(row.waiting_ms), count(t.input), count(t.cache_read), count(t.output)]
      .map((text) => el("td", {}, text)),
    el("td", { class: "cost" }, cost(row)));
}

// cost names what has no price; it is never shown as nothing.
function cost(row) {
  const unpriced = row.unpriced_models || [];
  const note = unpriced.length > 0 ? el("span", { class: "badge", title: unpriced.join("\n") }, `unpriced: ${unpriced.length > 1 ? plural(unpriced.length, "model") : unpriced[0]}`) : null;
  if (row.cost_usd === null || row.cost_usd === undefined) return note || "unpriced";
  return [dollars(row.cost_usd), note ? [" + ", note] : null];
}
