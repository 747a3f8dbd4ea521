// SPDX-License-Identifier: Apache-2.0
// Models of any size, for tests that need no other.

const varint = n => n < 128 ? [n] : [n % 128 + 128, ...varint(Math.floor(n / 128))];
const field = (number, bytes) => Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
const text = (number, value) => field(number, Buffer.from(value));

/** A model of a chain of nodes with these names. @param {string[]} names */
export function chainModel(names) {
  let value = "x";
  const nodes = names.map(name => {
    const node = field(1, Buffer.concat([text(1, value), text(2, `${name}_output`), text(3, name), text(4, "Relu")]));
    value = `${name}_output`;
    return node;
  });
  const graph = Buffer.concat([...nodes, text(2, "chain"), field(11, text(1, "x")), field(12, text(1, value))]);
  return Buffer.concat([Buffer.from([8, 8]), field(7, graph), field(8, Buffer.from([16, 17]))]);
}

/** A model of a layer whose weight is one element of that type: its bytes, or the file that has them. @param {number} type @param {number[] | string} data */
export function layerModel(type, data) {
  const content = typeof data === "string" ? [field(13, Buffer.concat([text(1, "location"), text(2, data)])), Buffer.from([112, 1])] : [field(9, Buffer.from(data))];
  const weight = Buffer.concat([Buffer.from([8, 1, 16, type]), text(8, "fc.weight"), ...content]);
  const node = Buffer.concat([text(1, "x"), text(1, "fc.weight"), text(2, "y"), text(3, "/fc/MatMul"), text(4, "MatMul")]);
  const graph = Buffer.concat([field(1, node), text(2, "layer"), field(5, weight), field(11, text(1, "x")), field(12, text(1, "y"))]);
  return Buffer.concat([Buffer.from([8, 8]), field(7, graph), field(8, Buffer.from([16, 17]))]);
}

/** The names of as many nodes, each in a module of its own, ten of which have a layer, ten layers a block. */
export const deepNames = count => Array.from({length: count}, (_, i) =>
  `/blocks.${Math.floor(i / 100)}/layers.${Math.floor(i / 10) % 10}/act${i % 10}/Relu`);
