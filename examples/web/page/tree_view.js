// SPDX-License-Identifier: Apache-2.0
// The modules as a tree of rows.
import {VirtualList} from "./parts.js";

/** @typedef {{path: string, name: string, class: string, parent: number, depth: number, children: number[], nodes: number, end: number}} Module */

export class TreeView {
  /** @param {HTMLElement} element @param {(module: number) => void} choose */
  constructor(element, choose) {
    /** @type {Module[]} */
    this.modules = [];
    this.open = new Set();
    this.rows = [];
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
    for (let m = 0; modules[m].children.length === 1; m = modules[m].children[0]) { // ways without a choice
      this.open.add(modules[m].children[0]);
    }
    this.#list();
  }

  /** Opens what is above a module, and marks it. */
  reveal(m) {
    for (let above = this.modules[m].parent; above >= 0; above = this.modules[above].parent) {
      this.open.add(above);
    }
    this.#list();
    this.list.mark(this.rows.indexOf(m));
  }

  #list() {
    this.rows = [];
    for (let m = 0; m < this.modules.length; m = this.open.has(m) ? m + 1 : this.modules[m].end) {
      this.rows.push(m);
    }
    this.list.show(this.rows.length);
  }

  #toggle(m, open = !this.open.has(m)) {
    open ? this.open.add(m) : this.open.delete(m);
    const chosen = this.rows[this.list.chosen];
    this.#list();
    this.list.mark(this.rows.indexOf(chosen));
  }

  #press(event, m) {
    if (m === undefined) {
      return false;
    }
    const {children, parent} = this.modules[m];
    if (event.key === "ArrowRight" && children.length > 0) {
      this.open.has(m) ? this.list.choose(this.rows.indexOf(children[0])) : this.#toggle(m, true);
    } else if (event.key === "ArrowLeft" && this.open.has(m) && children.length > 0) {
      this.#toggle(m, false);
    } else if (event.key === "ArrowLeft" && parent >= 0) {
      this.list.choose(this.rows.indexOf(parent));
    } else {
      return false;
    }
    return true;
  }

  #row(m) {
    const module = this.modules[m];
    const inner = module.children.length > 0;
    const open = this.open.has(m);
    const row = make("div", {class: "row", role: "treeitem", "aria-level": module.depth + 1, title: module.path,
                             style: `padding-left: ${6 + 14 * Math.min(module.depth, 20)}px`},
      make("span", {class: "twist", "aria-hidden": "true", onclick: event => {
        event.preventDefault();
        this.#toggle(m);
      }}, inner ? open ? "\u25be" : "\u25b8" : ""),
      make("span", {class: "name"}, module.name), make("span", {class: "class"}, module.class === module.name ? "" : module.class),
      make("span", {class: "count"}, number(module.nodes)));
    if (inner) {
      row.setAttribute("aria-expanded", String(open));
    }
    return row;
  }
}
