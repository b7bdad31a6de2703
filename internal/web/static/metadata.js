// A run's metadata as a table that can be searched.

import { el, outLink } from "./dom.js";
import { longText } from "./text.js";

export class Metadata {
  constructor() {
    this.field = el("input", {
      type: "search", placeholder: "Search names and values", "aria-label": "Search metadata", autocomplete: "off", spellcheck: "false",
      oninput: () => this.#fill(),
    });
    this.rows = el("tbody", {});
    this.note = el("p", { class: "note", role: "status" });
    this.node = el("div", { class: "metadata" }, this.field,
      el("table", {}, el("thead", { class: "hidden" }, el("tr", {}, el("th", { scope: "col" }, "Name"), el("th", { scope: "col" }, "Value"))), this.rows),
      this.note);
  }

  show(run) {
    this.pairs = [];
    const extra = run.extra || {};
    this.#walk("", extra.metadata || {});
    for (const [name, value] of Object.entries(extra)) if (name !== "metadata") this.#walk(name, value);
    for (const name of ["id", "trace_id", "parent_run_id", "dotted_order", "run_type", "start_time", "end_time", "tags", "session_name"]) {
      if (run[name] !== undefined) this.#walk(name, run[name]);
    }
    if (run.events) this.#walk("events", run.events);
    this.#fill();
    return this.node;
  }

  #walk(name, value) {
    if (value !== null && typeof value === "object" && Object.keys(value).length > 0 && this.pairs.length < 2000) {
      for (const [key, inner] of Object.entries(value)) this.#walk(name ? `${name}.${key}` : key, inner);
    } else {
      this.pairs.push([name, typeof value === "string" ? value : JSON.stringify(value)]);
    }
  }

  #fill() {
    const words = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.pairs.filter(([name, value]) => {
      const text = `${name} ${value}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    this.rows.replaceChildren(...found.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, valueOf(value)))));
    this.note.textContent = found.length === this.pairs.length ? "" : `${found.length} of ${this.pairs.length}`;
  }

  focus() {
    this.field.focus();
    this.field.select();
  }
}

function valueOf(value) {
  if (/^https?:\/\/\S+$/.test(value)) return outLink(value, value);
  return value.length > 300 ? longText(value, { className: "code" }) : value;
}
