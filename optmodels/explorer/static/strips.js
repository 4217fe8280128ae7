// The mix of values in classes, each a strip of its shares, below that of the whole table.

import { el } from "./dom.js";
import { percent, shown } from "./numbers.js";
import { colour } from "./theme.js";

/** Strips of { values, whole, count, classes: [{ class, size, differs, shares }] }. */
export function strips({ values, whole, count, classes }, name) {
  const told = (shares) => values.map((value, j) => [value, shares[j]]).filter(([, share]) => share > 0).map(([value, share]) => `${value} ${percent(share)}`).join(", ");
  const strip = (shares, label) => el("span", { class: "strip", role: "img", "aria-label": `${label}: ${told(shares)}`, title: told(shares) },
    shares.map((share, j) => (share > 0 ? el("i", { style: { width: `${100 * share}%`, background: colour(j), opacity: j < 8 ? "1" : "0.55" } }) : null)));
  return [
    el("h3", {}, "Class by class"),
    el("p", { class: "soft" }, count > classes.length ? `The ${classes.length} of ${shown(count)} classes whose mix differs most from that of the whole table.` : "Every class, those whose mix differs most from that of the whole table first."),
    el("ul", { class: "legend" }, values.map((value, j) => el("li", { dir: "auto" }, el("span", { class: "swatch", style: { background: colour(j), opacity: j < 8 ? "1" : "0.55", "border-radius": "2px" } }), value))),
    el("div", { class: "strips", role: "list", "aria-label": `Values of ${name} in classes` },
      el("div", { role: "listitem", class: "barrow" }, el("b", {}, "whole table"), strip(whole, "whole table"), el("span", {}, "")),
      classes.map((one) => el("div", { role: "listitem", class: "barrow" }, el("span", {}, `class ${one.class}, ${shown(one.size)} records`), strip(one.shares, `class ${one.class}`), el("span", { class: "number" }, `${percent(one.differs, 2)} apart`)))),
  ];
}
