// SPDX-License-Identifier: Apache-2.0
// Real profiles of ONNX Runtime by module, compared with the true modules of nodes; and its figures for the memory of
// every node.
// usage: profiles.mjs --stemma=PROGRAM [--fixtures=FOLDER] [--work=FOLDER]

import fs from "node:fs";
import path from "node:path";

import { modulesAfter } from "./origins.mjs";
import { runProgram } from "./programs.mjs";
import { beginChecks } from "./suite.mjs";
import { Graphs } from "./wire.mjs";

const { options, harness, check, finish } = beginChecks();

// These files have small weights, so that the sizes of computed values are those of the original.
const models = ["bert_micro", "bert_mlm", "gpt2_tiny", "unet_tiny", "two_tower", "lstm_classifier"];
const runs = 4;

function stemma(...words) {
    const done = runProgram(options.stemma, words);
    if (done.status !== 0) {
        throw new Error(`${words.join(" ")}: ${done.stderr}`);
    }
    return done.stdout;
}

/** Runs a model. @returns its profile and its memory table. */
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

/** Calls `see(event, run)` for events of nodes in all runs but the first; a "model_run" ends each. */
function forEachNodeEvent(events, see) {
    let run = 0;
    for (const event of events) {
        if (event.cat === "Session" && event.name === "model_run") {
            ++run;
        } else if (event.cat === "Node" && run > 0) {
            see(event);
        }
    }
}

/** The true modules of the nodes of a fixture, by name. */
function truthOf(name) {
    const truth = JSON.parse(fs.readFileSync(path.join(options.fixtures, name, "truth.json"), "utf8"));
    return new Map(truth.nodes.map((node) => [node.original, node.module ?? node.known_module ?? node.inferred_module]));
}

/**
 * Compares a report with the true modules of kernels, identified by name.
 * @returns the share of time at the true module, of the time with a known one; and the share of events with a known
 * module, which no other load of the machine changes.
 */
function exactShare(report, events, graphs, modules) {
    const moduleOf = new Map();
    graphs.nodes.forEach((node, k) => moduleOf.set(node.name, moduleOf.has(node.name) ? null : modules[k]));
    const truth = new Map();
    let assigned = 0;
    let time = 0;
    let all = 0;
    forEachNodeEvent(events, (event) => {
        const module = moduleOf.get(event.name.replace(/_(kernel_time|fence_before|fence_after)$/, "")) ?? null;
        ++all;
        if (module !== null) {
            ++assigned;
            time += event.dur;
            truth.set(module, (truth.get(module) ?? 0) + event.dur);
        }
    });
    const own = new Map(report.modules.map((one) => [one.path, one.own_us]));
    let exact = 0;
    for (const [module, spent] of truth) {
        exact += Math.min(spent, own.get(module) ?? 0);
    }
    return { exact: exact / time, assigned: assigned / all };
}

/** By name of a node: bytes of its outputs in the last run. */
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
    const original = new Graphs(fs.readFileSync(file));
    const moduleByName = truthOf(name);
    const moduleOf = (node) => moduleByName.get(node.name);
    for (const [level, way] of ["disabled", "extended", "all"].flatMap((one) => [[one, "tagged"], [one, "carried"]])) {
        const what = `${name} at ${level}, ${way}`;
        const given = path.join(folder, `${way}.onnx`);
        if (way === "tagged") {
            stemma("tag", file, "-m", capture, "-o", given, "--carrier", "metadata,mark", "--force");
        } else {
            fs.copyFileSync(file, given);
        }
        // For an optimized session, the saved file has the names in the profile.
        const saved = path.join(folder, `${level}.onnx`);
        const { profile, stats } = await measure(given, level, folder, feeds, saved);
        const events = JSON.parse(fs.readFileSync(profile, "utf8"));
        const measured = level === "disabled" ? given : saved;
        const words = way === "tagged" ? [] : ["--original", file, "-m", capture];
        const report = JSON.parse(stemma("profile", measured, profile, ...words, "--format", "json"));
        // Counted separately.
        let total = 0;
        let kernels = 0;
        forEachNodeEvent(events, (event) => {
            total += event.dur;
            kernels += event.name.endsWith("_kernel_time") ? 1 : 0;
        });
        check(report.runs === runs - 1 && report.dropped_runs === 1, `${what}: ${report.runs} runs`);
        check(Math.abs(report.us - total) < 1e-6 * total, `${what}: ${report.us} us of ${total}`);
        const own = report.modules.reduce((sum, one) => sum + one.own_us, 0);
        check(Math.abs(own + report.unmatched_us - report.us) < 1e-6 * total, `${what}: modules sum up to ${own}`);
        check(report.unmatched_us <= 0.01 * report.us, `${what}: ${report.unmatched_us} us without a node`);
        check(report.modules[0].calls === kernels || report.unmatched.length > 0, `${what}: ${report.modules[0].calls} calls of ${kernels}`);
        const after = new Graphs(fs.readFileSync(measured));
        const truth = level === "disabled" ? after.nodes.map(moduleOf) : modulesAfter(original, after, moduleOf);
        const { exact, assigned } = exactShare(report, events, after, truth);
        const exactly = `${(100 * exact).toFixed(2)} % on the exact module, of ${(100 * assigned).toFixed(1)} % of events that can be told`;
        check(assigned >= 0.8 && exact >= 0.99, `${what}: ${exactly}`);
        console.log(`${what}: ${report.us} us, ${exactly}, ${report.unmatched_us} unmatched, ${report.fused} fused`);
        if (level === "disabled" && way === "tagged") {
            // Outputs of each node, as counted by ONNX Runtime.
            const shapes = JSON.parse(stemma("analyze", given, "--cost", "--format", "json")).dimensions;
            const inputs = new Map(Object.entries(feeds).map(([key, tensor]) => [key, tensor.dims]));
            const session = await harness.load(given);
            const dims = new Map();
            for (const input of session.inputMetadata) {
                input.shape.forEach((extent, axis) => {
                    if (typeof extent === "string") {
                        dims.set(extent, inputs.get(input.name)[axis]);
                    }
                });
            }
            await session.release();
            const sized = shapes.flatMap((dim) => ["--dim", `${dim}=${dims.get(dim)}`]);
            const costs = rows(stemma("analyze", given, "--cost", ...sized, "--format", "csv", "--table", "nodes"));
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
            // Its memory table omits nodes that work in place, rounds up to 256 bytes, and includes the workspace of
            // an LSTM.
            const bytes = new Map(costs.map((node) => [node.name, Number(node.bytes)]));
            const allocations = rows(fs.readFileSync(stats, "utf8"))
                .map((row) => [bytes.get(row.name.replace(/_\d+$/, "")), Number(row.total_dynamic_sizes)])
                .filter(([stated, allocated]) => stated !== undefined && allocated > 0);
            const close = allocations.filter(([stated, allocated]) => Math.abs(allocated - stated) <= Math.max(0.1 * allocated, 256));
            check(allocations.length > 0 && close.length >= 0.95 * allocations.length,
                  `${what}: ${close.length} of ${allocations.length} allocations are what nodes make`);
            console.log(`  ${ours} bytes, ONNX Runtime ${theirs}; ${equal} of ${compared} nodes equal, ` +
                        `${close.length} of ${allocations.length} allocations`);
        }
    }
}
finish();
