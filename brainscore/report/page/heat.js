// Large heat maps are pictures: the cell under the pointer is described below them.
function startHeat() {
  const picture = byId("heat");
  if (!picture) return;
  const [wide, high] = [Number(picture.dataset.wide), Number(picture.dataset.high)];
  const at = { model: 0, column: 0 };
  const tell = () => {
    const entry = column(at.column)[at.model];
    const text = entry.code === "s" ? estimate(entry) : stateText(entry);
    const benchmark = data.nodes[data.columns[at.column].node].title;
    byId("heat-says").replaceChildren(named(data.models[at.model]), " on ", named(benchmark), `: ${text}`);
  };
  const clamp = (value, most) => Math.max(0, Math.min(most - 1, value));
  const point = (event) => {
    const box = picture.getBoundingClientRect();
    at.column = clamp(Math.floor((event.clientX - box.left) / wide), data.columns.length);
    at.model = clamp(Math.floor((event.clientY - box.top) / high), data.models.length);
    tell();
  };
  picture.addEventListener("pointermove", point);
  picture.addEventListener("click", (event) => {
    point(event);
    location.hash = `#m-${at.model}`;
  });
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  picture.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    at.model = clamp(at.model + steps[event.key][0], data.models.length);
    at.column = clamp(at.column + steps[event.key][1], data.columns.length);
    tell();
  });
}
