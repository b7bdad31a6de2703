// A list of any length of which only the rows in sight exist. Rows have one height;
// the row with the focus is kept even out of sight, so that keys go on working.

import { el } from "./dom.js";

const BEYOND = 8; // rows kept above and below what is in sight

export class VirtualList {
  // scroller: the element that scrolls. rowHeight: of a row in pixels, or a function.
  // key(item): what a row is known by. render(item, index): its element.
  // version(item): a row is made anew only when this changes.
  // near(): called when the end comes near, to load more.
  constructor({ scroller, body, rowHeight, key, render, version, near }) {
    Object.assign(this, { scroller, key, render, version, near });
    this.heightOf = typeof rowHeight === "function" ? rowHeight : () => rowHeight;
    this.body = body || el("div", { role: "list" });
    this.body.classList.add("rows");
    this.items = [];
    this.index = new Map();
    this.shown = new Map();
    this.active = null;
    scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(scroller);
    this.body.addEventListener("focusin", (event) => this.#focused(event));
  }

  stop() {
    this.resized.disconnect();
  }

  // set replaces the items. What was at the top of the view stays there, and the
  // focus stays on its row, unless the list was scrolled to its very top.
  set(items) {
    const height = this.heightOf();
    const top = this.scroller.scrollTop;
    const first = this.items[Math.floor((top - this.body.offsetTop) / height)];
    const was = first ? this.index.get(this.key(first)) : undefined;
    this.items = items;
    this.index = new Map(items.map((item, i) => [this.key(item), i]));
    this.body.style.height = `${items.length * height}px`;
    const now = first && top > 0 ? this.index.get(this.key(first)) : undefined;
    if (now !== undefined && now !== was) this.scroller.scrollTop = top + (now - was) * height;
    if (this.active !== null && !this.index.has(this.active)) this.active = null;
    this.draw();
  }

  draw() {
    const height = this.heightOf();
    const top = this.scroller.scrollTop - this.body.offsetTop;
    const from = Math.max(0, Math.floor(top / height) - BEYOND);
    const to = Math.min(this.items.length, Math.ceil((top + this.scroller.clientHeight) / height) + BEYOND);
    const wanted = new Set();
    for (let i = from; i < to; i++) wanted.add(i);
    const active = this.active === null ? 0 : this.index.get(this.active);
    if (active !== undefined && active < this.items.length) wanted.add(active);
    const focus = this.shown.get(this.active)?.node.contains(document.activeElement);
    const kept = new Set();
    for (const i of [...wanted].sort((a, b) => a - b)) kept.add(this.#row(i, height));
    for (const [key, row] of this.shown) {
      if (kept.has(key)) continue;
      row.node.remove();
      this.shown.delete(key);
    }
    this.#roving();
    if (focus) this.#target(this.active)?.focus({ preventScroll: true });
    if (this.near && to + 20 >= this.items.length) this.near();
  }

  #row(i, height) {
    const item = this.items[i];
    const key = this.key(item);
    const version = this.version ? this.version(item) : "";
    let row = this.shown.get(key);
    if (!row || row.version !== version) {
      const node = this.render(item, i);
      if (row) row.node.replaceWith(node);
      else this.#insert(node, i);
      row = { node, version, i };
      this.shown.set(key, row);
    }
    row.i = i;
    row.node.style.transform = `translateY(${i * height}px)`;
    row.node.setAttribute("aria-posinset", i + 1);
    row.node.dataset.index = i;
    return key;
  }

  // insert keeps the order of the document that of the list, for screen readers.
  #insert(node, i) {
    for (const other of this.body.children) {
      if (Number(other.dataset.index) > i) {
        other.before(node);
        return;
      }
    }
    this.body.append(node);
  }

  // One row alone is in the tab order: the active one, else the first.
  #roving() {
    const active = this.active ?? (this.items.length > 0 ? this.key(this.items[0]) : null);
    for (const [key, { node }] of this.shown) {
      const target = node.querySelector("[data-row]") || node;
      target.tabIndex = key === active ? 0 : -1;
      node.classList.toggle("active", key === this.active);
    }
  }

  #target(key) {
    const row = this.shown.get(key);
    return row && (row.node.querySelector("[data-row]") || row.node);
  }

  #focused(event) {
    const node = event.target.closest("[data-index]");
    const item = node && this.items[Number(node.dataset.index)];
    if (!item) return;
    this.active = this.key(item);
    this.#roving();
  }

  activeIndex() {
    return this.active === null ? -1 : (this.index.get(this.active) ?? -1);
  }

  // go makes row i the active one, in sight and in focus.
  go(i, { focus = true } = {}) {
    if (this.items.length === 0) return null;
    const to = Math.max(0, Math.min(i, this.items.length - 1));
    const height = this.heightOf();
    const y = this.body.offsetTop + to * height;
    const room = this.scroller.clientHeight;
    if (y < this.scroller.scrollTop + height) this.scroller.scrollTop = Math.max(0, y - height);
    else if (y + height > this.scroller.scrollTop + room - height) this.scroller.scrollTop = y + 2 * height - room;
    this.active = this.key(this.items[to]);
    this.draw();
    if (focus) this.#target(this.active)?.focus({ preventScroll: true });
    return this.items[to];
  }

  move(by) {
    const at = this.activeIndex();
    return this.go(at < 0 ? 0 : at + by);
  }
}
