// SPDX-License-Identifier: Apache-2.0
// What the tests over all fixture models share: finding them, and saying what came out.

import fs from "node:fs";
import path from "node:path";

export function printTable(rows) {
    const columns = Object.keys(rows[0] ?? {});
    const total = { ...rows[0], fixture: "all" };
    for (const column of columns.filter((c) => c !== "fixture")) {
        total[column] = rows.reduce((sum, row) => sum + row[column], 0);
    }
    const header = Object.fromEntries(columns.map((c) => [c, c]));
    for (const row of [header, ...rows, total]) {
        const cells = columns.map((c) => {
            const width = Math.max(...[header, ...rows].map((other) => String(other[c]).length));
            return c === "fixture" ? row[c].padEnd(width) : String(row[c]).padStart(width);
        });
        console.log(cells.join("  "));
    }
}

export function printList(title, lines) {
    console.log(`\n${title}: ${lines.length === 0 ? "none" : lines.length}`);
    lines.forEach((line) => console.log(`  ${line}`));
}

export function firstLine(text) {
    return text.trim().split("\n")[0].slice(0, 300);
}

/** Models of one layout share the made-up weights, which are large. */
export function layoutOf(info) {
    return JSON.stringify(info.external.map((tensor) => ({ ...tensor, name: "" })));
}

export function groupBy(things, keyOf) {
    const groups = new Map();
    for (const thing of things) {
        const key = keyOf(thing);
        groups.set(key, [...(groups.get(key) ?? []), thing]);
    }
    return groups;
}

/** @returns [fixture, model files] of every fixture with `only` in its name. */
export function fixtureModels(fixtures, only) {
    const entries = fs.readdirSync(fixtures, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    return names
        .filter((name) => name.includes(only))
        .sort()
        .map((name) => [name, modelsIn(path.join(fixtures, name))])
        .filter(([, models]) => models.length > 0);
}

function modelsIn(folder) {
    return fs
        .readdirSync(folder)
        .filter((file) => file.endsWith(".onnx"))
        .sort()
        .map((file) => path.join(folder, file));
}
