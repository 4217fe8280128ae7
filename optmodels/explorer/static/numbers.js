// Numbers as people read them, and where the ticks of an axis stand.

/** A number in at most so many digits. */
export function shown(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(digits - 1);
  return String(Number(value.toPrecision(digits)));
}

export const percent = (value, digits = 3) => (value === null || value === undefined ? "–" : `${shown(100 * value, digits)}%`);

/** The nearest number of the form 1, 2 or 5 times a power of ten. */
function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

/** Round numbers between two ends. */
export function ticks(low, high, count = 6) {
  if (!(high > low)) return [low];
  const step = roundStep((high - low) / count);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) found.push(Number((at * step).toPrecision(12)));
  return found;
}

/** Powers of ten between two ends, and what lies between them where there are few. */
export function logTicks(low, high) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const leads = last - first > 3 ? [1] : last - first > 1 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  const found = [];
  for (let power = first; power <= last; power += 1)
    for (const lead of leads) {
      const value = Number((lead * 10 ** power).toPrecision(12));
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push(value);
    }
  return found.length > 1 ? found : ticks(low, high, 4);
}

/** The least and the largest of some numbers. */
export function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}
