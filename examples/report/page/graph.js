// SPDX-License-Identifier: Apache-2.0
// Graphs: that of a module has its own nodes, the modules below as one box each, and what comes in
// and out. Bodies, functions and modules can be opened in their places; those that are:
const opened = new Set();

// What a graph is made of: its nodes, the module in which it looks, and which values leave it.
const moduleScope = m => {
  const inside = [];
  for (let below = m; below < modules[m].end; ++below) {
    for (const n of modules[below].own) {
      inside.push(n);
    }
  }
  return {base: m, inside: inside.filter(n => nodes[n].op !== "Constant").sort((a, b) => a - b), leaves: v => values[v].result};
};
const graphScope = g => {
  const inside = graphs[g].inside.filter(n => nodes[n].op !== "Constant");
  let base = inside.length > 0 ? nodes[inside[0]].module : 0;
  for (const n of inside) {
    while (!holds(modules[base], nodes[n])) {
      base = modules[base].parent;
    }
  }
  const results = new Set(graphs[g].results);
  return {base, inside, leaves: v => results.has(v)};
};
const childAt = (base, m) => {
  while (modules[m].parent !== base) {
    m = modules[m].parent;
  }
  return m;
};
const keyIn = (scope, n) => nodes[n].module === scope.base ? `n${n}` : `m${childAt(scope.base, nodes[n].module)}`;

// Nodes of bodies and functions stand for the node that owns or calls them, where that is in the graph itself.
function ownersIn(scope) {
  const within = new Set(scope.inside);
  const holders = graphs.map(graph => graph.holders.find(n => within.has(n)));
  const stands = new Map();
  for (const n of scope.inside) {
    let outer = n;
    for (let steps = 0; steps < 100 && holders[nodes[outer].graph] !== undefined; ++steps) {
      outer = holders[nodes[outer].graph];
    }
    stands.set(n, outer);
  }
  return {stands, isFormal: v => values[v].formalIn !== undefined && holders[values[v].formalIn] !== undefined};
}

function makeBoxes(scope) {
  const {stands, isFormal} = ownersIn(scope);
  scope.isFormal = isFormal;
  const boxes = [], numbers = new Map();
  let boxOf = new Map();
  for (const n of scope.inside) {
    const key = keyIn(scope, stands.get(n));
    if (!numbers.has(key)) {
      numbers.set(key, boxes.length);
      boxes.push(key.startsWith("n") ? {kind: "node", key, n: stands.get(n), count: 0} : {kind: "module", key, m: Number(key.slice(1)), count: 0});
    }
    boxOf.set(n, numbers.get(key));
    ++boxes[numbers.get(key)].count;
  }
  const move = target => { boxOf = new Map([...boxOf].map(([n, box]) => [n, target[box]])); };
  let shown = scope.plain ? boxes : joinQuiet(boxes, findFlows(scope, boxes, boxOf).inner, move);
  const cut = shown.length > mostBoxes;
  if (cut) {
    shown = limit(shown, move);
  }
  return {boxes: shown, boxOf, cut};
}

// Connected nodes that only work out shapes become one box, where no way leads out of it and back.
function joinQuiet(boxes, flows, move) {
  const isQuiet = box => boxes[box].kind === "node" && boxes[box].count === 1 && nodes[boxes[box].n].quiet;
  if (!boxes.some((_, i) => isQuiet(i))) {
    return boxes;
  }
  const {level, group, alone} = findLevels(boxes.length, flows, box => !isQuiet(box));
  const joined = boxes.map((_, i) => i);
  const top = box => {
    while (joined[box] !== box) {
      box = joined[box] = joined[joined[box]];
    }
    return box;
  };
  for (const {from, to} of flows) {
    if (isQuiet(from) && isQuiet(to) && level[from] === level[to] && (group[from] === group[to] || (alone(from) && alone(to)))) {
      const a = top(from), b = top(to);
      joined[Math.max(a, b)] = Math.min(a, b);
    }
  }
  const kept = [], target = [];
  boxes.forEach((box, i) => {
    if (top(i) === i) {
      target[i] = kept.length;
      kept.push(box);
    } else {
      target[i] = target[top(i)];
      const first = kept[target[i]];
      kept[target[i]] = {kind: "quiet", key: `q${first.n}`, n: first.n, count: first.count + 1, members: [...(first.members ?? [first.n]), box.n]};
    }
  });
  move(target);
  return kept;
}

