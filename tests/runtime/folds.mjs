// SPDX-License-Identifier: Apache-2.0
// Folds every fixture model, and checks that the folded model is valid and computes the same, bit for bit, that it
// unfolds to the file it was, and that its functions hold the nodes of their modules.

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

// What is folded: modules as the capture and a trace know them, with and without torch.nn; as the file alone tells
// them.
const captures = ["modules.json", "trace.json"];
const ways = {
    captured: { words: [], captures },
    everything: { words: ["--select", "all", "--least", "1"], captures },
    alone: { words: [], captures: [] },
};

class FoldTest {
    rows = [];
    failures = [];
    remarks = [];
    unjudged = [];

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
            folded: 0,
            functions: 0,
            calls: 0,
            deepest: 0,
            same: 0,
            valid: 0,
            unfolded: 0,
            opened: 0,
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
        // Random operators draw the same numbers in the whole and in the folded model when both have a seed.
        if (info.random_nodes > 0) {
            this.harness.seed(info.file, whole);
        } else {
            fs.copyFileSync(info.file, whole);
        }
        const feeds = this.feeds(info);
        const expected = await this.harness.runCases(whole, feeds);
        const folded = [];
        for (const [way, how] of Object.entries(ways)) {
            const file = this.fold(name, info, whole, way, how);
            if (file !== null) {
                folded.push(file);
                this.unfold(`${name}, ${way}`, whole, file);
                await this.same(`${name}, ${way}`, file, feeds, expected);
                folded.push(await this.open(`${name}, ${way}`, file, feeds, expected));
            }
        }
        if (name.includes("functions")) {
            folded.push(await this.open(name, whole, feeds, expected));
        }
        const made = folded.filter((file) => file !== null);
        this.check(name, whole, made);
        made.forEach((file) => fs.rmSync(file));
    }

    feeds(info) {
        const saved = path.join(path.dirname(info.file), "io");
        return fs.existsSync(path.join(saved, "io.json"))
            ? this.harness.savedCases(saved).map((one) => one.feeds)
            : [1, 2].map((seed) => this.harness.seededInputs(info, { seed }));
    }

    stemma(words) {
        const result = spawnSync(options.stemma, words, { encoding: "utf8", maxBuffer: 1 << 28 });
        const reason = result.error?.message ?? `exit code ${result.status}: ${result.stderr}`;
        return { status: result.status, out: result.stdout, reason: firstLine(reason) };
    }

    /** @returns the folded file; null when there was nothing to fold. */
    fold(name, info, whole, way, how) {
        const file = whole.replace(/\.onnx$/, `.${way}.folded.onnx`);
        const captured = how.captures.map((part) => path.join(path.dirname(info.file), part)).filter((file) => fs.existsSync(file));
        const more = [...how.words, ...captured.flatMap((part) => ["-m", part])];
        const common = ["--format", "json", "--quiet", "--no-sync"];
        const result = this.stemma(["fold", whole, "-o", file, ...more, ...common]);
        if (result.status === 1) {
            this.remarks.push(`${name}, ${way}`);
            return null;
        }
        if (result.status !== 0) {
            this.fail(name, `fold, ${way}: ${result.reason}`);
            return null;
        }
        this.count(`${name}, ${way}`, JSON.parse(result.out));
        return file;
    }

    /** Opens what folding reports, and counts. */
    count(name, report) {
        this.row.folded += 1;
        this.row.functions += report.functions.length;
        this.row.calls += report.calls.length;
        const called = new Map();
        const own = report.calls.map(({ nodes }) => nodes);
        for (const { inside, nodes, function: callee } of report.calls) {
            called.set(callee, (called.get(callee) ?? 0) + 1);
            if (inside !== null) {
                own[inside] -= nodes;
            }
        }
        const functions = new Map(report.functions.map((one) => [`${one.domain}::${one.name}`, one]));
        report.calls.forEach((call, i) => {
            const callee = functions.get(call.function);
            if (callee?.nodes !== own[i]) {
                this.fail(name, `${call.module} has ${own[i]} nodes of its own, its function ${callee?.nodes}`);
            }
            let level = 1;
            for (let around = call.inside; around !== null; around = report.calls[around].inside) {
                level += 1;
            }
            this.row.deepest = Math.max(this.row.deepest, level);
        });
        for (const [text, { calls }] of functions) {
            if (called.get(text) !== calls) {
                this.fail(name, `${text} is called ${called.get(text)} times, and should be ${calls} times`);
            }
        }
    }

    unfold(name, whole, folded) {
        const back = folded.replace(/\.onnx$/, ".back.onnx");
        const result = this.stemma(["unfold", folded, "-o", back, "--quiet", "--no-sync"]);
        if (result.status !== 0) {
            this.fail(name, `unfold: ${result.reason}`);
        } else if (!fs.readFileSync(whole).equals(fs.readFileSync(back))) {
            this.fail(name, "unfold gives other bytes than were folded");
        } else if (this.stemma(["compare", whole, back, "--quiet"]).status !== 0) {
            this.fail(name, "compare says that the unfolded model is another one");
        } else {
            this.row.unfolded += 1;
        }
        fs.rmSync(back, { force: true });
    }

    /** Opens all calls, by whoever they are: nothing may depend on what folding wrote down. */
    async open(name, file, feeds, expected) {
        const opened = file.replace(/\.onnx$/, ".opened.onnx");
        const result = this.stemma(["unfold", file, "-o", opened, "--as-called", "--quiet", "--no-sync"]);
        if (result.status !== 0) {
            this.fail(name, `unfold --as-called: ${result.reason}`);
            return null;
        }
        this.row.opened += 1;
        await this.same(`${name}, opened`, opened, feeds, expected);
        return opened;
    }

    async same(name, folded, feeds, expected) {
        try {
            const found = await this.harness.runCases(folded, feeds);
            const wrong = found.flatMap((outputs, k) => differences(expected[k], outputs));
            wrong.forEach(({ name: output, reason }) => this.fail(name, `output ${output}: ${reason}`));
            this.row.same += wrong.length === 0 ? 1 : 0;
        } catch (error) {
            this.fail(name, `ONNX Runtime: ${firstLine(error.message)}`);
        }
    }

    check(name, whole, folded) {
        if (!options.checker) {
            this.unjudged.push(`${name}: the checker is not built`);
            return;
        }
        const result = spawnSync(options.checker, [whole, ...folded], { encoding: "utf8" });
        const lines = (result.stdout ?? "").split("\n").filter(Boolean);
        if (lines.length !== folded.length + 1) {
            this.fail(name, `the checker gave ${lines.length} verdicts on ${folded.length + 1} models`);
            return;
        }
        const [plain, ...verdicts] = lines.map((line) => JSON.parse(line));
        if (!plain.judged) {
            this.unjudged.push(`${name}: ${firstLine(plain.message)}`);
        }
        verdicts.forEach(({ file, judged, ok, message }) => {
            if (judged !== plain.judged || (judged && !ok)) {
                this.fail(name, `the checker says of ${path.basename(file)}: ${firstLine(message)}`);
            }
            this.row.valid += judged && ok ? 1 : 0;
        });
    }

    /** Prints what was done. @returns whether all is well. */
    report() {
        printTable(this.rows);
        printList("nothing to fold", this.remarks);
        printList("not judged by the checker", this.unjudged);
        printList("FAILED", this.failures);
        return this.rows.some((row) => row.folded > 0) && this.failures.length === 0;
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
        const test = new FoldTest(harness, workplace);
        for (const [name, models] of fixtureModels(options.fixtures, options.only)) {
            await test.fixture(name, harness.describe(models));
        }
        return test.report() ? 0 : 1;
    } finally {
        workplace.dispose();
    }
}

process.exitCode = await main();
