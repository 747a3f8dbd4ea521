// SPDX-License-Identifier: Apache-2.0
// Runs ONNX models in ONNX Runtime and compares the outputs, bit for bit. A library and a command:
// see README.md.

import { createHash } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { runProgram } from "./programs.mjs";

/** Exit status of a test program that could not run, so that CTest reports "skipped" instead of "passed". */
export const skipped = 77;

const arrays = {
    float32: Float32Array,
    float64: Float64Array,
    float16: Uint16Array,
    uint8: Uint8Array,
    int8: Int8Array,
    uint16: Uint16Array,
    int16: Int16Array,
    int32: Int32Array,
    uint32: Uint32Array,
    int64: BigInt64Array,
    uint64: BigUint64Array,
    bool: Uint8Array,
};

/** The only interface to ONNX Runtime and the helper program `model_info`. */
export class Harness {
    /**
     * @param runtime    folder whose node_modules holds onnxruntime-node
     * @param modelInfo  the program `model_info`; needed by describe, writeWeights, expose, detour and seed
     */
    constructor({ runtime, modelInfo } = {}) {
        this.modelInfo = modelInfo ?? process.env.STEMMA_MODEL_INFO;
        const folder = runtime ?? process.env.STEMMA_RUNTIME ?? path.dirname(fileURLToPath(import.meta.url));
        this.ort = createRequire(path.resolve(folder, "package.json"))("onnxruntime-node");
        this.ort.env.logLevel = "fatal";
    }

