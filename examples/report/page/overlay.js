// SPDX-License-Identifier: Apache-2.0
// Overlays: numbers that colour boxes and rows; tables and flame graphs of them.
const runs = data.overlays.map(({title, unmatched, columns, modules: ofModules, nodes: ofNodes}, r) => {
  const earlier = data.overlays.slice(0, r).some(other => other.title === title);
  const cells = {modules: new Map(ofModules.map(([m, ...all]) => [m, all])), nodes: new Map(ofNodes.map(([n, ...all]) => [n, all]))};
  const isUsed = c => [...cells.modules.values(), ...cells.nodes.values()].some(all => all[c] !== null);
  return {title: earlier ? `${title} (${r + 1})` : title, unmatched, cells,
          columns: columns.map(([name, unit, better, additive], c) => ({run: r, c, name, unit, better, additive})).filter(({c}) => isUsed(c))};
});
const measures = runs.flatMap(run => run.columns);
const titleOfMeasure = ({name, unit}) => unit ? `${name} (${unit})` : name;
const groupsOfMeasures = [...new Set(measures.map(titleOfMeasure))].map(title => measures.filter(measure => titleOfMeasure(measure) === title));
const sideBySide = groupsOfMeasures.flat(); // grouped by column, not by run
const cellOf = (measure, list, key) => runs[measure.run].cells[list].get(key)?.[measure.c] ?? null;
const isNumber = cell => typeof cell === "number";
const lowerIsBetter = 1, higherIsBetter = 2;
let painted = null; // the chosen column

function cellText(cell) {
  if (!isNumber(cell)) {
    return cell ?? "";
  }
  const size = Math.abs(cell);
  return size !== 0 && (size < 1e-3 || size >= 1e12) ? cell.toExponential(2)
    : cell.toLocaleString("en-US", Number.isInteger(cell) ? {} : {maximumSignificantDigits: size >= 1e4 ? 6 : 4});
}

// The range of a column over all runs, so that colours can be compared. `wide`: it needs a logarithmic scale.
const ranges = new Map();
function rangeOf(measure) {
  const key = titleOfMeasure(measure);
  if (!ranges.has(key)) {
    let low = Infinity, high = -Infinity, least = Infinity;
    for (const other of measures.filter(each => titleOfMeasure(each) === key)) {
      for (const all of Object.values(runs[other.run].cells)) {
        for (const row of all.values()) {
          const cell = row[other.c];
          if (isNumber(cell)) {
            low = Math.min(low, cell);
            high = Math.max(high, cell);
            least = cell > 0 ? Math.min(least, cell) : least;
          }
        }
      }
    }
    const wide = low >= 0 && high / least > 1000;
    if (!wide && measure.better !== higherIsBetter) {
      low = Math.min(low, 0);
    }
    ranges.set(key, {low, high, wide, least});
  }
  return ranges.get(key);
}

// The heat of a number, from 0 to 1, which is the worst.
function heatOf(measure, cell) {
  const {low, high, wide, least} = rangeOf(measure);
  const scale = wide ? x => Math.log(Math.max(x, least)) - Math.log(least) : x => x - low;
  const most = scale(high);
  const part = most > 0 ? Math.min(1, Math.max(0, scale(cell) / most)) : 0;
  return measure.better === higherIsBetter ? (most > 0 ? 1 - part : 0) : part;
}

// The heat of a module or node. Additive columns are compared with the enclosing module.
function heatAt(measure, list, key) {
  const cell = cellOf(measure, list, key);
  if (!measure.additive) {
    return heatOf(measure, cell);
  }
  let around = list === "nodes" ? nodes[key].module : Math.max(0, modules[key].parent);
  while (around > 0 && !isNumber(cellOf(measure, "modules", around))) {
    around = modules[around].parent;
  }
  const whole = cellOf(measure, "modules", around);
  return isNumber(whole) && whole > 0 ? Math.min(1, Math.max(0, cell / whole)) : 0;
}

function heat(element, measure, part) {
  element.classList.add("heated");
  element.style.setProperty("--t", part.toFixed(3));
  element.style.setProperty("--heat", measure.better === 0 ? 215 : 16);
  return element;
}

// The value of a box in the chosen column, or null.
const paintedCell = box => !painted ? null : box.kind === "module" ? cellOf(painted, "modules", box.m)
  : box.kind === "node" ? cellOf(painted, "nodes", box.n) : null;

// Colours a box by the chosen column.
function shade(group, box) {
  if (!painted || (box.kind !== "module" && box.kind !== "node")) {
    return;
  }
  const cell = paintedCell(box);
  if (isNumber(cell)) {
    heat(group, painted, box.kind === "module" ? heatAt(painted, "modules", box.m) : heatAt(painted, "nodes", box.n));
  } else {
    group.classList.add("unknown");
  }
  if (cell !== null) {
    group.querySelector("title").textContent += `\n${titleOfMeasure(painted)}: ${cellText(cell)}`;
  }
}

