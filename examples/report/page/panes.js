// SPDX-License-Identifier: Apache-2.0
// Reports side by side: a choice in one is followed by the others, along the chain of models. Changes are a list.
const {page, files, steps} = JSON.parse(at("steps").textContent);
const letterOf = i => String.fromCharCode(65 + i);
const mostNamed = 6;

// The names of the files, with as many folders as tell them apart.
function shortNames(paths) {
  for (let count = 1; ; ++count) {
    const short = paths.map(path => path.split("/").slice(-count).join("/"));
    if (new Set(short).size === new Set(paths).size) {
      return short;
    }
  }
}
const titles = shortNames(files);

/** A pane by its place: its frame and what is told about its choice. @type {{frame: HTMLIFrameElement, said: HTMLElement, report: any}[]} */
const panes = files.map((file, i) => {
  const frame = make("iframe", {title: `${letterOf(i)}: ${file}`});
  const said = make("p", {class: "note", role: "status"});
  at("panes").append(make("section", {class: "pane", "aria-label": letterOf(i)},
    make("h2", {title: file}, `${letterOf(i)}  ${titles[i]}`), said, frame));
  return {frame, said, report: null};
});

// The nodes of each model by those of the next and of the one before.
const links = steps.map(({nodes}) => {
  const there = new Map(), back = new Map();
  const add = (map, from, to) => map.has(from) ? map.get(from).push(to) : map.set(from, [to]);
  for (let i = 0; i < nodes.length; i += 2) {
    add(there, nodes[i], nodes[i + 1]);
    add(back, nodes[i + 1], nodes[i]);
  }
  return [there, back];
});

/** From a model to the one beside it: by module its partner, by node what corresponds, and changes of modules. */
function stepFrom(i, j) {
  const step = steps[Math.min(i, j)], side = i < j ? 0 : 1;
  return {step, side, partners: step.modules[side], links: links[Math.min(i, j)][side]};
}

/** The innermost module that has some around it, or -1. */
function around({modules}, inside) {
  let root = inside[0] ?? -1;
  for (const m of inside) {
    while (m < root || m >= modules[root].end) {
      root = modules[root].parent;
    }
  }
  return root;
}

/** The partner of a module, or of the closest one around it that has one. */
function partnerNear({modules}, partners, m) {
  while (m > 0 && partners[m] < 0) {
    m = modules[m].parent;
  }
  return Math.max(0, partners[m]);
}

/** What corresponds in pane j to a choice in the one beside it. `n`: whether nodes were chosen, not a module. */
function cross(i, j, {m, nodes, n}) {
  const {partners, links} = stepFrom(i, j);
  const from = panes[i].report, to = panes[j].report;
  const linked = [...new Set(nodes.flatMap(each => links.get(each) ?? []))].sort((a, b) => a - b);
  const near = partnerNear(from, partners, m);
  const inside = each => to.nodes[each].module >= near && to.nodes[each].module < to.modules[near].end;
  const exact = n ? linked.every(inside) : partners[m] >= 0;
  return {m: exact || linked.length === 0 ? near : around(to, linked.map(each => to.nodes[each].module)), nodes: linked, n,
          none: linked.length === 0 && (n || partners[m] < 0)};
}

function tell({said, report}, {m, nodes, n, none}) {
  const named = n ? nodes.slice(0, mostNamed).flatMap((each, i) => [i > 0 ? ", " : "", make("button", {class: "link", title: report.nodes[each].name,
    onclick: () => report.go(`m=${report.nodes[each].module}&n=${each}`)}, report.nodes[each].op)]) : [];
  const path = report.modules[m].path || "the whole model";
  said.replaceChildren(...none ? ["nothing corresponds"] : n ? [`${plural(nodes.length, "node")}: `, ...named, nodes.length > mostNamed ? ", \u2026" : "",
    ` in ${path}`] : [`${path}, ${plural(nodes.length, "node")}`]);
}

/** A choice in a pane, which all others follow. */
function followAll(i, m, n) {
  const {modules, nodes} = panes[i].report;
  const inside = n === undefined ? modules.slice(m, modules[m].end).flatMap(({own}) => own).filter(each => nodes[each].op !== "Constant") : [n];
  const choice = {m, nodes: inside, n: n !== undefined, none: false};
  panes[i].said.replaceChildren(`chosen: ${n === undefined ? modules[m].path || "the whole model" : nodes[n].name}`);
  for (const by of [1, -1]) {
    let now = choice;
    for (let j = i + by; j >= 0 && j < panes.length; j += by) {
      now = cross(j - by, j, now);
      panes[j].report.follow(now.m, now.nodes, now.n);
      tell(panes[j], now);
    }
  }
  history.replaceState(null, "", `#${letterOf(i)}&m=${m}${n === undefined ? "" : `&n=${n}`}`);
}