    #ask(...words) {
        if (!this.modelInfo) {
            throw new Error("the program model_info is needed: --model-info FILE or STEMMA_MODEL_INFO");
        }
        const result = runProgram(this.modelInfo, words);
        if (result.status !== 0) {
            throw new Error(result.stderr?.trim() || `${this.modelInfo}: ${result.error}`);
        }
        return result.stdout;
    }

    /** Inputs, outputs and external data of models: one object each, as printed by `model_info describe`. */
    describe(models) {
        return JSON.parse(this.#ask("describe", ...models));
    }

    /** Writes seeded files in `folder` for the external data of `model`. */
    writeWeights(model, folder, seed = 1) {
        this.#ask("weights", model, folder, String(seed));
    }

    /** Writes a copy of `model` in which every value of the main graph is an output. */
    expose(model, out) {
        this.#ask("expose", model, out);
    }

    /** Inserts a copy of an input into each model, in place. @returns the number of models with inputs. */
    detour(models) {
        return Number(this.#ask("detour", ...models));
    }

    /** Writes a copy of `model` whose random operators draw the same numbers in every session. */
    seed(model, out) {
        this.#ask("seed", model, out);
    }

    /**
     * Loads a model; by default without optimization, on one thread and with external data from its folder.
     * Throws ONNX Runtime's errors.
     */
    async load(model, { optimize = "none", threads = 1, data } = {}) {
        // ONNX Runtime reads data from another folder only for models in memory.
        const source = data === undefined ? path.resolve(model) : fs.readFileSync(model);
        return this.ort.InferenceSession.create(source, {
            extra: data ? { session: { model_external_initializers_file_folder_path: data } } : {},
            executionProviders: ["cpu"],
            graphOptimizationLevel: optimize === "none" ? "disabled" : optimize,
            intraOpNumThreads: threads,
            interOpNumThreads: 1,
            executionMode: "sequential",
            logSeverityLevel: 4,
        });
    }

    /**
     * Writes the model that ONNX Runtime optimized at a level. Large tensors go to a file beside `out` if the
     * model has external data.
     */
    async optimize(model, out, level, { external = false } = {}) {
        const prefix = "optimized_model_external_initializers";
        const file = `${path.basename(out)}.data`;
        const options = { [`${prefix}_file_name`]: file, [`${prefix}_min_size_in_bytes`]: "1024" };
        const session = await this.ort.InferenceSession.create(path.resolve(model), {
            extra: external ? { session: options } : {},
            executionProviders: ["cpu"],
            graphOptimizationLevel: level,
            optimizedModelFilePath: path.resolve(out),
            intraOpNumThreads: 1,
            interOpNumThreads: 1,
            logSeverityLevel: 4,
        });
        await session.release();
    }

    /** @returns the given outputs (default: all) as a Map: name -> tensor. */
    async run(session, feeds, names = tensorOutputs(session)) {
        const results = await session.run(feeds, names);
        return new Map(names.map((name) => [name, results[name]]));
    }

    /** Loads, runs once per case and unloads. @returns one Map per case. */
    async runCases(model, cases, options) {
        const session = await this.load(model, options);
        try {
            const results = [];
            for (const feeds of cases) {
                results.push(await this.run(session, feeds));
            }
            return results;
        } finally {
            await session.release();
        }
    }

    /** @returns every tensor of the main graph by name, feeds included. */
    async allValues(model, feeds, options) {
        // Not beside the model, where listings of the folder would include it: only its data is read there.
        const workplace = new Workplace();
        try {
            const exposed = path.join(workplace.folder, "exposed.onnx");
            this.expose(model, exposed);
            const data = path.dirname(path.resolve(model));
            const [values] = await this.runCases(exposed, [feeds], { ...options, data });
            Object.entries(feeds).forEach(([name, tensor]) => values.set(name, tensor));
            return values;
        } finally {
            workplace.dispose();
        }
    }

    /**
     * Runs a part of a model on values of the whole model.
     * @returns differences between the part's outputs and the whole model's values, like `differences`
     */
    async compareCut(values, cut, options) {
        const session = await this.load(cut, options);
        try {
            return await this.compareLoaded(values, session);
        } finally {
            await session.release();
        }
    }

    /** The same for a part that is loaded. */
    async compareLoaded(values, session) {
        const missing = session.inputNames.filter((name) => !values.has(name));
        if (missing.length > 0) {
            const reason = "this input is no tensor of the whole model";
            return missing.map((name) => ({ name, reason }));
        }
        const feeds = Object.fromEntries(session.inputNames.map((name) => [name, values.get(name)]));
        const results = await this.run(session, feeds);
        const expected = new Map(session.outputNames.map((name) => [name, values.get(name)]));
        return differences(expected, results);
    }

    /** @returns a tensor of raw little-endian bytes. */
    tensor(type, bytes, shape) {
        const make = arrays[type];
        if (make === undefined) {
            throw new Error(`no input of type ${type} can be made`);
        }
        const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
        // Newer Node has an array type for half precision, which ONNX Runtime then requires.
        const newer = type === "float16" && globalThis.Float16Array;
        return new this.ort.Tensor(type, newer ? new newer(copy) : new make(copy), shape);
    }

    /**
     * Reads a folder with the layout "fixture-io/1": io.json and raw files.
     * @returns one {feeds, expected} per case; `expected` maps names to tensors
     */
    savedCases(folder) {
        const { cases } = JSON.parse(fs.readFileSync(path.join(folder, "io.json"), "utf8"));
        const read = ({ dtype, shape, file }) =>
            this.tensor(dtype, fs.readFileSync(path.join(folder, file)), shape);
        return cases.map(({ inputs, outputs }) => ({
            feeds: Object.fromEntries(inputs.map((input) => [input.name, read(input)])),
            expected: new Map(outputs.map((output) => [output.name, read(output)])),
        }));
    }

    /**
     * Generates inputs for a described model, deterministic by seed.
     *
     * Floats are uniform in [-1, 1), integers in `bounds` of their input, else in [0, 1], which is valid for
     * tokens and masks. Dimensions of one name have one size: that in `dims`, else a small one.
     */
    seededInputs(info, { seed = 1, dims = {}, bounds = {} } = {}) {
        const sizes = new Map(Object.entries(dims).map(([name, size]) => [name, Number(size)]));
        const size = (dim) => {
            if (typeof dim === "number") {
                return dim;
            }
            const name = dim ?? "";
            if (!sizes.has(name)) {
                sizes.set(name, smallSize(sizes.size, seed));
            }
            return sizes.get(name);
        };
        const feeds = {};
        for (const [i, input] of info.inputs.filter((input) => !input.initialized).entries()) {
            if (input.kind !== "tensor") {
                throw new Error(`input ${input.name} is not a tensor: ${input.kind ?? "it has no type"}`);
            }
            const shape = (input.shape ?? []).map(size);
            const count = shape.reduce((product, dim) => product * dim, 1);
            const next = random(seed * 1000 + i);
            const [low, high] = bounds[input.name] ?? [0, 1];
            const integer = () => low + Math.floor(next() * (high - low + 1));
            feeds[input.name] = this.#fill(input, shape, count, () => next() * 2 - 1, integer);
        }
        return feeds;
    }

    #fill({ name, type }, shape, count, real, integer) {
        if (type === "string") {
            const words = Array.from({ length: count }, () => String(integer()));
            return new this.ort.Tensor("string", words, shape);
        }
        const data = arrays[type] && new arrays[type](count);
        if (data === undefined) {
            throw new Error(`input ${name} is of type ${type}, and no such input can be made`);
        }
        let make = integer;
        if (type === "float16") {
            make = () => halfBits(real());
        } else if (type.startsWith("float")) {
            make = real;
        } else if (type.endsWith("64")) {
            make = () => BigInt(integer());
        }
        for (let i = 0; i < count; ++i) {
            data[i] = make();
        }
        return this.tensor(type, data, shape);
    }
}

