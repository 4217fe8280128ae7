// The two axes of a picture: grid, ticks and titles that say which way is better.

import { shown } from "./numbers.js";
import { scale } from "./scale.js";

const SIGN = { low: ["lower is better", "←", "↓"], high: ["higher is better", "→", "↑"] };

/** The title of an axis; `upright` is the vertical one. */
export function axisTitle(axis, upright) {
  const sign = SIGN[axis.better];
  const log = axis.log ? "log, " : "";
  if (!sign) return `${axis.title || axis.name}${axis.log ? " (log)" : ""}`;
  return `${axis.name} (${log}${sign[0]} ${upright ? (axis.better === "low" ? "←" : "→") : sign[1]})`;
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Scales for both axes of a picture of this size, and how to draw them. */
export function frameAxes(size, x, y, { right = 16, top = 14, bottom = 50 } = {}) {
  const ticked = (axis, value) => (axis.tick ? axis.tick(value) : shown(value));
  const up = scale(y.domain, [size.height - bottom, top], { log: y.log, count: Math.max(2, Math.round(size.height / 70)), room: y.room });
  const left = 38 + 7 * Math.max(4, ...up.ticks().map((value) => ticked(y, value).length));
  const across = scale(x.domain, [left, size.width - right], { log: x.log, count: Math.max(2, Math.round(size.width / 110)), room: x.room });
  const box = { left, right: size.width - right, top, bottom: size.height - bottom };

  function draw(painter, colours) {
    for (const value of across.ticks()) {
      const at = across.at(value);
      if (at < box.left - 1 || at > box.right + 1) continue;
      painter.line([[at, box.top], [at, box.bottom]], { stroke: colours.line });
      painter.text(ticked(x, value), at, box.bottom + 14, { fill: colours.soft, anchor: "middle" });
    }
    for (const value of up.ticks()) {
      const at = up.at(value);
      if (at < box.top - 1 || at > box.bottom + 1) continue;
      painter.line([[box.left, at], [box.right, at]], { stroke: colours.line });
      painter.text(ticked(y, value), box.left - 8, at, { fill: colours.soft, anchor: "end" });
    }
    painter.line([[box.left, box.top], [box.left, box.bottom], [box.right, box.bottom]], { stroke: colours.soft });
    const wide = Math.floor((box.right - box.left) / 7.2), high = Math.floor((size.height - 8) / 7.2);
    painter.text(cut(axisTitle(x, false), wide), (box.left + box.right) / 2, size.height - 14, { fill: colours.ink, anchor: "middle", size: 13, bold: true });
    painter.text(cut(axisTitle(y, true), high), 14, size.height / 2, { fill: colours.ink, anchor: "middle", size: 13, turn: -90, bold: true });
  }

  return { across, up, box, draw };
}
