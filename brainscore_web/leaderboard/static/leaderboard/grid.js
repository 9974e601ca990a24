// A virtual table: only the visible cells and some around them exist. The browser scrolls, and CSS keeps headers in view
// and sets the height of all rows and the width of all columns.

import { element } from "./paint.js";

const ROWS_AROUND = 8;
const COLUMNS_AROUND = 3;
const PRINTED_COLUMNS = 12;

export class Grid {
  // paint: {head(th, head), corner(th, which), rank(td, row), model(th, row), cell(td, row, column)}
  constructor(scroller, table, paint) {
    this.scroller = scroller;
    this.table = table;
    this.paint = paint;
    this.canvas = table.parentElement;
    this.rows = [];
    this.layout = { columns: [], heads: [], levels: 1 };
    this.window = { top: 0, bottom: 0, left: 0, right: 0 };
    this.alive = new Map(); // rendered rows, by position
    this.active = { row: -1, column: 0 }; // rows above 0 are headers: -1 is the lowest level
    this.focused = false;
    this.pending = 0;
    scroller.addEventListener("scroll", () => this.soon(), { passive: true });
    new ResizeObserver(() => this.refresh()).observe(scroller);
    document.addEventListener("pointerdown", (event) => {
      if (!scroller.contains(event.target)) this.focused = false;
    });
    scroller.addEventListener("focusin", () => (this.focused = true));
    scroller.addEventListener("focusout", (event) => {
      if (!scroller.contains(event.relatedTarget) && document.hasFocus() && event.relatedTarget) this.focused = false;
    });
  }

  // `rows`: the row at each position; `layout`: layout of the headers.
  set(rows, layout) {
    this.rows = rows;
    this.layout = layout;
    this.active.row = Math.max(-layout.levels, Math.min(this.active.row, rows.length - 1));
    this.active.column = Math.min(this.active.column, layout.columns.length + 1);
    this.refresh();
  }

  measure() {
    const style = getComputedStyle(this.scroller);
    const px = (name) => parseFloat(style.getPropertyValue(name));
    this.size = {
      row: px("--row"),
      column: px("--column"),
      rank: px("--rank"),
      model: px("--model"),
      level: px("--level"),
      head: px("--head"),
    };
    this.size.fixed = this.size.rank + this.size.model;
    this.size.heads = this.size.level * (this.layout.levels - 1) + this.size.head;
  }

  // Render everything again.
  refresh() {
    this.measure();
    const { row, column, fixed, heads } = this.size;
    this.canvas.style.width = `${fixed + column * this.layout.columns.length}px`;
    this.canvas.style.height = `${heads + row * this.rows.length}px`;
    this.table.setAttribute("aria-rowcount", this.layout.levels + this.rows.length);
    this.table.setAttribute("aria-colcount", this.layout.columns.length + 2);
    this.window = { top: 0, bottom: 0, left: 0, right: -1 };
    this.render();
  }

  soon() {
    if (!this.pending) {
      this.pending = requestAnimationFrame(() => {
        this.pending = 0;
        this.render();
      });
    }
  }

  // Return the visible rows and columns, ends exclusive.
  view() {
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.scroller;
    const { row, column, fixed, heads } = this.size;
    const top = Math.max(0, Math.floor(scrollTop / row));
    const left = Math.max(0, Math.floor(scrollLeft / column));
    return {
      top,
      left,
      bottom: Math.min(this.rows.length, top + Math.ceil(Math.max(0, clientHeight - heads) / row) + 1),
      right: Math.min(this.layout.columns.length, left + Math.ceil(Math.max(0, clientWidth - fixed) / column) + 1),
    };
  }

  render() {
    const { scrollLeft, scrollWidth, clientWidth, offsetWidth } = this.scroller;
    const frame = this.scroller.parentElement;
    frame.classList.toggle("more", scrollLeft + clientWidth < scrollWidth - 1);
    frame.style.setProperty("--bar", `${offsetWidth - clientWidth}px`);
    const view = this.view();
    const last = this.window;
    const columnsStay = last.right >= 0 && last.left <= view.left && view.right <= last.right;
    if (columnsStay && last.top <= view.top && view.bottom <= last.bottom) return;
    const next = {
      top: Math.max(0, view.top - ROWS_AROUND),
      bottom: Math.min(this.rows.length, view.bottom + ROWS_AROUND),
      left: columnsStay ? last.left : Math.max(0, view.left - COLUMNS_AROUND),
      right: columnsStay ? last.right : Math.min(this.layout.columns.length, view.right + COLUMNS_AROUND),
    };
    this.window = next;
    const { row, column, fixed } = this.size;
    this.table.style.width = `${fixed + column * (next.right - next.left)}px`;
    this.table.style.margin = `${next.top * row}px 0 0 ${next.left * column}px`;
    if (!columnsStay) {
      this.columns();
      this.head();
      this.alive.clear();
    }
    this.body();
    this.mark();
  }

