// chart.js - two charts in SVG: kinds in bits against error, and the measured rate while a set fills.

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, attributes, parent, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return element;
}

// Powers of ten between two logarithms; with 2 and 5 times of them if there are few.
function rateTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(low); power <= high; power++) {
    for (const digit of high - low < 2 ? [1, 2, 5] : [1]) ticks.push(Number(`${digit}e${power}`));
  }
  const seen = ticks.filter((rate) => Math.log10(rate) >= low && Math.log10(rate) <= high);
  const every = Math.ceil(seen.length / 7);
  return seen.filter((_, i) => i % every === 0);
}

// Steps of 1, 2 or 5 times a power of ten, about `n` of them.
function niceSteps(most, n) {
  const rough = most / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

// An SVG as wide as its place, with room for axes. Units are pixels, so letters have the size of the page's.
function frame(holder, label, height) {
  holder.replaceChildren();
  const width = Math.max(280, holder.clientWidth);
  const box = { left: 46, right: width - 12, top: 14, bottom: height - 40, width, height };
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, holder);
  return { root, box };
}

function axes(root, box, xTicks, yTicks, xName, yName) {
  for (const { at, text } of yTicks) {
    svg("line", { x1: box.left, x2: box.right, y1: at, y2: at, class: "grid" }, root);
    svg("text", { x: box.left - 7, y: at + 4, class: "tick end" }, root, text);
  }
  for (const { at, text } of xTicks) {
    svg("line", { x1: at, x2: at, y1: box.bottom, y2: box.bottom + 5, class: "axis" }, root);
    svg("text", { x: at, y: box.bottom + 18, class: "tick middle" }, root, text);
  }
  svg("line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, class: "axis" }, root);
  svg("text", { x: box.right, y: box.height - 4, class: "name end" }, root, xName);
  svg("text", { x: 4, y: 10, class: "name" }, root, yName);
}

// Labels beside their points, moved apart where they would overlap.
function spread(labels, least, top, bottom) {
  const sorted = [...labels].sort((a, b) => a.y - b.y);
  for (let i = 1; i < sorted.length; i++) {
    const near = sorted.slice(0, i).filter((other) => Math.abs(other.x - sorted[i].x) < 75);
    for (const other of near) if (sorted[i].y - other.y < least) sorted[i].y = other.y + least;
  }
  const over = Math.max(0, ...sorted.map((label) => label.y - bottom));
  for (const label of sorted) label.y = Math.max(top, label.y - (label.y > bottom - least * 2 ? over : 0));
}

export function drawKinds(holder, rows, job, chosen, onChoose) {
  const able = rows.filter((row) => row.possible);
  const label = `Bits per key against error. ${able.map((row) => `${row.kind}: ${fixedText(row.bitsPerKey, 1)} bits at ${rateText(row.fpr)}`).join("; ")}.`
    + ` The minimum at ${rateText(job.fpr)} is ${Math.log2(1 / job.fpr).toFixed(1)} bits.`;
  const { root, box } = frame(holder, label, 420);
  const rates = [...able.map((row) => row.fpr), job.fpr];
  const low = Math.log10(Math.min(...rates)) - 0.45;
  const high = Math.min(0, Math.log10(Math.max(...rates)) + 0.45);
  const bits = [...able.map((row) => row.bitsPerKey), -high / Math.log10(2), Math.log2(1 / job.fpr)].filter((each) => each > 0);
  const [least, most] = [0.9 * Math.min(...bits), 1.25 * Math.max(...bits)];
  const x = (rate) => box.left + ((high - Math.log10(rate)) / (high - low)) * (box.right - box.left - 30);
  const y = (value) => box.bottom - (Math.log(value / least) / Math.log(most / least)) * (box.bottom - box.top);
  axes(root, box, rateTicks(low, high).map((rate) => ({ at: x(rate), text: rateText(rate) })),
    [1, 2, 5, 10, 20, 50, 100, 200, 500].filter((each) => each >= least && each <= most).map((each) => ({ at: y(each), text: String(each) })),
    "false-positive rate", "bits per key");
  drawMinimum(root, x, y, low, high);
  svg("line", { x1: x(job.fpr), x2: x(job.fpr), y1: box.top, y2: box.bottom, class: "asked" }, root);
  svg("text", { x: x(job.fpr) + 4, y: box.top + 8, class: "tick" }, root, `asked: ${rateText(job.fpr)}`);
  drawPoints(root, able, { x, y, box }, chosen, onChoose);
}

// No set of n keys with that error has fewer bits per key than log2(1 / error), whoever builds it.
function drawMinimum(root, x, y, low, high) {
  const bitsAt = (power) => Math.max(-power, 0.05) / Math.log10(2);
  const powers = Array.from({ length: 33 }, (_, i) => high + ((low - high) * i) / 32);
  svg("path", { d: `M${powers.map((power) => `${x(10 ** power).toFixed(1)} ${y(bitsAt(power)).toFixed(1)}`).join("L")}`, class: "minimum" }, root);
  const at = high + (low - high) * 0.78;
  svg("text", { x: x(10 ** at), y: y(bitsAt(at)) + 17, class: "tick strong middle" }, root, "minimum");
}

function drawPoints(root, able, { x, y, box }, chosen, onChoose) {
  const labels = able.map((row) => ({ row, x: x(row.fpr), y: y(row.bitsPerKey) + 4 }));
  spread(labels, 14, box.top + 20, box.bottom - 2);
  labels.sort((a, b) => (a.row.kind === chosen) - (b.row.kind === chosen)); // the chosen one is drawn on top
  for (const { row, y: at } of labels) {
    const [cx, cy] = [x(row.fpr), y(row.bitsPerKey)];
    const side = cx + 75 > box.width ? -1 : 1;
    const group = svg("g", { class: `point${row.kind === chosen ? " chosen" : ""}`, "data-kind": row.kind }, root);
    if (at - 4 - cy > 6) svg("path", { d: `M${cx} ${cy}L${cx + 12 * side} ${at - 4}`, class: "leader" }, group);
    svg("circle", { cx, cy, r: row.kind === chosen ? 6 : 4.5 }, group);
    svg("text", { x: cx + (at - 4 - cy > 6 ? 14 : 9) * side, y: at, class: side < 0 ? "end" : "" }, group, row.kind);
    svg("title", {}, group, `${row.kind}: ${fixedText(row.bitsPerKey, 1)} bits per key, ${rateText(row.fpr)}. ${row.summary}`);
    group.addEventListener("click", () => onChoose(row.kind));
  }
}

// While a set fills: the predicted rate with its band, and what was measured.
export function drawFilling(holder, { curve, points, asks, capacity }) {
  const last = points.at(-1);
  const label = `Rate against keys. Predicted when full: ${rateText(curve.find((point) => point.keys >= capacity)?.rate ?? 0)}.`
    + (last ? ` Measured with ${last.keys} keys: ${rateText(last.rate)}.` : "");
  const { root, box } = frame(holder, label, 240);
  const keys = curve.at(-1).keys;
  const most = 1.15 * Math.max(...curve.map((point) => point.rate + band(point.rate, asks)), ...points.map((point) => point.rate));
  const x = (n) => box.left + (n / keys) * (box.right - box.left);
  const y = (rate) => box.bottom - (rate / most) * (box.bottom - box.top);
  axes(root, box, niceSteps(keys, 5).map((n) => ({ at: x(n), text: String(n) })),
    niceSteps(most, 4).map((rate) => ({ at: y(rate), text: rateText(rate) })), "keys in the set", "false-positive rate");
  const line = (values) => values.map(([n, rate]) => `${x(n).toFixed(1)} ${y(Math.max(0, rate)).toFixed(1)}`).join("L");
  const upper = curve.map((point) => [point.keys, point.rate + band(point.rate, asks)]);
  const lower = curve.map((point) => [point.keys, point.rate - band(point.rate, asks)]).reverse();
  svg("path", { d: `M${line([...upper, ...lower])}Z`, class: "band" }, root);
  svg("path", { d: `M${line(curve.map((point) => [point.keys, point.rate]))}`, class: "predicted" }, root);
  svg("line", { x1: x(capacity), x2: x(capacity), y1: box.top, y2: box.bottom, class: "asked" }, root);
  for (const point of points) svg("circle", { cx: x(point.keys), cy: y(point.rate), r: point === last ? 4.5 : 2, class: point === last ? "now" : "measured" }, root);
}

// Half the width of the 95% band of a measurement with this many lookups.
export function band(rate, asks) {
  return 1.96 * Math.sqrt((rate * (1 - rate)) / asks);
}
