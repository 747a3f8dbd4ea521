// SPDX-License-Identifier: Apache-2.0
// The origin of nodes of an optimized model, from the values that are left of its original: a node belongs to the common
// ancestor of the original nodes between its inputs and outputs.

export function commonAncestor(a, b) {
    const [x, y] = [a, b].map((path) => (path === "" ? [] : path.split(".")));
    const differs = x.findIndex((part, i) => part !== y[i]);
    return (differs < 0 ? x : x.slice(0, differs)).join(".");
}

/** A model before optimization, with the true modules of its nodes. */
class Original {
    constructor(graphs, moduleOf) {
        this.graphs = graphs;
        this.makers = makersIn(graphs.nodes);
        this.modules = new Map(graphs.nodes.map((node) => [node, moduleOf(node)]));
        this.byName = new Map();
        for (const node of graphs.nodes.filter((one) => one.name)) {
            this.byName.set(node.name, this.byName.has(node.name) ? null : node);
        }
        this.#findEquals();
        this.#findData();
    }

    has(value) {
        const { inputs, initializers, formals } = this.graphs;
        return this.makers.has(value) || inputs.has(value) || initializers.has(value) || formals.has(value);
    }

    /** @returns the first of identically computed values, of which optimizers keep one. */
    same(value) {
        let first = value;
        while (this.equals.has(first)) {
            first = this.equals.get(first);
        }
        return first;
    }

    #findEquals() {
        this.equals = new Map();
        const unique = new Map();
        const meet = (key, values) => {
            const first = unique.get(key);
            if (first === undefined) {
                unique.set(key, values);
            } else {
                values.forEach((value, i) => value && first[i] && this.equals.set(value, first[i]));
            }
        };
        for (const [name, content] of this.graphs.initializers) {
            if (content !== null) {
                meet(content, [name]);
            }
        }
        for (const { op, domain, attributes, inputs, outputs, results } of this.graphs.nodes) {
            const large = op === "Constant" && attributes.length > 96;
            if (op === "Identity" && inputs.length === 1) {
                this.equals.set(outputs[0], inputs[0]);
            } else if (results.length === 0 && !large && !/^(Random|Multinomial|Bernoulli)/.test(op)) {
                const read = inputs.map((input) => this.same(input));
                meet(JSON.stringify([op, domain, attributes, read, outputs.length]), outputs);
            }
        }
    }

    /** Finds the values that depend on the content of inputs, not only on shapes. */
    #findData() {
        const { inputs, initializers, formals, nodes } = this.graphs;
        this.data = new Set([...formals, ...[...inputs].filter((input) => !initializers.has(input))]);
        let size;
        do {
            size = this.data.size; // results of bodies are known after their owners
            for (const node of nodes.filter(({ op }) => op !== "Shape" && op !== "Size")) {
                if ([...node.inputs, ...node.results].some((value) => this.data.has(value))) {
                    node.outputs.filter(Boolean).forEach((output) => this.data.add(output));
                }
            }
        } while (this.data.size > size);
    }

    /** @returns the nodes between `begins` and `ends`; null if there are other paths to `ends`. */
    between(begins, ends) {
        const stops = new Set([...begins].map((value) => this.same(value)));
        const onlyData = ends.some((value) => this.data.has(value));
        const { inputs, initializers, formals } = this.graphs;
        const nodes = new Set();
        const visited = new Set();
        const work = [...ends];
        while (work.length > 0) {
            const value = work.pop();
            const begin = !ends.includes(value) && (begins.has(value) || stops.has(this.same(value)));
            if (begin || visited.has(value)) {
                continue;
            }
            visited.add(value);
            const node = this.makers.get(value);
            if (node) {
                nodes.add(node);
                work.push(...node.inputs.filter((input) => input && (!onlyData || this.data.has(input))));
            } else if (formals.has(value) || (inputs.has(value) && !initializers.has(value))) {
                return null;
            }
        }
        return nodes;
    }

    /** @returns the common ancestor of nodes (of those that compute with data, if any), and whether it is the module of
     * each; null if a module is unknown. */
    moduleOf(nodes) {
        const computing = [...nodes].filter((node) => node.outputs.some((output) => this.data.has(output)));
        const counted = (computing.length > 0 ? computing : [...nodes]).filter(
            (node) => node.op !== "Constant" || nodes.size === 1,
        );
        const modules = counted.map((node) => this.modules.get(node));
        return modules.length === 0 || modules.includes(undefined)
            ? null
            : { module: modules.reduce(commonAncestor), alike: new Set(modules).size === 1, nodes: counted };
    }
}

