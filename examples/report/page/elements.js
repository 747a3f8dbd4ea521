// SPDX-License-Identifier: Apache-2.0
// Elements and texts. This script and those up to about.js are shared by the report and the page of examples/web.
const number = n => n.toLocaleString("en-US");
const plural = (n, what) => `${number(n)} ${what}${n === 1 ? "" : "s"}`;

/** @returns {any} the element with an id */
const at = id => document.getElementById(id);

/** An element with properties and children; text is never parsed as markup. @returns {any} */
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) {
      element.addEventListener(key.slice(2), value);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(key, value);
    }
  }
  element.append(...children.filter(child => child !== undefined && child !== null));
  return element;
}
function draw(name, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) {
    element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

const ruler = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
const widthOf = (text, size) => {
  ruler.font = `${size}px system-ui, "Helvetica Neue", Arial, sans-serif`;
  return ruler.measureText(text).width;
};
const clip = (text, most) => text.length > most ? text.slice(0, most - 1) + "\u2026" : text;
const clipMiddle = (text, most) => {
  const begin = Math.floor(most / 3);
  return text.length > most ? `${text.slice(0, begin)}\u2026${text.slice(text.length - (most - begin - 1))}` : text;
};

// A text cut in the middle if too wide: names differ at their ends.
function middle(text, longest = 28) {
  const tail = Math.min(Math.floor(text.length / 2), longest);
  return make("span", {class: "middle", title: text}, make("span", {}, text.slice(0, text.length - tail)),
              make("span", {}, text.slice(text.length - tail)));
}
