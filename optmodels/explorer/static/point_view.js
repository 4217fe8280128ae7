// One point: what it promises and protects, what it costs, and the table before and after.

import { listen, post } from "./api.js";
import { bars } from "./bars.js";
import { action, el, fill, labelled, select, table } from "./dom.js";
import { downloads } from "./leave.js";
import { percent, shown } from "./numbers.js";
import { strips } from "./strips.js";

const section = (title, ...children) => el("section", { class: "card" }, el("h2", {}, title), children);
const number = (value, digits) => ({ number: true, text: shown(value, digits) });

/** What of an audit is shown before and after: its title, how to find it, which way is better. */
const LEVELS = [
  ["distinct l", "distinct_l", "high"], ["entropy l", "entropy_l", "high"], ["t (variational)", "t_variational", "low"],
  ["t (earth mover's)", "t_emd", "low"], ["largest share (alpha)", "alpha", "low"], ["beta", "basic_beta", "low"], ["delta", "delta_disclosure", "low"],
];

export function auditRows({ before, after }) {
  const rows = [
    ["records", before.records, after.records, null], ["classes", before.classes, after.classes, null],
    ["k: smallest class", before.k, after.k, "high"],
    ["average class", before.average_class_size, after.average_class_size, "high"],
    ["largest risk of being singled out", before.prosecutor, after.prosecutor, "low"],
    ["average risk", before.marketer, after.marketer, "low"],
    ...Object.keys(after.linkage).map((tau) => [`records linked with a chance above ${tau}`, before.linkage[tau], after.linkage[tau], "low"]),
    ...(Object.keys(after.sensitive).length ? [["records whose sensitive value is certain", before.homogeneity.total, after.homogeneity.total, "low"]] : []),
  ];
  for (const [name, levels] of Object.entries(after.sensitive))
    for (const [title, key, better] of LEVELS) rows.push([`${name}: ${title}`, before.sensitive[name][key], levels[key], better]);
  return rows;
}

function change(before, after, better) {
  if (!better || before === null || after === null || before === after) return "";
  const gained = (after > before) === (better === "high");
  return el("span", { class: gained ? "better" : "worse" }, gained ? "✓" : "✗", el("span", { class: "word" }, gained ? " better" : " worse"));
}

export function facts(point) {
  return el("dl", { class: "facts" },
    Object.entries(point.values).map(([name, value]) => [el("dt", { dir: "auto" }, `${name} (${point.senses[name] === "max" ? "higher" : "lower"} is better)`), el("dd", {}, shown(value, 6))]),
    el("dt", {}, "promise"), el("dd", {}, point.promise, " ", point.kept ? el("span", { class: "good" }, "kept by the release, audited from its values") : el("span", { class: "worse" }, "not kept")),
    el("dt", {}, "proven"), el("dd", {}, point.status === "optimal" ? "nothing is better" : point.gap === null ? "nothing: a heuristic found it" : `at most ${percent(point.gap)} from optimal`),
    el("dt", {}, "solver"), el("dd", {}, point.solver), el("dt", {}, "recoding"), el("dd", {}, point.method));
}

function utility(front, point, given) {
  const place = el("div"), classifiers = el("input", { type: "text", value: "lr,rf" }), splits = el("input", { type: "number", min: 1, max: 100, value: 5 });
  const start = action("Measure", async () => {
    const { job } = await post(`fronts/${front}/points/${point.point}/utility`, { ...given, classifiers: classifiers.value.split(",").map((name) => name.trim()).filter(Boolean), splits: Number(splits.value) });
    const told = el("p", { role: "status" }, "starting"), stop = action("Stop", () => post(`jobs/${job}/stop`), { class: "stop" });
    const progress = el("progress", { max: 1, "aria-label": "Trials done" });
    fill(place, told, progress, stop);
    listen(`jobs/${job}/events`, ({ progress: state, result }) => {
      if (state) {
        told.textContent = state.note;
        if (state.total) progress.value = state.done / state.total;
        return;
      }
      fill(place, result.error ? el("p", { class: "warning" }, result.error) : [
        table(["classifier", "metric", "original", "release", "kept"], result.rows.map((row) => [row.classifier, row.metric, number(row.original), number(row.mean), { number: true, text: row.retention === null ? "–" : `${shown(row.retention, 3)}%` }])),
        el("p", { class: "soft" }, result.protocol), result.notes.map((note) => el("p", { class: "note" }, note))]);
    });
  }, { class: "main" });
  return section("Utility: what classifiers still learn",
    point.target ? [el("p", { class: "soft", dir: "auto" }, `Models that predict ${point.target} learn from the release and from the original; both are asked about original rows of other people.`),
      el("div", { class: "bar" }, labelled("Classifiers", classifiers), labelled("Splits", splits), start), place]
      : el("p", { class: "soft" }, "No column is to be predicted: give one the role of the target when the front is found."));
}