// The end of a module's row in the tree: its number in the chosen column, else its nodes.
function tailOf({m, count, parameters}) {
  if (others.length > 0) {
    return [...stateChips(m), make("span", {class: "count", title: plural(parameters, "parameter")}, number(count))];
  }
  if (!painted) {
    return shareOf(count / Math.max(1, nodes.length), number(count), plural(parameters, "parameter")).all;
  }
  const cell = cellOf(painted, "modules", m);
  const hot = isNumber(cell) ? heatAt(painted, "modules", m) : 0;
  const {bar, all} = shareOf(isNumber(cell) ? Math.max(0.04, hot) : 0, cellText(cell), cell === null ? "not in the overlay" : titleOfMeasure(painted));
  if (isNumber(cell)) {
    heat(bar, painted, hot);
  }
  return all;
}

function showLegend() {
  const panel = at("paint");
  panel.hidden = measures.length === 0;
  if (measures.length === 0) {
    return;
  }
  const choice = make("select", {id: "measure", onchange: event => paint(measures[event.target.value] ?? null)},
    make("option", {value: ""}, "class"),
    ...runs.map(run => make("optgroup", {label: run.title}, ...run.columns.map(measure =>
      make("option", {value: measures.indexOf(measure), ...(measure === painted ? {selected: "selected"} : {})}, titleOfMeasure(measure))))));
  panel.replaceChildren(make("label", {}, "Colour by ", choice));
  const {low, high, wide, least} = painted ? rangeOf(painted) : {low: 0, high: -Infinity, wide: false, least: 0};
  if (Number.isFinite(high)) {
    const share = painted.additive;
    const from = wide ? least : low, steps = 12;
    const at = step => wide ? from * (high / from) ** (step / steps) : from + (high - from) * step / steps;
    const better = {[lowerIsBetter]: "lower is better", [higherIsBetter]: "higher is better"}[painted.better];
    panel.append(make("div", {class: "legend"}, make("span", {}, share ? "0 %" : cellText(from)),
      make("span", {class: "scale", "aria-hidden": "true"}, ...Array.from({length: steps + 1}, (_, step) =>
        heat(make("i"), painted, share ? step / steps : heatOf(painted, at(step))))),
      make("span", {}, share ? "100 %" : cellText(high))),
      make("div", {class: "note"}, [share ? "of the module around" : painted.unit, better, wide && !share ? "by magnitude" : ""].filter(Boolean).join(", ")));
  } else if (painted) {
    panel.append(make("div", {class: "note"}, "texts, which have no colour"));
  }
  const notes = runs.filter(run => run.unmatched > 0).map(run => `${run.title}: ${plural(run.unmatched, "row")} not in the model`);
  panel.append(...notes.map(text => make("div", {class: "note"}, text)));
}

function paint(measure) {
  painted = measure;
  showLegend();
  tree.redraw();
  refresh();
}

// A sortable table of numbers.
function sortable(first, lines) {
  let by = -1, down = true;
  const body = make("tbody");
  const more = make("button", {class: "more"});
  let order = lines, shown = 0;
  const heads = sideBySide.map((measure, i) => make("th", {class: "number", scope: "col", "aria-sort": "none"},
    make("button", {onclick: () => sort(i), title: titleOfMeasure(measure)}, runs.length > 1 ? runs[measure.run].title : titleOfMeasure(measure))));
  const showMore = () => {
    const next = order.slice(shown, shown + pageSize);
    shown += next.length;
    body.append(...next.map(({title, cells, list, key}) => make("tr", {}, make("td", {}, title()), ...cells.map((cell, i) => {
      const line = make("td", {class: isNumber(cell) ? "number" : ""}, cellText(cell));
      return isNumber(cell) && sideBySide[i] === painted ? heat(line, painted, heatAt(painted, list, key)) : line;
    }))));
    more.textContent = `Show more: ${number(order.length - shown)} left`;
    more.hidden = shown >= order.length;
  };
  const sort = i => {
    down = by === i ? !down : true;
    by = i;
    heads.forEach((head, each) => head.setAttribute("aria-sort", each !== i ? "none" : down ? "descending" : "ascending"));
    const sign = down ? -1 : 1;
    order = [...lines].sort(({cells: a}, {cells: b}) => a[i] === null || b[i] === null ? Number(a[i] === null) - Number(b[i] === null)
      : isNumber(a[i]) && isNumber(b[i]) ? sign * (a[i] - b[i]) : sign * String(a[i]).localeCompare(String(b[i]), "en"));
    body.replaceChildren();
    shown = 0;
    showMore();
  };
  more.addEventListener("click", showMore);
  showMore();
  const groups = runs.length < 2 ? [] : [make("tr", {}, make("th"), ...groupsOfMeasures.map(group =>
    make("th", {class: "run", scope: "colgroup", colspan: group.length}, titleOfMeasure(group[0]))))];
  return make("div", {class: "wide"}, make("table", {class: "numbers"}, make("thead", {}, ...groups,
    make("tr", {}, make("th", {scope: "col"}, first), ...heads)), body), more);
}

