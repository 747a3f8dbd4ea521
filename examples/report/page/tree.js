// SPDX-License-Identifier: Apache-2.0
// The module tree.

/**
 * @typedef {{m: number, name: string, cls: string, parent: number, end: number, depth: number, path: string,
 *            count: number, parameters: number, look: number}} Module
 * A module in preorder: its descendants are `m + 1` to `end - 1`. `count`: nodes, including theirs. `look`: number of
 * its colour, -1 without one.
 */

/** Sets `path`, `depth` and `end` of modules in preorder. @param {Module[]} modules */
function completeModules(modules) {
  for (const module of modules.slice(1)) {
    const above = modules[module.parent];
    module.path = above.parent < 0 ? module.name : `${above.path}.${module.name}`;
    module.depth = above.depth + 1;
  }
  for (let m = modules.length; m-- > 1;) {
    const above = modules[modules[m].parent];
    above.end = Math.max(above.end, modules[m].end);
  }
}

/** @param {Module[]} modules @param {number} m */
function childrenOf(modules, m) {
  const children = [];
  for (let child = m + 1; child < modules[m].end; child = modules[child].end) {
    children.push(child);
  }
  return children;
}

/** Modules of one class, or without a class of equal contents, have one colour. */
function setHue(element, {look}) {
  element.style.setProperty("--h", String(Math.round(look * 137.5 + 210) % 360));
  if (look < 0) {
    element.style.setProperty("--s", "0%");
  }
  return element;
}

const titleOf = module => module.path || module.cls || module.name || "model";
const chip = module => module.cls ? setHue(make("span", {class: "class"}, module.cls), module) : undefined;

/** The modules as rows. `tail(module)`: elements at the end of a row. */
class ModuleTree {
  /** @param {HTMLElement} element @param {(m: number) => void} choose @param {(module: any) => Node[]} tail */
  constructor(element, choose, tail) {
    this.modules = /** @type {Module[]} */ ([]);
    this.open = new Set();
    this.rows = /** @type {number[]} */ ([]);
    this.tail = tail;
    this.list = new VirtualList(element, {
      row: i => this.#row(this.rows[i]),
      key: (event, i) => this.#press(event, this.rows[i]),
      choose: i => choose(this.rows[i]),
    });
  }

  /** @param {Module[]} modules */
  show(modules) {
    this.modules = modules;
    this.open = new Set([0]);
    for (let m = 0; modules[m].end > m + 1 && modules[m + 1].end === modules[m].end;) { // only children
      this.open.add(++m);
    }
    this.#list();
  }

  /** Selects a module, opening those above. */
  reveal(m) {
    for (let above = this.modules[m].parent; above >= 0; above = this.modules[above].parent) {
      this.open.add(above);
    }
    this.#list();
    this.list.mark(this.rows.indexOf(m));
  }

  redraw() {
    this.list.draw();
  }

  #list() {
    this.rows = [];
    for (let m = 0; m < this.modules.length; m = this.open.has(m) ? m + 1 : this.modules[m].end) {
      this.rows.push(m);
    }
    this.list.show(this.rows.length);
  }

  #toggle(m) {
    this.open.has(m) ? this.open.delete(m) : this.open.add(m);
    const chosen = this.rows[this.list.chosen];
    this.#list();
    this.list.mark(this.rows.indexOf(chosen));
  }

  #press(event, m) {
    if (m === undefined) {
      return false;
    }
    const {parent, end} = this.modules[m];
    const inner = end > m + 1;
    if (event.key === "ArrowRight" && inner) {
      this.open.has(m) ? this.list.choose(this.rows.indexOf(m + 1)) : this.#toggle(m);
    } else if (event.key === "ArrowLeft" && inner && this.open.has(m)) {
      this.#toggle(m);
    } else if (event.key === "ArrowLeft" && parent >= 0) {
      this.list.choose(this.rows.indexOf(parent));
    } else {
      return false;
    }
    return true;
  }

  #row(m) {
    const module = this.modules[m];
    const inner = module.end > m + 1, open = this.open.has(m);
    const name = module.parent < 0 ? module.cls ? "" : titleOf(module) : module.name;
    const toggle = make("span", {class: "toggle", "aria-hidden": "true", onclick: event => {
      event.preventDefault(); // the row is not chosen
      this.#toggle(m);
    }}, inner ? open ? "\u25bc" : "\u25b6" : "");
    return make("div", {class: module.count === 0 ? "row empty" : "row", role: "treeitem", "aria-level": module.depth + 1,
                        "aria-expanded": inner ? String(open) : undefined, "data-module": m, title: module.path,
                        style: `padding-left: ${6 + 14 * Math.min(module.depth, 20)}px`},
      toggle, make("span", {class: "label"}, make("b", {}, name), name && module.cls ? " " : "", chip(module)), ...this.tail(module));
  }
}

/** Elements at the end of a row: a bar for a share, and a text. */
function shareOf(share, text, title) {
  const bar = make("i", {style: `width: ${100 * share}%`});
  return {bar, all: [make("span", {class: "share"}, bar), make("span", {class: "count", title}, text)]};
}
