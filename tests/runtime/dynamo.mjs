// SPDX-License-Identifier: Apache-2.0
// Rewrites an export of PyTorch's older exporter to one of its newer exporter, based on torch.export: the same
// computation with the latter's names, metadata and operators for normalization.

import { Message, field } from "./wire.mjs";

const { model: ofModel, graph: ofGraph, node: ofNode, attribute: ofAttribute, tensor: ofTensor } = field;
const namer = (graph) => (number) => graph.messages(number).map((info) => info.text(field.info.name));

function makeNode(op, inputs, output, name) {
    const node = new Message();
    inputs.forEach((input) => node.add(ofNode.input, input));
    return node.add(ofNode.output, output).add(ofNode.name, name).add(ofNode.op, op);
}

function makeVector(name, size, first) {
    const data = Buffer.from(Float32Array.from({ length: size }, (_, i) => first + i / 1000).buffer);
    const tensor = new Message().add(ofTensor.dims, size).add(ofTensor.type, 1);
    return tensor.add(ofTensor.name, name).add(ofTensor.raw, data);
}

/** A model being rewritten. `facts`: truth.json, initializers.json and modules.json of a fixture. */
class Rewriting {
    constructor(bytes, { truth, initializers, modules }) {
        this.model = new Message(bytes);
        this.graph = new Message(this.model.one(ofModel.graph));
        this.facts = new Map(truth.nodes.map((node) => [node.original, node]));
        this.weights = new Map(initializers.initializers.map((one) => [one.name, one]));
        this.classes = new Map(modules.modules.map((module) => [module.name, module.qualified_class]));
        this.called = new Set(modules.modules.filter(({ calls }) => calls !== 0).map(({ name }) => name));
        this.names = new Map(); // of values, old -> new
        this.operations = new Map(); // first output, old -> PyTorch's name of the operation
        this.modules = new Map(); // first output, new -> module
        this.used = new Map();
        this.values = 0;
        this.nodes = 0;
        this.norms = 0;
    }

    moduleOf(node) {
        const { module, known_module: nearest, inferred_module: inferred } = this.facts.get(node.text(ofNode.name)) ?? {};
        return module ?? nearest ?? inferred ?? undefined;
    }

    /** Nodes from one line of one call of a module. */
    lineOf(node) {
        const fact = this.facts.get(node.text(ofNode.name));
        return fact ? JSON.stringify([this.moduleOf(node), fact.source, fact.call]) : node.text(ofNode.name);
    }

    /** Undoes the older exporter's folding into a convolution. @returns its nodes. */
    unfoldNormalization(conv) {
        const [data, weight, bias] = conv.texts(ofNode.input);
        const { sources, dims } = this.weights.get(weight);
        const from = this.weights.get(bias).sources;
        const norm = from.find((source) => source.endsWith(".running_var")).replace(/\.running_var$/, "");
        const own = sources[0].replace(/weight$/, "bias");
        const parts = ["weight", "bias", "running_mean", "running_var"].map((part) => `${norm}.${part}`);
        const biases = from.includes(own) ? [own] : [];
        [...biases, ...parts].forEach((name, k) => {
            // All different, or optimizers would merge them.
            this.graph.add(ofGraph.initializer, makeVector(name, dims[0], 0.5 + k / 10 + this.norms / 1e4));
            this.names.set(name, name);
        });
        this.norms += 1;
        this.gone.add(bias);
        const [output] = conv.texts(ofNode.output);
        const name = `${conv.text(ofNode.name)}#norm`;
        const { call } = this.facts.get(conv.text(ofNode.name));
        this.facts.set(name, { module: norm, call, source: "torch/nn/modules/batchnorm.py" });
        conv.drop(ofNode.input).set(ofNode.output, `${output}#conv`);
        [data, weight, ...biases].forEach((input) => conv.add(ofNode.input, input));
        return [conv, makeNode("BatchNormalization", [`${output}#conv`, ...parts], output, name)];
    }

