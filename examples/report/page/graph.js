// SPDX-License-Identifier: Apache-2.0
// The graph of a module: its own nodes, the modules below as one box each, and what comes in and out.
function showGraph(module) {
  const boxes = [], boxOf = new Map();
  const childAt = m => {
    while (modules[m].parent !== module.m) {
      m = modules[m].parent;
    }
    return m;
  };
  const inside = [];
  for (let m = module.m; m < module.end; ++m) {
    inside.push(...modules[m].own.filter(n => nodes[n].op !== "Constant"));
  }
  inside.sort((a, b) => a - b);
  const keys = new Set(inside.map(n => nodes[n].module === module.m ? `n${n}` : `m${childAt(nodes[n].module)}`));
  const cut = keys.size > mostBoxes;
  const members = [];
  for (const n of inside) {
    const direct = nodes[n].module === module.m;
    let key = direct ? `n${n}` : `m${childAt(nodes[n].module)}`;
    if (cut && !boxOf.has(key) && boxOf.size >= mostBoxes - 1) {
      key = "rest";
    }
    if (!boxOf.has(key)) {
      boxOf.set(key, boxes.length);
      boxes.push(key === "rest" ? {kind: "rest", title: "", count: 0}
        : direct ? {kind: "node", n, title: nodes[n].op, sub: weightsOf(nodes[n])}
        : {kind: "module", m: childAt(nodes[n].module), count: 0});
    }
    const box = boxOf.get(key);
    boxes[box].count = (boxes[box].count || 0) + 1;
    members.push([n, box]);
  }
  for (const box of boxes) {
    if (box.kind === "module") {
      box.title = modules[box.m].name;
      box.sub = [modules[box.m].cls, plural(modules[box.m].count, "node")].filter(Boolean).join(", ");
    } else if (box.kind === "rest") {
      box.title = `and ${number(box.count)} more nodes`;
    }
  }
  if (boxes.length === 0) {
    return make("p", {class: "note"}, "No node comes from this module.");
  }
  return drawGraph(boxes, findFlows(boxes, new Map(members)), cut);
}

const weightsOf = node => node.reads.filter(v => v >= 0 && isWeight(values[v]) && values[v].type.length > 0)
  .map(v => `${values[v].name.includes("::") ? "" : values[v].name.split(".").pop() + " "}${shapeOf(values[v])}`).join(", ");
const shapeOf = value => {
  const shape = value.type.slice(value.type.indexOf("[") + 1, -1);
  return value.type.endsWith("[]") ? "scalar" : value.type.includes("[") ? (shape.includes(",") ? shape.replaceAll(",", "\u00d7") : `[${shape}]`) : "";
};

// Adds boxes for values at the border; returns edges, one for each pair of boxes.
function findFlows(boxes, boxOfNode) {
  const flows = new Map(), ends = new Map(), first = [], last = [];
  const flow = (from, to, v) => { // between boxes
    if (!flows.has(from)) {
      flows.set(from, new Map());
    }
    const behind = flows.get(from);
    if (!behind.has(to)) {
      behind.set(to, {a: from, b: to, values: new Set()});
    }
    behind.get(to).values.add(v);
  };
  const end = (kind, v, list) => {
    const key = kind + v;
    if (!ends.has(key)) {
      const box = {kind: "end", title: values[v].name, sub: values[v].type, v};
      ends.set(key, box);
      list.push(box);
    }
    return ends.get(key);
  };
  for (const [n, to] of boxOfNode) {
    for (const v of new Set([...nodes[n].reads, ...nodes[n].hidden])) {
      if (v < 0 || isWeight(values[v])) {
        continue;
      }
      const producer = values[v].producer;
      const from = boxOfNode.get(producer);
      if (from === undefined && (producer < 0 || nodes[producer].op !== "Constant")) {
        flow(end("in", v, first), boxes[to], v);
      } else if (from !== undefined && from !== to) {
        flow(boxes[from], boxes[to], v);
      }
    }
    for (const v of nodes[n].makes) {
      if (values[v].result || values[v].readers.some(reader => !boxOfNode.has(reader))) {
        flow(boxes[to], end("out", v, last), v);
      }
    }
  }
  boxes.unshift(...first);
  boxes.push(...last);
  boxes.forEach((box, i) => { box.number = i; });
  return [...flows.values()].flatMap(behind => [...behind.values()]).map(({a, b, values: all}) => {
    const v = [...all][0];
    const more = all.size > 1 ? ` +${all.size - 1}` : "";
    return {from: a.number, to: b.number, label: a.kind === "end" || b.kind === "end" ? "" : shapeOf(values[v]) + more,
            about: [...all].map(each => `${values[each].name} ${values[each].type}`).join("\n")};
  });
}

