// SPDX-License-Identifier: Apache-2.0
// Optimizes every fixture with ONNX Runtime, tagged and as exported, and checks stemma's accuracy on the optimized file
// alone, and the reliability of its confidence. docs/evidence.md shows the output.

import fs from "node:fs";
import path from "node:path";

import { Curve, percent } from "./confidence.mjs";
import { asDynamoExport } from "./dynamo.mjs";
import { modulesAfter } from "./origins.mjs";
import { FixtureSuite, firstLine, printTable } from "./suite.mjs";
import { byName, readJson, relationOf, truthOf } from "./truth.mjs";
import { Graphs } from "./wire.mjs";

const levels = ["basic", "extended", "all"];

// For each kind of model, by level: minimum of exact nodes and maximum of contaminated ones, in percent; maximum of
// nonexistent modules. `sure`: minimum of correct nodes among those with a confidence of at least 0.9, in percent.
// `cut`: whether to test that `cut` rejects no module that it cuts out of the model before optimization.
// At `all`, nodes depend on the vector width of the processor: ONNX Runtime blocks channels by it.
const torchscript = { exact: [99.8, 99.8, 97.6], contaminated: [0, 0, 0.1], invented: [0, 0, 0], sure: 99.9 };
const tagged = { exact: [99.8, 99.8, 99.8], contaminated: [0, 0, 0], invented: [0, 0, 0], sure: 99.7 };
const captured = { ...tagged, exact: [99.9, 99.9, 99.6] };
const dynamo = { exact: [81.7, 88.5, 84.5], contaminated: [0, 0, 0.05], invented: [0, 0, 0], sure: 99 };
// Their weights are mostly equal, so that their name after optimization is one of several.
const dialect = { exact: [73, 74, 74], contaminated: [1.2, 2.4, 2.4], invented: [0, 0, 0], sure: 97 };
const goals = {
    TorchScript: { ...torchscript, cut: true },
    "TorchScript, tagged": { ...tagged, cut: true },
    "TorchScript, tagged with a capture": captured,
    dynamo: { ...dynamo, cut: true },
    "dynamo, tagged": { ...captured, cut: true },
    "dynamo, tagged with a capture": captured,
    dialect: { ...dialect, cut: true },
    "dialect, tagged": { ...tagged, exact: [97, 97, 97], sure: 99.5, cut: true },
};

const relations = ["exact", "ancestor", "descendant", "contaminated"];
const contaminated = "contaminated";
const invented = "modules that do not exist";
const refused = "refused by cut, which cuts them out of the model before it is optimized";
const unoptimizable = "not optimized by ONNX Runtime";

/** A model before optimization, and facts about it. */
class Source {
    constructor(file, moduleOf, modules) {
        this.file = file;
        this.graphs = new Graphs(fs.readFileSync(file));
        this.moduleOf = moduleOf;
        this.modules = new Set(modules);
    }
}

class OptimizedTest extends FixtureSuite {
    groups = new Map(); // kind and level -> counts
    exported = new Curve();
    optimized = new Curve();

    constructor() {
        super(["optimized", "nodes"], [contaminated, invented, refused, unoptimizable]);
    }

    takes(file) {
        return fs.existsSync(truthOf(file));
    }

    async model(name, info, folder) {
        const truth = readJson(truthOf(info.file));
        const plain = path.join(folder, "plain.onnx");
        fs.copyFileSync(info.file, plain);
        const modules = byName(truth, ["original"]);
        const moduleOf = (node) => modules.get(node.name);
        const options = { external: info.external.length > 0, captured: this.captured(info) };
        if (path.basename(truthOf(info.file)) !== "truth.json") {
            const source = new Source(plain, moduleOf, withAncestors(modules.values()));
            this.judgeExported(name, plain, [], source.moduleOf);
            await this.tagged(name, "dialect", source, options);
            return;
        }
        const [initializers, tree] = ["initializers", "modules"].map((fact) =>
            readJson(path.join(path.dirname(info.file), `${fact}.json`)),
        );
        const paths = [...tree.modules.map((module) => module.name), ...(tree.aliases ?? []).map(({ alias }) => alias)];
        this.judgeVariants(name, info, truth);
        await this.tagged(name, "TorchScript", new Source(plain, moduleOf, paths), options);
        const dynamoExport = asDynamoExport(fs.readFileSync(plain), { truth, initializers, modules: tree });
        const dynamo = path.join(folder, "dynamo.onnx");
        fs.writeFileSync(dynamo, dynamoExport.bytes);
        const source = new Source(dynamo, (node) => dynamoExport.modules.get(node.outputs[0]), paths);
        this.judgeExported(name, dynamo, [], source.moduleOf);
        await this.tagged(name, "dynamo", source, options);
    }

