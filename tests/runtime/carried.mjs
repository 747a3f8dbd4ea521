// SPDX-License-Identifier: Apache-2.0
// Optimizes every fixture with ONNX Runtime, carries the tags of the original over, and checks their accuracy and the
// origins of every node. docs/carry.md shows the output.

import fs from "node:fs";
import path from "node:path";

import { percent } from "./confidence.mjs";
import { asDynamoExport } from "./dynamo.mjs";
import { slicesAfter } from "./origins.mjs";
import { FixtureSuite, firstLine, printTable } from "./suite.mjs";
import { Graphs, anonymous } from "./wire.mjs";

const levels = ["basic", "extended", "all"];

// For each kind of model, by level, in percent: minimum of nodes with the exact module and of those with exactly the
// true origins, maximum of contaminated ones.
const named = { exact: [99.8, 99.8, 99.8], sets: [99.9, 99.9, 99.9], contaminated: [0.05, 0.05, 0.05] };
const goals = {
    TorchScript: named,
    dynamo: named,
    "TorchScript, no names": { exact: [99.7, 99.6, 99.7], sets: [97, 96, 96], contaminated: [0.05, 0.05, 0.05] },
};

// Modules of a model, in percent, that `diff` finds in the export of the other exporter.
const leastMatched = 95;

const contaminated = "contaminated";
const broken = "differs after an intermediate file";
const unoptimizable = "not optimized by ONNX Runtime";

class CarriedTest extends FixtureSuite {
    groups = new Map(); // kind and level -> counts
    modules = { matched: 0, all: 0 }; // of the older exports, in the newer ones

    constructor() {
        super(["carried", "nodes", "chained"], [contaminated, unoptimizable, broken]);
    }

    takes(file) {
        const whole = ["model.onnx", "model.structure.onnx"].includes(path.basename(file));
        return whole && fs.existsSync(path.join(path.dirname(file), "truth.json"));
    }

    async model(name, info, folder) {
        const [truth, initializers, tree] = ["truth", "initializers", "modules"].map((part) =>
            JSON.parse(fs.readFileSync(path.join(path.dirname(info.file), `${part}.json`), "utf8")),
        );
        const moduleOf = new Map();
        for (const node of truth.nodes) {
            const module = node.module ?? node.known_module ?? node.inferred_module ?? undefined;
            moduleOf.set(node.original, moduleOf.has(node.original) && moduleOf.get(node.original) !== module ? undefined : module);
        }
        const plain = path.join(folder, "plain.onnx");
        fs.copyFileSync(info.file, plain);
        const options = { external: info.external.length > 0, captured: this.captured(info) };
        await this.levels(name, "TorchScript", plain, (node) => moduleOf.get(node.name), options);
        const dynamoExport = asDynamoExport(fs.readFileSync(plain), { truth, initializers, modules: tree });
        const dynamo = path.join(folder, "dynamo.onnx");
        fs.writeFileSync(dynamo, dynamoExport.bytes);
        this.compareExports(name, plain, dynamo);
        await this.levels(name, "dynamo", dynamo, (node) => dynamoExport.modules.get(node.outputs[0]), options);
    }

    /** The newer exporter only adds modules: those of normalizations that the older one folds into convolutions. */
    compareExports(name, older, newer) {
        const { status, out, reason } = this.stemma(["diff", older, newer, "--no-weights", "--format", "json"]);
        if (status > 1) {
            this.fail(name, `diff: ${reason}`);
            return;
        }
        const { matched, size_first: first } = JSON.parse(out);
        this.modules.matched += matched.modules;
        this.modules.all += first.modules;
    }

    async levels(name, kind, file, moduleOf, { external, captured }) {
        const original = new Graphs(fs.readFileSync(file));
        const tagged = file.replace(/\.onnx$/, ".tagged.onnx");
        const outcome = this.stemma(["tag", file, "-o", tagged, "--quiet", "--no-sync", ...captured]);
        if (outcome.status !== 0) {
            this.fail(name, `${kind}: ${outcome.reason}`);
            return;
        }
        for (const level of levels) {
            const out = file.replace(/\.onnx$/, `.${level}.onnx`);
            const where = `${name}: ${kind}, ${level}`;
            try {
                await this.harness.optimize(file, out, level, { external });
            } catch (error) {
                this.note(unoptimizable, `${where}: ${firstLine(error.message)}`);
                continue;
            }
            const graphs = new Graphs(fs.readFileSync(out));
            const truth = slicesAfter(original, graphs, moduleOf);
            this.row.carried += 1;
            this.row.nodes += graphs.nodes.length;
            this.judge(where, this.countsOf(kind, level), graphs, truth, this.carry(where, tagged, out));
            if (kind === "TorchScript") {
                const [before, after] = [tagged, out].map((from, k) => {
                    const to = from.replace(/\.onnx$/, ".anonymous.onnx");
                    fs.writeFileSync(to, anonymous(fs.readFileSync(from), "xy"[k]));
                    return to;
                });
                const counts = this.countsOf(`${kind}, no names`, level);
                this.judge(where, counts, graphs, truth, this.carry(where, before, after));
                [before, after].forEach((one) => fs.rmSync(one));
            }
            this.keepsReads(where, tagged, out);
            if (kind === "TorchScript" && level === "basic" && !external) {
                await this.chain(where, tagged, out);
            }
            fs.rmSync(out);
            fs.rmSync(`${out}.data`, { force: true });
        }
    }

