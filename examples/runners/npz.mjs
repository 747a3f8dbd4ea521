// SPDX-License-Identifier: Apache-2.0
// Reads and writes .npz files as numpy.savez makes them, for runners in Node.

import fs from "node:fs";

const arrays = {
    f4: ["float32", Float32Array],
    f8: ["float64", Float64Array],
    f2: ["float16", Uint16Array],
    i1: ["int8", Int8Array],
    i2: ["int16", Int16Array],
    i4: ["int32", Int32Array],
    i8: ["int64", BigInt64Array],
    u1: ["uint8", Uint8Array],
    u2: ["uint16", Uint16Array],
    u4: ["uint32", Uint32Array],
    u8: ["uint64", BigUint64Array],
    b1: ["bool", Uint8Array],
    V2: ["bfloat16", Uint16Array],
};
const letters = Object.fromEntries(Object.entries(arrays).map(([key, [type]]) => [type, key]));

const table = Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; ++bit) {
        rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    }
    return rest >>> 0;
});

function checksum(buffers) {
    let crc = 0xffffffff;
    for (const buffer of buffers) {
        for (let i = 0; i < buffer.length; ++i) {
            crc = table[(crc ^ buffer[i]) & 255] ^ (crc >>> 8);
        }
    }
    return (crc ^ 0xffffffff) >>> 0;
}

/** @returns a Map: name -> { type, dims, data }, types as ONNX Runtime calls them. */
export function readNpz(path) {
    const file = fs.readFileSync(path);
    let end = file.length - 22;
    while (end >= 0 && file.readUInt32LE(end) !== 0x06054b50) {
        --end;
    }
    if (end < 0) {
        throw new Error(`${path}: is no .npz file`);
    }
    const values = new Map();
    let at = file.readUInt32LE(end + 16);
    for (let i = file.readUInt16LE(end + 10); i > 0; --i) {
        const [method, size] = [file.readUInt16LE(at + 10), file.readUInt32LE(at + 24)];
        const [name, extra, comment] = [28, 30, 32].map((place) => file.readUInt16LE(at + place));
        const local = file.readUInt32LE(at + 42);
        const key = file.toString("utf8", at + 46, at + 46 + name).replace(/\.npy$/, "");
        if (method !== 0 || size === 0xffffffff || local === 0xffffffff) {
            throw new Error(`${path}: ${key}: save it with numpy.savez, below 4 GiB`);
        }
        const begin = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28);
        values.set(key, readNpy(file.subarray(begin, begin + size)));
        at += 46 + name + extra + comment;
    }
    return values;
}

function readNpy(bytes) {
    const long = bytes[6] > 1;
    const begin = (long ? 12 : 10) + (long ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
    const header = bytes.toString("latin1", 0, begin);
    const descr = header.match(/'descr':\s*'[<|=]?(\w+)'/)?.[1];
    const shape = header.match(/'shape':\s*\(([^)]*)\)/)?.[1];
    if (!arrays[descr] || shape === undefined || /'fortran_order':\s*True/.test(header)) {
        throw new Error(`cannot read elements of '${descr}'`);
    }
    const dims = shape.split(",").filter((text) => text.trim()).map(Number);
    const [type, Type] = arrays[descr];
    const content = Uint8Array.from(bytes.subarray(begin)); // aligned
    return { type, dims, data: new Type(content.buffer, 0, content.length / Type.BYTES_PER_ELEMENT) };
}

/** Writes an object or Map of { type, dims, data } by name, one after the other. */
export function writeNpz(path, values) {
    const file = fs.openSync(path, "w");
    const directory = [];
    let at = 0;
    const append = (...buffers) =>
        buffers.forEach((buffer) => {
            for (let done = 0; done < buffer.length; ) {
                done += fs.writeSync(file, buffer, done);
            }
            at += buffer.length;
        });
    const entries = values instanceof Map ? [...values] : Object.entries(values);
    for (const [name, { type, dims, data }] of entries) {
        const descr = `${data.BYTES_PER_ELEMENT === 1 ? "|" : "<"}${letters[type]}`;
        const shape = dims.map((dim) => `${dim},`).join("");
        const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape}), }`;
        const padded = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + "\n";
        const magic = Buffer.from("\x93NUMPY\x01\x00..", "latin1");
        magic.writeUInt16LE(padded.length, 8);
        const content = [magic, Buffer.from(padded), new Uint8Array(data.buffer, data.byteOffset, data.byteLength)];
        const size = content.reduce((sum, part) => sum + part.length, 0);
        const key = Buffer.from(`${name}.npy`);
        if (at + size >= 0xffffffff) {
            throw new Error(`${path}: would have 4 GiB or more`);
        }
        const facts = Buffer.alloc(26);
        facts.writeUInt16LE(20, 0);
        facts.writeUInt16LE(0x800, 2);
        facts.writeUInt32LE(0x210000, 6);
        facts.writeUInt32LE(checksum(content), 10);
        facts.writeUInt32LE(size, 14);
        facts.writeUInt32LE(size, 18);
        facts.writeUInt16LE(key.length, 22);
        const place = Buffer.alloc(14);
        place.writeUInt32LE(at, 10);
        directory.push(Buffer.from("PK\x01\x02\x14\x00", "latin1"), facts, place, key);
        append(Buffer.from("PK\x03\x04", "latin1"), facts, key, ...content);
    }
    const listing = Buffer.concat(directory);
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(entries.length, 8);
    end.writeUInt16LE(entries.length, 10);
    end.writeUInt32LE(listing.length, 12);
    end.writeUInt32LE(at, 16);
    append(listing, end);
    fs.closeSync(file);
}
