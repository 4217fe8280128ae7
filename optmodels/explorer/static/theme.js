// Colours of drawings, taken from the style sheet so that they follow light and dark.

const NAMES = ["ink", "soft", "line", "paper", "tint", "accent", "chosen", "second", "best", "proven", "gap"];

export function theme() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** Okabe and Ito's colours, which most people can tell apart, in an order for lines on light and dark paper. */
export const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f"];
export const colour = (i) => COLOURS[i % COLOURS.length];

const watchers = new Set();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => watchers.forEach((redraw) => redraw()));

/** Redraw when light becomes dark. */
export function onTheme(redraw) {
  watchers.add(redraw);
  return () => watchers.delete(redraw);
}
