// Bars with their names and figures, as elements, so that anyone can read them.

import { el } from "./dom.js";

/** Rows of { name, value, before, text, bad }: `value` and `before` as shares of the longest bar, from 0 to 1. */
export function bars(rows, label) {
  return el("div", { class: "bars", role: "list", "aria-label": label }, rows.map(({ name, value, before, text, bad }) => {
    const bar = (share, kind) => el("i", { class: kind, style: { width: `${100 * Math.max(0, Math.min(1, share))}%` } });
    return el("div", { role: "listitem", class: "barrow" }, el("span", { dir: "auto" }, name),
      el("span", { class: "track", "aria-hidden": "true" }, bar(value, bad ? "bad" : ""), before === undefined || before === null ? null : bar(before, "before")),
      el("span", { class: "number" }, text));
  }));
}