/** @returns a Harness for a test; without ONNX Runtime, exits as skipped. */
export function harnessOrSkip() {
    try {
        return new Harness();
    } catch (error) {
        if (error.code !== "MODULE_NOT_FOUND" && error.code !== "ERR_DLOPEN_FAILED") {
            throw error;
        }
        console.log(`skipped: ONNX Runtime cannot be loaded: ${error.message.split("\n")[0]}`);
        process.exit(skipped);
    }
}

/** @returns the names of outputs that are tensors; Node cannot fetch sequences and maps. */
export function tensorOutputs(session) {
    return session.outputNames.filter((_, i) => session.outputMetadata[i].isTensor);
}

/** @returns the range of each integer input over saved cases, as `bounds` for seededInputs. */
export function boundsOf(cases) {
    const bounds = {};
    for (const { feeds } of cases) {
        for (const [name, tensor] of Object.entries(feeds)) {
            if (/^u?int/.test(tensor.type)) {
                const [low, high] = bounds[name] ?? [Infinity, -Infinity];
                const numbers = Array.from(tensor.data, Number);
                bounds[name] = [Math.min(low, ...numbers), Math.max(high, ...numbers)];
            }
        }
    }
    return bounds;
}

/** Compares two Maps of tensors bit for bit. @returns one {name, reason} per difference. */
export function differences(expected, actual) {
    const problems = [];
    for (const name of new Set([...expected.keys(), ...actual.keys()])) {
        const reason = difference(expected.get(name), actual.get(name));
        if (reason !== null) {
            problems.push({ name, reason });
        }
    }
    return problems;
}

function difference(a, b) {
    if (a === undefined || b === undefined) {
        return a === undefined ? "not expected" : "missing";
    }
    if (a.type !== b.type || String(a.dims) !== String(b.dims)) {
        return `${a.type}[${a.dims}] became ${b.type}[${b.dims}]`;
    }
    const x = bytesOf(a);
    const y = bytesOf(b);
    if (x.equals(y)) {
        return null;
    }
    const at = x.findIndex((byte, i) => byte !== y[i]);
    return `differs from byte ${at} of ${x.length} on`;
}

