// What several fronts attain together: the value that the best of them, half of them or all of them reach or beat.

/** For each share of the fronts, corners of the surface that so many attain; costs are to be small in both axes. */
export function attained(fronts, target, other, shares = [0.5, 1]) {
  const [t, o] = [target, other].map((axis) => (axis.better === "high" ? -1 : 1));
  const stairs = fronts.map((front) => front.values[other.name]
    .map((value, i) => [o * value, t * front.values[target.name][i]]).sort((a, b) => a[0] - b[0]));
  const places = [...new Set(stairs.flatMap((rows) => rows.map(([at]) => at)))].sort((a, b) => a - b);
  const at = stairs.map(() => 0), best = stairs.map(() => Infinity);
  const found = shares.map((share) => ({ share, corners: [] }));
  for (const place of places) {
    stairs.forEach((rows, k) => {
      for (; at[k] < rows.length && rows[at[k]][0] <= place; at[k] += 1) best[k] = Math.min(best[k], rows[at[k]][1]);
    });
    const sorted = [...best].sort((a, b) => a - b);
    for (const { share, corners } of found) {
      const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)], last = corners.at(-1);
      if (value === Infinity || (last && last[1] === t * value)) continue;
      if (last) corners.push([o * place, last[1]]);
      corners.push([o * place, t * value]);
    }
  }
  // Each surface goes on to the last place with the value that it has there.
  for (const { corners } of found) if (corners.length) corners.push([o * places.at(-1), corners.at(-1)[1]]);
  return found;
}
