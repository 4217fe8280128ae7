// A run: the front while it grows, the volume and the bound against time, and what came of it.

import { get, listen, post } from "./api.js";
import { Chart } from "./chart.js";
import { action, el, fill } from "./dom.js";
import { frameAxes } from "./frame_axes.js";
import { extent, percent, shown } from "./numbers.js";
import { colour } from "./theme.js";

/** Points of two axes as they are now. */
const growing = (state) => (size, colours) => {
  const [first, second] = state.axes;
  const rows = state.points;
  const bounds = (state.bounds ?? []).filter((bound) => bound !== null);
  const frame = frameAxes(size, { ...second, domain: extent(rows.map((row) => row[1])) }, { ...first, domain: extent([...rows.map((row) => row[0]), ...bounds]) });
  return {
    base(painter) {
      frame.draw(painter, colours);
      rows.forEach((row, i) => {
        const [x, y] = [frame.across.at(row[1]), frame.up.at(row[0])], bound = state.bounds?.[i];
        if (bound !== null && bound !== undefined) {
          painter.line([[x, y], [x, frame.up.at(bound)]], { stroke: colours.gap, width: 2 });
          painter.line([[x - 4, frame.up.at(bound)], [x + 4, frame.up.at(bound)]], { stroke: colours.proven, width: 2 });
        }
        const best = bound !== null && bound !== undefined && Math.abs(bound - row[0]) <= 1e-6 * Math.max(Math.abs(row[0]), 1e-12);
        painter.mark("circle", x, y, rows.length > 400 ? 2.5 : 4.2, best || rows.length > 400 ? { fill: colour(0) } : { fill: colours.paper, stroke: colour(0), width: 1.7 });
      });
    },
    nearest: () => -1,
  };
};

/** Lines against seconds. */
const against = (state, series) => (size, colours) => {
  const lines = series.map(({ key, ...rest }) => ({ ...rest, points: state.history.filter((row) => row[key] !== null && row[key] !== undefined).map((row) => [row.seconds, row[key]]) }));
  const values = lines.flatMap((line) => line.points.map(([, value]) => value));
  const frame = frameAxes(size, { name: "seconds", domain: [0, Math.max(1, ...state.history.map((row) => row.seconds))], room: 0 }, { name: series[0].title, domain: extent(values) });
  return {
    base(painter) {
      frame.draw(painter, colours);
      for (const line of lines) {
        const steps = line.points.flatMap(([x, y], i) => (i ? [[x, line.points[i - 1][1]], [x, y]] : [[x, y]]));
        painter.line(steps.map(([x, y]) => [frame.across.at(x), frame.up.at(y)]), { stroke: line.tone(colours), width: 2, dash: line.dash ?? [] });
        const last = line.points.at(-1);
        if (last) painter.mark("circle", frame.across.at(last[0]), frame.up.at(last[1]), 3, { fill: line.tone(colours) });
      }
    },
    nearest: () => -1,
  };
};

