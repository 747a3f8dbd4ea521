// SPDX-License-Identifier: Apache-2.0
// The common parts of tests over all fixture models: options, finding models, running them in sequence, and reporting.

import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

import { Workplace, harnessOrSkip, skipped } from "./ort.mjs";
import { runProgram } from "./programs.mjs";

const { values: options } = parseArgs({
    options: {
        fixtures: { type: "string", default: process.env.STEMMA_FIXTURES },
        stemma: { type: "string" },
        checker: { type: "string", default: process.env.STEMMA_CHECKER },
        work: { type: "string", default: process.env.STEMMA_WORK },
        only: { type: "string", default: "" }, // fixtures with this in their name
    },
});

/**
 * A test over all models of all fixtures. A derived class has `async model(name, info, folder)`, with a folder of
 * generated weights for models without weights.
 */
export class FixtureSuite {
    rows = [];
    failures = [];

    /**
     * @param counted the columns of the table, counted for each fixture in `this.row`.
     * @param listed titles of printed lists, which `note` extends.
     */
    constructor(counted, listed) {
        this.counted = counted;
        this.lists = new Map(listed.map((title) => [title, []]));
    }

    fail(model, reason) {
        this.failures.push(`${model}: ${reason}`);
    }

    note(title, line) {
        this.lists.get(title).push(line);
    }

    /** @returns the inputs saved with a model, else generated ones for each seed. */
    feeds(info, seeds) {
        const saved = path.join(path.dirname(info.file), "io");
        return fs.existsSync(path.join(saved, "io.json"))
            ? this.harness.savedCases(saved).map((one) => one.feeds)
            : seeds.map((seed) => this.harness.seededInputs(info, { seed }));
    }

    /** @returns the options for captured files beside a model. */
    captured(info, parts = ["modules.json"]) {
        return parts
            .map((part) => path.join(path.dirname(info.file), part))
            .filter((file) => fs.existsSync(file))
            .flatMap((file) => ["-m", file]);
    }

    stemma(words) {
        const result = runProgram(options.stemma, words);
        const reason = result.error ?? `exit code ${result.status}: ${result.stderr}`;
        return { status: result.status, out: result.stdout, err: result.stderr, reason: firstLine(reason) };
    }

    /** @returns the ONNX checker's answer for each file; null without one. */
    async verdicts(name, files) {
        if (!options.checker) {
            this.note(unjudged, `${name}: the checker is not built`);
            return null;
        }
        // One process for all models: starting takes longer than checking.
        this.checker ??= spawn(options.checker, ["-"], { stdio: ["pipe", "pipe", "inherit"] });
        this.answers ??= createInterface({ input: this.checker.stdout })[Symbol.asyncIterator]();
        this.checker.stdin.write(files.map((file) => `${file}\n`).join(""));
        const verdicts = [];
        while (verdicts.length < files.length) {
            const { value, done } = await this.answers.next();
            if (done) {
                this.fail(name, `the checker gave ${verdicts.length} verdicts on ${files.length} files`);
                this.checker = this.answers = undefined;
                return null;
            }
            verdicts.push(JSON.parse(value));
        }
        return verdicts;
    }

    /** Fails for files that the checker rejects, and lists those it cannot judge. */
    async checkAll(name, files) {
        const verdicts = (await this.verdicts(name, files)) ?? [];
        const silent = verdicts.find((verdict) => !verdict.judged);
        if (silent) {
            this.note(unjudged, `${name}: ${firstLine(silent.message)}`);
        }
        verdicts
            .filter((verdict) => verdict.judged && !verdict.ok)
            .forEach(({ file, message }) =>
                this.fail(name, `the checker says of ${path.basename(file)}: ${firstLine(message)}`),
            );
    }

    /** Whether the test includes a model. */
    takes(_file) {
        return true;
    }

    /** Called after all models, before printing. */
    finish() {}

    /** @returns whether the figures show that something was tested. */
    isComplete() {
        return this.rows.length > 0;
    }

    async fixture(name, infos) {
        this.row = { fixture: name, models: 0, ...Object.fromEntries(this.counted.map((column) => [column, 0])) };
        for (const group of groupBy(infos, layoutOf).values()) {
            const folder = fs.mkdtempSync(path.join(this.workplace.folder, `${name}-`));
            if (group[0].external.length > 0) {
                this.harness.writeWeights(group[0].file, folder);
            }
            for (const info of group) {
                this.row.models += 1;
                const model = `${name}/${path.basename(info.file)}`;
                // A failing model does not stop the others.
                await this.model(model, info, folder).catch((error) => this.fail(model, firstLine(String(error))));
            }
            fs.rmSync(folder, { recursive: true });
        }
        this.rows.push(this.row);
    }

