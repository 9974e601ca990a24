// Content of the grid's cells. Texts become text nodes only, never HTML.

import { DOUBTFUL, DOUBTS, EXPOSED, EXPOSURES, SAID, SIGNS, countText, limits, shown } from "./table.js";

export function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...content);
  return made;
}

// Allow line breaks in long names: after punctuation, and before a year.
function breakable(text) {
  return text
    .split(/(?<=[._\-/])|(?<=[a-z])(?=\d{3})/)
    .flatMap((part, place) => (place ? [document.createElement("wbr"), part] : [part]));
}

// The interval of a score as a line on the range of all intervals of its column, as the server draws it.
function whisker(column, row) {
  column.range ??= [
    column.low.reduce((a, b) => (b < a ? b : a), Infinity),
    column.high.reduce((a, b) => (b > a ? b : a), -Infinity),
  ];
  const [lowest, highest] = column.range;
  const at = (value) => ((100 * (value - lowest)) / (highest - lowest || 1)).toFixed(1);
  const [svg, path] = ["svg", "path"].map((name) => document.createElementNS("http://www.w3.org/2000/svg", name));
  path.setAttribute("d", `M${at(column.low[row])} 3H${at(column.high[row])}M${at(column.value[row])} 0V6`);
  for (const [name, value] of Object.entries({ class: "whisker", viewBox: "0 0 100 6", preserveAspectRatio: "none" }))
    svg.setAttribute(name, value);
  svg.setAttribute("aria-hidden", "true");
  svg.append(path);
  return svg;
}

