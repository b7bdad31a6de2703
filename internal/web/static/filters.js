// What a list is narrowed to. The filters live in the page's address, so that going
// back, or sharing a screen, keeps them.

import { el } from "./dom.js";
import { repoName } from "./format.js";

const FIELDS = ["q", "agent", "repo", "branch", "failed", "failed_steps", "interrupted", "since", "until"];

// pick takes the filters out of an address's parameters.
export function pick(params) {
  const filters = {};
  for (const name of FIELDS) if (params.get(name)) filters[name] = params.get(name);
  return filters;
}

// asked turns filters into what the API takes: days become the moments at which they
// begin and end here.
export function asked(filters) {
  const query = { ...filters };
  const moment = (day, add) => {
    const at = new Date(`${day}T00:00:00`);
    at.setDate(at.getDate() + add);
    return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
  };
  if (query.since) query.since = moment(query.since, 0);
  if (query.until) query.until = moment(query.until, 1);
  return query;
}

// Filters is the form. changed(filters) is called a moment after the last key.
export class Filters {
  constructor(filters, changed, { search = true } = {}) {
    this.filters = { ...filters };
    this.changed = changed;
    this.selects = {};
    this.more = el("div", { class: "more", id: "more-filters" },
      this.#select("agent", "Agent"), this.#select("repo", "Repository"), this.#select("branch", "Branch"),
      el("span", { class: "checks", role: "group", "aria-label": "How it went; any of these" },
        this.#check("failed", "Failed turns", "Turns that ended with an error"),
        this.#check("failed_steps", "Failed steps", "A tool or a model call failed, however the turn ended"),
        this.#check("interrupted", "Interrupted", "Turns that somebody stopped")),
      this.#day("since", "From"), this.#day("until", "To"),
      this.clear = el("button", { type: "button", class: "quiet", onclick: () => this.reset() }, "Clear"));
    this.toggle = el("button", {
      type: "button", class: "quiet toggle", "aria-expanded": "false", "aria-controls": "more-filters",
      onclick: () => this.toggle.setAttribute("aria-expanded", String(this.more.classList.toggle("open"))),
    }, "Filters");
    this.node = el("form", { class: "filters", role: "search", "aria-label": "Filters", onsubmit: (e) => e.preventDefault() },
      search ? this.#search() : null, this.toggle, this.more);
    this.#mark();
  }

  #search() {
    this.search = el("input", {
      type: "search", name: "q", placeholder: "Search prompts, tools, errors, models", value: this.filters.q || "",
      "aria-label": "Search", "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false",
      oninput: () => this.#put("q", this.search.value.trim(), 200),
    });
    return this.search;
  }

  #select(name, label) {
    const select = el("select", { name, "aria-label": label, onchange: () => this.#put(name, select.value) });
    this.selects[name] = { select, label };
    this.#options(name, []);
    return select;
  }

  #options(name, found) {
    const { select, label } = this.selects[name];
    const value = this.filters[name] || "";
    const options = found.map(({ name: n, turns }) => [n, `${name === "repo" ? repoName(n) : n} (${turns})`]);
    if (value && !found.some((f) => f.name === value)) options.unshift([value, name === "repo" ? repoName(value) : value]);
    if (document.activeElement === select) return; // not under somebody's hands
    select.replaceChildren(el("option", { value: "" }, `${label}: any`),
      ...options.map(([v, text]) => el("option", { value: v }, text)));
    select.value = value;
  }

  #check(name, label, title) {
    const box = el("input", { type: "checkbox", name, onchange: () => this.#put(name, box.checked ? "1" : "") });
    box.checked = Boolean(this.filters[name]);
    return el("label", { class: "check", title }, box, label);
  }

  #day(name, label) {
    const input = el("input", { type: "date", name, onchange: () => this.#put(name, input.value) });
    input.value = this.filters[name] || "";
    return el("label", { class: "day" }, label, input);
  }

  // facets says which values there are to choose from.
  facets(facets) {
    if (!facets) return;
    this.#options("agent", facets.agents || []);
    this.#options("repo", facets.repos || []);
    this.#options("branch", facets.branches || []);
  }

  #put(name, value, wait = 0) {
    if (value) this.filters[name] = value;
    else delete this.filters[name];
    this.#mark();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.changed({ ...this.filters }), wait);
  }

  #mark() {
    const n = Object.keys(this.filters).filter((name) => name !== "q").length;
    this.toggle.textContent = n > 0 ? `Filters (${n})` : "Filters";
    this.clear.hidden = Object.keys(this.filters).length === 0;
  }

  reset() {
    this.stop();
    this.filters = {};
    for (const field of this.node.elements) {
      if (field.type === "checkbox") field.checked = false;
      else if (field.name) field.value = "";
    }
    this.#mark();
    this.changed({});
  }

  // stop: who leaves while a key still waits to be heard has gone on to something else.
  stop() {
    clearTimeout(this.timer);
  }

  focus() {
    this.search?.focus();
    this.search?.select();
  }
}
