// SPDX-License-Identifier: Apache-2.0
// The graph of a module as picture.js draws it, from what the library answers.

const most = 150; // boxes
const shapeOf = shape => shape === "[]" ? "scalar" : shape.includes(",") ? shape.slice(1, -1).replaceAll(",", "\u00d7") : shape;
const graphs = new WeakMap(); // by engine: the graphs of modules

async function fetchGraph(engine, module) {
  if (!graphs.has(engine)) {
    graphs.set(engine, new Map());
    opened.clear();
  }
  const levels = graphs.get(engine);
  if (!levels.has(module)) {
    levels.set(module, await engine.ask({do: "graph", module, boxes: most}));
  }
}

// Inputs come first and outputs last; between them nodes keep their order, in which most edges lead forward.
function inOrder({boxes, edges}) {
  const rank = box => box.end === "in" ? 0 : box.end === "out" ? 2 : 1;
  const order = boxes.map((_, i) => i).sort((a, b) => rank(boxes[a]) - rank(boxes[b]) || a - b);
  const place = [];
  order.forEach((box, i) => { place[box] = i; });
  return {boxes: order.map(i => boxes[i]), edges: edges.map(([from, to, shape, count, name]) =>
    ({from: place[from], to: place[to], label: clip(shapeOf(shape), 30) + (count > 1 ? ` +${number(count - 1)}` : ""), about: `${name} ${shape}`, quiet: false}))};
}

/** @param {any} app @param {any} box as the library describes it @returns {any} a Box */
function makeBox(app, box, depth) {
  const lines = (...texts) => [...new Set(texts)].filter(Boolean).join("\n");
  if (box.module !== undefined) {
    const m = box.module, key = `m${m}`;
    const open = depth < 8 && opened.has(key);
    return {kind: "module", key, m, look: app.modules[m].look, title: box.title || box.class || "model",
            sub: [box.title && box.class, plural(app.modules[m].count, "node")].filter(Boolean).join(", "), about: box.about,
            press: () => app.go({m: app.modules[m].path}), parts: [{title: ""}], load: () => fetchGraph(app.engine, m).catch(app.fail),
            open, inner: open ? [{title: "", ...build(app, m, depth + 1)}] : undefined};
  }
  if (box.node !== undefined) {
    return {kind: "node", key: `n${box.node}`, title: box.title, sub: "", about: lines(box.title, box.about),
            press: () => app.explain(box.place, box.about || box.place)};
  }
  if (box.inside) {
    const key = `q${box.inside.boxes[0].node}`;
    const open = depth < 8 && opened.has(key);
    const [title, sub, about] = quietTexts(box.nodes);
    return {kind: "quiet", key, title, sub, about, parts: [{title: ""}],
            open, inner: open ? [{title: "", ...place(app, box.inside, depth + 1)}] : undefined};
  }
  return box.rest ? {kind: "rest", key: "rest", title: `and ${number(box.nodes)} more nodes`, sub: "", about: ""}
    : box.more ? {kind: "end", key: box.end, title: `and ${plural(box.more, "more value")}`, sub: "", about: ""}
    : {kind: "end", key: box.title, title: box.title, sub: box.about, about: lines(box.title, box.about)};
}

/** @param {any} app @param {{boxes: any[], edges: any[]}} graph as the library describes it @param {number} depth how many boxes are around it */
function place(app, graph, depth) {
  const {boxes, edges} = inOrder(graph);
  const drawn = boxes.map(box => makeBox(app, box, depth));
  for (const box of drawn) {
    box.title = clipMiddle(box.title, 40);
    box.sub = clip(box.sub, 48);
    measureBox(box);
  }
  for (const edge of edges) {
    const kinds = [drawn[edge.from].kind, drawn[edge.to].kind];
    edge.quiet = kinds.includes("quiet");
    if (edge.quiet || kinds.includes("end")) { // inputs and outputs show their shapes
      edge.label = "";
    }
  }
  return {...arrange(drawn, edges), note: "Constants are omitted."};
}

const build = (app, m, depth) => place(app, graphs.get(app.engine).get(m), depth);

/** @returns {Promise<any>} the picture of a module */
export async function moduleGraph(app, m) {
  await fetchGraph(app.engine, m);
  return graphs.get(app.engine).get(m).boxes.length > 0 ? showPicture(() => build(app, m, 0))
    : make("p", {class: "note"}, "No node comes from this module.");
}

/** The picture on the page as a file of its own, with its style. */
export function pictureFile() {
  const shown = document.querySelector("#panel .graph svg");
  if (!shown) {
    throw new Error("the picture is in the view Graph");
  }
  const svg = /** @type {SVGElement} */ (shown.cloneNode(true));
  const [, , width, height] = (svg.getAttribute("viewBox") ?? "").split(" ");
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  const rules = [...document.styleSheets].filter(({href}) => /(colors|picture)\.css$/.test(href ?? ""))
    .flatMap(sheet => [...sheet.cssRules]).map(({cssText}) => cssText);
  svg.prepend(draw("style", {}, rules.join("\n")));
  return new Blob([new XMLSerializer().serializeToString(svg)], {type: "image/svg+xml"});
}
