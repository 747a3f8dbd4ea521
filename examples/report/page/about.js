// SPDX-License-Identifier: Apache-2.0
// What is known of a model and of a node, as elements.

// Rounded down: "100.0 %" is all of them.
const percent = share => share > 0 && share < 0.001 ? "< 0.1 %" : `${(Math.floor(1000 * share + 1e-9) / 10).toFixed(1)} %`;
const fact = (what, text) => make("span", {}, make("b", {}, text), ` ${what}`);
const counted = (n, what) => fact(n === 1 ? what : `${what}s`, number(n));

/** @param {{nodes: number, modules: number, parameters: number, coverage: number, conflicts: number, provenance: Record<string, number>,
 *           producer: string, opsets: Record<string, number>, ir: number}} model */
function modelFacts(model) {
  const sources = Object.entries(model.provenance).sort((a, b) => b[1] - a[1]).map(([source, count]) => `${source} ${number(count)}`);
  const opsets = Object.entries(model.opsets).map(([domain, version]) => `${domain} ${version}`);
  return [
    counted(model.nodes, "node"), counted(model.modules, "module"), counted(model.parameters, "parameter"),
    fact("of the nodes attributed", percent(model.coverage)),
    make("span", {}, "evidence: ", make("b", {}, sources.join(", ") || "none")),
    counted(model.conflicts, "conflict"),
    ...(model.producer.trim() ? [make("span", {}, model.producer.trim())] : []),
    make("span", {}, "opsets ", make("b", {}, opsets.join(", ") || "none"), `, IR ${model.ir}`)];
}

/**
 * @typedef {{name: string, type: string, ends: Node[]}} Value with the nodes at its other ends
 * @param {{op: string, name: string, module: Node, tag: string, source: string, confidence: number, conflict: boolean,
 *          claims: [string, string, number][], attributes: string[], reads: Value[], makes: Value[], more: [string, ...(string | Node)[]][]}} node
 */
function nodePanel(node) {
  const part = (title, ...content) => content.length > 0 ? [make("h3", {}, title), ...content] : [];
  const line = ({name, type, ends}) => make("div", {}, make("div", {}, name), make("div", {class: "type"}, type), ...ends);
  return [
    make("h2", {}, node.op), make("div", {}, node.name),
    ...part("Module", node.module, make("div", {class: "tag"}, node.tag)),
    ...part("Evidence", `${node.source}, confidence ${node.confidence.toFixed(2)}`),
    ...(node.conflict ? [make("h3", {class: "bad"}, "Conflict"), ...node.claims.map(([source, path, confidence]) =>
      make("div", {}, `${source} says ${path || "the root"} (${confidence.toFixed(2)})`))] : []),
    ...node.more.flatMap(([title, ...content]) => part(title, ...content)),
    ...part("Attributes", ...node.attributes.map(text => make("div", {class: "type"}, text))),
    ...part("Inputs", ...node.reads.map(line)),
    ...part("Outputs", ...node.makes.map(line))];
}

/**
 * Fills a list of tabs; arrows lead from one to the next.
 * @param {HTMLElement} element @param {[string, string][]} tabs id and title @param {string} chosen @param {(id: string) => void} choose
 */
function showTabs(element, tabs, chosen, choose) {
  const step = (event, i) => {
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (by) {
      choose(tabs[(i + by + tabs.length) % tabs.length][0]);
    }
  };
  const hadFocus = element.contains(document.activeElement);
  element.replaceChildren(...tabs.map(([id, title], i) => make("button", {
    role: "tab", id: `tab-${id}`, "aria-selected": String(id === chosen), "aria-controls": "panel", tabindex: id === chosen ? "0" : "-1",
    onclick: () => choose(id), onkeydown: event => step(event, i)}, title)));
  if (hadFocus) {
    at(`tab-${chosen}`).focus();
  }
}
