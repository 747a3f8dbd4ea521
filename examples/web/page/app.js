// SPDX-License-Identifier: Apache-2.0
// The page: files, the chosen module and its views, downloads.
// The address holds module, view, node and query by name, so that it works for any file that has them.
import {Engine, isCapture} from "./engine.js";
import {pictureFile} from "./graph_view.js";
import {bytes, textOf} from "./text.js";
import {showCost, showDiff, showExplanation, showGraph, showKnown, showNodes, showQuery} from "./views.js";

/** @type {Record<string, [string, (app: any, module: number) => Promise<any>]>} */
const views = {graph: ["Graph", showGraph], explain: ["Explain", showExplanation], nodes: ["Nodes", showNodes],
               query: ["Query", showQuery], cost: ["Cost", showCost], known: ["Evidence", showKnown], diff: ["Changes", showDiff]};
const mostCompared = 1.2e9; // bytes of both models, all of which are read

const app = {
  engine: /** @type {any} an Engine, as soon as a model is open */ (null),
  modules: /** @type {Module[]} */ ([]),
  byPath: /** @type {Map<string, number> | null} */ (null), // made when first needed
  files: /** @type {File[]} the model, and what belongs to it */ ([]),
  about: /** @type {any} the answer of `open` */ (null),
  other: /** @type {any} the same of the other model */ (null),
  otherSize: 0,
  node: /** @type {string | null} */ (null), // the name in the address: Explain is about this node, not the module
  asked: /** @type {string[] | null} */ (null), // how the library finds it
  chosen: 0,
  view: "graph",
  query: "",
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
  /** Goes to a place, or shows it again. */
  go(place) {
    const link = app.link(place);
    if (link === location.hash) {
      app.refresh();
    } else {
      location.hash = link;
    }
  },
  /** Puts the query into the address. */
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

const tree = new ModuleTree(at("tree"), m => app.go({m: app.modules[m].path}), ({count, parameters}) =>
  shareOf(count / Math.max(1, app.about.nodes), number(count), plural(parameters, "parameter")).all);

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

/** Modules from the columns of `outline`. @returns {Module[]} */
function readModules({names, classes, parents, nodes, parameters, looks}) {
  const texts = [];
  const modules = names.map((name, m) => {
    if (typeof classes[m] === "string") {
      texts.push(classes[m]);
    }
    return {m, name, cls: texts[typeof classes[m] === "string" ? texts.length - 1 : classes[m]], parent: parents[m], end: m + 1, depth: 0,
            path: "", count: nodes[m], parameters: parameters[m], look: looks[m]};
  });
  completeModules(modules);
  return modules;
}

function findModule(path) {
  app.byPath ??= new Map(app.modules.map(module => [module.path, module.m]));
  return app.byPath.get(path) ?? 0;
}

/** @returns {Promise<true | undefined>} whether the model is open now */
function open(files) {
  return busy(`Reading ${files.map(file => file.name).join(", ")}`, async () => {
    const engine = new Engine();
    let about, modules;
    try {
      about = await engine.open(files, "a");
      modules = readModules(await engine.ask({do: "outline"}));
    } catch (problem) {
      engine.close();
      throw problem;
    }
    app.engine?.close();
    Object.assign(app, {engine, files, about, modules, byPath: null, other: null, node: null, asked: null});
    at("title").textContent = about.model;
    at("facts").replaceChildren(...modelFacts(about), make("span", {}, bytes(about.bytes)));
    document.title = `${about.model} \u00b7 stemma`;
    at("start").hidden = true;
    at("model").hidden = at("saves").hidden = at("compare").hidden = false;
    at("search").value = "";
    at("search").dispatchEvent(new Event("input"));
    tree.show(app.modules);
    if (new URLSearchParams(location.hash.slice(1)).get("v") === "diff") { // from another model
      history.replaceState(null, "", app.link({v: "graph"}));
    }
    await arrive();
    return true;
  });
}

function compare(files) {
  return busy("Reading the other model", async () => {
    app.other = null; // the library forgets the former one first
    try {
      app.other = await app.engine.open(files, "b");
      history.replaceState(null, "", app.link({v: "diff"}));
    } finally {
      await arrive();
    }
  });
}

/** Opens what was dropped or chosen: a model, or two to compare, or captures for the model that is open. @param {File[]} files */
function openAll(files) {
  const models = files.filter(file => /\.onnx$/i.test(file.name));
  if (models.length === 2) { // the first is the older one
    const rest = files.filter(file => !models.includes(file));
    open([models[0], ...rest]).then(done => done && compare([models[1], ...rest.filter(file => !isCapture(file))]));
  } else if (files.length > 0) {
    open(files.every(isCapture) ? [...app.files.filter(file => !isCapture(file)), ...files] : files);
  }
}

let turn = 0;
async function arrive() {
  if (!app.engine) {
    return;
  }
  const place = new URLSearchParams(location.hash.slice(1));
  const path = place.get("m") ?? "";
  const m = path === "" ? 0 : findModule(path);
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
  showTabs(at("tabs"), Object.entries(views).map(([name, [title]]) => [name, title]), view, v => app.go({v}));
  at("panel").setAttribute("aria-labelledby", `tab-${view}`);
  const mine = ++turn;
  try {
    const element = await views[view][1](app, m);
    if (mine === turn) {
      at("panel").replaceChildren(element);
      element.arrived?.();
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
  const name = module => app.modules[module].parent < 0 ? titleOf(app.modules[module]) : app.modules[module].name;
  at("way").replaceChildren(...way.flatMap((module, i) => [i > 0 ? " / " : "",
    make("a", {href: app.link({m: app.modules[module].path}), ...(module === m ? {"aria-current": "true"} : {})}, name(module))]),
    " ", app.modules[m].parent < 0 ? "" : chip(app.modules[m]) ?? "");
}

async function search(text) {
  const answer = await app.engine.ask({do: "search", text});
  if (at("search").value.trim() === text) {
    showFound(answer.module_count, answer.node_count,
      ...answer.modules.map(m => foundModule(app.modules[m], () => app.go({m: app.modules[m].path}))),
      ...answer.nodes.map(([place, name, op]) => foundNode(name, op, {"data-node": place}, () => app.explain(place, name))));
  }
}

function save(blob, name) {
  const link = make("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
const stem = () => app.about.model.replace(/\.onnx$/i, "");
const part = () => app.modules[app.chosen].path.replaceAll(/[^\w.-]+/g, "_") || "model";
const json = text => new Blob([text], {type: "application/json"});

const downloads = {
  "save-tag": async () => save(await app.engine.file({do: "tag"}), `${stem()}.tagged.onnx`),
  "save-cut": async () => save(await app.engine.file({do: "cut", module: app.modules[app.chosen].path || "''"}), `${part()}.onnx`),
  "save-report": async () => save(await app.engine.file({do: "report"}), `${stem()}.html`),
  "save-svg": async () => save(pictureFile(), `${part()}.svg`),
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
for (const [id, take] of Object.entries({files: openAll, others: compare})) {
  at(id).addEventListener("change", ({target}) => {
    if (target.files.length > 0) {
      take([...target.files]);
      target.value = "";
    }
  });
}
watchSearch(text => search(text).catch(app.fail));
document.addEventListener("dragover", event => {
  event.preventDefault();
  document.body.classList.add("drag");
});
document.addEventListener("dragleave", event => event.relatedTarget ?? document.body.classList.remove("drag"));
document.addEventListener("drop", event => {
  event.preventDefault();
  document.body.classList.remove("drag");
  openAll([...event.dataTransfer?.files ?? []]);
});
window.addEventListener("hashchange", () => arrive());
if ("serviceWorker" in navigator && location.protocol.startsWith("http")) {
  navigator.serviceWorker.register("offline.js").catch(() => {}); // without it the page just needs the network
}
document.documentElement.dataset.started = "true";
