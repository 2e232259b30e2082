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
for (const button of document.querySelectorAll(".copy")) {
  const text = button.previousElementSibling;
  const done = ok => {
    button.textContent = ok ? "Copied" : "Ctrl+C";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
  const old = () => {  // pages that are not served safely have no clipboard of their own
    getSelection().selectAllChildren(text);
    done(document.execCommand("copy"));
  };
  button.addEventListener("click", () => {
    if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(() => done(true), old);
    else old();
  });
}
const tip = document.createElement("div");
tip.id = "tip";
tip.setAttribute("role", "status");
tip.hidden = true;
document.body.append(tip);
const between = (low, value, high) => Math.max(low, Math.min(value, high));
const tell = (part, x, y) => {
  for (const other of document.querySelectorAll(".told")) other.classList.remove("told");
  tip.hidden = !part;
  if (!part) return;
  part.classList.add("told");
  tip.textContent = part.dataset.tip;
  const { width, height } = tip.getBoundingClientRect(), wide = document.documentElement.clientWidth;
  tip.style.left = `${between(8, x - width / 2, wide - width - 8)}px`;
  tip.style.top = `${y > height + 16 ? y - height - 12 : y + 20}px`;
};
for (const picture of document.querySelectorAll("figure svg")) {
  const parts = [...picture.querySelectorAll("g > title")].map(title => {
    const part = title.parentElement;
    part.dataset.tip = title.textContent;
    title.remove();
    part.addEventListener("pointermove", event => tell(part, event.clientX, event.clientY));
    part.addEventListener("pointerleave", () => tell(null));
    return part;
  });
  if (parts.length === 0) continue;
  let at = -1;
  picture.tabIndex = 0;
  picture.addEventListener("blur", () => { at = -1; tell(null); });
  picture.addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") tell(null);
    if (!step) return;
    event.preventDefault();
    at = (Math.max(at, step < 0 ? 0 : -1) + step + parts.length) % parts.length;
    const box = parts[at].getBoundingClientRect();
    tell(parts[at], box.left + box.width / 2, box.top);
  });
}