// What the tree and the pictures of a pane show about those beside it.
function othersOf(i) {
  return [i - 1, i + 1].filter(j => j >= 0 && j < panes.length).map(j => {
    const {step, side, partners, links} = stepFrom(i, j);
    const changes = new Map(), places = [];
    for (const {ends, changes: all} of step.changes) {
      if (ends[side] >= 0) {
        changes.set(ends[side], all);
        places.push(ends[side]);
      } else {
        const back = step.modules[1 - side];
        places.push(partnerNear(panes[j].report, back, ends[1 - side]) + 0.5);
      }
    }
    return {name: letterOf(j), earlier: j < i, partners, changes, places, links};
  });
}

const byHowMuch = relative => relative === null ? " by values that are not finite" : ` by at most ${Number(relative.toPrecision(3))} of their size`;

/** @typedef {{i: number, ends: number[], changes: string[], path: string, text: string, about: string}} Change */
/** @returns {Change[]} */
function allChanges() {
  return steps.flatMap(({changes}, i) => changes.map(({ends, changes: kinds, nodes, weights: [count, relative, comparable]}) => {
    const side = ends[0] >= 0 ? 0 : 1;
    const path = panes[i + side].report.modules[ends[side]].path || "the whole model";
    const about = [nodes[0] + nodes[1] > 0 ? `${plural(nodes[0], "node")} \u2192 ${number(nodes[1])}` : "",
                   count > 0 ? plural(count, "weight") + (comparable > 0 ? byHowMuch(relative) : "") : ""].filter(Boolean).join(", ");
    return {i, ends, changes: kinds, path, text: `${path} ${kinds.join(" ")}`.toLowerCase(), about};
  }));
}

function showChanges() {
  const all = allChanges();
  let shown = all;
  const list = new VirtualList(at("changes"), {
    row: i => {
      const {i: step, changes, path, about} = shown[i];
      const kind = changes.find(each => each === "added" || each === "removed") ?? "changed";
      return make("div", {class: "row", role: "option", title: [path, about].filter(Boolean).join("\n")},
        make("span", {class: "label"}, middle(path, 20)), make("span", {class: `state ${kind}`}, changes.join(", ")),
        files.length > 2 ? make("span", {class: "note"}, `${letterOf(step)}\u2192${letterOf(step + 1)}`) : undefined);
    },
    choose: i => {
      const {i: step, ends} = shown[i];
      const side = ends[0] >= 0 ? 0 : 1;
      panes[step + side].report.go(`m=${ends[side]}`);
    },
  });
  at("search").addEventListener("input", () => {
    const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = all.filter(({text}) => words.every(word => text.includes(word)));
    list.chosen = -1;
    list.show(shown.length);
  });
  list.show(all.length);
}

function showHead() {
  const toggle = make("button", {class: "toggle-side", "aria-expanded": "true", "aria-controls": "side", onclick: () => {
    at("side").hidden = !at("side").hidden;
    toggle.setAttribute("aria-expanded", String(!at("side").hidden));
  }}, "Changes");
  at("head").replaceChildren(toggle, make("h1", {}, titles.join(", ")),
    ...steps.map(({same, of, changes}, i) => make("span", {}, `${letterOf(i)} and ${letterOf(i + 1)}: `,
      make("b", {}, `${number(same)} of ${plural(of, "module")}`), " the same, ", make("b", {}, plural(changes.length, "module")), " changed")));
  at("steps-between").replaceChildren(...steps.flatMap(({header}, i) => header.map(([what, from, to]) =>
    make("div", {}, files.length > 2 ? `${letterOf(i)}\u2192${letterOf(i + 1)} ` : "", `${what}: ${from || "none"} \u2192 ${to || "none"}`))));
}

/** Goes to what the address names. */
function goToAddress() {
  const [letter, ...place] = location.hash.slice(1).split("&");
  const pane = panes[letter.charCodeAt(0) - 65];
  pane?.report.go(place.join("&"));
}

const texts = [...document.querySelectorAll("script.model")];
const wholePage = page[0].replace("<html ", "<html class=\"pane\" ");
Promise.all(panes.map(pane => new Promise(done => pane.frame.addEventListener("load", done, {once: true})))).then(() => {
  panes.forEach((pane, i) => {
    pane.report = /** @type {any} */ (pane.frame.contentWindow).beside;
    pane.report.arrived = (m, n) => followAll(i, m, n);
  });
  panes.forEach((pane, i) => pane.report.compare(othersOf(i)));
  showHead();
  showChanges();
  goToAddress();
  document.documentElement.dataset.ready = "true";
});
panes.forEach((pane, i) => {
  pane.frame.srcdoc = wholePage + page[1] + texts[i].textContent + page[2];
  texts[i].remove();
});