// Modules have boxes before nodes have; what is left is one.
function limit(boxes, move) {
  const kept = new Set(["module", "node", "quiet"].flatMap(kind =>
    boxes.filter(box => box.kind === kind)).slice(0, mostBoxes - 1));
  const rest = {kind: "rest", key: "rest", count: 0, loose: true};
  const shown = boxes.filter(box => kept.has(box)).concat(rest);
  const numbers = new Map(shown.map((box, i) => [box, i]));
  boxes.filter(box => !kept.has(box)).forEach(box => { rest.count += box.count; });
  move(boxes.map(box => numbers.get(box) ?? shown.length - 1));
  return shown;
}

// All that flows between boxes, an edge for each pair, and values that come in and leave.
function findFlows(scope, boxes, boxOf) {
  const flows = new Map(), ends = new Map();
  const flow = (from, to, v) => {
    const key = `${from} ${to}`;
    if (!flows.has(key)) {
      flows.set(key, {from, to, values: new Set()});
    }
    flows.get(key).values.add(v);
  };
  const counts = {in: 0, out: 0};
  const end = (kind, v) => {
    const many = !ends.has(kind + v) && counts[kind] >= mostEnds;
    const key = many ? `${kind}+` : kind + v;
    if (!ends.has(key)) {
      ends.set(key, {kind: many ? "values" : "end", key, into: kind === "in", v, all: new Set(), number: boxes.length + ends.size});
      counts[kind] += 1;
    }
    ends.get(key).all.add(v);
    return ends.get(key).number;
  };
  for (const [n, to] of boxOf) {
    for (const v of new Set([...nodes[n].reads, ...nodes[n].hidden])) {
      if (v < 0 || isWeight(values[v]) || scope.isFormal(v)) {
        continue;
      }
      const producer = values[v].producer;
      const from = boxOf.get(producer);
      if (from === undefined && (producer < 0 || nodes[producer].op !== "Constant")) {
        flow(end("in", v), to, v);
      } else if (from !== undefined && from !== to) {
        flow(from, to, v);
      }
    }
    for (const v of nodes[n].makes) {
      if (scope.leaves(v) || values[v].readers.some(reader => !boxOf.has(reader))) {
        flow(to, end("out", v), v);
      }
    }
  }
  const all = [...flows.values()];
  repeatEnds(all, ends, boxes.length);
  return {all, inner: all.filter(({from, to}) => from < boxes.length && to < boxes.length), ends: [...ends.values()]};
}

// A value that many read comes in beside each of them: its edges would cover all else.
function repeatEnds(all, ends, first) {
  for (const end of [...ends.values()].filter(({into}) => into)) {
    const readers = all.filter(({from}) => from === end.number);
    for (const edge of readers.length > mostReaders ? readers.slice(1) : []) {
      const copy = {...end, key: `${end.key} ${edge.to}`, number: first + ends.size};
      ends.set(copy.key, copy);
      edge.from = copy.number;
    }
  }
}

