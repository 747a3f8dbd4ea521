// SPDX-License-Identifier: Apache-2.0
// Tests of the harness itself: equal results are equal, and differences are found.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import { Workplace, allFinite, boundsOf, differences, harnessOrSkip, save } from "./ort.mjs";

const { STEMMA_FIXTURES: fixtures, STEMMA_CHECKER: checker, STEMMA_WORK: work } = process.env;
const exposed = ["bert_micro", "quirks", "control_flow", "lstm_classifier"];

const harness = harnessOrSkip();
const workplace = new Workplace(work);
after(() => workplace.dispose());

const fixture = (...parts) => path.join(fixtures, ...parts);
const scratch = (name) => path.join(workplace.folder, name);
const modelOf = (name) => fixture(name, "model.onnx");
const casesOf = (name) => harness.savedCases(fixture(name, "io"));
const float = (numbers, shape = [numbers.length]) =>
    new harness.ort.Tensor("float32", Float32Array.from(numbers), shape);
const mapOf = (feeds) => new Map(Object.entries(feeds));
const differ = (a, b) => differences(new Map([["x", a]]), new Map([["x", b]])).length > 0;

// A minimal protobuf implementation to divide and join models.
function* fieldsOf(bytes) {
    let at = 0;
    const varint = () => {
        let value = 0n;
        for (let shift = 0n; ; shift += 7n) {
            const byte = bytes[at++];
            value |= BigInt(byte & 0x7f) << shift;
            if (byte < 0x80) {
                return value;
            }
        }
    };
    while (at < bytes.length) {
        const begin = at;
        const tag = Number(varint());
        let content;
        if ((tag & 7) === 0) {
            content = varint();
        } else {
            const size = (tag & 7) === 2 ? Number(varint()) : (tag & 7) === 1 ? 8 : 4;
            content = bytes.subarray(at, (at += size));
        }
        yield { field: tag >> 3, content, whole: bytes.subarray(begin, at) };
    }
}

function encode(field, content) {
    const varint = (n) => (n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...varint(n >>> 7)]);
    const bytes = typeof content === "number" ? null : Buffer.from(content);
    return bytes === null
        ? Buffer.from([...varint(field << 3), ...varint(content)])
        : Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(bytes.length)]), bytes]);
}

const select = (message, wanted) => [...fieldsOf(message)].filter(({ field }) => field === wanted);
const graphOf = (model) => select(model, 7)[0].content;
const nodesOf = (model) => select(graphOf(model), 1);
const namesIn = (message, field) => select(message, field).map(({ content }) => String(content));
const madeBy = (nodes) => nodes.flatMap(({ content }) => namesIn(content, 2)).filter((name) => name !== "");

// The nodes [first, last) of a model as a model: its inputs are the values before them, its outputs are theirs.
function slice(model, first, last, values) {
    const graph = graphOf(model);
    const nodes = nodesOf(model);
    const typeOf = (name) => ({ float32: 1, int64: 7, bool: 9 })[values.get(name).type];
    const tensorType = (name) => encode(2, encode(1, encode(1, typeOf(name))));
    const formal = select(graph, 11).flatMap(({ content }) => namesIn(content, 1));
    const part = [
        ...nodes.slice(first, last).map(({ whole }) => whole),
        encode(2, "slice"),
        ...select(graph, 5).map(({ whole }) => whole),
        ...[...formal, ...madeBy(nodes.slice(0, first))].map((name) =>
            encode(11, Buffer.concat([encode(1, name), tensorType(name)])),
        ),
        ...madeBy(nodes.slice(first, last)).map((name) => encode(12, encode(1, name))),
    ];
    const rest = [...fieldsOf(model)].filter(({ field }) => field !== 7).map(({ whole }) => whole);
    return Buffer.concat([...rest, encode(7, Buffer.concat(part))]);
}

test("differences: bits count, not numbers", () => {
    assert.equal(differ(float([1, 2]), float([1, 2])), false);
    assert.equal(differ(float([NaN]), float([NaN])), false);
    assert.equal(differ(float([0]), float([-0])), true);
    assert.equal(differ(float([1]), float([1 + 2 ** -23])), true);
    assert.equal(differ(float([1, 2], [2]), float([1, 2], [1, 2])), true);
    assert.equal(differ(float([1]), undefined), true);
    assert.equal(differ(undefined, float([1])), true);
    assert.equal(allFinite(float([1, Infinity])), false);
});

for (const name of exposed) {
    test(`expose: all values of ${name} come out, and its outputs stay the same`, async () => {
        const cases = casesOf(name);
        const plain = await harness.runCases(
            modelOf(name),
            cases.map(({ feeds }) => feeds),
        );
        const computed = madeBy(nodesOf(fs.readFileSync(modelOf(name))));
        const shapes = JSON.parse(fs.readFileSync(fixture(name, "shapes.json"))).values;
        for (const [k, { feeds }] of cases.entries()) {
            const values = await harness.allValues(modelOf(name), feeds);
            assert.deepEqual(new Set(values.keys()), new Set([...computed, ...Object.keys(feeds)]));
            const outputs = new Map([...plain[k].keys()].map((output) => [output, values.get(output)]));
            assert.deepEqual(differences(plain[k], outputs), []);
            for (const [value, tensor] of values) {
                const [type, dims] = shapes[value] ?? [null, null];
                const typeName = { 1: "float32", 7: "int64", 9: "bool" }[type];
                assert.ok(type === null || typeName === tensor.type, value);
                assert.ok(dims === null || dims.length === tensor.dims.length, value);
            }
        }
    });

    test(`compareCut: parts of ${name} compute on its values what it computes`, async () => {
        const { feeds } = casesOf(name)[0];
        const values = await harness.allValues(modelOf(name), feeds);
        const file = fs.readFileSync(modelOf(name));
        const parts = 7;
        const start = (i) => Math.floor((i * nodesOf(file).length) / parts);
        for (let i = 0; i < parts; ++i) {
            const [first, last] = [start(i), start(i + 1)];
            const cut = scratch("part.onnx");
            fs.writeFileSync(cut, slice(file, first, last, values));
            assert.deepEqual(await harness.compareCut(values, cut), [], `nodes ${first} to ${last}`);
        }
    });
}

