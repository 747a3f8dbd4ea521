// SPDX-License-Identifier: Apache-2.0
const data = JSON.parse(document.getElementById("data").textContent);
const kinds = ["intermediate", "input", "formal input", "initializer", "sparse initializer", "undefined"];
const initializer = 3, sparse = 4;
const pageSize = 200, mostBoxes = 250, mostEnds = 40, mostReaders = 8, mostLabels = 90;

const types = [];
const values = data.values.map(([name, kind, type]) => {
  if (typeof type === "string") {
    types.push(type);
  }
  return {name, kind, type: typeof type === "string" ? type : types[type], producer: -1, readers: []};
});
for (const value of data.results) {
  if (value >= 0) {
    values[value].result = true;
  }
}
const modules = data.modules.map(
  ([name, cls, qualified, parent, tag, infrastructure, ownNodes, count, parameters, calls, weights, tensors, look], m) =>
    ({m, name, cls, qualified, parent, tag, infrastructure, ownNodes, count, parameters, calls, weights, tensors, look,
      children: [], own: [], end: m + 1, path: ""}));
for (let m = modules.length; m-- > 1;) {
  const above = modules[modules[m].parent];
  above.end = Math.max(above.end, modules[m].end);
}
for (const module of modules.slice(1)) {
  const above = modules[module.parent];
  above.children.push(module.m);
  module.path = above.m === 0 ? module.name : `${above.path}.${module.name}`;
}
const lists = [];
const quiet = new Set(data.quiet);
const nodes = data.nodes.map(([name, op, module, source, confidence, reads, makes, hidden, claims, attributes, graph], n) => {
  if (Array.isArray(attributes)) {
    lists.push(attributes);
  }
  return {n, name, op: data.operators[op], operator: op, module, source: data.provenances[source], confidence, reads, makes, hidden, claims,
          graph, bodies: [], quiet: quiet.has(n), attributes: Array.isArray(attributes) ? attributes : lists[attributes]};
});
for (const node of nodes) {
  modules[node.module].own.push(node.n);
  node.makes.forEach(value => { values[value].producer = node.n; });
}
for (const node of nodes) {
  for (const value of new Set([...node.reads, ...node.hidden])) {
    if (value >= 0) {
      values[value].readers.push(node.n);
    }
  }
}
// The model's own graph, bodies of nodes, functions; operators that call one have its number.
const graphs = data.graphs.map(([owner, title, inputs, results], g) => {
  inputs.forEach(value => { values[value].formalIn = g; });
  if (owner >= 0) {
    nodes[owner].bodies.push(g);
  }
  return {title, results, inside: [], holders: owner >= 0 ? [owner] : []};
});
const callees = data.callees;
for (const node of nodes) {
  graphs[node.graph].inside.push(node.n);
  if (callees[node.operator] >= 0) {
    graphs[callees[node.operator]].holders.push(node.n);
  }
}
// Modules of one class, or with the same inside, have one colour.
function setHue(element, module) {
  element.style.setProperty("--h", Math.round(module.look * 137.5 + 210) % 360);
  if (module.look < 0) {
    element.style.setProperty("--s", "0%");
  }
  return element;
}

const titleOf = module => module.path || module.cls || module.name || "model";
const percent = share => share > 0 && share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
const holds = (module, node) => node.module >= module.m && node.module < module.end;
const isWeight = value => value.kind === initializer || value.kind === sparse;

const fact = (what, text) => make("span", {}, make("b", {}, text), ` ${what}`);
const counted = (n, what) => fact(n === 1 ? what : `${what}s`, number(n));
const link = (text, action) => make("button", {class: "link", onclick: action}, text);
const chip = module => module.cls ? setHue(make("span", {class: "class"}, module.cls), module) : undefined;

function showHead() {
  const told = data.summary;
  const sources = Object.entries(told.provenance).sort((a, b) => b[1] - a[1])
    .map(([source, count]) => `${source} ${number(count)}`).join(", ");
  at("head").replaceChildren(
    make("h1", {title: told.model}, told.model.split("/").pop()),
    counted(nodes.length, "node"), counted(modules.length, "module"), counted(modules[0].parameters, "parameter"),
    fact("of the nodes attributed", percent(told.coverage)),
    make("span", {}, "evidence: ", make("b", {}, sources || "nothing")),
    counted(told.conflicts, "conflict"),
    make("span", {}, data.producer.trim()),
    make("span", {}, "opsets ", make("b", {}, Object.entries(data.opsets).map(([domain, version]) => `${domain} ${version}`).join(", ") || "none"),
         `, IR ${data.ir}`));
}

// The tree: rows are made when the module above is opened.
const rows = new Map();
let chosen = 0;

