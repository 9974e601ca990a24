// Details of a cell, in a panel at the cell: opened by a click, a tap or a key, closed by Escape or a click elsewhere.

import { element } from "./paint.js";

const KEPT = 200;

export class Inspector {
  // describe: returns the details of a cell or header, {title, facts, links}, or {model, node} to request them
  constructor(panel, { address, query, grid, describe }) {
    Object.assign(this, { panel, address, query, grid, describe });
    this.known = new Map();
    this.asked = null;
    this.at = null; // row and column of the cell whose details are shown
    const { scroller } = grid;
    scroller.addEventListener("focusin", () => this.at && this.open(grid.active)); // the panel follows the keys
    document.addEventListener("scroll", () => requestAnimationFrame(() => this.follow()), { passive: true, capture: true });
    document.addEventListener("pointerdown", ({ target }) => {
      if (!panel.contains(target) && !target.closest("#scroller tbody")) this.close();
    });
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    panel.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !panel.contains(relatedTarget) && !scroller.contains(relatedTarget)) this.close();
    });
  }

  // `focus`: whether the focus moves into the panel, as it does for keys
  async open({ row, column }, focus = false) {
    const cell = this.grid.element({ row, column });
    const details = cell && this.describe(row, column);
    if (!details) return this.close();
    this.asked?.abort();
    this.at = { row, column };
    if (details.facts) this.fill(details);
    else {
      const mine = (this.asked = new AbortController());
      const loaded = await this.load(details, mine.signal);
      if (mine.signal.aborted) return;
      this.fill(loaded);
    }
    if (focus) this.panel.querySelector("a, button").focus({ preventScroll: true });
  }

  async load({ model, node }, signal) {
    const sent = new URLSearchParams(this.query());
    sent.set("model", model);
    sent.set("node", node);
    const key = sent.toString();
    if (!this.known.has(key)) {
      try {
        const answer = await fetch(`${this.address}?${key}`, { signal });
        if (!answer.ok) throw new Error(String(answer.status));
        const details = await answer.json();
        if (details.problem) throw new Error(details.problem.message);
        if (this.known.size > KEPT) this.known.clear();
        this.known.set(key, details);
      } catch {
        return { title: "Details of this cell could not be loaded.", facts: [], links: [] };
      }
    }
    return this.known.get(key);
  }

  fill({ title, facts, links }) {
    const close = element("button", { type: "button", "aria-label": "Close" }, "×");
    close.addEventListener("click", () => this.close());
    const items = (name, contents) =>
      contents.length ? [element("ul", { class: name }, ...contents.map((content) => element("li", {}, content)))] : [];
    this.panel.replaceChildren(
      element("strong", {}, title),
      ...items("facts", facts),
      ...items("links", links.map(([text, href]) => element("a", { href }, text))),
      close,
    );
    this.panel.hidden = false;
    this.place(this.grid.element(this.at));
  }

  // Below the cell if there is space, otherwise above it.
  place(cell) {
    if (!cell) return this.close();
    const box = cell.getBoundingClientRect();
    const { style, offsetWidth } = this.panel;
    style.left = `${Math.max(4, Math.min(box.left, document.documentElement.clientWidth - offsetWidth - 8))}px`;
    const below = box.bottom + 4;
    const isLow = below > innerHeight * 0.6;
    style.top = isLow ? "auto" : `${below}px`;
    style.bottom = isLow ? `${innerHeight - box.top + 4}px` : "auto";
  }

  // After scrolling: stay at the cell while it can be seen.
  follow() {
    if (!this.at) return;
    const cell = this.grid.element(this.at);
    const box = cell?.getBoundingClientRect();
    const top = box && document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    this.place(top && (cell.contains(top) || this.panel.contains(top)) ? cell : null);
  }

  close() {
    this.asked?.abort();
    const returns = this.panel.contains(document.activeElement);
    const { at } = this;
    this.at = null;
    this.panel.hidden = true;
    if (returns && at) this.grid.go(at.row, at.column);
  }
}

// Return a function that describes cells and headers.
export function describer(grid, view, paint) {
  return (row, column) => {
    const { nodes, models } = view.data;
    if (row < 0) {
      const place = column < 2 ? -1 : grid.layout.columns[column - 2];
      const node = nodes[place];
      if (!node || ["heading", "fact"].includes(node.kind)) return null;
      const links = [["About it", view.card("benchmark", node.id)]];
      if (node.badge) links.push(["Validity", `${view.card("benchmark", node.id)}#validity`]);
      return { title: node.title, facts: paint.facts(place), links };
    }
    const model = grid.rows[row];
    const place = grid.layout.columns[column - 2];
    const node = nodes[place];
    if (node?.kind === "heading") return null;
    if (node && node.kind !== "fact") return { model: models.id[model], node: node.id };
    const facts = [paint.ranked(model)];
    if (node) facts.unshift(`${node.title}: ${paint.fact(model, node.id) || "not known"}`);
    return { title: models.title[model] || models.id[model], facts, links: [["Model", view.card("model", models.id[model])]] };
  };
}
