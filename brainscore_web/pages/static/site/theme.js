// The colours that a visitor has chosen: those of the system, unless this browser has stored others.
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
  });
})();
