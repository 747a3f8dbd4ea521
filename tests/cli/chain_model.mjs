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

/** The names of as many nodes, each in a module of its own, ten of which have a layer, ten layers a block. */
export const deepNames = count => Array.from({length: count}, (_, i) =>
  `/blocks.${Math.floor(i / 100)}/layers.${Math.floor(i / 10) % 10}/act${i % 10}/Relu`);
