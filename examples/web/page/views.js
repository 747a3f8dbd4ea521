// SPDX-License-Identifier: Apache-2.0
// The views: for each a function that returns its element.
import {moduleGraph} from "./graph_view.js";
import {bytes, textOf} from "./text.js";

const rowsAtOnce = 200;

/** A name or type that may be broken after its separators. */
const broken = text => text.split(/(?<=[./_,:])/).flatMap((part, i) => i > 0 ? [make("wbr"), part] : [part]);
const table = (label, head, rows) => make("table", {"aria-label": label},
  make("thead", {}, make("tr", {}, ...head.map(text => make("th", {scope: "col"}, text)))),
  make("tbody", {}, ...rows.map(row => make("tr", {}, ...row.map(cell => make("td", {}, ...(cell instanceof Node ? [cell] : broken(String(cell)))))))));
const some = (list, most, row) => list.length > most ? [...list.slice(0, most).map(row), [`and ${number(list.length - most)} more`]] : list.map(row);
const note = text => make("p", {class: "note"}, text);
const list = (...parts) => make("dl", {}, ...parts.filter(([, value]) => value !== "" && value !== null && value !== undefined)
  .flatMap(([term, value]) => [make("dt", {}, term), make("dd", {}, value instanceof Node ? value : String(value))]));

/** A row of a list of nodes. @param {[string, string, string, number, string, number, boolean]} node as the library describes it */
export function nodeRow(app, [place, name, op, module, source, confidence, conflict]) {
  return make("div", {class: "row", role: "option", title: name, "data-node": place},
    make("span", {class: "op"}, op), make("span", {class: "name"}, middle(name)),
    make("span", {class: "path"}, app.modules[module].path), make("span", {class: conflict ? "count bad" : "count"},
      `${source} ${confidence.toFixed(2)}${conflict ? ", conflict" : ""}`));
}

/** The nodes of a module, fetched as they scroll into sight. */
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

export const showGraph = moduleGraph;

function nodeLink(app, {graph, index, name}) {
  const place = graph ? `${graph}#${index}` : `#${index}`;
  return make("button", {class: "link", onclick: () => app.explain(place, name || place)}, name || place);
}

function nodeAnswer(app, one) {
  const ends = (values, others) => values.map(({name, type}) => ({name: name || "(omitted)", type: type || "type unknown",
    ends: others.filter(({value}) => value === name).slice(0, 20).map(other => make("div", {}, nodeLink(app, other)))}));
  const also = one.tags.filter(tag => tag !== one.tag);
  return make("section", {class: "node"}, ...nodePanel({
    op: one.op_type, name: one.name, module: moduleLink(app, one.scope_module), tag: one.tag, source: one.provenance,
    confidence: one.confidence, conflict: one.conflict, claims: one.claims.map(({source, module, confidence}) => [source, module, confidence]),
    attributes: one.attributes.map(({name, text, cut}) => `${name} = ${text}${cut ? "\u2026" : ""}`),
    reads: ends(one.inputs, one.producers), makes: ends(one.outputs, one.consumers),
    more: [["Other tags", ...also.map(tag => make("div", {class: "tag"}, tag))]]}));
}

const moduleLink = (app, path) => typeof path !== "string" ? "" : make("a", {href: app.link({m: path})}, ...(path === "" ? ["the root"] : broken(path)));

function moduleAnswer(app, one) {
  const border = side => table(side, ["value", "type", side === "inputs" ? "from" : "read by"],
    some(one[side], 100, value => [value.name, value.type,
      [...(value.of_model ? [`the model's ${side.slice(0, -1)}`] : []), ...value.modules.map(path => path || "the root")].join(", ")]));
  return make("section", {}, list(["class", one.qualified_class || one.class], ["tag", one.tag], ["also called", one.aliases.join(", ")],
    ["nodes", `${number(one.nodes)}, ${number(one.own_nodes)} of them its own`], ["modules inside", number(one.modules)],
    ["parameters", `${number(one.parameter_count)} (${bytes(one.parameter_bytes)})`]),
    make("h2", {}, "Inputs"), border("inputs"), make("h2", {}, "Outputs"), border("outputs"),
    ...(one.weights.length > 0 ? [make("h2", {}, "Weights"), table("weights", ["name", "type", "kind", "bytes", "module"],
      some(one.weights, 200, weight => [weight.name, weight.type, weight.kind, number(weight.bytes), weight.module]))] : []));
}

