// Two benchmarks against each other.
const SIZE = { width: 720, height: 540, left: 64, right: 16, top: 14, bottom: 52 };
const scatter = { points: [], chosen: -1 };

function pearson(xs, ys) {
  const n = xs.length;
  // a rounded mean would leave something of a constant
  if (xs.every((x) => x === xs[0]) || ys.every((y) => y === ys[0])) return null;
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / n;
  const [mx, my] = [mean(xs), mean(ys)];
  let [xy, xx, yy] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    xy += (xs[i] - mx) * (ys[i] - my);
    xx += (xs[i] - mx) ** 2;
    yy += (ys[i] - my) ** 2;
  }
  return xx > 0 && yy > 0 ? Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy))) : null;
}

function ranks(values) {
  const order = values.map((_, index) => index).sort((a, b) => values[a] - values[b]);
  const found = new Array(values.length);
  for (let start = 0; start < order.length; ) {
    let end = start;
    while (end + 1 < order.length && values[order[end + 1]] === values[order[start]]) end++;
    for (let i = start; i <= end; i++) found[order[i]] = (start + end) / 2;
    start = end + 1;
  }
  return found;
}

function fisher(r, n, ofRanks) {
  if (r === null || n < 4 || Math.abs(r) >= 1) return null;
  const half = 1.959963984540054 * Math.sqrt((ofRanks ? 1 + (r * r) / 2 : 1) / (n - 3));
  return [Math.tanh(Math.atanh(r) - half), Math.tanh(Math.atanh(r) + half)];
}

function correlationText(xs, ys) {
  const n = xs.length;
  if (n < 3) return `${n} ${n === 1 ? "model is" : "models are"} scored on both: too few for a correlation.`;
  const told = [
    ["Pearson's r", pearson(xs, ys), false],
    ["Spearman's ρ", pearson(ranks(xs), ranks(ys)), true],
  ].map(([name, r, ofRanks]) => {
    if (r === null) return `${name} is not defined`;
    const interval = fisher(r, n, ofRanks);
    const range = interval ? `95 % interval ${limits(interval[0], interval[1])}` : "no interval";
    return `${name} = ${number(r)} (${range})`;
  });
  return `${told.join("; ")}; n = ${n} models scored on both.`;
}

function ticksOf(low, high) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const first = Math.ceil(low / step);
  const found = [];
  for (let i = first; i * step <= high + step * 1e-9; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}

function rangeOf(points, axis) {
  const values = points.flatMap((point) => [point[axis].value, point[axis].low, point[axis].high]);
  const finite = values.filter((value) => value !== null);
  if (!finite.length) return [0, 1];
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const room = (high - low || 1) * 0.06;
  return [low - room, high + room];
}

function drawScatter() {
  const [x, y] = [Number(byId("scatter-x").value), Number(byId("scatter-y").value)];
  const [across, upward] = [column(x), column(y)];
  const points = [];
  data.models.forEach((name, model) => {
    if (across[model].code === "s" && upward[model].code === "s") {
      points.push({ name, model, x: across[model], y: upward[model] });
    }
  });
  points.sort((a, b) => a.x.value - b.x.value || a.model - b.model);
  Object.assign(scatter, { points, chosen: -1 });
  const [xlow, xhigh] = rangeOf(points, "x");
  const [ylow, yhigh] = rangeOf(points, "y");
  const { width, height, left, right, top, bottom } = SIZE;
  const px = (value) => left + ((value - xlow) / (xhigh - xlow)) * (width - left - right);
  const py = (value) => height - bottom - ((value - ylow) / (yhigh - ylow)) * (height - top - bottom);
  const nodes = [data.nodes[data.columns[x].node], data.nodes[data.columns[y].node]];
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "group" });
  svg.setAttribute("aria-label", `${nodes[1].title} against ${nodes[0].title}, ${points.length} models`);
  for (const tick of ticksOf(xlow, xhigh)) {
    svg.append(draw("line", { class: "grid", x1: px(tick), x2: px(tick), y1: top, y2: height - bottom }));
    svg.append(draw("text", { class: "tick", x: px(tick), y: height - bottom + 16, "text-anchor": "middle" }, minus(tick)));
  }
  for (const tick of ticksOf(ylow, yhigh)) {
    svg.append(draw("line", { class: "grid", x1: left, x2: width - right, y1: py(tick), y2: py(tick) }));
    svg.append(draw("text", { class: "tick", x: left - 8, y: py(tick) + 4, "text-anchor": "end" }, minus(tick)));
  }
  const [from, to] = [Math.max(xlow, ylow), Math.min(xhigh, yhigh)];
  if (from < to && nodes[0].ceiled === nodes[1].ceiled) {
    svg.append(draw("line", { class: "equal", x1: px(from), y1: py(from), x2: px(to), y2: py(to) }));
  }
  const middle = top + (height - top - bottom) / 2;
  svg.append(draw("text", { x: left + (width - left - right) / 2, y: height - 12, "text-anchor": "middle" }, axisText(nodes[0])));
  svg.append(
    draw("text", { x: 16, y: middle, "text-anchor": "middle", transform: `rotate(-90 16 ${middle})` }, axisText(nodes[1])),
  );
  points.forEach((point, index) => {
    const group = draw("g", { class: "point", "data-point": index });
    const [cx, cy] = [px(point.x.value), py(point.y.value)];
    // a missing limit: the line ends at the edge of the plot
    const ends = ({ low, high }, [least, most]) => [low ?? least, high ?? most];
    if (hasLimit(point.x)) {
      const [x1, x2] = ends(point.x, [xlow, xhigh]).map(px);
      group.append(draw("line", { class: "bar", x1, x2, y1: cy, y2: cy }));
    }
    if (hasLimit(point.y)) {
      const [y1, y2] = ends(point.y, [ylow, yhigh]).map(py);
      group.append(draw("line", { class: "bar", x1: cx, x2: cx, y1, y2 }));
    }
    group.append(draw("circle", { class: "dot", cx, cy, r: 5 }), draw("circle", { class: "hit", cx, cy, r: 11 }));
    Object.assign(point, { cx, cy });
    svg.append(group);
  });
  if (byId("scatter-names").checked) placeNames(svg, points);
  byId("scatter-plot").replaceChildren(svg);
  byId("scatter-r").textContent = correlationText(points.map((p) => p.x.value), points.map((p) => p.y.value));
  byId("scatter-says").textContent = "";
}

