// SPDX-License-Identifier: Apache-2.0
// How reliable confidence is: the share of correct nodes by confidence.

const ranges = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

export function percent(part, whole) {
    return whole === 0 ? 100 : (100 * part) / whole;
}

/** Counts nodes by provenance and by range of confidence. */
export class Curve {
    #rows = new Map();

    add(provenance, confidence, right) {
        // Confidence is a float: 0.9 may be slightly less.
        const range = ranges.findLastIndex((from) => confidence >= from - 1e-6);
        for (const key of [provenance, "all"]) {
            const row = this.#rows.get(key) ?? ranges.map(() => ({ nodes: 0, right: 0 }));
            this.#rows.set(key, row);
            row[range].nodes += 1;
            row[range].right += right ? 1 : 0;
        }
    }

    /** @returns the share of correct nodes among those with at least this confidence, in percent. */
    share(least) {
        const counted = (this.#rows.get("all") ?? []).filter((_, k) => ranges[k] >= least);
        const sum = (what) => counted.reduce((total, one) => total + one[what], 0);
        return percent(sum("right"), sum("nodes"));
    }

    /** @returns rows for a table: for each provenance and range, the share of correct nodes and the number of nodes. */
    table() {
        const cell = ({ nodes, right }) => (nodes === 0 ? "-" : `${percent(right, nodes).toFixed(1)} % of ${nodes}`);
        return [...this.#rows.keys()].sort().map((provenance) => ({
            "evidence": provenance,
            ...Object.fromEntries(this.#rows.get(provenance).map((one, k) => [`from ${ranges[k]}`, cell(one)])),
        }));
    }
}
