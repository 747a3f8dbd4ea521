// SPDX-License-Identifier: Apache-2.0
// Splits every fixture model in several ways, and checks that the parts are valid models, that run one after the
// other they compute what the whole does, bit for bit, that together they are the file they were, and that a part
// that was edited joins, too.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

import { fixtureModels, firstLine, groupBy, layoutOf, printList, printTable } from "./fixtures.mjs";
import { Workplace, differences, harnessOrSkip, skipped } from "./ort.mjs";

const { values: options } = parseArgs({
    options: {
        fixtures: { type: "string", default: process.env.STEMMA_FIXTURES },
        stemma: { type: "string" },
        checker: { type: "string", default: process.env.STEMMA_CHECKER },
        work: { type: "string", default: process.env.STEMMA_WORK },
        only: { type: "string", default: "" }, // fixtures with this in their name
    },
});

const splits = [
    ["--parts", "1"],
    ["--parts", "3"],
    ["--parts", "7", "--cost", "operators"],
    ["--depth", "1"],
    ["--depth", "2", "--merge"],
    ["--module", "is:leaf"],
];

class SplitTest {
    rows = [];
    failures = [];
    notes = [];

    constructor(harness, workplace) {
        this.harness = harness;
        this.workplace = workplace;
    }

    fail(model, reason) {
        this.failures.push(`${model}: ${reason}`);
    }

    async fixture(name, infos) {
        this.row = {
            fixture: name,
            models: 0,
            splits: 0,
            parts: 0,
            "same bytes": 0,
            "same values": 0,
            "joined edited": 0,
            random: 0,
            "too small": 0,
        };
        for (const group of groupBy(infos, layoutOf).values()) {
            const folder = fs.mkdtempSync(path.join(this.workplace.folder, `${name}-`));
            if (group[0].external.length > 0) {
                this.harness.writeWeights(group[0].file, folder);
            }
            for (const info of group) {
                await this.model(`${name}/${path.basename(info.file)}`, info, folder);
            }
            fs.rmSync(folder, { recursive: true });
        }
        this.rows.push(this.row);
    }

