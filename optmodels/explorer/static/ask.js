// What people want of a point: weights, limits or a wish move the recommendation, and a solver can be asked to meet them.

import { post } from "./api.js";
import { action, el, labelled, say } from "./dom.js";
import { shown } from "./numbers.js";

/** A field for a number that may be left empty. */
function number(label, value, onChange) {
  const made = el("input", { type: "number", step: "any", value: value ?? "", on: { input: () => onChange(made.value === "" ? undefined : Number(made.value)) } });
  return labelled(label, made);
}

export function askFor(model, { changed, workspace }) {
  const { weights, limits, wish } = model.asked;
  const set = (where, name) => (value) => {
    if (value === undefined || Number.isNaN(value)) delete where[name];
    else where[name] = value;
    changed();
  };
  const seconds = el("input", { type: "number", min: 1, value: 30 });
  const front = () => model.fronts.find((one) => one.id === model.rows[Math.max(model.selected, model.recommended, 0)]?.front.id) ?? model.fronts[0];
  return [
    el("p", { class: "soft" }, "Without a wish the knee is recommended. Weights say what counts more; limits are kept; a wish is come near to in all it names."),
    model.objectives.map((axis) => {
      const weight = el("input", { type: "range", min: 0, max: 5, step: 0.1, value: weights[axis.name] ?? 1, "aria-label": `Weight of ${axis.name}`, on: { input: () => {
        set(weights, axis.name)(Number(weight.value));
        counts.textContent = `weight ${shown(Number(weight.value))}`;
      } } });
      const counts = el("span", {}, `weight ${shown(weights[axis.name] ?? 1)}`);
      return el("fieldset", {}, el("legend", { dir: "auto" }, `${axis.name} (${axis.better === "high" ? "higher" : "lower"} is better)`),
        el("div", { class: "slide" }, counts, weight),
        el("div", { class: "bar tight" },
          number(axis.better === "high" ? "at least" : "at most", limits[axis.name], set(limits, axis.name)),
          number("wish", wish[axis.name], set(wish, axis.name))));
    }),
    el("div", { class: "bar tight" }, labelled("Seconds to solve", seconds),
      action("Solve for this", async () => {
        const one = front();
        if (!Object.keys({ ...limits, ...wish }).length) return say("Say first what you want: a limit or a wish for one objective at least.");
        const { job } = await post(`fronts/${one.id}/wish`, { limits, wish, weights, seconds: Number(seconds.value) });
        location.hash = `#job/${job}`;
        return undefined;
      }, { class: "main", disabled: workspace.fronts.length ? null : true })),
    el("p", { class: "soft" }, "Limits that are conditions of every class (entropy, closeness, homogeneity, linkage) are solved with a bound where a solver can; the answer says what is proven."),
  ];
}