export async function jobView(main, { args: [id], model, refresh }) {
  const job = await get(`jobs/${id}`);
  const state = { axes: null, points: [], bounds: null, history: [] };
  const told = el("p", { role: "status", dir: "auto" }, "starting"), clock = el("p", { class: "soft" });
  const stop = action("Stop, and keep what was found", () => post(`jobs/${id}/stop`), { class: "stop" });
  const outcome = el("div"), bounded = el("p", { class: "soft" });
  const charts = [
    new Chart({ label: "The front while it grows", height: 420, layout: (size, colours) => (state.axes && state.points.length ? growing(state)(size, colours) : { base: () => {}, nearest: () => -1 }) }),
    new Chart({ label: "Hypervolume against time", height: 260, layout: (size, colours) => against(state, [{ key: "hypervolume", title: "hypervolume", tone: () => colour(0) }, { key: "hypervolume_bound", tone: (colours_) => colours_.proven, dash: [5, 4] }])(size, colours) }),
    new Chart({ label: "Value and bound against time", height: 260, layout: (size, colours) => against(state, [{ key: "value", title: "value and bound", tone: () => colour(0) }, { key: "bound", title: "bound", tone: (colours_) => colours_.proven, dash: [5, 4] }])(size, colours) }),
  ];
  const [front, volume, value] = charts.map((chart, i) => el("section", { class: "card" }, el("h2", {}, ["The front so far", "Hypervolume and its bound against time", "Value and bound against time"][i]), chart.element, i === 1 ? bounded : i === 2 ? el("p", { class: "soft" }, "Full line: the best value so far; dashed: what is proven that no answer can beat.") : null));
  let due = false;
  const redraw = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      charts.forEach((chart) => chart.element.isConnected && chart.draw());
    });
  };
  const isFront = job.kind === "front" || job.kind === "wish";
  fill(main, el("h1", { dir: "auto" }, job.title), told, clock, el("div", { class: "bar tight" }, stop), outcome,
    isFront ? el("div", { class: "apart" }, front, el("div", { class: "pair" }, volume, value)) : null);
  value.hidden = true;

  const progressed = (now) => {
    if (now.axes) state.axes = now.axes;
    if (now.points) (state.points = now.points), (state.bounds = now.bounds);
    if (now.seconds !== undefined) {
      const whole = now.bounds?.filter((bound) => bound !== null) ?? [];
      state.history.push({ ...now, points: null, bounds: null, proven: whole.length });
      clock.textContent = `${shown(now.seconds, 3)} seconds${now.points ? `, ${now.points.length} points` : ""}${now.solver ? `, by ${now.solver}` : ""}${now.gap === null || now.gap === undefined ? "" : `, at most ${percent(now.gap)} from optimal`}`;
      value.hidden = !state.history.some((row) => row.value !== null && row.value !== undefined);
      volume.hidden = !state.history.some((row) => row.hypervolume !== undefined);
      front.hidden = !state.points.length || state.axes?.length < 2;
    }
    if (now.points) {
      bounded.textContent = now.hypervolume_bound === undefined
        ? "No bound is proven so far: the line is what was found, and there may be more."
        : `Dashed: the volume if every point were as good as its bound. ${now.proven} of ${now.points.length} points are proven best; the largest gap is ${percent(now.largest_gap)}.`;
    }
    told.textContent = now.note || "searching";
    redraw();
  };
  const ended = (result) => {
    stop.remove();
    const here = document.querySelector("#nav a[aria-current]");
    if (here) here.textContent = job.title; // not running any more
    told.textContent = result.error ? "It ended without a front." : "It has ended.";
    if (result.error) return fill(outcome, el("p", { class: "warning", dir: "auto" }, result.error));
    const look = action("Look at the front", async () => {
      // What was found holds all that the front had before it, so it takes that front's place in the picture.
      for (const { id: other } of [...model.fronts]) model.remove(other);
      model.add(await get(`fronts/${result.front}`));
      if (job.kind === "front") model.asked = { weights: {}, limits: {}, wish: {} };
      if (result.point !== null && result.point !== undefined) model.selected = model.find(result.front, result.point);
      location.hash = "#front";
    }, { class: "main" });
    return fill(outcome, el("div", { class: "note" },
      result.said ? el("p", {}, result.said) : el("p", {}, `${shown(result.points)} points by ${result.solver} (${result.stop}). ${result.complete ? "The front is complete and proven." : ""} ${result.because ? `Chosen because ${result.because}.` : ""}`),
      result.values ? el("p", {}, Object.entries(result.values).map(([name, one]) => `${name} ${shown(one, 5)}`).join(", ")) : null,
      result.folder ? el("p", { class: "soft", dir: "auto" }, `Kept in ${result.folder}`) : null,
      result.front ? look : null));
  };
  const unlisten = listen(`jobs/${id}/events`, ({ progress, result }) => (result ? (ended(result), redraw()) : progressed(progress)),
    () => { told.textContent = "The explorer was ended, or the connection was lost. Load the page again to look on."; });
  return () => {
    unlisten();
    charts.forEach((chart) => chart.close());
  };
}