    /** @returns one node for a decomposed layer normalization; null if the nodes are none. */
    fuseNormalization(nodes) {
        const ofType = (op) => nodes.filter((node) => node.text(ofNode.op) === op);
        const weightOf = (node) => node?.texts(ofNode.input).find((input) => this.weights.has(input));
        const weights = [weightOf(ofType("Mul").at(-1)), weightOf(ofType("Add").at(-1))];
        const last = nodes.at(-1);
        const whole = ofType("ReduceMean").length === 2 && last === ofType("Add").at(-1);
        if (!whole || weights.includes(undefined)) {
            return null;
        }
        const inputs = [nodes[0].texts(ofNode.input)[0], ...weights];
        return makeNode("LayerNormalization", inputs, last.text(ofNode.output), last.text(ofNode.name));
    }

    normalize() {
        this.gone = new Set();
        const old = this.graph.messages(ofGraph.node);
        const nodes = [];
        let fusedAny = false;
        for (let k = 0; k < old.length; ) {
            const node = old[k];
            let end = k + 1;
            while (end < old.length && this.lineOf(old[end]) === this.lineOf(node)) {
                ++end;
            }
            const weight = this.weights.get(node.texts(ofNode.input)[1]);
            const starts =
                node.text(ofNode.op) === "ReduceMean" && this.classes.get(this.moduleOf(node))?.endsWith("LayerNorm");
            const fused = starts ? this.fuseNormalization(old.slice(k, end)) : null;
            if (node.text(ofNode.op) === "Conv" && weight?.transform === "conv-bn-fold weight") {
                nodes.push(...this.unfoldNormalization(node));
            } else {
                nodes.push(fused ?? node);
            }
            fusedAny ||= fused !== null;
            k = fused ? end : k + 1;
        }
        const tensors = this.graph.messages(ofGraph.initializer);
        this.graph.drop(ofGraph.node).drop(ofGraph.initializer);
        nodes.forEach((node) => this.graph.add(ofGraph.node, node));
        tensors
            .filter((tensor) => !this.gone.has(tensor.text(ofTensor.name)))
            .forEach((tensor) => this.graph.add(ofGraph.initializer, tensor));
        if (fusedAny) {
            const newer = (opset) => (opset.text(1) === "" && opset.one(2) < 17 ? opset.set(2, 17) : opset);
            this.model.map(ofModel.opset, (bytes) => newer(new Message(bytes)).encode());
        }
    }

    fresh(stem) {
        const count = this.used.get(stem) ?? 0;
        this.used.set(stem, count + 1);
        return count === 0 ? stem : `${stem}_${count}`;
    }

    nameWeights() {
        const used = new Set(this.names.keys());
        for (const { name, kind, transform, sources } of this.weights.values()) {
            const own = (kind !== "constant" && transform === "identity") || transform === "conv-bn-fold weight";
            const keepsName = own && !used.has(sources[0]);
            this.names.set(name, keepsName ? sources[0] : `val_${this.values++}`);
            used.add(this.names.get(name));
        }
    }

    nameValues(graph) {
        const nodes = graph.messages(ofGraph.node);
        nodes.forEach((node, k) => {
            const op = node.text(ofNode.op);
            const fact = this.facts.get(node.text(ofNode.name));
            const own = (this.classes.get(this.moduleOf(node)) ?? "").split(".").at(-1).toLowerCase();
            const stem = fact?.source?.startsWith("torch/nn") && own ? own : op.toLowerCase();
            const ends = k + 1 === nodes.length || this.lineOf(nodes[k + 1]) !== this.lineOf(node);
            const outputs = node.texts(ofNode.output);
            this.operations.set(outputs[0], stem);
            outputs.forEach((output, i) => {
                if (output && !this.names.has(output)) {
                    const named = ends && i === 0 && op !== "Constant";
                    this.names.set(output, named ? this.fresh(stem) : `val_${this.values++}`);
                }
            });
            for (const attribute of node.messages(ofNode.attribute)) {
                for (const body of [ofAttribute.graph, ofAttribute.graphs].flatMap((n) => attribute.messages(n))) {
                    const tensors = body.messages(ofGraph.initializer).map((tensor) => tensor.text(ofTensor.name));
                    [...namer(body)(ofGraph.input), ...tensors]
                        .filter((name) => !this.names.has(name))
                        .forEach((name) => this.names.set(name, `val_${this.values++}`));
                    this.nameValues(body);
                }
            }
        });
    }

