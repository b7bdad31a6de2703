// How a thread and a turn look in a list.

import { costBadge, failedSteps, failedTurns, state, stateBadge, tag, tokensBadge } from "./badge.js";
import { el } from "./dom.js";
import { between, duration, exactly, plural, repoName, when } from "./format.js";

export const threadLink = (id) => `#/thread/${encodeURIComponent(id)}`;
export const turnLink = (id) => `#/turn/${encodeURIComponent(id)}`;

// rowHeight is that of a row in pixels; the style sheet gives it.
export function rowHeight() {
  return parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 64;
}

function place(item) {
  return [item.agent, repoName(item.repo), item.branch].filter(Boolean).map((text, i) =>
    el("span", { class: i === 0 ? "agent" : "where" }, text));
}

// knownCost keeps rows calm: that nothing has a price is told where it is asked for.
function knownCost(item) {
  return typeof item.cost_usd === "number" ? costBadge(item) : null;
}

export function threadRow(thread) {
  const prompts = (thread.prompts || []).filter((p) => p && p !== thread.title);
  const running = thread.running;
  return el("div", { role: "listitem", class: "row thread" },
    el("a", { href: threadLink(thread.id), "data-row": true },
      stateBadge({ interrupted: false, error: thread.errors > 0, end: !running, start: true }),
      el("span", { class: "title" }, thread.title || "(no prompt recorded)",
        prompts.length > 0 ? el("span", { class: "prompts" }, prompts.map((p) => [" › ", p])) : null),
      el("span", { class: "facts" },
        place(thread), el("span", {}, plural(thread.turns, "turn")), tokensBadge(thread.tokens),
        el("span", { class: "num" }, duration(thread.duration_ms)),
        knownCost(thread),
        failedTurns(thread.errors), failedSteps(thread.failed_steps),
        thread.interrupted ? tag(`◐ ${plural(thread.interrupted === true ? 1 : thread.interrupted, "interruption")}`, "interrupted") : null,
        running ? tag("running", "running") : null),
      el("time", { datetime: thread.last, title: exactly(thread.last) }, when(thread.last))));
}

// turnRow; where: whether to say in which repository it was.
export function turnRow(turn, where) {
  const { name } = state(turn);
  return el("div", { role: "listitem", class: "row turn" },
    el("a", { href: turnLink(turn.trace_id), "data-row": true },
      stateBadge(turn),
      el("span", { class: "title" }, turn.number ? el("span", { class: "number" }, `${turn.number} `) : null,
        turn.title || "(no prompt recorded)"),
      el("span", { class: "facts" },
        where ? place(turn) : null,
        turn.model ? el("span", { class: "where" }, turn.model) : null,
        el("span", {}, plural(turn.runs, "run")), tokensBadge(turn.tokens),
        el("span", { class: "num" }, turn.end || turn.start ? duration(between(turn.start, turn.end)) : null),
        knownCost(turn),
        failedSteps(turn.failed_steps),
        turn.error ? el("span", { class: `why ${name}` }, turn.error) : null,
        turn.capture_level === "metadata" ? tag("without content") : null),
      el("time", { datetime: turn.start, title: exactly(turn.start) }, when(turn.start))));
}

// shell is what all lists stand in: a scroller, and a line that tells how it stands.
export function shell(label) {
  const scroller = el("div", { class: "scroller" });
  const rows = el("div", { role: "list", "aria-label": label });
  const note = el("p", { class: "note", role: "status" });
  scroller.append(rows, note);
  return { scroller, rows, note };
}
