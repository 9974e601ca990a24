// The leaderboard: columns open along the tree, rows sort by any of them.
const board = {
  open: new Set(data.start),
  over: data.over,
  by: -2, // the leaderboard's order, the best first; -1: by name; otherwise a column
  falling: true,
  find: "",
  most: 100,
};

function shownColumns() {
  const shown = [];
  data.nodes.forEach((node, place) => {
    if (node.parent < 0 || (shown[node.parent] && board.open.has(node.parent))) shown[place] = true;
  });
  return Object.keys(shown).map(Number);
}

function valueOf(place, model) {
  const node = data.nodes[place];
  if (node.kind === "mean") return data.means[board.over][place].v[model];
  return node.kind === "benchmark" ? column(columnOf.get(place))[model].value : null;
}

function orderOf() {
  const wanted = board.find.trim().toLowerCase();
  const found = data.orders[board.over].filter((model) => data.models[model].toLowerCase().includes(wanted));
  if (board.by === -2) return board.falling ? found : found.reverse();
  if (board.by < 0) {
    found.sort((a, b) => (data.models[a] < data.models[b] ? -1 : 1));
    return board.falling ? found : found.reverse();
  }
  const sign = board.falling ? -1 : 1;
  return found.sort((a, b) => {
    const [x, y] = [valueOf(board.by, a), valueOf(board.by, b)];
    if (x === null || y === null) return (x === null) - (y === null) || a - b; // without a value last, either way
    return sign * (x - y) || a - b;
  });
}

function headOf(place, hasChildren) {
  const node = data.nodes[place];
  const cell = make("th", { scope: "col", class: node.kind + (node.parent < 0 ? " root" : "") });
  if (node.parent >= 0) cell.append(make("span", { class: "path" }, named(data.nodes[node.parent].title), " ›"));
  if (node.kind === "heading") {
    cell.append(named(node.title));
  } else {
    const sort = make("button", { type: "button", class: "sort", "data-sort": place }, named(node.title));
    cell.append(sort);
    if (board.by === place) cell.setAttribute("aria-sort", board.falling ? "descending" : "ascending");
    if (node.kind === "benchmark" && !node.ceiled) sort.title = "no ceiling: as measured";
  }
  if (hasChildren.has(place)) {
    const open = board.open.has(place);
    const attributes = { type: "button", class: "open", "data-open": place, "aria-expanded": String(open) };
    attributes["aria-label"] = `${open ? "Close" : "Open"} ${node.title}`;
    cell.append(make("button", attributes, open ? "◂ close" : `▸ ${node.shown} benchmark${node.shown > 1 ? "s" : ""}`));
  }
  return cell;
}

function cellOf(place, model) {
  const node = data.nodes[place];
  const root = node.parent < 0 ? " root" : "";
  if (node.kind === "heading") return make("td", { class: root });
  if (node.kind === "mean") {
    const { v, l, h } = data.means[board.over][place];
    const text = data.texts[data.cover[place][model]];
    const cover = make("small", {}, text.split(" scored")[0]);
    return make("td", { class: `n${root}`, title: text }, estimate({ value: v[model], low: l[model], high: h[model] }), cover);
  }
  const entry = column(columnOf.get(place))[model];
  if (entry.code !== "s") {
    return make("td", { class: "n" }, make("span", { class: `state ${STATES[entry.code]}` }, stateText(entry)));
  }
  return make("td", { class: "n" }, estimate(entry), ...exposureOf(entry));
}

const EXPOSURES = { u: ["°", "training unknown"], t: ["†", "trained on it"] };

function exposureOf(entry) {
  if (!EXPOSURES[entry.exposure]) return [];
  const [sign, text] = EXPOSURES[entry.exposure];
  return [" ", make("abbr", { class: "exposure", title: text }, sign, make("span", { class: "said" }, ` ${text}`))];
}

function drawBoard() {
  const table = byId("board");
  const focused = document.activeElement?.closest("#board button");
  const key = focused && (focused.dataset.open ? `[data-open="${focused.dataset.open}"]` : `[data-sort="${focused.dataset.sort}"]`);
  const shown = shownColumns();
  const hasChildren = new Set(data.nodes.map((node) => node.parent));
  const model = make("th", { scope: "col" }, make("button", { type: "button", class: "sort", "data-sort": -1 }, "Model"));
  if (board.by === -1) model.setAttribute("aria-sort", board.falling ? "ascending" : "descending");
  const ranks = data.ranks[board.over];
  const sortsByRank = make("th", { scope: "col" }, make("button", { type: "button", class: "sort", "data-sort": -2 }, "Rank"));
  if (board.by === -2) sortsByRank.setAttribute("aria-sort", board.falling ? "ascending" : "descending");
  const rank = ranks ? [sortsByRank] : [];
  const head = make("tr", {}, model, ...rank, ...shown.map((place) => headOf(place, hasChildren)));
  const order = orderOf();
  const rows = order.slice(0, board.most).map((index) => {
    const link = make("a", { href: `#m-${index}` }, named(data.models[index]));
    const rankOf = ranks ? [make("td", { class: "n" }, ranks[index])] : [];
    return make("tr", {}, make("th", { scope: "row" }, link), ...rankOf, ...shown.map((place) => cellOf(place, index)));
  });
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...rows);
  table.caption.textContent =
    board.over === "all"
      ? "What has no score counts as 0."
      : "What has no score is left out: means over different benchmarks do not compare.";
  const more = byId("board-more");
  more.parentElement.hidden = order.length <= board.most;
  more.textContent = `Show more: ${order.length - board.most} models are left`;
  if (key) table.querySelector(key)?.focus();
}

function startBoard() {
  if (!byId("board")) return;
  byId("board-form").elements.over.value = board.over;
  byId("board-form").addEventListener("submit", (event) => event.preventDefault());
  byId("board-form").addEventListener("change", (event) => {
    if (event.target.name !== "over") return;
    board.over = event.target.value;
    drawBoard();
  });
  byId("board-find").addEventListener("input", (event) => {
    board.find = event.target.value;
    drawBoard();
  });
  byId("board-open").addEventListener("click", () => {
    board.open = new Set(data.nodes.map((node) => node.parent));
    drawBoard();
  });
  byId("board-close").addEventListener("click", () => {
    board.open = new Set();
    drawBoard();
  });
  byId("board-more").addEventListener("click", () => {
    board.most += 400;
    drawBoard();
  });
  byId("board").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.open) {
      const place = Number(button.dataset.open);
      if (!board.open.delete(place)) board.open.add(place);
    } else {
      const place = Number(button.dataset.sort);
      board.falling = board.by === place ? !board.falling : true;
      board.by = place;
    }
    drawBoard();
  });
  drawBoard();
}