/** The answers of `explain` about the chosen node, else about the module. */
export async function showExplanation(app, m) {
  const what = app.asked ?? [app.modules[m].path || "''"];
  const answer = await app.engine.ask({do: "explain", what});
  return make("div", {class: "scroll", tabindex: "0"}, ...answer.answers.flatMap(one => [
    ...one.nodes.map(node => nodeAnswer(app, node)), ...one.modules.map(module => moduleAnswer(app, module)),
    ...(one.nodes.length + one.modules.length === 0 ? [make("pre", {}, JSON.stringify(one, null, 1))] : [])]));
}

const firstOf = count => count > 200 ? `, the first 200 of ${number(count)}` : "";

/** Nodes that match. @param {{nodes: any[], node_count: number}} answer */
const nodeTable = (app, label, answer) => table(label, [`node${firstOf(answer.node_count)}`, "operator", "module"],
  answer.nodes.map(([place, name, op, m]) =>
    [make("button", {class: "link", onclick: () => app.explain(place, name)}, ...broken(name)), op, moduleLink(app, app.modules[m].path)]));

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
      const answer = await app.engine.ask({do: "matches", query: field.value});
      if (mine === last) {
        result.replaceChildren(note(`${plural(answer.node_count, "node")}, ${plural(answer.module_count, "module")}`),
          ...(answer.modules.length > 0 ? [table("modules", [`module${firstOf(answer.module_count)}`, "class"],
            answer.modules.map(m => [moduleLink(app, app.modules[m].path), app.modules[m].cls]))] : []),
          nodeTable(app, "nodes", answer));
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
  const {dimensions, rows, total} = await app.engine.ask({do: "costs", module: m});
  return make("div", {class: "scroll", tabindex: "0"},
    note(dimensions.length > 0 ? `Symbolic dimensions: ${dimensions.join(", ")}.` : "All dimensions are fixed."),
    table("cost", ["module", "multiply-adds", "weights", "peak memory"],
      rows.map(([below, macs, size, peak]) => [moduleLink(app, app.modules[below].path), macs, bytes(size), peak])),
    ...(total > rows.length ? [note(`and ${number(total - rows.length)} more`)] : []));
}

export async function showKnown(app) {
  const {provenance, notes, producer, conflicts} = app.about;
  const disputed = conflicts === 0 ? []
    : [make("h2", {}, "Conflicts"), nodeTable(app, "conflicts", await app.engine.ask({do: "matches", query: "is:conflict"}))];
  return make("div", {class: "scroll", tabindex: "0"}, list(["producer", producer], ["file", `${app.about.model}, ${bytes(app.about.bytes)}, ${bytes(app.about.loaded)} of it read`]),
    make("h2", {}, "Nodes by evidence"),
    table("sources", ["source", "nodes"], Object.entries(provenance).map(([name, nodes]) => [name, number(nodes)])),
    ...disputed,
    ...(notes.length > 0 ? [make("h2", {}, "Notes"), make("ul", {}, ...notes.slice(0, 200).map(text => make("li", {}, text)))] : []));
}

export async function showDiff(app) {
  if (!app.other) {
    return note("Compare with\u2026 takes another model to list the changes, module by module.");
  }
  const weights = app.comparesWeights();
  const answer = await app.engine.ask({do: "diff", weights, nodes: true});
  const size = ({modules, nodes}) => `${plural(modules, "module")}, ${plural(nodes, "node")}`;
  const weight = one => `${one.second || one.first}${one.difference ? `: ${number(one.difference.different)} of ${number(one.difference.elements)} differ` : ""}`;
  return make("div", {class: "scroll", tabindex: "0"},
    make("p", {}, make("button", {id: "save-carried", onclick: () => app.download(app.saveCarried)},
      `Download ${app.other.model} with the tags of ${app.about.model}`)),
    note(`${app.about.model} (${size(answer.size_first)}) and ${app.other.model} (${size(answer.size_second)})${weights ? "" : "; too large to compare weights here"}`),
    ...answer.header.map(one => note(`${one.what}: ${one.first || "none"} \u2192 ${one.second || "none"}`)),
    answer.equal ? note("They are equal.") : table("changes", ["module", "changes", "nodes", "weights"], some(answer.modules, 300, one => [
      one.first === null || one.first === undefined ? one.second : moduleLink(app, one.first), one.changes.join(", "),
      one.nodes.only_first + one.nodes.only_second > 0 ? `${one.nodes.only_first} \u2192 ${one.nodes.only_second}` : "",
      some(one.weights, 3, weight).flat().join("; ")])));
}
