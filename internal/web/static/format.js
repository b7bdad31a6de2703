// Numbers and times as people read them. What is not known is a dash, never a zero.

const UNKNOWN = "–";

const known = (n) => typeof n === "number" && Number.isFinite(n);

// count shortens a number: 1234 is 1.2k.
export function count(n) {
  if (!known(n)) return UNKNOWN;
  if (n < 1000) return String(n);
  if (n < 999_950) return `${trim(n / 1000)}k`;
  if (n < 999_950_000) return `${trim(n / 1e6)}M`;
  return `${trim(n / 1e9)}G`;
}

function trim(n) {
  return n < 100 ? n.toFixed(1).replace(/\.0$/, "") : String(Math.round(n));
}

// whole is a number with its thousands apart.
export function whole(n) {
  return known(n) ? n.toLocaleString("en") : UNKNOWN;
}

export function plural(n, one, many = `${one}s`) {
  return `${whole(n)} ${n === 1 ? one : many}`;
}

// duration takes milliseconds.
export function duration(ms) {
  if (!known(ms)) return UNKNOWN;
  if (ms < 1) return "0ms";
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${trim(ms / 1000)}s`;
  const s = Math.round(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)}m ${String(s % 60).padStart(2, "0")}s`;
  const m = Math.round(s / 60);
  return `${Math.floor(m / 60)}h ${String(m % 60).padStart(2, "0")}m`;
}

// millis is a time of the API in milliseconds since 1970, NaN if there is none.
export function millis(time) {
  return time ? Date.parse(time) : NaN;
}

// between is the length of a run; one without an end is still running.
export function between(start, end) {
  return (end ? millis(end) : Date.now()) - millis(start);
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "medium" });

// when is the time of today, the date of another day.
export function when(time) {
  const at = new Date(millis(time));
  if (Number.isNaN(at.getTime())) return UNKNOWN;
  const now = new Date();
  if (at.toDateString() === now.toDateString()) return clock.format(at);
  const date = at.getFullYear() === now.getFullYear() ? day : dayOfYear;
  return `${date.format(at)}, ${clock.format(at)}`;
}

export function exactly(time) {
  const at = new Date(millis(time));
  return Number.isNaN(at.getTime()) ? "" : full.format(at);
}

// dollars of an amount that is known; callers name what is unpriced.
export function dollars(n) {
  if (!known(n)) return UNKNOWN;
  return n > 0 && n < 0.01 ? "<$0.01" : `$${n.toFixed(2)}`;
}

export function bytes(n) {
  if (!known(n)) return UNKNOWN;
  if (n < 1024) return `${n} B`;
  if (n < 1024 * 1024) return `${trim(n / 1024)} KB`;
  return `${trim(n / 1024 / 1024)} MB`;
}

// repoName is the end of a repository's address: owner/name.
export function repoName(url) {
  const parts = String(url || "").replace(/\.git$/, "").split(/[/:]/).filter(Boolean);
  return parts.slice(-2).join("/");
}

// gist is the beginning of a text on one line.
export function gist(text, most = 300) {
  return firstLine(String(text || "").slice(0, most * 2).replace(/\s+/g, " "), most);
}

export function firstLine(text, most = 200) {
  const line = String(text || "").trimStart().split("\n", 1)[0];
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