/** @returns the bytes of a tensor as in a file; strings as JSON. */
export function bytesOf(tensor) {
    const data = tensor.data;
    return tensor.type === "string"
        ? Buffer.from(JSON.stringify(data))
        : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

/** @returns the largest difference of two float tensors, relative to the largest number in the first. */
export function relativeError(expected, actual) {
    let error = 0;
    let largest = 0;
    for (let i = 0; i < expected.data.length; ++i) {
        error = Math.max(error, Math.abs(Number(expected.data[i]) - Number(actual.data[i])));
        largest = Math.max(largest, Math.abs(Number(expected.data[i])));
    }
    return error === 0 ? 0 : error / largest;
}

/** Whether a tensor contains neither infinity nor NaN. */
export function allFinite(tensor) {
    return !/^float(32|64)$/.test(tensor.type) || tensor.data.every(Number.isFinite);
}

// 2, 5, 3, 6, 4, 7 for seed 1: sizes should differ by name and by seed.
function smallSize(position, seed) {
    return position === 0 ? 1 + (seed % 2) : 3 + ((position * 3 + seed * 2 - 3) % 5);
}

// The generator "mulberry32": numbers in [0, 1) of 24 bits, so a float holds them exactly.
function random(seed) {
    let state = seed | 0;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 8) / (1 << 24);
    };
}

function halfBits(number) {
    const bits = new Uint32Array(new Float32Array([number]).buffer)[0];
    const exponent = ((bits >>> 23) & 0xff) - 112;
    return ((bits >>> 16) & 0x8000) | (exponent <= 0 ? 0 : (exponent << 10) | ((bits >>> 13) & 0x3ff));
}

function digest(tensor) {
    return createHash("sha256").update(bytesOf(tensor)).digest("hex");
}

/** Writes results: a folder with the layout "fixture-io/1", or one JSON file if `out` ends in .json. */
export function save(out, cases) {
    const folder = out.endsWith(".json") ? null : out;
    const entry = (k, way) => ([name, tensor], i) => {
        const bytes = bytesOf(tensor);
        const described = { name, dtype: tensor.type, shape: Array.from(tensor.dims) };
        if (folder === null) {
            return { ...described, sha256: digest(tensor), base64: bytes.toString("base64") };
        }
        const file = `case${k}_${way}_${i}.bin`;
        fs.writeFileSync(path.join(folder, file), bytes);
        return { ...described, file };
    };
    if (folder !== null) {
        fs.mkdirSync(folder, { recursive: true });
    }
    const document = {
        format: "fixture-io/1",
        layout: folder === null ? "base64, little-endian, C order" : "raw little-endian, C order",
        cases: cases.map(({ feeds, results }, k) => ({
            inputs: Object.entries(feeds).map(entry(k, "in")),
            outputs: [...results].map(entry(k, "out")),
        })),
    };
    const file = folder === null ? out : path.join(folder, "io.json");
    fs.writeFileSync(file, JSON.stringify(document, null, 1) + "\n");
}

/** A temporary folder for a run; removed by `dispose`. */
export class Workplace {
    constructor(parent = os.tmpdir()) {
        fs.mkdirSync(parent, { recursive: true });
        this.folder = fs.mkdtempSync(path.join(parent, "stemma-runtime-"));
    }

    dispose() {
        fs.rmSync(this.folder, { recursive: true, force: true });
    }
}

const usage = `usage: node ort.mjs run MODEL [-o OUT]        run it; OUT is a folder, or FILE.json
       node ort.mjs compare MODEL OTHER       are all outputs equal bit for bit?
       node ort.mjs values MODEL [-o OUT]     every value of the main graph
       node ort.mjs cut WHOLE CUT...          does each cut compute what the whole model does?

  --inputs DIR|seeded   a folder with io.json, or made from the model's inputs (default)
  --like DIR            seeded integers stay in the ranges found in that folder's inputs
  --dim NAME=SIZE       size of a named dimension of seeded inputs; may repeat
  --seed N              of seeded inputs and weights (default 1)
  --weights auto|keep   auto (default): weights in other files that are missing are made up
  --optimize none|basic|extended|all    graph optimizations of ONNX Runtime (default none)
  --runtime DIR         where install.sh put ONNX Runtime (default: STEMMA_RUNTIME)
  --model-info FILE     the program model_info (default: STEMMA_MODEL_INFO)
`;

