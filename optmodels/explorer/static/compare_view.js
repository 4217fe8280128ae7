// Two points side by side, differences first.

import { post } from "./api.js";
import { bars } from "./bars.js";
import { el, fill, table } from "./dom.js";
import { downloads } from "./leave.js";
import { percent, shown } from "./numbers.js";
import { auditRows, facts } from "./point_view.js";

const number = (value) => ({ number: true, text: shown(value, 5) });

/** Two values, the better one marked. */
function beside(one, other, sense) {
  const plain = [one, other].map((value) => number(value));
  if (!sense || one === other || one === null || other === null) return plain;
  const at = (one < other) === (sense === "low") ? 0 : 1;
  plain[at] = { number: true, text: el("span", { class: "better" }, el("span", { class: "unseen" }, "better: "), "✓ ", plain[at].text) };
  return plain;
}

export async function compareView(main, { args: [front, point, otherFront, otherPoint], model }) {
  fill(main, el("p", { class: "soft", role: "status" }, "Making both releases and auditing them…"));
  const two = [await post(`fronts/${front}/points/${point}`), await post(`fronts/${otherFront}/points/${otherPoint}`)];
  const title = (one) => `Point ${one.point}${front === otherFront ? "" : ` of ${one.front}`}`;
  const objectives = Object.keys(two[0].values).filter((name) => name in two[1].values)
    .map((name) => [name, two[0].values[name], two[1].values[name], two[0].senses[name] === "max" ? "high" : "low"]);
  const [first, second] = two.map(auditRows);
  const after = new Map(second.map(([name, , value]) => [name, value]));
  const audits = first.filter(([name]) => after.has(name)).map(([name, , value, sense]) => [name, value, after.get(name), sense]);
  const losses = Object.entries(two[0].loss).map(([name, loss]) => [`loss of ${name}`, loss, two[1].loss[name] ?? null, "low"]);
  const all = [...objectives, ...audits, ...losses];
  // What differs most, relative to its size, comes first; what is alike is only counted.
  const moved = ([, one, other]) => (one === other ? 0 : Math.abs(one - other) / Math.max(Math.abs(one), Math.abs(other), 1e-12));
  const differing = all.filter((row) => moved(row) > 1e-9 && row[1] !== null && row[2] !== null);
  const ordered = [...differing.slice(0, objectives.length).filter((row) => objectives.includes(row)), ...differing.filter((row) => !objectives.includes(row)).sort((a, b) => moved(b) - moved(a))];
  fill(main,
    el("p", {}, el("a", { href: "#front" }, "← Back to the front")),
    el("h1", { dir: "auto" }, `${title(two[0])} and ${title(two[1]).toLowerCase()}`),
    el("section", { class: "card" }, el("h2", {}, "What differs"),
      el("p", { class: "soft" }, `Objectives first, then what differs most. ✓ is the better of the two. ${all.length - differing.length} other figures are alike.`),
      table(["measure", title(two[0]), title(two[1]), "difference"], ordered.map((row) => [row[0], ...beside(row[1], row[2], row[3]), { number: true, text: percent(moved(row), 2) }]))),
    el("div", { class: "pair" }, two.map((one, i) => el("section", { class: "card" },
      el("h2", { dir: "auto" }, title(one)), facts(one),
      one.all_but_lost.length ? el("p", { class: "warning", dir: "auto" }, `All but lost: ${one.all_but_lost.join(", ")}.`) : null,
      el("h3", {}, "Loss per attribute"),
      bars(Object.entries(one.loss).map(([name, loss]) => ({ name, value: loss, text: percent(loss), bad: one.all_but_lost.includes(name) })), `Loss per attribute of point ${one.point}`),
      el("h3", {}, "Class sizes"),
      bars(one.sizes.filter((row) => row.records).map((row) => ({ name: row.label, value: row.records / Math.max(...one.sizes.map((size) => size.records)), text: shown(row.records) })), `Class sizes of point ${one.point}`),
      downloads(model.fronts.find(({ id }) => id === [front, otherFront][i]) ?? { id: [front, otherFront][i], name: one.front }, one.point)))));
}
