// From values to pixels and back, linear or logarithmic.

import { logTicks, ticks } from "./numbers.js";

/** A scale over the values of `domain` that reaches from the first to the second pixel of `range`. */
export function scale(domain, range, { log = false, room = 0.05, count = 6 } = {}) {
  let [low, high] = domain;
  const logarithmic = log && low > 0;
  const to = logarithmic ? Math.log10 : (value) => value;
  const from = logarithmic ? (value) => 10 ** value : (value) => value;
  let [first, last] = [to(low), to(high)];
  if (!(last > first)) {
    const half = Math.abs(first) * 0.1 || 0.5;
    [first, last] = [first - half, last + half];
  }
  const beside = (last - first) * room;
  [first, last] = [first - beside, last + beside];
  const [start, end] = range;
  return {
    at: (value) => start + ((to(value) - first) / (last - first)) * (end - start),
    back: (pixel) => from(first + ((pixel - start) / (end - start)) * (last - first)),
    ticks: () => (logarithmic ? logTicks(from(first), from(last)) : ticks(first, last, count)),
    ends: [from(first), from(last)],
    logarithmic,
  };
}
