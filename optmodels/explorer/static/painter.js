// One drawing, two ways to put it down: on a canvas for the screen, or as SVG to be kept.

const SVG = "http://www.w3.org/2000/svg";
const FONT = 'system-ui, "Segoe UI", Roboto, sans-serif';

/** The outline of a mark around a place. */
function outline(shape, x, y, r) {
  switch (shape) {
    case "diamond": return [[x, y - r * 1.35], [x + r * 1.35, y], [x, y + r * 1.35], [x - r * 1.35, y]];
    case "square": return [[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r]];
    case "triangle": return [[x, y - r * 1.3], [x + r * 1.2, y + r], [x - r * 1.2, y + r]];
    case "star": {
      const points = [];
      for (let i = 0; i < 10; i += 1) {
        const reach = i % 2 ? r * 0.75 : r * 1.7, angle = -Math.PI / 2 + (i * Math.PI) / 5;
        points.push([x + reach * Math.cos(angle), y + reach * Math.sin(angle)]);
      }
      return points;
    }
    default: return null;
  }
}

export class CanvasPainter {
  constructor(context) {
    this.context = context;
  }

  line(points, { stroke, width = 1, dash = [], alpha = 1 } = {}) {
    const { context } = this;
    if (points.length < 2) return;
    context.globalAlpha = alpha;
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  polygon(points, { fill = null, stroke = null, width = 1, alpha = 1 } = {}) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.beginPath();
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
    if (fill) (context.fillStyle = fill), context.fill();
    if (stroke) (context.strokeStyle = stroke), (context.lineWidth = width), context.stroke();
    context.globalAlpha = 1;
  }

  mark(shape, x, y, r, { fill = null, stroke = null, width = 1, alpha = 1 } = {}) {
    const corners = outline(shape, x, y, r);
    if (corners) return this.polygon(corners, { fill, stroke, width, alpha });
    const { context } = this;
    context.globalAlpha = alpha;
    context.beginPath();
    context.arc(x, y, r, 0, 2 * Math.PI);
    if (fill) (context.fillStyle = fill), context.fill();
    if (stroke) (context.strokeStyle = stroke), (context.lineWidth = width), context.stroke();
    context.globalAlpha = 1;
  }

  /** Many dots of one colour. */
  dots(places, r, { fill, alpha = 1 }) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.fillStyle = fill;
    for (const [x, y] of places) context.fillRect(x - r, y - r, 2 * r, 2 * r); // one path of them all would take longer
    context.globalAlpha = 1;
  }

  /** Many lines of one colour. */
  bundle(many, { stroke, width = 1, alpha = 1 }) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.strokeStyle = stroke;
    context.lineWidth = width;
    for (const points of many) {
      context.beginPath();
      points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  text(string, x, y, { fill, size = 12, anchor = "start", turn = 0, bold = false } = {}) {
    const { context } = this;
    context.save();
    context.translate(x, y);
    context.rotate((turn * Math.PI) / 180);
    context.fillStyle = fill;
    context.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
    context.textAlign = { start: "left", middle: "center", end: "right" }[anchor];
    context.textBaseline = "middle";
    context.fillText(string, 0, 0);
    context.restore();
  }
}

export class SvgPainter {
  constructor(width, height, background) {
    this.root = document.createElementNS(SVG, "svg");
    for (const [name, value] of Object.entries({ xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` })) this.root.setAttribute(name, value);
    this.polygon([[0, 0], [width, 0], [width, height], [0, height]], { fill: background });
  }

  #add(tag, attributes, text) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    this.root.append(made);
  }

  line(points, { stroke, width = 1, dash = [], alpha = 1 } = {}) {
    this.#add("polyline", {
      points: points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" "), fill: "none", stroke,
      "stroke-width": width, "stroke-dasharray": dash.length ? dash.join(" ") : null, opacity: alpha,
    });
  }

  polygon(points, { fill = null, stroke = null, width = 1, alpha = 1 } = {}) {
    this.#add("polygon", {
      points: points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" "), fill: fill || "none", stroke,
      "stroke-width": stroke ? width : null, opacity: alpha,
    });
  }

  mark(shape, x, y, r, { fill = null, stroke = null, width = 1, alpha = 1 } = {}) {
    const corners = outline(shape, x, y, r);
    if (corners) return this.polygon(corners, { fill, stroke, width, alpha });
    this.#add("circle", { cx: x.toFixed(2), cy: y.toFixed(2), r, fill: fill || "none", stroke, "stroke-width": stroke ? width : null, opacity: alpha });
  }

  dots(places, r, how) {
    for (const [x, y] of places) this.mark("circle", x, y, r, how);
  }

  bundle(many, how) {
    for (const points of many) this.line(points, how);
  }

  text(string, x, y, { fill, size = 12, anchor = "start", turn = 0, bold = false } = {}) {
    this.#add("text", {
      x, y, fill, "font-size": size, "font-family": FONT, "text-anchor": anchor, "dominant-baseline": "middle",
      "font-weight": bold ? 600 : null, transform: turn ? `rotate(${turn} ${x} ${y})` : null,
    }, string);
  }

  get source() {
    return new XMLSerializer().serializeToString(this.root);
  }
}
