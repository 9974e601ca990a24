// The colours that a visitor has chosen: those of the system, unless this browser has stored others. And the search box
// of every page: the key / leads to it, and the script of its suggestions is loaded when the box is first used.
(() => {
  "use strict";
  const root = document.documentElement;

  function show(theme) {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  }

  function stored() {
    try {
      return localStorage.getItem("theme");
    } catch { // the browser stores nothing for this site
      return null;
    }
  }

  function store(theme) {
    try {
      localStorage.setItem("theme", theme);
    } catch { // then the choice holds for this page
      return;
    }
  }

  show(stored()); // before anything is drawn
  document.addEventListener("DOMContentLoaded", () => {
    const choice = document.getElementById("theme");
    choice.value = root.dataset.theme || "system";
    choice.addEventListener("change", () => {
      show(choice.value);
      store(choice.value);
    });
    const box = document.getElementById("site-search");
    box.addEventListener("focus", () => import(box.dataset.script));
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing) return;
      event.preventDefault();
      if (!box.offsetParent) document.getElementById("menu-switch").checked = true; // on a phone the box is in the menu
      box.focus();
      box.select();
    });
  });
})();