    /** Optimizes a model as it is, and tagged. */
    async tagged(name, kind, source, options) {
        await this.levels(name, kind, source, source.file, options);
        const ways = [[`${kind}, tagged`, []]];
        if (options.captured.length > 0) {
            ways.push([`${kind}, tagged with a capture`, options.captured]);
        }
        for (const [way, words] of ways) {
            const file = source.file.replace(/\.onnx$/, ".tagged.onnx");
            fs.rmSync(file, { force: true });
            const result = this.stemma(["tag", source.file, "-o", file, "--quiet", "--no-sync", ...words]);
            if (result.status === 0) {
                await this.levels(name, way, source, file, options);
            } else {
                this.fail(name, `${way}: ${result.reason}`);
            }
        }
    }

    async levels(name, kind, source, file, { external }) {
        const before = goals[kind].cut ? this.cuts(name, file) : null;
        for (const level of levels) {
            const out = file.replace(/\.onnx$/, `.${level}.onnx`);
            const where = `${name}: ${kind}, ${level}`;
            try {
                await this.harness.optimize(file, out, level, { external });
            } catch (error) {
                this.note(unoptimizable, `${where}: ${firstLine(error.message)}`);
                continue;
            }
            this.judge(where, kind, level, source, out);
            if (before !== null) {
                this.compareCuts(where, this.countsOf(kind, level), before, this.cuts(name, out));
            }
            fs.rmSync(out);
            fs.rmSync(`${out}.data`, { force: true });
        }
    }

    /** @returns the result of `stemma tag` for a model: nodes and modules; null if it fails. */
    attribute(where, file, words = []) {
        const sidecar = path.join(this.workplace.folder, "sidecar.json");
        fs.rmSync(sidecar, { force: true });
        const result = this.stemma(["tag", file, "--sidecar", sidecar, "--quiet", "--no-sync", ...words]);
        if (result.status !== 0) {
            this.fail(where, result.reason);
            return null;
        }
        const { nodes, modules } = readJson(sidecar);
        return { nodes: new Map(nodes.map((node) => [`${node.graph}#${node.index}`, node])), modules };
    }

    judge(where, kind, level, source, file) {
        const graphs = new Graphs(fs.readFileSync(file));
        const attributed = this.attribute(where, file);
        if (attributed === null) {
            return;
        }
        const truth = modulesAfter(source.graphs, graphs, source.moduleOf);
        const counts = this.countsOf(kind, level);
        const tree = new Set(attributed.modules.map((module) => module.path));
        this.row.optimized += 1;
        this.row.nodes += graphs.nodes.length;
        graphs.nodes.forEach((node, k) => {
            if (truth[k] === null) {
                counts.untold += 1;
                return;
            }
            const { scope_module: scope, provenance, confidence } = attributed.nodes.get(`${node.place}#${node.index}`);
            // Of what a call did, the graph around tells only that it is in the module called, or below.
            const below = wasInlined(node) && relationOf(scope, truth[k]) === "descendant";
            const relation = below ? "exact" : relationOf(scope, truth[k]);
            counts[relation] += 1;
            counts.mentioned += tree.has(truth[k]) ? 1 : 0;
            counts.curve.add(provenance, confidence, relation === "exact");
            this.optimized.add(provenance, confidence, relation === "exact");
            if (relation === "contaminated") {
                const how = `${scope} is ${truth[k]}, ${provenance} ${confidence}`;
                this.note(contaminated, `${where}: ${node.name} (${node.op}): ${how}`);
            }
        });
        const others = attributed.modules.map((module) => module.path).filter((module) => !source.modules.has(module));
        counts.invented += others.length;
        if (others.length > 0) {
            this.note(invented, `${where}: ${others.length}: ${firstLine(others.slice(0, 5).join(" "))}`);
        }
    }

    /** Compares confidence and truth in an exported model. */
    judgeExported(name, file, words, moduleOf) {
        const graphs = new Graphs(fs.readFileSync(file));
        const attributed = this.attribute(`${name}: as exported`, file, words);
        for (const node of attributed === null ? [] : graphs.nodes) {
            const module = moduleOf(node);
            if (module !== undefined) {
                const { scope_module: scope, provenance, confidence } = attributed.nodes.get(`${node.place}#${node.index}`);
                this.exported.add(provenance, confidence, scope === module);
            }
        }
    }

