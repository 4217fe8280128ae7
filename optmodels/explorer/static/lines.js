// Several lines in one picture, linear or stepped, on axes that may be logarithmic.

import { frameAxes } from "./frame_axes.js";
import { extent } from "./numbers.js";

/** Series of { name, points: [[x, y]...], colour, step, band: [[x, low, high]...], dots }. */
export function lines(series, x, y) {
  return (size, colours) => {
    const all = series.flatMap((one) => [...one.points, ...(one.band ?? []).flatMap(([a, low, high]) => [[a, low], [a, high]])]);
    const usable = ([a, b]) => (!x.log || a > 0) && (!y.log || b > 0) && a !== null && b !== null;
    const frame = frameAxes(size, { ...x, domain: x.domain ?? extent(all.filter(usable).map(([a]) => a)) }, { ...y, domain: y.domain ?? extent(all.filter(usable).map(([, b]) => b)) });
    const at = ([a, b]) => [frame.across.at(a), frame.up.at(b)];
    return {
      base(painter) {
        frame.draw(painter, colours);
        for (const one of series) {
          const points = one.points.filter(usable);
          if (one.band) {
            const band = one.band.filter(([a, low, high]) => (!x.log || a > 0) && low !== null && high !== null && (!y.log || (low > 0 && high > 0)));
            if (band.length > 1) painter.polygon([...band.map(([a, low]) => at([a, low])), ...[...band].reverse().map(([a, , high]) => at([a, high]))], { fill: one.colour, alpha: 0.12 });
          }
          const placed = points.map(at);
          const drawn = one.step ? placed.flatMap((point, i) => (i ? [[point[0], placed[i - 1][1]], point] : [point])) : placed;
          if (one.step && drawn.length && one.extend) drawn.push([frame.box.right, drawn.at(-1)[1]]);
          if (!one.dots) painter.line(drawn, { stroke: one.colour, width: one.width ?? 2, dash: one.dash ?? [], alpha: one.alpha ?? 1 });
          else placed.forEach(([px, py]) => painter.mark("circle", px, py, 2.5, { fill: one.colour, alpha: 0.4 }));
        }
      },
      nearest: () => -1,
    };
  };
}
