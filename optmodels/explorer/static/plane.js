// A front in two dimensions: points, what is proven, what was published, and the points that matter.

import { attained } from "./attainment.js";
import { certified, staircase } from "./certified.js";
import { frameAxes } from "./frame_axes.js";
import { places } from "./label_places.js";
import { extent, shown } from "./numbers.js";

export const MANY = 400; // points from which on they are dots, proven or not
const REACH = 16; // pixels from which on a point is not meant any more

/** How to draw the rows of a model with two of its axes. */
export function plane(model, x, y) {
  return (size, colours) => {
    const { rows } = model;
    const xs = model.columns.get(x.name), ys = model.columns.get(y.name);
    const known = (one, axis) => one.values[axis.name] !== undefined && model.near(one.values, axis.name);
    const beside = model.published.filter((one) => known(one, x) && known(one, y));
    // What was published of one of the two alone is a mark on its axis.
    const onAxis = model.published.filter((one) => (one.values[x.name] === undefined) !== (one.values[y.name] === undefined) && (known(one, x) || known(one, y)));
    const target = (front) => (front.target === y.name ? [y, x] : front.target === x.name ? [x, y] : null);
    const bounds = model.fronts.flatMap((front) => (target(front) ? front.bound.filter((b) => b !== null) : []));
    const of = (values, axis, others) => extent([...extent(values), ...others, ...beside.map((one) => one.values[axis.name])].filter((value) => !axis.log || value > 0));
    const own = (axis) => (model.fronts.some((front) => front.target === axis.name) ? bounds : []);
    const frame = frameAxes(size, { ...x, domain: of(xs, x, own(x)) }, { ...y, domain: of(ys, y, own(y)) });
    const { across, up, box } = frame;
    const px = xs.map((value) => across.at(value)), py = ys.map((value) => up.at(value));
    const clamp = ([a, b]) => [Math.max(box.left, Math.min(box.right, a)), Math.max(box.top, Math.min(box.bottom, b))];

    const placed = (one) => clamp([known(one, x) ? across.at(one.values[x.name]) : box.left, known(one, y) ? up.at(one.values[y.name]) : box.bottom]);

    function proofs(painter, front, tone) {
      const pair = target(front);
      if (!pair || front.axes.filter((axis) => axis.objective).length !== 2 || !pair[1].objective) return;
      const pieces = certified(front, ...pair), flip = pair[0] === x;
      const to = (other, value) => clamp(flip ? [across.at(value), up.at(other)] : [across.at(other), up.at(value)]);
      if (pieces?.length) {
        const worst = flip ? across.ends : up.ends, floor = pair[0].better === "high" ? worst[1] : worst[0];
        const edge = pieces.flatMap(({ from, to: next, bound }) => [to(from, bound), to(next, bound)]);
        painter.polygon([...edge, to(pieces.at(-1).to, floor), to(pieces[0].from, floor)], { fill: colours.proven, alpha: 0.1 });
        for (const { from, to: next, value, bound } of pieces)
          if (value !== bound) painter.polygon([to(from, value), to(next, value), to(next, bound), to(from, bound)], { fill: colours.gap, alpha: 0.25 });
        painter.line(edge, { stroke: colours.proven, width: 1.5, dash: [5, 4] });
      }
      front.bound.forEach((bound, i) => {
        if (bound === null || !front.gap[i] || front.count > 2000) return;
        const other = front.values[pair[1].name][i];
        painter.line([to(other, front.values[pair[0].name][i]), to(other, bound)], { stroke: colours.gap, width: 1.5 });
      });
      if (front.count <= 2000) painter.line(staircase(front, ...pair).map(([other, value]) => to(other, value)), { stroke: tone, alpha: 0.45 });
    }

    /** All points of a front at once, those that are filtered out below the others. */
    function many(painter, r) {
      for (const kept of [0, 1])
        for (const front of model.fronts) {
          const places = [];
          for (let i = 0; i < rows.length; i += 1) if (rows[i].front === front && model.kept[i] === kept && px[i] === px[i]) places.push([px[i], py[i]]);
          painter.dots(places, r, { fill: front.colour, alpha: kept ? 0.65 : 0.12 });
        }
    }

    function base(painter) {
      frame.draw(painter, colours);
      for (const front of model.fronts) proofs(painter, front, front.colour);
      if (model.together && model.comparable && x.objective && y.objective && x.name !== y.name)
        for (const { share, corners } of attained(model.fronts, y, x))
          painter.line(corners.map(([a, b]) => [across.at(a), up.at(b)]), { stroke: colours.ink, width: share === 1 ? 1.6 : 2.2, dash: share === 1 ? [2, 3] : [8, 4] });
      for (const one of onAxis) painter.mark("square", ...placed(one), 3.5, { fill: colours.paper, stroke: colours.soft, width: 1.5 });
      for (const one of beside) painter.mark("square", across.at(one.values[x.name]), up.at(one.values[y.name]), 3.5, { stroke: colours.soft, width: 1.5 });
      const r = rows.length > 3000 ? 2 : rows.length > 400 ? 3 : 4.2;
      if (rows.length > MANY) many(painter, r);
      else rows.forEach((row, i) => {
        if (Number.isNaN(px[i])) return;
        const tone = row.front.colour, kept = model.kept[i];
        painter.mark("circle", px[i], py[i], r, row.front.status[row.i] === "optimal"
          ? { fill: tone, alpha: kept ? 0.9 : 0.1 }
          : { fill: colours.paper, stroke: tone, width: 1.7, alpha: kept ? 1 : 0.14 });
      });
      const drawn = new Map();
      for (const { row, label } of model.landmarks) {
        if (Number.isNaN(px[row])) continue;
        painter.mark("circle", px[row], py[row], r + 3, { stroke: colours.ink, width: 1.2 });
        drawn.set(row, drawn.has(row) ? `${drawn.get(row)}, ${label}` : label);
      }
      for (const one of places([...drawn].map(([row, label]) => ({ label, x: px[row], y: py[row] })), box))
        painter.text(one.label, one.at[0], one.at[1], { fill: colours.ink, anchor: one.anchor });
    }

    function overlay(painter) {
      const { hover, selected, compared, recommended, wish } = model;
      if (wish && (wish[x.name] !== undefined || wish[y.name] !== undefined)) {
        const [wx, wy] = [wish[x.name], wish[y.name]].map((value, j) => (value === undefined ? null : (j ? up : across).at(value)));
        if (wx !== null) painter.line([[wx, box.top], [wx, box.bottom]], { stroke: colours.best, dash: [2, 4], width: 1.5 });
        if (wy !== null) painter.line([[box.left, wy], [box.right, wy]], { stroke: colours.best, dash: [2, 4], width: 1.5 });
      }
      if (recommended >= 0 && !Number.isNaN(px[recommended])) painter.mark("star", px[recommended], py[recommended], 7, { fill: colours.best, stroke: colours.ink, width: 1 });
      if (compared >= 0 && !Number.isNaN(px[compared])) painter.mark("diamond", px[compared], py[compared], 6.5, { stroke: colours.second, width: 3 });
      if (selected >= 0 && !Number.isNaN(px[selected])) painter.mark("circle", px[selected], py[selected], 9, { stroke: colours.chosen, width: 3 });
      if (hover >= 0 && !Number.isNaN(px[hover])) {
        painter.line([[px[hover], py[hover]], [px[hover], box.bottom]], { stroke: colours.soft, dash: [3, 3] });
        painter.line([[px[hover], py[hover]], [box.left, py[hover]]], { stroke: colours.soft, dash: [3, 3] });
        painter.mark("circle", px[hover], py[hover], 6, { fill: rows[hover].front.colour, stroke: colours.ink, width: 1.5 });
      }
    }

    function nearest(atX, atY) {
      let found = -1, least = REACH * REACH;
      for (let i = 0; i < rows.length; i += 1) {
        const away = (px[i] - atX) ** 2 + (py[i] - atY) ** 2;
        if (away < least && (model.kept[i] || away < 16)) (least = away), (found = i);
      }
      return found;
    }

    const brushed = (from, to) => ({
      [x.name]: [across.back(from[0]), across.back(to[0])].sort((a, b) => a - b),
      [y.name]: [up.back(from[1]), up.back(to[1])].sort((a, b) => a - b),
    });
    /** What is told of a published point that is pointed at. */
    function beside_(atX, atY) {
      const away = (one) => Math.hypot(placed(one)[0] - atX, placed(one)[1] - atY);
      const found = [...beside, ...onAxis].reduce((best, one) => (best === null || away(one) < away(best) ? one : best), null);
      return found && away(found) < REACH ? [found.title, ...[x, y].filter((axis) => known(found, axis)).map(({ name }) => `${name} ${shown(found.values[name], 5)}`), "published, not found here"] : null;
    }
    return { base, overlay, nearest, brushed, beside: beside_, where: (i) => [px[i], py[i]] };
  };
}
