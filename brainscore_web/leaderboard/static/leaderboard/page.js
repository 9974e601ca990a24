// The page of the leaderboard: replaces the table from the server, and requests everything except the order from it.

import { Grid, listen } from "./grid.js";
import { element, painter } from "./paint.js";
import { FACTS, byColumn, byName, byNumber, byRank, decode, headAt, layout } from "./table.js";

const root = document.getElementById("leaderboard");
const form = document.getElementById("ask");
const scroller = document.getElementById("scroller");
const table = scroller.querySelector("table");
const says = document.getElementById("says");
const counts = document.getElementById("counts");
const trouble = document.getElementById("trouble");
const empty = document.getElementById("empty");
const problem = document.getElementById("problem");
const address = root.dataset;
const COLUMNS_AT_ONCE = 40;
const narrow = matchMedia("(max-width: 40rem)"); // as in the style sheet

const STATE = ["sort", "open", "show", "models", "mine", "common"]; // in hidden fields without scripts
const ELSEWHERE = new Set([...STATE, "errors", "page"]);

const MOST_COMPARED = 6; // as on the page of comparisons
const MOST_CHANGES = 3; // in a row; the wait doubles each time

let asked = null; // the current request
let changes = 0; // how often in a row the columns were of another revision than the table
let stepOf = null; // the field that was typed into for the last history entry
let params = new URLSearchParams(location.search);
for (const name of ["page", "picks"]) params.delete(name);

const view = {
  data: null,
  decoded: new Map(),
  open: new Set(),
  private: new Set(),
  mine: new Set(),
  first: -1, // node of the first mean that is a column
  ticked: new Set(),
  sort: { key: "rank", reversed: false },
  errors: params.has("errors"),
  card: (kind, identifier) =>
    address[kind].replace("IDENTIFIER", encodeURIComponent(identifier).replaceAll("%2F", "/")),
  columns(id) {
    if (!view.decoded.has(id)) {
      const sent = view.data.columns[id];
      if (!sent) return null;
      view.decoded.set(id, decode(sent, view.data.models.id.length));
    }
    return view.decoded.get(id);
  },
};
const paint = painter(view);
let grid = null;
let inspector = null;

const query = () => {
  const plain = new URLSearchParams(params);
  for (const name of ["errors", "page", "open", "sort", "show"]) plain.delete(name);
  return plain.toString();
};

// ---------------------------------------------------------------- the form and the query of the URL

// Return the query of the form, with the current order and open columns.
function read(form, params) {
  const next = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (String(value).trim() && !ELSEWHERE.has(name)) next.append(name, value);
  }
  const others = form.elements.include ? STATE : [...STATE, "include", "exclude"]; // not in the form until it lists them
  for (const name of others) for (const value of params.getAll(name)) next.append(name, value);
  if (form.elements.errors.checked) next.set("errors", "1");
  return next;
}

