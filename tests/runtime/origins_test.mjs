// SPDX-License-Identifier: Apache-2.0
// Tests of the truth about optimized models, on graphs defined here, and of reading files.

import assert from "node:assert/strict";
import { test } from "node:test";

import { commonAncestor, modulesAfter } from "./origins.mjs";
import { Graphs, Message, field } from "./wire.mjs";

/** Bytes of a model with nodes given as `Op name: inputs -> outputs`; inputs start with `in`, weights with `w`. */
function modelOf(...lines) {
    const graph = new Message();
    const inputs = new Set();
    for (const line of lines) {
        const [head, data] = line.split(": ");
        const [read, results] = data.split(" -> ").map((values) => values.split(" ").filter(Boolean));
        const [op, name = ""] = head.split(" ");
        const node = new Message().add(field.node.name, name).add(field.node.op, op);
        read.forEach((value) => node.add(field.node.input, value));
        results.forEach((value) => node.add(field.node.output, value));
        graph.add(field.graph.node, node);
        read.filter((value) => /^(in|w)/.test(value)).forEach((value) => inputs.add(value));
    }
    for (const name of inputs) {
        const [number, key] = name.startsWith("w")
            ? [field.graph.initializer, field.tensor.name]
            : [field.graph.input, field.info.name];
        graph.add(number, new Message().add(key, name).add(field.tensor.doc, name));
    }
    return new Message().add(field.model.graph, graph).encode();
}

/** Modules are names of nodes in the original, up to the last dot. */
function found(before, after) {
    const moduleOf = ({ name }) => (name ? name.slice(0, Math.max(name.lastIndexOf("."), 0)) : undefined);
    return modulesAfter(new Graphs(modelOf(...before)), new Graphs(modelOf(...after)), moduleOf);
}

test("a path and one below it meet in the upper one, others where they part", () => {
    assert.equal(commonAncestor("a.b", "a.b.c"), "a.b");
    assert.equal(commonAncestor("a.bc", "a.b"), "a");
    assert.equal(commonAncestor("a", "b"), "");
});

test("a message that is read and written is the same bytes", () => {
    const bytes = modelOf("Add m.x: in w -> out");
    assert.deepEqual(new Message(bytes).encode(), bytes);
    const negative = Buffer.from([8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    assert.deepEqual(new Message(negative).encode(), negative);
});

test("a node that is left is where it was, whatever it is called now", () => {
    const before = ["MatMul net.fc.x: in w -> a", "Relu net.act.x: a -> out"];
    assert.deepEqual(found(before, ["MatMul y: in w -> a", "Relu y: a -> out"]), ["net.fc", "net.act"]);
});

test("what makes a matrix for a fused product is part of that", () => {
    const before = ["Gelu net.act.x: in -> a", "MatMul net.fc.x: a w -> b", "Add net.fc.y: b w2 -> c", "Relu z: c -> out"];
    const after = [
        "Gelu x: in -> a",
        "Reshape r: a w3 -> flat",
        "Gemm f: flat w w2 -> made",
        "Reshape s: made w4 -> c",
        "Relu z: c -> out",
    ];
    assert.deepEqual(found(before, after).slice(1, 4), ["net.fc", "net.fc", "net.fc"]);
});

test("a fused node belongs to the common ancestor of what was fused", () => {
    const before = ["MatMul net.fc.x: in w -> a", "Add net.fc.y: a w2 -> b", "Gelu net.act.x: b -> out"];
    assert.deepEqual(found(before, ["MatMul x: in w -> a", "BiasGelu: a w2 -> out"]), ["net.fc", "net"]);
    assert.deepEqual(found(before, ["Gemm x: in w w2 -> b", "Gelu y: b -> out"]), ["net.fc", "net.act"]);
});

test("shapes and constants beside data do not count", () => {
    const before = [
        "Shape net.x: in -> s",
        "Concat net.y: s w -> t",
        "Constant other.x:  -> c",
        "Reshape net.a.x: in t -> a",
        "Mul net.a.y: a c -> out",
    ];
    assert.deepEqual(found(before, ["FusedMul z: in w2 -> out"]), ["net.a"]);
});

test("where nothing computes with data, all of it counts", () => {
    const before = ["Shape net.x: in -> s", "Gather net.a.x: s w -> t", "Unsqueeze net.b.x: t w2 -> u"];
    assert.deepEqual(found(before, ["Shape x: in -> s", "Gather y: s w3 -> u"]), ["net", "net"]);
});

test("what computed the same is one node, and its readers stay where they were", () => {
    const before = [
        "Cast a.x: in -> c1",
        "Cast b.x: in -> c2",
        "Mul a.y: c1 w -> m1",
        "Mul b.y: c2 w2 -> m2",
    ];
    assert.deepEqual(found(before, ["Cast x: in -> c1", "Mul y: c1 w -> m1", "Mul z: c1 w2 -> m2"]), ["a", "a", "b"]);
});

test("inserted nodes belong where their data comes from", () => {
    const before = ["Conv net.c.x: in w -> a", "Relu net.r.x: a -> b", "Mul net.m.x: b w2 -> out"];
    const after = [
        "ReorderInput ReorderInput: in -> t0",
        "Conv b_nchwc: t0 w -> t1",
        "ReorderOutput ReorderOutput: t1 -> b",
        "Mul y: b w2 -> out",
    ];
    assert.deepEqual(found(before, after), ["net", "net", "net", "net.m"]);
});

test("layout optimization names a node after what it made before more was fused into it", () => {
    const before = [
        "Conv n.a.x: in w -> a",
        "Conv n.b.x: a w2 -> b",
        "Add n.x: b in -> c",
        "Relu n.r.x: c -> d",
        "Conv m.x: d w3 -> out",
    ];
    const after = ["Conv a_nchwc: in w -> t1", "Conv b_nchwc_token_7: t1 w2 in -> t2", "Conv out_nchwc: t2 w3 -> out"];
    assert.deepEqual(found(before, after), ["n.a", "n", "m"]);
});

test("what cannot be told is not guessed", () => {
    const before = ["Mul a.x: in w -> a", "Mul b.x: a w2 -> b", "Mul c.x: b w3 -> out"];
    assert.deepEqual(found(before, ["New1: in w4 -> x", "New2: x w5 -> out"]), [null, null]);
    assert.deepEqual(found(before, ["New1: in w4 -> x", "New2: x w5 -> y"]), [null, null]);
});
