// Which page is shown: the part of the address after #.

import { get } from "./api.js";
import { el, fill, say } from "./dom.js";
import { Model } from "./model.js";

const VIEWS = {
  home: () => import("./home_view.js").then((m) => m.homeView),
  front: () => import("./front_view.js").then((m) => m.frontView),
  point: () => import("./point_view.js").then((m) => m.pointView),
  compare: () => import("./compare_view.js").then((m) => m.compareView),
  file: () => import("./file_view.js").then((m) => m.fileView),
  job: () => import("./job_view.js").then((m) => m.jobView),
  study: () => import("./study_view.js").then((m) => m.studyView),
};
const main = document.getElementById("main"), nav = document.getElementById("nav");
const model = new Model(); // one for all pages: what was selected stays so on the way to a point and back
let leave = null, shownFor = 0;

function links(workspace, current) {
  const link = (hash, text) => el("a", { href: hash, "aria-current": hash === current ? "page" : null, dir: "auto" }, text);
  return [
    workspace.fronts.length ? link("#front", workspace.fronts.length === 1 ? "Front" : `${workspace.fronts.length} fronts`) : null,
    workspace.files.map(({ id, name }) => link(`#file/${id}`, name)),
    workspace.studies.map(({ id, name }) => link(`#study/${id}`, name)),
    workspace.jobs.map(({ id, title, running }) => link(`#job/${id}`, `${title}${running ? " …" : ""}`)),
  ];
}

async function show() {
  const mine = (shownFor += 1);
  leave?.();
  leave = null;
  const workspace = await get("workspace");
  const [asked, ...rest] = location.hash.replace(/^#/, "").split("/");
  const first = workspace.fronts.length ? "front" : workspace.files.length === 1 ? `file/${workspace.files[0].id}` : workspace.studies.length ? `study/${workspace.studies[0].id}` : "home";
  if (!(asked in VIEWS)) return void location.replace(`#${first}`);
  fill(nav, links(workspace, location.hash));
  const view = await VIEWS[asked]();
  if (mine !== shownFor) return;
  say("");
  main.replaceChildren();
  const left = await view(main, { workspace, model, args: rest.map(decodeURIComponent), refresh: show });
  if (mine !== shownFor) left?.();
  else leave = left;
  document.title = `${main.querySelector("h1")?.textContent ?? "explorer"} – optmodels`;
}

const shown = () => show().catch((error) => fill(main, el("h1", {}, "This does not work"), el("p", { class: "warning" }, error.message), el("p", {}, el("a", { href: "#home" }, "To the start page"))));
addEventListener("hashchange", () => shown().then(() => (scrollTo(0, 0), main.focus({ preventScroll: true }))));
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
shown();
