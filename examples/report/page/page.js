// SPDX-License-Identifier: Apache-2.0
// What is shown beside the tree: a module with its tabs, a node, and how the address leads to them.
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
    make("button", {class: "close", title: "close", "aria-label": "close", onclick: () => go(`m=${chosen}`)}, "\u2715"),
    make("h3", {}, node.op), make("div", {}, node.name),
    make("h4", {}, "Module"), moduleLink(node.module), make("div", {class: "tag"}, modules[tagged].tag),
    make("h4", {}, "Known from"), `${node.source}, confidence ${node.confidence.toFixed(2)}`,
    ...(lineOf.has(node.n) ? [make("h4", {}, "Written in"), lineOf.get(node.n)] : []),
    ...(node.claims.length > 0 ? [make("h4", {class: "bad"}, "Conflict"), ...node.claims.map(([source, path, confidence]) =>
      make("div", {}, `${source} says ${path || "the root"} (${confidence.toFixed(2)})`))] : []),
    ...(numbersOf(n).length > 0 ? [make("h4", {}, "Numbers"), ...numbersOf(n)] : []),
    ...(node.attributes.length > 0 ? [make("h4", {}, "Attributes"), ...node.attributes.map(text =>
      make("div", {class: "type"}, text))] : []),
    make("h4", {}, "Reads"), ...node.reads.map(v => valueLine(v, from)),
    make("h4", {}, "Makes"), ...node.makes.map(v => valueLine(v, to)));
}

let tab = "Graph";
let shown = null;
let refresh = () => {}; // shows the tab anew

function showModule(m) {
  const module = modules[m];
  const way = [];
  for (let above = module.parent; above >= 0; above = modules[above].parent) {
    way.unshift(link(above === 0 ? titleOf(modules[0]) : modules[above].name, () => go(`m=${above}`)), " / ");
  }
  /** @typedef {[string, (module: any) => any]} Tab title, and what shows it */
  /** @type {Tab[]} */
  const linesTab = data.lines ? [["Lines", showLines]] : [];
  /** @type {Tab[]} */
  const tabs = [["Graph", showGraph], [`Nodes (${number(module.count)})`, showNodes], ["Boundary", showBoundary],
                ["Parameters", showParameters], ...linesTab, [`Conflicts (${number(conflictsOf(module).length)})`, showConflicts]];
  if (measures.length > 0) {
    tabs.splice(1, 0, ["Numbers", showNumbers]);
  }
  if (measures.some(measure => measure.additive)) {
    tabs.splice(2, 0, ["Flame", showFlames]);
  }
  const panel = make("div", {id: "panel", role: "tabpanel"});
  const bar = make("div", {class: "tabs", role: "tablist"});
  const choose = title => {
    tab = title.split(" ")[0];
    for (const button of bar.children) {
      button.setAttribute("aria-selected", String(button.textContent.split(" ")[0] === tab));
    }
    const [, show] = tabs.find(([name]) => name.split(" ")[0] === tab);
    const content = show(module);
    panel.replaceChildren(content);
    content.arrived?.();
    refresh = () => content.redraw ? content.redraw() : choose(tab);
  };
  bar.append(...tabs.map(([title]) => make("button", {role: "tab", onclick: () => choose(title)}, title)));
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

painted = measures.find(measure => [...runs[measure.run].cells.modules.values()].some(cells => isNumber(cells[measure.c]))) ?? null;
showHead();
showLegend();
at("tree").append(make("ul", {}, makeRow(0)));
setOpen(0, true);
for (let m = 0; modules[m].children.length === 1;) { // ways without a choice
  m = modules[m].children[0];
  setOpen(m, true);
}
at("search").addEventListener("input", () => search(at("search").value));
at("search").addEventListener("keydown", walkFound);
at("found").addEventListener("keydown", walkFound);
window.addEventListener("hashchange", () => location.hash === arrived || arrive());
arrive();
document.documentElement.dataset.ready = "true";
