#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Asks the library in the page what the program is asked, of every model in some folders, and expects the same
// answers and the same files; data of tensors beyond a limit are not read.
//
// usage: answers_test.mjs PROGRAM PAGE FOLDER...
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {basename, dirname, join, resolve} from "node:path";
import {chainModel, deepNames} from "../cli/chain_model.mjs";
import {runProgram} from "../runtime/programs.mjs";

process.setMaxListeners(0); // each library that is loaded adds some
const [program, page, ...folders] = process.argv.slice(2).map(path => resolve(path));
if (!existsSync(join(page, "stemma.wasm"))) {
  console.log("skipped: the page was not built (sh examples/web/build.sh)");
  process.exit(77);
}
const create = createRequire(import.meta.url)(join(page, "stemma.js"));
const compiled = new WebAssembly.Module(readFileSync(join(page, "stemma.wasm")));
const scratch = mkdtempSync(join(tmpdir(), "stemma-web-"));
process.on("exit", () => rmSync(scratch, {recursive: true, force: true}));

/** The library, with a folder in front of it. */
async function load(folder) {
  const lib = await create({
    instantiateWasm(imports, done) {
      const instance = new WebAssembly.Instance(compiled, imports);
      done(instance, compiled);
      return instance.exports;
    },
  });
  lib.FS.mkdir("/a");
  lib.FS.mount(lib.FS.filesystems.NODEFS, {root: folder}, "/a");
  lib.FS.chdir("/a");
  const bytesAt = name => {
    const begin = lib[`_${name}`]();
    return Buffer.from(lib.HEAPU8.slice(begin, begin + lib[`_${name}_size`]()));
  };
  let reads = 0;
  const read = lib.FS.read;
  lib.FS.read = (...slice) => ++reads && read(...slice);
  return {
    reads: () => reads,
    ask(request) {
      const text = Buffer.from(JSON.stringify(request));
      const at = lib._malloc(text.length);
      lib.HEAPU8.set(text, at);
      const failed = lib._stemma_call(at, text.length);
      lib._free(at);
      const answer = bytesAt("stemma_answer").toString();
      return failed ? {problem: answer} : {answer};
    },
    file(list, source) {
      const bytes = bytesAt("stemma_made");
      let at = 0;
      return Buffer.concat(JSON.parse(list).pieces.map(([begin, size]) =>
        begin >= 0 ? source.subarray(begin, begin + size) : bytes.subarray(at, at += size)));
    },
  };
}

const answers = new Map();
/** What the program answers and writes after `-o` and `--sidecar`; a model is asked about once for all limits. */
function run(folder, ...args) {
  const key = JSON.stringify([folder, ...args]);
  if (!answers.has(key)) {
    const done = runProgram(program, args, folder);
    const written = option => done.status === 0 && args.includes(option) ? readFileSync(args[args.indexOf(option) + 1]) : undefined;
    answers.set(key, {...done, output: written("-o"), sidecar: written("--sidecar")});
  }
  return answers.get(key);
}
const models = folders.flatMap(folder => readdirSync(folder, {recursive: true}).filter(name => name.endsWith(".onnx"))
  .map(name => join(folder, name)));
assert.ok(models.length > 0, "there are no models");
// Which time it took differs.
const timeless = text => text.replace(/"seconds": [^,}]+/g, "");

/** The tree as the page has it. */
function outlineOf(ask) {
  const {names, classes, parents, nodes} = JSON.parse(ask({do: "outline"}).answer);
  const texts = classes.filter(one => typeof one === "string");
  const modules = [];
  names.forEach((name, m) => {
    const above = modules[parents[m]];
    modules.push({path: !above ? "" : above.path === "" ? name : `${above.path}.${name}`, parent: above?.path ?? null, nodes: nodes[m],
                  class: typeof classes[m] === "string" ? classes[m] : texts[classes[m]]});
  });
  return modules;
}

