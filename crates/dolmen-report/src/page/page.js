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
      const order = column === 0 ? x.localeCompare(y, undefined, {numeric: true}) : x === y ? 0 : x < y ? -1 : 1;
      return up ? order : -order;
    });
    body.append(...rows);
  }));
}
// Values: what a mark stands for is its title; it is shown at once where the pointer is, and the slow tooltip is not. Of curves
// the values at the point nearest to the pointer are told, and a line shows where they are.
const tip = document.getElementById("tip");
for (const title of document.querySelectorAll("figure title")) {
  title.parentNode.dataset.tip = title.textContent;
  title.remove();
}
const numbers = text => text.split(" ").map(Number);
const short = value => String(Number(value.toPrecision(4))).replace("-", "\u2212");
const MOST = 9;
const plots = new Map();
for (const svg of document.querySelectorAll("svg[data-frame]")) {
  let x = [];
  const curves = [...svg.querySelectorAll("[data-y]")].map(path => {
    if (path.dataset.x) x = numbers(path.dataset.x);
    return {name: path.dataset.tip, x, y: numbers(path.dataset.y)};
  });
  const line = document.createElementNS(svg.namespaceURI, "line");
  line.setAttribute("class", "cross");
  line.setAttribute("visibility", "hidden");
  svg.append(line);
  plots.set(svg, {curves, line, frame: numbers(svg.dataset.frame), domain: numbers(svg.dataset.domain)});
}
const nearest = (values, x) => {
  let [best, least] = [0, Infinity];
  values.forEach((value, k) => {
    const distance = Math.abs(value - x);
    if (distance <= least) [best, least] = [k, distance];
  });
  return best;
};
// What a curve says at a place: on the line between the points beside it, and nothing beyond its ends.
const valueAt = ({x: xs, y: ys}, x, isLog) => {
  const k = nearest(xs, x);
  if (xs[k] === x) return ys[k];
  const scale = isLog ? Math.log : value => value;
  for (const step of [-1, 1]) {
    // Steps have several points at one place: the last of them on this side is the one beside it.
    let from = k;
    while (xs[from + step] === xs[k]) from += step;
    const j = from + step;
    if (!(j in xs) || (xs[j] - x) * (xs[k] - x) > 0) continue;
    const share = (scale(x) - scale(xs[from])) / (scale(xs[j]) - scale(xs[from]));
    return ys[from] + share * (ys[j] - ys[from]);
  }
  return NaN;
};
const told = (svg, event) => {
  const {curves, line, frame: [left, right, top, bottom], domain: [low, high]} = plots.get(svg);
  const {x: across, y: down} = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  if (across < left - 4 || across > right + 4 || down < top - 4 || down > bottom + 4) return "";
  const share = (across - left) / (right - left);
  const isLog = "log" in svg.dataset;
  const wanted = isLog ? low * (high / low) ** share : low + share * (high - low);
  const x = curves[0].x[nearest(curves[0].x, wanted)];
  const part = isLog ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low);
  const at = left + Math.min(1, Math.max(0, part)) * (right - left);
  for (const [name, value] of [["x1", at], ["x2", at], ["y1", top], ["y2", bottom], ["visibility", "visible"]])
    line.setAttribute(name, value);
  const values = curves.map(curve => [curve.name, valueAt(curve, x, isLog)]).filter(([, y]) => !Number.isNaN(y));
  values.sort((a, b) => b[1] - a[1]);
  const more = values.length > MOST ? [`\u2026 and ${values.length - MOST} more`] : [];
  return [`${svg.dataset.name} ${short(x)}`, ...values.slice(0, MOST).map(([name, y]) => `${name}: ${short(y)}`), ...more].join("\n");
};
const show = event => {
  const near = event.target.closest ? event.target : document.documentElement;
  const svg = near.closest("svg[data-frame]");
  for (const [other, {line}] of plots) if (other !== svg) line.setAttribute("visibility", "hidden");
  const mark = near.closest("[data-tip]:not([data-y])");
  const texts = [mark ? mark.dataset.tip : "", svg ? told(svg, event) : ""].filter(text => text);
  tip.hidden = texts.length === 0;
  if (tip.hidden) return;
  tip.textContent = texts.join("\n");
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const top = event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18;
  tip.style.left = Math.max(8, left) + "px";
  tip.style.top = Math.max(8, top) + "px";
};
document.addEventListener("pointermove", show);
document.addEventListener("pointerdown", show);
