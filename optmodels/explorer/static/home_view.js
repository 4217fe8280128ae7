// The start: what is open, and what else could be.

import { post } from "./api.js";
import { action, el, fill, labelled, say } from "./dom.js";

export function homeView(main, { workspace, refresh }) {
  const place = el("input", { type: "text", size: 48, autocomplete: "off", spellcheck: "false" });
  const open = async () => {
    const { opened } = await post("open", { place: place.value });
    say(`Opened: ${opened.map(({ name }) => name).join(", ")}.`);
    const [{ kind, id }] = opened;
    location.hash = kind === "front" ? "#front" : `#${kind}/${id}`;
    if (!location.hash) refresh();
  };
  place.addEventListener("keydown", (event) => { if (event.key === "Enter") open().catch((error) => say(error.message)); });
  const list = (title, things, address) => things.length ? [el("h3", {}, title), el("ul", {}, things.map((thing) => el("li", { dir: "auto" }, el("a", { href: address(thing) }, thing.name ?? thing.title))))] : null;
  fill(main,
    el("h1", {}, "Look at a front, understand it, leave with a release"),
    el("p", { class: "soft" }, `optmodels ${workspace.version}, on this machine alone: nothing that you open here leaves it.`),
    el("div", { class: "pair" },
      el("section", { class: "card" }, el("h2", {}, "Open"),
        labelled("A folder of a front or of several, a runs.db, a data file, or the name of a dataset", place),
        el("div", { class: "bar tight" }, action("Open", open, { class: "main" }))),
      el("section", { class: "card" }, el("h2", {}, "Open now"),
        workspace.fronts.length || workspace.files.length || workspace.studies.length ? null : el("p", { class: "soft" }, "Nothing yet."),
        list("Fronts", workspace.fronts, () => "#front"),
        list("Files", workspace.files, ({ id }) => `#file/${id}`),
        list("Studies", workspace.studies, ({ id }) => `#study/${id}`),
        list("Runs", workspace.jobs, ({ id }) => `#job/${id}`))));
}
