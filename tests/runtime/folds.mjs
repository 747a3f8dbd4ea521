// SPDX-License-Identifier: Apache-2.0
// Folds every fixture model, and checks that the folded model is valid, computes the same, bit for bit, unfolds to the
// original file, and has functions with the nodes of their modules.

import fs from "node:fs";
import path from "node:path";

import { differences } from "./ort.mjs";
import { FixtureSuite, firstLine, unjudged } from "./suite.mjs";

// Ways to fold: with modules from capture and trace, with and without torch.nn; with those of the file alone; with
// constants as attributes.
const captures = ["modules.json", "trace.json"];
const ways = {
    captured: { words: [], captures },
    everything: { words: ["--select", "all", "--least", "1"], captures },
    alone: { words: [], captures: [] },
    varied: { words: ["--constants", "attributes", "--select", "all"], captures },
};

class FoldTest extends FixtureSuite {
    constructor() {
        const counted = ["folded", "functions", "calls", "varied", "deepest", "same", "valid", "unfolded", "opened"];
        super(counted, ["nothing to fold", unjudged]);
    }

    isComplete() {
        return this.rows.some((row) => row.folded > 0);
    }

    async model(name, info, folder) {
        const whole = path.join(folder, path.basename(info.file));
        // With a seed, random operators draw the same numbers in the original and in the folded model.
        if (info.random_nodes > 0) {
            this.harness.seed(info.file, whole);
        } else {
            fs.copyFileSync(info.file, whole);
        }
        const feeds = this.feeds(info, [1, 2]);
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
        const files = folded.filter((file) => file !== null);
        await this.check(name, whole, files);
        files.forEach((file) => fs.rmSync(file));
    }

    /** @returns the folded file; null if there was nothing to fold. */
    fold(name, info, whole, way, how) {
        const file = whole.replace(/\.onnx$/, `.${way}.folded.onnx`);
        const more = [...how.words, ...this.captured(info, how.captures)];
        const common = ["--format", "json", "--quiet", "--no-sync"];
        const result = this.stemma(["fold", whole, "-o", file, ...more, ...common]);
        if (result.status === 1) {
            this.note("nothing to fold", `${name}, ${way}`);
            return null;
        }
        if (result.status !== 0) {
            this.fail(name, `fold, ${way}: ${result.reason}`);
            return null;
        }
        this.count(`${name}, ${way}`, JSON.parse(result.out));
        return file;
    }

    /** Reads the report of folding, and counts. */
    count(name, report) {
        this.row.folded += 1;
        this.row.functions += report.functions.length;
        this.row.varied += report.functions.reduce((sum, one) => sum + one.attributes, 0);
        this.row.calls += report.calls.length;
        const called = new Map();
        const own = report.calls.map(({ nodes }) => nodes);
        for (const { inside, nodes, graph, function: callee } of report.calls) {
            called.set(callee, (called.get(callee) ?? 0) + 1);
            // A call in a body is in the function that contains the body, but not among its nodes.
            if (inside !== null && report.calls[inside].graph === graph) {
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

    /** Inlines all calls of any origin: nothing may depend on the records of folding. */
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
            const results = await this.harness.runCases(folded, feeds);
            const wrong = results.flatMap((outputs, k) => differences(expected[k], outputs));
            wrong.forEach(({ name: output, reason }) => this.fail(name, `output ${output}: ${reason}`));
            this.row.same += wrong.length === 0 ? 1 : 0;
        } catch (error) {
            this.fail(name, `ONNX Runtime: ${firstLine(error.message)}`);
        }
    }

    async check(name, whole, folded) {
        const [plain, ...verdicts] = (await this.verdicts(name, [whole, ...folded])) ?? [{ judged: true }];
        if (!plain.judged) {
            this.note(unjudged, `${name}: ${firstLine(plain.message)}`);
        }
        verdicts.forEach(({ file, judged, ok, message }) => {
            if (judged !== plain.judged || (judged && !ok)) {
                this.fail(name, `the checker says of ${path.basename(file)}: ${firstLine(message)}`);
            }
            this.row.valid += judged && ok ? 1 : 0;
        });
    }
}

process.exitCode = await new FoldTest().main();
