// Elements without markup: whatever comes from data is text, never HTML.

/** An element; `on` holds listeners, `style` properties, other keys are attributes (true: present, false: absent). */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else if (name === "style") for (const [key, one] of Object.entries(value)) made.style.setProperty(key, one);
    else if (name === "value") made.value = value;
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  put(made, ...children);
  return made;
}

/** Append children; text is text, and nothing is nothing. */
export function put(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return parent;
}

/** Replace what an element holds. */
export function fill(parent, ...children) {
  parent.replaceChildren();
  return put(parent, ...children);
}

/** Tell people who listen rather than look, and those who look at the foot of the page. */
export function say(message) {
  const said = document.getElementById("said");
  said.textContent = message;
  clearTimeout(silence);
  // Long enough to be read; whoever listens has heard it by then.
  if (message) silence = setTimeout(() => { said.textContent = ""; }, 4000 + 60 * message.length);
}

let silence;

let made = 0;

/** A control with its label. */
export function labelled(label, control, note) {
  made += 1;
  control.id = control.id || `control-${made}`;
  return el("div", { class: "field" }, el("label", { for: control.id }, label), control, note ? el("small", {}, note) : null);
}

/** A select of [value, text] pairs. */
export function select(options, chosen, onChange, attributes = {}) {
  const made = el("select", { ...attributes, on: { change: () => onChange(made.value) } });
  for (const [value, text] of options) made.append(el("option", { value, selected: value === chosen }, text));
  return made;
}

/** A button that says when it is busy and shows what went wrong. */
export function action(text, work, attributes = {}) {
  const button = el("button", { type: "button", ...attributes }, text);
  button.addEventListener("click", async () => {
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    try {
      await work(button);
    } catch (error) {
      say(error.message);
    } finally {
      button.disabled = false;
      button.removeAttribute("aria-busy");
    }
  });
  return button;
}

/** A table of rows of cells; cells that are numbers stand at the right. */
export function table(heads, rows, { caption, rowAttributes, long } = {}) {
  const number = (cell) => typeof cell === "number" || (cell && cell.number);
  const shown = (cell) => (cell && cell.number ? cell.text : cell);
  const numeric = heads.map((_, j) => rows.length > 0 && rows.every((row) => number(row[j])));
  return el("div", { class: long ? "wide long" : "wide", tabindex: "0", role: "region", "aria-label": caption || heads.filter(String).join(", ") },
    el("table", {},
      caption ? el("caption", {}, caption) : null,
      el("thead", {}, el("tr", {}, heads.map((head, j) => el("th", { scope: "col", dir: "auto", class: numeric[j] ? "number" : false }, head)))),
      el("tbody", {}, rows.map((row, i) => el("tr", rowAttributes ? rowAttributes(i) : {},
        row.map((cell, j) => el(j === 0 ? "th" : "td",
          { class: number(cell) ? "number" : false, scope: j === 0 ? "row" : false, dir: "auto", "data-head": heads[j] || null }, shown(cell))))))));
}
