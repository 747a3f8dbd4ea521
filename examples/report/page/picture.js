// SPDX-License-Identifier: Apache-2.0
// Pictures of graphs: boxes, which may hold graphs of their own, and edges.

/**
 * @typedef {{kind: "module" | "node" | "quiet" | "rest" | "end", key: string, title: string, sub: string, about: string, m?: number, n?: number,
 *            look?: number, press?: () => void, parts?: {title: string}[], load?: () => Promise<void>, open?: boolean, inner?: any[],
 *            shade?: (group: SVGElement) => void}} Box
 * `parts`: graphs that it can hold, `inner` those it holds, arranged. `load` fetches them first.
 */
const opened = new Set(); // keys of boxes
const mostLabels = 180;
const heading = 24; // of an open box

/** @param {number} count @returns title, text below and tooltip of a box of connected shape arithmetic */
const quietTexts = count =>
  ["", `shape arithmetic, ${plural(count, "node")}`, `${plural(count, "node")} that only work with shapes and constants`];

/** Measures a box: its texts, and the graphs in it. */
function measureBox(box) {
  const toggle = box.parts?.length > 0 ? 18 : 0;
  box.width = Math.max(44, widthOf(box.title, 12) * 1.12, widthOf(box.sub, 10)) + 18 + 2 * toggle;
  box.height = box.kind === "quiet" ? 20 : box.sub ? 38 : 26;
  if (box.inner) {
    const titles = box.inner.some(part => part.title) ? 16 : 0;
    box.width = Math.max(box.width, box.inner.reduce((sum, part) => sum + part.size.width + 12, 12));
    box.height = heading + titles + box.inner.reduce((most, part) => Math.max(most, part.size.height), 0) + 8;
  }
}

/** Places measured boxes, and edges with their labels. */
function arrange(boxes, edges) {
  const size = layOut(boxes, edges);
  if (edges.length > mostLabels) {
    edges.forEach(edge => { edge.label = ""; });
  }
  size.width = Math.max(size.width, placeLabels(boxes, edges, text => widthOf(text, 10)));
  return {boxes, edges, size};
}

function paintGraph(graph, redraw) {
  const all = draw("g", {});
  for (const edge of graph.edges) {
    const kind = `edge${edge.back ? " back" : ""}${edge.quiet ? " quiet" : ""}`;
    all.append(draw("path", {class: kind, d: curve(edge.points), "marker-end": "url(#tip)"}, draw("title", {}, edge.about)));
  }
  for (const edge of graph.edges) {
    if (edge.label) {
      all.append(draw("text", {class: "flow", x: edge.labelX, y: edge.labelY}, edge.label));
    }
  }
  all.append(...graph.boxes.map(box => paintBox(box, redraw)));
  return all;
}

function paintBox(box, redraw) {
  const {x, y, width, height} = box;
  const left = x - width / 2, top = y - height / 2;
  const title = [...new Set([box.title, box.sub, box.about])].filter(Boolean).join("\n");
  const face = draw("g", {class: "face"}, draw("title", {}, title), draw("rect", {x: left, y: top, width, height, rx: 6}));
  const group = draw("g", {class: `box ${box.kind}${box.open ? " open" : ""}`}, face);
  const middle = box.open ? top + heading / 2 : box.title && box.sub ? y - 7 : y;
  if (box.title) {
    face.append(draw("text", {x, y: middle}, box.title));
  }
  if (box.sub && !box.open) {
    face.append(draw("text", {class: "sub", x, y: box.title ? y + 9 : y}, box.sub));
  }
  if (box.press) {
    face.setAttribute("tabindex", "0");
    face.setAttribute("role", "button");
    whenPressed(face, box.press);
  }
  if (box.kind === "module") {
    setHue(group, box);
    group.dataset.module = box.m;
  } else if (box.kind === "node" && box.n !== undefined) {
    group.dataset.node = box.n;
  }
  box.shade?.(group);
  if (box.parts?.length > 0) {
    group.append(paintToggle(box, left, middle, redraw));
  }
  let across = left + 12;
  for (const part of box.inner ?? []) {
    const titles = part.title ? 16 : 0;
    const inside = draw("g", {class: "inside", transform: `translate(${across} ${top + heading + titles})`});
    if (part.title) {
      inside.append(draw("text", {class: "part", x: 4, y: -8}, part.title));
    }
    inside.append(draw("rect", {class: "frame", x: 0, y: 0, width: part.size.width, height: part.size.height, rx: 6}), paintGraph(part, redraw));
    group.append(inside);
    across += part.size.width + 12;
  }
  return group;
}

function paintToggle(box, left, y, redraw) {
  const what = `${box.open ? "close" : "open"} ${box.title || box.sub}`;
  const toggle = draw("g", {class: "toggle", tabindex: "0", role: "button", "aria-label": what, "aria-expanded": String(Boolean(box.open))},
    draw("title", {}, box.open ? "close" : "open in place"),
    draw("circle", {cx: left + 13, cy: y, r: 7}),
    draw("path", {d: `M${left + 9.5} ${y}h7${box.open ? "" : `M${left + 13} ${y - 3.5}v7`}`}));
  whenPressed(toggle, async () => {
    if (!opened.delete(box.key)) {
      if (box.load) {
        await box.load();
      }
      opened.add(box.key);
    }
    redraw(box.key);
  });
  toggle.dataset.key = box.key;
  return toggle;
}

function whenPressed(element, action) {
  element.addEventListener("click", event => {
    event.stopPropagation();
    action();
  });
  element.addEventListener("keydown", event => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      action();
    }
  });
}

/**
 * A picture with buttons to zoom; `arrived()` fits it into its place.
 * @param {() => {boxes: any[], edges: any[], size: {width: number, height: number}, note: string}} build arranges the graph and what is open in it
 */
function showPicture(build) {
  const frame = make("div", {class: "graph", tabindex: "0", role: "region", "aria-label": "Graph"});
  const note = make("span", {});
  let size, svg, scale = 1;
  const zoom = to => {
    scale = Math.min(4, Math.max(0.02, to));
    svg.setAttribute("width", size.width * scale);
    svg.setAttribute("height", size.height * scale);
  };
  const fit = readable => zoom(Math.min(1, (frame.clientWidth - 4) / size.width, Math.max(readable, window.innerHeight * 0.72 / size.height)));
  const redraw = key => {
    const graph = build();
    size = graph.size;
    const tip = draw("marker", {id: "tip", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
                     draw("path", {d: "M0 0L8 4L0 8z", class: "tip"}));
    svg = draw("svg", {width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`, role: "group",
                       "aria-label": "graph of the module"}, draw("defs", {}, tip), paintGraph(graph, redraw));
    note.textContent = graph.note;
    frame.replaceChildren(svg);
    if (key) { // keeps what was opened or closed in view
      zoom(scale);
      const toggle = [...svg.querySelectorAll(".toggle")].find(one => one.dataset.key === key);
      toggle?.focus();
      toggle?.scrollIntoView({block: "nearest", inline: "nearest"});
    }
  };
  redraw();
  const button = (text, title, action) => make("button", {title, onclick: action}, text);
  const panel = make("div", {class: "fill"},
    make("div", {class: "tools"}, button("\u2212", "smaller", () => zoom(scale / 1.25)), button("+", "larger", () => zoom(scale * 1.25)),
         button("fit", "all at once", () => fit(0)), button("1:1", "original size", () => zoom(1)), note),
    frame);
  panel.arrived = () => fit(0.6); // long graphs fit across
  panel.redraw = () => {
    redraw();
    zoom(scale);
  };
  return panel;
}
