// From a file to a front: roles, what is promised, what is optimised, by whom and for how long.

import { get, post } from "./api.js";
import { action, el, fill, labelled, say, select, table } from "./dom.js";
import { percent, shown } from "./numbers.js";

const CONDITIONS = {
  distinct_l: ["distinct l", "values of a sensitive attribute that a class has at least"],
  entropy_l: ["entropy l", "effective number of values in a class, at least"],
  recursive: ["recursive c,l", "such as 3,2: the most frequent value is rarer than c times the rest from the l-th on"],
  most_share: ["largest share", "of one value in a class, at most (alpha)"],
  beta: ["beta", "by how much a value may be more frequent in a class than in the table"],
  delta: ["delta", "how far the logarithm of a value's frequency may move"],
  t: ["t", "distance of a class's values from the table's, at most"],
};
const typed = (text) => {
  const plain = text.trim();
  if (plain === "") return undefined;
  if (/^[^,=]+,[^,=]+$/.test(plain)) return plain.split(",").map(Number);
  if (plain.includes("=")) return Object.fromEntries(plain.split(",").map((pair) => pair.split("=")).map(([name, value]) => [name.trim(), Number(value)]));
  return plain === "true" ? true : plain === "false" ? false : Number.isNaN(Number(plain)) ? plain : Number(plain);
};

// What the matrix calls the conditions that are typed; each cell was asked about each of them alone.
const ASKED = { distinct_l: "distinct-l", entropy_l: "entropy-l", recursive: "recursive", most_share: "most-share", beta: "beta-basic", delta: "delta", t: "t-equal" };

/** The matrix of formulations and solvers under these conditions; a cell that is clicked is chosen, or says why it cannot be. */
function matrixOf({ solvers, rows }, chosen, asked, choose) {
  const cell = (name, solver) => {
    const { works: alone, claims, reason: first, reasons } = rows[name][solver];
    const against = asked.find((one) => one in reasons), works = against ? [] : alone, reason = against ? reasons[against] : first;
    const [sign, word] = !works.length ? ["–", "refused"] : claims === "proven" ? ["●", "proven"] : ["○", "found"];
    const told = works.length ? `${solver} on ${name}: points are ${claims === "proven" ? "proven" : "found"}, under ${works.join(", ")}.` : `${solver} cannot: ${reason}`;
    return el("button", { type: "button", class: `cell ${word}`, title: told, "aria-pressed": String(chosen.formulation === name && chosen.solver === solver), on: { click: () => choose(name, works.length ? solver : null, told) } },
      sign, el("span", { class: "unseen" }, ` ${word}`));
  };
  return el("div", { class: "matrix" }, table(["formulation", ...solvers], Object.keys(rows).map((name) => [name, ...solvers.map((solver) => cell(name, solver))]),
    { caption: `${asked.length ? `Under k and ${asked.join(", ")}: ` : ""}● points can be proven, ○ points are found, – refused. Click to choose, or to be told why not.` }));
}

