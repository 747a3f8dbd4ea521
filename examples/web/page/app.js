// SPDX-License-Identifier: Apache-2.0
// The page: files that are dropped, the module that is chosen, the view that shows it, and what is downloaded.
// The address holds module, view and query, by name: it means the same for any file that has them.
import {Engine} from "./engine.js";
import {bytes, textOf} from "./parts.js";
import {TreeView} from "./tree_view.js";
import {nodeRow, showCost, showDiff, showExplanation, showGraph, showKnown, showNodes, showQuery} from "./views.js";

/** @typedef {import("./tree_view.js").Module} Module */

/** @type {Record<string, [string, (app: any, module: number) => Promise<HTMLElement>]>} */
const views = {graph: ["Graph", showGraph], explain: ["Explain", showExplanation], nodes: ["Nodes", showNodes],
               query: ["Query", showQuery], cost: ["Cost", showCost], known: ["Evidence", showKnown], diff: ["Changes", showDiff]};
const mostCompared = 1.2e9; // bytes of both models, all of which are read

const app = {
  engine: /** @type {any} an Engine, as soon as a model is open */ (null),
  modules: /** @type {Module[]} */ ([]),
  byPath: new Map(),
  about: /** @type {any} what `open` says of the model */ (null),
  other: /** @type {any} and of the other one */ (null),
  otherSize: 0,
  node: /** @type {string | null} */ (null), // the name in the address, which Explain explains instead of the module
  asked: /** @type {string[] | null} */ (null), // the same as the library finds it
  chosen: 0,
  view: "graph",
  depth: 0,
  query: "",
  svg: () => document.querySelector("#panel svg"),
  comparesWeights: () => app.about.bytes + app.other.bytes < mostCompared,
  /** @param {{m?: string, v?: string, n?: string, q?: string}} place */
  link(place) {
    const parts = new URLSearchParams();
    const {m = app.modules[app.chosen]?.path ?? "", v = app.view, n = "", q = app.query} = place;
    parts.set("m", m);
    parts.set("v", v);
    if (n && v === "explain") {
      parts.set("n", n);
    }
    if (q && v === "query") {
      parts.set("q", q);
    }
    return `#${parts}`;
  },
  /** Goes to a place, and there anew where that is here. */
  go(place) {
    const link = app.link(place);
    if (link === location.hash) {
      app.refresh();
    } else {
      location.hash = link;
    }
  },
  /** Puts what was asked into the address, as a part of this place. */
  keepQuery(query) {
    app.query = query;
    history.replaceState(null, "", app.link({}));
  },
  explain(place, name) {
    Object.assign(app, {node: name, asked: [place]});
    app.go({v: "explain", n: name});
  },
  fail(problem) {
    at("message").textContent = textOf(problem);
    at("message").hidden = false;
    at("busy").hidden = true;
  },
  refresh: () => arrive(),
  download: action => busy("Writing", action),
  /** The other model with the tags of this one. */
  saveCarried: async () => save(await app.engine.file({do: "carry", slot: "b", weights: app.comparesWeights()}),
    `${app.other.model.replace(/\.onnx$/i, "")}.tagged.onnx`),
};

const tree = new TreeView(at("tree"), m => app.go({m: app.modules[m].path}));

async function busy(text, work) {
  at("message").hidden = true;
  at("busy").textContent = text;
  at("busy").hidden = false;
  try {
    return await work();
  } catch (problem) {
    app.fail(problem);
    return undefined;
  } finally {
    at("busy").hidden = true;
    document.documentElement.dataset.ready = String(Number(document.documentElement.dataset.ready ?? 0) + 1);
  }
}

/** Rows of the tree, from what `tree` tells. */
function readModules({modules}) {
  const byPath = new Map(modules.map((one, m) => [one.path, m]));
  const all = modules.map(one => {
    const parent = one.parent === null ? -1 : byPath.get(one.parent);
    return {path: one.path, class: one.class ?? "", parent, depth: one.level, children: [], nodes: one.nodes, end: 0,
            name: parent < 0 ? one.class || "model" : one.parent === "" ? one.path : one.path.slice(one.parent.length + 1)};
  });
  for (let m = all.length; m-- > 0;) {
    all[m].end = Math.max(all[m].end, m + 1);
    if (all[m].parent >= 0) {
      all[all[m].parent].children.unshift(m);
      all[all[m].parent].end = Math.max(all[all[m].parent].end, all[m].end);
    }
  }
  return {all, byPath};
}

