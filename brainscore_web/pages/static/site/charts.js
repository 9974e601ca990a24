// Tooltips of charts: the text of a mark is shown as soon as it is pointed at or has the focus; Escape hides it.
// Without this script, browsers show the same text after a delay.
"use strict";
(() => {
  const tip = document.createElement("div");
  tip.className = "chart-tip";
  tip.hidden = true;
  document.body.append(tip);
  let silenced = null; // the title that was removed so that the browser does not show it, too

  const hide = () => {
    tip.hidden = true;
    if (silenced) silenced.title.textContent = silenced.text;
    silenced = null;
  };
  const show = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - box.width - 4))}px`;
    tip.style.top = `${y + 16 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 16}px`;
  };
  const titled = (target) => {
    for (let at = target; at && at.closest && at.closest(".chart") && !at.classList.contains("chart"); at = at.parentElement) {
      const title = at.querySelector(":scope > title");
      if (title) return title;
    }
    return null;
  };

  document.addEventListener("pointermove", (event) => {
    const title = titled(event.target);
    if (title && !(silenced && silenced.title === title)) {
      hide();
      silenced = { title, text: title.textContent };
      title.textContent = "";
    }
    if (title) return show(silenced.text, event.clientX, event.clientY);
    const said = inMatrix(event);
    return said ? show(said, event.clientX, event.clientY) : hide();
  });
  document.addEventListener("focusin", (event) => {
    const title = titled(event.target);
    if (!title) return;
    hide();
    const box = event.target.getBoundingClientRect();
    show(title.textContent, box.right - 8, box.bottom - 12);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, true);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());

  // Cells of large matrices are not elements; their values are in a JSON script.
  const matrices = new Map();
  const inMatrix = (event) => {
    const holder = event.target.closest && event.target.closest("[data-matrix]");
    const cells = holder && holder.querySelector(".chart-cells");
    if (!cells) return "";
    if (!matrices.has(holder)) matrices.set(holder, JSON.parse(document.getElementById(holder.dataset.matrix).textContent));
    const { labels, values, symbol } = matrices.get(holder);
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(cells.getScreenCTM().inverse());
    let [row, column] = [Math.floor(at.y + 0.5), Math.floor(at.x)]; // strokes are drawn through the centres of the cells
    if (row < 0 || column < 0 || row >= labels.length || column >= labels.length) return "";
    const names = `${labels[row]} × ${labels[column]}`;
    if (row > column) [row, column] = [column, row];
    const value = values[row * labels.length - (row * (row - 1)) / 2 + column - row];
    return `${names}\n${value === null ? "none" : `${symbol[0]} = ${(value / 100).toFixed(2).replace("-", "−")}`}`;
  };
})();