const minus = (value) => String(value).replace("-", "−");
const shortened = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);
const axisText = (node) => `${shortened(node.title, 70)}${node.ceiled ? "" : " (no ceiling)"}`;

// A name goes right, left, above or below its dot, wherever it hides no other; else it is left out.
function placeNames(svg, points) {
  const taken = points.map(({ cx, cy }) => [cx - 6, cy - 6, cx + 6, cy + 6]);
  for (const { name, cx, cy } of points.slice(0, 400)) {
    const text = shortened(name, 28);
    const length = text.length * 6.2;
    const places = [
      [cx + 9, cy - 5, "start"],
      [cx - 9, cy - 5, "end"],
      [cx + 9, cy + 14, "start"],
      [cx - 9, cy + 14, "end"],
    ];
    for (const [x, y, anchor] of places) {
      const start = anchor === "start" ? x : x - length;
      const box = [start, y - 10, start + length, y + 3];
      const outside = box[0] < SIZE.left || box[2] > SIZE.width || box[1] < 0 || box[3] > SIZE.height - SIZE.bottom;
      if (outside || taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      taken.push(box);
      svg.append(draw("text", { class: "label", x, y, "text-anchor": anchor }, text));
      break;
    }
  }
}

function choose(index) {
  const groups = byId("scatter-plot").querySelectorAll(".point");
  groups[scatter.chosen]?.classList.remove("chosen");
  scatter.chosen = index;
  const point = scatter.points[index];
  if (!point) return byId("scatter-says").replaceChildren();
  groups[index].classList.add("chosen");
  byId("scatter-says").replaceChildren(named(point.name), `: across ${estimate(point.x)}, upward ${estimate(point.y)}`);
}

function fillSelect(select, chosen) {
  let group = null;
  data.columns.forEach((entry, index) => {
    const node = data.nodes[entry.node];
    const above = data.nodes[node.parent]?.title ?? "";
    if (!group || group.label !== above) select.append((group = make("optgroup", { label: above })));
    group.append(make("option", { value: index }, node.title));
  });
  select.value = String(chosen);
}

function startScatter() {
  if (!byId("scatter-form")) return;
  if (!data.pair) {
    byId("scatter-form").hidden = true;
    byId("scatter-none").hidden = false;
    return;
  }
  fillSelect(byId("scatter-x"), data.pair[0]);
  fillSelect(byId("scatter-y"), data.pair[1]);
  byId("scatter-names").checked = data.models.length <= 40;
  byId("scatter-form").addEventListener("submit", (event) => event.preventDefault());
  byId("scatter-form").addEventListener("change", drawScatter);
  byId("scatter-swap").addEventListener("click", () => {
    const [x, y] = [byId("scatter-x"), byId("scatter-y")];
    [x.value, y.value] = [y.value, x.value];
    drawScatter();
  });
  const plot = byId("scatter-plot");
  plot.addEventListener("pointerover", (event) => {
    const group = event.target.closest(".point");
    if (group) choose(Number(group.dataset.point));
  });
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (event.key === "Escape") choose(-1);
    if (!step || !scatter.points.length) return;
    event.preventDefault();
    const start = scatter.chosen < 0 && step < 0 ? 0 : scatter.chosen;
    choose((start + step + scatter.points.length) % scatter.points.length);
  });
  drawScatter();
}
