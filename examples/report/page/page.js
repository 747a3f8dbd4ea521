// SPDX-License-Identifier: Apache-2.0
// A module with its tabs, a node, and the address that leads to them.
function showDetail(n) {
  const panel = at("detail");
  panel.hidden = n === undefined;
  document.querySelectorAll("svg .chosen").forEach(box => box.classList.remove("chosen"));
  if (n === undefined) {
    return;
  }
  const node = nodes[n];
  document.querySelectorAll(`svg [data-node="${n}"]`).forEach(box => box.classList.add("chosen"));
  const end = (v, ends) => v < 0 ? {name: "(none)", type: "", ends: []}
    : {name: values[v].name || "(omitted)", type: values[v].type || "type unknown", ends: ends(values[v])};
  const from = value => value.producer >= 0 ? [nodeLink(value.producer)] : [make("span", {class: "note"}, kinds[value.kind])];
  const to = value => value.readers.slice(0, 20).map(reader => make("div", {}, nodeLink(reader)))
    .concat(value.result ? [make("span", {class: "note"}, "output of the model")] : []);
  let tagged = node.module;
  while (!modules[tagged].tag) {
    tagged = modules[tagged].parent;
  }
  panel.replaceChildren(
    make("button", {class: "close", title: "close", "aria-label": "close", onclick: () => go(`m=${chosen}`)}, "\u2715"),
    ...nodePanel({...node, module: moduleLink(node.module), tag: modules[tagged].tag, conflict: node.claims.length > 0,
      reads: node.reads.map(v => end(v, from)), makes: node.makes.map(v => end(v, to)),
      more: [["Written in", ...(lineOf.has(node.n) ? [lineOf.get(node.n)] : [])], ["Numbers", ...numbersOf(n)]]}));
}

let tab = "graph";
let shown = null;
let refresh = () => {}; // shows the tab again

function showModule(m) {
  const module = modules[m];
  const way = [];
  for (let above = module.parent; above >= 0; above = modules[above].parent) {
    way.unshift(link(above === 0 ? titleOf(modules[0]) : modules[above].name, () => go(`m=${above}`)), " / ");
  }
  /** @typedef {[string, string, (module: any) => any]} Tab id, title, and what shows it */
  /** @type {Tab[]} */
  const tabs = [["graph", "Graph", showGraph], ["nodes", `Nodes (${number(module.count)})`, showNodes], ["boundary", "Boundary", showBoundary],
                ["parameters", "Parameters", showParameters], ["conflicts", `Conflicts (${number(conflictsOf(module).length)})`, showConflicts]];
  if (data.lines) {
    tabs.splice(4, 0, ["lines", "Lines", showLines]);
  }
  if (measures.some(measure => measure.additive)) {
    tabs.splice(1, 0, ["flame", "Flame", showFlames]);
  }
  if (measures.length > 0) {
    tabs.splice(1, 0, ["numbers", "Numbers", showNumbers]);
  }
  const panel = make("div", {id: "panel", role: "tabpanel"});
  const bar = make("div", {class: "tabs", role: "tablist", "aria-label": "Views"});
  const choose = id => {
    tab = id;
    showTabs(bar, tabs.map(([each, title]) => [each, title]), id, choose);
    const [, , show] = tabs.find(([each]) => each === id);
    const content = show(module);
    panel.setAttribute("aria-labelledby", `tab-${id}`);
    panel.replaceChildren(content);
    content.arrived?.();
    refresh = () => content.redraw ? content.redraw() : choose(id);
  };
  at("content").replaceChildren(
    make("div", {class: "way"}, ...way),
    make("h2", {}, m === 0 ? titleOf(module) : module.name, " ", m === 0 && !module.path ? "" : chip(module) || ""),
    make("div", {class: "tag"}, module.tag || "no tag of its own"),
    make("div", {class: "facts"}, counted(module.count, "node"),
         fact("of all", percent(module.count / Math.max(1, nodes.length))),
         fact("directly", number(module.ownNodes)), counted(module.parameters, "parameter"),
         module.weights ? make("span", {}, module.weights) : "",
         fact(module.end - m === 2 ? "module inside" : "modules inside", number(module.end - m - 1)),
         module.calls >= 0 ? counted(module.calls, "call") : "",
         module.qualified ? make("span", {}, module.qualified) : ""),
    bar, panel);
  choose(tab);
  at("content").scrollTop = 0;
}

/** Shows a module, and a node if one is given. */
function show(m, n) {
  at("detail").hidden = n === undefined; // takes room from the picture
  chosen = m;
  if (shown !== m) {
    shown = m;
    showModule(m);
    tree.reveal(m);
  }
  showDetail(n);
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
    const index = Number(place.get(key) ?? NaN);
    return Number.isInteger(index) && index >= 0 && index < count ? index : undefined;
  };
  const m = read("m", modules.length) ?? 0;
  const n = read("n", nodes.length);
  show(m, n);
  announce(m, n);
}

painted = measures.find(measure => [...runs[measure.run].cells.modules.values()].some(cells => isNumber(cells[measure.c]))) ?? null;
showHead();
showLegend();
tree.show(modules);
watchSearch(search);
window.addEventListener("hashchange", () => location.hash === arrived || arrive());
arrive();
document.documentElement.dataset.ready = "true";
