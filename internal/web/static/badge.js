// The small signs that stand beside a turn or a run: its state, its tokens.

import { el } from "./dom.js";
import { count, dollars, plural, whole } from "./format.js";

// state of a turn or run: a word for it and a glyph, so that colour is not the only sign.
export function state(run) {
  if (run.interrupted) return { name: "interrupted", glyph: "◐", word: "interrupted" };
  if (run.error || run.kind === "error") return { name: "failed", glyph: "✕", word: "failed" };
  if (!run.end && run.start) return { name: "running", glyph: "◌", word: "running" };
  return { name: "done", glyph: "●", word: "done" };
}

export function stateBadge(run) {
  const { name, glyph, word } = state(run);
  return el("span", { class: `state ${name}`, role: "img", "aria-label": word, title: word }, glyph);
}

// failedTurns and failedSteps say how many failed: a turn may end well although a tool
// or a model call in it failed.
export function failedTurns(n) {
  return n ? el("span", { class: "badge failed" }, "✕ ", plural(n, "failed turn")) : null;
}

export function failedSteps(n) {
  return n ? el("span", { class: "badge step" }, "✕ ", plural(n, "failed step")) : null;
}

// costBadge is what a thread or turn cost where that is known. What has no price is
// named, not counted as nothing.
export function costBadge(item) {
  const models = item.unpriced_models || [];
  const unpriced = models.length > 0 ? `without ${models.join(", ")}: unpriced` : null;
  if (typeof item.cost_usd === "number") {
    return el("span", { class: "num cost", title: unpriced }, dollars(item.cost_usd), unpriced ? " + unpriced" : null);
  }
  return unpriced ? el("span", { class: "cost", title: models.join("\n") }, "unpriced") : null;
}

export function tag(text, className = "") {
  return el("span", { class: `badge ${className}` }, text);
}

// knownTokens is null where no count is known.
export function knownTokens(tokens) {
  return tokens && Object.values(tokens).some((n) => typeof n === "number") ? tokens : null;
}

// tokensText is input and output; what is cached is part of the input.
export function tokensText(tokens) {
  return tokens ? `${count(tokens.input)} in, ${count(tokens.output)} out` : "";
}

export function tokensTitle(tokens) {
  if (!tokens) return "tokens not known";
  return [["input", tokens.input], ["of it read from cache", tokens.cache_read],
    ["of it written to cache", tokens.cache_write], ["output", tokens.output]]
    .map(([name, n]) => `${name}: ${n === null || n === undefined ? "not known" : whole(n)}`).join("\n");
}

export function tokensBadge(tokens) {
  if (!knownTokens(tokens)) return null;
  return el("span", { class: "tokens", title: tokensTitle(tokens) }, tokensText(tokens));
}

// sum adds token counts; a kind that no part knows stays unknown.
export function sum(list) {
  const total = { input: null, output: null, cache_read: null, cache_write: null };
  let any = false;
  for (const tokens of list) {
    if (!tokens) continue;
    for (const name of Object.keys(total)) {
      if (typeof tokens[name] !== "number") continue;
      total[name] = (total[name] ?? 0) + tokens[name];
      any = true;
    }
  }
  return any ? total : null;
}
