// Keeps open logs open, at their scroll position, when the progress of a submission is updated.

let open = new Map();

document.body.addEventListener("htmx:beforeSwap", () => {
  open = new Map(
    [...document.querySelectorAll("#progress details[open][id]")].map((one) => {
      const log = one.querySelector("pre");
      const atEnd = log && log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
      return [one.id, { top: log ? log.scrollTop : 0, atEnd }];
    }),
  );
});

document.body.addEventListener("htmx:afterSwap", () => {
  for (const [id, { top, atEnd }] of open) {
    const one = document.getElementById(id);
    if (!one) continue;
    one.open = true;
    const log = one.querySelector("pre");
    if (log) log.scrollTop = atEnd ? log.scrollHeight : top;
  }
});