function showNumbers(module) {
  const line = (list, key, title) => ({list, key, title, cells: sideBySide.map(measure => cellOf(measure, list, key))});
  const isTold = (list, key) => runs.some(run => run.cells[list].has(key));
  const below = [], inside = [];
  for (let m = module.m; m < module.end; ++m) {
    if (isTold("modules", m)) {
      below.push(line("modules", m, () => moduleLink(m)));
    }
    for (const n of modules[m].own) {
      if (isTold("nodes", n)) {
        inside.push(n);
      }
    }
  }
  inside.sort((a, b) => a - b);
  return make("div", {},
    below.length > 0 ? sortable("module", below) : make("p", {class: "note"}, "No overlay has numbers for this module or its descendants."),
    inside.length > 0 ? make("h3", {}, `Nodes (${number(inside.length)})`) : "",
    inside.length > 0 ? sortable("node", inside.map(n => line("nodes", n, () => nodeLink(n)))) : "");
}

const noFlames = total => total === null ? "Nothing is known about this module." : isNumber(total) ? "There is nothing to divide."
  : "Formulas have no widths: fix the dimensions where the overlay is made (--dim NAME=N).";

// A flame graph per run with the column: modules are as wide as their share of the chosen one.
let burning = null;
function showFlames(module) {
  const additive = measures.filter(measure => measure.additive);
  const title = titleOfMeasure(additive.find(measure => titleOfMeasure(measure) === burning) ?? (painted?.additive ? painted : additive[0]));
  const panel = make("div", {});
  const titles = [...new Set(additive.map(titleOfMeasure))];
  const choice = make("select", {"aria-label": "column", onchange: event => {
    burning = event.target.value;
    panel.replaceWith(showFlames(module));
  }}, ...titles.map(text => make("option", {value: text, ...(text === title ? {selected: "selected"} : {})}, text)));
  panel.append(make("div", {class: "tools"}, choice, make("span", {}, "Click to go to a module.")));
  for (const measure of additive.filter(each => titleOfMeasure(each) === title)) {
    const total = cellOf(measure, "modules", module.m);
    panel.append(make("h3", {}, runs[measure.run].title, make("span", {class: "note"}, ` ${cellText(total)} ${measure.unit}`)));
    panel.append(isNumber(total) && total > 0 ? drawFlames(module, measure, total) : make("p", {class: "note"}, noFlames(total)));
  }
  return panel;
}

function drawFlames(module, measure, total) {
  const width = 1000, height = 20, least = 0.8;
  const bars = [];
  const open = [{m: module.m, x: 0, wide: width, depth: 0}];
  while (open.length > 0) { // too narrow ones are dropped
    const bar = open.pop();
    bars.push(bar);
    const cells = childrenOf(modules, bar.m).map(m => ({m, cell: cellOf(measure, "modules", m)})).filter(({cell}) => isNumber(cell) && cell > 0);
    const own = cellOf(measure, "modules", bar.m);
    const scale = bar.wide / Math.max(own, cells.reduce((sum, {cell}) => sum + cell, 0));
    let x = bar.x;
    for (const {m, cell} of cells) {
      if (cell * scale >= least) {
        open.push({m, x, wide: cell * scale, depth: bar.depth + 1});
      }
      x += cell * scale;
    }
  }
  const rows = bars.reduce((most, {depth}) => Math.max(most, depth), 0) + 1;
  const svg = draw("svg", {class: "flames", viewBox: `0 0 ${width} ${rows * height}`, width: "100%", role: "group", "aria-label": `flame graph of ${titleOfMeasure(measure)}`});
  for (const {m, x, wide, depth} of bars) {
    const name = m === 0 ? titleOf(modules[0]) : modules[m].name;
    const cell = cellOf(measure, "modules", m);
    const letters = Math.floor((wide - 6) / 7.4);
    const bar = draw("g", {class: "box module flame", tabindex: "0", role: "button", "aria-label": `${name}: ${cellText(cell)} ${measure.unit}`},
      draw("title", {}, `${titleOf(modules[m])}\n${cellText(cell)} ${measure.unit}, ${percent(cell / total)}`),
      draw("rect", {x, y: depth * height, width: wide, height: height - 1, rx: 2}));
    if (letters >= 2) {
      bar.append(draw("text", {x: x + 4, y: depth * height + height / 2}, clip(name, letters)));
    }
    setHue(bar, modules[m]);
    bar.dataset.module = m;
    whenPressed(bar, () => go(`m=${m}`));
    svg.append(bar);
  }
  return svg;
}

// All overlay numbers of a node.
const numbersOf = n => measures.filter(measure => cellOf(measure, "nodes", n) !== null).map(measure =>
  make("div", {}, `${titleOfMeasure(measure)}: `, make("b", {}, cellText(cellOf(measure, "nodes", n))),
       runs.length > 1 ? make("span", {class: "note"}, ` ${runs[measure.run].title}`) : ""));
