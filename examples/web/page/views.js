// SPDX-License-Identifier: Apache-2.0
// What stands in the panel: one function for each view, which returns its element.
import {drawGraph} from "./graph_view.js";
import {VirtualList, bytes, textOf} from "./parts.js";

const rowsAtOnce = 200;

const table = (label, head, rows) => make("table", {"aria-label": label},
  make("thead", {}, make("tr", {}, ...head.map(text => make("th", {scope: "col"}, text)))),
  make("tbody", {}, ...rows.map(row => make("tr", {}, ...row.map(cell => make("td", {}, cell instanceof Node ? cell : String(cell)))))));
const some = (list, most, row) => list.length > most ? [...list.slice(0, most).map(row), [`and ${number(list.length - most)} more`]] : list.map(row);
const note = text => make("p", {class: "note"}, text);
const list = (...parts) => make("dl", {}, ...parts.filter(([, value]) => value !== "" && value !== null && value !== undefined)
  .flatMap(([term, value]) => [make("dt", {}, term), make("dd", {}, value instanceof Node ? value : String(value))]));

/** A row of a list of nodes, as `rows` and `search` of the library give it. */
export function nodeRow(app, [place, name, op, module, source, confidence, conflict]) {
  return make("div", {class: "row", role: "option", title: name, "data-node": place},
    make("span", {class: "op"}, op), make("span", {class: "name"}, name),
    make("span", {class: "class"}, app.modules[module].path), make("span", {class: conflict ? "count bad" : "count"},
      `${source} ${confidence.toFixed(2)}${conflict ? ", conflict" : ""}`));
}

/** The nodes of a module, fetched as they come into sight. */
export async function showNodes(app, m) {
  const pages = new Map();
  const element = make("div", {id: "nodes", role: "listbox", tabindex: "0", "aria-label": "Nodes"});
  const fetchPage = page => {
    if (!pages.has(page)) {
      pages.set(page, null);
      app.engine.ask({do: "rows", module: m, first: page * rowsAtOnce, count: rowsAtOnce}).then(({rows}) => {
        pages.set(page, rows);
        view.draw();
      }).catch(app.fail);
    }
    return pages.get(page);
  };
  const rowAt = i => fetchPage(Math.floor(i / rowsAtOnce))?.[i % rowsAtOnce];
  const view = new VirtualList(element, {
    row: i => rowAt(i) ? nodeRow(app, rowAt(i)) : make("div", {class: "row", role: "option"}, "\u2026"),
    choose: i => rowAt(i) && app.explain(...rowAt(i)),
    byEnter: true,
  });
  const {total} = await app.engine.ask({do: "rows", module: m, first: 0, count: 1});
  view.show(total);
  return make("div", {class: "fill"}, note(`${plural(total, "node")}; Enter or a click explains one.`), element);
}

export async function showGraph(app, m) {
  const depth = app.depth ?? 0;
  const graph = await app.engine.ask({do: "graph", module: m, depth, boxes: 150});
  const deeper = make("input", {type: "number", min: "0", max: "9", value: String(depth), "aria-label": "Open levels"});
  deeper.addEventListener("change", () => {
    app.depth = Number(deeper.value);
    app.refresh();
  });
  const svg = graph.boxes.length === 0 ? note("No node comes from this module.")
    : drawGraph(graph, box => box.module !== undefined ? app.go({m: app.modules[box.module].path}) : app.explain(box.place, box.about || box.place));
  return make("div", {class: "fill"}, make("p", {class: "note"}, "Open levels: ", deeper, " Constants are hidden."),
    make("div", {class: "graph", tabindex: "0", "aria-label": "Picture, scrolls"}, svg));
}

/** Rows of one kind under a title; columns are what is not the same number or empty text everywhere. */
function answerTable(app, title, rows) {
  if (rows.length === 0) {
    return "";
  }
  const cell = (key, value, row) => key === "name" && "index" in row ? nodeLink(app, row)
    : key === "module" ? moduleLink(app, value) : Array.isArray(value) ? value.join(", ") : String(value);
  const keys = Object.keys(rows[0]).filter(key => !["graph", "index", "length", "cut", "exact"].includes(key));
  return make("div", {}, make("h3", {}, title), table(title, keys, some(rows, 50, row => keys.map(key => cell(key, row[key], row)))));
}

function nodeLink(app, {graph, index, name}) {
  const place = graph ? `${graph}#${index}` : `#${index}`;
  return make("button", {class: "link", onclick: () => app.explain(place, name || place)}, name || place);
}

function nodeAnswer(app, one) {
  return make("section", {}, make("h2", {}, `${one.op_type} `, make("small", {}, one.name)), list(
    ["module", moduleLink(app, one.scope_module ?? one.module)], ["tag", one.tag],
    ["evidence", `${one.provenance}, confidence ${one.confidence}`],
    ["conflict", one.conflict ? make("span", {class: "bad"}, "sources disagree") : ""],
    ["also tagged", one.tags.filter(tag => tag !== one.tag).join(", ")]),
    answerTable(app, "claims", one.claims), answerTable(app, "attributes", one.attributes),
    answerTable(app, "reads", one.inputs), answerTable(app, "produced by", one.producers),
    answerTable(app, "makes", one.outputs), answerTable(app, "read by", one.consumers));
}

const moduleLink = (app, path) => typeof path !== "string" ? "" : make("a", {href: app.link({m: path})}, path === "" ? "the root" : path);