// The boxes and edges of a graph, with those of what is opened in it.
function buildGraph(scope, depth = 0) {
  const {boxes, boxOf, cut} = makeBoxes(scope);
  const {all, ends} = findFlows(scope, boxes, boxOf);
  const shown = [...ends.filter(end => end.into), ...boxes, ...ends.filter(end => !end.into)];
  const numbers = new Map(shown.map((box, i) => [box, i]));
  const place = [...boxes, ...ends].map(box => numbers.get(box));
  for (const box of boxes) {
    box.parts = partsOf(box);
    box.open = box.parts.length > 0 && depth < 8 && opened.has(box.key);
  }
  shown.forEach(box => describeBox(box, depth));
  const edges = all.map(({from, to, values: flowing}) => {
    const v = [...flowing][0];
    const more = flowing.size > 1 ? ` +${flowing.size - 1}` : "";
    const a = shown[place[from]], b = shown[place[to]];
    const quiet = a.kind === "quiet" || b.kind === "quiet";
    return {from: place[from], to: place[to], quiet, label: quiet || a.kind === "end" || b.kind === "end" || a.kind === "values" || b.kind === "values" ? "" : clip(shapeOf(values[v]) + more, 30),
            about: [...flowing].slice(0, 40).map(each => `${values[each].name} ${values[each].type}`).join("\n")};
  });
  const size = layOut(shown, edges);
  if (edges.length > mostLabels * 2) {
    edges.forEach(edge => { edge.label = ""; });
  }
  size.width = Math.max(size.width, placeLabels(shown, edges, text => widthOf(text, 10)));
  return {boxes: shown, edges, size, cut};
}

// What can be opened in the place of a box: bodies, a function that it calls, the graph of a module.
function partsOf(box) {
  if (box.kind === "module") {
    return [{title: "", scope: () => moduleScope(box.m)}];
  }
  if (box.kind === "quiet") {
    const inside = box.members;
    return [{title: "", scope: () => ({base: nodes[box.n].module, inside, leaves: v => values[v].result, plain: true})}];
  }
  if (box.kind !== "node") {
    return [];
  }
  const bodies = nodes[box.n].bodies.map(g => ({title: graphs[g].title, scope: () => graphScope(g)}));
  const callee = callees[nodes[box.n].operator];
  return callee >= 0 ? [...bodies, {title: graphs[callee].title, scope: () => graphScope(callee)}] : bodies;
}

const weightsOf = node => node.reads.filter(v => v >= 0 && isWeight(values[v]) && values[v].type.length > 0)
  .map(v => `${values[v].name.includes("::") ? "" : values[v].name.split(".").pop() + " "}${shapeOf(values[v])}`).join(", ");
const shapeOf = value => {
  const shape = value.type.slice(value.type.indexOf("[") + 1, -1);
  return value.type.endsWith("[]") ? "scalar" : value.type.includes("[") ? (shape.includes(",") ? shape.replaceAll(",", "\u00d7") : `[${shape}]`) : "";
};

