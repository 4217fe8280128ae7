// One track with two ends for each axis: points outside are faded and not recommended.

import { el } from "./dom.js";
import { shown } from "./numbers.js";

const STEPS = 200;

export function filters(model, changed) {
  return [...model.axes.values()].map((axis) => {
    const [low, high] = model.extents.get(axis.name);
    if (!(high > low)) return null;
    const [from, to] = model.filters[axis.name] ?? [low, high];
    const step = (value) => Math.round(((Math.max(low, Math.min(high, value)) - low) / (high - low)) * STEPS);
    const value = (at) => low + (at / STEPS) * (high - low);
    const text = el("span", { class: "soft" });
    const within = el("span", { class: "within" });
    const show = ([a, b]) => {
      text.textContent = `${shown(a)} to ${shown(b)}`;
      within.style.setProperty("left", `${(100 * step(a)) / STEPS}%`);
      within.style.setProperty("right", `${100 - (100 * step(b)) / STEPS}%`);
    };
    const slider = (label, at) => el("input", { type: "range", min: 0, max: STEPS, "aria-label": `${label} ${axis.name}`, value: step(at), on: {
      input: () => show(chosen()),
      change: () => changed({ [axis.name]: chosen() }),
    } });
    const least = slider("Least", from), most = slider("Most", to);
    // Both ends of a slider are the ends of the values, however they are rounded.
    const end = (one) => (Number(one.value) === 0 ? low : Number(one.value) === STEPS ? high : value(Number(one.value)));
    const chosen = () => [end(least), end(most)].sort((a, b) => a - b);
    show([from, to]);
    return el("div", { class: "slide" }, el("span", {}, el("span", { dir: "auto" }, axis.name), text), el("span", { class: "dual" }, within, least, most));
  });
}
