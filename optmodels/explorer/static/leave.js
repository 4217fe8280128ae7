// Leaving: the release, its audit and the way to have both again.

import { post } from "./api.js";
import { action, el, say } from "./dom.js";

const FILES = [
  ["Release", [["release.csv", "CSV"], ["release.parquet", "Parquet"]]],
  ["Audit", [["audit.html", "HTML"], ["audit.json", "JSON"]]],
  ["Promise", [["release.promise.json", "of the CSV"], ["release.parquet.promise.json", "of the Parquet"]]],
];

/** Buttons that make an audited release of a point and let the browser keep it. */
export function downloads(front, point, given = {}) {
  const keep = async (file) => {
    say("Making the release and auditing it…");
    const place = `fronts/${front.id}/points/${point}/${file}`;
    const response = await fetch(`api/${place}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given) });
    if (!response.ok) throw new Error((await response.json()).error);
    const link = el("a", { href: URL.createObjectURL(await response.blob()), download: `${front.name.replace(/[^\w.-]+/g, "-")}-${point}-${file}` });
    link.click();
    say(`${file} of point ${point} is made and audited: it keeps what was promised.`);
  };
  return [
    el("h3", {}, "Leave with it"),
    el("div", { class: "files" }, FILES.map(([what, files], i) => [el("span", { class: "soft" }, what),
      el("div", { class: "bar tight" }, files.map(([file, text], j) => action(text, () => keep(file), { class: i || j ? null : "main", "aria-label": `${what} (${text})` })))])),
    reproduction(front, point, given),
  ];
}

function reproduction(front, point, given) {
  const made = el("div", {}, el("p", { class: "soft" }, "…"));
  const ask = () => post(`fronts/${front.id}/points/${point}/commands`, given).then(
    ({ command, python, found }) => made.replaceChildren(
      ...(found ? [el("p", { class: "soft" }, "How the front was found"), el("pre", { tabindex: "0" }, found)] : []),
      el("p", { class: "soft" }, "Release this point on the command line"), el("pre", { tabindex: "0" }, command),
      el("p", { class: "soft" }, "Release this point in Python"), el("pre", { tabindex: "0" }, python)),
    (error) => made.replaceChildren(el("p", { class: "warning" }, error.message)));
  return el("details", { on: { toggle: ask } }, el("summary", {}, "The command and the Python that do the same"), made);
}
