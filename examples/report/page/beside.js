// SPDX-License-Identifier: Apache-2.0
// This model beside others (panes.js): what became of its modules and nodes, and what corresponds to the choice in another.
// Alone, all of this does nothing.

/**
 * @typedef {{name: string, earlier: boolean, partners: number[], changes: Map<number, string[]>, places: number[], links: Map<number, number[]>}} Other
 * Another model. `partners`: by module, -1 without one. `places`: of changes, half a module further for what is only there.
 */
let others = /** @type {Other[]} */ ([]);
let linked = new Set(); // nodes, and those around them in other graphs
let linkedModules = new Set(); // with those around them

/** @returns {{text: string, kind: string, name: string}[]} what became of a module, for each other model */
function statesOf(m) {
  return others.flatMap(({name, partners, changes, places}) => {
    const own = changes.get(m);
    if (own) {
      return [{name, text: own.join(", "), kind: own.find(each => each === "added" || each === "removed") ?? "changed"}];
    }
    const inside = places.some(place => place > m && place < modules[m].end);
    return partners[m] < 0 ? [] : [{name, text: inside ? "differs inside" : "same", kind: "same"}];
  });
}

// For a row of the tree.
function stateChips(m) {
  const states = statesOf(m);
  const equal = states.length > 1 && states.every(({text}) => text === states[0].text);
  const all = equal ? [{...states[0], name: states.map(({name}) => name).join(", ")}] : states;
  return [linkedModules.has(m) ? make("span", {class: "state here", title: "corresponds to the choice"}, "\u25c6") : "",
          ...all.map(({text, kind, name}) => make("span", {class: `state ${kind}`, title: `compared with ${name}`},
                                                  others.length > 1 ? `${name}: ${text}` : text))];
}

/** Marks a box of a picture. */
function mark(group, box) {
  const members = box.kind === "node" ? [box.n] : box.members ?? [];
  if (box.kind === "module" ? linkedModules.has(box.m) : members.some(n => linked.has(n))) {
    group.classList.add("linked");
  }
  const lone = box.kind === "node" ? others.filter(({links}) => !links.has(box.n)) : [];
  const states = box.kind === "module" ? statesOf(box.m).filter(({kind}) => kind !== "same")
    : lone.map(({name, earlier}) => ({name, text: "nothing corresponds", kind: earlier ? "added" : "removed"}));
  for (const {text, kind, name} of states) {
    group.classList.add(kind);
    group.querySelector("title").textContent += `\n${name}: ${text}`;
  }
}

/** Marks nodes, and shows a module; `open`: opens the boxes around them. */
function follow(m, links, open) {
  linked = new Set(links);
  linkedModules = new Set();
  for (const n of linked) { // grows while it is walked
    for (let above = nodes[n].module; above >= 0 && !linkedModules.has(above); above = modules[above].parent) {
      linkedModules.add(above);
    }
    graphs[nodes[n].graph].holders.forEach(holder => linked.add(holder));
  }
  for (const n of open ? links : []) {
    for (let around = nodes[n].module; around > m; around = modules[around].parent) {
      opened.add(`m${around}`);
    }
  }
  at("content").setAttribute("aria-live", "off"); // the page around tells what was found
  const again = shown === m;
  show(m);
  tree.redraw();
  if (again) {
    refresh();
  }
  const boxes = [...document.querySelectorAll("svg .linked > .face")];
  const first = boxes.find(box => !box.parentElement.classList.contains("open")) ?? boxes[0];
  for (const frame of first ? [first.closest(".graph"), at("content")] : []) { // not what is around this page
    const inner = first.getBoundingClientRect(), outer = frame.getBoundingClientRect();
    frame.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
    frame.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
  }
}

/** For the page around. */
const beside = {
  modules, nodes, follow,
  arrived: /** @type {?(m: number, n?: number) => void} is told of each choice here */ (null),
  go: place => go(place),
  compare: all => {
    others = all;
    tree.redraw();
    refresh();
  },
};
/** @type {any} */ (window).beside = beside;

/** Tells the page around of a choice, which ends that of another. */
function announce(m, n) {
  at("content").setAttribute("aria-live", "polite");
  if (linked.size > 0) {
    linked = new Set();
    linkedModules = new Set();
    tree.redraw();
    document.querySelectorAll("svg .linked").forEach(box => box.classList.remove("linked"));
  }
  beside.arrived?.(m, n);
}
