// SPDX-License-Identifier: Apache-2.0
// A module as a picture; layout.js places the boxes.
/* global clip, curve, draw, layOut, placeLabels, plural, widthOf */

// Stands in the picture itself, which is downloaded with it.
const style = `
  text { font: 12px system-ui, "Helvetica Neue", Arial, sans-serif; fill: #0f172a; text-anchor: middle; dominant-baseline: central }
  .sub, .flow { font-size: 10px; fill: #475569 } .flow { text-anchor: start }
  rect { fill: #ffffff; stroke: #64748b } .module rect { stroke-width: 1.5 } .known rect { fill: hsl(var(--h) 75% 92%) } .end rect { fill: #e2e8f0; stroke: none } .rest rect { fill: none; stroke-dasharray: 4 }
  path { fill: none; stroke: #64748b } .tip { fill: #64748b; stroke: none } g[tabindex] { cursor: pointer } g:focus-visible rect { stroke: #1d4ed8; stroke-width: 3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e2e8f0 } .sub, .flow { fill: #94a3b8 } rect { fill: #111a2e; stroke: #8394ad } .known rect { fill: hsl(var(--h) 35% 24%) }
    .end rect { fill: #26334d } path { stroke: #8394ad } .tip { fill: #8394ad } g:focus-visible rect { stroke: #93c5fd }
  }`;

const mostLabels = 150;
const hueOf = text => [...text].reduce((hue, c) => (hue * 31 + c.codePointAt(0)) % 360, 7);
const shapeOf = shape => shape === "[]" ? "scalar" : shape.includes(",") ? shape.slice(1, -1).replaceAll(",", "\u00d7") : shape;

// Values come first and results last; between them the order of the nodes, in which most edges lead forward.
function inOrder({boxes, edges}) {
  const rank = box => box.end === "in" ? 0 : box.end === "out" ? 2 : 1;
  const order = boxes.map((_, i) => i).sort((a, b) => rank(boxes[a]) - rank(boxes[b]) || a - b);
  const place = [];
  order.forEach((box, i) => { place[box] = i; });
  return {boxes: order.map(i => boxes[i]), edges: edges.map(([from, to, shape, count, name]) =>
    ({from: place[from], to: place[to], label: clip(shapeOf(shape), 30) + (count > 1 ? ` +${count - 1}` : ""), about: `${name} ${shape}`}))};
}

function drawBox(box, go) {
  const {x, y, width, height} = box;
  const kind = box.module !== undefined ? "module" : box.node !== undefined ? "node" : box.end ? "end" : "rest";
  const group = draw("g", {class: kind}, draw("title", {}, [...new Set([box.label, box.sub, box.about])].filter(Boolean).join("\n")),
    draw("rect", {x: x - width / 2, y: y - height / 2, width, height, rx: 6}),
    draw("text", {x, y: box.sub ? y - 7 : y}, box.label));
  if (box.sub) {
    group.append(draw("text", {class: "sub", x, y: y + 9}, box.sub));
  }
  if (kind === "module" || kind === "node") {
    if (box.class) {
      group.classList.add("known");
      group.style.setProperty("--h", String(hueOf(box.class)));
    }
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.addEventListener("click", () => go(box));
    group.addEventListener("keydown", event => event.key === "Enter" && go(box));
  }
  return group;
}

/**
 * @param {{boxes: object[], edges: any[]}} graph as the library tells it
 * @param {(box: object) => void} go
 * @returns {SVGElement}
 */
export function drawGraph(graph, go) {
  const {boxes, edges} = inOrder(graph);
  for (const box of boxes) {
    box.label = clip(box.rest ? `and ${box.nodes} more nodes` : box.title || box.class || "model", 40);
    box.sub = clip(box.module !== undefined ? `${box.title && box.class ? `${box.class}, ` : ""}${plural(box.nodes, "node")}` : box.end ? box.about : "", 48);
    box.width = Math.max(44, widthOf(box.label, 12) * 1.1, widthOf(box.sub, 10)) + 18;
    box.height = box.sub ? 38 : 26;
  }
  const size = layOut(boxes, edges);
  for (const edge of edges) { // what comes in and goes out says its shape itself
    if (edges.length > mostLabels || boxes[edge.from].end || boxes[edge.to].end) {
      edge.label = "";
    }
  }
  size.width = Math.max(size.width, placeLabels(boxes, edges, text => widthOf(text, 10)));
  const svg = draw("svg", {xmlns: "http://www.w3.org/2000/svg", width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`,
                           role: "group", "aria-label": "graph of the module"}, draw("style", {}, style));
  const tip = draw("marker", {id: "tip", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
    draw("path", {d: "M0 0L8 4L0 8z", class: "tip"}));
  svg.append(draw("defs", {}, tip));
  for (const edge of edges) {
    svg.append(draw("path", {d: curve(edge.points), "marker-end": "url(#tip)"}, draw("title", {}, edge.about)));
  }
  for (const {label, labelX, labelY} of edges.filter(edge => edge.label)) {
    svg.append(draw("text", {class: "flow", x: labelX, y: labelY}, label));
  }
  svg.append(...boxes.map(box => drawBox(box, go)));
  return svg;
}