function makeRow(m) {
  const module = modules[m];
  const toggle = make("span", {class: "toggle", "aria-hidden": "true"}, module.children.length > 0 ? "\u25b6" : "");
  const name = m === 0 ? "" : module.name;
  const row = make("div", {
    class: "row" + (module.count === 0 ? " empty" : ""), "data-module": m, tabindex: "0", title: module.tag || module.path,
    onclick: event => {
      if (event.target === toggle) {
        setOpen(m, !rows.get(m).open);
      } else {
        go(`m=${m}`);
      }
    },
    onkeydown: event => {
      const all = [...at("tree").querySelectorAll(".row")];
      const next = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (next) {
        (all[all.indexOf(row) + next] || row).focus();
      } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
        setOpen(m, event.key === "ArrowRight");
      } else if (event.key === "Enter" || event.key === " ") {
        go(`m=${m}`);
      } else {
        return;
      }
      event.preventDefault();
    }},
    toggle,
    make("span", {class: "label"}, make("b", {}, name || (module.cls ? "" : titleOf(module))),
         name && module.cls ? " " : "", chip(module) || ""),
    make("span", {class: "share"}, make("i")), make("span", {class: "count"}));
  fillRow(row, m);
  const item = make("li", {}, row);
  if (module.children.length > 0) {
    item.setAttribute("aria-expanded", "false");
  }
  rows.set(m, {row, item, toggle, open: false, list: null});
  return item;
}

function setOpen(m, open) {
  const entry = rows.get(m);
  if (modules[m].children.length === 0 || entry.open === open) {
    return;
  }
  entry.open = open;
  entry.toggle.textContent = open ? "\u25bc" : "\u25b6";
  entry.item.setAttribute("aria-expanded", String(open));
  if (open && !entry.list) {
    entry.list = make("ul", {}, ...modules[m].children.map(makeRow));
    entry.item.append(entry.list);
  }
  if (entry.list) {
    entry.list.hidden = !open;
  }
}

function reveal(m) {
  const way = [];
  for (let above = modules[m].parent; above >= 0; above = modules[above].parent) {
    way.unshift(above);
  }
  way.forEach(above => setOpen(above, true));
  document.querySelectorAll(".row.chosen").forEach(row => row.classList.remove("chosen"));
  rows.get(m).row.classList.add("chosen");
  rows.get(m).row.scrollIntoView({block: "nearest"});
}

// A text that is cut in its middle where it is too wide: names differ at their ends.
function middle(text) {
  const tail = Math.min(Math.floor(text.length / 2), 28);
  return make("span", {class: "middle", title: text}, make("span", {}, text.slice(0, text.length - tail)),
              make("span", {}, text.slice(text.length - tail)));
}

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  at("tree").hidden = words.length > 0;
  at("found").hidden = words.length === 0;
  const fits = (...texts) => {
    const all = texts.join(" ").toLowerCase();
    return words.every(word => all.includes(word));
  };
  const list = [];
  const add = (all, matches, show) => {
    const hits = all.filter(matches);
    hits.slice(0, 100).forEach(hit => list.push(show(hit)));
    return hits.length;
  };
  const row = (properties, place, ...cells) => make("div", {class: "row", tabindex: "0", role: "link", onclick: () => go(place),
    onkeydown: event => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        go(place);
      }
    }, ...properties}, ...cells);
  const inTree = add(modules, module => fits(module.path, module.cls, module.tag), module =>
    row({"data-module": module.m}, `m=${module.m}`, make("span", {class: "label"}, make("b", {}, middle(titleOf(module))), " ", chip(module) || ""),
        make("span", {class: "count"}, number(module.count))));
  const inGraph = add(nodes, node => fits(node.name, node.op), node =>
    row({"data-node": node.n}, `m=${node.module}&n=${node.n}`,
        make("span", {class: "label"}, middle(node.name), " ", make("span", {class: "note"}, node.op))));
  at("found").replaceChildren(
    make("p", {class: "note"}, `${plural(inTree, "module")}, ${plural(inGraph, "node")}`), ...list);
}

// Keys lead from the search to what it found, and from each of that to the next.
function walkFound(event) {
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  const all = [...at("found").querySelectorAll(".row")];
  const now = all.indexOf(document.activeElement);
  if (step && all.length > 0 && (now >= 0 || step > 0)) {
    (now + step < 0 ? at("search") : all[Math.min(now + step, all.length - 1)]).focus();
    event.preventDefault();
  } else if (event.key === "Enter" && document.activeElement === at("search")) {
    all[0]?.click();
  } else if (event.key === "Escape") {
    at("search").value = "";
    search("");
    at("search").focus();
  }
}

// What goes in and out of a module: values, with what is at their other ends.
function boundaryOf(module) {
  const ins = new Map(), outs = new Map(), weights = new Set();
  for (let m = module.m; m < module.end; ++m) {
    for (const n of modules[m].own) {
      const node = nodes[n];
      for (const v of [...node.reads, ...node.hidden]) {
        const value = values[v];
        if (v < 0 || (value.producer >= 0 && holds(module, nodes[value.producer]))) {
          continue;
        }
        if (isWeight(value)) {
          weights.add(v);
        } else if (value.producer < 0 || nodes[value.producer].op !== "Constant") {
          ins.set(v, value.producer);
        }
      }
      for (const v of node.makes) {
        const readers = values[v].readers.filter(reader => !holds(module, nodes[reader]));
        if (node.op !== "Constant" && (readers.length > 0 || values[v].result)) {
          outs.set(v, readers);
        }
      }
    }
  }
  return {ins, outs, weights: [...weights]};
}

