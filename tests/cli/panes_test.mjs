#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Holds pages of `stemma diff --format html` against what `diff --format json` and `carry --sidecar` say of the same
// models, and clicks through them in a browser. Models are optimized by ONNX Runtime, or written as the other exporter
// would have.
//
// usage: panes_test.mjs PROGRAM FIXTURES [PART OF A NAME]
import assert from "node:assert/strict";
import {execFileSync, spawnSync} from "node:child_process";
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {Page, from, needBrowser, runTests} from "./browser.mjs";
import {chainModel, layerModel} from "./chain_model.mjs";
import {asDynamoExport} from "../runtime/dynamo.mjs";

needBrowser();
const [program, fixtures] = process.argv.slice(2, 4).map(path => resolve(path));
const folder = mkdtempSync(join(tmpdir(), "stemma-panes-"));
process.on("exit", () => rmSync(folder, {recursive: true, force: true}));
const runtime = from("onnxruntime-node");

const fixture = name => join(fixtures, name, "model.onnx");
const captureOf = name => ["-m", join(fixtures, name, "modules.json")];

/** A fixture as ONNX Runtime optimizes it. */
async function optimized(name, level) {
  const file = join(folder, `${name}.${level}.onnx`);
  if (!existsSync(file)) {
    const session = await runtime.InferenceSession.create(fixture(name), {graphOptimizationLevel: level, optimizedModelFilePath: file, logSeverityLevel: 3});
    await session.release();
  }
  return file;
}

/** A fixture as the newer exporter would have written it. */
function exportedAnew(name) {
  const file = join(folder, `${name}.dynamo.onnx`);
  const [truth, initializers, modules] = ["truth", "initializers", "modules"].map(part => JSON.parse(readFileSync(join(fixtures, name, `${part}.json`), "utf8")));
  writeFileSync(file, asDynamoExport(readFileSync(fixture(name)), {truth, initializers, modules}).bytes);
  return file;
}

function diff(models, ...more) {
  const {status, stdout, stderr} = spawnSync(program, ["diff", ...models, ...more], {encoding: "utf8", maxBuffer: 1 << 28});
  assert.ok(status < 2, stderr);
  return {status, stdout};
}
function panes(models, ...more) {
  const page = join(folder, "panes.html");
  const {status} = diff(models, ...more, "--format", "html", "-o", page, "--no-sync");
  const html = readFileSync(page, "utf8");
  const json = opening => [...html.matchAll(new RegExp(`<script type="application/json" ${opening}>(.*?)</script>`, "gs"))].map(([, text]) => JSON.parse(text));
  return {status, url: `file://${page}`, models: json(`class="model"`), steps: json(`id="steps"`)[0].steps};
}
function sidecar(...words) {
  const path = join(folder, "sidecar.json");
  execFileSync(program, [...words, "--sidecar", path, "--no-sync", "-q"]);
  return JSON.parse(readFileSync(path, "utf8"));
}

/** The paths of the modules of a page's model. */
function pathsOf(model) {
  const paths = [];
  model.modules.forEach(([name, , , parent], m) => paths.push(m === 0 ? name : paths[parent] === "" || parent === 0 ? name : `${paths[parent]}.${name}`));
  return paths;
}
const pairsOf = ({nodes}) => Array.from({length: nodes.length / 2}, (_, i) => [nodes[2 * i], nodes[2 * i + 1]]);

/** Opens a page; `frame(i)` is its pane. */
async function open(url, size = {width: 1500, height: 900}) {
  const page = await Page.open(url, size);
  await page.view.waitForFunction("document.documentElement.dataset.ready === 'true'");
  const frame = i => page.view.frames()[i + 1];
  const settle = () => page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))");
  const click = async (i, selector, text = "") => {
    await frame(i).locator(selector).filter({hasText: text, visible: true}).first().click({timeout: 10000});
    await settle();
  };
  return {page, frame, click, settle, said: i => page.view.locator(".pane p").nth(i).textContent()};
}
const inSight = (frame, selector) => frame.evaluate(`(() => {
  const box = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
  const around = document.getElementById("content").getBoundingClientRect();
  return box.bottom > around.top && box.top < around.bottom && box.right > around.left && box.left < around.right;
})()`);

