// The run chosen in the tree: what went in and came out, its metadata, its JSON.

import { get, rawPath, wholeRun } from "./api.js";
import { state, stateBadge, tokensTitle } from "./badge.js";
import { argsView, chat, jsonView, valueView } from "./chat.js";
import { PARTS, split } from "./context.js";
import { el, place } from "./dom.js";
import { bytes, dollars, duration, firstLine, whole as wholeNumber } from "./format.js";
import { Metadata } from "./metadata.js";
import { SHADES } from "./model.js";
import { longText } from "./text.js";
import { label } from "./tree.js";

const TABS = ["Messages", "Metadata", "JSON"];

export class RunPanel {
  constructor(trace, go) {
    this.trace = trace;
    this.go = go;
    this.tab = "Messages";
    this.head = el("div", { class: "run-head" });
    this.tabs = TABS.map((name) => el("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", onclick: () => this.open(name),
    }, name));
    this.body = el("div", { role: "tabpanel", id: "panel", class: "panel scroller", tabindex: 0 });
    const strip = el("div", { class: "tabs", role: "tablist", "aria-label": "Of this run", onkeydown: (e) => this.#arrows(e) }, this.tabs);
    this.node = el("section", { class: "right", "aria-label": "The run chosen" }, this.head, strip, this.body);
    this.metadata = new Metadata();
    this.#mark();
  }

  // show loads a run and shows it under the tab that is open.
  async show(node, model) {
    this.current = node;
    this.model = model;
    this.version = version(node.run);
    this.abort?.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.#heading();
    try {
      const run = await get(`runs/${encodeURIComponent(node.id)}`, { trace: this.trace }, signal);
      if (signal.aborted) return;
      this.run = run;
      this.body.scrollTop = 0;
      this.#fill();
    } catch (error) {
      if (!signal.aborted) this.body.replaceChildren(el("p", { class: "note failed", role: "alert" }, `Cannot load the run: ${error.message}`));
    }
  }

  // refresh takes a newer tree: the run is loaded again only if it changed.
  refresh(model) {
    const node = this.current && model.nodes.get(this.current.id);
    if (!node) return;
    this.model = model;
    const grew = node.children.length !== this.current.children.length && !node.parent;
    if (version(node.run) !== this.version || grew) this.show(node, model);
    else this.current = node;
  }

  #heading() {
    const { run, shade } = this.current;
    const start = this.current.begin - this.model.begin;
    this.head.replaceChildren(
      el("h2", {}, el("span", { class: `glyph ${shade}`, "aria-hidden": "true" }, `${SHADES[shade].glyph} `), label(run), " ", stateBadge(run)),
      el("p", { class: "facts" },
        el("span", {}, SHADES[shade].word), run.model ? el("span", { class: "where" }, run.model) : null,
        el("span", { class: "num" }, run.end ? duration(this.current.until - this.current.begin) : "still running"),
        el("span", {}, `at +${duration(start)}`),
        typeof run.cost_usd === "number" ? el("span", { class: "num" }, dollars(run.cost_usd)) : null,
        typeof run.ttft_ms === "number" ? el("span", {}, `first token after ${duration(run.ttft_ms)}`) : null,
        run.waiting_ms > 0 ? el("span", { class: "badge waiting" }, `‖ waited ${duration(run.waiting_ms)} for permission`) : null,
        el("span", {}, bytes(run.bytes)),
        (run.tags || []).map((t) => el("span", { class: "badge" }, t))),
      ...[tokensBar(run.tokens)].filter(Boolean));
  }

  open(name, focus) {
    this.tab = name;
    this.#mark();
    if (this.run) this.#fill();
    if (focus) this.tabs[TABS.indexOf(name)].focus();
  }

