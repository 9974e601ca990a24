// Details of a cell, requested once the pointer or the focus stays on it.

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
        const details = await answer.json();
        if (details.problem) throw new Error(details.problem.message);
        if (this.known.size > KEPT) this.known.clear();
        this.known.set(key, details);
      } catch (error) {
        if (error.name !== "AbortError") this.panel.textContent = "Details of this cell could not be loaded.";
        return;
      }
    }
    this.say(this.known.get(key));
  }

  // Show details that are already available.
  say({ title, facts, links }) {
    this.panel.replaceChildren(
      element("strong", {}, title),
      element("ul", { class: "facts" }, ...facts.map((text) => element("li", {}, text))),
      element(
        "ul",
        { class: "links" },
        ...links.map(([text, href]) => element("li", {}, element("a", { href }, text))),
      ),
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

// Show details of the cell under the pointer, or with the focus.
export function watch(scroller, grid, view, paint, inspector) {
  const seen = (event, wait) => {
    const head = event.target.closest?.("thead th[data-first]");
    if (head) {
      const place = grid.layout.columns[Number(head.dataset.first) - 2];
      const node = view.data.nodes[place];
      inspector.clear();
      if (node.kind === "heading") return;
      const links = [["About it", view.card("benchmark", node.id)]];
      if (node.badge) links.push(["Validity", `${view.card("benchmark", node.id)}#validity`]);
      inspector.say({ title: node.title, facts: paint.facts(place), links });
      return;
    }
    const cell = event.target.closest?.("tbody [data-column]");
    if (!cell) return;
    const row = grid.rows[Number(cell.dataset.row)];
    const { id, title } = view.data.models;
    if (Number(cell.dataset.column) < 2) {
      inspector.clear();
      const links = [["Model", view.card("model", id[row])]];
      inspector.say({ title: title[row] || id[row], facts: [paint.ranked(row)], links });
      return;
    }
    const place = grid.layout.columns[Number(cell.dataset.column) - 2];
    if (event.type === "pointerover") cell.title = paint.hint(row, place);
    inspector.soon(id[row], view.data.nodes[place], wait);
  };
  scroller.addEventListener("focusin", (event) => seen(event, 60));
  scroller.addEventListener("pointerover", (event) => seen(event, 250));
}