    /** What ONNX Runtime replaces is another operator; it moves the others, but none of them reads something else. */
    keepsReads(where, before, after) {
        const { status, out, reason } = this.stemma(["diff", before, after, "--no-weights", "--format", "json"]);
        if (status > 1) {
            this.fail(where, `diff: ${reason}`);
            return;
        }
        for (const { first, changes } of JSON.parse(out).modules.filter((one) => one.changes.includes("rewired"))) {
            this.fail(where, `diff: "${first}" is ${changes}`);
        }
    }

    /** Carrying to a further optimized file by way of `between` must give what carrying directly gives. */
    async chain(where, original, between) {
        const carried = between.replace(/\.onnx$/, ".tagged.onnx");
        const outcome = this.stemma(["carry", original, between, "-o", carried, "--quiet", "--no-sync"]);
        if (outcome.status !== 0) {
            this.fail(where, outcome.reason);
            return;
        }
        const last = between.replace(/\.onnx$/, ".last.onnx");
        try {
            await this.harness.optimize(between, last, "all", { external: false });
        } catch (error) {
            this.note(unoptimizable, `${where}, again: ${firstLine(error.message)}`);
            return;
        }
        const [direct, chained] = [original, carried].map((from) => this.carry(`${where}, all`, from, last));
        for (const [at, node] of direct ?? []) {
            const other = chained?.get(at);
            const text = (one) => `${one?.scope_module}, ${one?.origins?.map(({ graph, index }) => `${graph}#${index}`).sort()}`;
            this.row.chained += 1;
            if (text(node) !== text(other)) {
                this.note(broken, `${where}: ${node.name} (${node.op_type}): ${text(other)}, directly ${text(node)}`);
                this.fail(where, `${node.name} ${broken}`);
            }
        }
        [carried, last].forEach((one) => fs.rmSync(one));
    }

    /** @returns the result of `stemma carry` for the nodes of a model, by position; null if it fails. */
    carry(where, original, changed) {
        const sidecar = path.join(this.workplace.folder, "sidecar.json");
        fs.rmSync(sidecar, { force: true });
        const result = this.stemma(["carry", original, changed, "--sidecar", sidecar, "--quiet", "--no-sync"]);
        if (result.status !== 0) {
            this.fail(where, result.reason);
            return null;
        }
        const { nodes } = JSON.parse(fs.readFileSync(sidecar, "utf8"));
        return new Map(nodes.map((node) => [`${node.graph}#${node.index}`, node]));
    }

    judge(where, counts, graphs, truth, carried) {
        graphs.nodes.forEach((node, k) => {
            if (truth[k] === null || carried === null) {
                counts.untold += 1;
                return;
            }
            const entry = carried.get(`${node.place}#${node.index}`);
            const relation = relationOf(entry.scope_module, truth[k].module);
            counts[relation] += 1;
            if (relation === contaminated && !where.includes("no names")) {
                const how = `${entry.scope_module} is ${truth[k].module}, ${entry.origin_kind}`;
                this.note(contaminated, `${where}: ${node.name} (${node.op}): ${how}`);
            }
            if (truth[k].nodes) {
                const places = (nodes) => nodes.map(({ graph, place, index }) => `${graph ?? place}#${index}`).sort().join();
                counts.sets += 1;
                counts.same += places(entry.origins) === places(truth[k].nodes) ? 1 : 0;
            }
        });
    }

    countsOf(kind, level) {
        const key = `${kind}, ${level}`;
        if (!this.groups.has(key)) {
            this.groups.set(key, { exact: 0, ancestor: 0, descendant: 0, contaminated: 0, untold: 0, sets: 0, same: 0 });
        }
        return this.groups.get(key);
    }

    finish() {
        const matched = percent(this.modules.matched, this.modules.all);
        if (matched < leastMatched) {
            this.fail("all", `modules matched in two exports: ${matched.toFixed(2)}, the goal is ${leastMatched}`);
        }
        const rows = [];
        for (const [group, counts] of this.groups) {
            const nodes = counts.exact + counts.ancestor + counts.descendant + counts.contaminated;
            const share = (what) => percent(counts[what], nodes);
            const sets = percent(counts.same, counts.sets);
            const relations = ["exact", "ancestor", "descendant", "contaminated"];
            const shares = Object.fromEntries(relations.map((one) => [one, `${share(one).toFixed(2)} %`]));
            rows.push({ models: group, nodes, ...shares, sets: `${sets.toFixed(2)} %`, untold: counts.untold });
            const kind = group.slice(0, group.lastIndexOf(", "));
            const k = levels.indexOf(group.slice(kind.length + 2));
            const goal = goals[kind];
            const require = (passed, what, value, limit) =>
                passed ? undefined : this.fail(group, `${what}: ${value.toFixed(3)}, the goal is ${limit}`);
            require(share("exact") >= goal.exact[k], "exact", share("exact"), goal.exact[k]);
            require(sets >= goal.sets[k], "sets", sets, goal.sets[k]);
            const wrong = share("contaminated");
            require(wrong <= goal.contaminated[k], "contaminated", wrong, goal.contaminated[k]);
        }
        printTable(rows, { markdown: true });
        console.log();
    }
}

function relationOf(module, truth) {
    const isAbove = (a, b) => a === "" || b.startsWith(`${a}.`);
    if (module === truth) {
        return "exact";
    }
    return isAbove(module, truth) ? "ancestor" : isAbove(truth, module) ? "descendant" : "contaminated";
}

process.exitCode = await new CarriedTest().main();