function fill(form, params) {
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

// ---------------------------------------------------------------- data from the server

// Why a response is an error: with 429 the server says what was too much, and when to try again.
async function reason(answer) {
  if (answer.status !== 429) return `the server responded with ${answer.status}`;
  const { message, remedy } = await answer.json();
  return `${message}; ${remedy}`;
}

// `typed`: the field that is being typed into; typing without leaving it creates one history entry.
async function ask(next, { remembered = true, typed = null, aloud = false } = {}) {
  asked?.abort();
  const mine = (asked = new AbortController());
  root.classList.add("busy");
  scroller.setAttribute("aria-busy", "true");
  try {
    const sent = new URLSearchParams(next);
    sent.delete("errors");
    const answer = await fetch(`${address.data}?${sent}`, {
      signal: mine.signal,
      headers: { Accept: "application/json" },
    });
    if (!answer.ok) throw new Error(await reason(answer));
    const data = await answer.json();
    if (mine.signal.aborted) return;
    if (data.problem) {
      refuse(data.problem);
      return;
    }
    accept();
    params = new URLSearchParams(data.query);
    if (next.has("errors")) params.set("errors", "1");
    remember(remembered && !(typed && typed === stepOf));
    stepOf = remembered ? typed : null;
    apply(data);
    if (aloud) says.textContent = counts.textContent;
  } catch (error) {
    if (error.name !== "AbortError") fail(error, () => ask(next, { remembered, typed, aloud }));
  } finally {
    if (asked === mine) {
      asked = null;
      root.classList.remove("busy");
      scroller.removeAttribute("aria-busy");
    }
  }
}

function apply(data) {
  view.data = data;
  view.decoded.clear();
  view.private = new Set(data.models.private);
  view.mine = new Set(data.models.mine);
  for (const node of data.nodes) node.title ??= node.id;
  view.open = new Set(data.nodes.flatMap((node, place) => (node.open ? [place] : [])));
  for (const [id, title] of Object.entries(FACTS)) data.nodes.push({ id, title, parent: -1, kind: "fact", n: 0 });
  showFacts();
  shortcuts(data.shortcuts);
  chips(data.chips);
  presets();
  view.errors = params.has("errors");
  view.sort = { key: data.sort.replace(/^-/, ""), reversed: data.sort.startsWith("-") };
  inspector?.close();
  counts.textContent = data.counts;
  empty.replaceChildren(...data.empty.map((text) => element("p", {}, text)));
  empty.hidden = !data.empty.length;
  scroller.hidden = !data.models.id.length || data.nodes.every((node) => node.kind === "fact");
  document.getElementById("hint").hidden = scroller.hidden;
  document.getElementById("notes").replaceChildren(...data.notes.map((note) => element("li", {}, note)));
  document.getElementById("chosen").textContent = data.chosen ? String(data.chosen) : "";
  if (!grid) takeOver();
  scroller.classList.toggle("with-errors", view.errors);
  show();
  links();
  complete();
}

// Show the rows in order, and the headers that are open.
function show() {
  const { key, reversed } = view.sort;
  const count = view.data.models.id.length;
  const column = key === "model" || key === "rank" ? null : view.columns(key);
  let rows;
  if (key === "model") rows = byName(count, reversed);
  else if (column) rows = byColumn(column, count, reversed);
  else if (FACTS[key]) rows = byNumber(view.data.models[key], reversed);
  else rows = byRank(view.data.models, reversed); // also if the filters exclude the column
  const made = layout(view.data.nodes, view.open, { factsLast: narrow.matches });
  view.first = made.columns.find((place) => view.data.nodes[place].kind === "mean");
  grid.set(rows, made);
}

// Open the nodes of the columns about models that are shown.
function showFacts() {
  const shown = params.has("show") ? params.getAll("show") : ["scored"];
  view.data.nodes.forEach((node, place) => {
    if (node.kind !== "fact") return;
    if (shown.includes(node.id) && (node.id !== "scored" || view.data.models.scored.length)) view.open.add(place);
    else view.open.delete(place);
  });
}

function shortcuts(sent) {
  const list = document.getElementById("shortcuts");
  list.replaceChildren(...sent.map(([text, address]) => element("li", {}, element("a", { href: `?${address}` }, text))));
  list.hidden = !sent.length;
}

function chips(sent) {
  document.getElementById("chips").replaceChildren(
    ...sent.map(([text, address]) => {
      const remove = [element("span", { "aria-hidden": "true" }, "×"), element("span", { class: "said" }, ": remove")];
      return element("li", {}, element("a", { class: "chip", href: `?${address}` }, `${text} `, ...remove));
    }),
  );
  document.getElementById("active").hidden = !sent.length;
}

// Tabs keep the other filters.
const SELECTION = ["include", "exclude", "mine"];
function presets() {
  const chosen = (query) => SELECTION.map((name) => query.getAll(name).join("\n")).join("\n\n");
  for (const link of document.querySelectorAll("#presets a")) {
    const changes = new URLSearchParams(link.dataset.preset);
    const next = new URLSearchParams(params);
    for (const name of [...SELECTION, "open", "sort"]) next.delete(name);
    for (const [name, value] of changes) next.append(name, value);
    link.href = next.size ? `?${next}` : location.pathname;
    if (chosen(changes) === chosen(params)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

// Show the details of a cell, by a script that is loaded for the first of them.
async function inspect(place, focus = false) {
  const { Inspector, describer } = await import("./inspector.js");
  inspector ??= new Inspector(document.getElementById("inspector"), {
    address: address.cell,
    query,
    grid,
    describe: describer(grid, view, paint),
  });
  await inspector.open(place, focus);
}

function takeOver() {
  document.getElementById("pages")?.remove();
  const fresh = table.cloneNode(false);
  fresh.setAttribute("role", "grid");
  fresh.append(document.createElement("thead"), document.createElement("tbody"));
  table.replaceWith(fresh);
  scroller.removeAttribute("tabindex");
  scroller.classList.add("live");
  root.classList.add("live");
  grid = new Grid(scroller, fresh, paint);
  scroller.addEventListener("click", ({ target }) => {
    const cell = target.closest("tbody [data-column]");
    if (cell && !target.closest("a, button, input")) inspect(grid.active);
  });
  narrow.addEventListener("change", show);
  const legend = document.querySelector("details.legend");
  let folded = true;
  addEventListener("beforeprint", () => {
    folded = !legend.open;
    legend.open = true;
    grid.print();
  });
  addEventListener("afterprint", () => {
    legend.open = !folded;
    grid.printed();
  });
  scroller.addEventListener("pointerover", ({ target }) => {
    const cell = target.closest("tbody [data-column], thead [data-first]");
    const place = grid.layout.columns[(cell?.dataset.first ?? cell?.dataset.column) - 2];
    if (place === undefined) return;
    if (cell.dataset.first) cell.title = paint.facts(place).join(", ");
    else cell.title = paint.hint(grid.rows[cell.dataset.row], place);
  });
  listen(grid, {
    enter,
    sort: ({ column, row }) => sortBy(keyAt(row, column)),
    details: (place) => inspect(place, true),
  });
}

// Load the missing columns of open headers in portions.
async function complete() {
  const data = view.data;
  const wanted = layout(data.nodes, view.open).columns.map((place) => data.nodes[place]);
  const missing = wanted.filter((node) => !["heading", "fact"].includes(node.kind) && !data.columns[node.id]);
  if (!missing.length) {
    changes = 0;
    return;
  }
  const parents = [...new Set(missing.map((node) => node.parent))];
  while (parents.length) {
    const some = [];
    let size = 0;
    while (parents.length && (!some.length || size < COLUMNS_AT_ONCE)) {
      const parent = parents.shift();
      some.push(parent);
      size += data.nodes.filter((node) => node.parent === parent).length;
    }
    const sent = new URLSearchParams(query());
    for (const parent of some) sent.append("node", parent < 0 ? "" : data.nodes[parent].id);
    try {
      const answer = await fetch(`${address.columns}?${sent}`, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(await reason(answer));
      const more = await answer.json();
      if (view.data !== data) return;
      if (more.problem || more.revision !== data.revision || more.models !== data.models.id.length) {
        if (++changes > MOST_CHANGES) {
          changes = 0;
          fail(new Error("the data keep changing"), () => ask(params, { remembered: false }));
          return;
        }
        if (changes > 1) await new Promise((wake) => setTimeout(wake, 500 * 2 ** (changes - 2)));
        if (view.data === data && !asked) ask(params, { remembered: false }); // the data have changed in the meantime
        return;
      }
      Object.assign(data.columns, more.columns);
    } catch (error) {
      if (view.data === data) fail(error, complete);
      return;
    }
    grid.refresh();
  }
  changes = 0;
}

function refuse({ message, remedy, field }) {
  const text = [message, remedy].filter(Boolean).join(": ");
  const input = form.elements[field];
  problem.textContent = text;
  problem.hidden = false;
  if (input?.setAttribute) input.setAttribute("aria-invalid", "true");
}

function accept() {
  problem.hidden = true;
  problem.textContent = "";
  trouble.hidden = true;
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

function fail(error, again) {
  const what = error instanceof TypeError ? "there is no connection" : error.message;
  const retry = element("button", { type: "button" }, "Try again");
  retry.addEventListener("click", () => {
    trouble.hidden = true;
    again();
  });
  trouble.replaceChildren(`New data could not be loaded (${what}). The table shows earlier data. `, retry);
  trouble.hidden = false;
}

// ---------------------------------------------------------------- the URL

function remember(push) {
  const text = params.toString();
  const target = text ? `?${text}` : location.pathname;
  if (push && location.search.replace(/^\?/, "") !== text) history.pushState(null, "", target);
  else history.replaceState(null, "", target);
}

function links() {
  const plain = new URLSearchParams(params);
  plain.delete("errors");
  plain.delete("page");
  for (const link of document.querySelectorAll("a[data-export]")) {
    link.href = plain.size ? `${link.dataset.export}?${plain}` : link.dataset.export;
  }
}

addEventListener("popstate", () => {
  const next = new URLSearchParams(location.search);
  if (next.toString() === params.toString()) return; // the link leads to another part of this page
  next.delete("page");
  fill(form, next);
  ask(next, { remembered: false });
});

// ---------------------------------------------------------------- order and columns

function keyAt(row, column) {
  if (column < 2) return column ? "model" : "rank";
  const levels = grid.layout.levels;
  const head = row < 0 && headAt(grid.layout.heads, column - 2, row + levels);
  return view.data.nodes[head ? head.place : grid.layout.columns[column - 2]].id;
}

function sortBy(key) {
  const node = view.data.nodes.find((one) => one.id === key);
  if (node?.kind === "heading") return;
  const reversed = view.sort.key === key && !view.sort.reversed;
  view.sort = { key, reversed };
  params.delete("sort");
  if (key !== "rank" || reversed) params.set("sort", `${reversed ? "-" : ""}${key}`);
  remember(true);
  links();
  show();
  const name = node ? node.title : key;
  const ways =
    key === "model"
      ? ["from A", "from Z"]
      : key === "rank"
        ? ["best first", "worst first"]
        : ["highest first", "lowest first"];
  says.textContent = `Sorted by ${name}, ${ways[Number(reversed)]}`;
}

function toggle(place) {
  if (view.open.has(place)) view.open.delete(place);
  else view.open.add(place);
  opened();
}

function opened() {
  params.delete("open");
  const tree = [...view.open].filter((place) => view.data.nodes[place].kind !== "fact");
  const ids = tree.map((place) => view.data.nodes[place].id).sort();
  for (const id of ids.length ? ids : [""]) params.append("open", id);
  remember(true);
  links();
  show();
  complete();
}

// What the button does: it compares up to six models, those that were chosen first.
function compareText(n) {
  if (n < 2) return "Compare with another model";
  return n > MOST_COMPARED ? `Compare the first ${MOST_COMPARED} of ${n} chosen` : `Compare ${n} chosen models`;
}

// Choose a model to compare, or choose it no longer.
function tick(id) {
  if (view.ticked.has(id)) view.ticked.delete(id);
  else view.ticked.add(id);
  const button = document.querySelector("#ticked button");
  button.textContent = compareText(view.ticked.size);
  root.classList.toggle("chosen", view.ticked.size > 0);
  grid.refresh();
}

document.getElementById("ticked").addEventListener("submit", (event) => {
  if (!grid) return;
  event.preventDefault();
  const sent = new URLSearchParams();
  const only = event.submitter?.classList.contains("only");
  if (!only) sent.set("mode", "models");
  for (const id of only ? [...view.ticked].sort() : view.ticked) sent.append("models", id);
  location.assign(`${only ? location.pathname : event.target.action}?${sent}`);
});

function enter({ row, column }, cell, key) {
  if (row >= 0 && column === 1 && key === " ") {
    tick(view.data.models.id[grid.rows[row]]);
    return;
  }
  if (row >= 0) {
    const link = column < 2 && cell?.parentElement.querySelector("th a");
    if (link) link.click();
    else inspect({ row, column }, true);
    return;
  }
  const button = cell?.querySelector("[data-open]");
  if (button) toggle(Number(button.dataset.open));
  else if (cell?.querySelector("a.card")) cell.querySelector("a.card").click();
  else sortBy(keyAt(row, column));
}

scroller.addEventListener("click", (event) => {
  if (event.target.matches("input.tick-model")) {
    tick(event.target.value);
    return;
  }
  const button = event.target.closest("button[data-sort], button[data-open]");
  if (!button || !grid) return;
  if (button.dataset.sort) sortBy(button.dataset.sort);
  else toggle(Number(button.dataset.open));
  grid.mark();
});

for (const [id, all] of [
  ["open-all", true],
  ["close-all", false],
]) {
  document.getElementById(id).addEventListener("click", (event) => {
    event.preventDefault();
    if (!view.data) return;
    const { children } = layout(view.data.nodes, view.open);
    view.open = new Set(all ? [...children.keys()].filter((place) => place >= 0) : []);
    showFacts();
    opened();
  });
}

// ---------------------------------------------------------------- the form

let waiting = 0;
form.addEventListener("input", (event) => {
  if (event.target.name === "errors") {
    view.errors = event.target.checked;
    params.delete("errors");
    if (view.errors) params.set("errors", "1");
    remember(true);
    scroller.classList.toggle("with-errors", view.errors);
    if (grid) show();
    return;
  }
  if (event.target.name === "show") {
    params.delete("show");
    const names = [...form.querySelectorAll("input[name=show]:checked")].map((input) => input.value);
    if (names.join() !== "scored") for (const name of names.length ? names : [""]) params.append("show", name);
    remember(true);
    if (names.some((name) => !view.data?.models[name])) ask(params, { remembered: false });
    else {
      showFacts();
      show();
    }
    return;
  }
  const typed = event.target.matches("input:not([type=checkbox], [type=radio])") ? event.target : null;
  clearTimeout(waiting);
  waiting = setTimeout(() => ask(read(form, params), { typed, aloud: true }), 300);
});
form.addEventListener("focusout", () => (stepOf = null));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  ask(read(form, params), { aloud: true });
});
// The tree of benchmarks to include or exclude is part of the page when it is first used.
form.addEventListener("click", async (event) => {
  if (!event.target.matches("p.picks a")) return;
  event.preventDefault();
  const sent = new URLSearchParams(params);
  sent.set("picks", "1");
  try {
    const answer = await fetch(`?${sent}`);
    if (!answer.ok) throw new Error(await reason(answer));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.getElementById("picks").replaceWith(page.getElementById("picks"));
    document.querySelector("#picks summary").focus();
  } catch (error) {
    fail(error, () => event.target.click());
  }
});
// Links to other states of this board: tabs, active filters, other selections.
root.addEventListener("click", (event) => {
  const link = event.target.closest("#presets a, #chips a, #shortcuts a, a.reset");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const next = new URLSearchParams(link.search);
  if (params.has("errors")) next.set("errors", "1");
  fill(form, next);
  ask(next, { aloud: true });
});

// One panel of the toolbar is open; it closes by Escape and by a click elsewhere.
const panels = [...form.querySelectorAll("details.panel")];
addEventListener("keydown", (event) => {
  const panel = event.key === "Escape" && panels.find((each) => each.open);
  if (!panel) return;
  if (panel.contains(document.activeElement)) panel.querySelector("summary").focus();
  panel.open = false;
});
addEventListener("pointerdown", ({ target }) => {
  for (const panel of panels) if (!panel.contains(target)) panel.open = false;
});
const copy = document.getElementById("copy");
copy.hidden = false;
copy.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    says.textContent = "Link copied";
  } catch {
    says.textContent = `The link is the URL of this page: ${location.href}`;
  }
  says.classList.add("seen");
  setTimeout(() => says.classList.remove("seen"), 3000);
});

fill(form, params); // browsers restore the contents of forms
ask(params, { remembered: false });