  #mark() {
    for (const tab of this.tabs) {
      const on = tab.textContent === this.tab;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    }
    this.body.setAttribute("aria-labelledby", `tab-${this.tab}`);
  }

  #arrows(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.open(TABS[(TABS.indexOf(this.tab) + by + TABS.length) % TABS.length], true);
  }

  #fill() {
    const { run } = this;
    if (this.tab === "Metadata") this.body.replaceChildren(this.metadata.show(run));
    else if (this.tab === "JSON") this.body.replaceChildren(...this.#json(run));
    else this.body.replaceChildren(...this.#messages(run));
  }

  // whole fetches the run uncut and returns the string at a path in it.
  async #whole(id, path) {
    const run = await wholeRun(id, this.trace, this.abort.signal);
    return path.reduce((value, name) => value?.[name], run) ?? "";
  }

  #messages(run) {
    const whole = (path) => this.#whole(run.id, path);
    const out = [];
    if (run.error) {
      out.push(el("section", { class: `error-box ${state(this.current.run).name}`, "aria-label": "Error" },
        el("h3", {}, this.current.run.interrupted ? "Interrupted" : "Error"), longText(run.error, { className: "code", whole: () => whole(["error"]) })));
    }
    const input = side(run, "inputs", whole, this.current.shade);
    const output = side(run, "outputs", whole, this.current.shade);
    if (input) out.push(el("section", { class: "side" }, el("h3", {}, "In"), input));
    if (this.current.children.length > 0) out.push(this.#steps());
    if (output) out.push(el("section", { class: "side" }, el("h3", {}, "Out"), output));
    if (!input && !output) {
      out.push(el("p", { class: "note" }, run.end_time ? "Nothing was recorded of what went in or came out." : "Still running: nothing has come out yet."));
    }
    return out;
  }

  // steps lists what happened between question and answer, each opening in place.
  #steps() {
    const children = this.current.children;
    const list = el("ol", { class: "steps" });
    let shown = 0;
    const more = el("button", { type: "button", onclick: () => add() });
    const add = () => {
      list.append(...children.slice(shown, shown + 100).map((child) => el("li", {}, this.#step(child))));
      shown = Math.min(children.length, shown + 100);
      more.hidden = shown >= children.length;
      more.textContent = `Show more (${children.length - shown} left)`;
    };
    add();
    return el("section", { class: "side" }, el("h3", {}, "Steps"), list, more);
  }

  #step(child) {
    const { run, shade } = child;
    const inside = el("div", { class: "inside" });
    const details = el("details", { class: `step ${state(run).name}` },
      el("summary", {}, el("span", { class: `glyph ${shade}`, "aria-hidden": "true" }, SHADES[shade].glyph), " ",
        el("span", { class: "label" }, label(run)), state(run).name === "done" ? null : stateBadge(run),
        run.error ? el("span", { class: "why" }, firstLine(run.error, 120)) : null,
        el("span", { class: "spacer" }), el("span", { class: "num" }, duration(child.until - child.begin))),
      inside);
    details.addEventListener("toggle", () => {
      if (details.open && !inside.hasChildNodes()) this.#stepInside(child, inside);
    });
    return details;
  }

  async #stepInside(child, inside) {
    inside.replaceChildren(el("p", { class: "note" }, "Loading…"));
    try {
      const run = await get(`runs/${encodeURIComponent(child.id)}`, { trace: this.trace }, this.abort.signal);
      const whole = (path) => this.#whole(run.id, path);
      inside.replaceChildren(...[
        run.error ? longText(run.error, { className: "code failed", whole: () => whole(["error"]) }) : null,
        child.shade === "model" ? null : side(run, "inputs", whole, child.shade),
        side(run, "outputs", whole, child.shade),
        el("button", { type: "button", class: "quiet", onclick: () => this.go(child.id) }, "Show this run"),
      ].filter(Boolean));
    } catch (error) {
      inside.replaceChildren(el("p", { class: "note failed" }, error.message));
    }
  }

  #json(run) {
    const text = JSON.stringify(run, null, 2);
    const copy = el("button", {
      type: "button", onclick: async () => {
        try {
          await navigator.clipboard.writeText(text);
          copy.textContent = "Copied";
        } catch {
          copy.textContent = "Cannot copy here";
        }
      },
    }, "Copy");
    return [
      el("p", { class: "bar-of-buttons" }, copy, el("a", { class: "button", href: rawPath(run.id, this.trace), download: true }, "Download whole")),
      jsonView(run),
    ];
  }

  search() {
    this.open("Metadata");
    this.metadata.focus();
  }

  focus() {
    this.body.focus();
  }

  stop() {
    this.abort?.abort();
  }
}

function version(run) {
  return [run.end, run.error, run.bytes, run.has_outputs].join("|");
}

// side shows what went in or came out.
function side(run, name, whole, shade) {
  const value = run[name];
  if (value === null || value === undefined) return null;
  if (Array.isArray(value.messages)) return chat(value.messages, [name, "messages"], whole);
  if (name === "inputs" && shade === "tool") return argsView(run.name || "", value, [name], whole);
  const keys = Object.keys(value);
  if (keys.length === 0) return null;
  if (keys.length === 1 && keys[0] === "output") return valueView(value.output, [name, "output"], whole);
  return argsView("", value, [name], whole);
}

// tokensBar shows a model call's tokens by kind, in shade and in numbers.
function tokensBar(tokens) {
  if (!tokens) return null;
  const parts = split(tokens);
  const all = Math.max(1, PARTS.reduce((n, [name]) => n + parts[name], 0));
  let left = 0;
  const bars = PARTS.filter(([name]) => parts[name] > 0).map(([name]) => {
    const width = (parts[name] / all) * 100;
    const bar = el("span", { class: `bar ${name}` });
    place(bar, left, width);
    left += width;
    return bar;
  });
  return el("div", { class: "tokens-bar" },
    el("div", { class: "lane", "aria-hidden": "true", title: tokensTitle(tokens) }, bars),
    el("ul", { class: "legend" }, PARTS.map(([name, words]) => el("li", {},
      el("span", { class: `swatch ${name}`, "aria-hidden": "true" }), `${words}: ${unknown(tokens, name) ? "not known" : wholeNumber(parts[name])}`))));
}

function unknown(tokens, name) {
  const from = name === "fresh" ? "input" : name;
  return tokens[from] === null || tokens[from] === undefined;
}
