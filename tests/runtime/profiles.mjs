// SPDX-License-Identifier: Apache-2.0
// Real profiles of ONNX Runtime by module, and what it says of the memory of every node.
// usage: profiles.mjs --stemma=PROGRAM [--fixtures=FOLDER] [--work=FOLDER]

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

import { Harness, skipped } from "./ort.mjs";
import { runProgram } from "./programs.mjs";

const { values: options } = parseArgs({
    options: {
        fixtures: { type: "string", default: process.env.STEMMA_FIXTURES },
        stemma: { type: "string" },
        work: { type: "string", default: process.env.STEMMA_WORK },
    },
});
if (!options.stemma) {
    console.log("skipped: the program is not built");
    process.exit(skipped);
}
let harness;
try {
    harness = new Harness();
} catch (error) {
    console.log(`skipped: ONNX Runtime is not installed (${error.message})`);
    process.exit(skipped);
}

// Small weights are in these files, so that the sizes of what is computed are those of the original.
const models = ["bert_micro", "bert_mlm", "gpt2_tiny", "unet_tiny", "two_tower", "lstm_classifier"];
const runs = 4;
const failures = [];

function check(truth, what) {
    if (!truth) {
        failures.push(what);
    }
}

function stemma(...words) {
    const done = runProgram(options.stemma, words);
    if (done.status !== 0) {
        throw new Error(`${words.join(" ")}: ${done.stderr}`);
    }
    return done.stdout;
}

/** Runs a model and returns its profile, and its table of memory. */
async function measure(file, level, folder, feeds, saved) {
    const stats = path.join(folder, `${level}.csv`);
    fs.rmSync(stats, { force: true });
    const session = await harness.ort.InferenceSession.create(file, {
        executionProviders: ["cpu"],
        graphOptimizationLevel: level,
        optimizedModelFilePath: saved,
        enableProfiling: true,
        profileFilePrefix: path.join(folder, level),
        intraOpNumThreads: 1,
        logSeverityLevel: 4,
        extra: { session: { collect_node_memory_stats_to_file: stats } },
    });
    for (let run = 0; run < runs; ++run) {
        await session.run(feeds);
    }
    session.endProfiling();
    await session.release();
    const written = fs.readdirSync(folder).filter((name) => name.startsWith(`${level}_`)).sort();
    return { profile: path.join(folder, written.at(-1)), stats };
}

/** Rows of comma-separated values without quotes. */
function rows(text) {
    const [head, ...lines] = text.trim().split("\n");
    const names = head.replace(/^#/, "").split(",");
    return lines.map((line) => Object.fromEntries(line.split(",").map((cell, i) => [names[i], cell])));
}

/** By name of a node: bytes that it made in the last run. */
function outputSizes(events) {
    const sizes = new Map();
    for (const event of events) {
        if (event.cat === "Node" && event.name.endsWith("_kernel_time")) {
            sizes.set(event.name.slice(0, -"_kernel_time".length), Number(event.args.output_size));
        }
    }
    return sizes;
}

for (const name of models) {
    const folder = path.join(options.work, "profiles", name);
    fs.rmSync(folder, { recursive: true, force: true });
    fs.mkdirSync(folder, { recursive: true });
    const file = path.join(options.fixtures, name, "model.onnx");
    const capture = path.join(options.fixtures, name, "modules.json");
    const feeds = harness.savedCases(path.join(options.fixtures, name, "io"))[0].feeds;
    for (const level of ["disabled", "all"]) {
        // Of an optimized session the file that it saved has the names of the profile.
        const tagged = path.join(folder, "tagged.onnx");
        stemma("tag", file, "-m", capture, "-o", tagged, "--carrier", "metadata,mark", "--force");
        const saved = path.join(folder, `${level}.onnx`);
        const { profile, stats } = await measure(tagged, level, folder, feeds, saved);
        const events = JSON.parse(fs.readFileSync(profile, "utf8"));
        const report = JSON.parse(stemma("profile", level === "all" ? saved : tagged, profile, "--format", "json"));
        const what = `${name} at ${level}`;
        // Counted apart: kernels of all runs but the first, which end with a "model_run".
        let run = 0;
        let total = 0;
        let kernels = 0;
        for (const event of events) {
            if (event.cat === "Session" && event.name === "model_run") {
                ++run;
            } else if (event.cat === "Node" && run > 0) {
                total += event.dur;
                kernels += event.name.endsWith("_kernel_time") ? 1 : 0;
            }
        }
        check(report.runs === runs - 1 && report.dropped_runs === 1, `${what}: ${report.runs} runs`);
        check(Math.abs(report.us - total) < 1e-6 * total, `${what}: ${report.us} us of ${total}`);
        const own = report.modules.reduce((sum, one) => sum + one.own_us, 0);
        check(Math.abs(own + report.unmatched_us - report.us) < 1e-6 * total, `${what}: modules sum up to ${own}`);
        check(report.unmatched_us <= 0.01 * report.us, `${what}: ${report.unmatched_us} us without a node`);
        check(report.modules[0].calls === kernels || report.unmatched.length > 0, `${what}: ${report.modules[0].calls} calls of ${kernels}`);
        console.log(`${what}: ${report.us} us, ${report.unmatched_us} unmatched, ${report.fused} fused`);
        if (level === "disabled") {
            // What each node makes, as ONNX Runtime counted it.
            const shapes = JSON.parse(stemma("analyze", tagged, "--cost", "--format", "json")).dimensions;
            const inputs = new Map(Object.entries(feeds).map(([key, tensor]) => [key, tensor.dims]));
            const session = await harness.load(tagged);
            const dims = new Map();
            for (const input of session.inputMetadata) {
                input.shape.forEach((extent, axis) => {
                    if (typeof extent === "string") {
                        dims.set(extent, inputs.get(input.name)[axis]);
                    }
                });
            }
            await session.release();
            const given = shapes.flatMap((dim) => ["--dim", `${dim}=${dims.get(dim)}`]);
            const costs = rows(stemma("analyze", tagged, "--cost", ...given, "--format", "csv", "--table", "nodes"));
            const sizes = outputSizes(events);
            let theirs = 0;
            let ours = 0;
            let equal = 0;
            let compared = 0;
            for (const node of costs) {
                if (sizes.has(node.name) && node.name !== "") {
                    theirs += sizes.get(node.name);
                    ours += Number(node.bytes);
                    equal += sizes.get(node.name) === Number(node.bytes) ? 1 : 0;
                    ++compared;
                }
            }
            check(compared > 10 && Math.abs(ours - theirs) <= 0.1 * theirs, `${what}: ${ours} bytes, ONNX Runtime says ${theirs}`);
            check(equal >= 0.99 * compared, `${what}: ${equal} of ${compared} nodes make as much`);
            check(rows(fs.readFileSync(stats, "utf8")).length > 0, `${what}: no table of memory`);
            console.log(`  ${ours} bytes, ONNX Runtime ${theirs}; ${equal} of ${compared} nodes equal`);
        }
    }
}
for (const line of failures) {
    console.error(line);
}
process.exit(failures.length > 0 ? 1 : 0);
