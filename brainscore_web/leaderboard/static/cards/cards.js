// Optional additions to the cards: trees open without reloading the page, and a button copies code.
"use strict";

for (const tree of document.querySelectorAll("[data-tree]")) {
  const rows = [...tree.tBodies[0].rows];
  const toggleOf = (row) => row.querySelector(".toggle");
  const isOpen = (row) => toggleOf(row)?.getAttribute("aria-expanded") === "true";

  const show = () => {
    let closedAt = Infinity; // rows deeper than this are below a closed one
    for (const row of rows) {
      const depth = Number(row.dataset.depth);
      if (depth <= closedAt) closedAt = Infinity;
      row.hidden = depth > closedAt;
      if (!row.hidden && toggleOf(row) && !isOpen(row)) closedAt = depth;
    }
  };

  const address = () => {
    const open = rows.filter(isOpen).map((row) => row.dataset.node).sort();
    const query = (open.length ? open : [""]).map((name) => `open=${encodeURIComponent(name)}`).join("&");
    history.replaceState(null, "", `${location.pathname}?${query}${location.hash}`);
  };

  const set = (row, open) => {
    const toggle = toggleOf(row);
    toggle.setAttribute("aria-expanded", String(open));
    const text = toggle.querySelector(".hidden-text");
    text.textContent = text.textContent.replace(/^(Open|Close) /, open ? "Close " : "Open ");
  };

  tree.addEventListener("click", (event) => {
    const toggle = event.target.closest(".toggle");
    if (!toggle || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const row = toggle.closest("tr");
    set(row, !isOpen(row));
    show();
    address();
  });

  const button = document.createElement("button");
  button.type = "button";
  button.className = "tree-button";
  const all = () => rows.every((row) => !toggleOf(row) || isOpen(row));
  const label = () => { button.textContent = all() ? "Close all" : "Open all"; };
  button.addEventListener("click", () => {
    const open = !all();
    for (const row of rows) if (toggleOf(row)) set(row, open);
    show();
    address();
    label();
  });
  tree.addEventListener("click", label);
  label();
  tree.closest(".wide").before(button);
}

for (const snippet of document.querySelectorAll(".snippet")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  const said = document.createElement("span");
  said.className = "hidden-text";
  said.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    const code = snippet.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
      said.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code); // no access to the clipboard: the visitor can copy the selection
      button.textContent = "Selected";
      said.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2000);
  });
  snippet.append(button, said);
}
