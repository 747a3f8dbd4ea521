#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Opens reports of `stemma export --to html` in a browser, clicks through them, and holds what they
// show against what `stemma tag --sidecar` says of the same model.
//
// usage: report_test.mjs PROGRAM FIXTURES [PART OF A NAME]
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {Page, needBrowser, runTests} from "./browser.mjs";
import {chainModel} from "./chain_model.mjs";

needBrowser();
const [program, fixtures] = process.argv.slice(2, 4).map(path => resolve(path));
const folder = mkdtempSync(join(tmpdir(), "stemma-report-"));
process.on("exit", () => rmSync(folder, {recursive: true, force: true}));

const captureOf = model => {
  const path = join(model, "..", "modules.json");
  return existsSync(path) ? ["-m", path] : [];
};
function report(model, more = captureOf(model)) {
  const page = join(folder, "report.html");
  execFileSync(program, ["export", model, ...more, "--to", "html", "-o", page, "--no-sync"]);
  return `file://${page}`;
}
function sidecar(model, more = captureOf(model)) {
  const path = join(folder, "sidecar.json");
  execFileSync(program, ["tag", model, ...more, "--sidecar", path, "--no-sync", "-q"]);
  return JSON.parse(readFileSync(path, "utf8"));
}
const fixture = (name, stem = "model") => join(fixtures, name, `${stem}.onnx`);
const isBelow = (path, module) => module === "" || path === module || path.startsWith(`${module}.`);
const sorted = list => [...list].sort();

/** What the page shows as the number before a word in the facts of a module. */
async function fact(page, word) {
  const texts = await page.texts(".facts span");
  const label = texts.find(text => text.endsWith(` ${word}`));
  return label && Number(label.split(" ")[0].replaceAll(",", ""));
}
const goTo = async (page, place) => {
  await page.evaluate(`new Promise(done => {
    if (location.hash === ${JSON.stringify("#" + place)}) { done(); }
    addEventListener("hashchange", () => setTimeout(done, 0), {once: true});
    location.hash = ${JSON.stringify(place)};
  })`);
};
const rows = page => page.texts("#panel tbody tr td:first-child");
const rest = page => page.evaluate(`document.querySelectorAll("#panel .more:not([hidden])").length`);

/** How often edges of what is shown, as it is opened, pass through a box. */
const crossings = (page, m) => page.evaluate(`(() => {
  const {boxes, edges} = buildGraph(moduleScope(${m}));
  let count = 0;
  for (const edge of edges) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", curve(edge.points));
    const length = path.getTotalLength();
    for (let i = 1; i < 40; ++i) {
      const {x, y} = path.getPointAtLength(length * i / 40);
      count += boxes.some(box => Math.abs(x - box.x) < box.width / 2 - 1 && Math.abs(y - box.y) < box.height / 2 - 1) ? 1 : 0;
    }
  }
  return count;
})()`);

/** A model of many nodes: `blocks` blocks of four layers of `width` nodes each, in a chain. */
function chain(blocks, width) {
  const layer = (_, l) => Array.from({length: width}, (_, i) => `/blocks.${Math.floor(l / 4)}/layer${l % 4}/Relu_${i}`);
  const path = join(folder, "chain.onnx");
  writeFileSync(path, chainModel(Array.from({length: 4 * blocks}, layer).flat()));
  return path;
}

