// A study: how solvers compare over all its runs, and each run by itself.

import { get, post } from "./api.js";
import { bars } from "./bars.js";
import { Chart } from "./chart.js";
import { action, el, fill, labelled, select, table } from "./dom.js";
import { lines } from "./lines.js";
import { percent, shown } from "./numbers.js";
import { colour } from "./theme.js";

const number = (value, digits) => ({ number: true, text: shown(value, digits) });
const grouped = (rows, key) => {
  const found = new Map();
  for (const row of rows) found.set(row[key], [...(found.get(row[key]) ?? []), row]);
  return found;
};

export async function studyView(main, { args: [id] }) {
  const study = await get(`studies/${id}`);
  const tone = (solver) => colour(study.solvers.indexOf(solver));
  const charts = [];
  const legend = () => el("ul", { class: "legend" }, study.solvers.map((solver) => el("li", {}, el("span", { class: "swatch", style: { background: tone(solver) } }), solver)));
  const picture = (title, layout, height = 320, note = null) => {
    const chart = new Chart({ label: title, height, layout });
    charts.push(chart);
    return el("section", { class: "card" }, el("h2", {}, title), note ? el("p", { class: "soft" }, note) : null, chart.element, legend(), el("div", { class: "bar tight" }, action("Picture as SVG", () => chart.saveSvg(`${title}.svg`)), action("PNG", () => chart.savePng(`${title}.png`))));
  };
  const profiles = study.profiles.filter(({ rows }) => rows.length).map(({ title, across, rows }) => picture(title, lines(
    [...grouped(rows, "solver")].map(([solver, own]) => ({ name: solver, colour: tone(solver), step: true, extend: true, points: own.map((row) => [row.amount, row.share]) })),
    { name: across, log: across !== "seconds", room: 0.02, domain: across === "seconds" ? undefined : [1, Math.max(2, ...rows.map((row) => row.amount ?? 1))] }, { name: "share of problems", better: "high", domain: [0, 1], tick: (value) => percent(value) })));
  const anytime = study.anytime.length ? picture("Anytime: excess over the best known value", lines(
    [...grouped(study.anytime, "solver")].map(([solver, own]) => ({ name: solver, colour: tone(solver), step: true, points: own.map((row) => [row.seconds, row.median === null ? null : Math.max(row.median, 1e-4)]), band: own.map((row) => [row.seconds, row.low === null ? null : Math.max(row.low, 1e-4), row.high === null ? null : Math.max(row.high, 1e-4)]) })),
    { name: "seconds", log: true }, { name: "median excess", better: "low", log: true, tick: (value) => percent(value, 2) }), 320, "The median over all runs, the quartiles shaded; 0.01% stands for less.") : null;
  const { ranks } = study;
  const ranked = ranks ? el("section", { class: "card" }, el("h2", {}, "Mean ranks"),
    el("p", { class: "soft" }, `Over ${ranks.problems} problems; Friedman p = ${shown(ranks.p, 2)}; ranks that differ by less than ${shown(ranks.critical_difference, 3)} do not differ significantly (Nemenyi). 1 is best.`),
    bars(ranks.ranks.map(({ solver, rank }) => ({ name: solver, value: rank / ranks.ranks.length, text: shown(rank, 3) })), "Mean ranks"),
    ranks.alike.length ? el("p", { class: "soft" }, `Not told apart: ${ranks.alike.map((group) => group.join(", ")).join("; ")}.`) : null) : null;

  const run = el("div", { "aria-live": "polite" });
  const showRun = async (key) => {
    const found = await get(`studies/${id}/runs/${encodeURIComponent(key)}`);
    const curve = found.curve.filter((row) => row.value !== null || row.bound !== null);
    const chart = curve.length > 1 ? new Chart({ label: "Anytime curve of the run", height: 260, layout: lines([
      { name: "value", colour: colour(0), step: true, points: curve.map((row) => [row.seconds, row.value]) },
      { name: "bound", colour: colour(2), dash: [5, 4], step: true, points: curve.map((row) => [row.seconds, row.bound]) },
    ], { name: "seconds" }, { name: found.record.target ?? "value" }) }) : null;
    if (chart) charts.push(chart);
    const facts = Object.entries(found.record).filter(([, value]) => value !== null && value !== "");
    fill(run, el("section", { class: "card" }, el("h2", { dir: "auto" }, `${found.record.solver} on ${found.record.dataset}, ${found.record.model}, repetition ${found.record.repetition}`), chart?.element ?? null,
      found.points.length ? table(Object.keys(found.points[0]), found.points.map((row) => Object.values(row).map((value) => (typeof value === "number" ? number(value, 5) : value))), { caption: `${found.points.length} points of its front` }) : null,
      el("details", {}, el("summary", {}, "All of its record"), el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, typeof value === "number" ? shown(value, 6) : String(value).slice(0, 600))])))));
    run.scrollIntoView({ block: "nearest" });
  };

  const attained = el("div");
  const showAttained = async (place) => {
    const one = study.fronts[Number(place)];
    const found = await post(`studies/${id}/attainment`, one);
    if (found.axes.length < 2) return;
    const [first, second] = found.axes;
    const shares = { 0: [[], "best of its runs"], 50: [[6, 3], "half of its runs"], 100: [[2, 4], "all of its runs"] };
    const series = found.solvers.flatMap(({ solver, surfaces, points }) => [
      { name: solver, colour: tone(solver), dots: true, points: points.map(([a, b]) => [b, a]) },
      ...surfaces.map(({ share, points: corners }) => ({ name: solver, colour: tone(solver), step: true, dash: shares[share]?.[0] ?? [], width: share === 50 ? 2.2 : 1.3, points: corners.map(([a, b]) => [b, a]).sort((p, q) => (second.better === "high" ? q[0] - p[0] : p[0] - q[0])) }))]);
    fill(attained, picture(`Attainment: ${one.dataset}, ${one.model}`, lines(series, { ...second }, { ...first }), 420), el("p", { class: "soft" }, "Full lines: what the best of a solver's runs attains; dashed: half of them; dotted: all of them."));
    charts.at(-1).draw();
  };

  const { status } = study;
  fill(main, el("h1", { dir: "auto" }, `Study ${study.name}`),
    el("p", { class: "soft" }, `${status.planned} runs planned, ${status.waiting} waiting; ${Object.entries(status.outcomes).map(([name, count]) => `${count} ${name}`).join(", ") || "nothing has ended yet"}. ${status.running ? `It is being run by ${status.running}.` : ""}`),
    el("div", { class: "pair" }, profiles, anytime, ranked),
    study.fronts.length ? el("section", { class: "card" }, el("h2", {}, "Fronts of one problem"), el("div", { class: "bar" }, labelled("Problem", select(study.fronts.map(({ dataset, model }, i) => [String(i), `${dataset}, ${model}`]), "0", showAttained))), attained) : null,
    study.failures.length ? el("section", { class: "card" }, el("h2", {}, "Runs that did not end by themselves"), table(Object.keys(study.failures[0]), study.failures.map((row) => Object.values(row).map((value) => (typeof value === "number" ? number(value) : value))))) : null,
    el("section", { class: "card" }, el("h2", {}, "Runs"), table(["run", "dataset", "model", "solver", "repetition", "outcome", "status", "value", "gap", "seconds"], study.runs.map((row) => [
      action("Look", () => showRun(row.key), { "aria-label": `Look at the run of ${row.solver} on ${row.dataset}, ${row.model}, repetition ${row.repetition}` }),
      row.dataset, row.model, row.solver, number(row.repetition), row.outcome, row.status ?? "", number(row.value, 5), { number: true, text: percent(row.gap) }, number(row.seconds, 3)]), { long: true, caption: `${study.runs.length} runs` })),
    run);
  charts.forEach((chart) => chart.draw());
  if (study.fronts.length) await showAttained("0");
  return () => charts.forEach((chart) => chart.close());
}