// `view` is the state of the table: {data, columns (decoded, by node), open, sort: {key, reversed}, errors, cards}
export function painter(view) {
  // the best or A comes first: values descend, names and ranks ascend
  const said = (key) => {
    if (view.sort.key !== key) return "none";
    return (key === "model" || key === "rank") === view.sort.reversed ? "descending" : "ascending";
  };
  const arrow = (key) =>
    element("span", {
      class: `arrow ${{ ascending: "up", descending: "down" }[said(key)] || ""}`,
      "aria-hidden": "true",
    });

  const ranked = (row) => {
    const { rank, best, worst, tested, group } = view.data.models;
    if (!rank[row]) return `no rank: ${view.data.models.unranked[row] || "no score"}`;
    const limits = tested[row] === "0" ? "not tested" : `between ${best[row]} and ${worst[row]}`;
    return `rank ${rank[row]}, ${limits}${group[row] ? `; groups: ${group[row]}` : ""}`;
  };
  const sorting = (key, name, title) =>
    element(
      "button",
      { type: "button", class: "sort", tabindex: "-1", "data-sort": key, title },
      element("span", { class: "name" }, ...name),
      arrow(key),
    );
  const about = (href, text, sign, kind = "card") =>
    element(
      "a",
      { class: kind, tabindex: "-1", href, title: text },
      element("span", { "aria-hidden": "true" }, sign),
      element("span", { class: "said" }, text),
    );
  const opening = (head, node) => {
    const verb = head.group ? "Close" : "Open";
    return element(
      "button",
      {
        type: "button",
        class: "open",
        tabindex: "-1",
        "data-open": head.place,
        "aria-label": `${verb} ${node.title}, ${node.n} benchmarks`,
        title: `${verb}: ${node.n} benchmarks`,
      },
      element("span", { class: `sign ${head.group ? "minus" : "plus"}`, "aria-hidden": "true" }),
      String(node.n),
    );
  };

  return {
    corner(cell, key) {
      cell.setAttribute("aria-sort", said(key));
      const box = element("div", { class: "header-box" });
      if (key === "rank") box.append(element("div", { class: "header-tools" }, about("#ranks", "What ranks mean", "?")));
      box.append(sorting(key, [key === "rank" ? "Rank" : "Model"]));
      cell.append(box);
    },

    head(cell, head) {
      const node = view.data.nodes[head.place];
      cell.className = head.group ? "group" : node.kind;
      cell.classList.add(`depth-${Math.min(head.level, 5)}`);
      if (node.kind === "fact") {
        cell.setAttribute("aria-sort", said(node.id));
        cell.append(element("div", { class: "header-box" }, sorting(node.id, [node.title], `Sort by ${node.title}`)));
        return;
      }
      const card = node.kind === "heading" ? null : view.card("benchmark", node.id);
      const full = node.words ? `${node.title} — ${node.words}` : node.title;
      const box = element("div", { class: "header-box" });
      const tools = element("div", { class: "header-tools" });
      if (head.group || head.closed) {
        tools.append(opening(head, node));
        cell.setAttribute("aria-expanded", String(Boolean(head.group)));
      }
      if (card && !head.group && !head.mean) tools.append(about(card, `About ${full}`, "i"));
      if (card && node.badge) tools.append(about(`${card}#validity`, `Validity: ${node.badge[1]}`, node.badge[0], "validity-sign"));
      if (node.new) tools.append(element("span", { class: "new" }, "new"));
      if (tools.childElementCount) box.append(tools);
      if (!card) {
        box.append(element("span", { class: "name", title: node.title }, node.title));
      } else if (head.group) {
        const title = `About ${node.title}`;
        box.append(element("a", { class: "name", tabindex: "-1", href: card, title }, node.title));
      } else {
        cell.setAttribute("aria-sort", said(node.id));
        const name = head.mean
          ? ["Mean", element("span", { class: "said" }, ` of ${node.title}`)]
          : breakable(node.title);
        box.append(sorting(node.id, name, `Sort by ${full}`));
      }
      cell.append(box);
    },

    rank(cell, row) {
      const { rank, best, worst, group } = view.data.models;
      cell.replaceChildren();
      cell.removeAttribute("title");
      if (!rank[row]) {
        cell.append(element("span", { "aria-hidden": "true" }, "–"), element("span", { class: "said" }, "no rank"));
        if (view.data.models.unranked[row]) {
          cell.title = ranked(row);
          cell.append(" ", element("span", { class: "why" }, "too few"));
        }
        return;
      }
      cell.title = ranked(row);
      cell.append(element("b", {}, String(rank[row])));
      if (best[row] !== worst[row]) cell.append(element("span", { class: "range" }, ` (${best[row]}–${worst[row]})`));
      if (group[row]) cell.append(element("span", { class: "letters" }, ` ${group[row]}`));
    },

    model(cell, row) {
      const { id, title } = view.data.models;
      const name = title[row] || id[row];
      const link = element("a", { href: view.card("model", id[row]), tabindex: "-1", title: name }, ...breakable(name));
      const box = element("input", {
        type: "checkbox",
        class: "tick-model",
        form: "ticked",
        name: "models",
        value: id[row],
        tabindex: "-1",
        "aria-label": `Choose ${name}`,
      });
      box.checked = view.ticked.has(id[row]);
      cell.replaceChildren(box, link);
      if (view.private.has(row)) {
        cell.append(
          element(
            "span",
            { class: "private", title: view.mine.has(row) ? "Only owners can see it" : "Not public" },
            "private",
          ),
        );
      }
    },

    cell(cell, row, place) {
      const node = view.data.nodes[place];
      const column = view.columns(node.id);
      cell.removeAttribute("aria-label");
      cell.removeAttribute("title");
      if (node.kind === "fact") {
        cell.className = `fact ${node.id}`;
        cell.textContent = this.fact(row, node.id);
      } else if (node.kind === "heading") {
        cell.className = "void";
        cell.textContent = "";
      } else if (!column) {
        cell.className = "waiting";
        cell.textContent = "…";
      } else if (column.state[row] === 0) {
        const shade = column.shade[row];
        cell.className = shade < 0 ? "value" : `value s${shade}`;
        cell.textContent = shown(column.value[row]);
        const exposure = column.exposure[row];
        if (exposure) {
          cell.append(
            element(
              "span",
              { class: "exposure" },
              element("span", { "aria-hidden": "true" }, EXPOSED[exposure]),
              element("span", { class: "said" }, ` ${EXPOSURES[exposure]}`),
            ),
          );
        }
        const doubt = column.doubt[row];
        if (doubt) {
          cell.append(
            element(
              "span",
              { class: "unverified" },
              element("span", { "aria-hidden": "true" }, DOUBTFUL[doubt]),
              element("span", { class: "said" }, ` ${DOUBTS[doubt]}`),
            ),
          );
        }
        const interval = limits(column.low[row], column.high[row]);
        const first = place === view.first;
        if (first) cell.classList.add("first");
        const bounded = first && column.low[row] <= column.high[row];
        if (view.errors || (first && interval))
          cell.append(" ", element("span", { class: bounded ? "interval bounded" : "interval" }, interval));
        if (bounded) cell.append(whisker(column, row));
      } else {
        const state = column.state[row];
        cell.className = `none ${SAID[state].replace(" ", "-")}`;
        cell.textContent = SIGNS[state];
        cell.setAttribute("aria-label", SAID[state]);
      }
    },

    ranked,

    // Text of a column about models; empty if it is not known.
    fact(row, name) {
      const number = view.data.models[name][row];
      if (name === "scored") return `${number} of ${view.data.models.of}`;
      if (number === null) return "";
      return name === "parameters" ? countText(number) : String(number);
    },

    // Facts about a column.
    facts(place) {
      const node = view.data.nodes[place];
      const sent = view.data.columns[node.id] || {};
      const known = ["best", "median", "ceiling"].filter((name) => sent[name]).map((name) => `${name} ${sent[name]}`);
      const validity = node.badge ? [`validity: ${node.badge[1]}`] : [];
      return [...(node.n > 1 ? [`${node.n} benchmarks`] : []), ...known, ...validity];
    },

    // Return the tooltip of a cell.
    hint(row, place) {
      if (view.data.nodes[place].kind === "fact") return "";
      const column = view.columns(view.data.nodes[place].id);
      if (!column) return "";
      if (column.state[row]) return SAID[column.state[row]];
      const exposure = column.exposure[row] ? `; ${EXPOSURES[column.exposure[row]]}` : "";
      const doubt = column.doubt[row] ? `; ${DOUBTS[column.doubt[row]]}` : "";
      return `${shown(column.value[row])} (${limits(column.low[row], column.high[row]) || "no interval known"})${exposure}${doubt}`;
    },
  };
}
