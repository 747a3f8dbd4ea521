// SPDX-License-Identifier: Apache-2.0
// Runs models in ONNX Runtime for Node and saves what they compute, for `stemma numerics`:
//   node run_values.mjs PROBED.onnx INPUTS.npz VALUES.npz    all outputs of a model, and its inputs
//   node run_values.mjs --isolated DIR                       what `stemma numerics --isolate DIR` wrote
// onnxruntime-node is looked for beside this file, or in the folder that STEMMA_RUNTIME names.

import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { readNpz, writeNpz } from "./npz.mjs";

const runtime = process.env.STEMMA_RUNTIME ?? path.dirname(fileURLToPath(import.meta.url));
const ort = createRequire(path.resolve(runtime, "package.json"))("onnxruntime-node");

// As written and on one thread, so that two runs differ only where the models do.
const options = { graphOptimizationLevel: "disabled", intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 };

const toTensor = ({ type, dims, data }) => new ort.Tensor(type, data, dims);
const fromTensor = ({ type, dims, data }) => ({ type, dims, data });

async function run(model, values) {
    const session = await ort.InferenceSession.create(path.resolve(model), options);
    try {
        const feeds = {};
        for (const name of session.inputNames) {
            if (!values.has(name)) {
                throw new Error(`${model}: there is no value for its input '${name}'`);
            }
            feeds[name] = toTensor(values.get(name));
        }
        return { feeds, results: await session.run(feeds) };
    } finally {
        await session.release();
    }
}

async function runModel(model, inputs, output) {
    const { feeds, results } = await run(model, readNpz(inputs));
    const tensors = Object.entries({ ...feeds, ...results }).filter(([, value]) => value.dims);
    writeNpz(output, new Map(tensors.map(([name, tensor]) => [name, fromTensor(tensor)])));
}

async function runIsolated(folder) {
    const { parts, inputs, results } = JSON.parse(fs.readFileSync(path.join(folder, "isolate.json"), "utf8"));
    const values = readNpz(path.join(folder, inputs));
    const saved = new Map();
    for (const { file } of parts.filter((part) => part.file !== null)) {
        const outcome = await run(path.join(folder, file), values);
        for (const [name, tensor] of Object.entries(outcome.results)) {
            saved.set(`${file}#${name}`, fromTensor(tensor));
        }
    }
    writeNpz(path.join(folder, results), saved);
}

const words = process.argv.slice(2);
if (words.length === 2 && words[0] === "--isolated") {
    await runIsolated(words[1]);
} else if (words.length === 3) {
    await runModel(...words);
} else {
    console.error("usage: run_values.mjs PROBED.onnx INPUTS.npz VALUES.npz | --isolated DIR");
    process.exitCode = 2;
}
