// Choosing a line of a file, by its number or its text, moves the file's form for comments below that line.
//
// Without this script, the form stands below the file and asks for the number of the line.

let moved = null; // the form that stands below a line: {form, home, row, link}

for (const file of document.querySelectorAll(".file")) {
  const form = file.querySelector("form.say:has(input[type=number][name=line])");
  if (!form) continue;
  file.classList.add("commentable");
  file.querySelector(".hint").hidden = false;
  for (const link of file.querySelectorAll(".no a")) {
    link.setAttribute("aria-label", `Comment on line ${link.textContent}`);
  }
  file.querySelector(".lines").addEventListener("click", (event) => {
    const line = event.target.closest("tr[id]");
    const link = line?.querySelector(".no a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (event.target.closest("a") !== link && !window.getSelection().isCollapsed) return; // text is being selected
    event.preventDefault();
    open(form, line, link);
  });
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && moved?.form.contains(event.target)) close();
});

function open(form, line, link) {
  close();
  const row = document.createElement("tr");
  row.className = "said";
  row.innerHTML = '<td colspan="2"><div class="beside"></div></td>';
  moved = { form, home: form.parentElement, row, link };
  const cancel = document.createElement("button");
  cancel.type = "button";
  cancel.className = "cancel";
  cancel.textContent = "Cancel";
  cancel.addEventListener("click", close);
  form.append(" ", cancel);
  row.querySelector(".beside").append(form);
  form.elements.line.value = link.textContent;
  line.after(row);
  form.elements.text.focus();
}

function close() {
  if (!moved) return;
  moved.form.querySelector(".cancel").remove();
  moved.form.elements.line.value = "";
  moved.home.append(moved.form);
  moved.row.remove();
  moved.link.focus();
  moved = null;
}