    async model(name, info, folder) {
        this.row.models += 1;
        const whole = path.join(folder, path.basename(info.file));
        fs.copyFileSync(info.file, whole);
        const feeds = this.feeds(info);
        const results = await this.harness.runCases(whole, [feeds]);
        for (const [i, split] of splits.entries()) {
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

    feeds(info) {
        const saved = path.join(path.dirname(info.file), "io");
        return fs.existsSync(path.join(saved, "io.json"))
            ? this.harness.savedCases(saved)[0].feeds
            : this.harness.seededInputs(info, { seed: 1 });
    }

    stemma(...words) {
        const result = spawnSync(options.stemma, words, { encoding: "utf8", maxBuffer: 1 << 28 });
        if (result.status !== 0) {
            throw new Error(`${words[0]}: ${result.error?.message ?? `exit code ${result.status}: ${result.stderr}`}`);
        }
        return result;
    }

    async split(name, split, at) {
        const capture = path.join(path.dirname(at.info.file), "modules.json");
        const data = at.info.external.length > 0 ? "link" : "copy";
        const words = ["split", at.whole, "-d", at.parts, "--data", data, "--no-sync", ...split];
        this.row.splits += 1;
        let said;
        try {
            said = this.stemma(...words, ...(fs.existsSync(capture) ? ["-m", capture] : []));
        } catch (error) {
            if (split[0] === "--parts" && error.message.includes("nodes that are not constant")) {
                this.row["too small"] += 1;
                return;
            }
            throw error;
        }
        const manifest = JSON.parse(fs.readFileSync(path.join(at.parts, "split.json"), "utf8"));
        this.row.parts += manifest.parts.length;
        if (split[0] === "--parts" && manifest.parts.length !== Number(split[1])) {
            this.fail(name, `${manifest.parts.length} parts`);
        }
        this.check(name, manifest, at.parts);
        const joined = path.join(path.dirname(at.whole), "joined.onnx");
        this.stemma("join", at.parts, "-o", joined, "--no-sync");
        if (fs.readFileSync(joined).equals(fs.readFileSync(at.whole))) {
            this.row["same bytes"] += 1;
        } else {
            this.fail(name, "the joined model has other bytes");
        }
        if (said.stderr.includes("other results each time")) {
            this.row.random += 1;
        } else {
            await this.runParts(name, manifest, at);
            await this.joinEdited(name, manifest, at, joined);
        }
        fs.rmSync(joined);
    }

    async runParts(name, manifest, at) {
        const known = new Map(Object.entries(at.feeds));
        const types = new Map(manifest.tensors.map((tensor) => [tensor.name, tensor.type]));
        if ([...types.values()].some((type) => type.includes("("))) {
            this.notes.push(`${name}: a value between parts is no tensor`);
            return;
        }
        for (const p of manifest.order) {
            const session = await this.harness.load(path.join(at.parts, manifest.parts[p].file));
            const feeds = Object.fromEntries(session.inputNames.map((input) => [input, known.get(input)]));
            const made = await this.harness.run(session, feeds);
            made.forEach((tensor, value) => known.set(value, tensor));
            await session.release();
        }
        const expected = new Map([...at.results].filter(([value]) => types.has(value)));
        this.compare(name, expected, known, "same values");
    }

    compare(name, expected, found, column) {
        const made = new Map([...expected.keys()].map((value) => [value, found.get(value)]));
        const wrong = differences(expected, made);
        wrong.forEach(({ name: value, reason }) => this.fail(name, `${column}: ${value}: ${reason}`));
        this.row[column] += wrong.length === 0 ? 1 : 0;
    }

    /** Edits the parts that have inputs; the whole with all edits gives the same results. */
    async joinEdited(name, manifest, at, joined) {
        let edited = 0;
        for (const { file } of manifest.parts.slice(0, 5)) {
            const part = path.join(at.parts, file);
            const words = ["detour", part, part, `${file} input`];
            edited += spawnSync(this.harness.modelInfo, words).status === 0 ? 1 : 0;
        }
        const said = this.stemma("join", at.parts, "-o", joined, "--no-sync");
        if (edited === 0 || !said.stdout.includes("joined with changes")) {
            this.fail(name, `${edited} parts were edited, yet join says: ${firstLine(said.stdout)}`);
        }
        const [results] = await this.harness.runCases(joined, [at.feeds]);
        this.compare(name, at.results, results, "joined edited");
        this.verdicts(name, [joined]);
    }

    check(name, manifest, parts) {
        this.verdicts(
            name,
            manifest.parts.map((part) => path.join(parts, part.file)),
        );
    }

    verdicts(name, files) {
        if (!options.checker) {
            return;
        }
        const result = spawnSync(options.checker, files, { encoding: "utf8", maxBuffer: 1 << 28 });
        const verdicts = (result.stdout ?? "").split("\n").filter(Boolean).map((line) => JSON.parse(line));
        if (verdicts.length !== files.length) {
            this.fail(name, `the checker gave ${verdicts.length} verdicts on ${files.length} files`);
        }
        verdicts
            .filter((verdict) => verdict.judged && !verdict.ok)
            .forEach(({ file, message }) =>
                this.fail(name, `the checker says of ${path.basename(file)}: ${firstLine(message)}`),
            );
    }

    /** Prints what was done. @returns whether all is well. */
    report() {
        printTable(this.rows);
        printList("not run", this.notes);
        printList("FAILED", this.failures);
        return this.rows.length > 0 && this.failures.length === 0;
    }
}

async function main() {
    if (!options.stemma) {
        console.log("skipped: the program stemma is not built");
        return skipped;
    }
    const harness = harnessOrSkip();
    const workplace = new Workplace(options.work);
    try {
        const test = new SplitTest(harness, workplace);
        for (const [name, models] of fixtureModels(options.fixtures, options.only)) {
            await test.fixture(name, harness.describe(models));
        }
        return test.report() ? 0 : 1;
    } finally {
        workplace.dispose();
    }
}

process.exitCode = await main();
