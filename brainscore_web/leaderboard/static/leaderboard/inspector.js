// What is known of one cell: asked for when the pointer or the focus stays on it.

import { element } from "./paint.js";

const KEPT = 200;

export class Inspector {
  constructor(panel, { address, query }) {
    this.panel = panel;
    this.address = address;
    this.query = query;
    this.known = new Map();
    this.timer = 0;
    this.asked = null;
  }

  soon(model, node, wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show(model, node), wait);
  }

  async show(model, node) {
    if (node.kind === "heading") return;
    const sent = new URLSearchParams(this.query());
    sent.set("model", model);
    sent.set("node", node.id);
    const key = sent.toString();
    this.asked?.abort();
    if (!this.known.has(key)) {
      const mine = (this.asked = new AbortController());
      try {
        const answer = await fetch(`${this.address}?${key}`, { signal: mine.signal });
        if (!answer.ok) throw new Error(String(answer.status));
        const told = await answer.json();
        if (told.problem) throw new Error(told.problem.message);
        if (this.known.size > KEPT) this.known.clear();
        this.known.set(key, told);
      } catch (error) {
        if (error.name !== "AbortError") this.panel.textContent = "Details of this cell could not be loaded.";
        return;
      }
    }
    this.say(this.known.get(key));
  }

  // What needs no asking.
  say({ title, facts, links }) {
    this.panel.replaceChildren(
      element("strong", {}, title),
      element("ul", { class: "facts" }, ...facts.map((text) => element("li", {}, text))),
      element("ul", { class: "links" }, ...links.map(([text, href]) => element("li", {}, element("a", { href }, text)))),
    );
  }

  clear() {
    clearTimeout(this.timer);
    this.asked?.abort();
    if (!this.panel.querySelector(".hint")) this.panel.replaceChildren();
  }

  focus() {
    this.panel.querySelector("a")?.focus();
  }
}
