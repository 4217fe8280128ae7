// A front as lines across upright axes, one for each quantity; what is better is always further up.

import { axisTitle } from "./frame_axes.js";
import { shown } from "./numbers.js";
import { scale } from "./scale.js";

const REACH = 10;
const MOST = 600; // lines that are drawn

/** How to draw the rows of a model across these axes. */
export function parallel(model, axes) {
  return (size, colours) => {
    const top = 46, bottom = size.height - 24, left = 50, right = size.width - 60;
    if (!axes.length) return { base: (painter) => painter.text("Choose an axis", size.width / 2, size.height / 2, { fill: colours.soft, anchor: "middle" }), nearest: () => -1, brushed: () => ({}), where: () => [0, 0] };
    const at = (j) => (axes.length > 1 ? left + (j * (right - left)) / (axes.length - 1) : (left + right) / 2);
    const scales = axes.map((axis) => scale(model.extents.get(axis.name), axis.better === "low" ? [top, bottom] : [bottom, top], { log: axis.log, room: 0 }));
    const columns = axes.map((axis, j) => model.columns.get(axis.name).map((value) => scales[j].at(value)));
    const places = axes.map((_, j) => at(j)), close = size.width / axes.length < 130;
    const line = (i) => {
      const found = [];
      for (let j = 0; j < columns.length; j += 1) if (columns[j][i] === columns[j][i]) found.push([places[j], columns[j][i]]);
      return found;
    };
    const many = model.rows.length;
    const every = Math.max(1, Math.ceil(model.count / MOST)); // so that a picture stays one, and is drawn at once
    const alpha = many > 1500 ? 0.3 : many > 300 ? 0.3 : 0.6;

    function base(painter) {
      const rows = model.rows.map((_, i) => i);
      if (many <= MOST) painter.bundle(rows.filter((i) => !model.kept[i]).map(line), { stroke: colours.line, alpha: 0.5 });
      for (const front of model.fronts) {
        const drawn = rows.filter((i) => model.kept[i] && model.rows[i].front === front).filter((_, k) => k % every === 0);
        painter.bundle(drawn.map(line), { stroke: front.colour, alpha });
      }
      const notes = [close ? "Further up is better." : "", every > 1 ? `One line in ${every} is drawn.` : ""].filter(Boolean).join(" ");
      if (notes) painter.text(notes, size.width / 2, size.height - 8, { fill: colours.soft, anchor: "middle", size: 11 });
      axes.forEach((axis, j) => {
        painter.line([[at(j), top], [at(j), bottom]], { stroke: colours.ink, width: 1.5 });
        const [low, high] = model.extents.get(axis.name), [upper, lower] = axis.better === "low" ? [low, high] : [high, low];
        const anchor = j === 0 && axes.length > 1 ? "start" : j === axes.length - 1 && axes.length > 1 ? "end" : "middle";
        const place = j === 0 ? 6 : j === axes.length - 1 ? size.width - 6 : at(j);
        // Where axes stand close to each other every second name is lower, and what is better is said once for all.
        const room = ((close ? 2 : 1) * size.width / axes.length) / 7.4, name = axis.name.length > room ? `${axis.name.slice(0, room - 1)}…` : axis.name;
        painter.text(name, place, close && j % 2 ? 28 : 12, { fill: colours.ink, anchor, bold: true });
        if (!close) painter.text(axis.better ? axisTitle(axis, true).replace(/.*\((.*) [←→]\)/, "$1") : "", place, 28, { fill: colours.soft, anchor, size: 11 });
        painter.text(shown(upper), at(j) + 6, top + 2, { fill: colours.soft, size: 11 });
        painter.text(shown(lower), at(j) + 6, bottom - 2, { fill: colours.soft, size: 11 });
        const range = model.filters[axis.name];
        if (range) painter.line(range.map((value) => [at(j), Math.max(top, Math.min(bottom, scales[j].at(value)))]), { stroke: colours.accent, width: 6, alpha: 0.6 });
      });
    }

    function overlay(painter) {
      const put = (i, stroke, width) => i >= 0 && painter.line(line(i), { stroke, width });
      put(model.recommended, colours.best, 3.5);
      put(model.compared, colours.second, 3);
      put(model.selected, colours.chosen, 3);
      put(model.hover, colours.ink, 2);
    }

    function nearest(x, y) {
      let found = -1, least = REACH;
      const j = Math.max(0, places.findLastIndex((place) => place <= x));
      if (j + 1 >= places.length) return -1;
      const share = (x - places[j]) / (places[j + 1] - places[j]);
      for (let i = 0; i < many; i += 1) {
        const away = Math.abs(y - (columns[j][i] + share * (columns[j + 1][i] - columns[j][i])));
        if (away < least && model.kept[i]) (least = away), (found = i);
      }
      return found;
    }

    /** A stroke along an axis keeps what crosses it there. */
    function brushed(from, to) {
      const middle = (from[0] + to[0]) / 2;
      const j = axes.reduce((one, _, other) => (Math.abs(at(other) - middle) < Math.abs(at(one) - middle) ? other : one), 0);
      return { [axes[j].name]: [scales[j].back(from[1]), scales[j].back(to[1])].sort((a, b) => a - b) };
    }
    return { base, overlay, nearest, brushed, where: (i) => line(i)[0] };
  };
}