const tests = {
  async "changes are those of diff, and links are the origins that carry finds"() {
    let linked = 0;
    for (const name of ["bert_micro", "unet_tiny", "gpt2_tiny", "two_tower", "control_flow"]) {
      const [first, second] = [fixture(name), await optimized(name, "extended")];
      const page = panes([first, second], ...captureOf(name));
      const report = JSON.parse(diff([first, second], ...captureOf(name), "--format", "json").stdout);
      assert.equal(page.status, report.equal ? 0 : 1);
      const [step] = page.steps;
      const paths = page.models.map(pathsOf);
      assert.deepEqual(step.changes.map(({ends, changes, nodes}) => [...ends.map((m, side) => m < 0 ? null : paths[side][m]), changes, nodes]),
                       report.modules.map(({first, second, changes, nodes}) => [first, second, changes, [nodes.only_first, nodes.only_second]]), name);
      assert.deepEqual(step.header, report.header.map(({what, first, second}) => [what, first ?? "", second ?? ""]));
      assert.deepEqual([step.same, step.of], [report.matched.same_modules, report.size_first.modules]);

      const places = new Map(sidecar("tag", first, ...captureOf(name)).nodes.map(({graph, index}, i) => [`${graph}#${index}`, i]));
      const carried = sidecar("carry", first, second, ...captureOf(name), "-o", join(folder, "carried.onnx")).nodes;
      const pairs = pairsOf(step);
      const origins = carried.map(({origins, origin_kind: kind}) => ["kept", "replaced"].includes(kind) ? origins.map(({graph, index}) => places.get(`${graph}#${index}`)) : []);
      const all = new Set(origins.flat());
      carried.forEach(({name: node}, w) => {
        const sources = pairs.filter(pair => pair[1] === w).map(([v]) => v);
        for (const v of origins[w]) {
          assert.ok(sources.includes(v), `${name}: ${node} has an origin that is not linked`);
        }
        for (const v of sources.filter(each => !origins[w].includes(each))) { // merged with an equal one
          assert.ok(origins[w].length === 0 || !all.has(v), `${name}: ${node} is linked with the origin of another`);
        }
        linked += sources.length;
      });
    }
    assert.ok(linked > 400, `${linked}`);
  },

  async "a fused node shows all that it was made of, and each of these leads to it"() {
    const name = "bert_micro";
    const {url} = panes([fixture(name), await optimized(name, "extended")], ...captureOf(name));
    const {page, frame, click, said} = await open(url);
    await click(1, "#tree .row .toggle", "");
    await frame(1).evaluate(`go("m=" + modules.findIndex(each => each.path === "encoder.layer.0.intermediate"))`);
    await click(1, "svg .node", "BiasGelu");
    assert.equal(await said(0), "6 nodes: Add, Div, Erf, Add, Mul, Mul in encoder.layer.0.intermediate");
    const shown = await frame(0).evaluate(`[...document.querySelectorAll("svg .node.linked")].map(box => nodes[box.dataset.node].op)`);
    assert.deepEqual(shown.sort(), ["Add", "Add", "Div", "Erf", "Mul", "Mul"]);
    assert.equal(await frame(0).evaluate("modules[chosen].path"), "encoder.layer.0.intermediate");
    assert.ok(await inSight(frame(0), "svg .node.linked"));
    assert.equal(await frame(0).evaluate(`document.querySelectorAll("#tree .here").length > 0`), true);
    await page.click(".pane p .link", "Erf");
    assert.equal(await frame(0).evaluate(`document.querySelector("#detail h2").textContent`), "Erf");
    assert.equal(await frame(0).evaluate(`document.querySelectorAll(".linked").length`), 0);
    assert.equal(await said(1), "1 node: BiasGelu in encoder.layer.0.intermediate");
    assert.deepEqual(await frame(1).evaluate(`[...document.querySelectorAll("svg .node.linked")].map(box => nodes[box.dataset.node].op)`), ["BiasGelu"]);
    assert.deepEqual(page.problems, []);
    assert.equal(page.requests.length, 1);
    await page.close();
  },

  async "what has nothing in the other model is marked, and told"() {
    const name = "unet_tiny";
    const {url, steps, models} = panes([fixture(name), await optimized(name, "all")], ...captureOf(name));
    const {page, frame, said} = await open(url);
    const added = models[1].nodes.findIndex((_, w) => pairsOf(steps[0]).every(pair => pair[1] !== w));
    assert.ok(added >= 0);
    await frame(1).evaluate(`go("m=" + nodes[${added}].module + "&n=${added}")`);
    assert.equal(await said(0), "nothing corresponds");
    assert.ok(await frame(1).evaluate(`document.querySelector('svg [data-node="${added}"]').classList.contains("added")`));
    assert.match(await frame(1).evaluate(`document.querySelector('svg [data-node="${added}"] title').textContent`), /A: nothing corresponds/);
    assert.deepEqual(page.problems, []);
    await page.close();
  },

  async "a choice reaches every pane, along the chain, and back"() {
    const name = "bert_micro";
    const {url, steps} = panes([fixture(name), await optimized(name, "basic"), await optimized(name, "extended")], ...captureOf(name));
    assert.equal(steps.length, 2);
    const {page, frame, click, said} = await open(url);
    await click(0, "#tree .row", "pooler");
    for (const i of [1, 2]) {
      assert.equal(await frame(i).evaluate("modules[chosen].path"), "pooler");
      assert.match(await said(i), /^pooler, \d nodes?$/);
    }
    const paths = await frame(0).evaluate("modules.map(each => each.path)");
    await frame(2).evaluate(`go("m=" + modules.findIndex(each => each.path === "encoder.layer.1.output.LayerNorm"))`);
    assert.equal(await page.evaluate("location.hash"), `#C&m=${await frame(2).evaluate("chosen")}`);
    assert.equal(paths[await frame(0).evaluate("chosen")], "encoder.layer.1.output.LayerNorm");
    const texts = await frame(1).evaluate(`[...document.querySelectorAll("#tree .row")].map(row => [...row.querySelectorAll(".state")].map(each => each.textContent).join(" "))`);
    assert.ok(texts.some(text => text.includes("A: ")) && texts.some(text => text.includes("C: ")), texts.join(", "));
    const again = await open(await page.evaluate("location.href"));
    assert.equal(await again.frame(0).evaluate("modules[chosen].path"), "encoder.layer.1.output.LayerNorm");
    assert.deepEqual([...page.problems, ...again.page.problems], []);
    await page.close();
    await again.page.close();
  },

  async "changes are listed, filtered, and jump"() {
    const name = "bert_micro";
    const {url, steps, models} = panes([fixture(name), await optimized(name, "basic"), await optimized(name, "extended")], ...captureOf(name));
    const {page, frame, settle} = await open(url);
    const count = () => page.evaluate(`Math.round(parseFloat(document.querySelector("#changes .room").style.height) / rowHeight)`);
    assert.equal(await count(), steps[0].changes.length + steps[1].changes.length);
    await page.type("#search", "fused pooler");
    const paths = pathsOf(models[1]);
    const wanted = steps.flatMap(({changes}) => changes).filter(({changes, ends}) => changes.includes("fused") && paths[ends[0]].includes("pooler"));
    assert.ok(wanted.length > 0);
    assert.equal(await count(), wanted.length);
    await page.view.locator("#changes").focus();
    await page.press("ArrowDown");
    await settle();
    assert.equal(await page.evaluate(`document.querySelector("#changes [aria-selected=true]").dataset.row`), "0");
    assert.equal(await frame(1).evaluate("chosen"), wanted[0].ends[0]);
    await page.click("#head button", "Changes");
    assert.equal(await page.evaluate(`document.getElementById("side").hidden`), true);
    assert.deepEqual(page.problems, []);
    await page.close();
  },

  async "weights that are not finite or not comparable are listed like others"() {
    const [float, int8] = [1, 3];
    const weights = [[float, [0, 0, 0x80, 0x3f]], [float, [0, 0, 0, 0x40]], [float, [0, 0, 0x80, 0x7f]], [int8, [1]]];
    const {url} = panes(weights.map((weight, i) => {
      const model = join(folder, `layer${i}.onnx`);
      writeFileSync(model, layerModel(...weight));
      return model;
    }));
    const {page} = await open(url);
    const titles = await page.evaluate(`[...document.querySelectorAll("#changes .row")].map(each => each.title)`);
    assert.deepEqual(titles.map(each => each.split("\n")[1]),
                     ["1 weight by at most 0.5 of their size", "1 weight by values that are not finite", "1 weight"]);
    assert.deepEqual(page.problems, []);
    await page.close();
  },

  async "exports of two exporters are linked module by module"() {
    const name = "unet_tiny";
    const {url} = panes([fixture(name), exportedAnew(name)], ...captureOf(name));
    const {page, frame} = await open(url);
    const paths = await frame(0).evaluate("modules.filter(each => each.count > 0).map(each => each.path)");
    for (const path of paths) {
      await frame(0).evaluate(`go("m=" + modules.findIndex(each => each.path === ${JSON.stringify(path)}))`);
      assert.equal(await frame(1).evaluate("modules[chosen].path"), path);
    }
    assert.deepEqual(page.problems, []);
    await page.close();
  },

  async "everybody can read the page, and reach all of it by keys"() {
    const name = "bert_micro";
    const {url} = panes([fixture(name), await optimized(name, "extended")], ...captureOf(name));
    const {page, frame, settle} = await open(url);
    assert.deepEqual(await page.barriers(), []);
    await frame(0).locator("#tree").focus();
    await page.press("End");
    await settle();
    assert.equal(await frame(1).evaluate("modules[chosen].path"), await frame(0).evaluate("modules[chosen].path"));
    await frame(0).locator("svg .face[role=button]").first().focus();
    await page.press("Enter");
    assert.equal(await page.evaluate("document.activeElement === panes[0].frame"), true, "the choice keeps the focus");
    for (let i = 0; i < 200 && !await page.evaluate("document.activeElement === panes[1].frame"); ++i) {
      await page.press("Tab");
    }
    assert.equal(await page.evaluate("document.activeElement === panes[1].frame"), true, "tabs lead from pane to pane");
    assert.deepEqual(page.problems, []);
    await page.close();
  },

  async "files of one name are told apart by their folders"() {
    const {page} = await open(panes([fixture("mlp"), fixture("quirks")]).url);
    assert.equal(await page.text("h1"), "mlp/model.onnx, quirks/model.onnx");
    assert.deepEqual(await page.evaluate(`[["a/m", "a/m"], ["/x/a/m", "y/a/m"], ["m", "a/m"], ["a", "b/c"]].map(shortNames)`),
                     [["m", "m"], ["x/a/m", "y/a/m"], ["m", "a/m"], ["a", "c"]]);
    await page.close();
  },

  async "names of models are never read as markup"() {
    const bytes = Buffer.from(chainModel(Array.from({length: 4}, (_, i) => `/blocks.0/layer${i}/Relu`)));
    const model = join(folder, "</script><b>odd.onnx".replaceAll("/", "_"));
    writeFileSync(model, Buffer.from(bytes.toString("latin1").replaceAll("/blocks.0/layer", "</script><b>xxx"), "latin1"));
    const {url} = panes([model, model]);
    const {page, frame, said} = await open(url);
    await frame(0).evaluate(`go("m=0&n=1")`);
    assert.match(await said(1), /^1 node: Relu/);
    assert.equal(await page.evaluate(`document.querySelectorAll("b b, script + b, h2 b, p b").length`), 0);
    assert.equal(await frame(0).evaluate(`document.querySelectorAll("b b, script + b, td b").length`), 0);
    assert.deepEqual(page.problems, []);
    await page.close();
  },

  async "large models have as few elements as in reports"() {
    const chain = (blocks, width) => {
      const path = join(folder, `chain${width}.onnx`);
      writeFileSync(path, chainModel(Array.from({length: 4 * blocks}, (_, l) =>
        Array.from({length: width}, (_, i) => `/blocks.${Math.floor(l / 4)}/layer${l % 4}/Relu_${i}`)).flat()));
      return path;
    };
    const {url} = panes([chain(50, 100), chain(50, 101)]);
    const {page, frame, settle} = await open(url);
    await frame(0).evaluate(`go("m=" + modules.findIndex(each => each.path === "blocks.7"))`);
    await settle();
    assert.equal(await frame(1).evaluate("modules[chosen].path"), "blocks.7");
    for (const i of [0, 1]) {
      assert.ok(await frame(i).evaluate(`document.querySelectorAll("*").length`) < 3000);
    }
    assert.ok(await page.evaluate(`document.querySelectorAll("*").length`) < 1000);
    assert.deepEqual(page.problems, []);
    await page.close();
  },
};

await runTests(tests);
