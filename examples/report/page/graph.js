// SPDX-License-Identifier: Apache-2.0
// The graph of a module: its own nodes, a box per child module, inputs and outputs. Bodies, functions and modules open in
// place.

// A scope: the nodes of a graph, the module it is seen from, and which values leave it.
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

// Nodes of bodies and functions are represented by the node that owns or calls them, if it is in the graph.
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

// Connected shape arithmetic becomes one box, unless a path leaves it and returns.
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
  const shown = [], target = [];
  boxes.forEach((box, i) => {
    if (top(i) === i) {
      target[i] = shown.length;
      shown.push(box);
    } else {
      target[i] = target[top(i)];
      const first = shown[target[i]];
      shown[target[i]] = {kind: "quiet", key: `q${first.n}`, n: first.n, count: first.count + 1, members: [...(first.members ?? [first.n]), box.n]};
    }
  });
  move(target);
  return shown;
}

// Keeps modules before nodes; the rest becomes one box.
function limit(boxes, move) {
  const visible = new Set(["module", "node", "quiet"].flatMap(kind =>
    boxes.filter(box => box.kind === kind)).slice(0, mostBoxes - 1));
  const rest = {kind: "rest", key: "rest", count: 0, loose: true};
  const shown = boxes.filter(box => visible.has(box)).concat(rest);
  const numbers = new Map(shown.map((box, i) => [box, i]));
  boxes.filter(box => !visible.has(box)).forEach(box => { rest.count += box.count; });
  move(boxes.map(box => numbers.get(box) ?? shown.length - 1));
  return shown;
}

// Edges between boxes, one per pair, and the inputs and outputs.
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
      ends.set(key, {kind: "end", many, key, into: kind === "in", v, all: new Set(), number: boxes.length + ends.size});
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

// An input with many readers is repeated beside each: its edges would cover everything else.
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

// The arranged graph of a scope, including what is open in it.
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
  const isEnd = box => box.kind === "end";
  const edges = all.map(({from, to, values: flowing}) => {
    const v = [...flowing][0];
    const more = flowing.size > 1 ? ` +${number(flowing.size - 1)}` : "";
    const a = shown[place[from]], b = shown[place[to]];
    const quiet = a.kind === "quiet" || b.kind === "quiet";
    return {from: place[from], to: place[to], quiet, label: quiet || isEnd(a) || isEnd(b) ? "" : clip(shapeOf(values[v]) + more, 30),
            about: [...flowing].slice(0, 40).map(each => `${values[each].name} ${values[each].type}`).join("\n")};
  });
  return {...arrange(shown, edges), note: `Constants are omitted.${cut ? " The graph is too large to be drawn whole." : ""}`};
}

// What a box can open: bodies, a called function, the graph of a module.
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

function describeBox(box, depth) {
  const lines = list => [...list].slice(0, 40).map(v => values[v].name).join("\n");
  const texts = {
    module: () => [modules[box.m].name, [modules[box.m].cls, plural(modules[box.m].count, "node")].filter(Boolean).join(", "), modules[box.m].path],
    node: () => [nodes[box.n].op, weightsOf(nodes[box.n]), [nodes[box.n].name, ...nodes[box.n].attributes].join("\n")],
    quiet: () => quietTexts(box.count),
    rest: () => [`and ${number(box.count)} more nodes`, "", ""],
    end: () => box.many ? [`and ${plural(box.all.size, "more value")}`, "", lines(box.all)]
      : [values[box.v].name, values[box.v].type, `${values[box.v].name} ${values[box.v].type}`],
  };
  const [title, subtitle, about] = texts[box.kind]();
  const cell = paintedCell(box);
  const sub = cell === null ? subtitle
    : [box.kind === "module" ? modules[box.m].cls : "", `${cellText(cell)} ${painted.unit}`.trim()].filter(Boolean).join(", ");
  box.title = clipMiddle(title, 40); // names differ at their ends
  box.sub = clip(sub, 48);
  box.about = about;
  box.press = {module: () => go(`m=${box.m}`), node: () => go(`m=${chosen}&n=${box.n}`), quiet: () => go(`m=${chosen}&n=${box.n}`)}[box.kind];
  box.shade = group => {
    shade(group, box);
    mark(group, box);
  };
  if (box.kind === "module") {
    box.look = modules[box.m].look;
  }
  if (box.open) {
    box.inner = box.parts.map(part => ({...part, ...buildGraph(part.scope(), depth + 1)}));
  }
  measureBox(box);
}

function showGraph(module) {
  const scope = moduleScope(module.m);
  if (scope.inside.length === 0) {
    return make("p", {class: "note"}, "No node comes from this module.");
  }
  return showPicture(() => buildGraph(scope));
}
