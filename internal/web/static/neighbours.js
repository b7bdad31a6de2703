// The prompts before and after a turn in its thread.

import { get } from "./api.js";

const PAGES = 50; // how far to look

export async function neighbours(thread, id, signal) {
  let turns = [];
  let cursor = null;
  for (let i = 0; i < PAGES; i++) {
    const answer = await get(`threads/${encodeURIComponent(thread)}`, { cursor, limit: 200 }, signal);
    turns = turns.concat(answer.turns || []);
    cursor = answer.next;
    const at = turns.findIndex((t) => t.trace_id === id);
    if (!cursor || (at >= 0 && at + 1 < turns.length)) break;
  }
  turns.sort((a, b) => Date.parse(a.start) - Date.parse(b.start));
  const at = turns.findIndex((t) => t.trace_id === id);
  if (at < 0) throw new Error("the turn is not in its thread");
  return { before: turns[at - 1], after: turns[at + 1], place: `${at + 1} of ${turns.length}${cursor ? "+" : ""}` };
}
