// A place to draw on: a picture below, what moves above it, and the hands that touch it.

import { el } from "./dom.js";
import { CanvasPainter, SvgPainter } from "./painter.js";
import { onTheme, theme } from "./theme.js";
import { keep } from "./api.js";

/**
 * A chart. `layout(size, colours)` says how to draw at a size: `base(painter)`, `overlay(painter)`, `nearest(x, y)`, which is
 * the number of the thing there or -1, and `brushed(from, to)` for a rectangle that was drawn by hand.
 */
export class Chart {
  constructor({ label, layout, height = 460, onHover, onPick, onBrush, onTurn, onKey }) {
    this.layoutOf = layout;
    this.height = height;
    this.base = el("canvas", { "aria-hidden": "true" });
    this.over = el("canvas", { "aria-hidden": "true" });
    this.tip = el("div", { class: "tip", hidden: true, dir: "auto" });
    // A group that takes the keyboard: arrows go from point to point, and what they meet is said aloud.
    this.element = el("div", { class: "chart", tabindex: "0", role: "group", "aria-roledescription": "chart", "aria-label": label },
      this.base, this.over, this.tip);
    this.hands = { onHover, onPick, onBrush, onTurn, onKey };
    this.#listen();
    this.sized = new ResizeObserver(() => this.draw());
    this.sized.observe(this.element);
    this.untheme = onTheme(() => this.draw());
    this.brush = null;
  }

  /** Draw everything again. */
  draw() {
    const width = this.element.clientWidth;
    if (!width) return;
    this.colours = theme();
    this.size = { width, height: Math.min(this.height, Math.max(300, width * 0.95)) };
    this.element.style.setProperty("height", `${this.size.height}px`);
    const ratio = devicePixelRatio || 1;
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(this.size.height * ratio);
    }
    this.layout = this.layoutOf(this.size, this.colours);
    const context = this.base.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, this.size.height);
    this.layout.base(new CanvasPainter(context));
    this.drawOver();
  }

  /** Draw only what moves. */
  drawOver() {
    if (!this.layout) return;
    const ratio = devicePixelRatio || 1, context = this.over.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    const painter = new CanvasPainter(context);
    this.layout.overlay?.(painter);
    if (this.brush) {
      const { from, to } = this.brush;
      painter.polygon([from, [to[0], from[1]], to, [from[0], to[1]]], { fill: this.colours.accent, alpha: 0.12 });
      painter.polygon([from, [to[0], from[1]], to, [from[0], to[1]]], { stroke: this.colours.accent });
    }
  }

  /** Show lines of text beside a place; none hides them. */
  showTip(lines, x, y) {
    this.tip.hidden = !lines;
    if (!lines) return;
    this.tip.replaceChildren(...lines.map((line, i) => el("div", { class: i ? "" : "first", dir: "auto" }, line)));
    const beyond = x > this.size.width / 2;
    this.tip.style.setProperty("left", beyond ? "auto" : `${x + 14}px`);
    this.tip.style.setProperty("right", beyond ? `${this.size.width - x + 14}px` : "auto");
    this.tip.style.setProperty("top", `${Math.max(4, Math.min(y - 12, this.size.height - 28 - 18 * lines.length))}px`);
  }

  saveSvg(name) {
    const painter = new SvgPainter(this.size.width, this.size.height, this.colours.paper);
    this.layout.base(painter);
    this.layout.overlay?.(painter);
    keep(new Blob([painter.source], { type: "image/svg+xml" }), name);
  }

  savePng(name) {
    const canvas = el("canvas", { width: this.base.width, height: this.base.height }), context = canvas.getContext("2d");
    context.fillStyle = this.colours.paper;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(this.base, 0, 0);
    context.drawImage(this.over, 0, 0);
    return new Promise((done) => canvas.toBlob((blob) => done(keep(blob, name)), "image/png"));
  }

  close() {
    this.sized.disconnect();
    this.untheme();
  }

  #listen() {
    const { element, hands } = this;
    const place = (event) => {
      const box = element.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let down = null, last = null;
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      down = last = place(event);
    });
    element.addEventListener("pointermove", (event) => {
      const at = place(event);
      if (down && event.buttons && Math.hypot(at[0] - down[0], at[1] - down[1]) > 5) {
        if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
        this.showTip(null);
        if (hands.onTurn) hands.onTurn(at[0] - last[0], at[1] - last[1]);
        else if (hands.onBrush) this.brush = { from: down, to: at }, this.drawOver();
        last = at;
        return;
      }
      if (!down) hands.onHover?.(this.layout?.nearest(...at) ?? -1, at);
    });
    element.addEventListener("pointerup", (event) => {
      const at = place(event);
      if (this.brush) {
        const { from, to } = this.brush;
        this.brush = null;
        hands.onBrush(this.layout.brushed(from, to));
      } else if (down && Math.hypot(at[0] - down[0], at[1] - down[1]) <= 5) {
        hands.onPick?.(this.layout?.nearest(...at) ?? -1, event);
      }
      down = null;
    });
    element.addEventListener("pointerleave", () => !this.brush && hands.onHover?.(-1, null));
    element.addEventListener("keydown", (event) => hands.onKey?.(event));
  }
}
