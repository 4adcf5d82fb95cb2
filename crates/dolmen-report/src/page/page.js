"use strict";
// Sorting: a click on a column's name, or Enter on it. Rows without a number come last either way.
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") === "descending" || (column === 0 && !head.hasAttribute("aria-sort"));
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => {
      const cell = row.cells[column];
      if (column === 0) return cell.textContent;
      if (!("v" in cell.dataset)) return null;
      return Number(cell.dataset.v);
    };
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      const order = column === 0 ? x.localeCompare(y) : x === y ? 0 : x < y ? -1 : 1;
      return up ? order : -order;
    });
    body.append(...rows);
  }));
}
// Values: what a mark stands for is its title; it is shown at once where the pointer is, and the slow tooltip is not.
const tip = document.getElementById("tip");
for (const title of document.querySelectorAll("figure title")) {
  title.parentNode.dataset.tip = title.textContent;
  title.remove();
}
const show = event => {
  const mark = event.target.closest && event.target.closest("[data-tip]");
  tip.hidden = !mark;
  if (!mark) return;
  tip.textContent = mark.dataset.tip;
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const top = event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18;
  tip.style.left = Math.max(8, left) + "px";
  tip.style.top = top + "px";
};
document.addEventListener("pointermove", show);
document.addEventListener("pointerdown", show);
