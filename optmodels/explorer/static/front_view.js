// The front: look at it from several sides, filter it, ask for a recommendation, choose a point.

import { get } from "./api.js";
import { Chart } from "./chart.js";
import { action, el, fill, labelled, say, select, table } from "./dom.js";
import { filters } from "./filters.js";
import { percent, shown } from "./numbers.js";
import { SvgPainter } from "./painter.js";
import { parallel } from "./parallel.js";
import { MANY, plane } from "./plane.js";
import { pointCard } from "./point_card.js";
import { askFor } from "./ask.js";
import { solid } from "./solid.js";

const LISTED = 60; // points that the table shows at once
const look = { way: "plane", x: null, y: null, z: null, logs: {}, hidden: new Set(), view: { around: -0.7, above: 0.45 } };

/** Do something once the picture has been shown, so that hands do not wait for tables. */
const later = (work) => requestAnimationFrame(() => setTimeout(work));

/** The first so many points that are not filtered out. */
function firstKept(model, most) {
  const found = [];
  for (let i = 0; i < model.rows.length && found.length < most; i += 1) if (model.kept[i]) found.push(i);
  return found;
}

/** Whether half of all values lie in the lowest tenth of their range: on a logarithmic axis they can be told apart. */
function crowded(column, [low, high]) {
  if (!(low > 0) || high < 50 * low) return false;
  const known = [...column].filter((value) => value === value).sort((a, b) => a - b);
  return known[Math.floor(known.length / 2)] < low + (high - low) / 10;
}

/** What is told of the fronts that are shown, each with the names of those that it is true of. */
function abouts(model) {
  const found = new Map();
  for (const { formulation, records, promise, data, name } of model.fronts) {
    const about = `${formulation} on ${shown(records)} records${data ? ` of ${data}` : ""}${promise ? `; every class keeps ${promise}` : ""}.`;
    found.set(about, [...(found.get(about) ?? []), name]);
  }
  return [...found];
}

/** What is told of a point under the pointer. */
function told(model, i) {
  const row = model.rows[i], { front } = row;
  const gap = front.gap[row.i];
  return [
    `Point ${row.i}${model.fronts.length > 1 ? ` of ${front.name}` : ""}`,
    ...front.axes.map((axis) => `${axis.name} ${shown(model.value(row, axis.name), 5)}`),
    front.status[row.i] === "optimal" ? "proven best" : gap === null ? "no bound is proven" : `at most ${percent(gap)} from optimal`,
    `by ${front.solver[row.i]}`,
  ];
}

