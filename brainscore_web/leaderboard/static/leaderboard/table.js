// Converts data of the server to columns, an order of rows and a layout of headers; does not change the page.

export const SIGNS = ["", "NaN", "n/a", "✕", "old", "–", "?", "○", "·", "few"];
export const SAID = [
  "", "undefined", "not applicable", "failed", "outdated", "missing", "undetermined", "not run", "left out",
  "too few scores",
];

// Signs of scores by exposure, and their texts.
export const EXPOSED = ["", "°", "†"];
export const EXPOSURES = ["clean", "training unknown", "trained on it"];

// Signs of scores of remote workers that are in doubt, and their texts.
export const DOUBTFUL = ["", "‡", "‼"];
export const DOUBTS = ["", "not verified", "contradicted"];

// A column is sent as: the states of all rows (s), and for each row with a value (state 0) its value (v) and the limits of
// its interval (l, h; empty if there are none), exposure (e) and verification (u; empty: no score has a mark); and how many
// rows there are of each colour from 9 to 0 (c). A value is shown without its fraction, which tells apart values that
// are rounded to the same number.
export function decode(sent, count) {
  const numbers = () => new Float64Array(count).fill(NaN);
  const [value, low, high, exact] = [numbers(), numbers(), numbers(), numbers()];
  const shade = new Int8Array(count).fill(-1);
  const state = Int8Array.from(sent.s);
  const exposure = new Int8Array(count);
  const doubt = new Int8Array(count);
  const order = [];
  state.forEach((code, row) => {
    if (code) return;
    const at = order.push(row) - 1;
    exact[row] = sent.v[at];
    value[row] = Math.floor(sent.v[at]) / sent.scale;
    low[row] = (sent.l[at] ?? NaN) / sent.scale;
    high[row] = (sent.h[at] ?? NaN) / sent.scale;
    exposure[row] = Number(sent.e[at] || 0);
    doubt[row] = Number(sent.u[at] || 0);
  });
  order.sort((a, b) => exact[b] - exact[a] || a - b);
  let place = 0;
  sent.c.forEach((number, at) => {
    for (const row of order.slice(place, (place += number))) shade[row] = 9 - at;
  });
  return { value, low, high, shade, state, exposure, doubt, exact, order };
}

// Rows by name, as they are sent.
export function byName(count, reversed) {
  const rows = Array.from({ length: count }, (_, row) => row);
  return reversed ? rows.reverse() : rows;
}

// Rows by rank; those without a rank (0) last, those with most scores first, ties by name.
export function byRank({ rank, scored }, reversed) {
  const way = reversed ? -1 : 1;
  const more = (a, b) => (rank[a] || !scored.length ? 0 : scored[b] - scored[a]);
  return byName(rank.length).sort(
    (a, b) => !rank[a] - !rank[b] || way * (rank[a] - rank[b]) || more(a, b) || a - b,
  );
}

// Rows by numbers, highest first; those without a number last, ties by name.
export function byNumber(numbers, rising) {
  const way = rising ? -1 : 1;
  const none = (row) => numbers[row] === null;
  return byName(numbers.length).sort((a, b) => none(a) - none(b) || way * (numbers[b] - numbers[a]) || a - b);
}

// Columns about models: they stand in front of the nodes, and are sent with the models.
export const FACTS = { scored: "Scored", parameters: "Parameters", published: "Published" };

// The server formats counts, values and limits of intervals in the same way.
export function countText(number) {
  for (const [unit, size] of [
    ["G", 1e9],
    ["M", 1e6],
  ]) {
    const places = number < 10 * size ? 2 : number < 100 * size ? 1 : 0;
    if (number >= 0.9995 * size) return `${(multiple(number, size / 10 ** places) / size).toFixed(places)} ${unit}`;
  }
  return multiple(number, 1).toLocaleString("en-US");
}

// The nearest multiple; of two that are equally near the even one, as Python rounds.
function multiple(number, unit) {
  const rest = number % unit;
  const whole = (number - rest) / unit;
  return (whole + (rest > unit / 2 || (rest === unit / 2 && whole % 2 === 1) ? 1 : 0)) * unit;
}

// Rows by a column; those without a value last, ties by name.
export function byColumn(column, count, rising) {
  const scored = column.order.slice();
  if (rising) scored.sort((a, b) => column.exact[a] - column.exact[b] || a - b);
  return scored.concat(byName(count).filter((row) => column.state[row]));
}

// Nodes are sent depth first as {id, title, parent, kind, n, depth}. An open mean is a column below a heading that spans
// all columns below the mean, unless no model has a value (bare); `open` contains indices of nodes.
export function layout(nodes, open, { factsLast = false } = {}) {
  const children = new Map();
  nodes.forEach((node, place) => {
    if (!children.has(node.parent)) children.set(node.parent, []);
    children.get(node.parent).push(place);
  });
  const columns = [];
  const heads = [];
  let levels = 1;
  const walk = (place, level) => {
    const node = nodes[place];
    const below = children.get(place) || [];
    const start = columns.length;
    levels = Math.max(levels, level + 1);
    if (below.length && open.has(place)) {
      const head = { place, start, level, group: true };
      heads.push(head);
      levels = Math.max(levels, level + 2);
      if (node.kind === "mean" && !node.bare) {
        heads.push({ place, start, end: start + 1, level: level + 1, mean: true });
        columns.push(place);
      }
      for (const one of below) walk(one, level + 1);
      head.end = columns.length;
    } else {
      columns.push(place);
      heads.push({ place, start, end: start + 1, level, closed: below.length > 0 });
    }
  };
  const roots = children.get(-1) || [];
  const facts = roots.filter((root) => nodes[root].kind === "fact" && open.has(root));
  const rest = roots.filter((root) => nodes[root].kind !== "fact");
  for (const root of factsLast ? [...rest, ...facts] : [...facts, ...rest]) walk(root, 0);
  for (const head of heads) head.span = head.group ? 1 : levels - head.level;
  return { columns, heads, levels, children };
}

// Return the header at a column and a level; it may start at a higher level.
export function headAt(heads, column, level) {
  return heads.find(
    (head) => head.start <= column && column < head.end && head.level <= level && level < head.level + head.span,
  );
}

export function shown(value) {
  if (Number.isNaN(value)) return "";
  const size = Math.abs(value);
  const unit = 10 ** (Math.floor(Math.log10(size)) - 2);
  const large = () => Math.sign(value) * multiple(size, unit);
  const text = size < 1000 ? value.toFixed(3) : large().toExponential(2).replace(/\.?0*e/, "e");
  return text.replace(/(e[+-])(\d)$/, "$10$2").replaceAll("-", "−");
}

// Empty without an interval.
export function limits(low, high) {
  const [first, last] = [shown(low), shown(high)];
  if (first && last) return first + (low < 0 ? " to " : "–") + last;
  if (first) return `≥ ${first}`;
  return last && `≤ ${last}`;
}
