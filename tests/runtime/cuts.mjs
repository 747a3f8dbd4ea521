// SPDX-License-Identifier: Apache-2.0
// Cuts every module out of every fixture model, and checks that each part is a valid model and computes the values of
// the whole model, bit for bit.

import fs from "node:fs";
import path from "node:path";

import { FixtureSuite, firstLine, unjudged } from "./suite.mjs";

// Maximum of rejected modules among those with nodes.
const mayRefuse = 0.1;

class CutTest extends FixtureSuite {
    constructor() {
        super(["modules", "parts", "exact", "in bodies", "random", "refused"], ["refused", unjudged]);
    }

    async model(name, info, folder) {
        const whole = path.join(folder, path.basename(info.file));
        fs.copyFileSync(info.file, whole);
        // Copies of large weights for every model would take gigabytes, so they are linked.
        const data = info.external.length > 0 && !name.includes("structure") ? "link" : "copy";
        const parts = path.join(folder, "parts");
        fs.rmSync(parts, { recursive: true, force: true }); // those of the model before
        const cuts = this.cut(name, info, whole, parts, data);
        if (cuts !== null) {
            await this.checkAll(
                name,
                cuts.map((cut) => path.join(parts, cut.file)),
            );
            const values = await this.harness.allValues(whole, this.feeds(info, [1])[0]);
            for (const cut of cuts) {
                await this.part(`${name}: ${cut.file}`, cut, path.join(parts, cut.file), values);
            }
        }
    }

    /** @returns the written parts; null if there are none. */
    cut(name, info, whole, parts, data) {
        const words = ["cut", whole, "--all", "-d", parts, "--data", data, "--quiet", "--no-sync"];
        const result = this.stemma([...words, ...this.captured(info)]);
        if (result.status !== 0 && result.status !== 1) {
            this.fail(name, `cut --all: ${result.reason}`);
            return null;
        }
        const { cuts } = JSON.parse(fs.readFileSync(path.join(parts, "index.json"), "utf8"));
        const modules = new Set(cuts.map((cut) => cut.module));
        const refused = cuts.filter((cut) => cut.status === "refused");
        this.row.modules += modules.size;
        const without = new Set(refused.map((cut) => cut.module));
        this.row.refused += without.size;
        refused.forEach((cut) => this.note("refused", `${name}: ${cut.module}: ${cut.reason}: ${cut.text}`));
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
        let session;
        try {
            session = await this.harness.load(file);
            const inputs = [...session.inputNames];
            const outputs = [...session.outputNames];
            if (String(inputs) !== String(cut.inputs) || String(outputs) !== String(cut.outputs)) {
                this.fail(name, "the index says other inputs or outputs than the part has");
            }
            if (![...inputs, ...outputs].every((value) => values.has(value))) {
                this.row["in bodies"] += 1; // its values are those of one iteration, so only loading is tested
                return;
            }
            if (!cut.exact) {
                this.row.random += 1;
                return;
            }
            const differing = await this.harness.compareLoaded(values, session);
            differing.forEach(({ name: value, reason }) => this.fail(name, `output ${value}: ${reason}`));
            this.row.exact += differing.length === 0 ? 1 : 0;
        } catch (error) {
            this.fail(name, firstLine(error.message));
        } finally {
            await session?.release();
        }
    }
}

process.exitCode = await new CutTest().main();
