// A front in three dimensions, turned by hand: a box, and points that grow as they come near.

import { MANY } from "./plane.js";
import { axisTitle } from "./frame_axes.js";
import { places as labelPlaces } from "./label_places.js";
import { extent, shown } from "./numbers.js";
import { scale } from "./scale.js";

const REACH = 14;
const STANDING = 150; // points that have a line down to the floor
const CORNERS = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [i & 1, (i >> 1) & 1, (i >> 2) & 1].map((bit) => (bit ? 1 : -1)));
const EDGES = CORNERS.flatMap((a, i) => CORNERS.map((b, j) => [i, j]).filter(([, j]) => j > i && a.filter((v, k) => v !== CORNERS[j][k]).length === 1));

/** How to draw the rows of a model with three of its axes, seen from `view` = { around, above }. */
export function solid(model, axes, view) {
  return (size, colours) => {
    const { rows } = model;
    const scales = axes.map((axis) => scale(model.extents.get(axis.name), [-1, 1], { log: axis.log, room: 0, count: 4 }));
    const [sa, ca, sb, cb] = [Math.sin(view.around), Math.cos(view.around), Math.sin(view.above), Math.cos(view.above)];
    const turned = ([x, y, z]) => {
      const across = x * ca - y * sa, deep = x * sa + y * ca;
      const away = deep * cb - z * sb, near = 3.6 / (3.6 + away);
      return [across * near, -(deep * sb + z * cb) * near, away];
    };
    // The whole box fits into the picture from wherever it is seen, with room for what is written beside it.
    const ends = [0, 1].map((k) => extent(CORNERS.map((corner) => turned(corner)[k])));
    const reach = Math.min((size.width - (size.width < 500 ? 100 : 190)) / (ends[0][1] - ends[0][0]), (size.height - 90) / (ends[1][1] - ends[1][0]));
    const middles = ends.map(([low, high]) => (low + high) / 2);
    const seen = (place) => {
      const [x, y, away] = turned(place);
      return [size.width / 2 + (x - middles[0]) * reach, size.height / 2 - 8 + (y - middles[1]) * reach, away];
    };
    const columns = axes.map((axis, j) => model.columns.get(axis.name).map((value) => scales[j].at(value)));
    const places = rows.map((_, i) => seen([columns[0][i], columns[1][i], columns[2][i]]));
    const many = rows.length > MANY;
    const far = many ? [] : rows.map((_, i) => i).sort((a, b) => places[b][2] - places[a][2]);

    function base(painter) {
      const corners = CORNERS.map(seen);
      for (const [a, b] of EDGES) painter.line([corners[a], corners[b]], { stroke: colours.line });
      // The floor has a grid, and few points stand on it, so that one sees where they are.
      for (const j of [0, 1])
        for (const value of scales[j].ticks()) {
          const at = scales[j].at(value);
          if (Math.abs(at) <= 1) painter.line([seen(j ? [-1, at, -1] : [at, -1, -1]), seen(j ? [1, at, -1] : [at, 1, -1])], { stroke: colours.line, alpha: 0.6 });
        }
      if (rows.length <= STANDING)
        rows.forEach((_, i) => model.kept[i] && !Number.isNaN(places[i][0]) && painter.line([places[i], seen([columns[0][i], columns[1][i], -1])], { stroke: colours.soft, alpha: 0.35 }));
      axes.forEach((axis, j) => {
        // Each axis is written along the edge that lies lowest, or for the upright one furthest to the left.
        const edges = EDGES.filter(([a, b]) => CORNERS[a][j] !== CORNERS[b][j]);
        const [a, b] = edges.reduce((one, other) => {
          const rank = ([p, q]) => (j === 2 ? -(corners[p][0] + corners[q][0]) : corners[p][1] + corners[q][1]);
          return rank(other) > rank(one) ? other : one;
        });
        const [low, high] = CORNERS[a][j] < 0 ? [corners[a], corners[b]] : [corners[b], corners[a]];
        painter.line([low, high], { stroke: colours.soft, width: 1.5 });
        const middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
        const off = j === 2 ? [-10, 0] : [middle[0] < size.width / 2 ? -8 : 8, 24], further = j === 2 ? -34 : middle[0] < size.width / 2 ? -26 : 26;
        const anchor = j === 2 || middle[0] < size.width / 2 ? "end" : "start";
        const along = (value) => seen(CORNERS[a].map((one, k) => (k === j ? scales[j].at(value) : one)));
        for (const value of scales[j].ticks()) {
          if (Math.abs(scales[j].at(value)) > 1) continue;
          const [tx, ty] = along(value);
          painter.line([[tx, ty], [tx + off[0] / 2, ty + off[1] / 6]], { stroke: colours.soft });
          painter.text(shown(value, 3), tx + off[0], ty + off[1] / 2.4, { fill: colours.soft, anchor, size: 11 });
        }
        const title = axisTitle(axis, true).replace(/ [←→]/, ""), wide = 7 * title.length;
        // The upright axis has its title above it, the others beside theirs, where there is room for all of it.
        if (j === 2) painter.text(title, Math.max(6, Math.min(low[0], high[0]) - 30), Math.min(low[1], high[1]) - 18, { fill: colours.ink, bold: true });
        else {
          const start = anchor === "end" ? middle[0] + off[0] + further - wide : middle[0] + off[0] + further;
          painter.text(title, Math.max(4, Math.min(size.width - 4 - wide, start)), Math.min(size.height - 10, middle[1] + off[1] + (size.width < 500 ? 24 + 16 * j : 6)), { fill: colours.ink, bold: true });
        }
      });
      if (many) {
        // In three steps from far to near: so many dots need no finer order to be told apart.
        const [near, away] = extent(places.map((place) => place[2]));
        for (const step of [2, 1, 0])
          for (const front of model.fronts)
            for (const kept of [0, 1]) {
              const some = places.filter((place, i) => rows[i].front === front && model.kept[i] === kept && Math.min(2, Math.floor((3 * (place[2] - near)) / (away - near || 1))) === step);
              painter.dots(some, 2.4 - 0.4 * step, { fill: front.colour, alpha: kept ? 0.8 - 0.2 * step : 0.1 });
            }
      }
      for (const i of far) {
        if (Number.isNaN(places[i][0])) continue;
        const [x, y, away] = places[i], r = (rows.length > 2000 ? 2 : 4) * (3.6 / (3.6 + away));
        painter.mark("circle", x, y, r, { fill: rows[i].front.colour, alpha: model.kept[i] ? 0.85 : 0.1 });
      }
      const drawn = new Map();
      for (const { row, label } of model.landmarks) {
        if (Number.isNaN(places[row][0])) continue;
        painter.mark("circle", places[row][0], places[row][1], 7, { stroke: colours.ink });
        drawn.set(row, drawn.has(row) ? `${drawn.get(row)}, ${label}` : label);
      }
      const box = { left: 0, right: size.width, top: 0, bottom: size.height };
      for (const one of labelPlaces([...drawn].map(([row, label]) => ({ label, x: places[row][0], y: places[row][1] })), box))
        painter.text(one.label, one.at[0], one.at[1], { fill: colours.ink, anchor: one.anchor });
    }

    function overlay(painter) {
      const put = (i, shape, r, how) => i >= 0 && painter.mark(shape, places[i][0], places[i][1], r, how);
      put(model.recommended, "star", 7, { fill: colours.best, stroke: colours.ink });
      put(model.compared, "diamond", 6.5, { stroke: colours.second, width: 3 });
      put(model.selected, "circle", 9, { stroke: colours.chosen, width: 3 });
      put(model.hover, "circle", 6, { stroke: colours.ink, width: 2 });
    }

    function nearest(x, y) {
      let found = -1, least = REACH * REACH;
      places.forEach(([px, py], i) => {
        const away = (px - x) ** 2 + (py - y) ** 2;
        if (away < least && model.kept[i]) (least = away), (found = i);
      });
      return found;
    }
    return { base, overlay, nearest, where: (i) => places[i] };
  };
}
