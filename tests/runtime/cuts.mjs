// SPDX-License-Identifier: Apache-2.0
// Cuts every module out of every fixture model, and checks that each part is a valid model and computes, bit for
// bit, the values that the whole model has there.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

import { fixtureModels, firstLine, groupBy, layoutOf, printList, printTable } from "./fixtures.mjs";
import { Workplace, harnessOrSkip, skipped } from "./ort.mjs";

const { values: options } = parseArgs({
    options: {
        fixtures: { type: "string", default: process.env.STEMMA_FIXTURES },
        stemma: { type: "string" },
        checker: { type: "string", default: process.env.STEMMA_CHECKER },
        work: { type: "string", default: process.env.STEMMA_WORK },
        only: { type: "string", default: "" }, // fixtures with this in their name
    },
});

// Of the modules that own nodes, so many may be refused.
const mayRefuse = 0.1;

class CutTest {
    rows = [];
    failures = [];
    refusals = [];
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
            modules: 0,
            parts: 0,
            exact: 0,
            "in bodies": 0,
            random: 0,
            refused: 0,
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
        // Copies of large weights for every model would be gigabytes; links are the same bytes.
        const data = info.external.length > 0 && !name.includes("structure") ? "link" : "copy";
        const parts = path.join(folder, "parts");
        const cuts = this.cut(name, info, whole, parts, data);
        if (cuts !== null) {
            this.check(name, cuts, parts);
            const values = await this.harness.allValues(whole, this.feeds(info));
            for (const cut of cuts) {
                await this.part(`${name}: ${cut.file}`, cut, path.join(parts, cut.file), values);
            }
        }
        fs.rmSync(parts, { recursive: true, force: true });
    }

    feeds(info) {
        const saved = path.join(path.dirname(info.file), "io");
        return fs.existsSync(path.join(saved, "io.json"))
            ? this.harness.savedCases(saved)[0].feeds
            : this.harness.seededInputs(info, { seed: 1 });
    }

    /** @returns the parts that were written; null when none could be. */
    cut(name, info, whole, parts, data) {
        const capture = path.join(path.dirname(info.file), "modules.json");
        const words = ["cut", whole, "--all", "-d", parts, "--data", data, "--quiet", "--no-sync"];
        const result = spawnSync(options.stemma, fs.existsSync(capture) ? [...words, "-m", capture] : words, {
            encoding: "utf8",
        });
        if (result.status !== 0 && result.status !== 1) {
            const reason = result.error?.message ?? `exit code ${result.status}: ${result.stderr}`;
            this.fail(name, `cut --all: ${firstLine(reason)}`);
            return null;
        }
        const { cuts } = JSON.parse(fs.readFileSync(path.join(parts, "index.json"), "utf8"));
        const modules = new Set(cuts.map((cut) => cut.module));
        const refused = cuts.filter((cut) => cut.status === "refused");
        this.row.modules += modules.size;
        const without = new Set(refused.map((cut) => cut.module));
        this.row.refused += without.size;
        refused.forEach((cut) => this.refusals.push(`${name}: ${cut.module}: ${cut.reason}: ${cut.text}`));
        if (without.size > mayRefuse * modules.size) {
            this.fail(name, `${without.size} of ${modules.size} modules are refused`);
        }
        if (refused.some((cut) => !cut.text)) {
            this.fail(name, "a module is refused without a witness");
        }
        if ((result.status === 1) !== refused.length > 0) {
            this.fail(name, `exit code ${result.status} with ${refused.length} refused`);
        }
        return cuts.filter((cut) => cut.status === "written");
    }

    async part(name, cut, file, values) {
        this.row.parts += 1;
        try {
            const session = await this.harness.load(file);
            const inputs = [...session.inputNames];
            const outputs = [...session.outputNames];
            await session.release();
            if (String(inputs) !== String(cut.inputs) || String(outputs) !== String(cut.outputs)) {
                this.fail(name, "the index says other inputs or outputs than the part has");
            }
            if (![...inputs, ...outputs].every((value) => values.has(value))) {
                this.row["in bodies"] += 1; // its values are those of one iteration: it loads
                return;
            }
            if (!cut.exact) {
                this.row.random += 1;
                return;
            }
            const found = await this.harness.compareCut(values, file);
            found.forEach(({ name: value, reason }) => this.fail(name, `output ${value}: ${reason}`));
            this.row.exact += found.length === 0 ? 1 : 0;
        } catch (error) {
            this.fail(name, firstLine(error.message));
        }
    }

    check(name, cuts, parts) {
        if (!options.checker) {
            this.unjudged.push(`${name}: the checker is not built`);
            return;
        }
        const files = cuts.map((cut) => path.join(parts, cut.file));
        const result = spawnSync(options.checker, files, { encoding: "utf8", maxBuffer: 1 << 28 });
        const verdicts = (result.stdout ?? "").split("\n").filter(Boolean).map((line) => JSON.parse(line));
        if (verdicts.length !== cuts.length) {
            this.fail(name, `the checker gave ${verdicts.length} verdicts on ${cuts.length} parts`);
        }
        const unjudged = verdicts.filter((verdict) => !verdict.judged);
        if (unjudged.length > 0) {
            this.unjudged.push(`${name}: ${firstLine(unjudged[0].message)}`);
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
        printList("refused", this.refusals);
        printList("not judged by the checker", this.unjudged);
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
        const test = new CutTest(harness, workplace);
        for (const [name, models] of fixtureModels(options.fixtures, options.only)) {
            await test.fixture(name, harness.describe(models));
        }
        return test.report() ? 0 : 1;
    } finally {
        workplace.dispose();
    }
}

process.exitCode = await main();
