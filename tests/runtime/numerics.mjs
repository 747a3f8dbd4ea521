// SPDX-License-Identifier: Apache-2.0
// Plants faults in models, one at a time: the weights of one module rounded to four bits. `stemma probe` and
// `stemma numerics` must report this module as the first with a difference, and, with modules run alone on correct
// inputs, as the only source of it. STEMMA_FAULTS: the number of faults per model.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { writeNpz } from "../../examples/runners/npz.mjs";
import { runProgram } from "./programs.mjs";
import { FixtureSuite, firstLine, unjudged } from "./suite.mjs";
import { Graphs, Message, anonymous, field } from "./wire.mjs";

const runner = fileURLToPath(new URL("../../examples/runners/run_values.mjs", import.meta.url));
const most = Number(process.env.STEMMA_FAULTS ?? 4);
const float = 1;

/** Rounds to the nearest of 15 steps, like 4-bit quantizers. @returns whether anything changed. */
function roundToFourBits(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const count = bytes.length / 4;
    let largest = 0;
    for (let i = 0; i < count; ++i) {
        largest = Math.max(largest, Math.abs(view.getFloat32(4 * i, true)));
    }
    let changed = false;
    for (let i = 0; i < count && largest > 0; ++i) {
        const before = view.getFloat32(4 * i, true);
        view.setFloat32(4 * i, (Math.round((before / largest) * 7) / 7) * largest, true);
        changed ||= view.getFloat32(4 * i, true) !== before;
    }
    return changed;
}

/** @returns a Map: module -> names of the weights of it alone, by their names or those of their readers. */
function weightsByModule(model, paths) {
    const graph = new Message(model).messages(field.model.graph)[0];
    const readers = new Map();
    for (const node of graph.messages(field.graph.node)) {
        for (const input of node.texts(field.node.input)) {
            readers.set(input, [...(readers.get(input) ?? []), node.text(field.node.name)]);
        }
    }
    const scopeOf = (name) => name.split("/").slice(1, -1).join(".");
    const modules = new Map();
    for (const tensor of graph.messages(field.graph.initializer)) {
        const name = tensor.text(field.tensor.name);
        if (tensor.one(field.tensor.type) !== float || !tensor.one(field.tensor.raw)?.length) {
            continue;
        }
        const owners = new Set((readers.get(name) ?? []).map(scopeOf));
        const named = name.split(".").slice(0, -1).join(".");
        const owner = owners.size === 1 ? [...owners][0] : undefined;
        // Names and readers disagree for tied weights, which have several modules.
        if (owner !== undefined && paths.has(owner) && (name.startsWith("onnx::") || named === owner)) {
            modules.set(owner, [...(modules.get(owner) ?? []), name]);
        }
    }
    return modules;
}

/** @returns the model with some of its weights rounded; null if that changes none. */
function plant(model, names) {
    const whole = new Message(Buffer.from(model));
    let changed = false;
    whole.map(field.model.graph, (graph) =>
        new Message(graph)
            .map(field.graph.initializer, (bytes) => {
                const tensor = new Message(bytes);
                if (!names.includes(tensor.text(field.tensor.name))) {
                    return bytes;
                }
                return tensor
                    .map(field.tensor.raw, (raw) => {
                        const rounded = Buffer.from(raw);
                        changed = roundToFourBits(rounded) || changed;
                        return rounded;
                    })
                    .encode();
            })
            .encode(),
    );
    return changed ? whole.encode() : null;
}

/** A sample of a list, evenly spread. */
function spread(list, count) {
    const place = (i) => Math.floor((i * count) / list.length);
    return list.length <= count ? list : list.filter((_, i) => place(i) !== place(i - 1));
}

class NumericsTest extends FixtureSuite {
    constructor() {
        super(["modules", "values", "carried", "faults", "found", "isolated"], [unjudged]);
    }

    takes(file) {
        return path.basename(file) === "model.onnx" && fs.existsSync(path.join(path.dirname(file), "modules.json"));
    }

