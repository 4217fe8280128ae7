// Which point to recommend: the knee, the best weighted sum within limits, or the one nearest to a wish.

const BESIDE = 1e-3; // what the sum of all counts beside the worst shortfall, so that nothing is given away

/** Costs of a row, objective by objective, scaled to 0..1 over all rows. */
function scaled(model, names) {
  const axes = names.map((name) => model.axes.get(name));
  return (row) => axes.map((axis) => {
    const [low, high] = model.extents.get(axis.name), value = model.value(row, axis.name);
    return scaledValue(axis, low, high, value);
  });
}

function scaledValue(axis, low, high, value) {
  if (value === null) return NaN;
  const share = high > low ? (value - low) / (high - low) : 0;
  return axis.better === "high" ? (high > low ? 1 - share : 0) : share;
}

/** The row that is best by what is asked for, or -1. */
export function best(model, { weights, limits, wish }) {
  const names = model.objectives.map((axis) => axis.name);
  if (!names.length || !model.rows.length) return -1;
  const costs = scaled(model, names);
  const wished = names.map((name) => {
    const [low, high] = model.extents.get(name);
    return wish[name] === undefined ? null : scaledValue(model.axes.get(name), low, high, wish[name]);
  });
  const weight = names.map((name) => weights[name] ?? 1);
  const within = (row) => names.every((name) => {
    if (limits[name] === undefined) return true;
    const value = model.value(row, name), slack = 1e-12;
    return value !== null && (model.axes.get(name).better === "high" ? value >= limits[name] - slack : value <= limits[name] + slack);
  });
  const isWished = wished.some((value) => value !== null);
  let found = -1, least = Infinity;
  model.rows.forEach((row, i) => {
    if (!model.kept[i] || !within(row)) return;
    const own = costs(row);
    if (own.some(Number.isNaN)) return;
    const sum = own.reduce((total, cost, j) => total + weight[j] * cost, 0);
    const short = isWished ? Math.max(...own.map((cost, j) => (wished[j] === null ? -1 : weight[j] * (cost - wished[j])))) : 0;
    const score = isWished ? short + BESIDE * sum : sum;
    if (score < least) (least = score), (found = i);
  });
  return found;
}