const heading = 24; // of a box that is open
function describeBox(box, depth) {
  const texts = {
    module: () => [modules[box.m].name, [modules[box.m].cls, plural(modules[box.m].count, "node")].filter(Boolean).join(", ")],
    node: () => [nodes[box.n].op, weightsOf(nodes[box.n])],
    quiet: () => ["", `shape arithmetic, ${plural(box.count, "node")}`],
    rest: () => [`and ${number(box.count)} more nodes`, ""],
    end: () => [values[box.v].name, values[box.v].type],
    values: () => [`and ${plural(box.all.size, "more value")}`, ""],
  };
  const [title, known] = texts[box.kind]();
  const cell = paintedCell(box);
  const sub = cell === null ? known
    : [box.kind === "module" ? modules[box.m].cls : "", `${cellText(cell)} ${painted.unit}`.trim()].filter(Boolean).join(", ");
  box.title = clipMiddle(title, 40); // names differ at their ends
  box.sub = clip(sub, 48);
  const toggle = box.parts?.length > 0 ? 18 : 0;
  box.width = Math.max(44, widthOf(box.title, 12) * 1.12, widthOf(box.sub, 10)) + 18 + 2 * toggle;
  box.height = box.kind === "quiet" ? 20 : box.sub ? 38 : 26;
  if (box.open) {
    box.inner = box.parts.map(part => ({...part, ...buildGraph(part.scope(), depth + 1)}));
    const titles = box.inner.some(part => part.title) ? 16 : 0;
    box.width = Math.max(box.width, box.inner.reduce((sum, part) => sum + part.size.width + 12, 12));
    box.height = heading + titles + box.inner.reduce((most, part) => Math.max(most, part.size.height), 0) + 8;
  }
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
  const about = {
    node: () => [nodes[box.n].name, ...nodes[box.n].attributes].join("\n"),
    module: () => modules[box.m].path,
    end: () => `${values[box.v].name} ${values[box.v].type}`,
    quiet: () => `${plural(box.count, "node")} that only work with shapes and constants`,
    rest: () => box.title,
    values: () => [...box.all].slice(0, 40).map(v => values[v].name).join("\n"),
  }[box.kind]();
  const group = draw("g", {class: `box ${box.kind === "values" ? "end" : box.kind}${box.open ? " open" : ""}`},
    draw("title", {}, about), draw("rect", {x: left, y: top, width, height, rx: 6}));
  const middle = box.open ? top + heading / 2 : box.title && box.sub ? y - 7 : y;
  if (box.title) {
    group.append(draw("text", {x, y: middle}, box.title));
  }
  if (box.sub && !box.open) {
    group.append(draw("text", {class: "sub", x, y: box.title ? y + 9 : y}, box.sub));
  }
  const action = {module: () => go(`m=${box.m}`), node: () => go(`m=${chosen}&n=${box.n}`), quiet: () => go(`m=${chosen}&n=${box.n}`)}[box.kind];
  if (action) {
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", [box.title, box.sub].filter(Boolean).join(", "));
    whenPressed(group, action);
  }
  if (box.kind === "module") {
    setHue(group, modules[box.m]);
    group.dataset.module = box.m;
  } else if (box.kind === "node") {
    group.dataset.node = box.n;
  }
  shade(group, box);
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
  const what = `${box.open ? "close" : "open"} ${box.title}`;
  const toggle = draw("g", {class: "toggle", tabindex: "0", role: "button", "aria-label": what, "aria-expanded": String(box.open)},
    draw("title", {}, box.open ? "close" : "open in its place"),
    draw("circle", {cx: left + 13, cy: y, r: 7}),
    draw("path", {d: `M${left + 9.5} ${y}h7${box.open ? "" : `M${left + 13} ${y - 3.5}v7`}`}));
  whenPressed(toggle, () => {
    box.open ? opened.delete(box.key) : opened.add(box.key);
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

function showGraph(module) {
  const scope = moduleScope(module.m);
  if (scope.inside.length === 0) {
    return make("p", {class: "note"}, "No node comes from this module.");
  }
  const frame = make("div", {class: "graph"});
  const told = make("span", {});
  let size, svg, scale = 1;
  const zoom = to => {
    scale = Math.min(4, Math.max(0.02, to));
    svg.setAttribute("width", size.width * scale);
    svg.setAttribute("height", size.height * scale);
  };
  const fit = readable => zoom(Math.min(1, (frame.clientWidth - 4) / size.width, Math.max(readable, window.innerHeight * 0.72 / size.height)));
  const redraw = key => {
    const graph = buildGraph(scope);
    size = graph.size;
    const tip = draw("marker", {id: "tip", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
                     draw("path", {d: "M0 0L8 4L0 8z", class: "tip"}));
    svg = draw("svg", {width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`, role: "group",
                       "aria-label": "graph of the module"}, draw("defs", {}, tip), paintGraph(graph, redraw));
    told.textContent = "Constants are left out." + (graph.cut ? " The graph is too large to be drawn whole." : "");
    frame.replaceChildren(svg);
    if (key) { // the one that was opened or closed is where the reader looks
      zoom(scale);
      svg.querySelector(`.toggle[data-key="${key}"]`)?.focus();
      svg.querySelector(`.toggle[data-key="${key}"]`)?.scrollIntoView({block: "nearest", inline: "nearest"});
    }
  };
  redraw();
  const button = (text, title, action) => make("button", {title, "aria-label": title, onclick: action}, text);
  const panel = make("div", {},
    make("div", {class: "tools"}, button("\u2212", "smaller", () => zoom(scale / 1.25)), button("+", "larger", () => zoom(scale * 1.25)),
         button("fit", "all at once", () => fit(0)), button("1:1", "original size", () => zoom(1)), told),
    frame);
  panel.arrived = () => fit(0.6); // long graphs fit across
  panel.redraw = () => {
    redraw();
    zoom(scale);
  };
  return panel;
}