function open(files) {
  return busy(`Reading ${files.map(file => file.name).join(", ")}`, async () => {
    const engine = new Engine();
    let about, found;
    try {
      about = await engine.open(files, "a");
      found = readModules(await engine.ask({do: "tree"}));
    } catch (problem) {
      engine.close();
      throw problem;
    }
    app.engine?.close();
    Object.assign(app, {engine, about, modules: found.all, byPath: found.byPath, other: null, node: null, asked: null});
    at("title").textContent = about.model;
    at("facts").textContent = `${plural(about.nodes, "node")}, ${plural(about.modules, "module")}, ${bytes(about.bytes)}`;
    document.title = `${about.model} \u00b7 stemma`;
    at("start").hidden = true;
    at("model").hidden = at("saves").hidden = at("compare").hidden = false;
    at("search").value = "";
    search("");
    tree.show(app.modules);
    if (new URLSearchParams(location.hash.slice(1)).get("v") === "diff") { // from another model
      history.replaceState(null, "", app.link({v: "graph"}));
    }
    await arrive();
  });
}

function compare(files) {
  return busy("Reading the other model", async () => {
    app.other = await app.engine.open(files, "b");
    app.view = "diff";
    history.replaceState(null, "", app.link({v: "diff"}));
    await arrive();
  });
}

let turn = 0;
async function arrive() {
  if (!app.engine) {
    return;
  }
  const place = new URLSearchParams(location.hash.slice(1));
  const m = app.byPath.get(place.get("m") ?? "") ?? 0;
  const wanted = place.get("v") ?? "";
  const view = wanted in views ? wanted : "graph";
  app.query = place.get("q") ?? app.query;
  const node = place.get("n");
  if (node !== app.node) {
    Object.assign(app, {node, asked: node === null ? null : [node]});
  }
  Object.assign(app, {chosen: m, view});
  tree.reveal(m);
  showWay(m);
  showTabs();
  const mine = ++turn;
  try {
    const element = await views[view][1](app, m);
    if (mine === turn) {
      at("panel").replaceChildren(element);
    }
  } catch (problem) {
    if (mine === turn) {
      at("panel").replaceChildren(make("p", {class: "bad"}, textOf(problem)));
    }
  }
  if (mine === turn) {
    document.documentElement.dataset.shown = `${app.modules[m].path}|${view}`;
  }
}

function showWay(m) {
  const way = [];
  for (let above = m; above >= 0; above = app.modules[above].parent) {
    way.unshift(above);
  }
  at("way").replaceChildren(...way.flatMap((module, i) => [i > 0 ? " / " : "",
    make("a", {href: app.link({m: app.modules[module].path}), ...(module === m ? {"aria-current": "true"} : {})}, app.modules[module].name)]),
    " ", make("span", {class: "class"}, app.modules[m].parent < 0 ? "" : app.modules[m].class));
}

function showTabs() {
  at("tabs").replaceChildren(...Object.entries(views).map(([name, [title]]) => make("button", {
    role: "tab", id: `tab-${name}`, "aria-selected": String(name === app.view), "aria-controls": "panel", tabindex: name === app.view ? "0" : "-1",
    onclick: () => app.go({v: name}),
  }, title)));
  at("panel").setAttribute("aria-labelledby", `tab-${app.view}`);
}

