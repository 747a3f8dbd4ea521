// SPDX-License-Identifier: Apache-2.0
"use strict";

// Puts boxes on layers below one another. A box has a width and a height, an edge has the numbers
// `from` and `to` of boxes; boxes are in an order in which most edges lead forward.
// Gives boxes a middle `x` and `y`, edges a list of `points`; returns the size of the picture.
function layOut(boxes, edges) {
  const gapX = 22, gapY = 34, margin = 16;
  const ways = edges.map(e => e.from < e.to ? [e.from, e.to] : [e.to, e.from]);
  const layer = assignLayers(boxes.length, ways);
  const places = boxes.map((box, i) => ({width: box.width, height: box.height, layer: layer[i], up: [], down: []}));
  const chains = ways.map(([from, to]) => makeChain(places, from, to));
  const layers = [];
  for (const place of places) {
    (layers[place.layer] = layers[place.layer] || []).push(place);
  }
  for (let l = 0; l < layers.length; ++l) {
    layers[l] = layers[l] || [];
  }
  sortLayers(layers);
  placeAcross(layers, gapX);
  let y = margin;
  for (const row of layers) {
    const height = Math.max(0, ...row.map(place => place.height));
    for (const place of row) {
      place.y = y + height / 2;
      place.half = height / 2;
    }
    y += height + gapY;
  }
  const left = Math.min(...places.map(p => p.x - p.width / 2)) - margin;
  const right = Math.max(...places.map(p => p.x + p.width / 2)) + margin;
  for (const place of places) {
    place.x -= left;
  }
  boxes.forEach((box, i) => {
    box.x = places[i].x;
    box.y = places[i].y;
  });
  edges.forEach((edge, i) => {
    const chain = chains[i];
    edge.back = edge.from > edge.to;
    edge.points = chain.flatMap((place, at) => {
      const reach = at === 0 || at === chain.length - 1 ? place.height / 2 : place.half;
      const top = {x: place.x, y: place.y - reach};
      const bottom = {x: place.x, y: place.y + reach};
      return at === 0 ? [bottom] : at === chain.length - 1 ? [top] : [top, bottom];
    });
    if (edge.back) {
      edge.points.reverse();
    }
  });
  return {width: right - left, height: y - gapY + margin};
}

// Every box lies below all that it reads from; one that reads nothing, right above its readers.
function assignLayers(count, ways) {
  const layer = new Int32Array(count);
  const out = Array.from({length: count}, () => []);
  const reads = new Int32Array(count);
  for (const [from, to] of ways) {
    out[from].push(to);
    ++reads[to];
  }
  for (let i = 0; i < count; ++i) {
    for (const to of out[i]) {
      layer[to] = Math.max(layer[to], layer[i] + 1);
    }
  }
  for (let i = count; i-- > 0;) {
    if (reads[i] === 0 && out[i].length > 0) {
      layer[i] = Math.min(...out[i].map(to => layer[to])) - 1;
    }
  }
  return layer;
}

// An edge over several layers gets a narrow place on each of them.
function makeChain(places, from, to) {
  const chain = [places[from]];
  for (let l = places[from].layer + 1; l < places[to].layer; ++l) {
    const place = {width: 4, height: 0, layer: l, up: [], down: [], bend: true};
    places.push(place);
    chain.push(place);
  }
  chain.push(places[to]);
  for (let i = 1; i < chain.length; ++i) {
    chain[i - 1].down.push(chain[i]);
    chain[i].up.push(chain[i - 1]);
  }
  return chain;
}

// Sorts each layer by where the neighbours stand, down and up in turn, so that few edges cross.
function sortLayers(layers) {
  const number = row => row.forEach((place, i) => { place.at = i; });
  const mean = list => list.reduce((sum, place) => sum + place.at, 0) / list.length;
  layers.forEach(number);
  for (let round = 0; round < 10; ++round) {
    const downwards = round % 2 === 0;
    const rows = downwards ? layers : [...layers].reverse();
    for (const row of rows) {
      for (const place of row) {
        const list = downwards ? place.up : place.down;
        place.wish = list.length > 0 ? mean(list) : place.at;
      }
      row.sort((a, b) => a.wish - b.wish || a.at - b.at);
      number(row);
    }
  }
}

// Moves the places of each layer towards their neighbours as far as their order and widths allow.
function placeAcross(layers, gap) {
  for (const row of layers) {
    let x = 0;
    for (const place of row) {
      place.x = x + place.width / 2;
      x += place.width + gap;
    }
    row.forEach(place => { place.x -= x / 2; });
  }
  const rounds = 24;
  for (let round = 0; round < rounds; ++round) {
    const downwards = round % 2 === 0;
    for (const row of downwards ? layers : [...layers].reverse()) {
      spread(row, gap, place => {
        const list = round > rounds - 7 ? [...place.up, ...place.down] : downwards ? place.up : place.down;
        let weight = 0, sum = 0;
        for (const other of list) { // long edges shall be straight, then those between single neighbours
          const pull = place.bend && other.bend ? 8 : other.up.length + other.down.length <= 2 ? 2 : 1;
          weight += pull;
          sum += pull * other.x;
        }
        return weight === 0 ? place.x : sum / weight;
      });
    }
  }
}

// The places in order, none nearer than a gap, with the least sum of squares of what they are away
// from their wishes: neighbours that want to be closer than that form blocks.
function spread(row, gap, wish) {
  const blocks = [];
  let offset = 0;
  row.forEach((place, i) => {
    offset += i === 0 ? 0 : (row[i - 1].width + place.width) / 2 + (place.bend || row[i - 1].bend ? gap / 2 : gap);
    place.offset = offset;
    const weight = place.bend ? 3 : 1;
    let block = {first: i, weight, mean: wish(place) - offset};
    while (blocks.length > 0 && blocks[blocks.length - 1].mean > block.mean) {
      const before = blocks.pop();
      const sum = before.weight + block.weight;
      block = {
        first: before.first,
        weight: sum,
        mean: (before.mean * before.weight + block.mean * block.weight) / sum,
      };
    }
    blocks.push(block);
  });
  blocks.forEach((block, b) => {
    const end = b + 1 < blocks.length ? blocks[b + 1].first : row.length;
    for (let i = block.first; i < end; ++i) {
      row[i].x = block.mean + row[i].offset;
    }
  });
}

// A smooth line through points that are passed from above.
function curve(points) {
  let d = `M${points[0].x.toFixed(1)} ${points[0].y.toFixed(1)}`;
  for (let i = 1; i < points.length; ++i) {
    const a = points[i - 1], b = points[i];
    const middle = ((a.y + b.y) / 2).toFixed(1);
    const end = `${b.x.toFixed(1)} ${b.y.toFixed(1)}`;
    d += a.x === b.x ? `L${end}` : `C${a.x.toFixed(1)} ${middle} ${b.x.toFixed(1)} ${middle} ${end}`;
  }
  return d;
}
