// SPDX-License-Identifier: Apache-2.0
// The search field and its results, which take the place of the tree.

const foundRow = (properties, action, ...cells) => make("div", {class: "row", tabindex: "0", role: "link", onclick: action,
  onkeydown: event => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      action();
    }
  }, ...properties}, ...cells);

const foundModule = (module, action) => foundRow({"data-module": module.m}, action,
  make("span", {class: "label"}, make("b", {}, middle(titleOf(module))), " ", chip(module)), make("span", {class: "count"}, number(module.count)));

const foundNode = (name, op, properties, action) => foundRow(properties, action,
  make("span", {class: "label"}, middle(name), " ", make("span", {class: "note"}, op)));

/** Rows of modules and nodes, the first of as many. */
function showFound(moduleCount, nodeCount, ...lists) {
  at("found").replaceChildren(
    make("p", {class: "note", role: "status"}, `${plural(moduleCount, "module")}, ${plural(nodeCount, "node")}`), ...lists);
}

// Arrows lead from the field to the first result and from one to the next; Escape ends the search.
function walkFound(event) {
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  const all = [...at("found").querySelectorAll(".row")];
  const now = all.indexOf(document.activeElement);
  if (step && all.length > 0 && (now >= 0 || step > 0)) {
    (now + step < 0 ? at("search") : all[Math.min(now + step, all.length - 1)]).focus();
    event.preventDefault();
  } else if (event.key === "Enter" && document.activeElement === at("search")) {
    all[0]?.click();
  } else if (event.key === "Escape") {
    at("search").value = "";
    at("search").dispatchEvent(new Event("input"));
    at("search").focus();
  }
}

/** Calls `search(text)` as the reader types; shows the tree if there is no text. */
function watchSearch(search) {
  at("search").addEventListener("input", () => {
    const text = at("search").value.trim();
    at("tree").hidden = text !== "";
    at("found").hidden = text === "";
    if (text !== "") {
      search(text);
    }
  });
  at("search").addEventListener("keydown", walkFound);
  at("found").addEventListener("keydown", walkFound);
}