async function compare() {
  let compared = 0;
  for (const path of models) {
    const folder = dirname(path), model = basename(path);
    const source = readFileSync(path);
    answers.clear();
    const captures = existsSync(join(folder, "modules.json")) ? ["modules.json"] : [];
    const given = captures.flatMap(name => ["-m", name]);
    const {ask, file} = await load(folder);
    const same = (request, ...args) => {
      const expected = run(folder, ...args, "-q");
      const reply = ask(request);
      if (expected.status !== 0) {
        assert.ok(reply.problem !== undefined, `${path}: ${args[0]} is refused`);
        return;
      }
      assert.equal(reply.problem, undefined, `${path}: ${args[0]}`);
      assert.ok(timeless(reply.answer) === timeless(expected.stdout), `${path}: ${args[0]} says something else`);
      ++compared;
    };
    for (const limit of [1 << 16, 1 << 10]) {
      const opened = ask({do: "open", file: model, captures, limit});
      if (opened.problem !== undefined) {
        const refused = run(folder, "tree", model, ...given, "-q");
        assert.notEqual(refused.status, 0, `${path}: ${opened.problem}`);
        assert.ok(refused.stderr.includes(opened.problem), `${path}: ${opened.problem} rather than ${refused.stderr}`);
        continue;
      }
      same({do: "tree"}, "tree", model, ...given, "--format", "json");
      const tree = JSON.parse(ask({do: "tree"}).answer).modules;
      const {rows} = JSON.parse(ask({do: "rows", module: 0, count: 1000}).answer);
      const wanted = [tree.at(-1).path || "''", ...rows.filter((_, i) => i % 97 === 0).map(([place]) => place)];
      same({do: "explain", what: wanted}, "explain", model, ...wanted, ...given, "--format", "json");
      const {inputs, outputs} = JSON.parse(ask({do: "explain", what: ["''"]}).answer).answers[0].modules[0];
      assert.ok([...inputs, ...outputs].every(({graph, of_model: ofModel, modules}) => ofModel === (graph === "") && modules.length === 0),
                `${path}: what is passed inside is no input or output of the model`);
      same({do: "query", query: "op:MatMul or op:Conv"}, "query", model, "op:MatMul or op:Conv", ...given, "--format", "json");
      for (const [m, {path, class: name, parent, nodes}] of outlineOf(ask).entries()) {
        const {path: wanted, class: type, parent: above, nodes: count} = tree[m];
        assert.deepEqual([path, name, parent, nodes], [wanted, type ?? "", above ?? null, count], `${model}: the outline is another tree`);
      }
      const [all, first] = ["query", "matches"].map(name => ask({do: name, query: "op:MatMul or op:Conv"}));
      assert.equal(first.problem, all.problem, path);
      if (!all.problem) {
        const {nodes} = JSON.parse(all.answer), {node_count: count, nodes: shown} = JSON.parse(first.answer);
        assert.equal(count, nodes.length, `${path}: as many match`);
        assert.deepEqual(shown.map(([place]) => place), nodes.slice(0, 200).map(({graph, index}) => graph ? `${graph}#${index}` : `#${index}`), path);
      }
      same({do: "cost"}, "analyze", model, ...given, "--cost", "--format", "json");

      const report = run(folder, "export", model, ...given, "--to", "html", "-o", join(scratch, "report.html"), "--no-sync", "-q");
      assert.equal(report.status, 0, report.stderr);
      assert.ok(timeless(file(ask({do: "report"}).answer, source).toString()) === timeless(report.output.toString()),
                `${path}: the report is another one`);
      const tagged = run(folder, "tag", model, ...given, "--sidecar", join(scratch, "tags.json"),
                         "-o", join(scratch, "tagged.onnx"), "--no-sync", "-q");
      assert.equal(tagged.status, 0, tagged.stderr);
      if (!JSON.parse(opened.answer).tagged) { // else the program writes what it finds anew
        assert.ok(timeless(ask({do: "tags"}).answer) === timeless(tagged.sidecar.toString()), `${path}: tags are others`);
      }
      assert.ok(file(ask({do: "tag"}).answer, source).equals(tagged.output), `${path}: the tagged file is another one`);
      compared += 3;
      for (const module of tree.filter((_, i) => i % Math.ceil(tree.length / 6) === 1)) {
        const cut = run(folder, "cut", model, ...given, "--module", module.path, "-o", join(scratch, "part.onnx"), "--data", "keep",
                        "--no-sync", "-q");
        const reply = ask({do: "cut", module: module.path});
        assert.equal(reply.problem === undefined, cut.status === 0, `${path}: ${module.path}: ${reply.problem} ${cut.stderr}`);
        if (cut.status === 0) {
          assert.ok(file(reply.answer, source).equals(cut.output), `${path}: ${module.path} is cut otherwise`);
          ++compared;
        }
      }
    }
  }

  // Two models, whose weights are read for that.
  for (const first of models.filter(path => basename(path) === "model.onnx")) {
    const folder = dirname(first);
    const second = models.map(path => basename(path)).find((name, i) => dirname(models[i]) === folder && name !== "model.onnx");
    const expected = second && run(folder, "diff", "model.onnx", second, "--nodes", "--format", "json", "-q");
    if (!expected || expected.status > 1) {
      continue;
    }
    const {ask, file} = await load(folder);
    for (const [slot, file] of [["a", "model.onnx"], ["b", second]]) {
      assert.equal(ask({do: "open", slot, file, limit: 1 << 10}).problem, undefined);
    }
    assert.ok(ask({do: "diff", nodes: true}).answer === expected.stdout, `${first} and ${second} differ otherwise`);
    const done = run(folder, "carry", "model.onnx", second, "-o", join(scratch, "carried.onnx"), "--no-sync", "-q");
    const answer = ask({do: "carry"});
    assert.equal(answer.problem === undefined, done.status === 0, `${first} to ${second}: ${answer.problem} ${done.stderr}`);
    if (done.status === 0) {
      assert.ok(file(answer.answer, readFileSync(join(folder, second))).equals(done.output), `${first} is carried to ${second} otherwise`);
    }
    compared += 2;
  }

  // The page is sent what it shows, however large the model is.
  const large = await load(scratch);
  writeFileSync(join(scratch, "large.onnx"), chainModel(deepNames(100000)));
  const sizes = [{do: "open", file: "large.onnx"}, {do: "outline"}, {do: "graph", module: 0}, {do: "rows", module: 0, first: 99000},
                 {do: "search", text: "act7"}, {do: "matches", query: "op:Relu"}, {do: "costs", module: 0}]
    .map(request => [request.do, large.ask(request).answer.length]);
  assert.ok(large.reads() < 100, `it is read in ${large.reads()} slices`);
  for (const [name, size] of sizes) {
    assert.ok(size < (name === "outline" ? 4e6 : 1e5), `${name} answers ${size} bytes`);
  }
  console.log(`of 100,000 nodes: ${sizes.map(([name, size]) => `${name} ${size}`).join(", ")} bytes`);

  // What is no request, and what is no model.
  const {ask} = await load(scratch);
  assert.match(ask({do: "tree"}).problem, /no model is open/);
  assert.match(ask({do: "nonsense"}).problem, /unknown 'nonsense'/);
  assert.match(ask({}).problem, /do/);
  assert.match(ask({do: "open", file: "missing.onnx"}).problem, /missing\.onnx: /);
  execFileSync("truncate", ["-s", "3G", join(scratch, "huge.onnx")]);
  assert.match(ask({do: "open", file: "huge.onnx"}).problem, /2 GiB/);
  execFileSync("truncate", ["-s", "1G", join(scratch, "zero.onnx")]);
  assert.match(ask({do: "open", file: "zero.onnx"}).problem, /^zero\.onnx: /);
  console.log(`${models.length} models, ${compared} answers and files are the same`);
}

// Caught here, as emscripten prints all its source for what is not.
compare().catch(problem => {
  console.error(problem.stack);
  process.exit(1);
});
