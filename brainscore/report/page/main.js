function follow() {
  const target = location.hash.length > 1 && byId(location.hash.slice(1));
  if (!target) return;
  if (target.tagName === "DETAILS") target.open = true;
  target.scrollIntoView();
}

for (const element of document.querySelectorAll(".script")) element.hidden = false;
for (const details of document.querySelectorAll("details[data-packed]")) {
  details.addEventListener("toggle", () => unpack(details));
}
startBoard();
startHeat();
startScatter();
addEventListener("hashchange", follow);
follow();