// Operators that optimizers insert without a name.
const inserted = new Set([
    ...["ReorderInput", "ReorderOutput", "Cast", "QuantizeLinear", "DequantizeLinear"],
    ...["Identity", "Transpose", "Reshape", "Squeeze", "Unsqueeze"],
]);
const layoutName = /^(.*?)(_bn)?_nchwc(_token_\d+)?$/;
const suffix = /(_nchwc|_token_\d+|_transpose_optimized)$/;

/** An optimized model, with the names of its values in the original. */
class Optimized {
    constructor(graphs, original) {
        this.graphs = graphs;
        this.original = original;
        this.makers = makersIn(graphs.nodes);
        this.readers = new Map();
        graphs.nodes.forEach((node) =>
            node.inputs.filter(Boolean).forEach((input) => {
                this.readers.set(input, [...(this.readers.get(input) ?? []), node]);
            }),
        );
        this.known = new Map();
        graphs.nodes.forEach((node) => node.outputs.filter(Boolean).forEach((output) => this.origin(output)));
        const { inputs, formals } = original.graphs;
        this.left = new Set([...this.known.values(), ...inputs, ...formals].filter(Boolean));
    }

    /** @returns the original of a value; undefined if there is none. */
    origin(value) {
        if (!this.known.has(value)) {
            this.known.set(value, undefined); // stops at cycles
            this.known.set(value, this.#byName(value) ?? this.#byNeighbours(value));
        }
        return this.known.get(value);
    }

    #byName(value) {
        let name = value;
        while (!this.original.has(name) && suffix.test(name)) {
            name = name.replace(suffix, "");
        }
        return this.original.has(name) ? name : undefined;
    }