export async function fileView(main, { args: [id] }) {
  fill(main, el("p", { class: "soft", role: "status" }, "Looking at the file…"));
  const [file, choices] = await Promise.all([get(`files/${id}`), get("choices")]);
  // A column may be called anything, __proto__ too: an object without a prototype takes it for a name like any other.
  const roles = Object.assign(Object.create(null), Object.fromEntries(file.columns.map((column) => [column.name, column.role])));
  const found = (name) => file.findings.filter((finding) => finding.column === name);
  const summary = el("p", { class: "soft", role: "status" });
  const count = () => {
    const of = (...kinds) => Object.values(roles).filter((role) => kinds.includes(role)).length;
    summary.textContent = `${of("numeric", "categorical", "ordinal")} quasi-identifiers, ${of("sensitive")} sensitive, ${of("identifier", "drop")} dropped, ${of("keep", "target")} kept.`;
  };
  const columns = table(["column", "role", "why", "values", "missing", "such as", "odd"], file.columns.map((column) => [
    column.name,
    select(Object.entries(file.roles), column.role, (role) => { roles[column.name] = role; count(); }, { "aria-label": `Role of ${column.name}` }),
    column.reason, { number: true, text: shown(column.distinct) }, { number: true, text: shown(column.missing) },
    Object.keys(column.frequent).slice(0, 3).join(" · ").slice(0, 120),
    found(column.name).length ? el("ul", { class: "plain" }, found(column.name).map((finding) => el("li", {}, `${finding.kind}: ${finding.what}. ${finding.remedy}`))) : "",
  ]));
  columns.classList.add("columns");

  const state = { formulation: "mo-obam", solver: "auto" };
  const parameters = {}, conditions = {};
  const own = el("div", { class: "bar" });
  const showOwn = () => {
    const model = choices.formulations.find(({ name }) => name === state.formulation);
    fill(own, model.parameters.map((parameter) => {
      const usual = parameter.name === "k" ? "5" : parameter.default === null || typeof parameter.default === "object" ? "" : String(parameter.default);
      const field = el("input", { type: "text", size: 8, value: parameter.name === "k" ? "5" : "", placeholder: usual });
      parameters[parameter.name] = field;
      return labelled(parameter.name === "k" ? "k: records in a class, at least" : parameter.name, field);
    }));
    for (const name of Object.keys(parameters)) if (!model.parameters.some((parameter) => parameter.name === name)) delete parameters[name];
    about.textContent = model.summary;
    const known = model.parameters.filter((parameter) => parameter.about);
    fill(meanings, known.length ? el("details", {}, el("summary", {}, "What these parameters mean"), el("dl", { class: "facts" }, known.map((parameter) => [el("dt", {}, parameter.name), el("dd", {}, parameter.about.replaceAll("`", ""))]))) : null);
  };
  const about = el("p", { class: "soft" }), meanings = el("div");
  const formulations = select(choices.formulations.map(({ name }) => [name, name]), state.formulation, (name) => { state.formulation = name; showOwn(); showMatrix(); });
  const boxes = choices.objectives.map((objective) => {
    const box = el("input", { type: "checkbox", value: objective.name });
    box.checked = ["loss", "entropy"].includes(objective.name);
    return [box, el("label", { class: "check" }, box, `${objective.name} (${objective.better === "high" ? "higher" : "lower"} is better): ${objective.meaning}`)];
  });
  const said = el("p", { class: "soft" }, choices.solvers.find(({ name }) => name === "auto")?.summary);
  const solvers = select(choices.solvers.map(({ name, exact }) => [name, exact ? `${name} (exact)` : name]), state.solver, (name) => {
    state.solver = name;
    said.textContent = choices.solvers.find((one) => one.name === name).summary;
    showMatrix();
  });
  const seconds = el("input", { type: "number", min: 1, value: 60 }), seed = el("input", { type: "number", min: 0, value: 0 });
  const folder = el("input", { type: "text", size: 40, value: file.folder, spellcheck: "false" });
  const missing = select(file.missing.map((one) => [one, one]), file.columns.some((column) => column.missing) ? "category" : "error", () => {});
  const scaling = select(file.scaling.map((one) => [one, one]), "standard", () => {});
  const unique = el("input", { type: "text" });
  const wrong = el("div", { role: "alert" });
  const start = action("Find the front", async () => {
    fill(wrong);
    const given = {};
    for (const [name, field] of Object.entries({ ...parameters, ...conditions })) {
      const value = typed(field.value);
      if (value !== undefined) given[name] = value;
    }
    try {
      const { job } = await post(`files/${id}/run`, {
        roles, missing: missing.value, scaling: scaling.value, formulation: state.formulation, parameters: given,
        objectives: boxes.filter(([box]) => box.checked).map(([box]) => box.value), solver: state.solver,
        time_limit: Number(seconds.value), seed: Number(seed.value), folder: folder.value,
        allow_unique: unique.value.split(",").map((name) => name.trim()).filter(Boolean),
      });
      location.hash = `#job/${job}`;
    } catch (error) {
      fill(wrong, el("p", { class: "warning" }, error.message));
      throw error;
    }
  }, { class: "main" });
  const grid = el("div", {}, el("p", { class: "soft" }, "Asking every solver…")), reason = el("p", { class: "soft", role: "status" });
  let known = null;
  const showMatrix = () => known && fill(grid, matrixOf(known, state, Object.keys(ASKED).filter((name) => conditions[name]?.value.trim()).map((name) => ASKED[name]), (formulation, solver, told) => {
    reason.textContent = told;
    if (solver === null) return;
    [state.formulation, formulations.value, state.solver, solvers.value] = [formulation, formulation, solver, solver];
    said.textContent = choices.solvers.find((one) => one.name === solver)?.summary ?? "";
    showOwn();
    showMatrix();
    grid.querySelector("[aria-pressed=true]")?.focus();
  }), reason);
  const matrix = el("details", { open: true }, el("summary", {}, "What goes with what"), grid);
  // At once under k alone; under every other condition as soon as all solvers were asked about all of them.
  const told = (found) => { known = found; showMatrix(); };
  get("matrix/k").then(told).then(() => get("matrix/all")).then(told).catch((error) => fill(grid, el("p", { class: "warning" }, error.message)));
  const whole = file.findings.filter((finding) => finding.column === null);

  fill(main,
    el("h1", { dir: "auto" }, `From ${file.name} to a front`),
    el("p", { class: "soft" }, `${shown(file.records)} records. With the proposed quasi-identifiers ${percent(file.unique_share)} of the records are alone: anyone who knows these values finds them.`),
    el("section", { class: "card" }, el("h2", {}, "1. What the columns are"),
      el("p", { class: "soft" }, "Proposed from names and values; correct what is wrong. Nothing is changed silently."), columns, summary,
      whole.map((finding) => el("p", { class: "note" }, `${finding.kind}: ${finding.what}. ${finding.remedy}`)),
      el("div", { class: "bar tight" }, labelled("Missing values", missing), labelled("Scaling of numbers", scaling), labelled("Keep though nearly unique", unique))),
    el("section", { class: "card" }, el("h2", {}, "2. What is promised and optimised"),
      el("div", { class: "bar" }, labelled("Formulation", formulations)), about, own, meanings,
      el("fieldset", {}, el("legend", {}, "Conditions of every class (leave empty what is not asked for; one value for all sensitive attributes, or illness=2,pay=3)"),
        el("div", { class: "bar" }, choices.conditions.filter(({ name }) => CONDITIONS[name]).map(({ name }) => {
          const field = el("input", { type: "text", size: 8, on: { change: () => showMatrix() } });
          conditions[name] = field;
          return labelled(CONDITIONS[name][0], field, CONDITIONS[name][1]);
        }))),
      el("fieldset", {}, el("legend", {}, "Objectives, two or more"), boxes.map(([, label]) => label))),
    el("section", { class: "card" }, el("h2", {}, "3. Who finds it, for how long"),
      el("div", { class: "bar" }, labelled("Solver", solvers), labelled("Seconds, at most", seconds), labelled("Seed", seed), labelled("Keep the front in", folder)), said, matrix,
      wrong, el("div", { class: "bar tight" }, start)));
  showOwn();
  count();
  say("");
}