function moduleAnswer(app, one) {
  const border = side => table(side, ["value", "type", side === "inputs" ? "from" : "read by"],
    some(one[side], 100, value => [value.name, value.type, value.modules.map(path => path || "the root").join(", ")]));
  return make("section", {}, list(["class", one.qualified_class || one.class], ["tag", one.tag], ["also called", one.aliases.join(", ")],
    ["nodes", `${number(one.nodes)}, ${number(one.own_nodes)} of them its own`], ["modules inside", number(one.modules)],
    ["parameters", `${number(one.parameter_count)} (${bytes(one.parameter_bytes)})`]),
    make("h2", {}, "Inputs"), border("inputs"), make("h2", {}, "Outputs"), border("outputs"),
    ...(one.weights.length > 0 ? [make("h2", {}, "Weights"), table("weights", ["name", "type", "kind", "bytes", "module"],
      some(one.weights, 200, weight => [weight.name, weight.type, weight.kind, number(weight.bytes), weight.module]))] : []));
}

/** What `explain` says of what is asked for, or of the module. */
export async function showExplanation(app, m) {
  const what = app.asked ?? [app.modules[m].path || "''"];
  const answer = await app.engine.ask({do: "explain", what});
  return make("div", {class: "scroll", tabindex: "0"}, ...answer.answers.flatMap(one => [
    ...one.nodes.map(node => nodeAnswer(app, node)), ...one.modules.map(module => moduleAnswer(app, module)),
    ...(one.nodes.length + one.modules.length === 0 ? [make("pre", {}, JSON.stringify(one, null, 1))] : [])]));
}

export async function showQuery(app) {
  const field = make("input", {id: "query", type: "search", placeholder: "op:MatMul and class:Attention", "aria-label": "Query",
                               value: app.query ?? "", spellcheck: "false"});
  const result = make("div", {class: "scroll", tabindex: "0", "aria-live": "polite"});
  let last = 0;
  const run = async () => {
    app.keepQuery(field.value);
    const mine = ++last;
    if (field.value.trim() === "") {
      result.replaceChildren(note("Module paths, tags and conditions: encoder.layer.*, op:Softmax, parameters>1M, not class:LayerNorm."));
      return;
    }
    try {
      const answer = await app.engine.ask({do: "query", query: field.value});
      if (mine === last) {
        result.replaceChildren(note(`${plural(answer.nodes.length, "node")}, ${plural(answer.modules.length, "module")}`),
          ...(answer.modules.length > 0 ? [table("modules", ["module"], some(answer.modules, 200, one => [moduleLink(app, one.path ?? one)]))] : []),
          table("nodes", ["operator", "name", "module"], some(answer.nodes, 500, one => [one.op_type, one.name, moduleLink(app, one.scope_module)])));
      }
    } catch (problem) {
      if (mine === last) {
        result.replaceChildren(make("p", {class: "bad"}, textOf(problem)));
      }
    }
  };
  let timer = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(run, 150);
  });
  await run();
  return make("div", {class: "fill"}, make("p", {}, field), result);
}

export async function showCost(app, m) {
  const cost = await app.engine.ask({do: "cost"});
  const path = app.modules[m].path;
  const below = cost.modules.filter(one => path === "" || one.path === path || one.path.startsWith(`${path}.`));
  const short = value => typeof value === "number" ? number(value) : String(value);
  return make("div", {class: "scroll", tabindex: "0"},
    note(cost.dimensions.length > 0 ? `Symbolic dimensions: ${cost.dimensions.join(", ")}.` : "All dimensions are fixed."),
    table("cost", ["module", "multiply-adds", "weights", "peak memory"],
      some(below, 300, one => [moduleLink(app, one.path), short(one.macs), bytes(one.bytes), short(one.peak)])));
}

export async function showKnown(app) {
  const {summary, notes, producer} = app.about;
  const sources = Object.entries(summary.provenance ?? summary.sources ?? {}).filter(([, nodes]) => typeof nodes !== "number" || nodes > 0);
  return make("div", {class: "scroll", tabindex: "0"}, list(["producer", producer], ["file", `${app.about.model}, ${bytes(app.about.bytes)}, ${bytes(app.about.loaded)} of it read`]),
    make("h2", {}, "Nodes by evidence"),
    table("sources", ["source", "nodes"], sources.map(([name, nodes]) => [name, typeof nodes === "number" ? number(nodes) : JSON.stringify(nodes)])),
    ...(notes.length > 0 ? [make("h2", {}, "Notes"), make("ul", {}, ...notes.slice(0, 200).map(text => make("li", {}, text)))] : []));
}

export async function showDiff(app) {
  if (!app.other) {
    return note("Compare with\u2026 takes another model: what changed then stands here, module by module.");
  }
  const weights = app.comparesWeights();
  const found = await app.engine.ask({do: "diff", weights, nodes: true});
  const size = ({modules, nodes}) => `${plural(modules, "module")}, ${plural(nodes, "node")}`;
  const weight = one => `${one.second || one.first}${one.difference ? `: ${number(one.difference.different)} of ${number(one.difference.elements)} differ` : ""}`;
  return make("div", {class: "scroll", tabindex: "0"},
    make("p", {}, make("button", {id: "save-carried", onclick: () => app.download(app.saveCarried)},
      `Download ${app.other.model} with the tags of ${app.about.model}`)),
    note(`${app.about.model} (${size(found.size_first)}) and ${app.other.model} (${size(found.size_second)})${weights ? "" : "; too large to compare weights here"}`),
    ...found.header.map(one => note(`${one.what}: ${one.first || "none"} \u2192 ${one.second || "none"}`)),
    found.equal ? note("They are equal.") : table("changes", ["module", "changes", "nodes", "weights"], some(found.modules, 300, one => [
      one.first === null || one.first === undefined ? one.second : moduleLink(app, one.first), one.changes.join(", "),
      one.nodes.only_first + one.nodes.only_second > 0 ? `${one.nodes.only_first} \u2192 ${one.nodes.only_second}` : "",
      some(one.weights, 3, weight).flat().join("; ")])));
}
