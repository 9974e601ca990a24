// Conversion between the form and the query of the URL.

const STATE = ["sort", "open", "show", "models", "mine", "common"]; // in hidden fields without scripts
const ELSEWHERE = new Set([...STATE, "errors", "page"]);

// Return the query of the form, with the current order and open columns.
export function read(form, params) {
  const next = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (String(value).trim() && !ELSEWHERE.has(name)) next.append(name, value);
  }
  for (const name of STATE) for (const value of params.getAll(name)) next.append(name, value);
  if (form.elements.errors.checked) next.set("errors", "1");
  return next;
}

export function fill(form, params) {
  for (const input of form.querySelectorAll("input")) {
    const values = params.getAll(input.name);
    if (input.type === "checkbox") {
      input.checked = values.length || !input.dataset.usual ? values.includes(input.value) : true;
    }
    else if (input.type === "radio") {
      input.checked = values.length ? values.includes(input.value) : input.dataset.usual === "1";
    } else if (input.type !== "hidden") input.value = values[0] || "";
  }
  for (const select of form.querySelectorAll("select")) select.value = params.get(select.name) || "";
}