test("compareCut: other values in between are found", async () => {
    const values = await harness.allValues(modelOf("mlp"), casesOf("mlp")[0].feeds);
    const file = fs.readFileSync(modelOf("mlp"));
    const [hidden] = madeBy(nodesOf(file).slice(1, 2));
    fs.writeFileSync(scratch("last.onnx"), slice(file, 2, 3, values));
    assert.deepEqual(await harness.compareCut(values, scratch("last.onnx")), []);
    const other = Float32Array.from(values.get(hidden).data, (number) => number + 1);
    values.set(hidden, float(other, values.get(hidden).dims));
    assert.deepEqual((await harness.compareCut(values, scratch("last.onnx"))).map(({ name }) => name), ["y"]);
    values.delete(hidden);
    const [difference] = await harness.compareCut(values, scratch("last.onnx"));
    assert.match(difference.reason, /no tensor of the whole model/);
});

test("writeWeights: as large as the model says, finite, and the same for the same seed", () => {
    const model = fixture("scale_1000", "model.onnx");
    const write = (folder, seed) => {
        harness.writeWeights(model, scratch(folder), seed);
        return fs.readFileSync(scratch(`${folder}/weights.bin`));
    };
    const bytes = write("one", 1);
    const [{ external }] = harness.describe([model]);
    assert.equal(bytes.length, Math.max(...external.map(({ offset, length }) => offset + length)));
    assert.ok(bytes.equals(write("again", 1)));
    assert.ok(!bytes.equals(write("other", 2)));
    for (const { name, shape, offset, length } of external) {
        assert.equal(length, 4 * shape.reduce((product, dim) => product * dim, 1), name);
        const tensor = harness.tensor("float32", bytes.subarray(offset, offset + length), shape);
        assert.ok(allFinite(tensor) && new Set(tensor.data).size > tensor.data.length / 2, name);
    }
});

test("seededInputs: shapes, names of dimensions, bounds, seeds", () => {
    const [info] = harness.describe([modelOf("bert_micro")]);
    const bounds = boundsOf(casesOf("bert_micro"));
    const a = harness.seededInputs(info, { bounds, dims: { sequence: 6 } });
    const b = harness.seededInputs(info, { bounds, dims: { sequence: 6 } });
    const c = harness.seededInputs(info, { bounds, seed: 2 });
    assert.deepEqual(differences(mapOf(a), mapOf(b)), []);
    assert.deepEqual(a.input_ids.dims, a.attention_mask.dims);
    assert.equal(a.input_ids.dims[1], 6);
    assert.notDeepEqual(a.input_ids.dims, c.input_ids.dims);
    const [low, high] = bounds.input_ids;
    assert.ok(a.input_ids.data.every((token) => token >= low && token <= high));
    assert.ok(new Set(a.input_ids.data).size > 2);
    const [description] = harness.describe([fixture("bert_micro", "model.keepinit.onnx")]);
    assert.deepEqual(Object.keys(harness.seededInputs(description)), Object.keys(harness.seededInputs(info)));
});

test("save: what is saved is read again", () => {
    const feeds = casesOf("control_flow")[0].feeds;
    save(scratch("saved"), [{ feeds, results: new Map([["z", float([1, -0])]]) }]);
    const [again] = harness.savedCases(scratch("saved"));
    assert.deepEqual(differences(mapOf(feeds), mapOf(again.feeds)), []);
    assert.deepEqual(differences(new Map([["z", float([1, -0])]]), again.expected), []);
});

test("seed: sessions agree with it and not without", async () => {
    const model = fixture("bert_micro", "model.training.onnx");
    const [{ feeds }] = casesOf("bert_micro");
    harness.seed(model, scratch("seeded.onnx"));
    const run = async (file) => (await harness.runCases(file, [feeds]))[0];
    assert.notDeepEqual(differences(await run(model), await run(model)), []);
    const seeded = await run(scratch("seeded.onnx"));
    assert.deepEqual(differences(seeded, await run(scratch("seeded.onnx"))), []);
});

const needsChecker = { skip: !checker && "the checker is not built" };
test("checker: accepts, refuses, and admits what it cannot judge", needsChecker, () => {
    const good = fs.readFileSync(modelOf("mlp"));
    const replaced = (from, to) => {
        const bytes = Buffer.from(good);
        bytes.write(to, bytes.indexOf(from), "latin1");
        return bytes;
    };
    const newer = Buffer.concat([good, encode(1, 1000)]); // the last ir_version counts
    const opset = Buffer.concat([good, encode(8, encode(2, 1000))]);
    const text = Buffer.from("no model at all");
    const files = { good, wrong: replaced("Gemm", "Gemn"), newer, opset, text };
    const paths = Object.entries(files).map(([name, bytes]) => {
        fs.writeFileSync(scratch(`${name}.onnx`), bytes);
        return scratch(`${name}.onnx`);
    });
    const { stdout } = spawnSync(checker, paths, { encoding: "utf8" });
    const verdicts = stdout.trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(
        verdicts.map(({ judged, ok }) => [judged, ok]),
        [[true, true], [true, false], [false, false], [false, false], [true, false]],
    );
});