    #byNeighbours(value) {
        if (this.graphs.initializers.has(value)) {
            return undefined;
        }
        const readers = this.readers.get(value) ?? [];
        for (const reader of readers) {
            const namesake = reader.op.startsWith("Reorder") ? this.#byName(reader.outputs[0]) : undefined;
            const read = namesake ?? this.#originalOf(reader)?.inputs[reader.inputs.indexOf(value)];
            if (read) {
                return this.#madeBefore(value, read) ?? read;
            }
        }
        const node = this.makers.get(value);
        if (node && this.#passesOn(node) && node.inputs[0]) {
            return this.origin(node.inputs[0]);
        }
        const before = node && layoutName.exec(node.name)?.[1];
        return before && this.original.has(before)
            ? before
            : node && this.#originalOf(node)?.outputs[node.outputs.indexOf(value)];
    }

    // A node may read what an operator fused into it, such as a padding, read.
    #madeBefore(value, read) {
        const node = this.makers.get(value);
        const original = node && !layoutName.test(node.name) ? this.#originalOf(node) : null;
        const before = this.original.makers.get(read);
        const fused = original && before && before !== original && !inserted.has(before.op);
        return fused ? original.outputs[node.outputs.indexOf(value)] : undefined;
    }

    // Layout optimization names a node after its output before further fusions.
    #originalOf(node) {
        const layout = layoutName.exec(node.name);
        if (!layout) {
            const namesake = this.original.byName.get(node.name);
            return namesake?.op === node.op ? namesake : null;
        }
        const op = layout[2] ? "BatchNormalization" : node.op === "Upsample" ? "Resize" : node.op;
        let maker = this.original.makers.get(layout[1]);
        for (let k = 0; maker && maker.op !== op && k < 3; ++k) {
            maker = this.original.makers.get(maker.inputs[0]);
        }
        return maker?.op === op ? maker : null;
    }

    // A Reshape before a fused product is part of that.
    #passesOn(node) {
        const readers = this.readers.get(node.outputs[0]) ?? [];
        const fused = node.op === "Reshape" && readers.some((one) => one.op === "Gemm" && !this.#originalOf(one));
        return inserted.has(node.op) && !fused;
    }

    /** Whether a node only passes on a value of the original. */
    isInserted(node) {
        const from = node.inputs[0] && this.#passesOn(node) ? this.origin(node.inputs[0]) : undefined;
        const to = this.origin(node.outputs[0]);
        return (
            from !== undefined &&
            to !== undefined &&
            (this.original.same(from) === this.original.same(to) || !this.original.has(node.outputs[0]))
        );
    }

    /** @returns the first inputs and last outputs of a node and those with which it shares new values. */
    #surroundings(node) {
        const region = new Set([node]);
        const begins = new Set();
        const ends = new Set();
        const note = (value, to, others) => {
            const origin = this.origin(value);
            if (origin !== undefined) {
                to.add(origin);
            } else {
                others.forEach((other) => region.add(other));
            }
        };
        const outputsOf = (one) => one.outputs.filter(Boolean);
        const isKnown = (one) => outputsOf(one).some((output) => this.origin(output) !== undefined);
        for (const member of region) {
            member.inputs
                .filter((input) => input && !this.graphs.initializers.has(input))
                .forEach((input) => note(input, begins, this.makers.has(input) ? [this.makers.get(input)] : []));
            if (member === node || !isKnown(member)) {
                outputsOf(member).forEach((output) => note(output, ends, this.readers.get(output) ?? []));
            } else if (!isKnown(node)) {
                outputsOf(member).forEach((output) => ends.add(this.origin(output)));
            }
        }
        ends.delete(undefined);
        ends.forEach((end) => begins.delete(end));
        return { begins, ends: [...ends], shared: region.size > 1 };
    }

    /** @returns the module of a node, and the nodes it replaces; null if it cannot be determined. */
    sliceOf(node) {
        const { begins, ends, shared } = this.#surroundings(node);
        if (ends.length === 0) {
            return null;
        }
        const others = [...this.left].filter((value) => !ends.includes(value));
        const nodes =
            this.original.between(begins, ends) ?? this.original.between(new Set([...begins, ...others]), ends);
        const place = nodes?.size > 0 ? this.original.moduleOf(nodes) : null;
        return place === null || (shared && !place.alike) ? null : { module: place.module, nodes: shared ? null : place.nodes };
    }
}

/**
 * @param before the model as `Graphs`; `moduleOf` returns the module of a node, if known
 * @param after the optimized model
 * @returns for each node of `after` its module; null if it cannot be determined. Inserted nodes belong to the module of
 *          their data.
 */
export function modulesAfter(before, after, moduleOf) {
    return slicesAfter(before, after, moduleOf).map((slice) => slice && slice.module);
}

/**
 * @returns for each node of `after` its module, and the nodes of `before` it replaces: those that compute with data, if
 *          any; `nodes` is null if it was inserted, or cannot be distinguished from its neighbors
 */
export function slicesAfter(before, after, moduleOf) {
    const optimized = new Optimized(after, new Original(before, moduleOf));
    const slices = new Map();
    const tell = (node, through) => {
        if (slices.has(node)) {
            return slices.get(node);
        }
        let slice;
        if (!optimized.isInserted(node) || through.has(node)) {
            slice = optimized.sliceOf(node);
        } else if (optimized.makers.has(node.inputs[0])) {
            slice = tell(optimized.makers.get(node.inputs[0]), new Set([...through, node]));
        } else {
            const readers = node.outputs.flatMap((output) => optimized.readers.get(output) ?? []);
            const read = readers.map((reader) => tell(reader, new Set([...through, node]))).filter(Boolean);
            slice = read.length === 0 ? null : { module: read.map(({ module }) => module).reduce(commonAncestor) };
        }
        slice = slice && optimized.isInserted(node) ? { module: slice.module, nodes: null } : slice;
        slices.set(node, slice);
        return slice;
    };
    return after.nodes.map((node) => tell(node, new Set()));
}

function makersIn(nodes) {
    return new Map(nodes.flatMap((node) => node.outputs.filter(Boolean).map((output) => [output, node])));
}
