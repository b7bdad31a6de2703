// A list that comes from the API in pages, newest first, and stays fresh.

import { get } from "./api.js";

const FIRST = 30; // fill the window
const PAGE = 100;

// Pages holds what has been loaded so far and calls shown(items, answer) on each change.
export class Pages {
  // path and params: what is asked; of(answer): the items in it; key(item): its id.
  // grows: "end" if what is new comes last. sums: whether an item stands for several
  // turns, so that one that is gone may have changed any.
  constructor({ path, of, key, shown, failed, grows = "start", sums = false }) {
    Object.assign(this, { path, of, key, shown, failed, grows, sums });
    this.items = [];
    this.params = {};
    this.next = null;
    this.gone = new Set();
  }

  // ask forgets all and loads the first page.
  async ask(params) {
    this.stop();
    this.params = params;
    this.items = [];
    this.abort = new AbortController();
    await this.#load(null, (answer) => {
      this.items = this.of(answer);
      this.next = answer.next;
      this.last = { cursor: null, from: 0 };
    });
  }

  // more loads the next page, unless there is none or it is on its way.
  async more() {
    if (!this.next || this.loading) return;
    const cursor = this.next;
    await this.#load(cursor, (answer) => {
      const have = new Set(this.items.map(this.key));
      this.last = { cursor, from: this.items.length };
      this.items = this.items.concat(this.of(answer).filter((item) => !have.has(this.key(item))));
      this.next = answer.next;
    });
  }

  // refresh loads anew the page where news comes, and keeps the others. gone are ids of
  // turns that are no more: where any item may have lost one, the others go, too.
  async refresh(gone) {
    for (const id of gone || []) this.gone.add(id);
    if (this.loading) {
      this.again = true;
      return;
    }
    const lost = this.gone;
    this.gone = new Set();
    const anew = lost.has("*") || (this.sums && lost.size > 0);
    const { cursor, from } = this.grows === "end" && !anew && this.last ? this.last : { cursor: null, from: 0 };
    await this.#load(cursor, (answer) => {
      const fresh = this.of(answer);
      const have = new Set(fresh.map(this.key));
      const rest = this.items.filter((item) => !have.has(this.key(item)) && !lost.has(this.key(item)));
      if (this.grows === "end") {
        this.items = rest.slice(0, from).concat(fresh);
        this.next = answer.next;
        this.last = { cursor, from: this.items.length - fresh.length };
      } else if (anew || rest.length === 0 || !answer.next) {
        this.items = fresh;
        this.next = answer.next;
      } else {
        this.items = fresh.concat(rest);
      }
    });
  }

  async #load(cursor, take) {
    const { signal } = this.abort;
    this.loading = true;
    try {
      const most = this.items.length > 0 ? PAGE : FIRST;
      const answer = await get(this.path, { ...this.params, cursor, limit: most }, signal);
      if (signal.aborted) return;
      take(answer);
      this.loading = false;
      this.shown(this.items, answer); // it may ask for more at once
    } catch (error) {
      if (signal.aborted) return;
      this.loading = false;
      this.failed(error);
    }
    if (this.again && !signal.aborted) {
      this.again = false;
      await this.refresh();
    }
  }

  stop() {
    this.abort?.abort();
    this.loading = false;
    this.again = false;
    this.gone = new Set();
  }
}
