// Suggestions below the search box of every page, which loads this when it is first used. Without this, the form works
// alone.

const box = document.getElementById("site-search");
const WAIT = 150; // milliseconds without typing before suggestions are requested

const list = document.createElement("div");
list.id = "site-search-suggestions";
list.className = "suggestions";
list.hidden = true;
list.setAttribute("role", "listbox");
list.setAttribute("aria-label", "Suggestions");
const status = document.createElement("p");
status.className = "hidden-text";
status.setAttribute("role", "status");
box.closest("form").append(list, status);
box.setAttribute("role", "combobox");
box.setAttribute("aria-autocomplete", "list");
box.setAttribute("aria-expanded", "false");
box.setAttribute("aria-controls", list.id);

let timer = 0;
let request = null; // the request that is under way
let pausedUntil = 0; // after too many requests
let active = -1;

const options = () => [...list.querySelectorAll('[role="option"]')];

const close = () => {
  clearTimeout(timer);
  request?.abort();
  list.hidden = true;
  active = -1;
  box.setAttribute("aria-expanded", "false");
  box.removeAttribute("aria-activedescendant");
};

const choose = (index) => {
  const all = options();
  active = (index + all.length + 1) % (all.length + 1); // the last position is the box itself
  all.forEach((option, at) => option.setAttribute("aria-selected", String(at === active)));
  if (active < all.length) {
    box.setAttribute("aria-activedescendant", all[active].id);
    all[active].scrollIntoView({ block: "nearest" });
  } else {
    box.removeAttribute("aria-activedescendant");
    active = -1;
  }
};

const optionOf = (address, title, detail) => {
  const option = document.createElement("a");
  option.href = address;
  option.tabIndex = -1;
  option.id = `${list.id}-${options().length}`;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  option.append(title);
  if (detail && detail !== title) {
    const small = document.createElement("small");
    small.append(detail);
    option.append(" ", small);
  }
  return option;
};

const show = (found) => {
  list.replaceChildren();
  active = -1;
  box.removeAttribute("aria-activedescendant");
  for (const group of found.groups) {
    const section = document.createElement("div");
    section.setAttribute("role", "group");
    section.setAttribute("aria-label", group.title);
    const heading = document.createElement("div");
    heading.className = "suggestions-heading";
    heading.setAttribute("role", "presentation");
    heading.append(found.similar ? `${group.title} with similar names` : group.title);
    section.append(heading);
    list.append(section);
    for (const result of group.results) section.append(optionOf(result.address, result.title, result.identifier));
  }
  if (found.total) list.append(optionOf(found.all, `All results: ${found.total}`));
  list.hidden = !found.total;
  box.setAttribute("aria-expanded", String(Boolean(found.total)));
  status.textContent = found.total ? `${options().length - 1} suggestions` : "No suggestions";
};

const suggest = async () => {
  const text = box.value.trim();
  if (!text || Date.now() < pausedUntil) return close();
  request?.abort();
  const mine = (request = new AbortController());
  try {
    const response = await fetch(`${box.dataset.suggestions}?q=${encodeURIComponent(text)}`, { signal: mine.signal });
    if (response.status === 429) pausedUntil = Date.now() + 1000 * Number(response.headers.get("Retry-After") || 60);
    if (!response.ok) return close();
    const found = await response.json();
    if (!mine.signal.aborted) show(found);
  } catch (error) {
    if (error.name !== "AbortError") close(); // the form still works
  }
};

box.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(suggest, WAIT);
});
box.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !list.hidden) {
    event.preventDefault(); // the text stays
    close();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden) {
    event.preventDefault();
    choose(event.key === "ArrowDown" ? active + 1 : active < 0 ? options().length - 1 : active - 1);
  } else if (event.key === "Enter" && active >= 0) {
    event.preventDefault();
    options()[active].click();
  }
});
box.closest("form").addEventListener("focusout", (event) => {
  if (!event.currentTarget.contains(event.relatedTarget)) close();
});
list.addEventListener("mousedown", (event) => event.preventDefault()); // the box keeps the focus until the click
if (box.value) timer = setTimeout(suggest, WAIT); // typed while this was loading
