// Which point to recommend: the knee, the best weighted sum within limits, or the one nearest to a wish.

const BESIDE = 1e-3; // what the sum of all counts beside the worst shortfall, so that nothing is given away

/** The cost of a value: 0 where it is the best of all points, 1 where it is the worst. */
function cost(axis, [low, high], value) {
  if (!(high > low)) return 0;
  return axis.better === "high" ? (high - value) / (high - low) : (value - low) / (high - low);
}

/** The row that is best by what is asked for, or -1. */
export function best(model, { weights, limits, wish }) {
  const asked = model.objectives.map((axis) => {
    const reach = model.extents.get(axis.name), limit = limits[axis.name];
    return {
      axis, reach, column: model.columns.get(axis.name), weight: weights[axis.name] ?? 1,
      limit: limit === undefined ? Infinity : cost(axis, reach, limit) + 1e-9,
      wished: wish[axis.name] === undefined ? null : cost(axis, reach, wish[axis.name]),
    };
  });
  const isWished = asked.some(({ wished }) => wished !== null);
  let found = -1, least = Infinity;
  for (let i = 0; asked.length && i < model.rows.length; i += 1) {
    if (!model.kept[i]) continue;
    let sum = 0, short = 0, within = true; // what is better than it was wished makes up for nothing
    for (const { axis, reach, column, weight, limit, wished } of asked) {
      const own = cost(axis, reach, column[i]);
      if (!(own <= limit)) within = false; // not a number is not within either
      sum += weight * own;
      if (wished !== null) short = Math.max(short, weight * (own - wished));
    }
    const score = isWished ? short + BESIDE * sum : sum;
    if (within && score < least) (least = score), (found = i);
  }
  return found;
}