    /** @returns the exit code. */
    async main() {
        if (!options.stemma) {
            console.log("skipped: the program stemma is not built");
            return skipped;
        }
        this.harness = harnessOrSkip();
        this.workplace = new Workplace(options.work);
        try {
            for (const [name, models] of fixtureModels(options.fixtures, options.only)) {
                const files = models.filter((file) => this.takes(file));
                if (files.length > 0) {
                    await this.fixture(name, this.harness.describe(files));
                }
            }
        } finally {
            this.checker?.stdin.end();
            this.workplace.dispose();
        }
        this.finish();
        printTable(this.rows, { sums: true });
        this.lists.forEach((lines, title) => printList(title, lines));
        printList("FAILED", this.failures);
        return this.failures.length === 0 && this.isComplete() ? 0 : 1;
    }
}

/**
 * A test of a few models, which needs the program and ONNX Runtime; without these it exits as skipped.
 * @returns the options, a Harness, `check(truth, what)`, and `finish()`, which lists what failed and exits.
 */
export function beginChecks() {
    if (!options.stemma) {
        console.log("skipped: the program stemma is not built");
        process.exit(skipped);
    }
    const failures = [];
    return {
        options,
        harness: harnessOrSkip(),
        check(truth, what) {
            if (!truth) {
                failures.push(what);
            }
        },
        finish() {
            printList("FAILED", failures);
            process.exit(failures.length > 0 ? 1 : 0);
        },
    };
}

/** The title of the list of models too new for the installed checker. */
export const unjudged = "not judged by the checker";

export function firstLine(text) {
    return text.trim().split("\n")[0].slice(0, 300);
}

/**
 * Prints rows with the same keys, labelled by the first: with `sums`, followed by a row of sums; with `markdown`, in
 * the form for documents.
 */
export function printTable(rows, { sums = false, markdown = false } = {}) {
    if (rows.length === 0) {
        console.log("none");
        return;
    }
    const [about, ...columns] = Object.keys(rows[0]);
    const sumOf = (column) => rows.reduce((sum, row) => sum + row[column], 0);
    const total = { [about]: "all", ...Object.fromEntries(columns.map((column) => [column, sumOf(column)])) };
    const header = Object.fromEntries([about, ...columns].map((column) => [column, column]));
    const ruler = Object.fromEntries([about, ...columns].map((column) => [column, column === about ? "---" : "--:"]));
    const lines = [header, ...(markdown ? [ruler] : []), ...rows, ...(sums ? [total] : [])];
    const widthOf = (column) => Math.max(...lines.map((line) => String(line[column]).length));
    for (const line of lines) {
        const cells = columns.map((column) => String(line[column]).padStart(widthOf(column)));
        const all = [String(line[about]).padEnd(widthOf(about)), ...cells];
        console.log(markdown ? `| ${all.join(" | ")} |` : all.join("  "));
    }
}

function printList(title, lines) {
    console.log(`\n${title}: ${lines.length === 0 ? "none" : lines.length}`);
    lines.forEach((line) => console.log(`  ${line}`));
}

/** Models of one layout share the generated weights, which are large. */
function layoutOf(info) {
    return JSON.stringify(info.external.map((tensor) => ({ ...tensor, name: "" })));
}

function groupBy(things, keyOf) {
    const groups = new Map();
    for (const thing of things) {
        const key = keyOf(thing);
        groups.set(key, [...(groups.get(key) ?? []), thing]);
    }
    return groups;
}

/** @returns [fixture, model files] of every fixture with `only` in its name. */
function fixtureModels(fixtures, only) {
    const entries = fs.readdirSync(fixtures, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    return names
        .filter((name) => name.includes(only))
        .sort()
        .map((name) => [name, modelsIn(path.join(fixtures, name))])
        .filter(([, models]) => models.length > 0);
}

function modelsIn(folder) {
    return fs
        .readdirSync(folder)
        .filter((file) => file.endsWith(".onnx"))
        .sort()
        .map((file) => path.join(folder, file));
}
