// The fronts that are looked at together: their points as rows, what is filtered, and which points matter.

import { extent } from "./numbers.js";
import { best } from "./recommend.js";
import { colour } from "./theme.js";

export class Model {
  constructor() {
    this.fronts = [];
    this.met = new Set(); // fronts that were shown once: whether they are shown now is up to whoever looks
    this.filters = {};
    this.hover = this.selected = this.compared = this.recommended = -1;
    this.asked = { weights: {}, limits: {}, wish: {} };
    this.wish = {};
    this.together = false; // whether to draw what all fronts attain
    this.#gather();
  }

  /** Show a front beside the others, or instead of its older self. */
  add(front) {
    this.met.add(front.id);
    const at = this.fronts.findIndex((one) => one.id === front.id);
    const tone = at >= 0 ? this.fronts[at].colour : colour(this.fronts.length);
    const shownAs = { ...front, colour: tone };
    if (at >= 0) this.fronts[at] = shownAs;
    else this.fronts.push(shownAs);
    this.#gather();
  }

  remove(id) {
    this.fronts = this.fronts.filter((front) => front.id !== id);
    this.#gather();
  }

  #gather() {
    const row = (i) => (i >= 0 ? this.rows[i] : null);
    const chosen = this.rows ? [row(this.selected), row(this.compared)] : [null, null];
    this.rows = this.fronts.flatMap((front) => Array.from({ length: front.count }, (_, i) => ({ front, i })));
    this.axes = new Map();
    for (const front of this.fronts) for (const axis of front.axes) if (!this.axes.has(axis.name)) this.axes.set(axis.name, axis);
    this.published = this.fronts.flatMap((front) => front.published.map((one) => ({ ...one, front })));
    // Every axis as one column of numbers, not a number where a front has none: what is done to all points is done on these.
    this.columns = new Map([...this.axes.keys()].map((name) => [name, Float64Array.from(this.rows, (one) => this.value(one, name) ?? NaN)]));
    this.extents = new Map([...this.columns].map(([name, column]) => [name, extent(column)]));
    [this.selected, this.compared] = chosen.map((one) => (one ? this.find(one.front.id, one.i) : -1));
    this.hover = -1;
    // Every front has its knee; what is best is best of all fronts that are shown.
    this.landmarks = [
      ...this.fronts.filter((front) => front.knee !== null).map((front) => ({ row: this.find(front.id, front.knee), label: "knee" })),
      ...this.objectives.map(({ name, better }) => ({ row: this.#best(name, better), label: `best ${name}` })).filter(({ row }) => row >= 0),
    ];
    this.filter(this.filters);
  }

  /** The row of the best extreme that a front has of an objective. */
  #best(name, better) {
    const known = this.fronts.filter((front) => front.extremes[name] !== undefined).map((front) => this.find(front.id, front.extremes[name]));
    const worth = (row) => (better === "high" ? -1 : 1) * this.columns.get(name)[row];
    return known.reduce((one, other) => (one < 0 || worth(other) < worth(one) ? other : one), -1);
  }

  get objectives() {
    return [...this.axes.values()].filter((axis) => axis.objective);
  }

  /** Whether the fronts are several, of the same two objectives on the same number of records: what they attain together means something. */
  get comparable() {
    const kind = ({ records, axes }) => JSON.stringify([records, axes.filter((axis) => axis.objective).map((axis) => [axis.name, axis.better])]);
    return this.fronts.length > 1 && this.objectives.length === 2 && new Set(this.fronts.map(kind)).size === 1;
  }

  value(row, name) {
    return row.front.values[name]?.[row.i] ?? null;
  }

  find(id, i) {
    let before = 0;
    for (const front of this.fronts) {
      if (front.id === id) return i < front.count ? before + i : -1;
      before += front.count;
    }
    return -1;
  }

  /** Whether a published value is near enough to be drawn without making the front small. */
  near(values, name) {
    const [low, high] = this.extents.get(name), span = high - low || Math.abs(high) || 1;
    return values[name] >= low - span && values[name] <= high + span;
  }

  /** Keep only points within ranges of values, by the name of the axis. */
  filter(ranges) {
    this.filters = Object.fromEntries(Object.entries(ranges).filter(([name, range]) => range && this.axes.has(name)));
    this.kept = new Uint8Array(this.rows.length).fill(1);
    for (const [name, [low, high]] of Object.entries(this.filters)) {
      const column = this.columns.get(name);
      for (let i = 0; i < column.length; i += 1) if (!(column[i] >= low && column[i] <= high)) this.kept[i] = 0;
    }
    this.count = this.kept.reduce((total, one) => total + one, 0);
    this.recommend();
  }

  /** The point to recommend by what is asked for, among those that are kept. */
  recommend() {
    this.recommended = best(this, this.asked);
    this.wish = { ...this.asked.limits, ...this.asked.wish };
  }

  /** Add a quantity that was measured for all points of a front. */
  measured(id, axis, values) {
    const front = this.fronts.find((one) => one.id === id);
    front.values[axis.name] = values;
    if (!front.axes.some((one) => one.name === axis.name)) front.axes.push({ ...axis, objective: false });
    this.#gather();
  }
}
