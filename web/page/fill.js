// fill.js - a small set that fills while you watch: its buckets, and its measured rate compared with the predicted one.

const ASKS = 20000; // keys that were never added, looked up for each measurement
const FIRST_ASK = 1e12; // ids that no other measurement has used
const CURVE_POINTS = 22;

export class Filling {
  constructor(tamis, seed) {
    this.tamis = tamis;
    this.seed = seed;
    this.nextAsk = FIRST_ASK;
    this.timer = null;
  }

  // A new, empty set. It can remove, except a bloom, which never can.
  start(kind, capacity, fpr) {
    this.stop();
    this.set?.free();
    const spec = { kind, capacity, fpr, remove: kind !== "bloom" };
    if (this.seed !== undefined) spec.seed = this.seed;
    this.spec = spec;
    this.set = this.tamis.create(spec);
    this.geometry = this.set.info().geometry;
    this.keys = [];
    this.made = 0;
    this.refused = 0;
    this.points = [];
    this.blocks = undefined;
    this.curve = this.predict();
    byId("fill-legend").textContent = LEGENDS[kind];
    this.tellPlan();
    this.show();
  }

  // A kind may have a lower rate than requested.
  tellPlan() {
    const { kind, capacity, fpr } = this.spec;
    const why = kind === "line" ? `, far below the ${rateText(fpr)}, since it keeps at least one byte of each key` : "";
    byId("fill-rate").textContent = `With ${exactText(capacity)} keys in it, ${kind} is expected to give a wrong yes for ${rateText(this.predictedAt(capacity))} of the keys that were never added${why}.`;
  }

  // What the kind's analysis predicts for this table, with fewer keys and with more.
  predict() {
    const most = Math.ceil(1.2 * this.spec.capacity);
    const curve = [{ keys: 0, rate: 0 }];
    for (let i = 1; i <= CURVE_POINTS; i++) {
      const keys = Math.max(1, Math.round((most * i) / CURVE_POINTS));
      const [row] = this.tamis.plan({ ...this.spec, capacity: keys, fpr: 0.5, overflow: 0.999, geometry: this.geometry });
      if (row.possible) curve.push({ keys, rate: row.fpr });
    }
    return curve;
  }

  predictedAt(keys) {
    const after = this.curve.find((point) => point.keys >= keys) ?? this.curve.at(-1);
    const before = this.curve.findLast?.((point) => point.keys <= keys) ?? this.curve[0];
    const share = after.keys === before.keys ? 0 : (keys - before.keys) / (after.keys - before.keys);
    return before.rate + share * (after.rate - before.rate);
  }

  add(n) {
    for (let i = 0; i < n; i++) {
      const key = `key ${++this.made}`;
      try {
        this.set.add(key);
        this.keys.push(key);
        this.lastKey = `added “${key}”`;
      } catch (problem) {
        if (problem.code !== "FULL") throw problem;
        this.refused++;
        this.lastKey = `“${key}” was refused: the set is full`;
        this.stop();
        break;
      }
    }
    this.show();
  }

  // The oldest keys go first.
  remove(n) {
    for (const key of this.keys.splice(0, n)) {
      if (!this.set.remove(key)) this.lastKey = `“${key}” is saturated and stays`;
      else this.lastKey = `removed “${key}”`;
    }
    this.show();
  }

  measure() {
    const found = this.set.countRange(this.nextAsk, ASKS);
    this.nextAsk += ASKS;
    const point = { keys: this.keys.length, rate: found / ASKS, found };
    this.points.push(point);
    if (this.points.length > 400) this.points.splice(0, 100);
    return point;
  }

  run(perSecond, isDone) {
    this.stop();
    const each = Math.max(1, Math.round(perSecond / 20));
    this.timer = setInterval(() => {
      if (this.keys.length >= 1.2 * this.spec.capacity) this.stop();
      else this.add(Math.min(each, Math.ceil(1.2 * this.spec.capacity) - this.keys.length));
      if (this.timer === null) isDone();
    }, Math.max(50, 1000 / perSecond));
  }

  stop() {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  show() {
    const before = this.blocks;
    this.blocks = readBlocks(this.spec.kind, this.geometry, this.set.save());
    const measured = this.keys.length > 0 ? this.measure() : { rate: 0, found: 0 };
    this.shown = { before, measured };
    this.paint();
    this.tell(measured);
  }

  // Draw again also when the window changes its size or its colours.
  paint() {
    drawBlocks(byId("buckets"), this.blocks, this.shown.before);
    drawFilling(byId("filling"), { curve: this.curve, points: this.points, asks: ASKS, capacity: this.spec.capacity });
  }

  tell(measured) {
    const info = this.set.info();
    const keys = this.keys.length;
    const predicted = this.predictedAt(keys);
    const half = band(predicted, ASKS);
    const cells = countCells(this.blocks);
    byId("fill-keys").textContent = `${keys} of ${this.spec.capacity}`;
    byId("fill-load").textContent = `${exactText(cells.used)} of ${exactText(cells.all)} (${{ bloom: "bits", vicbf: "counters" }[this.spec.kind] ?? "cells"})`;
    byId("fill-size").textContent = sizeText(info.bodyBytes);
    byId("fill-measured").textContent = `${rateText(measured.rate)} (${exactText(measured.found)} of ${exactText(ASKS)})`;
    byId("fill-predicted").textContent = `${rateText(predicted)} (95%: ${rateText(Math.max(0, predicted - half))} to ${rateText(predicted + half)})`;
    byId("fill-contents").textContent = rateText(info.currentFpr);
    byId("fill-last").textContent = this.lastKey ?? "";
    byId("fill-remove").disabled = byId("fill-remove-half").disabled = this.spec.kind === "bloom" || keys === 0;
    byId("buckets").setAttribute("aria-label", `${this.spec.kind}: ${this.blocks.length} blocks, ${cells.used} of ${cells.all} places in use.`);
  }
}
