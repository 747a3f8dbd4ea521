#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Opens the page in a browser: a model is dropped, searched, cut and downloaded; what was downloaded runs.
//
// usage: page_test.mjs PAGE FIXTURES [PICTURES]      ONNX Runtime: STEMMA_RUNTIME=folder
import assert from "node:assert/strict";
import {existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {createServer} from "node:http";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {extname, join, resolve} from "node:path";
import {Page} from "../cli/browser.mjs";

const [site, fixtures, pictures] = process.argv.slice(2).map(path => resolve(path));
const folder = mkdtempSync(join(tmpdir(), "stemma-page-"));
process.on("exit", () => rmSync(folder, {recursive: true, force: true}));

const types = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json"};
const server = createServer((request, response) => {
  const name = new URL(request.url, "http://localhost").pathname;
  const path = name.startsWith("/fixtures/") ? join(fixtures, name.slice(10)) : join(site, name === "/" ? "index.html" : name);
  if (!existsSync(path)) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {"Content-Type": types[extname(path)] ?? "application/octet-stream"}).end(readFileSync(path));
});
await new Promise(done => server.listen(0, "127.0.0.1", done));
const home = `http://127.0.0.1:${server.address().port}/`;

const page = await Page.open(home);
await page.send("Page.setDownloadBehavior", {behavior: "allow", downloadPath: folder});
async function until(expression, what) {
  for (let i = 0; i < 600; ++i) {
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
const fixture = path => `fetch(${JSON.stringify(`/fixtures/${path}`)}).then(async answer => [await answer.blob()])`;
async function downloaded(name) {
  const path = join(folder, name);
  for (let i = 0; i < 400 && !(existsSync(path) && !readdirSync(folder).some(one => one.endsWith(".crdownload"))); ++i) {
    await new Promise(done => setTimeout(done, 50));
  }
  return readFileSync(path);
}
async function picture(name) {
  if (pictures) {
    mkdirSync(pictures, {recursive: true});
    writeFileSync(join(pictures, `${name}.png`), await page.picture());
  }
}

async function test() {
  await until(`document.documentElement.dataset.started === "true"`, "the page");
  await picture("start");

  // A sample with one click.
  await page.click("#sample");
  await shown("", "graph");
  assert.match(await page.text("#facts"), /281 nodes, \d+ modules/);
  await picture("sample");

  // A model and its capture, dropped.
  await page.evaluate(`location.hash = ""`);
  await drop([["model.onnx", fixture("bert_micro/model.onnx")], ["modules.json", fixture("bert_micro/modules.json")]]);
  await shown("", "graph");
  assert.equal(await page.text("#title"), "model.onnx");

  // Tree by keys, search, the address.
  await page.evaluate(`document.getElementById("tree").focus()`);
  await page.send("Input.dispatchKeyEvent", {type: "keyDown", key: "ArrowDown", code: "ArrowDown", windowsVirtualKeyCode: 40});
  await shown("embeddings", "graph");
  assert.equal(await page.evaluate(`document.querySelector("#tree [aria-selected=true] .name").textContent`), "embeddings");
  await page.type("#search", "layer.1.attention.self");
  await until(`document.querySelectorAll("#found a").length > 0`, "what is found");
  await page.click("#found a", "encoder.layer.1.attention.self");
  await shown("encoder.layer.1.attention.self", "graph");
  assert.ok((await page.texts("#panel svg text")).some(text => text === "Softmax"));
  await picture("attention");
  assert.match(await page.evaluate("location.hash"), /m=encoder\.layer\.1\.attention\.self&v=graph/);

  // The views.
  for (const [tab, view, wanted] of [["Explain", "explain", /Comes in/], ["Nodes", "nodes", /MatMul/], ["Cost", "cost", /batch_size/],
                                     ["Known from", "known", /scope/], ["Query", "query", /Module paths/]]) {
    await page.click("#tabs button", tab);
    await shown("encoder.layer.1.attention.self", view);
    await until(`${wanted}.test(document.getElementById("panel").textContent)`, `${tab} to say ${wanted}`);
  }
  await page.type("#query", "op:Softmax");
  await until(`document.querySelectorAll("#panel tbody tr").length === 2`, "two nodes");
  await page.type("#query", "op:(");
  await until(`document.querySelector("#panel .bad")`, "why the query cannot be read");
  await page.click("#tabs button", "Nodes");
  await until(`document.querySelector("#nodes .op")?.textContent !== undefined`, "nodes");
  await page.click("#nodes .row", "MatMul");
  await until(`/evidence/.test(document.getElementById("panel").textContent)`, "what is known of a node");
  await picture("explained");

  // Downloads.
  await page.click("#tabs button", "Graph");
  await shown("encoder.layer.1.attention.self", "graph");
  const save = async (button, name) => {
    await page.click("#saves summary");
    await page.click(`#${button}`);
    return downloaded(name);
  };
  const part = await save("save-cut", "encoder.layer.1.attention.self.onnx");
  assert.ok(part.length > 4000);
  assert.ok((await save("save-tag", "model.tagged.onnx")).includes("pkg.stemma"));
  assert.match((await save("save-svg", "encoder.layer.1.attention.self.svg")).toString(), /^<svg xmlns/);
  assert.equal(JSON.parse(await save("save-tree", "model.tree.json")).schema, "stemma.tree/1");
  assert.equal(JSON.parse(await save("save-tags", "model.tags.json")).schema, "stemma.sidecar/1");
  const runtime = process.env.STEMMA_RUNTIME;
  if (runtime && existsSync(join(runtime, "node_modules/onnxruntime-node"))) {
    const ort = createRequire(join(runtime, "package.json"))("onnxruntime-node");
    const session = await ort.InferenceSession.create(part);
    const hidden = session.inputNames.find(name => !name.includes("Mul"));
    const feeds = Object.fromEntries(session.inputNames.map(name => [name, name === hidden
      ? new ort.Tensor("float32", Float32Array.from({length: 96}, (_, i) => Math.sin(i)), [1, 3, 32])
      : new ort.Tensor("float32", new Float32Array(3), [1, 1, 1, 3])]));
    const results = await session.run(feeds);
    assert.ok(Object.values(results).every(one => one.data.every(Number.isFinite)), "the part computes numbers");
  } else {
    console.log("not run, as there is no ONNX Runtime: the part that was downloaded");
  }

  // Two models at once.
  await drop([["old.onnx", fixture("mlp/model.onnx")], ["new.onnx", fixture("mlp/model.onnx")]]);
  await shown("", "diff");
  await until(`/equal/.test(document.getElementById("panel").textContent)`, "that they are equal");

  // What is no model, and what is too large.
  await drop([["broken.onnx", `Promise.resolve([new Uint8Array([10, 200, 1, 2, 3])])`]]);
  await until(`/broken\\.onnx: /.test(document.getElementById("message").textContent)`, "what is wrong with the file");
  await picture("broken");
  await drop([["huge.onnx", `Promise.resolve(Array(8).fill(new Blob([new Uint8Array(1 << 28)])))`]]);
  await until(`/2 GiB/.test(document.getElementById("message").textContent)`, "that 2 GiB are refused");
  assert.equal(await page.text("#title"), "old.onnx", "what was open stays");

  // Every control has a name, and the page can be read in the dark.
  assert.deepEqual(await page.evaluate(`[...document.querySelectorAll("button, input, [role], a")].filter(e =>
    !e.closest("[hidden], [role=presentation]") && !e.textContent.trim() && !e.getAttribute("aria-label") && e.id !== "message" && e.id !== "busy").map(e => e.outerHTML)`), []);
  await page.prefer("dark");
  await drop([["resnet.onnx", fixture("resnet18/model.structure.onnx")]]);
  await until(`document.getElementById("title").textContent === "resnet.onnx" || !document.getElementById("message").hidden`, "ResNet");
  await shown("", "graph");
  await picture("dark");

  // Without the network.
  await until(`navigator.serviceWorker.ready.then(() => true)`, "what keeps the page");
  await new Promise(done => server.close(done) || server.closeAllConnections());
  await page.send("Page.reload");
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
  await page.close();
  server.closeAllConnections();
  server.close();
}