const nodeLink = n => link(nodes[n].name, () => go(`m=${nodes[n].module}&n=${n}`));
const moduleLink = m => link(titleOf(modules[m]), () => go(`m=${m}`));

function makeTable(heads, lines) {
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads.map(head =>
    make("th", {class: head.startsWith("#") ? "number" : ""}, head.replace("#", ""))))));
  const body = make("tbody");
  table.append(body);
  const box = make("div", {}, table);
  const more = make("button", {class: "more"});
  let shown = 0;
  const showMore = () => {
    const next = lines.slice(shown, shown + pageSize);
    shown += next.length;
    body.append(...next.map(line => make("tr", {}, ...line().map((cell, i) =>
      make("td", {class: heads[i].startsWith("#") ? "number" : ""}, ...[cell].flat())))));
    more.textContent = `Show more: ${number(lines.length - shown)} left`;
    more.hidden = shown >= lines.length;
  };
  more.addEventListener("click", showMore);
  showMore();
  box.append(more);
  return lines.length > 0 ? box : make("p", {class: "note"}, "None.");
}

function showBoundary(module) {
  const {ins, outs, weights} = boundaryOf(module);
  const type = v => make("span", {class: "type"}, values[v].type || "unknown");
  return make("div", {},
    make("h3", {}, `Inputs (${ins.size})`),
    makeTable(["tensor", "type", "from"], [...ins].map(([v, producer]) => () =>
      [values[v].name, type(v), producer >= 0 ? [nodeLink(producer)] : kinds[values[v].kind]])),
    make("h3", {}, `Outputs (${outs.size})`),
    makeTable(["tensor", "type", "to"], [...outs].map(([v, readers]) => () =>
      [values[v].name, type(v), [...(values[v].result ? ["output of the model "] : []),
        ...[...new Set(readers.map(n => nodes[n].module))].slice(0, 8).flatMap(m => [moduleLink(m), " "])]])),
    make("h3", {}, `Weights (${weights.length})`),
    makeTable(["initializer", "type"], weights.map(v => () => [values[v].name, type(v)])));
}

function showNodes(module) {
  const all = [];
  for (let m = module.m; m < module.end; ++m) {
    all.push(...modules[m].own);
  }
  all.sort((a, b) => a - b);
  const filter = make("input", {type: "search", placeholder: "Filter", "aria-label": "Filter nodes"});
  const table = make("div");
  const show = () => {
    const text = filter.value.toLowerCase();
    const kept = all.filter(n => `${nodes[n].name} ${nodes[n].op}`.toLowerCase().includes(text));
    table.replaceChildren(makeTable(["node", "operator", "module", "evidence", "#confidence"], kept.map(n => () => [
      [nodeLink(n)], nodes[n].op, [moduleLink(nodes[n].module)], nodes[n].source, nodes[n].confidence.toFixed(2)])));
  };
  filter.addEventListener("input", show);
  show();
  return make("div", {}, make("div", {class: "tools"}, filter), table);
}

function showParameters(module) {
  const lines = [];
  for (let m = module.m; m < module.end; ++m) {
    for (const [name, type, kind, elements] of modules[m].tensors) {
      lines.push(() => [[moduleLink(m)], name, make("span", {class: "type"}, type), kind, number(elements)]);
    }
  }
  const declared = modules.some(each => each.tensors.length > 0);
  return declared ? makeTable(["module", "name", "type", "kind", "#elements"], lines)
    : make("div", {}, make("p", {class: "note"}, "The file declares no parameters of modules; these weights are read here."),
           makeTable(["initializer", "type"], boundaryOf(module).weights.map(v => () =>
             [values[v].name, make("span", {class: "type"}, values[v].type)])));
}

const conflictsOf = module => nodes.filter(node => node.claims.length > 0 && holds(module, node));

function showConflicts(module) {
  return makeTable(["node", "decided", "claims"], conflictsOf(module).map(node => () => [
    [nodeLink(node.n)], [moduleLink(node.module)], node.claims.map(([source, path, confidence]) =>
      make("div", {}, `${source} says ${path || "the root"} (${confidence.toFixed(2)})`))]));
}

const lineOf = new Map();
for (const [file, line, name, members] of data.lines || []) {
  for (const n of members) {
    lineOf.set(n, `${file}:${line}${name && ` in ${name}`}`);
  }
}

function showLines(module) {
  const files = new Map();
  for (const [file, line, name, members] of data.lines) {
    const inside = members.filter(n => holds(module, nodes[n]));
    if (inside.length > 0) {
      files.set(file, [...(files.get(file) || []), {line, name, inside}]);
    }
  }
  return make("div", {}, ...[...files].flatMap(([file, rows]) => [make("h3", {}, file),
    makeTable(["#line", "function", "#nodes", "nodes"], rows.map(({line, name, inside}) => () => [
      String(line), name, number(inside.length), inside.slice(0, 8).flatMap(n => [nodeLink(n), " "])]))]));
}
