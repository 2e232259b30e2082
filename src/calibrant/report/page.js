"use strict";
for (const button of document.querySelectorAll("[data-show]")) {
  button.addEventListener("click", () => {
    for (const other of document.querySelectorAll("[data-show]")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
    for (const part of document.querySelectorAll("[data-stage]")) {
      part.hidden = part.dataset.stage !== button.dataset.show;
    }
  });
}
const later = (a, b) => {
  if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
  const [x, y] = [Number(a), Number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
};
for (const head of document.querySelectorAll("table.sortable th button")) {
  head.addEventListener("click", () => {
    const cell = head.parentElement, body = cell.closest("table").tBodies[0];
    const down = cell.getAttribute("aria-sort") === "ascending";
    for (const other of cell.parentElement.cells) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => row.cells[cell.cellIndex].dataset.key;
    const rows = [...body.rows].sort((a, b) => {
      const missing = key(a) === undefined || key(b) === undefined;
      return (down && !missing ? -1 : 1) * later(key(a), key(b));
    });
    body.append(...rows);
  });
}
