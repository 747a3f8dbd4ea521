// SPDX-License-Identifier: Apache-2.0
// A minimal protobuf and ONNX implementation to read and edit models, for tests that must be independent of stemma.

/** A message as the list of its fields, which may be edited and written. */
export class Message {
    constructor(bytes = Buffer.alloc(0)) {
        this.fields = [];
        let at = 0;
        const varint = () => {
            let value = 0;
            for (let scale = 1; ; scale *= 128) {
                const byte = bytes[at++];
                value += (byte & 127) * scale;
                if (byte < 128) {
                    return value;
                }
            }
        };
        while (at < bytes.length) {
            const key = varint();
            const type = key & 7;
            const from = at;
            // Negative numbers lose bits in `value`, but are written unchanged.
            let value = type === 0 ? varint() : null;
            const size = type === 2 ? varint() : type === 1 ? 8 : 4;
            if (value === null) {
                value = bytes.subarray(at, (at += size));
            }
            this.fields.push({ number: Math.floor(key / 8), type, value, raw: bytes.subarray(from, at) });
        }
    }

    all(number) {
        return this.fields.filter((field) => field.number === number).map((field) => field.value);
    }

    one(number) {
        return this.fields.find((field) => field.number === number)?.value;
    }

    text(number) {
        return this.one(number)?.toString() ?? "";
    }

    texts(number) {
        return this.all(number).map(String);
    }

    messages(number) {
        return this.all(number).map((bytes) => new Message(bytes));
    }

    drop(number) {
        this.fields = this.fields.filter((field) => field.number !== number);
        return this;
    }

    /** Appends a number, a text, bytes, or a message. */
    add(number, value) {
        if (typeof value === "number") {
            this.fields.push({ number, type: 0, value, raw: varintOf(value) });
        } else {
            const bytes = value instanceof Message ? value.encode() : Buffer.from(value);
            this.fields.push({ number, type: 2, value: bytes });
        }
        return this;
    }

    set(number, value) {
        return this.drop(number).add(number, value);
    }

    /** Edits the bytes of every field of a number, in place. */
    map(number, change) {
        this.fields
            .filter((field) => field.number === number)
            .forEach((field) => {
                field.value = change(field.value);
            });
        return this;
    }

    encode() {
        const parts = [];
        for (const { number, type, value, raw } of this.fields) {
            parts.push(varintOf(number * 8 + type));
            if (type === 0) {
                parts.push(raw);
            } else {
                parts.push(type === 2 ? varintOf(value.length) : Buffer.alloc(0), value);
            }
        }
        return Buffer.concat(parts);
    }
}

function varintOf(value) {
    const bytes = [];
    for (; value >= 128; value = Math.floor(value / 128)) {
        bytes.push((value % 128) | 128);
    }
    return Buffer.from([...bytes, value]);
}

export const field = {
    model: { irVersion: 1, producer: 2, producerVersion: 3, graph: 7, opset: 8 },
    graph: { node: 1, name: 2, initializer: 5, input: 11, output: 12, valueInfo: 13, sparse: 15 },
    node: { input: 1, output: 2, name: 3, op: 4, attribute: 5, doc: 6, domain: 7, metadata: 9 },
    attribute: { name: 1, graph: 6, graphs: 11 },
    tensor: { dims: 1, type: 2, name: 8, raw: 9, doc: 12, external: 13, metadata: 16 },
    info: { name: 1 },
    entry: { key: 1, value: 2 },
};

/** A graph with its bodies. Requires: names of values are unique in the whole model. */
export class Graphs {
    nodes = []; // owners before the nodes of their bodies
    inputs = new Set();
    initializers = new Map(); // name -> content of a small one, else null
    formals = new Set(); // inputs of bodies

    constructor(bytes) {
        this.#read(new Message(new Message(bytes).one(field.model.graph)), "", null);
    }

    #read(graph, place, owner) {
        const { graph: g, node: n } = field;
        graph
            .messages(g.initializer)
            .forEach((tensor) => this.initializers.set(tensor.text(field.tensor.name), contentOf(tensor)));
        graph
            .messages(g.sparse)
            .forEach((tensor) => this.initializers.set(new Message(tensor.one(1)).text(field.tensor.name), null));
        const inputs = owner === null ? this.inputs : this.formals;
        graph.messages(g.input).forEach((input) => inputs.add(input.text(field.info.name)));
        owner?.results.push(...graph.messages(g.output).map((output) => output.text(field.info.name)));
        graph.messages(g.node).forEach((message, index) => {
            const node = {
                place,
                index,
                name: message.text(n.name),
                op: message.text(n.op),
                domain: message.text(n.domain),
                inputs: message.texts(n.input),
                outputs: message.texts(n.output),
                attributes: message.all(n.attribute).map((one) => one.toString("latin1")).sort().join(),
                results: [], // results of its bodies
            };
            this.nodes.push(node);
            for (const attribute of message.messages(n.attribute)) {
                const where = `${place ? `${place}/` : ""}${index}/${attribute.text(field.attribute.name)}`;
                attribute.messages(field.attribute.graph).forEach((body) => this.#read(body, where, node));
                attribute
                    .messages(field.attribute.graphs)
                    .forEach((body, k) => this.#read(body, `${where}[${k}]`, node));
            }
        });
    }
}

/** @returns a model with nodes and values named `prefix` and a number, in order. */
export function anonymous(bytes, prefix) {
    const names = new Map([["", ""]]);
    const rename = (name) => {
        const old = name.toString();
        if (!names.has(old)) {
            names.set(old, `${prefix}${names.size}`);
        }
        return Buffer.from(names.get(old));
    };
    const { graph: g, node: n, attribute: a, tensor, info } = field;
    const renameIn = (number) => (one) => new Message(one).map(number, rename).encode();
    let count = 0;
    const change = (graph) => {
        const renameNode = (node) => {
            const changed = node.map(n.input, rename).map(n.output, rename).drop(n.name);
            return changed.add(n.name, `${prefix}${prefix}${count++}`).map(n.attribute, (one) => {
                const attribute = new Message(one);
                const body = (graph) => change(new Message(graph)).encode();
                return attribute.map(a.graph, body).map(a.graphs, body).encode();
            });
        };
        [g.input, g.output, g.valueInfo].forEach((number) => graph.map(number, renameIn(info.name)));
        graph.map(g.initializer, renameIn(tensor.name));
        return graph.map(g.node, (one) => renameNode(new Message(one)).encode());
    };
    const model = new Message(bytes);
    return model.map(field.model.graph, (one) => change(new Message(one)).encode()).encode();
}

/** The content of a small tensor, without its name: runtimes share equal small ones, but no large ones. */
function contentOf(tensor) {
    const { name, doc, metadata } = field.tensor;
    const bytes = new Message(tensor.encode()).drop(name).drop(doc).drop(metadata).encode();
    return bytes.length <= 96 ? bytes.toString("latin1") : null;
}
