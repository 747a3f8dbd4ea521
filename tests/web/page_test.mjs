#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Opens the page in a browser: a model is dropped, searched, cut and downloaded; what was downloaded runs.
//
// usage: page_test.mjs PAGE FIXTURES [PICTURES]      STEMMA_RUNTIME=folder (tests/runtime/install.sh)
import assert from "node:assert/strict";
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import {extname, join, resolve} from "node:path";
import {Page, closeBrowser, from, needBrowser} from "../cli/browser.mjs";
import {chainModel, deepNames, layerModel} from "../cli/chain_model.mjs";

needBrowser();
const [site, fixtures, pictures] = process.argv.slice(2).map(path => resolve(path));
if (!existsSync(join(site, "stemma.wasm"))) {
  console.log("skipped: the page was not built (sh examples/web/build.sh)");
  process.exit(77);
}

const folder = mkdtempSync(join(tmpdir(), "stemma-page-"));
process.on("exit", () => rmSync(folder, {recursive: true, force: true}));

const types = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json"};
const server = createServer((request, response) => {
  const name = new URL(request.url, "http://localhost").pathname;
  const path = /^\/(fixtures|dialects)\//.test(name) ? join(fixtures, "..", name) : join(site, name === "/" ? "index.html" : name);
  if (!existsSync(path)) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {"Content-Type": types[extname(path)] ?? "application/octet-stream"}).end(readFileSync(path));
});
await new Promise(done => server.listen(0, "127.0.0.1", done));
const home = `http://127.0.0.1:${server.address().port}/`;

const page = await Page.open(home);
async function until(expression, what) {
  for (let i = 0; i < 2400; ++i) {
    if (await page.evaluate(expression)) {
      return;
    }
    await new Promise(done => setTimeout(done, 50));
  }
  throw new Error(`waited in vain for ${what}; the page says: ${await page.text("#message")} ${page.problems}`);
}
const shown = (path, view) => until(`document.documentElement.dataset.shown === ${JSON.stringify(`${path}|${view}`)}`, `${view} of ${path}`);
/** Drops files on the page; each is [name, expression of its parts]. */
const drop = files => page.evaluate(`(async () => {
  const transfer = new DataTransfer();
  for (const [name, parts] of [${files.map(([name, parts]) => `[${JSON.stringify(name)}, await ${parts}]`)}]) {
    transfer.items.add(new File(parts, name));
  }
  delete document.documentElement.dataset.shown;
  document.body.dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: transfer}));
})()`);
const fixture = path => `fetch(${JSON.stringify(new URL(path, `${home}fixtures/`).href)}).then(async answer => [await answer.blob()])`;
/** What is downloaded when an element is pressed. */
async function downloaded(selector, name) {
  const coming = page.view.waitForEvent("download");
  await page.click(selector);
  const download = await coming;
  assert.equal(download.suggestedFilename(), name);
  return readFileSync(await download.path());
}
const accessible = async where => assert.deepEqual(await page.barriers(), [], where);
async function picture(name) {
  if (pictures) {
    mkdirSync(pictures, {recursive: true});
    writeFileSync(join(pictures, `${name}.png`), await page.picture());
  }
}