export async function pointView(main, { args: [front, number_, method], model, workspace }) {
  fill(main, el("p", { class: "soft", role: "status" }, "Making the release and auditing it…"));
  const given = method ? { method } : {};
  const point = await post(`fronts/${front}/points/${number_}`, given);
  const most = Math.max(1, ...point.sizes.map((row) => row.records));
  const lost = Object.entries(point.loss);
  const known = model.fronts.find((one) => one.id === front) ?? { id: front, name: point.front };
  const kinds = select(point.methods.map((one) => [one, one]), point.method, (one) => { location.hash = `#point/${front}/${number_}/${one}`; });
  fill(main,
    el("p", {}, el("a", { href: "#front" }, "← Back to the front")),
    el("h1", { dir: "auto" }, `Point ${point.point} of ${point.front}`),
    el("div", { class: "pair" },
      section("Promise and proof", facts(point), labelled("Recoding", kinds)),
      el("section", { class: "card" }, downloads(known, point.point, given))),
    point.all_but_lost.length ? el("p", { class: "warning", role: "note", dir: "auto" }, `All but lost: ${point.all_but_lost.join(", ")}. Little can be learned from what is released of it; give it more weight, or leave it out.`) : null,
    el("div", { class: "pair" },
      section("Audit, before and after", table(["measure", "before", "after", "change"], auditRows(point).map(([title, before, after, better]) => [title, number(before), number(after), change(before, after, better)]))),
      el("div", {}, section("Loss per attribute", el("p", { class: "soft" }, "Of what one class of everybody would lose."),
        bars(lost.map(([name, loss]) => ({ name, value: loss, text: percent(loss), bad: point.all_but_lost.includes(name) })), "Loss per attribute")),
      section("Class sizes", el("p", { class: "soft" }, "Records in classes of each size."),
        bars(point.sizes.filter((row) => row.records).map((row) => ({ name: row.label, value: row.records / most, text: `${shown(row.records)} in ${shown(row.classes)}` })), "Records in classes of each size")),
      section("Risks, before and after", el("p", { class: "soft" }, "The line marks what it was before."), bars(point.risks.map((row) => ({ name: row.meaning, value: row.after, before: row.before, text: `${percent(row.after)}${row.before === null ? "" : `, was ${percent(row.before)}`}` })), "Risks", { sentences: true })))),
    Object.entries(point.sensitive).map(([name, rows]) => section(`Sensitive: ${name}`,
      el("p", { class: "soft" }, "The bar reaches from the least to the largest share that a value has in a class; the line marks its share in the whole table."),
      bars(rows.map((row) => ({ name: row.value, before: row.whole, span: [row.least, row.most], text: `${percent(row.whole)} (${percent(row.least)} to ${percent(row.most)}${row.without ? `; not in ${shown(row.without)} classes` : ""})` })), `Shares of values of ${name} in the table and in classes`, { roomy: true }),
      strips(point.by_class[name], name))),
    section("Riskiest classes", el("p", { class: "soft" }, "Those whose sensitive value is surest to be guessed, then the smallest."),
      table(point.riskiest.columns, point.riskiest.rows.map((row) => row.map((cell) => (typeof cell === "number" ? number(cell) : cell))))),
    section("Some rows, before and after", el("p", { class: "soft" }, "For you who hold the data: a release does not say which row was which."),
      table(point.rows.columns.map(([name, when]) => `${name}, ${when}`), point.rows.rows.map((row) => row.map((cell) => (typeof cell === "number" ? number(cell) : cell ?? "–"))))),
    el("div", { class: "pair" },
      section("Means", table(["attribute", "mean before", "after", "deviation before", "after"], point.means.map((row) => [row.attribute, number(row.mean_before), number(row.mean_after), number(row.sd_before), number(row.sd_after)]))),
      section("Correlations", el("p", { class: "soft" }, "Those that change most first."),
        table(["columns", "measure", "before", "after"], point.correlations.map((row) => [`${row.one} and ${row.other}`, row.measure, number(row.before, 3), number(row.after, 3)])))),
    section("Frequencies", el("div", { class: "pair" }, Object.entries(point.distributions).map(([name, rows]) => {
      const total = Math.max(1, ...rows.flatMap((row) => [row.before, row.after]));
      return el("div", {}, el("h3", { dir: "auto" }, name), bars(rows.map((row) => ({ name: row.value, value: row.after / total, before: row.before / total, text: `${shown(row.after, 3)}, was ${shown(row.before)}` })), `Frequencies of ${name}`));
    }))),
    utility(front, point, given));
}
