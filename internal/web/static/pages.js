// A list that comes from the API in pages, newest first, and stays fresh.

import { get } from "./api.js";

const PAGE = 100;

// Pages holds what has been loaded so far and calls shown(items, answer) on each change.
export class Pages {
  // path and params: what is asked; of(answer): the items in it; key(item): its id.
  constructor({ path, of, key, shown, failed }) {
    Object.assign(this, { path, of, key, shown, failed });
    this.items = [];
    this.params = {};
    this.next = null;
  }

  // ask forgets all and loads the first page.
  async ask(params) {
    this.stop();
    this.params = params;
    this.abort = new AbortController();
    await this.#load(null, (answer) => {
      this.items = this.of(answer);
      this.next = answer.next;
    });
  }

  // more loads the next page, unless there is none or it is on its way.
  async more() {
    if (!this.next || this.loading) return;
    await this.#load(this.next, (answer) => {
      const have = new Set(this.items.map(this.key));
      this.items = this.items.concat(this.of(answer).filter((item) => !have.has(this.key(item))));
      this.next = answer.next;
    });
  }

  // refresh loads the first page again and puts it before what else was there.
  async refresh() {
    if (this.loading) {
      this.again = true;
      return;
    }
    await this.#load(null, (answer) => {
      const fresh = this.of(answer);
      const have = new Set(fresh.map(this.key));
      if (this.items.length <= fresh.length || !answer.next) {
        this.items = fresh;
        this.next = answer.next;
      } else {
        this.items = fresh.concat(this.items.filter((item) => !have.has(this.key(item))));
      }
    });
  }

  async #load(cursor, take) {
    const { signal } = this.abort;
    this.loading = true;
    try {
      const answer = await get(this.path, { ...this.params, cursor, limit: PAGE }, signal);
      if (signal.aborted) return;
      take(answer);
      this.loading = false;
      this.shown(this.items, answer);
    } catch (error) {
      if (!signal.aborted) this.failed(error);
    } finally {
      if (!signal.aborted) this.loading = false;
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
  }
}
