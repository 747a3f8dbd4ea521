// SPDX-License-Identifier: Apache-2.0
// Splits every fixture model in several ways, and checks that the parts are valid models, compute in sequence what the
// whole does, bit for bit, join to the original file, and join after edits of a part.

import fs from "node:fs";
import path from "node:path";

import { differences } from "./ort.mjs";
import { FixtureSuite, firstLine, unjudged } from "./suite.mjs";

const splits = [
    ["--parts", "1"],
    ["--parts", "3"],
    ["--parts", "7", "--cost", "operators"],
    ["--depth", "1"],
    ["--depth", "2", "--merge"],
    ["--module", "is:leaf"],
];

/** @returns the ways to split a model: half of them if each writes hundreds of megabytes. */
function splitsOf(info) {
    const bytes = info.external.reduce((sum, tensor) => sum + tensor.length, 0);
    return bytes > 2e8 ? splits.filter((_, i) => i % 2 === 1) : splits;
}

class SplitTest extends FixtureSuite {
    constructor() {
        const counted = ["splits", "parts", "same bytes", "same values", "joined edited", "random", "too small"];
        super(counted, ["not run", unjudged]);
    }

    async model(name, info, folder) {
        const whole = path.join(folder, path.basename(info.file));
        fs.copyFileSync(info.file, whole);
        const feeds = this.feeds(info, [1])[0];
        const results = await this.harness.runCases(whole, [feeds]);
        for (const [i, split] of splitsOf(info).entries()) {
            const parts = path.join(folder, `parts${i}`);
            try {
                await this.split(`${name} ${split.join(" ")}`, split, { info, whole, parts, feeds, results: results[0] });
            } catch (error) {
                this.fail(`${name} ${split.join(" ")}`, firstLine(error.message));
            }
            fs.rmSync(parts, { recursive: true, force: true });
        }
        fs.rmSync(whole);
    }

    async split(name, split, at) {
        const data = at.info.external.length > 0 ? "link" : "copy";
        const words = ["split", at.whole, "-d", at.parts, "--data", data, "--no-sync", ...split];
        this.row.splits += 1;
        const said = this.stemma([...words, ...this.captured(at.info)]);
        if (split[0] === "--parts" && said.reason.includes("nodes that are not constant")) {
            this.row["too small"] += 1;
            return;
        }
        if (said.status !== 0) {
            this.fail(name, `split: ${said.reason}`);
            return;
        }
        const manifest = JSON.parse(fs.readFileSync(path.join(at.parts, "split.json"), "utf8"));
        this.row.parts += manifest.parts.length;
        if (split[0] === "--parts" && manifest.parts.length !== Number(split[1])) {
            this.fail(name, `${manifest.parts.length} parts`);
        }
        await this.checkAll(
            name,
            manifest.parts.map((part) => path.join(at.parts, part.file)),
        );
        const joined = path.join(path.dirname(at.whole), "joined.onnx");
        const back = this.stemma(["join", at.parts, "-o", joined, "--no-sync"]);
        if (back.status !== 0) {
            this.fail(name, `join: ${back.reason}`);
            return;
        }
        if (fs.readFileSync(joined).equals(fs.readFileSync(at.whole))) {
            this.row["same bytes"] += 1;
        } else {
            this.fail(name, "the joined model has other bytes");
        }
        if (said.err.includes("not deterministic")) {
            this.row.random += 1;
        } else {
            await this.runParts(name, manifest, at);
            await this.joinEdited(name, manifest, at, joined);
        }
        fs.rmSync(joined);
    }

    async runParts(name, manifest, at) {
        const values = new Map(Object.entries(at.feeds));
        const types = new Map(manifest.tensors.map((tensor) => [tensor.name, tensor.type]));
        if ([...types.values()].some((type) => type.includes("("))) {
            this.note("not run", `${name}: a value between parts is no tensor`);
            return;
        }
        for (const p of manifest.order) {
            const session = await this.harness.load(path.join(at.parts, manifest.parts[p].file));
            const feeds = Object.fromEntries(session.inputNames.map((input) => [input, values.get(input)]));
            const outputs = await this.harness.run(session, feeds);
            outputs.forEach((tensor, value) => values.set(value, tensor));
            await session.release();
        }
        const expected = new Map([...at.results].filter(([value]) => types.has(value)));
        this.compare(name, expected, values, "same values");
    }

    compare(name, expected, actual, column) {
        const outputs = new Map([...expected.keys()].map((value) => [value, actual.get(value)]));
        const wrong = differences(expected, outputs);
        wrong.forEach(({ name: value, reason }) => this.fail(name, `${column}: ${value}: ${reason}`));
        this.row[column] += wrong.length === 0 ? 1 : 0;
    }

    /** Edits the parts with inputs; the whole with all edits must give the same results. */
    async joinEdited(name, manifest, at, joined) {
        const edited = this.harness.detour(manifest.parts.slice(0, 5).map(({ file }) => path.join(at.parts, file)));
        const said = this.stemma(["join", at.parts, "-o", joined, "--no-sync"]);
        if (edited === 0 || !said.out.includes("joined with changes")) {
            this.fail(name, `${edited} parts were edited, yet join says: ${firstLine(said.out)} ${said.reason}`);
        }
        const [results] = await this.harness.runCases(joined, [at.feeds]);
        this.compare(name, at.results, results, "joined edited");
        await this.checkAll(name, [joined]);
    }
}

process.exitCode = await new SplitTest().main();
