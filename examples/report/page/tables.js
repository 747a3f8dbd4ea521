// SPDX-License-Identifier: Apache-2.0
// The model, from the data in the page, and tables of it.
const data = JSON.parse(document.getElementById("data").textContent);
const kinds = ["intermediate", "input", "formal input", "initializer", "sparse initializer", "undefined"];
const formal = 2, initializer = 3, sparse = 4;
const pageSize = 200, mostBoxes = 250, mostEnds = 40, mostFound = 100, mostReaders = 8;

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
      own: [], end: m + 1, depth: 0, path: ""}));
completeModules(modules);
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
// The main graph, bodies and functions. `callees`: by operator, the graph of its function.
const graphs = data.graphs.map(([owner, title, inputs, results], g) => {
  inputs.forEach(value => { values[value].formalIn = g; });
  results.forEach(value => (values[value].resultOf ??= []).push(g));
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
const holds = (module, node) => node.module >= module.m && node.module < module.end;
const isWeight = value => value.kind === initializer || value.kind === sparse;

const link = (text, action) => make("button", {class: "link", onclick: action}, text);

function showHead() {
  const {model, provenance, coverage, conflicts} = data.summary;
  at("head").replaceChildren(make("h1", {title: model}, model.split("/").pop()), ...modelFacts({
    nodes: nodes.length, modules: modules.length, parameters: modules[0].parameters, coverage, conflicts, provenance,
    producer: data.producer, opsets: data.opsets, ir: data.ir}));
}

let chosen = 0;
const tree = new ModuleTree(at("tree"), m => go(`m=${m}`), tailOf);

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (...texts) => {
    const all = texts.join(" ").toLowerCase();
    return words.every(word => all.includes(word));
  };
  const inTree = modules.filter(module => fits(module.path, module.cls, module.tag));
  const inGraph = nodes.filter(node => fits(node.name, node.op));
  showFound(inTree.length, inGraph.length,
    ...inTree.slice(0, mostFound).map(module => foundModule(module, () => go(`m=${module.m}`))),
    ...inGraph.slice(0, mostFound).map(({name, op, n, module}) => foundNode(name, op, {"data-node": n}, () => go(`m=${module}&n=${n}`))));
}

// Inputs, outputs and weights of a module; inputs with their producers, outputs with their readers. Owners of bodies and
// callers of functions are those of their formal inputs and results.
function boundaryOf(module) {
  const outside = list => list.filter(n => !holds(module, nodes[n]));
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
        } else if (value.kind === formal) {
          const holders = outside(graphs[value.formalIn].holders);
          if (holders.length > 0) {
            ins.set(v, holders);
          }
        } else if (value.producer < 0 || nodes[value.producer].op !== "Constant") {
          ins.set(v, value.producer < 0 ? [] : [value.producer]);
        }
      }
      for (const v of node.makes) {
        const takers = (values[v].resultOf ?? []).flatMap(g => graphs[g].holders);
        const readers = outside([...new Set([...values[v].readers, ...takers])]);
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
    makeTable(["tensor", "type", "from"], [...ins].map(([v, producers]) => () =>
      [values[v].name, type(v), producers.length > 0 ? producers.slice(0, 8).flatMap(n => [nodeLink(n), " "]) : kinds[values[v].kind]])),
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
    for (const n of modules[m].own) {
      all.push(n);
    }
  }
  all.sort((a, b) => a - b);
  const filter = make("input", {type: "search", placeholder: "Filter", "aria-label": "Filter nodes"});
  const table = make("div");
  const show = () => {
    const text = filter.value.toLowerCase();
    const matching = all.filter(n => `${nodes[n].name} ${nodes[n].op}`.toLowerCase().includes(text));
    table.replaceChildren(makeTable(["node", "operator", "module", "evidence", "#confidence"], matching.map(n => () => [
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