const tests = {
  async "a report shows every module with its nodes, graph and border"() {
    for (const name of ["bert_micro", "shared_twice", "two_tower"]) {
      const model = fixture(name);
      const expected = sidecar(model);
      const page = await Page.open(report(model));
      const nodes = new Map(expected.nodes.map(node => [`${node.graph}#${node.index}`, node]));
      const nodeAt = place => place && nodes.get(`${place.graph}#${place.index}`);
      const head = await page.text("#head");
      assert.ok(head.includes(`${expected.nodes.length} nodes`), head);
      for (const [m, module] of expected.modules.entries()) {
        await goTo(page, `m=${m}`);
        const where = `${name}: '${module.path}'`;
        assert.equal(await fact(page, module.nodes === 1 ? "node" : "nodes"), module.nodes, where);
        assert.equal(await page.text("#content .tag"), module.tag ?? "no tag of its own", where);
        const own = expected.nodes.filter(node => node.scope_module === module.path && node.op_type !== "Constant");
        const computing = new Set(expected.nodes.filter(node => node.op_type !== "Constant").map(node => node.scope_module));
        const below = expected.modules.filter(other => other.parent === module.path && other.path !== "" &&
          [...computing].some(path => isBelow(path, other.path)));
        const edges = (await page.texts("svg path.edge")).length;
        assert.equal((await page.texts("svg .module")).length, below.length, where);
        const joined = new Map(await page.evaluate(`[...makeBoxes(moduleScope(${m})).boxes.entries()]
          .flatMap(([box, {members}]) => (members ?? []).map(n => [n, box]))`)); // what only works out shapes
        for (let quiet = joined.size; quiet > 0;) {
          quiet = await page.evaluate(`(() => {
            const closed = document.querySelectorAll("svg .quiet:not(.open) > .toggle");
            closed[0]?.dispatchEvent(new MouseEvent("click"));
            return closed.length;
          })()`);
        }
        assert.deepEqual(sorted(await page.texts("svg .node text:not(.sub)")), sorted(own.map(node => node.op_type)), where);
        await page.evaluate("opened.clear()");

        const inside = place => isBelow(nodeAt(place).scope_module, module.path);
        const boxOf = place => {
          const node = nodeAt(place);
          const shapes = joined.get(expected.nodes.indexOf(node));
          return shapes !== undefined ? `shapes ${shapes}` : node.scope_module === module.path ? `#${node.index}`
            : below.find(other => isBelow(node.scope_module, other.path)).path;
        };
        const flows = new Set();
        for (const value of expected.values.filter(each => each.kind !== "initializer")) {
          const from = value.producer;
          if (from && nodeAt(from).op_type === "Constant") {
            continue;
          }
          for (const to of value.consumers) {
            if (inside(to)) {
              flows.add(`${from && inside(from) ? boxOf(from) : `in ${value.name}`}>${boxOf(to)}`);
            } else if (from && inside(from)) {
              flows.add(`${boxOf(from)}>out ${value.name}`);
            }
          }
        }
        const wanted = [...flows].filter(flow => flow.split(">")[0] !== flow.split(">")[1]).length;
        assert.ok(edges >= wanted && edges <= wanted + 4, `${where}: ${edges} edges, not ${wanted}`); // outputs of the model

        await page.click("[role=tab]", "Boundary");
        const goesIn = expected.values.filter(value => value.kind !== "initializer" && value.consumers.some(inside) &&
          !(value.producer && (inside(value.producer) || nodeAt(value.producer).op_type === "Constant")));
        const weights = expected.values.filter(value => value.kind === "initializer" && value.consumers.some(inside));
        const shown = await page.evaluate(`[...document.querySelectorAll("#panel h3")].map(h => h.textContent)`);
        assert.equal(shown[0], `Inputs (${goesIn.length})`, where);
        assert.equal(shown[2], `Weights (${weights.length})`, where);
        const comesOut = expected.values.filter(value => value.producer && inside(value.producer) &&
          nodeAt(value.producer).op_type !== "Constant" && value.consumers.some(place => !inside(place)));
        const ends = Number(shown[1].match(/\d+/)[0]) - comesOut.length; // outputs of the model
        assert.ok(ends >= 0 && ends <= 4, `${where}: ${shown[1]}`);
        await page.click("[role=tab]", "Graph");
      }
      assert.deepEqual(page.problems, []);
      await page.close();
    }
  },

  async "the tree opens and closes, and leads to modules and nodes"() {
    const page = await Page.open(report(fixture("bert_micro")));
    const visible = () => page.evaluate(`[...document.querySelectorAll("#tree .row")]
      .filter(row => row.getClientRects().length > 0).map(row => row.querySelector(".label").textContent)`);
    assert.deepEqual(await visible(), ["BertModel", "embeddings BertEmbeddings", "encoder BertEncoder", "pooler BertPooler"]);
    await page.click(`.row[data-module="0"] .toggle`);
    assert.deepEqual(await visible(), ["BertModel"]);
    await page.click(`.row[data-module="0"] .toggle`);
    await page.click("#tree .row", "pooler");
    assert.equal(await page.text("#content h2"), "pooler BertPooler");
    await page.click("svg .module", "dense");
    assert.equal(await page.text("#content h2"), "dense Linear");
    assert.equal(await page.text("#tree [aria-selected=true] .label"), "dense Linear");
    assert.ok((await visible()).includes("activation Tanh"));
    await page.click("svg .node", "Gemm");
    const detail = await page.text("#detail");
    for (const text of ["/pooler/dense/Gemm", "/BertModel/BertPooler", "scope, confidence", "pooler.dense.weight", "float32[32,32]"]) {
      assert.ok(detail.includes(text), `${text} in ${detail}`);
    }
    await page.click("#detail button", "Tanh");
    assert.equal(await page.text("#content h2"), "activation Tanh");
    await page.click("#detail .close");
    assert.equal(await page.evaluate(`document.getElementById("detail").hidden`), true);
    await page.click(".way button", "BertModel");
    assert.equal(await page.text("#content h2"), "BertModel ");
    assert.deepEqual(page.problems, []);
    await page.close();
  },

  async "tables show nodes, parameters and conflicts"() {
    const model = fixture("bert_mlm");
    const expected = sidecar(model);
    const page = await Page.open(report(model));
    await page.click("[role=tab]", "Nodes");
    while (await rest(page) > 0) {
      await page.click("#panel .more");
    }
    assert.equal((await rows(page)).length, expected.nodes.length);
    assert.deepEqual((await rows(page)).slice(0, 5), expected.nodes.slice(0, 5).map(node => node.name));
    await page.type("#panel input", "softmax");
    const wanted = expected.nodes.filter(node => /softmax/i.test(`${node.name} ${node.op_type}`));
    assert.deepEqual(await rows(page), wanted.map(node => node.name));
    await page.click("[role=tab]", "Parameters");
    assert.equal((await rows(page)).length, expected.modules.flatMap(module => [...module.parameters, ...module.buffers]).length);
    await page.click("[role=tab]", "Conflicts");
    const conflicts = expected.nodes.filter(node => node.conflict);
    assert.equal((await rows(page)).length, conflicts.length);
    assert.deepEqual(page.problems, []);
    await page.close();
  },

  async "boxes do not overlap, and edges lead down from box to box"() {
    for (const [name, stem] of [["bert_micro", "model"], ["bert_micro", "anonymous"], ["shared_twice", "model"],
                                ["densenet121", "model.structure"], ["control_flow", "model"]]) {
      const model = fixture(name, stem);
      const page = await Page.open(report(model, stem === "anonymous" ? [] : captureOf(model)));
      const count = await page.evaluate("modules.length");
      for (let m = 0; m < count; m += Math.ceil(count / 25)) {
        await goTo(page, `m=${m}`);
        const drawn = await page.evaluate(`(() => {
          const numbers = (e, names) => names.map(name => Number(e.getAttribute(name)));
          return {boxes: [...document.querySelectorAll("svg .box rect")].map(e => numbers(e, ["x", "y", "width", "height"])),
                  edges: [...document.querySelectorAll("svg path.edge:not(.back)")].map(e => {
                    const [a, b] = [0, e.getTotalLength()].map(at => e.getPointAtLength(at));
                    return [a.x, a.y, b.x, b.y, e.getAttribute("d").includes("Q")];
                  })};
        })()`);
        const where = `${name}/${stem}, module ${m}`;
        const {boxes, edges} = drawn;
        const near = (a, b) => Math.abs(a - b) < 0.5;
        boxes.forEach(([x, y, width, height], i) => boxes.slice(0, i).forEach(([u, v, across, down]) => {
          assert.ok(x >= u + across || u >= x + width || y >= v + down || v >= y + height, `${where}: boxes overlap`);
        }));
        for (const [x, y, u, v, turns] of edges) {
          assert.ok(boxes.some(box => near(x, box[0] + box[2] / 2) && near(y, box[1] + box[3])), `${where}: edge from nowhere`);
          assert.ok(boxes.some(box => near(u, box[0] + box[2] / 2) && near(v, box[1])), `${where}: edge to nowhere`);
          assert.ok(turns ? u > x : v > y, `${where}: an edge leads up, or back to a column`);
        }
        assert.equal(await crossings(page, m), 0, `${where}: an edge passes through a box`);
        assert.equal(await page.evaluate(`(() => {
          const labels = [...document.querySelectorAll("svg .flow")].map(e => e.getBBox());
          return labels.length === 0 ? 0 : [...document.querySelectorAll("svg path.edge")].filter(e => {
            const around = e.getBBox(), length = e.getTotalLength();
            const near = labels.filter(label => label.x <= around.x + around.width && around.x <= label.x + label.width &&
              label.y <= around.y + around.height && around.y <= label.y + label.height);
            for (let at = 0; near.length > 0 && at < length; at += 4) {
              const {x, y} = e.getPointAtLength(at);
              if (near.some(label => x > label.x && x < label.x + label.width && y > label.y + 2 && y < label.y + label.height - 2)) {
                return true;
              }
            }
            return false;
          }).length;
        })()`), 0, `${where}: a label stands on an edge`);
        const labels = await page.evaluate(`[...document.querySelectorAll("svg .flow")].map(e => e.getBBox())
          .map(({x, y, width, height}) => [x, y + 2, width, height - 4])`); // without what is around letters
        const meet = ([x, y, width, height], [u, v, across, down]) => x < u + across && u < x + width && y < v + down && v < y + height;
        labels.forEach((label, i) => {
          assert.ok(!boxes.some(box => meet(label, box)), `${where}: a label covers a box`);
          assert.ok(!labels.slice(0, i).some(other => meet(label, other)), `${where}: labels meet`);
        });
      }
      assert.deepEqual(page.problems, []);
      await page.close();
    }
  },

  async "no edge is turned around where modules and nodes have no cycle"() {
    for (const [name, stem] of [["gpt2_tiny", "model"], ["bert_micro", "model"], ["resnet18", "model.structure"], ["bert_micro", "anonymous"]]) {
      const page = await Page.open(report(fixture(name, stem), []));
      const count = await page.evaluate("modules.length");
      let turned = 0;
      for (let m = 0; m < count; m += Math.ceil(count / 20)) {
        await goTo(page, `m=${m}`);
        turned += await page.evaluate(`(() => { // edges of boxes that no way leads back to
          const {boxes, edges} = buildGraph(moduleScope(${m}));
          const {group} = findLevels(boxes.length, edges, () => true);
          return edges.filter(edge => edge.back && group[edge.from] !== group[edge.to] && !boxes[edge.to].loose).length;
        })()`);
      }
      assert.equal(turned, 0, `${name}/${stem}`);
      await page.close();
    }
  },

  async "shape arithmetic is one quiet box, which can be opened"() {
    const page = await Page.open(report(fixture("gpt2_tiny"), []));
    await page.type("#search", "transformer");
    await page.click("#found .row");
    const texts = (await page.texts("svg .quiet text")).map(text => text.trim());
    assert.ok(texts.length > 0 && texts.every(text => /^shape arithmetic, \d+ nodes$/.test(text)), texts.join("|"));
    assert.ok(!(await page.texts("svg .node text")).includes("Shape"));
    await page.click("svg .quiet .toggle");
    assert.ok((await page.texts("svg .quiet.open .node text")).includes("Shape"));
    await page.click("svg .quiet.open .toggle");
    assert.equal((await page.texts("svg .open")).length, 0);
    assert.deepEqual(page.problems, []);
    await page.close();
  },

  async "equal modules without classes have one colour"() {
    const page = await Page.open(report(fixture("bert_micro_12l"), []));
    const fill = path => page.evaluate(`(() => {
      const module = modules.find(each => each.path === ${JSON.stringify("encoder.layer.")} + ${JSON.stringify(path)});
      return module.look;
    })()`);
    const layers = [];
    for (const layer of ["0", "1", "10", "11"]) {
      layers.push(await fill(layer));
    }
    assert.equal(new Set(layers).size, 1);
    assert.notEqual(await fill("0.attention"), layers[0]);
    await page.close();
  },

  async "modules, bodies and functions open in their places"() {
    const page = await Page.open(report(fixture("control_flow")));
    const toggle = label => page.evaluate(`[...document.querySelectorAll("svg .toggle")]
      .find(each => each.getAttribute("aria-label") === ${JSON.stringify(label)})
      .dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}))`);
    await toggle("open gate");
    assert.equal(await page.text("#content h2"), "ControlFlow ");
    assert.ok((await page.texts("svg .module.open .node text")).includes("If"));
    assert.equal((await page.texts("svg .node.open")).length, 0);
    assert.equal(await crossings(page, 0), 0, "an edge passes through an open module");
    await toggle("open If");
    assert.equal(await crossings(page, 0), 0, "an edge passes through an open node");
    assert.deepEqual((await page.texts("svg .node.open .part")).slice(0, 2), ["then_branch", "else_branch"]);
    assert.equal(await page.evaluate(`document.activeElement.getAttribute("aria-label")`), "close If");
    await toggle("close gate");
    assert.equal((await page.texts("svg .open")).length, 0);
    assert.deepEqual(page.problems, []);
    await page.close();

    const called = await Page.open(report(fixture("shared_twice", "model.functions"), []));
    const calls = await called.evaluate(`nodes.filter(node => callees[node.operator] >= 0).length`);
    assert.ok(calls > 0);
    const call = await called.evaluate(`nodes.find(node => callees[node.operator] >= 0).n`);
    const inside = await called.evaluate(`(() => {
      const parts = partsOf({kind: "node", n: ${call}});
      return [parts.length, parts[0].scope().inside.length, graphs[callees[nodes[${call}].operator]].inside.length];
    })()`);
    assert.equal(inside[0], 1);
    assert.ok(inside[1] > 0 && inside[1] <= inside[2]);
    // What is passed to a function is an input only of modules that do not call it.
    const [ins, outs] = await called.evaluate(`(({ins, outs}) => [[...ins.keys()], [...outs.keys()]])(boundaryOf(modules[0]))`);
    assert.deepEqual(await called.evaluate(`[${ins}].map(v => values[v].formalIn)`), ins.map(() => 0));
    assert.deepEqual(sorted(outs), sorted(await called.evaluate("graphs[0].results")));
    const passed = await called.evaluate(`modules.flatMap(module => [...boundaryOf(module).ins].filter(([v]) => values[v].kind === formal)
      .map(([v, callers]) => callers.length > 0 && callers.every(n => graphs[values[v].formalIn].holders.includes(n) && !holds(module, nodes[n]))))`);
    assert.ok(passed.length > 0 && passed.every(Boolean));
    assert.deepEqual(called.problems, []);
    await called.close();
  },

  async "large graphs open fitted, and names that are too long are cut in the middle"() {
    const page = await Page.open(report(fixture("bert_micro", "anonymous"), []));
    const fits = await page.evaluate(`(() => {
      const frame = document.querySelector(".graph");
      return frame.scrollWidth <= frame.clientWidth + 1;
    })()`);
    assert.ok(fits);
    await page.click(".tools button", "fit");
    assert.ok(await page.evaluate(`document.querySelector(".graph svg").getBoundingClientRect().height <= innerHeight`));
    await page.close();
    const named = await Page.open(report(fixture("vit_b_16", "model.structure"), []));
    await named.type("#search", "self_attention matmul");
    const ends = await named.evaluate(`[...document.querySelectorAll("#found .row")].slice(0, 20).map(row => {
      const [head, tail] = row.querySelectorAll(".middle > span");
      const box = tail.getBoundingClientRect(), around = row.getBoundingClientRect();
      return head.textContent + tail.textContent === row.querySelector(".middle").title && box.right <= around.right + 1 && box.width > 0;
    })`);
    assert.ok(ends.length > 5 && ends.every(Boolean), JSON.stringify(ends));
    await named.close();
  },

  async "a picture that is far higher than wide is broken into columns"() {
    const page = await Page.open(report(fixture("bert_micro_12l")));
    const measure = count => page.evaluate(`(() => {
      const boxes = Array.from({length: ${count}}, () => ({width: 90, height: 30}));
      const edges = boxes.slice(1).map((_, i) => ({from: i, to: i + 1}));
      edges.push(...boxes.slice(3).map((_, i) => ({from: i, to: i + 3})));
      const size = layOut(boxes, edges);
      const inside = edges.every(({points}) => points.every(({x, y}) => x >= 0 && y >= 0 && x <= size.width && y <= size.height));
      const ends = edges.every(({points, from, to}) => points[0].y === boxes[from].y + 15 && points.at(-1).y === boxes[to].y - 15);
      let through = 0;
      for (const {points, from, to} of edges) {
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        path.setAttribute("d", curve(points));
        const length = path.getTotalLength();
        for (let i = 1; i < 200; ++i) {
          const {x, y} = path.getPointAtLength(length * i / 200);
          through += boxes.some((box, b) => b !== from && b !== to && Math.abs(x - box.x) < 45 && Math.abs(y - box.y) < 15) ? 1 : 0;
        }
      }
      return {...size, inside, ends, through};
    })()`);
    const small = await measure(12), large = await measure(120);
    assert.ok(small.height > 2 * small.width, "a short one stays whole");
    assert.ok(large.height < 2 * large.width && large.width < 1600, JSON.stringify(large));
    for (const {inside, ends, through} of [small, large]) {
      assert.ok(inside && ends, "edges lead from box to box");
      assert.equal(through, 0, "an edge passes through a box");
    }
    await page.close();
  },

  async "what a search finds is reached by keys"() {
    const page = await Page.open(report(fixture("bert_micro")));
    const press = key => page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "${key}", bubbles: true}))`);
    await page.type("#search", "layer.1 softmax");
    await press("ArrowDown");
    assert.equal(await page.evaluate("document.activeElement.dataset.node !== undefined"), true);
    await press("Enter");
    assert.equal(await page.text("#detail h2"), "Softmax");
    await press("ArrowUp");
    assert.equal(await page.evaluate("document.activeElement.id"), "search");
    await press("Escape");
    assert.equal(await page.evaluate(`document.getElementById("tree").hidden`), false);
    await page.close();
  },

  async "a search finds modules and nodes"() {
    const model = fixture("bert_micro");
    const page = await Page.open(report(model));
    await page.type("#search", "layer.1 softmax");
    assert.deepEqual(await page.texts("#found .row .label"), ["/encoder/layer.1/attention/self/Softmax Softmax"]);
    await page.click("#found .row");
    assert.equal(await page.text("#content h2"), "self BertSelfAttention");
    assert.equal(await page.text("#detail h2"), "Softmax");
    assert.equal((await page.texts("svg .node.chosen")).length, 1);
    await page.type("#search", "BertIntermediate");
    const named = sidecar(model).modules.filter(module =>
      [module.path, module.class, module.tag].some(text => text?.includes("BertIntermediate")));
    assert.ok(named.length > 1);
    assert.ok((await page.text("#found .note")).startsWith(`${named.length} modules`));
    await page.type("#search", "");
    assert.equal(await page.evaluate(`document.getElementById("tree").hidden`), false);
    await page.close();
  },

  async "a page loads nothing, and follows the reader's colours"() {
    const page = await Page.open(report(fixture("mlp")), {dark: true});
    const lightness = () => page.evaluate(`getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3)
      .reduce((sum, part) => sum + Number(part), 0) / 3`);
    assert.ok(await lightness() < 80);
    await page.prefer("light");
    assert.ok(await lightness() > 180);
    assert.deepEqual(page.requests.filter(url => !url.startsWith("file://")), []);
    assert.equal(page.requests.length, 1);
    await page.close();
  },

  async "models without any hierarchy give a report"() {
    const page = await Page.open(report(fixture("bert_micro", "anonymous"), []));
    assert.match(await page.text("#head"), /281 nodes/);
    assert.ok((await page.texts("svg .node")).length > 100);
    await page.click("[role=tab]", "Nodes");
    assert.equal((await rows(page)).length, 200);
    assert.deepEqual(page.problems, []);
    await page.close();
  },

  async "ten thousand nodes, and more in one module than a picture can show"() {
    const page = await Page.open(report(chain(50, 50), []));
    assert.match(await page.text("#head"), /10,000 nodes/);
    await page.type("#search", "blocks.49.layer3");
    await page.click("#found .row");
    assert.equal((await page.texts("svg .node")).length, 50);
    await page.close();
    const wide = await Page.open(report(chain(1, 2500), []));
    await wide.type("#search", "layer2");
    await wide.click("#found .row");
    const boxes = await wide.texts("svg .box");
    assert.ok(boxes.length <= 260 && boxes.some(text => /and 2,2\d\d more nodes/.test(text)), `${boxes.length}`);
    assert.deepEqual(wide.problems, []);
    await wide.close();
  },

  async "numbers colour boxes by the column that is picked, and tables of several runs sort"() {
    const model = fixture("bert_micro");
    const overlay = (name, text) => {
      writeFileSync(join(folder, name), typeof text === "string" ? text : JSON.stringify(text));
      return ["--overlay", join(folder, name)];
    };
    const cost = execFileSync(program, ["analyze", model, ...captureOf(model), "--cost", "--dim", "batch_size=1", "--dim", "sequence=8", "--format", "json"]);
    const nodes = sidecar(model).nodes.map(node => node.name);
    const csv = factor => ["name,time", ...nodes.map((name, i) => `${name},${factor * (1 + i % 5)}`)].join("\n");
    const profile = factor => {
      writeFileSync(join(folder, "times.csv"), csv(factor));
      return execFileSync(program, ["profile", model, join(folder, "times.csv"), ...captureOf(model), "--format", "json"]).toString();
    };
    const odd = {schema: "stemma.overlay/1", title: "</script><b>odd", columns: [{name: "<i>score", direction: "higher"}, {name: "verdict"}],
                 modules: [{path: "encoder", values: [0.5, "</script>bad"]}, {path: "pooler", values: [0.9, null]}],
                 nodes: [{name: nodes[0], values: [0.25, "fine"]}]};
    const page = await Page.open(report(model, [...captureOf(model), ...overlay("a.json", profile(1)), ...overlay("b.json", profile(3)),
                                                ...overlay("cost.json", cost.toString()), ...overlay("odd.json", odd)]));
    const modules = JSON.parse(readFileSync(join(folder, "a.json"), "utf8")).modules;
    const timeOf = path => modules.find(module => module.path === path).us;
    // The first column is picked: boxes are as hot as their shares.
    const heats = await page.evaluate(`[...document.querySelectorAll("svg .module.heated")].map(e => [modules[e.dataset.module].path, Number(e.style.getPropertyValue("--t"))])`);
    assert.deepEqual(sorted(heats.map(([path]) => path)), ["embeddings", "encoder", "pooler"]);
    for (const [path, part] of heats) {
      assert.ok(Math.abs(part - timeOf(path) / timeOf("")) < 0.001, `${path}: ${part}`);
    }
    assert.match(await page.text("#paint .note"), /of the module around, lower is better/);
    const pick = (run, column) => page.evaluate(`(() => {
      const choice = document.getElementById("measure");
      const option = [...choice.querySelectorAll("optgroup")].find(group => group.label.endsWith(${JSON.stringify(run)}))
        .querySelectorAll("option");
      choice.value = [...option].find(each => each.textContent === ${JSON.stringify(column)}).value;
      choice.dispatchEvent(new Event("change"));
    })()`);
    await pick("</script><b>odd", "<i>score");
    assert.deepEqual(await page.evaluate(`[...document.querySelectorAll("svg .module")].map(e => [modules[e.dataset.module].path,
      e.classList.contains("heated") ? Number(e.style.getPropertyValue("--t")) : null])`),
                     [["embeddings", null], ["encoder", 0.615], ["pooler", 0]]);
    assert.match(await page.text("#paint .legend"), /0.25.*0.9/);
    await page.click("[role=tab]", "Numbers");
    assert.deepEqual((await page.texts(".numbers th.run")).slice(0, 1), ["time (us per run)"]);
    const column = at => page.texts(`.numbers tbody tr td:nth-child(${at})`);
    const value = text => Number(text.replaceAll(",", ""));
    await page.click(".numbers th button");
    const falling = (await column(2)).filter(text => text !== "").map(value); // what has no number is last
    assert.deepEqual(falling, [...falling].sort((a, b) => b - a));
    assert.ok(falling.length > 20 && falling[0] > falling[20]);
    (await column(3)).slice(0, falling.length).forEach((text, i) => assert.ok(Math.abs(value(text) / falling[i] - 3) < 0.01, `${text} and ${falling[i]}`));
    await page.click(".numbers th button");
    assert.equal(value((await column(2))[0]), Math.min(...falling));
    assert.equal(await page.evaluate(`document.querySelector(".numbers th[aria-sort=ascending]") !== null`), true);
    await page.click("[role=tab]", "Flame");
    assert.equal((await page.texts("svg.flames")).length, 2);
    const widths = await page.evaluate(`[...document.querySelector("svg.flames").querySelectorAll(".flame")].map(e =>
      [modules[e.dataset.module].path, Number(e.querySelector("rect").getAttribute("width"))])`);
    for (const [path, width] of widths) {
      assert.ok(Math.abs(width / 1000 - timeOf(path) / timeOf("")) < 0.001, `${path} is ${width} wide`);
    }
    assert.ok(widths.length > 10);
    await page.click("svg.flames .flame", "encoder");
    assert.equal(await page.text("#content h2"), "encoder BertEncoder");
    assert.equal((await page.texts("svg.flames")).length, 2);
    assert.deepEqual(page.problems, []);
    assert.equal(page.requests.length, 1);
    assert.equal(await page.evaluate(`document.querySelectorAll("b b, i i, td b, td i, option i").length`), 0);
    await page.close();
  },

  async "where numbers are formulas, or there are none, a flame graph says so"() {
    const model = fixture("bert_micro");
    writeFileSync(join(folder, "formulas.json"), execFileSync(program, ["analyze", model, "--cost", "--format", "json"]));
    const page = await Page.open(report(model, ["--overlay", join(folder, "formulas.json")]));
    await page.click("[role=tab]", "Flame");
    assert.match((await page.texts("#panel p.note")).at(-1), /^Formulas have no widths/);
    assert.match(await page.evaluate(`noFlames(null)`), /^Nothing is known/);
    assert.match(await page.evaluate(`noFlames(0)`), /^There is nothing/);
    await page.close();
  },

  async "numbers are printed in full, and shares are never rounded up to all"() {
    const model = fixture("bert_micro");
    writeFileSync(join(folder, "counts.json"), JSON.stringify({schema: "stemma.overlay/1", columns: [{name: "count"}],
      modules: [{path: "encoder", values: [1360512]}, {path: "pooler", values: [12345.678]}]}));
    const page = await Page.open(report(model, [...captureOf(model), "--overlay", join(folder, "counts.json")]));
    assert.deepEqual(await page.evaluate(`[1360512, 12345.678, 0.5, 123456789].map(cellText)`),
                     ["1,360,512", "12,345.7", "0.5", "123,456,789"]);
    assert.deepEqual(await page.evaluate(`[919 / 922, 9999 / 10000, 1, 0.9, 0.0001, 0].map(percent)`),
                     ["99.6 %", "99.9 %", "100.0 %", "90.0 %", "< 0.1 %", "0.0 %"]);
    const facts = producer => page.evaluate(`modelFacts({nodes: 1, modules: 1, parameters: 0, coverage: 1, conflicts: 0, provenance: {}, producer: ${JSON.stringify(producer)}, opsets: {}, ir: 8}).filter(each => each.textContent === "").length`);
    assert.equal(await facts(" "), 0);
    assert.equal(await facts("pytorch 2.0"), 0);
    await page.close();
  },

  async "text on colours is readable, in light and in dark"() {
    const model = fixture("bert_micro");
    const all = sidecar(model).modules.map((module, i) => ({path: module.path, values: [i % 11, 10 - i % 11]}));
    writeFileSync(join(folder, "all.json"), JSON.stringify({schema: "stemma.overlay/1", modules: all,
      columns: [{name: "low", direction: "lower"}, {name: "none"}]}));
    for (const dark of [false, true]) {
      const page = await Page.open(report(model, [...captureOf(model), "--overlay", join(folder, "all.json")]));
      await page.prefer(dark ? "dark" : "light");
      for (const measure of [0, 1]) {
        const worst = await page.evaluate(`(() => {
          paint(measures[${measure}]);
          const parts = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
          const light = colour => {
            const [r, g, b] = parts(colour).map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
          let least = Infinity;
          for (let m = 0; m < modules.length; m += 7) {
            go("m=" + m);
            for (const group of document.querySelectorAll("svg .heated")) {
              const fill = getComputedStyle(group.querySelector("rect")).fill;
              for (const text of group.querySelectorAll(":scope > .face > text")) {
                least = Math.min(least, contrast(fill, getComputedStyle(text).fill));
              }
            }
          }
          return least;
        })()`);
        assert.ok(worst >= 4.5 && worst < 22, `contrast ${worst}, ${dark ? "dark" : "light"}`);
      }
      await page.close();
    }
  },

  async "everybody can read a report, and reach all of it by keys"() {
    const page = await Page.open(`${report(fixture("bert_micro"))}#m=8&n=50`);
    for (const tab of ["Graph", "Nodes", "Boundary", "Parameters", "Conflicts"]) {
      await page.click("[role=tab]", tab);
      assert.deepEqual(await page.barriers(), [], tab);
    }
    await page.press("ArrowRight");
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Graph");
    await page.view.locator("#tree").focus();
    await page.press("ArrowRight");
    await page.press("ArrowDown");
    assert.equal(await page.evaluate(`document.querySelector("#tree [aria-selected=true]").dataset.module`), "9");
    await page.view.locator("svg .module .toggle").first().focus();
    await page.press("Enter");
    assert.equal((await page.texts("svg .module.open")).length, 1);
    await page.view.locator("svg .module .face").first().focus();
    await page.press("Enter");
    assert.equal(await page.text("#content h2"), "attention BertAttention");
    assert.deepEqual(page.problems, []);
    await page.close();
  },

  async "names of a model are never read as markup"() {
    const page = await Page.open(report(fixture("quirks")));
    assert.deepEqual(page.problems, []);
    await page.close();
    const model = join(folder, "chain.onnx");
    const bytes = readFileSync(chain(1, 2)).toString("latin1").replaceAll("/blocks.0/layer", "</script><b>xxx");
    writeFileSync(model, Buffer.from(bytes, "latin1"));
    const odd = await Page.open(report(model, []));
    assert.deepEqual(odd.problems, []);
    assert.equal(await odd.evaluate(`document.querySelectorAll("b b, script + b, td b").length`), 0);
    assert.ok((await odd.text("#head")).includes("8 nodes"));
    await odd.close();
  },
};

await runTests(tests);