async function search(text) {
  const none = text.trim() === "";
  at("found").hidden = none;
  at("tree").hidden = !none;
  if (none) {
    return;
  }
  const found = await app.engine.ask({do: "search", text: text.trim()});
  if (at("search").value !== text) {
    return;
  }
  at("found").replaceChildren(
    make("h2", {}, plural(found.module_count, "module")),
    ...found.modules.map(m => make("a", {class: "row", href: app.link({m: app.modules[m].path})}, app.modules[m].path || "the root",
      " ", make("span", {class: "class"}, app.modules[m].class))),
    make("h2", {}, plural(found.node_count, "node")),
    make("div", {role: "listbox", "aria-label": "Nodes found"}, ...found.nodes.map(row => {
      const element = nodeRow(app, row);
      element.tabIndex = 0;
      element.addEventListener("click", () => app.explain(...row));
      element.addEventListener("keydown", event => event.key === "Enter" && app.explain(...row));
      return element;
    })));
}

function save(blob, name) {
  const link = make("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
const stem = () => app.about.model.replace(/\.onnx$/i, "");
const part = () => app.modules[app.chosen].path.replaceAll(/[^\w.-]+/g, "_") || "model";
const json = text => new Blob([text], {type: "application/json"});

function picture() {
  const svg = app.svg();
  if (!svg) {
    throw new Error("the view Graph has the picture");
  }
  return new Blob([new XMLSerializer().serializeToString(svg)], {type: "image/svg+xml"});
}

const downloads = {
  "save-tag": async () => save(await app.engine.file({do: "tag"}), `${stem()}.tagged.onnx`),
  "save-cut": async () => save(await app.engine.file({do: "cut", module: app.modules[app.chosen].path || "''"}), `${part()}.onnx`),
  "save-report": async () => save(await app.engine.file({do: "report"}), `${stem()}.html`),
  "save-svg": async () => save(picture(), `${part()}.svg`),
  "save-tree": async () => save(json(await app.engine.text({do: "tree"})), `${stem()}.tree.json`),
  "save-tags": async () => save(json(await app.engine.text({do: "tags"})), `${stem()}.tags.json`),
  "save-explain": async () => save(json(await app.engine.text({do: "explain", what: app.asked ?? [app.modules[app.chosen].path || "''"]})),
    `${part()}.explain.json`),
};
for (const [id, action] of Object.entries(downloads)) {
  at(id).addEventListener("click", () => {
    at("saves").open = false;
    app.download(action);
  });
}

async function sample() {
  const names = ["bert_micro.onnx", "bert_micro.modules.json"];
  const files = await Promise.all(names.map(async name => new File([await (await fetch(name)).blob()], name)));
  await open(files);
}

at("choose").addEventListener("click", () => at("files").click());
at("choose-first").addEventListener("click", () => at("files").click());
at("compare").addEventListener("click", () => at("others").click());
at("sample").addEventListener("click", () => sample().catch(app.fail));
for (const [id, take] of Object.entries({files: open, others: compare})) {
  at(id).addEventListener("change", ({target}) => {
    if (target.files.length > 0) {
      take([...target.files]);
      target.value = "";
    }
  });
}
at("search").addEventListener("input", ({target}) => search(target.value).catch(app.fail));
at("tabs").addEventListener("keydown", event => {
  const names = Object.keys(views);
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (step) {
    const next = names[(names.indexOf(app.view) + step + names.length) % names.length];
    app.go({v: next});
    setTimeout(() => at(`tab-${next}`).focus(), 50);
  }
});
document.addEventListener("dragover", event => {
  event.preventDefault();
  document.body.classList.add("drag");
});
document.addEventListener("dragleave", event => event.relatedTarget ?? document.body.classList.remove("drag"));
document.addEventListener("drop", event => {
  event.preventDefault();
  document.body.classList.remove("drag");
  const files = [...event.dataTransfer?.files ?? []];
  const models = files.filter(file => /\.onnx$/i.test(file.name));
  if (models.length === 2) { // both at once: the first is the older one
    const rest = files.filter(file => !models.includes(file));
    open([models[0], ...rest]).then(() => app.engine && compare([models[1]]));
  } else if (files.length > 0) {
    open(files);
  }
});
window.addEventListener("hashchange", () => arrive());
if ("serviceWorker" in navigator && location.protocol.startsWith("http")) {
  navigator.serviceWorker.register("offline.js").catch(() => {}); // without it the page needs the network, and nothing else
}
document.documentElement.dataset.started = "true";
