// SPDX-License-Identifier: Apache-2.0
// The true modules of a fixture's nodes.

import fs from "node:fs";
import path from "node:path";

/** @returns the file with the modules of a model's nodes, which may be missing. */
export function truthOf(file) {
    const whole = ["model.onnx", "model.structure.onnx"].includes(path.basename(file));
    return whole ? path.join(path.dirname(file), "truth.json") : file.replace(/\.onnx$/, ".truth.json");
}

/** @returns the content of a JSON file. */
export function readJson(file) {
    return JSON.parse(fs.readFileSync(file, "utf8"));
}

/** @returns modules by name of a node, without names used in several modules. */
export function byName(truth, keys) {
    const modules = new Map();
    for (const node of truth.nodes) {
        const module = node.module ?? node.known_module ?? node.inferred_module ?? undefined;
        for (const name of keys.map((key) => node[key]).filter((one) => one !== undefined)) {
            modules.set(name, !modules.has(name) || modules.get(name) === module ? module : undefined);
        }
    }
    return modules;
}

/** @returns how an answer relates to the truth: exact, ancestor, descendant or contaminated. */
export function relationOf(module, truth) {
    const isAbove = (a, b) => a === "" || b.startsWith(`${a}.`);
    if (module === truth) {
        return "exact";
    }
    return isAbove(module, truth) ? "ancestor" : isAbove(truth, module) ? "descendant" : "contaminated";
}
