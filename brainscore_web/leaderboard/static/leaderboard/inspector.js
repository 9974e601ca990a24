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

  // Show the panel beside a cell: below it if there is space, otherwise above it.
  beside(cell) {
    const box = cell.getBoundingClientRect();
    const { panel } = this;
    panel.classList.add("beside");
    const width = panel.offsetWidth;
    panel.style.left = `${Math.max(4, Math.min(box.left, document.documentElement.clientWidth - width - 8))}px`;
    const below = box.bottom + 4;
    const isLow = below > innerHeight * 0.6;
    panel.style.top = isLow ? "auto" : `${below}px`;
    panel.style.bottom = isLow ? `${innerHeight - box.top + 4}px` : "auto";
  }

  // Put the panel back below the table.
  back() {
    if (!this.panel.classList.contains("beside")) return;
    this.panel.classList.remove("beside");
    for (const side of ["left", "top", "bottom"]) this.panel.style[side] = "";
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
      if (node.kind === "fact") return;
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
    if (view.data.nodes[place].kind === "fact") {
      inspector.clear();
      const facts = [`${view.data.nodes[place].title}: ${paint.fact(row, view.data.nodes[place].id) || "not known"}`];
      if (!view.data.models.rank[row]) facts.push(paint.ranked(row));
      inspector.say({ title: title[row] || id[row], facts, links: [["Model", view.card("model", id[row])]] });
      return;
    }
    if (event.type === "pointerover") cell.title = paint.hint(row, place);
    inspector.soon(id[row], view.data.nodes[place], wait);
  };
  scroller.addEventListener("focusin", (event) => seen(event, 60));
  scroller.addEventListener("click", (event) => {
    const cell = event.target.closest?.("tbody [data-column]");
    if (cell && event.pointerType !== "mouse" && !event.target.closest("a, button, input")) inspector.beside(cell);
  });
  scroller.addEventListener("scroll", () => inspector.back(), { passive: true });
  document.addEventListener("pointerdown", (event) => {
    if (!inspector.panel.contains(event.target) && !event.target.closest?.("#scroller tbody")) inspector.back();
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && inspector.back());
  scroller.addEventListener("pointerover", (event) => seen(event, 250));
}
