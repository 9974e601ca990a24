// What all parts of the page use. Everything is made with textContent: no name can become markup.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const STATES = { s: "scored", d: "undetermined", u: "undefined", n: "not-applicable", f: "failed", o: "outdated", m: "missing" };
const WORDS = { ...STATES, u: "NaN", n: "not applicable" };

function number(value) {
  if (value === null) return "–";
  const text = Math.abs(value) < 1000 ? value.toFixed(3) : value.toPrecision(3);
  return (text === "-0.000" ? "0.000" : text).replaceAll("-", "−");
}

function limits(low, high) {
  if (high === null) return `${number(low)} and more, no upper limit`;
  if (low === null) return `${number(high)} and less, no lower limit`;
  return number(low) + (low < 0 ? " to " : "–") + number(high);
}

const hasLimit = (entry) => entry.low !== null || entry.high !== null;

// A value with its interval; with its standard error if there is only that.
function estimate(entry) {
  const { value, error, low, high } = entry;
  if (hasLimit(entry)) return `${number(value)} (${limits(low, high)})`;
  return number(value) + (error === null || error === undefined ? "" : ` (standard error ${number(error)})`);
}

// The state of a pair without a score, with the raw score where the ceiling may be 0.
const stateText = (entry) => (entry.code === "d" ? `${WORDS.d} (raw ${number(entry.raw)})` : WORDS[entry.code]);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const named = (text) => make("bdi", { class: "name" }, text);

// One entry a model: {code, value, error, low, high, exposure}; numbers only where it is scored.
const columns = new Map();
function column(number) {
  if (!columns.has(number)) {
    const { s, v, e, l, h, r, x } = data.columns[number];
    let next = 0;
    let nextRaw = 0;
    const entries = [...s].map((code) => {
      if (code === "d") return { code, value: null, error: null, low: null, high: null, raw: r[nextRaw++] };
      if (code !== "s") return { code, value: null, error: null, low: null, high: null };
      const at = next++;
      return { code, value: v[at], error: e[at], low: l[at], high: h[at], exposure: x[at] };
    });
    columns.set(number, entries);
  }
  return columns.get(number);
}

const columnOf = new Map(data.columns.map((entry, index) => [entry.node, index]));

// Sections of large reports are packed; each is unpacked when it is opened first.
async function unpack(details) {
  const holder = details.querySelector(":scope > script");
  if (!holder) return;
  const bytes = Uint8Array.from(atob(holder.textContent), (letter) => letter.charCodeAt(0));
  holder.remove();
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const template = document.createElement("template");
  template.innerHTML = await new Response(stream).text(); // written and escaped with the page
  details.querySelector(":scope > .wait")?.remove();
  details.append(template.content);
}
