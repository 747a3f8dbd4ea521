// SPDX-License-Identifier: Apache-2.0
// Tags every fixture model with the program and checks that nothing changes for its users: the ONNX checker accepts it,
// and ONNX Runtime computes the same bits.

import fs from "node:fs";
import path from "node:path";

import { allFinite, differences, relativeError } from "./ort.mjs";
import { FixtureSuite, firstLine, unjudged } from "./suite.mjs";

// Carriers and the levels of graph optimization to run. Fusions copy metadata of nodes.
const carriers = {
    metadata: ["none", "all"],
    mark: ["none"],
    "doc-string": ["none"],
    namespace: ["none"],
    model: ["none"],
    "metadata,mark,doc-string,namespace,model": ["all"],
};
const levels = ["none", "all"];

// The message of both the checker and ONNX Runtime about the carrier `attribute`.
const refusal = /Unrecognized attribute: (source_module|hierarchy_tags)/;

// Compared with PyTorch: its kernels differ, but a wrong input or weight would show.
const tolerance = 1e-4;

const seeded = "seeded before they were compared";
const unrunnable = "not run, as ONNX Runtime refuses the untagged model";

class TaggedTest extends FixtureSuite {
    constructor() {
        const counted = ["cases", "runs", "outputs compared", "checker accepts"];
        const refusals = ["checker refuses attribute", "runtime refuses attribute"];
        super([...counted, ...refusals], [seeded, unjudged, unrunnable]);
    }

    /** All fixtures run; none may silently drop out of the test. */
    isComplete() {
        return super.isComplete() && this.lists.get(unrunnable).length === 0;
    }

    async model(name, info, folder) {
        const plain = path.join(folder, path.basename(info.file));
        fs.copyFileSync(info.file, plain);
        const cases = this.cases(info);
        const expected = await this.untagged(name, info, plain, cases);
        const files = new Map([["", plain]]);
        for (const carrier of [...Object.keys(carriers), "attribute"]) {
            const tagged = this.tag(name, info, plain, carrier);
            if (tagged === null) {
                continue;
            }
            files.set(carrier, tagged);
            if (expected !== null && carrier === "attribute") {
                await this.refusedByRuntime(name, tagged);
            } else if (expected !== null) {
                await this.sameOutputs(name, info, tagged, carrier, cases, expected);
            }
        }
        await this.check(name, files);
    }

    cases(info) {
        const saved = path.join(path.dirname(info.file), "io");
        const cases = fs.existsSync(path.join(saved, "io.json"))
            ? this.harness.savedCases(saved)
            : [1, 2].map((seed) => ({ feeds: this.harness.seededInputs(info, { seed }) }));
        this.row.cases += cases.length;
        return cases;
    }

    // Random operators draw different numbers in every session, but the same with a seed in both files;
    // the file as it is must at least load.
    async run(info, file, cases, optimize) {
        let runnable = file;
        if (info.random_nodes > 0) {
            await (await this.harness.load(file, { optimize })).release();
            runnable = file.replace(/\.onnx$/, ".seeded.onnx");
            this.harness.seed(file, runnable);
        }
        this.row.runs += cases.length;
        const feeds = cases.map((one) => one.feeds);
        return this.harness.runCases(runnable, feeds, { optimize });
    }

    /** @returns the outputs of the untagged model, by level; null if it does not run. */
    async untagged(name, info, plain, cases) {
        const results = {};
        for (const level of levels) {
            try {
                results[level] = await this.run(info, plain, cases, level);
            } catch (error) {
                this.note(unrunnable, `${name}: optimization ${level}: ${firstLine(error.message)}`);
                return null;
            }
        }
        if (info.random_nodes > 0) {
            this.note(seeded, `${name}: ${info.random_nodes} random operators, seeded in both files`);
        }
        results.none.forEach((outputs, k) => {
            outputs.forEach((tensor, output) => this.judgeUntagged(name, info, cases[k], output, tensor));
        });
        return results;
    }

    // Comparing NaN with NaN, or a model with wrong inputs, would prove nothing.
    judgeUntagged(name, info, { expected }, output, tensor) {
        if (!allFinite(tensor)) {
            this.fail(name, `untagged: output ${output} is not finite`);
        }
        const comparable = !name.includes("training") && info.external.length === 0;
        const reference = comparable ? expected?.get(output) : undefined;
        if (reference !== undefined && !(relativeError(reference, tensor) <= tolerance)) {
            this.fail(name, `untagged: output ${output} is not what PyTorch computed`);
        }
    }

    tag(name, info, plain, carrier) {
        const tagged = plain.replace(/\.onnx$/, `.${carrier.replaceAll(",", "+")}.tagged.onnx`);
        const words = ["tag", plain, "-o", tagged, "--carrier", carrier, "--quiet", "--no-sync"];
        const result = this.stemma([...words, ...this.captured(info)]);
        if (result.status !== 0) {
            this.fail(name, `tag --carrier ${carrier}: ${result.reason}`);
            return null;
        }
        if (!fs.readFileSync(tagged).includes(carrier === "attribute" ? "source_module" : "pkg.stemma.")) {
            this.fail(name, `tag --carrier ${carrier}: there is no tag in the file`);
        }
        return tagged;
    }

    async sameOutputs(name, info, tagged, carrier, cases, expected) {
        for (const level of carriers[carrier]) {
            const where = `carrier ${carrier}, optimization ${level}`;
            let results;
            try {
                results = await this.run(info, tagged, cases, level);
            } catch (error) {
                this.fail(name, `${where}: ${firstLine(error.message)}`);
                continue;
            }
            for (const [k, outputs] of results.entries()) {
                this.row["outputs compared"] += outputs.size;
                for (const { name: output, reason } of differences(expected[level][k], outputs)) {
                    this.fail(name, `${where}, case ${k}, output ${output}: ${reason}`);
                }
            }
        }
    }

    async refusedByRuntime(name, tagged) {
        try {
            await (await this.harness.load(tagged)).release();
            this.fail(name, "carrier attribute: ONNX Runtime should refuse it, and loads it");
        } catch (error) {
            if (refusal.test(error.message)) {
                this.row["runtime refuses attribute"] += 1;
            } else {
                this.fail(name, `carrier attribute: ONNX Runtime: ${firstLine(error.message)}`);
            }
        }
    }

    async check(name, files) {
        const [plain, ...verdicts] = (await this.verdicts(name, [...files.values()])) ?? [];
        if (plain === undefined) {
            return;
        }
        if (!plain.judged) {
            this.note(unjudged, `${name}: ${firstLine(plain.message)}`);
        } else if (!plain.ok) {
            this.fail(name, `untagged: the checker says ${firstLine(plain.message)}`);
        }
        [...files.keys()].slice(1).forEach((carrier, i) => this.judge(name, carrier, plain, verdicts[i]));
    }

    judge(name, carrier, plain, { judged, ok, message }) {
        if (judged !== plain.judged) {
            this.fail(name, `carrier ${carrier}: the checker judges only one of untagged and tagged`);
        } else if (judged && carrier === "attribute") {
            if (!ok && refusal.test(message)) {
                this.row["checker refuses attribute"] += 1;
            } else {
                const said = ok ? "should refuse it, and does not" : `says ${firstLine(message)}`;
                this.fail(name, `carrier attribute: the checker ${said}`);
            }
        } else if (judged && ok) {
            this.row["checker accepts"] += 1;
        } else if (judged) {
            this.fail(name, `carrier ${carrier}: the checker says ${firstLine(message)}`);
        }
    }
}

process.exitCode = await new TaggedTest().main();