  columns() {
    const group = this.table.querySelector("colgroup") || this.table.appendChild(document.createElement("colgroup"));
    const { left, right } = this.window;
    const widths = [this.size.rank, this.size.model, ...Array(right - left).fill(this.size.column)];
    group.replaceChildren(
      ...widths.map((width) => {
        const one = document.createElement("col");
        one.style.width = `${width}px`;
        return one;
      }),
    );
  }

  head() {
    const { left, right } = this.window;
    const levels = this.layout.levels;
    const rows = Array.from({ length: levels }, (_, level) => {
      const row = document.createElement("tr");
      row.setAttribute("role", "row");
      row.setAttribute("aria-rowindex", level + 1);
      row.className = level === levels - 1 ? "heads" : "levels";
      return row;
    });
    for (const [place, which] of ["rank", "model"].entries()) {
      const corner = header(place, 1, levels);
      corner.className = which;
      corner.dataset.row = -levels;
      this.paint.corner(corner, which);
      rows[0].append(corner);
    }
    for (const head of this.layout.heads) {
      const start = Math.max(head.start, left);
      const end = Math.min(head.end, right);
      if (start >= end) continue;
      const cell = header(start + 2, end - start, head.span);
      cell.dataset.row = head.level - levels;
      cell.dataset.first = head.start + 2;
      this.paint.head(cell, head);
      rows[head.level].append(cell);
    }
    this.table.tHead.replaceChildren(...rows);
  }

  body() {
    const { top, bottom } = this.window;
    const body = this.table.tBodies[0];
    const free = [];
    for (const [place, row] of this.alive) {
      if (place < top || place >= bottom) {
        this.alive.delete(place);
        free.push(row);
      }
    }
    const columns = this.window.right - this.window.left;
    if (!this.alive.size) body.replaceChildren();
    let after = body.firstChild;
    for (let place = top; place < bottom; place += 1) {
      let row = this.alive.get(place);
      if (row) {
        after = row.nextSibling;
        continue;
      }
      row = free.pop() || made(columns);
      this.fill(row, place);
      this.alive.set(place, row);
      body.insertBefore(row, after && after !== row && after.parentNode === body ? after : null);
      after = row.nextSibling;
    }
    for (const row of free) row.remove();
  }

  fill(row, place) {
    const what = this.rows[place];
    row.setAttribute("aria-rowindex", this.layout.levels + place + 1);
    const [rank, model] = row.cells;
    rank.dataset.row = model.dataset.row = place;
    this.paint.rank(rank, what);
    this.paint.model(model, what);
    for (let at = 2; at < row.cells.length; at += 1) {
      const cell = row.cells[at];
      const column = this.window.left + at - 2;
      cell.dataset.row = place;
      cell.dataset.column = column + 2;
      cell.setAttribute("aria-colindex", column + 3);
      this.paint.cell(cell, what, this.layout.columns[column]);
    }
  }

  // For printing: add tables of all rows, each with some of the columns.
  print() {
    const { columns } = this.layout;
    const tables = element("div", { class: "printed" });
    for (let left = 0; left < columns.length; left += PRINTED_COLUMNS) {
      const right = Math.min(columns.length, left + PRINTED_COLUMNS);
      this.window = { top: 0, bottom: this.rows.length, left, right };
      this.head();
      this.alive.clear();
      this.body();
      const copy = this.table.cloneNode(true);
      copy.querySelector("colgroup")?.remove();
      copy.removeAttribute("style");
      for (const button of copy.querySelectorAll("button")) button.replaceWith(...button.querySelectorAll(".name"));
      tables.append(copy);
    }
    this.scroller.append(tables);
    this.refresh();
  }

  printed() {
    this.scroller.querySelector(".printed")?.remove();
  }

  // Return the rendered cells at a position.
  element({ row, column }) {
    if (row >= 0) {
      const found = this.alive.get(row);
      if (!found) return null;
      return found.cells[column < 2 ? column : column - this.window.left] || null;
    }
    for (const cell of this.table.tHead.querySelectorAll("th")) {
      const from = Number(cell.dataset.first || cell.dataset.column);
      const until = Number(cell.dataset.column) + cell.colSpan;
      const top = Number(cell.dataset.row);
      if (from <= column && column < until && top <= row && row < top + cell.rowSpan) return cell;
    }
    return null;
  }

  // The Tab key leads to a single cell; arrow keys move from there.
  mark() {
    for (const old of this.table.querySelectorAll("[tabindex='0']")) old.tabIndex = -1;
    const cell = this.element(this.active);
    this.scroller.tabIndex = cell ? -1 : 0; // if it is out of view, the next key scrolls to it
    if (cell) cell.tabIndex = 0;
    if (this.focused && (document.activeElement === document.body || this.scroller.contains(document.activeElement))) {
      const inside = cell && cell.contains(document.activeElement);
      if (!inside) (cell || this.scroller).focus({ preventScroll: true });
    }
  }