const ruler = document.createElement("canvas").getContext("2d");
const widthOf = (text, size) => {
  ruler.font = `${size}px system-ui, "Helvetica Neue", Arial, sans-serif`;
  return ruler.measureText(text).width;
};
const clip = (text, most) => text.length > most ? text.slice(0, most - 1) + "\u2026" : text;

function drawGraph(boxes, edges, cut) {
  for (const box of boxes) {
    box.title = clip(box.title || "", 40);
    box.sub = clip(box.sub || "", 48);
    box.width = Math.max(44, widthOf(box.title, 12) * 1.12, widthOf(box.sub, 10)) + 18;
    box.height = box.sub ? 38 : 26;
  }
  const size = layOut(boxes, edges);
  const readers = new Map(), reads = new Map(); // how many edges begin and end at a box
  for (const {from, to} of edges) {
    readers.set(from, (readers.get(from) ?? 0) + 1);
    reads.set(to, (reads.get(to) ?? 0) + 1);
  }
  for (const edge of edges) { // a label stands at the end where fewer edges meet
    const atEnd = reads.get(edge.to) <= readers.get(edge.from);
    const [near, far] = atEnd ? edge.points.slice(-2).reverse() : edge.points;
    edge.label = clip(edge.label, 30);
    edge.labelX = (near.x * 3 + far.x) / 4 + 4;
    edge.labelY = near.y + (near.y > far.y ? -13 : 11);
    size.width = Math.max(size.width, edge.labelX + widthOf(edge.label, 10) + 8);
  }
  const svg = draw("svg", {width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`, role: "img",
                           "aria-label": "graph of the module"});
  const tip = draw("marker", {id: "tip", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
                   draw("path", {d: "M0 0L8 4L0 8z", class: "tip"}));
  svg.append(draw("defs", {}, tip));
  for (const edge of edges) {
    const title = draw("title", {}, edge.about);
    svg.append(draw("path", {class: edge.back ? "edge back" : "edge", d: curve(edge.points), "marker-end": "url(#tip)"}, title));
  }
  if (edges.length <= mostLabels * 2) {
    for (const edge of edges) {
      svg.append(draw("text", {class: "flow", x: edge.labelX, y: edge.labelY}, edge.label));
    }
  }
  for (const box of boxes) {
    svg.append(drawBox(box));
  }
  let scale = 1;
  const zoom = factor => {
    scale = factor === 0 ? 1 : Math.min(4, Math.max(0.05, scale * factor));
    svg.setAttribute("width", size.width * scale);
    svg.setAttribute("height", size.height * scale);
  };
  const frame = make("div", {class: "graph"}, svg);
  const fit = () => {
    zoom(0);
    zoom(Math.min(1, (frame.clientWidth - 4) / size.width, Math.max(200, frame.clientHeight - 4, window.innerHeight * 0.72) / size.height));
  };
  const button = (text, title, action) => make("button", {title, onclick: action}, text);
  return make("div", {},
    make("div", {class: "tools"}, button("\u2212", "smaller", () => zoom(1 / 1.25)), button("+", "larger", () => zoom(1.25)),
         button("fit", "all at once", fit), button("1:1", "original size", () => zoom(0)),
         make("span", {}, "Constants are left out." + (cut ? " The graph is too large to be drawn whole." : ""))),
    frame);
}

function drawBox(box) {
  const {x, y, width, height} = box;
  const group = draw("g", {class: `box ${box.kind}`},
    draw("title", {}, box.kind === "node" ? [nodes[box.n].name, ...nodes[box.n].attributes].join("\n") : box.kind === "module" ? modules[box.m].path
      : box.kind === "end" ? `${values[box.v].name} ${values[box.v].type}` : box.title),
    draw("rect", {x: x - width / 2, y: y - height / 2, width, height, rx: 6}),
    draw("text", {x, y: box.sub ? y - 7 : y}, box.title));
  if (box.sub) {
    group.append(draw("text", {class: "sub", x, y: y + 9}, box.sub));
  }
  if (box.kind === "module") {
    group.style.setProperty("--h", hueOf(modules[box.m].cls));
    group.dataset.module = box.m;
    group.addEventListener("click", () => go(`m=${box.m}`));
  } else if (box.kind === "node") {
    group.dataset.node = box.n;
    group.addEventListener("click", () => go(`m=${nodes[box.n].module}&n=${box.n}`));
  }
  return group;
}

function showDetail(n) {
  const panel = at("detail");
  panel.hidden = n === undefined;
  document.querySelectorAll("svg .chosen").forEach(box => box.classList.remove("chosen"));
  if (n === undefined) {
    return;
  }
  const node = nodes[n];
  document.querySelectorAll(`svg [data-node="${n}"]`).forEach(box => box.classList.add("chosen"));
  const valueLine = (v, ends) => make("div", {}, make("div", {}, v < 0 ? "(none)" : values[v].name || "(omitted)"),
    v < 0 ? "" : make("div", {class: "type"}, values[v].type || "type unknown"), ...(v < 0 ? [] : ends(values[v])));
  const from = value => value.producer >= 0 ? [nodeLink(value.producer)] : [make("span", {class: "note"}, kinds[value.kind])];
  const to = value => value.readers.slice(0, 20).map(reader => make("div", {}, nodeLink(reader)))
    .concat(value.result ? [make("span", {class: "note"}, "output of the model")] : []);
  let tagged = node.module;
  while (!modules[tagged].tag) {
    tagged = modules[tagged].parent;
  }
  panel.replaceChildren(
    make("button", {class: "close", title: "close", onclick: () => go(`m=${chosen}`)}, "\u2715"),
    make("h3", {}, node.op), make("div", {}, node.name),
    make("h4", {}, "Module"), moduleLink(node.module), make("div", {class: "tag"}, modules[tagged].tag),
    make("h4", {}, "Known from"), `${node.source}, confidence ${node.confidence.toFixed(2)}`,
    ...(lineOf.has(node.n) ? [make("h4", {}, "Written in"), lineOf.get(node.n)] : []),
    ...(node.claims.length > 0 ? [make("h4", {class: "bad"}, "Conflict"), ...node.claims.map(([source, path, confidence]) =>
      make("div", {}, `${source} says ${path || "the root"} (${confidence.toFixed(2)})`))] : []),
    ...(node.attributes.length > 0 ? [make("h4", {}, "Attributes"), ...node.attributes.map(text =>
      make("div", {class: "type"}, text))] : []),
    make("h4", {}, "Reads"), ...node.reads.map(v => valueLine(v, from)),
    make("h4", {}, "Makes"), ...node.makes.map(v => valueLine(v, to)));
}

let tab = "Graph";
let shown = null;

function showModule(m) {
  const module = modules[m];
  const way = [];
  for (let above = module.parent; above >= 0; above = modules[above].parent) {
    way.unshift(link(above === 0 ? titleOf(modules[0]) : modules[above].name, () => go(`m=${above}`)), " / ");
  }
  const tabs = [["Graph", showGraph], [`Nodes (${number(module.count)})`, showNodes], ["Boundary", showBoundary],
                ["Parameters", showParameters], ...(data.lines ? [["Lines", showLines]] : []), [`Conflicts (${number(conflictsOf(module).length)})`, showConflicts]];
  const panel = make("div", {id: "panel", role: "tabpanel"});
  const bar = make("div", {class: "tabs", role: "tablist"});
  const choose = title => {
    tab = title.split(" ")[0];
    for (const button of bar.children) {
      button.setAttribute("aria-selected", String(button.textContent.split(" ")[0] === tab));
    }
    panel.replaceChildren(tabs.find(([name]) => name.split(" ")[0] === tab)[1](module));
  };
  bar.append(...tabs.map(([title]) => make("button", {role: "tab", onclick: () => choose(title)}, title)));
  at("content").replaceChildren(
    make("div", {class: "way"}, ...way),
    make("h2", {}, m === 0 ? titleOf(module) : module.name, " ", m === 0 && !module.path ? "" : chip(module.cls) || ""),
    make("div", {class: "tag"}, module.tag || "no tag of its own"),
    make("div", {class: "facts"}, counted(module.count, "node"),
         fact("of all", percent(module.count / Math.max(1, nodes.length))),
         fact("directly", number(module.ownNodes)), counted(module.parameters, "parameter"),
         module.weights ? make("span", {}, module.weights) : "",
         fact(module.children.length === 1 ? "module inside" : "modules inside", number(module.end - m - 1)),
         module.calls >= 0 ? counted(module.calls, "call") : "",
         module.qualified ? make("span", {}, module.qualified) : ""),
    bar, panel);
  choose(tab);
  at("content").scrollTop = 0;
}

let arrived = null;
const go = place => {
  location.hash = place;
  arrive();
};
function arrive() {
  arrived = location.hash;
  const place = new URLSearchParams(location.hash.slice(1));
  const read = (key, count) => {
    const found = Number(place.get(key) ?? NaN);
    return Number.isInteger(found) && found >= 0 && found < count ? found : undefined;
  };
  const m = read("m", modules.length) ?? 0;
  chosen = m;
  if (shown !== m) {
    shown = m;
    showModule(m);
    reveal(m);
  }
  showDetail(read("n", nodes.length));
}

showHead();
at("tree").append(make("ul", {}, makeRow(0)));
setOpen(0, true);
for (let m = 0; modules[m].children.length === 1;) { // ways without a choice
  m = modules[m].children[0];
  setOpen(m, true);
}
at("search").addEventListener("input", event => search(event.target.value));
window.addEventListener("hashchange", () => location.hash === arrived || arrive());
arrive();
document.documentElement.dataset.ready = "true";
