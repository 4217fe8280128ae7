// Bars with their names and figures, as elements, so that anyone can read them.

import { el } from "./dom.js";

/**
 * Rows of { name, value, before, span, text, bad }: `value` and `before` as shares of the longest bar, from 0 to 1, `span` from
 * one share to another in place of a bar. Rows that are named by sentences have them above the bar.
 */
export function bars(rows, label, { sentences = false, roomy = false } = {}) {
  return el("div", { class: sentences ? "bars sentences" : roomy ? "bars roomy" : "bars", role: "list", "aria-label": label }, rows.map(({ name, value, before, span, text, bad }) => {
    const bar = (share, kind) => el("i", { class: kind, style: { width: `${100 * Math.max(0, Math.min(1, share))}%` } });
    return el("div", { role: "listitem", class: "barrow" }, el("span", { dir: "auto" }, name),
      el("span", { class: "track", "aria-hidden": "true" }, span ? el("i", { class: "span", style: { left: `${100 * span[0]}%`, width: `${100 * Math.max(0.005, span[1] - span[0])}%` } }) : bar(value, bad ? "bad" : ""), before === undefined || before === null ? null : bar(before, "before")),
      el("span", { class: "number" }, text));
  }));
}