// Models with missing weights run from a folder with generated ones.
function provideWeights(harness, models, options, workplace) {
    const infos = harness.describe(models);
    const missing = (info) =>
        info.external.some(({ location }) => !fs.existsSync(path.join(path.dirname(info.file), location)));
    if (options.weights === "keep" || !infos.some(missing)) {
        return { infos, files: models };
    }
    const files = models.map((model, i) => {
        const folder = path.join(workplace.folder, String(i));
        fs.mkdirSync(folder);
        fs.copyFileSync(model, path.join(folder, path.basename(model)));
        harness.writeWeights(model, folder, Number(options.seed));
        return path.join(folder, path.basename(model));
    });
    return { infos, files };
}

function chooseCases(harness, info, options) {
    if (options.inputs !== "seeded") {
        return harness.savedCases(options.inputs).map(({ feeds }) => feeds);
    }
    const bounds = options.like === undefined ? {} : boundsOf(harness.savedCases(options.like));
    const dims = Object.fromEntries((options.dim ?? []).map((text) => text.split("=")));
    return [harness.seededInputs(info, { seed: Number(options.seed), dims, bounds })];
}

function report(label, problems) {
    console.log(`${label}: ${problems.length === 0 ? "identical" : "different"}`);
    problems.forEach(({ name, reason }) => console.log(`  ${name}: ${reason}`));
    return problems.length === 0;
}

async function command(name, models, options, harness, workplace) {
    const { infos, files } = provideWeights(harness, models, options, workplace);
    const cases = chooseCases(harness, infos[0], options);
    const how = { optimize: options.optimize };
    if (name === "cut") {
        let same = true;
        for (const [k, feeds] of cases.entries()) {
            const values = await harness.allValues(files[0], feeds, how);
            for (const cut of files.slice(1)) {
                same = report(`${cut}, case ${k}`, await harness.compareCut(values, cut, how)) && same;
            }
        }
        return same ? 0 : 1;
    }
    if (name === "compare") {
        const expected = await harness.runCases(files[0], cases, how);
        const actual = await harness.runCases(files[1], cases, how);
        const same = cases.map((_, k) => report(`case ${k}`, differences(expected[k], actual[k])));
        return same.every(Boolean) ? 0 : 1;
    }
    const results = [];
    for (const feeds of cases) {
        const values =
            name === "values"
                ? await harness.allValues(files[0], feeds, how)
                : (await harness.runCases(files[0], [feeds], how))[0];
        results.push({ feeds, results: values });
        values.forEach((tensor, value) =>
            console.log(`${value} ${tensor.type}[${tensor.dims}] ${digest(tensor).slice(0, 16)}`),
        );
    }
    if (options.output !== undefined) {
        save(options.output, results);
    }
    return 0;
}

async function main(words) {
    const text = (value) => ({ type: "string", default: value });
    const { values: options, positionals } = parseArgs({
        args: words,
        allowPositionals: true,
        options: {
            output: { type: "string", short: "o" },
            inputs: text("seeded"),
            like: { type: "string" },
            dim: { type: "string", multiple: true },
            seed: text("1"),
            weights: text("auto"),
            optimize: text("none"),
            runtime: { type: "string" },
            "model-info": { type: "string" },
            help: { type: "boolean", short: "h" },
        },
    });
    const [name, ...models] = positionals;
    const wanted = { run: [1, 1], values: [1, 1], compare: [2, 2], cut: [2, Infinity] }[name];
    if (options.help || wanted === undefined || models.length < wanted[0] || models.length > wanted[1]) {
        (options.help ? process.stdout : process.stderr).write(usage);
        return options.help ? 0 : 2;
    }
    const workplace = new Workplace();
    try {
        const harness = new Harness({ runtime: options.runtime, modelInfo: options["model-info"] });
        return await command(name, models, options, harness, workplace);
    } finally {
        workplace.dispose();
    }
}

const started = process.argv[1] === undefined ? "" : fs.realpathSync(process.argv[1]);
if (started === fileURLToPath(import.meta.url)) {
    main(process.argv.slice(2)).then(
        (code) => (process.exitCode = code),
        (error) => {
            console.error(`ort.mjs: ${error.message}`);
            process.exitCode = 3;
        },
    );
}