  // Move to a position and scroll it into view.
  go(row, column, focus = true) {
    this.active = { row, column };
    const { scroller, size } = this;
    if (row >= 0) {
      const above = row * size.row;
      const below = above + size.row + size.heads - scroller.clientHeight;
      if (scroller.scrollTop > above) scroller.scrollTop = above;
      else if (scroller.scrollTop < below) scroller.scrollTop = below;
    }
    if (column >= 2) {
      const before = (column - 2) * size.column;
      const after = before + size.column + size.fixed - scroller.clientWidth;
      if (scroller.scrollLeft > before) scroller.scrollLeft = before;
      else if (scroller.scrollLeft < after) scroller.scrollLeft = after;
    }
    if (focus) this.focused = true;
    this.render();
    this.mark();
    if (focus) (this.element(this.active) || scroller).focus({ preventScroll: true });
  }
}

function header(column, columns, rows) {
  const cell = document.createElement("th");
  cell.setAttribute("role", "columnheader");
  cell.setAttribute("aria-colindex", column + 1);
  cell.dataset.column = column;
  cell.tabIndex = -1;
  if (columns > 1) cell.setAttribute("aria-colspan", (cell.colSpan = columns));
  if (rows > 1) cell.setAttribute("aria-rowspan", (cell.rowSpan = rows));
  return cell;
}

function made(columns) {
  const row = document.createElement("tr");
  row.setAttribute("role", "row");
  for (let at = 0; at < columns + 2; at += 1) {
    const cell = document.createElement(at === 1 ? "th" : "td");
    cell.setAttribute("role", at === 1 ? "rowheader" : "gridcell");
    cell.tabIndex = -1;
    if (at < 2) {
      cell.className = at ? "model" : "rank";
      cell.dataset.column = at;
      cell.setAttribute("aria-colindex", at + 1);
    }
    row.append(cell);
  }
  return row;
}

// Keyboard navigation, by the ARIA grid pattern; act: {enter(place, element), sort(place), details(place)}
export function listen(grid, act) {
  const { scroller } = grid;
  scroller.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey) return;
    const { row, column } = grid.active;
    const lastRow = grid.rows.length - 1;
    const lastColumn = grid.layout.columns.length + 1;
    const page = Math.max(1, Math.floor((scroller.clientHeight - grid.size.heads) / grid.size.row) - 1);
    const extent = span(grid, row, column);
    const to = (r, c) => [Math.min(Math.max(r, -grid.layout.levels), lastRow), Math.min(Math.max(c, 0), lastColumn)];
    let goal = null;
    if (event.key === "ArrowDown") goal = to(extent.bottom, column);
    else if (event.key === "ArrowUp") goal = to(extent.top - 1, column);
    else if (event.key === "ArrowRight") goal = to(row, extent.right);
    else if (event.key === "ArrowLeft") goal = to(row, extent.left - 1);
    else if (event.key === "Home") goal = event.ctrlKey ? to(-1, 0) : to(row, 0);
    else if (event.key === "End") goal = event.ctrlKey ? to(lastRow, lastColumn) : to(row, lastColumn);
    else if (event.key === "PageDown") goal = to(row < 0 ? page : row + page, column);
    else if (event.key === "PageUp") goal = to(row - page < 0 ? (row > 0 ? 0 : -1) : row - page, column);
    if (goal) {
      event.preventDefault();
      grid.go(...goal);
      return;
    }
    if (event.ctrlKey || event.target.closest("a, button, input")) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      act.enter(grid.active, grid.element(grid.active), event.key);
    } else if (event.key === "s") {
      event.preventDefault();
      act.sort(grid.active);
    } else if (event.key === "i") {
      event.preventDefault();
      act.details(grid.active);
    }
  });
  scroller.addEventListener("pointerdown", (event) => {
    const cell = event.target.closest("[data-row]");
    if (!cell) return;
    grid.active = { row: Number(cell.dataset.row), column: Number(cell.dataset.first || cell.dataset.column) };
    grid.mark();
  });
}

// Return the rows and columns of a cell, ends exclusive; headers may span several, and be partly out of view.
function span(grid, row, column) {
  if (row >= 0) return { top: row, bottom: row + 1, left: column, right: column + 1 };
  const levels = grid.layout.levels;
  if (column < 2) return { top: -levels, bottom: 0, left: column, right: column + 1 };
  const head = grid.layout.heads.find(
    (one) =>
      one.start <= column - 2 &&
      column - 2 < one.end &&
      one.level <= row + levels &&
      row + levels < one.level + one.span,
  );
  if (!head) return { top: row, bottom: row + 1, left: column, right: column + 1 };
  const top = head.level - levels;
  return { top, bottom: top + head.span, left: head.start + 2, right: head.end + 2 };
}
