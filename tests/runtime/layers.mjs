// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime accepts models annotated by `stemma plan --to layer-ann`, with the option to read annotations, and
// computes the same. With a single provider, placement of nodes is not observable.
// usage: layers.mjs --stemma=PROGRAM [--fixtures=FOLDER] [--work=FOLDER]

import fs from "node:fs";
import path from "node:path";

import { runProgram } from "./programs.mjs";
import { beginChecks } from "./suite.mjs";

const { options, harness, check, finish } = beginChecks();

/** The outputs of a model, with rules for annotated layers, for the first saved inputs of a fixture. */
async function run(file, rules, feeds) {
    const session = await harness.ort.InferenceSession.create(file, {
        executionProviders: ["cpu"],
        graphOptimizationLevel: "disabled",
        intraOpNumThreads: 1,
        logSeverityLevel: 4,
        extra: rules === null ? {} : { session: { layer_assignment_settings: rules } },
    });
    const results = await session.run(feeds);
    await session.release();
    return Object.entries(results).map(([name, { data }]) => [name, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]);
}

for (const [name, query] of [["bert_micro", "encoder.layer.0"], ["unet_tiny", "op:Conv"], ["two_tower", "op:*"]]) {
    const folder = path.join(options.work, "layers", name);
    fs.rmSync(folder, { recursive: true, force: true });
    fs.mkdirSync(folder, { recursive: true });
    const file = path.join(options.fixtures, name, "model.onnx");
    const annotated = path.join(folder, "annotated.onnx");
    const capture = path.join(options.fixtures, name, "modules.json");
    const words = ["plan", file, "-m", capture, "--exclude", query, "--to", "layer-ann", "--annotation", "a part", "-o", annotated];
    const done = runProgram(options.stemma, words);
    check(done.status === 0, `${name}: ${done.stderr}`);
    if (done.status !== 0) {
        continue;
    }
    const feeds = harness.savedCases(path.join(options.fixtures, name, "io"))[0].feeds;
    const before = await run(file, null, feeds);
    const after = await run(annotated, "cpu(=a part)", feeds);
    check(before.length === after.length && before.every(([key, bytes], i) => key === after[i][0] && bytes.equals(after[i][1])),
        `${name}: computes something else`);
    const refused = await run(annotated, "cpu(", feeds).then(() => "", (error) => error.message);
    check(/layering/.test(refused), `${name}: the option is not read: ${refused}`);
    console.log(`${name}: ${before.length} results are the same`);
}
finish();
