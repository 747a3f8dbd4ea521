// SPDX-License-Identifier: Apache-2.0
// Optimizes the fixtures without names with ONNX Runtime, and tags each file alone and with every kind of
// capture: with a capture, the result must not be worse.

import fs from "node:fs";
import path from "node:path";

import { percent } from "./confidence.mjs";
import { modulesAfter } from "./origins.mjs";
import { FixtureSuite, firstLine } from "./suite.mjs";
import { byName, readJson, relationOf, truthOf } from "./truth.mjs";
import { Graphs } from "./wire.mjs";

const levels = ["basic", "extended", "all"];
const captures = [["modules"], ["modules", "trace"], ["modules", "fx"], ["modules", "trace", "fx"]];

// Operations of scripted modules are only known to be in a module or below: what a runtime fuses and moves in their
// bodies may go to the wrong one of the two. A trace of torch.fx does not see into them: the alignment's quality is
// exactly 0.5, the least that is believed.
const maxFewerExact = 8;
const minExactTraced = 97; // percent of all nodes, with modules and a trace
const halfFitting = /^scripted_children\//;

const contaminated = "more contaminated nodes than without the capture";
const fewer = "fewer exact nodes than without the capture";
const unoptimizable = "not optimized by ONNX Runtime";

class CapturedTest extends FixtureSuite {
    traced = { nodes: 0, exact: 0 };

    constructor() {
        super(["pairs", "nodes", "alone", "captured"], [contaminated, fewer, unoptimizable]);
    }

    takes(file) {
        return /^(unnamed|anonymous)\.onnx$/.test(path.basename(file)) && fs.existsSync(this.truth(file));
    }

    truth(file) {
        return truthOf(path.join(path.dirname(file), "model.onnx"));
    }

    async model(name, info, folder) {
        const modules = byName(readJson(this.truth(info.file)), ["opaque"]);
        const source = path.join(folder, "source.onnx");
        fs.copyFileSync(info.file, source);
        const before = new Graphs(fs.readFileSync(source));
        for (const level of levels) {
            const where = `${name}: ${level}`;
            const file = path.join(folder, `${level}.onnx`);
            try {
                await this.harness.optimize(source, file, level, { external: info.external.length > 0 });
            } catch (error) {
                this.note(unoptimizable, `${where}: ${firstLine(error.message)}`);
                continue;
            }
            const after = new Graphs(fs.readFileSync(file));
            const truth = modulesAfter(before, after, (node) => modules.get(node.name));
            this.compare(where, info, file, after, truth);
        }
    }

    compare(where, info, file, graphs, truth) {
        const alone = this.judge(where, file, graphs, truth, []);
        for (const parts of captures) {
            const words = this.captured(info, parts.map((part) => `${part}.json`));
            if (words.length < 2 * parts.length) {
                continue;
            }
            const both = this.judge(where, file, graphs, truth, words);
            this.row.pairs += 1;
            this.row.nodes += graphs.nodes.length;
            this.row.alone += alone.exact;
            this.row.captured += both.exact;
            if (parts.join() === "modules,trace") {
                this.traced.nodes += truth.filter((module) => module !== null).length;
                this.traced.exact += both.exact;
            }
            const line = `${where}: ${parts.join(" and ")}:`;
            if (both.contaminated > alone.contaminated) {
                this.note(contaminated, `${line} ${both.contaminated}, without ${alone.contaminated}`);
                if (!(halfFitting.test(where) && parts.includes("fx"))) {
                    this.fail(where, `contaminated with ${parts.join(" and ")}`);
                }
            }
            if (both.exact < alone.exact) {
                this.note(fewer, `${line} ${both.exact}, without ${alone.exact}`);
            }
        }
    }

    /** @returns the number of exact and of contaminated nodes. */
    judge(where, file, graphs, truth, words) {
        const sidecar = path.join(this.workplace.folder, "sidecar.json");
        const result = this.stemma(["tag", file, "--sidecar", sidecar, "--quiet", "--no-sync", ...words]);
        if (result.status !== 0) {
            throw new Error(`${where}: ${result.reason}`);
        }
        const nodes = new Map(readJson(sidecar).nodes.map((node) => [`${node.graph}#${node.index}`, node]));
        const counts = { exact: 0, ancestor: 0, descendant: 0, contaminated: 0 };
        graphs.nodes.forEach(({ place, index }, k) => {
            if (truth[k] !== null) {
                counts[relationOf(nodes.get(`${place}#${index}`).scope_module, truth[k])] += 1;
            }
        });
        return counts;
    }

    finish() {
        const count = this.lists.get(fewer).length;
        if (count > maxFewerExact) {
            this.fail("all", `${count} have fewer exact nodes with a capture, at most ${maxFewerExact} may`);
        }
        const exact = percent(this.traced.exact, this.traced.nodes);
        console.log(`\nexact with modules and a trace: ${exact.toFixed(2)} % of ${this.traced.nodes}`);
        if (exact < minExactTraced) {
            this.fail("all", `${exact} % exact with modules and a trace, the goal is ${minExactTraced} %`);
        }
    }

    isComplete() {
        return this.rows.some(({ captured, alone }) => captured > alone);
    }
}

process.exitCode = await new CapturedTest().main();
