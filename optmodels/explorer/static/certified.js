// What is proven of a front of two objectives: where nothing can lie, and where something better still might.

const sign = (axis) => (axis.better === "high" ? -1 : 1);

/** Everything proven, as costs: all that is at least as good as `at` in the other objective costs `bound` or more. */
function proven(front, target, other) {
  const [t, o] = [sign(target), sign(other)];
  const found = [];
  front.bound.forEach((bound, i) => bound !== null && found.push({ at: o * front.values[other.name][i], bound: t * bound }));
  for (const level of front.levels) {
    const [at, bound] = [level[`${other.name}_at_least`], level[`${target.name}_at_least`]];
    if (at !== undefined && bound !== undefined && bound !== null) found.push({ at: o * at, bound: t * bound });
  }
  return found;
}

/**
 * Pieces between two values of the other objective, each with the incumbent and the bound there; null where nothing is proven.
 */
export function certified(front, target, other) {
  const bounds = proven(front, target, other);
  if (!bounds.length) return null;
  const [t, o] = [sign(target), sign(other)];
  const points = front.values[other.name].map((value, i) => ({ at: o * value, value: t * front.values[target.name][i] })).sort((a, b) => a.at - b.at);
  bounds.sort((a, b) => b.at - a.at);
  const places = [...new Set([...points, ...bounds].map(({ at }) => at))].sort((a, b) => a - b);
  const sliver = (places.at(-1) - places[0]) * 1e-6;
  const pieces = [];
  let best = Infinity, i = 0;
  const least = new Map(); // the best bound from a place on
  let most = -Infinity, j = 0;
  for (const at of [...places].reverse()) {
    while (j < bounds.length && bounds[j].at >= at) most = Math.max(most, bounds[j].bound), (j += 1);
    least.set(at, most);
  }
  for (let k = 0; k + 1 < places.length; k += 1) {
    while (i < points.length && points[i].at <= places[k]) best = Math.min(best, points[i].value), (i += 1);
    const bound = least.get(places[k + 1]);
    if (places[k + 1] - places[k] <= sliver || best === Infinity || bound === -Infinity) continue;
    pieces.push({ from: o * places[k], to: o * places[k + 1], value: t * best, bound: t * Math.min(bound, best) });
  }
  return pieces;
}

/** The corners of a staircase through the points, those best in the other objective first. */
export function staircase(front, target, other) {
  const o = sign(other);
  const rows = front.values[other.name].map((value, i) => [o * value, front.values[target.name][i]]).sort((a, b) => a[0] - b[0]);
  return rows.flatMap(([at, value], j) => (j ? [[o * at, rows[j - 1][1]], [o * at, value]] : [[o * at, value]]));
}