    /** The same with and without names, with and without captures. */
    judgeVariants(name, info, truth) {
        const modules = byName(truth, ["original", "opaque"]);
        const folder = path.dirname(info.file);
        const files = [info.file, ...["unnamed.onnx", "anonymous.onnx"].map((file) => path.join(folder, file))];
        for (const file of files.filter((one) => fs.existsSync(one))) {
            for (const words of [[], this.captured(info, ["modules.json", "trace.json", "fx.json"])]) {
                this.judgeExported(name, file, words, (node) => modules.get(node.name));
            }
        }
    }

    countsOf(kind, level) {
        const key = `${kind}, ${level}`;
        if (!this.groups.has(key)) {
            const zeros = [...relations, "mentioned", "untold", "invented", "refused"].map((what) => [what, 0]);
            this.groups.set(key, { ...Object.fromEntries(zeros), curve: new Curve() });
        }
        return this.groups.get(key);
    }

    /** @returns the report of `cut --all` on each part. */
    cuts(name, file) {
        const parts = path.join(this.workplace.folder, "parts");
        const words = ["cut", file, "--all", "-d", parts, "--data", "keep", "--quiet", "--no-sync"];
        const result = this.stemma(words);
        if (result.status !== 0 && result.status !== 1) {
            this.fail(name, `cut --all: ${result.reason}`);
            return [];
        }
        const { cuts } = readJson(path.join(parts, "index.json"));
        fs.rmSync(parts, { recursive: true });
        return cuts;
    }

    compareCuts(where, counts, before, after) {
        const refusedIn = (cuts) => cuts.filter((cut) => cut.status === "refused");
        const then = new Set(refusedIn(before).map((cut) => cut.module));
        const cut = new Set(before.map(({ module }) => module).filter((module) => !then.has(module)));
        const now = new Map(refusedIn(after).map((one) => [one.module, one]));
        const lost = [...now.values()].filter(({ module }) => cut.has(module));
        counts.refused += lost.length;
        lost.forEach(({ module, reason, text }) =>
            this.note(refused, `${where}: ${module}: ${reason}: ${firstLine(text ?? "")}`),
        );
    }

    finish() {
        const shares = [...this.groups].map(([group, counts]) => {
            const nodes = relations.reduce((sum, relation) => sum + counts[relation], 0);
            return { group, nodes, share: (what) => percent(counts[what], nodes), counts };
        });
        const rows = shares.map(({ group, nodes, share, counts }) => ({
            models: group,
            nodes,
            ...Object.fromEntries(relations.map((relation) => [relation, `${share(relation).toFixed(2)} %`])),
            mentioned: `${share("mentioned").toFixed(2)} %`,
            "right of the sure": `${counts.curve.share(0.9).toFixed(2)} %`,
            untold: counts.untold,
            invented: counts.invented,
            refused: counts.refused,
        }));
        printTable(rows, { markdown: true });
        for (const [which, curve] of [["exported", this.exported], ["optimized", this.optimized]]) {
            console.log(`\nright by confidence, in ${which} models:`);
            printTable(curve.table(), { markdown: true });
        }
        console.log();
        shares.forEach((one) => this.compareWithGoals(one));
    }

    compareWithGoals({ group, share, counts }) {
        const kind = group.slice(0, group.lastIndexOf(", "));
        const k = levels.indexOf(group.slice(kind.length + 2));
        const goal = goals[kind];
        const require = (passed, what, value, limit) => {
            if (!passed) {
                this.fail(group, `${what}: ${Math.round(value * 1000) / 1000}, the goal is ${limit}`);
            }
        };
        const sure = counts.curve.share(0.9);
        const [exact, beside] = [share("exact"), share("contaminated")];
        require(exact >= goal.exact[k], "exact", exact, goal.exact[k]);
        require(beside <= goal.contaminated[k], "contaminated", beside, goal.contaminated[k]);
        require(sure >= goal.sure, "right of the sure", sure, goal.sure);
        require(counts.invented <= goal.invented[k], "invented", counts.invented, goal.invented[k]);
        require(counts.refused === 0, "refused", counts.refused, 0);
    }
}

function withAncestors(modules) {
    const parts = [...modules].filter((module) => module !== undefined).map((module) => module.split("."));
    return new Set(["", ...parts.flatMap((names) => names.map((_, k) => names.slice(0, k + 1).join(".")))]);
}

/** Whether a node came out of a function, as its name or one of its values says. */
function wasInlined({ name, inputs, outputs }) {
    return [name, ...inputs, ...outputs].some((one) => one.includes("_inlfunc_"));
}

process.exitCode = await new OptimizedTest().main();