async function test() {
  await until(`document.documentElement.dataset.started === "true"`, "the page");
  await picture("start");
  await accessible("the start");

  // A capture without its model.
  await drop([["modules.json", fixture("bert_micro/modules.json")]]);
  await until(`/modules\\.json: .*together with its \\.onnx file, or after it/.test(document.getElementById("message").textContent)`, "what to do with a capture");

  // A sample with one click.
  await page.click("#sample");
  await shown("", "graph");
  assert.equal(await page.evaluate(`document.getElementById("message").hidden`), true);
  assert.match(await page.text("#facts"), /281 nodes.*\d+ modules/);
  await picture("sample");
  await accessible("a graph");

  // Boxes and rows of the tree count the same nodes.
  const counts = await page.evaluate(`[...document.querySelectorAll("svg .module")].map(box =>
    [box.querySelector(".sub").textContent.match(/([0-9,]+) nodes?$/)[1],
     document.querySelector('#tree [data-module="' + box.dataset.module + '"] .count').textContent])`);
  assert.ok(counts.length >= 3);
  for (const [box, row] of counts) {
    assert.equal(box, row, "nodes of a module");
  }

  // A model, and its capture after it.
  await drop([["unnamed.onnx", fixture("bert_micro/unnamed.onnx")]]);
  await shown("", "graph");
  const before = await page.text("#facts");
  await drop([["modules.json", fixture("bert_micro/modules.json")]]);
  await shown("", "graph");
  assert.equal(await page.text("#title"), "unnamed.onnx");
  assert.notEqual(await page.text("#facts"), before);
  assert.match(await page.text("#tree"), /BertModel/);

  // A model and its capture, dropped.
  await page.evaluate(`location.hash = ""`);
  await drop([["model.onnx", fixture("bert_micro/model.onnx")], ["modules.json", fixture("bert_micro/modules.json")]]);
  await shown("", "graph");
  assert.equal(await page.text("#title"), "model.onnx");

  // Tree by keys, search, the address.
  await page.evaluate(`document.getElementById("tree").focus()`);
  await page.press("ArrowDown");
  await shown("embeddings", "graph");
  assert.equal(await page.evaluate(`document.querySelector("#tree [aria-selected=true] .label b").textContent`), "embeddings");
  await page.type("#search", "layer.1.attention.self");
  await until(`document.querySelectorAll("#found .row").length > 0`, "what is found");
  await page.click("#found .row", "encoder.layer.1.attention.self");
  await shown("encoder.layer.1.attention.self", "graph");
  assert.ok((await page.texts("#panel svg text")).some(text => text === "Softmax"));
  assert.match((await page.texts("svg .quiet text")).join("|"), /^(shape arithmetic, \d+ nodes\|?)+$/);
  assert.ok(!(await page.texts("svg .node text")).includes("Shape"));
  await page.click("svg .quiet .toggle");
  assert.ok((await page.texts("svg .quiet.open .node text")).includes("Shape"));
  await accessible("opened shape arithmetic");
  await page.click("svg .quiet.open > .toggle");
  assert.deepEqual(await page.texts("svg .open"), []);
  await page.click("svg .module .toggle");
  await until(`document.querySelector("#panel svg .module.open .node")`, "a module open in its place");
  await page.click("svg .module.open > .toggle");
  await picture("attention");
  assert.match(await page.evaluate("location.hash"), /m=encoder\.layer\.1\.attention\.self&v=graph/);

  // What a function takes, and what it gives, is of the model only if the main graph has it.
  await page.click("#tabs button", "Explain");
  await drop([["functions.onnx", fixture("../dialects/nested_functions.onnx")]]);
  await shown("", "explain");
  assert.deepEqual(await page.texts("#panel [aria-label=inputs] tbody td"), ["x", "float32[2,4]", "the model's input"]);
  assert.deepEqual(await page.texts("#panel [aria-label=outputs] tbody td"), ["val_12", "float32[2,4]", "the model's output"]);
  await page.evaluate(`location.hash = "m=blocks.0.fc1&v=graph"`);
  await shown("blocks.0.fc1", "graph");
  assert.ok(!(await page.texts("svg .end text")).includes("w"), "a formal input whose call is shown");
  await drop([["model.onnx", fixture("bert_micro/model.onnx")], ["modules.json", fixture("bert_micro/modules.json")]]);
  await shown("", "graph");
  await page.evaluate(`location.hash = "m=encoder.layer.1.attention.self&v=graph"`);
  await shown("encoder.layer.1.attention.self", "graph");

  // The views.
  for (const [tab, view, wanted] of [["Explain", "explain", /Inputs/], ["Nodes", "nodes", /MatMul/], ["Cost", "cost", /batch_size/],
                                     ["Evidence", "known", /scope/], ["Query", "query", /Module paths/]]) {
    await page.click("#tabs button", tab);
    await shown("encoder.layer.1.attention.self", view);
    await until(`${wanted}.test(document.getElementById("panel").textContent)`, `${tab} to say ${wanted}`);
    await accessible(tab);
  }
  await page.type("#query", "op:Softmax");
  await until(`document.querySelectorAll("#panel tbody tr").length === 2`, "two nodes");
  await page.type("#query", "op:(");
  await until(`document.querySelector("#panel .bad")`, "why the query cannot be read");
  await page.click("#tabs button", "Nodes");
  await until(`document.querySelector("#nodes .op")?.textContent !== undefined`, "nodes");
  await page.click("#nodes .row", "MatMul");
  await until(`/Evidence/.test(document.getElementById("panel").textContent)`, "what is known of a node");
  assert.match(await page.evaluate("location.hash"), /v=explain&n=%2Fencoder%2Flayer\.1/);
  await accessible("a node");
  await picture("explained");

  // Downloads.
  await page.click("#tabs button", "Graph");
  await shown("encoder.layer.1.attention.self", "graph");
  const save = async (button, name) => {
    await page.click("#saves summary");
    return downloaded(`#${button}`, name);
  };
  const part = await save("save-cut", "encoder.layer.1.attention.self.onnx");
  assert.ok(part.length > 4000);
  assert.ok((await save("save-tag", "model.tagged.onnx")).includes("pkg.stemma"));
  assert.match((await save("save-report", "model.html")).toString(), /^<!DOCTYPE html>.*"bert|Bert/s);
  assert.match((await save("save-svg", "encoder.layer.1.attention.self.svg")).toString(), /^<svg xmlns/);
  assert.equal(JSON.parse(await save("save-tree", "model.tree.json")).schema, "stemma.tree/1");
  assert.equal(JSON.parse(await save("save-tags", "model.tags.json")).schema, "stemma.sidecar/1");
  const ort = from("onnxruntime-node");
  const session = await ort.InferenceSession.create(part);
  const hidden = session.inputNames.find(name => !name.includes("Mul"));
  const feeds = Object.fromEntries(session.inputNames.map(name => [name, name === hidden
    ? new ort.Tensor("float32", Float32Array.from({length: 96}, (_, i) => Math.sin(i)), [1, 3, 32])
    : new ort.Tensor("float32", new Float32Array(3), [1, 1, 1, 3])]));
  const results = await session.run(feeds);
  assert.ok(Object.values(results).every(one => one.data.every(Number.isFinite)), "the part computes numbers");

  // A link to a node, by its name; and back.
  await page.evaluate(`location.hash = "m=encoder&v=explain&n=/pooler/dense/Gemm"`);
  await until(`/Gemm.*pooler\\.dense/.test(document.getElementById("panel").textContent)`, "the node of a link");
  await page.view.goBack();
  await shown("encoder.layer.1.attention.self", "graph");

  // Two models at once.
  await drop([["old.onnx", fixture("mlp/model.onnx")], ["new.onnx", fixture("mlp/model.onnx")]]);
  await shown("", "diff");
  await until(`/equal/.test(document.getElementById("panel").textContent)`, "that they are equal");
  assert.ok((await downloaded("#save-carried", "new.tagged.onnx")).includes("pkg.stemma"));
  await accessible("two models");
  const bytes = all => `Promise.resolve([new Uint8Array([${[...all]}])])`;
  await drop([["one.onnx", bytes(layerModel(1, "one.bin"))], ["two.onnx", bytes(layerModel(1, "two.bin"))],
              ["one.bin", bytes([0, 0, 0x80, 0x3f])], ["two.bin", bytes([0, 0, 0, 0x40])]]);
  await shown("", "diff");
  await until(`/1 of 1 differ/.test(document.getElementById("panel").textContent)`, "by how much their external weights differ");

  // One of two that is no model.
  const broken = ["broken.onnx", bytes([10, 200, 1, 2, 3])];
  await page.view.locator("#others").setInputFiles({name: broken[0], mimeType: "", buffer: Buffer.from([10, 200, 1, 2, 3])});
  await until(`/broken\\.onnx: /.test(document.getElementById("message").textContent)`, "what is wrong with the other model");
  await until(`/takes another model/.test(document.getElementById("panel").textContent)`, "that no model is compared");
  await drop([broken, ["two.onnx", fixture("mlp/model.onnx")]]);
  await until(`/broken\\.onnx: /.test(document.getElementById("message").textContent)`, "what is wrong with the first model");
  await page.evaluate("new Promise(done => setTimeout(done, 300))"); // nothing follows
  assert.equal(await page.text("#title"), "one.onnx", "what was open stays");
  assert.match(await page.text("#panel"), /takes another model/);

  // What is no model, and what is too large.
  await drop([["old.onnx", fixture("mlp/model.onnx")]]);
  await shown("", "graph");
  await drop([broken]);
  await until(`/broken\\.onnx: /.test(document.getElementById("message").textContent)`, "what is wrong with the file");
  await picture("broken");
  await drop([["huge.onnx", `Promise.resolve(Array(8).fill(new Blob([new Uint8Array(1 << 28)])))`]]);
  await until(`/2 GiB/.test(document.getElementById("message").textContent)`, "that 2 GiB are refused");
  assert.equal(await page.text("#title"), "old.onnx", "what was open stays");

  // Many nodes, in more modules: only rows in sight exist. How long it took is told, not judged: machines differ.
  for (const count of [1400, 100000, 200000]) {
    const path = join(folder, `n${count}.onnx`);
    writeFileSync(path, chainModel(deepNames(count)));
    await page.evaluate("delete document.documentElement.dataset.shown");
    const begin = performance.now();
    await page.view.locator("#files").setInputFiles(path);
    await shown("", "graph");
    console.log(`${count} nodes are shown after ${((performance.now() - begin) / 1e3).toFixed(1)} s`);
  }
  await page.click("#tabs button", "Nodes");
  await until(`document.querySelector("#nodes .op")`, "rows of nodes");
  const frames = await page.evaluate(`(async () => {
    const list = document.getElementById("nodes"), times = [];
    for (let i = 0; i < 40; ++i) {
      list.scrollTop = (i * 917917) % list.scrollHeight;
      const begin = performance.now();
      await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
      times.push(performance.now() - begin);
    }
    list.scrollTop = list.scrollHeight;
    return times.sort((a, b) => a - b);
  })()`);
  await until(`/blocks\\.1999\\/layers\\.9\\/act9/.test(document.querySelector("#nodes .row:last-child")?.textContent)`, "the last node");
  assert.ok(await page.evaluate(`document.querySelectorAll(".row").length`) < 150);
  await page.view.setViewportSize({width: 420, height: 900}); // a telephone
  await page.evaluate("new Promise(done => setTimeout(done, 100))");
  assert.ok(await page.evaluate(`document.querySelectorAll(".row").length`) < 150);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 420);
  await page.view.setViewportSize({width: 1280, height: 800});
  const begin = performance.now();
  await page.type("#search", "blocks.1777.layers.3.act5");
  await until(`/^1 module, 0 nodes/.test(document.querySelector("#found .note")?.textContent)`, "what is found");
  console.log(`scrolling in 200,000 nodes: ${frames[20].toFixed(0)} ms a frame, at most ${frames[39].toFixed(0)}; a search ${(performance.now() - begin).toFixed(0)} ms`);
  await page.click("#found .row");
  await shown("blocks.1777.layers.3.act5", "nodes");
  await page.evaluate(`location.hash = ""`);

  await page.prefer("dark");
  await drop([["resnet.onnx", fixture("resnet18/model.structure.onnx")], ["modules.json", fixture("resnet18/modules.json")],
              ["weights.bin", "Promise.resolve(Array(48).fill(new Uint8Array(1 << 20)))"]]); // external data and a capture
  await until(`document.getElementById("title").textContent === "resnet.onnx" || !document.getElementById("message").hidden`, "ResNet");
  await shown("", "graph");
  assert.equal(await page.evaluate(`document.getElementById("message").hidden`), true);
  await picture("dark");

  // Without the network.
  await until(`navigator.serviceWorker.ready.then(() => true)`, "what keeps the page");
  await new Promise(done => server.close(done) || server.closeAllConnections());
  await page.view.reload();
  await until(`document.documentElement.dataset.started === "true"`, "the page without the network");
  await page.click("#sample");
  await shown("", "graph");
}

try {
  await test();
  const problems = page.problems.filter(text => !/ERR_CONNECTION_REFUSED|ERR_INTERNET|service worker/i.test(text));
  assert.deepEqual(problems, []);
  console.log("the page does what it should");
} finally {
  await closeBrowser();
  server.closeAllConnections();
  server.close();
}