    async model(name, info, folder) {
        if (info.external.length > 0) {
            return;
        }
        const modules = JSON.parse(fs.readFileSync(path.join(path.dirname(info.file), "modules.json"), "utf8"));
        const paths = new Set((modules.modules ?? modules).map((module) => module.name));
        const bytes = fs.readFileSync(info.file);
        const weights = [...weightsByModule(bytes, paths)];
        if (weights.length === 0) {
            return;
        }
        const at = (file) => path.join(folder, file);
        const inputs = at("inputs.npz");
        writeNpz(inputs, this.feeds(info, [1])[0]);
        this.words = this.captured(info);
        this.must(["probe", info.file, "-o", at("probed.onnx"), "--no-sync", ...this.words]);
        const probed = fs.readFileSync(at("probed.onnx"));
        await this.checkAll(name, [at("probed.onnx")]);
        this.run(at("probed.onnx"), inputs, at("a.npz"));
        this.must(["numerics", info.file, info.file, "--values", at("a.npz"), "--values", at("a.npz"), ...this.words]);
        this.renamed(name, info, at, probed);
        this.row.modules += weights.length;
        let isolated = false;
        for (const [module, names] of spread(weights, most)) {
            const faulty = plant(bytes, names);
            if (faulty === null) {
                continue; // these weights fit into four bits
            }
            fs.writeFileSync(at("b.onnx"), faulty);
            fs.writeFileSync(at("probed-b.onnx"), plant(probed, names));
            this.run(at("probed-b.onnx"), inputs, at("b.npz"));
            const report = this.numerics(info.file, folder);
            this.row.faults += 1;
            if (report.first?.module === module) {
                this.row.found += 1;
            } else {
                this.fail(name, `a fault in ${module} is said to be in ${report.first?.module ?? "none"}`);
            }
            if (!isolated) {
                isolated = true;
                this.isolate(name, info.file, folder, module);
            }
        }
    }

    /** A model with other names is still compared value by value. */
    renamed(name, info, at, probed) {
        const other = anonymous(probed, "v");
        fs.writeFileSync(at("renamed.onnx"), other);
        const names = [...new Graphs(other).inputs];
        const called = new Map([...new Graphs(probed).inputs].map((input, i) => [input, names[i]]));
        const feeds = Object.entries(this.feeds(info, [1])[0]).map(([input, tensor]) => [called.get(input), tensor]);
        writeNpz(at("renamed.npz"), Object.fromEntries(feeds));
        this.run(at("renamed.onnx"), at("renamed.npz"), at("b.npz"));
        const words = ["numerics", info.file, at("renamed.onnx"), "-m", info.file, ...this.words, "--format", "json"];
        const result = this.stemma([...words, "--values", at("a.npz"), "--values", at("b.npz")]);
        if (result.status !== 0) {
            this.fail(name, `renamed: ${result.reason}`);
            return;
        }
        const { values } = JSON.parse(fs.readFileSync(at("probed.onnx.json"), "utf8"));
        this.row.values += values.filter((one) => one.module !== null).length; // except inputs
        this.row.carried += JSON.parse(result.out).values.filter((one) => one.paired_by === "carried").length;
    }

    run(...words) {
        const result = runProgram(process.execPath, [runner, ...words]);
        if (result.status !== 0) {
            throw new Error(`${path.basename(runner)}: ${firstLine(result.stderr || String(result.error))}`);
        }
    }

    must(words) {
        const result = this.stemma(words);
        if (result.status !== 0) {
            throw new Error(`${words[0]}: ${result.reason}`);
        }
    }

    numerics(model, folder, more = []) {
        const at = (file) => path.join(folder, file);
        const values = ["--values", at("a.npz"), "--values", at("b.npz")];
        const words = ["numerics", model, at("b.onnx"), ...values, "--format", "json", ...more];
        const result = this.stemma([...words, ...this.words]);
        if (result.status !== 1) {
            throw new Error(`numerics: ${result.reason}`);
        }
        return JSON.parse(result.out);
    }

    /** Only the faulty module and its ancestors add a difference to correct inputs. */
    isolate(name, model, folder, module) {
        const apart = path.join(folder, "apart");
        this.numerics(model, folder, ["--isolate", apart, "--no-sync"]);
        this.run("--isolated", apart);
        const report = this.numerics(model, folder, ["--isolated", apart]);
        for (const one of report.modules.filter((entry) => entry.own !== null)) {
            const holds = one.module === module || one.module === "" || module.startsWith(`${one.module}.`);
            if (one.verdict !== (holds ? "adds" : "passes_on") && one.verdict !== "within") {
                this.fail(name, `with a fault in ${module}, ${one.module || "the root"} ${one.verdict}`);
            }
            this.row.isolated += 1;
        }
        fs.rmSync(apart, { recursive: true });
    }

    isComplete() {
        const sum = (column) => this.rows.reduce((all, row) => all + row[column], 0);
        return this.rows.filter((row) => row.faults > 0).length >= 5 && sum("isolated") > 0 && sum("carried") >= 0.95 * sum("values");
    }
}

process.exitCode = await new NumericsTest().main();
