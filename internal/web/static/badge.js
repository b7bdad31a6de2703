// The small signs that stand beside a turn or a run: its state, its tokens.

import { el } from "./dom.js";
import { count, plural, whole } from "./format.js";

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

// errorsBadge says how many runs failed.
export function errorsBadge(n) {
  if (!n) return null;
  return el("span", { class: "badge failed" }, "✕ ", plural(n, "error"));
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
