// The point that was selected, in short, and the ways on from it.

import { action, el } from "./dom.js";
import { percent, shown } from "./numbers.js";
import { downloads } from "./leave.js";

export function pointCard(model, { choose, pointing, point }) {
  const recommended = model.recommended >= 0 ? model.rows[model.recommended] : null;
  const advice = recommended
    ? el("p", {}, "Recommended: ", el("button", { type: "button", on: { click: () => choose(model.recommended, false) } }, `point ${recommended.i}${model.fronts.length > 1 ? ` of ${recommended.front.name}` : ""}`))
    : el("p", { class: "warning" }, "No point is within these limits and filters: solve for them, or ask for less.");
  if (model.selected < 0) return [el("h2", {}, "Select a point"), el("p", { class: "soft" }, "Click one in the picture or in the table."), advice];
  const row = model.rows[model.selected], { front } = row;
  const other = model.compared >= 0 && model.compared !== model.selected ? model.rows[model.compared] : null;
  return [
    el("h2", { dir: "auto" }, `Point ${row.i}${model.fronts.length > 1 ? ` of ${front.name}` : ""}`),
    el("dl", { class: "facts" },
      front.axes.map((axis) => [el("dt", { dir: "auto" }, axis.name), el("dd", {}, shown(model.value(row, axis.name), 6))]),
      el("dt", {}, "proven"), el("dd", {}, front.status[row.i] === "optimal" ? "nothing is better" : front.gap[row.i] === null ? "nothing (a heuristic found it)" : `at most ${percent(front.gap[row.i])} from optimal`),
      el("dt", {}, "solver"), el("dd", {}, front.solver[row.i])),
    advice,
    front.releasable
      ? [el("div", { class: "bar tight" }, el("a", { href: `#point/${front.id}/${row.i}` }, "Look at this point"), other ? el("a", { href: `#compare/${front.id}/${row.i}/${other.front.id}/${other.i}` }, `Compare with point ${other.i}`) : el("button", { type: "button", "aria-pressed": String(pointing), title: "Or click it with Shift", on: { click: point } }, pointing ? "Now choose the other" : "Compare with…")), downloads(front, row.i)]
      : el("p", { class: "warning" }, "This front was saved without its data's address, so its points cannot be looked into or released here: find it again with optmodels pareto."),
    model.compared >= 0 ? action("Forget the comparison", () => { model.compared = -1; choose(model.selected, false); }) : null,
  ];
}
