// Optional additions to the cards: trees open without reloading the page, and a button copies code.
"use strict";

// Replace the rows of a tree by those of the page at an address; the focus stays on the link that was followed.
async function open(tree, address, node) {
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("[data-tree]");
    tree.tBodies[0].replaceWith(document.adoptNode(fresh.tBodies[0]));
    const all = tree.closest("section").querySelector(".tree-all");
    const next = page.querySelector(".tree-all");
    all.textContent = next.textContent;
    all.setAttribute("href", next.getAttribute("href"));
    history.replaceState(null, "", address);
    const row = [...tree.tBodies[0].rows].find((one) => one.dataset.node === node);
    row?.querySelector(".toggle")?.focus();
  } catch {
    location.assign(address);
  }
}

for (const tree of document.querySelectorAll("[data-tree]")) {
  tree.closest("section").addEventListener("click", (event) => {
    const link = event.target.closest(".toggle, .tree-all");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open(tree, link.href, link.closest("tr")?.dataset.node);
  });
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
