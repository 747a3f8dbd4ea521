#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Checks the pages of examples/report without a browser.
//
// usage: lint_test.mjs syntax|types|eslint
//
// syntax: node parses each script, and all of a page joined; the page has every element that a script queries by id.
// eslint: with the rules of examples/report/eslint.config.mjs; skipped without ESLint 9 or newer (npm install eslint,
// or STEMMA_ESLINT=path). types: TypeScript's checker on these scripts and on those of examples/web; skipped without
// it (Debian: node-typescript).
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const report = join(dirname(fileURLToPath(import.meta.url)), "../../examples/report");
const folder = mkdtempSync(join(tmpdir(), "stemma-lint-"));
process.on("exit", () => rmSync(folder, {recursive: true, force: true}));

const pages = ["page.html", "panes.html"].map(name => {
  const page = readFileSync(join(report, "page", name), "utf8");
  const scripts = [...page.matchAll(/<script src="([^"]+)">/g)].map(match => match[1]);
  assert.ok(scripts.length > 1);
  return {name, page, scripts, joined: scripts.map(script => readFileSync(join(report, "page", script), "utf8")).join("")};
});

function run(program, ...args) {
  const {status, stdout, stderr, error} = spawnSync(program, args, {encoding: "utf8", cwd: folder});
  return error ? {status: 127, said: error.message} : {status, said: stdout + stderr};
}
function write(name, text) {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const what = process.argv[2];
if (what === "syntax") {
  const check = path => run(process.execPath, "--check", path);
  for (const {name, page, scripts, joined} of pages) {
    for (const path of [...scripts.map(script => join(report, "page", script)), write("page.js", joined)]) {
      const {status, said} = check(path);
      assert.equal(status, 0, said);
    }
    assert.notEqual(check(write("twice.js", joined + joined)).status, 0, "nothing would be found");
    const asked = [...joined.matchAll(/\bat\("([^"]+)"\)|getElementById\("([^"]+)"\)/g)].map(match => match[1] ?? match[2]);
    assert.ok(asked.length > 5);
    for (const id of asked.filter(each => each !== "steps")) { // written with the data
      assert.ok(page.includes(`id="${id}"`), `no element of ${name} is called ${id}`);
    }
  }
} else if (what === "types") {
  if (run("tsc", "--version").status !== 0) {
    console.log("skipped: TypeScript is not installed (Debian: node-typescript)");
    process.exit(77);
  }
  for (const project of ["tsconfig.json", "tsconfig.panes.json", "../web/tsconfig.json", "../web/tsconfig.workers.json"]) {
    const {status, said} = run("tsc", "-p", join(report, project));
    assert.equal(status, 0, said);
  }
  const {status} = run("tsc", "--noEmit", "--checkJs", "--allowJs", write("wrong.js", "document.title = 5;\n"));
  assert.notEqual(status, 0, "nothing would be found");
} else {
  assert.equal(what, "eslint");
  const eslint = process.env.STEMMA_ESLINT ?? "eslint";
  const {status, said} = run(eslint, "--version");
  if (status !== 0 || Number(said.match(/\d+/)?.[0]) < 9) {
    console.log("skipped: there is no ESLint 9 or newer (npm install -g eslint)");
    process.exit(77);
  }
  copyFileSync(join(report, "eslint.config.mjs"), join(folder, "eslint.config.mjs"));
  for (const {name, joined} of pages) {
    const lint = path => run(eslint, ...(name === "panes.html" ? ["--rule", "no-unused-vars: off"] : []), path); // shared scripts
    const {status: exit, said: problems} = lint(write("page.js", joined));
    assert.equal(exit, 0, problems);
    assert.equal(lint(write("wrong.js", joined + "undefinedName();\n")).status, 1, "nothing would be found");
  }
}