    metadataOf(module, name, stem) {
        const parts = module === "" ? [] : module.split(".");
        const paths = ["", ...parts.map((_, i) => parts.slice(0, i + 1).join("."))];
        const levels = paths.filter((path) => path === "" || this.called.has(path));
        const target = `aten.${stem}.default`;
        const scopes = [...levels, name];
        const classes = [...levels.map((path) => this.classes.get(path)), target];
        const list = (texts) => `[${texts.map((text) => `'${text}'`).join(", ")}]`;
        return {
            namespace: scopes.map((scope, i) => `${scope}: ${classes[i]}`).join("/"),
            "pkg.torch.onnx.class_hierarchy": list(classes),
            "pkg.torch.onnx.fx_node": `%${name} : [num_users=1] = call_function[target=torch.ops.${target}]`,
            "pkg.torch.onnx.name_scopes": list(scopes),
            "pkg.torch.onnx.stack_trace": 'File "model.py", line 1, in forward\n    return x',
        };
    }

    rewriteNode(bytes) {
        const node = new Message(bytes);
        const module = this.moduleOf(node);
        const stem = this.operations.get(node.texts(ofNode.output)[0]);
        const rename = (old) => Buffer.from(this.names.get(old.toString()) ?? old);
        node.map(ofNode.input, rename).map(ofNode.output, rename);
        const [name] = node.texts(ofNode.output);
        const op = node.text(ofNode.op);
        const number = this.nodes++;
        node.drop(ofNode.doc).set(ofNode.name, /^val_\d+$/.test(name) ? `node_${op}_${number}` : `node_${name}`);
        node.map(ofNode.attribute, (attribute) => {
            const body = (graph) => this.rewriteGraph(new Message(graph)).encode();
            return new Message(attribute).map(ofAttribute.graph, body).map(ofAttribute.graphs, body).encode();
        });
        if (module !== undefined) {
            this.modules.set(name, module);
        }
        if (module !== undefined && op !== "Constant") {
            for (const [key, value] of Object.entries(this.metadataOf(module, name, stem))) {
                node.add(ofNode.metadata, new Message().add(field.entry.key, key).add(field.entry.value, value));
            }
        }
        return node.encode();
    }

    rewriteGraph(graph) {
        const renameAt = (number) => (bytes) =>
            new Message(bytes).map(number, (old) => Buffer.from(this.names.get(old.toString()) ?? old)).encode();
        return graph
            .map(ofGraph.node, (bytes) => this.rewriteNode(bytes))
            .map(ofGraph.initializer, renameAt(ofTensor.name))
            .map(ofGraph.input, renameAt(field.info.name))
            .map(ofGraph.output, renameAt(field.info.name))
            .map(ofGraph.valueInfo, renameAt(field.info.name));
    }

    run() {
        this.normalize();
        [ofGraph.input, ofGraph.output]
            .flatMap(namer(this.graph))
            .forEach((name) => this.names.set(name, name));
        this.nameWeights();
        this.nameValues(this.graph);
        const graph = this.rewriteGraph(this.graph).set(ofGraph.name, "main_graph");
        return this.model
            .map(ofModel.graph, () => graph.encode())
            .set(ofModel.irVersion, 10)
            .set(ofModel.producer, "pytorch")
            .set(ofModel.producerVersion, "2.6.0")
            .encode();
    }
}

/** @returns the model in the form of the newer exporter, and the modules of its nodes by first output. */
export function asDynamoExport(bytes, facts) {
    const rewriting = new Rewriting(bytes, facts);
    return { bytes: rewriting.run(), modules: rewriting.modules };
}
