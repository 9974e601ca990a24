// Keyboard navigation of the grid, by the ARIA grid pattern.

// act: {enter(place, element), sort(place), details(place)}
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