export async function frontView(main, { model, workspace }) {
  for (const { id } of workspace.fronts) if (!model.met.has(id)) model.add(await get(`fronts/${id}`));
  if (!model.fronts.length) return fill(main, el("h1", {}, "No front is open"), el("p", {}, "Open one, or find one from a file, on the ", el("a", { href: "#home" }, "start page"), "."));

  const named = (name) => model.axes.get(name);
  const objectives = model.objectives.map((axis) => axis.name);
  const front = model.fronts[0];
  if (!named(look.y)) look.y = front.target;
  if (!named(look.x)) look.x = objectives.find((name) => name !== look.y) ?? look.y;
  if (!named(look.z)) look.z = objectives.find((name) => name !== look.x && name !== look.y) ?? [...model.axes.keys()].find((name) => name !== look.x && name !== look.y) ?? look.x;
  if (objectives.length > 2 && look.fresh !== front.id) look.way = "plane";
  look.fresh = front.id;

  for (const name of objectives) look.logs[name] ??= crowded(model.columns.get(name), model.extents.get(name));
  const withLog = (name) => ({ ...named(name), log: !!look.logs[name] && model.extents.get(name)[0] > 0 });
  const layouts = {
    plane: () => plane(model, withLog(look.x), withLog(look.y)),
    solid: () => solid(model, [look.x, look.z, look.y].map(withLog), look.view),
    parallel: () => parallel(model, [...model.axes.keys()].filter((name) => !look.hidden.has(name)).map(withLog)),
  };
  const place = el("div"), head = el("div");
  const card = el("div"), asked = el("div"), list = el("div"), sliders = el("div"), legend = el("ul", { class: "legend" });
  const counted = el("p", { class: "soft", role: "status" });
  let chart = null, pointing = false; // whether the next point that is meant is to be compared

  const hover = (i, at) => {
    if (i === model.hover && i < 0 && !model.published.length) return;
    model.hover = i;
    chart.drawOver();
    if (i >= 0) chart.showTip(told(model, i), ...(at || chart.layout.where(i)));
    else chart.showTip(at ? (chart.layout.beside?.(...at) ?? null) : null, ...(at ?? []));
  };
  const choose = (i, compare) => {
    if (i < 0) return;
    if (compare || (pointing && i !== model.selected)) model.compared = i;
    else model.selected = i;
    pointing = false;
    chart.drawOver();
    showCard();
    showLegend();
    list.querySelectorAll("tr[aria-selected]").forEach((one) => one.removeAttribute("aria-selected"));
    list.querySelector(`tr[data-row="${model.selected}"]`)?.setAttribute("aria-selected", "true");
    const row = model.rows[i];
    say(`Point ${row.i} of ${row.front.name} is ${i === model.compared ? "there to be compared" : "selected"}.`);
  };
  const filtered = (ranges, bySlider = false) => {
    model.filter({ ...model.filters, ...ranges });
    chart.draw();
    later(() => {
      if (!bySlider) showSliders();
      showCard();
      showList();
    });
  };
  const onKey = (event) => {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (event.key === "Escape") return hover(-1);
    if (event.shiftKey && look.way === "solid" && event.key in steps) {
      event.preventDefault();
      look.view = { around: look.view.around + (event.key.endsWith("t") ? 0.1 * steps[event.key] : 0), above: look.view.above + (event.key.endsWith("t") ? 0 : 0.1 * steps[event.key]) };
      return chart.draw();
    }
    if ((event.key === "Enter" || event.key === " ") && model.hover >= 0) return event.preventDefault(), choose(model.hover, event.shiftKey);
    if (!(event.key in steps) || !model.count) return undefined;
    event.preventDefault();
    const order = model.rows.map((_, i) => i).filter((i) => model.kept[i]).sort((a, b) => model.value(model.rows[a], look.x) - model.value(model.rows[b], look.x));
    const from = order.indexOf(model.hover >= 0 ? model.hover : model.selected);
    const next = order[Math.max(0, Math.min(order.length - 1, from + steps[event.key]))];
    hover(next);
    return say(told(model, next).join(", "));
  };

  function showChart() {
    chart?.close();
    chart = new Chart({
      label: `Front of ${model.rows.length} points: ${look.way === "plane" ? `${look.y} against ${look.x}` : [...model.axes.keys()].join(", ")}. Arrow keys go from point to point, Enter selects, Shift and Enter compares.`,
      layout: (size, colours) => layouts[look.way]()(size, colours),
      height: 520,
      onHover: hover,
      onPick: (i, event) => choose(i, event.shiftKey),
      onBrush: look.way === "solid" ? null : filtered,
      onTurn: look.way === "solid" ? (across, up) => {
        look.view = { around: look.view.around - across * 0.008, above: Math.max(-1.5, Math.min(1.5, look.view.above + up * 0.008)) };
        chart.draw();
      } : null,
      onKey,
    });
    fill(place, chart.element);
    chart.draw();
  }

  function showLegend() {
    const { colours } = chart;
    const swatch = (style) => el("span", { class: "swatch", style });
    const sign = (shape, r, how) => {
      const painter = new SvgPainter(18, 18, null);
      painter.mark(shape, 9, 9, r, how);
      painter.root.setAttribute("aria-hidden", "true");
      return painter.root;
    };
    const status = model.fronts.flatMap((one) => one.status);
    const proofs = model.fronts.some((one) => one.bound.some((bound) => bound !== null));
    fill(legend,
      model.fronts.map((one) => el("li", { dir: "auto" }, swatch({ background: one.colour }), el("b", {}, one.name), ` ${one.count} points by ${one.run.solver ?? one.solver[0] ?? "?"}`)),
      model.rows.length <= MANY && status.includes("optimal") ? el("li", {}, sign("circle", 5, { fill: colours.soft }), "proven best") : null,
      model.rows.length <= MANY && status.some((one) => one !== "optimal") ? el("li", {}, sign("circle", 5, { stroke: colours.soft, width: 1.7 }), "found, not proven best") : null,
      proofs ? [el("li", {}, swatch({ background: colours.proven, opacity: "0.35", "border-radius": "2px" }), "proven: nothing can be here"), el("li", {}, swatch({ background: colours.gap, opacity: "0.5", "border-radius": "2px" }), "not decided: something better may be here")] : null,
      look.way === "plane" && model.published.length ? el("li", {}, sign("square", 4, { stroke: colours.soft, width: 1.5 }), "published by others") : null,
      model.together && model.comparable ? [el("li", {}, "– – attained by half of the fronts"), el("li", {}, "··· attained by all")] : null,
      el("li", {}, sign("star", 5, { fill: colours.best, stroke: colours.ink }), "recommended"),
      model.selected >= 0 ? el("li", {}, sign("circle", 6, { stroke: colours.chosen, width: 2.5 }), "selected") : null,
      model.compared >= 0 ? el("li", {}, sign("diamond", 5, { stroke: colours.second, width: 2.5 }), "compared") : null);
  }

  function showCard() {
    fill(counted, model.count === model.rows.length ? `${model.count} points. ${hint[look.way]}; a click selects, a click with Shift compares.` : `${model.count} of ${model.rows.length} points are within the filters. `,
      model.count === model.rows.length ? null : action("Show all", () => { model.filter({}); chart.draw(); showSliders(); showCard(); showList(); }));
    fill(card, pointCard(model, { choose, pointing, point: () => { pointing = !pointing; showCard(); } }));
  }

  function showList() {
    const names = [...model.axes.keys()];
    const rows = firstKept(model, LISTED);
    fill(list, table(["point", ...(model.fronts.length > 1 ? ["front"] : []), ...names, "status", "gap"], rows.map((i) => {
      const row = model.rows[i], gap = row.front.gap[row.i];
      return [
        el("button", { type: "button", "aria-label": `Select point ${row.i}${model.fronts.length > 1 ? ` of ${row.front.name}` : ""}`, on: { click: (event) => choose(i, event.shiftKey) } }, row.i),
        ...(model.fronts.length > 1 ? [row.front.name] : []),
        ...names.map((name) => ({ number: true, text: shown(model.value(row, name), 5) })),
        row.front.status[row.i], { number: true, text: percent(gap) },
      ];
    }), { long: true, caption: model.count > LISTED ? `The first ${LISTED} of ${model.count} points` : `${model.count} points`, rowAttributes: (at) => ({ "data-row": rows[at], "aria-selected": rows[at] === model.selected ? "true" : null }) }));
  }

  const showSliders = () => fill(sliders, filters(model, (ranges) => filtered(ranges, true)));
  const axisChoice = (label, key) => {
    const options = [...[...model.axes.keys()].map((name) => [name, name]), ...measurable().map((name) => [name, `${name} (to be measured)`])];
    const made = select(options, look[key], async (name) => {
      if (!(await measured(name))) return void (made.value = look[key]);
      look[key] = name;
      return show();
    });
    return el("div", { class: "axis" }, labelled(label, made), logChoice(look[key], "log"));
  };
  const logChoice = (name, text) => {
    const positive = model.extents.get(name)[0] > 0;
    const log = el("input", { type: "checkbox", disabled: !positive, "aria-label": `${name}, logarithmic`, on: { change: () => { look.logs[name] = log.checked; chart.draw(); } } });
    log.checked = !!look.logs[name] && positive;
    return el("label", { class: "check", title: positive ? "A logarithmic axis" : "Only numbers above 0 have a logarithm" }, log, text);
  };
  /** The axes across which parallel coordinates are drawn; what was not measured yet is when it is chosen. */
  const axesChoice = () => el("fieldset", { class: "axes" }, el("legend", {}, "Axes"), [...model.axes.keys(), ...measurable()].map((name) => {
    const box = el("input", { type: "checkbox", on: { change: async () => {
      if (box.checked && !(await measured(name))) return void (box.checked = false);
      if (box.checked) look.hidden.delete(name);
      else look.hidden.add(name);
      return show();
    } } });
    box.checked = model.axes.has(name) && !look.hidden.has(name);
    return el("span", { class: "axis" }, el("label", { class: "check" }, box, el("span", { dir: "auto" }, name)), box.checked ? logChoice(name, "log") : null);
  }));
  const measurable = () => front.metrics.map(({ name }) => name).filter((name) => !model.axes.has(name));
  /** Whether a quantity is known of every point, measured if need be. */
  const measured = async (name) => {
    if (model.axes.has(name)) return true;
    say(`Measuring ${name} of every point…`);
    try {
      for (const one of model.fronts) {
        const metric = one.metrics.find((candidate) => candidate.name === name);
        if (metric) model.measured(one.id, metric, (await get(`fronts/${one.id}/metrics/${name}`)).values);
      }
      say(`${name} of every point is measured.`);
      return true;
    } catch (error) {
      say(error.message);
      return false;
    }
  };
  const hint = { plane: "Drag over the picture to keep those within", solid: "Drag to turn the box", parallel: "Drag along an axis to keep what crosses it there" };
  const ways = { plane: "2-D", solid: "3-D", parallel: "Parallel" };
  const controls = el("div");

  function showControls() {
    fill(controls,
      el("div", { class: "bar" },
        el("div", { class: "axis", role: "group", "aria-label": "How to draw the front" }, Object.entries(ways).map(([way, text]) => el("button", {
          type: "button", "aria-pressed": String(way === look.way), on: { click: () => { look.way = way; showControls(); showChart(); showLegend(); showCard(); } },
        }, text))),
        look.way === "parallel" ? null : [axisChoice("Across", "x"), axisChoice("Up", "y"), look.way === "solid" ? axisChoice("Deep", "z") : null],
        el("div", { class: "axis save", role: "group", "aria-label": "Save the picture" }, action("SVG", () => chart.saveSvg("front.svg"), { title: "Save the picture as SVG" }), action("PNG", () => chart.savePng("front.png"), { title: "Save the picture as PNG" }))),
      look.way === "parallel" ? axesChoice() : null);
  }

  function showHead() {
    fill(head, el("h1", { dir: "auto" }, model.fronts.length === 1 ? `Front of ${model.fronts[0].data ?? model.fronts[0].name}` : `${model.fronts.length} fronts`),
      abouts(model).map(([about, names]) => el("p", { class: "soft", dir: "auto" }, names.length < model.fronts.length ? el("b", {}, `${names.join(", ")}: `) : null, about)),
      model.fronts.length === 1 && model.fronts[0].run.complete ? el("p", { class: "good" }, "The front is complete and proven.") : null);
  }

  function show() {
    showHead();
    showControls();
    showChart();
    showLegend();
    showSliders();
    showCard();
    showList();
    fill(asked, askFor(model, { changed: () => { model.recommend(); chart.drawOver(); showCard(); }, workspace }));
  }

  const together = el("input", { type: "checkbox", on: { change: () => { model.together = together.checked; chart.draw(); showLegend(); } } });
  together.checked = model.together;
  const attainment = el("label", { class: "check" }, together, "What half of them attain, and what all do (of the same two objectives)");
  const others = workspace.fronts.length > 1 ? el("fieldset", {}, el("legend", {}, "Fronts shown together"),
    workspace.fronts.map(({ id, name }) => {
      const box = el("input", { type: "checkbox", on: { change: async () => {
        if (box.checked) model.add(await get(`fronts/${id}`));
        else model.remove(id);
        if (model.fronts.length) show();
        else say("No front is shown.");
      } } });
      box.checked = model.fronts.some((one) => one.id === id);
      return el("label", { class: "check" }, box, el("span", { dir: "auto" }, name));
    }), attainment) : null;
  fill(main,
    head,
    el("div", { class: "split" },
      el("section", { class: "card", "aria-label": "Picture" }, controls, place, legend, counted, others),
      el("div", { class: "side" }, el("section", { class: "card", "aria-label": "Selected point" }, card),
        el("section", { class: "card" }, el("h2", {}, "What do you want?"), asked),
        el("section", { class: "card" }, el("h2", {}, "Keep points within"), sliders)),
      el("section", { class: "card" }, el("h2", {}, "Points"), list)));
  show();
  performance.mark("front drawn");
  return () => chart.close();
}
