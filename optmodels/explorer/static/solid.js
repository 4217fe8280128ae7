// A front in three dimensions, turned by hand: a box, and points that grow as they come near.

import { MANY } from "./plane.js";
import { axisTitle } from "./frame_axes.js";
import { extent, shown } from "./numbers.js";
import { scale } from "./scale.js";

const REACH = 14;
const CORNERS = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [i & 1, (i >> 1) & 1, (i >> 2) & 1].map((bit) => (bit ? 1 : -1)));
const EDGES = CORNERS.flatMap((a, i) => CORNERS.map((b, j) => [i, j]).filter(([, j]) => j > i && a.filter((v, k) => v !== CORNERS[j][k]).length === 1));

/** How to draw the rows of a model with three of its axes, seen from `view` = { around, above }. */
export function solid(model, axes, view) {
  return (size, colours) => {
    const { rows } = model;
    const scales = axes.map((axis) => scale(model.extents.get(axis.name), [-1, 1], { log: axis.log, room: 0 }));
    const [sa, ca, sb, cb] = [Math.sin(view.around), Math.cos(view.around), Math.sin(view.above), Math.cos(view.above)];
    const turned = ([x, y, z]) => {
      const across = x * ca - y * sa, deep = x * sa + y * ca;
      const away = deep * cb - z * sb, near = 3.6 / (3.6 + away);
      return [across * near, -(deep * sb + z * cb) * near, away];
    };
    // The whole box fits into the picture from wherever it is seen, with room for what is written beside it.
    const ends = [0, 1].map((k) => extent(CORNERS.map((corner) => turned(corner)[k])));
    const reach = Math.min((size.width - 190) / (ends[0][1] - ends[0][0]), (size.height - 90) / (ends[1][1] - ends[1][0]));
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
        const off = j === 2 ? [-10, 0] : [middle[0] < size.width / 2 ? -8 : 8, 24];
        const anchor = j === 2 || middle[0] < size.width / 2 ? "end" : "start";
        painter.text(shown(model.extents.get(axis.name)[0], 3), low[0] + off[0], low[1] + off[1] / 2, { fill: colours.soft, anchor });
        painter.text(shown(model.extents.get(axis.name)[1], 3), high[0] + off[0], high[1] + off[1] / 2, { fill: colours.soft, anchor });
        painter.text(axisTitle(axis, true).replace(/ [←→]/, ""), Math.max(6, Math.min(size.width - 6, middle[0] + off[0])), middle[1] + off[1], { fill: colours.ink, anchor, bold: true });
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
      for (const { row, label } of model.landmarks) {
        painter.mark("circle", places[row][0], places[row][1], 7, { stroke: colours.ink });
        painter.text(label, places[row][0] + 10, places[row][1] - 10, { fill: colours.ink });
      }
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
