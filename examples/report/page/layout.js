// SPDX-License-Identifier: Apache-2.0
"use strict";

// A layered layout. Boxes have `width` and `height`, edges the numbers `from` and `to` of boxes. Edges point down; in a
// cycle, or to a `loose` box, one may point up and is marked `back`.
// Sets `x` and `y` of boxes, their centres, and `points` of edges; returns the size of the picture.
function layOut(boxes, edges) {
  const gapX = 22, gapY = 34, margin = 16;
  const {level} = findLevels(boxes.length, edges.filter(e => !boxes[e.to].loose), () => true);
  const order = boxes.map((_, i) => i).sort((a, b) => level[a] - level[b] || a - b);
  const place = new Int32Array(boxes.length);
  order.forEach((box, i) => { place[box] = i; });
  const ways = edges.map(e => place[e.from] < place[e.to] ? [e.from, e.to] : [e.to, e.from]);
  const layer = assignLayers(order, ways);
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
  const size = wrapLayers(layers, gapY, margin);
  boxes.forEach((box, i) => {
    box.x = places[i].x;
    box.y = places[i].y;
  });
  edges.forEach((edge, i) => {
    const chain = chains[i];
    edge.back = place[edge.from] > place[edge.to];
    edge.points = chain.flatMap((place, at) => { // bends only between layers, where there are no boxes
      const own = place.height / 2, all = place.half;
      const reach = at === 0 ? [own, all] : at === chain.length - 1 ? [-all, -own] : [-all, all];
      const passed = [...new Set(reach)].map(y => ({x: place.x, y: place.y + y}));
      const next = chain[at + 1];
      return next && next.column !== place.column ? [...passed, ...turnsBetween(place, next)] : passed;
    });
    if (edge.back) {
      edge.points.reverse();
    }
  });
  return size;
}

// Sets `y`, and breaks a picture that is far higher than wide into columns where few edges pass. Returns its size.
function wrapLayers(layers, gap, margin) {
  const lane = 7;
  const heights = layers.map(row => row.reduce((most, place) => Math.max(most, place.height), 0));
  const extent = rows => rows.flat().reduce(([least, most], place) =>
    [Math.min(least, place.x - place.width / 2), Math.max(most, place.x + place.width / 2)], [Infinity, -Infinity]);
  const widest = layers.reduce((most, row) => Math.max(most, extent([row])[1] - extent([row])[0]), 0);
  const starts = breakColumns(layers, heights.map(height => height + gap), widest + 2 * gap);
  const crossing = starts.map(start => start === 0 ? 0 : passing(layers[start - 1]));
  const top = margin + lane * crossing.reduce((most, count) => Math.max(most, count), 0);
  let x = margin, bottom = 0;
  starts.forEach((start, column) => {
    const rows = layers.slice(start, starts[column + 1]);
    const [left, right] = extent(rows);
    x += column === 0 ? 0 : gap + lane * crossing[column];
    let y = top;
    rows.forEach((row, i) => {
      const half = heights[start + i] / 2;
      row.forEach(place => Object.assign(place, {x: place.x - left + x, y: y + half, half, column}));
      y += 2 * half + gap;
    });
    bottom = Math.max(bottom, y - gap);
    let turns = 0;
    for (const place of column === 0 ? [] : layers[start - 1]) {
      place.turns = place.down.map(() => ++turns * lane);
      place.gutter = x;
    }
    x += right - left;
  });
  layers.flat().forEach(place => { place.bottom = bottom; });
  return {width: x + margin, height: bottom + margin + top - margin};
}

const passing = row => row.reduce((sum, place) => sum + place.down.length, 0);

// The first layers of columns: near the ideal ones, where the fewest edges pass.
function breakColumns(layers, heights, width) {
  const mostPassing = 4, wide = 1.5, readable = 1300; // wider pictures are scaled down too much
  const total = heights.reduce((sum, height) => sum + height, 0);
  const high = total / Math.ceil(Math.min(readable / width, Math.sqrt(wide * total / width)));
  if (layers.length < 24) {
    return [0];
  }
  const starts = [0];
  let filled = 0, best = 0;
  for (let l = 1; l < layers.length; ++l) {
    filled += heights[l - 1];
    if (filled > 0.8 * high && passing(layers[l - 1]) <= mostPassing
        && (best === 0 || passing(layers[l - 1]) <= passing(layers[best - 1]))) {
      best = l;
    }
    if (filled > high && best > 0) {
      starts.push(best);
      filled = heights.slice(best, l).reduce((sum, height) => sum + height, 0);
      best = 0;
    }
  }
  return starts;
}

// From the end of a column to the next: below it, up beside it, and in from above.
function turnsBetween(place, next) {
  const aside = place.turns[place.down.indexOf(next)];
  const low = place.bottom + aside, high = next.y - next.half - aside - 4, across = place.gutter - aside - 8;
  return [[place.x, low], [across, low], [across, high], [next.x, high]].map(([x, y]) => ({x, y, turn: true}));
}

// The level of each box: the number of boxes with weight on the longest path to it. Boxes of a cycle share a level and a
// `group`; `alone`: whether a box is in no cycle. (Tarjan)
function findLevels(count, edges, weighs) {
  const out = Array.from({length: count}, () => /** @type {number[]} */ ([]));
  edges.forEach(e => out[e.from].push(e.to));
  const group = new Int32Array(count).fill(-1), order = new Int32Array(count).fill(-1), lowest = new Int32Array(count);
  const groups = [], open = [];
  let next = 0;
  for (let root = 0; root < count; ++root) {
    const way = [];
    const enter = box => {
      order[box] = lowest[box] = next++;
      open.push(box);
      way.push({box, at: 0});
    };
    if (order[root] < 0) {
      enter(root);
    }
    while (way.length > 0) {
      const last = way[way.length - 1];
      if (last.at < out[last.box].length) {
        const to = out[last.box][last.at++];
        if (order[to] < 0) {
          enter(to);
        } else if (group[to] < 0) {
          lowest[last.box] = Math.min(lowest[last.box], order[to]);
        }
        continue;
      }
      way.pop();
      if (way.length > 0) {
        const above = way[way.length - 1].box;
        lowest[above] = Math.min(lowest[above], lowest[last.box]);
      }
      if (lowest[last.box] === order[last.box]) {
        const members = open.splice(open.lastIndexOf(last.box));
        members.forEach(box => { group[box] = groups.length; });
        groups.push(members);
      }
    }
  }
  const level = new Int32Array(groups.length);
  for (let g = groups.length; g-- > 0;) { // in topological order
    const step = groups[g].some(weighs) ? 1 : 0;
    for (const box of groups[g]) {
      for (const to of out[box]) {
        if (group[to] !== g) {
          level[group[to]] = Math.max(level[group[to]], level[g] + step);
        }
      }
    }
  }
  return {level: group.map(g => level[g]), group, alone: box => groups[group[box]].length === 1};
}

// Every box is below all it reads from; boxes without inputs are right above their readers.
function assignLayers(order, ways) {
  const layer = new Int32Array(order.length);
  const out = order.map(() => []);
  const reads = new Int32Array(order.length);
  for (const [from, to] of ways) {
    out[from].push(to);
    ++reads[to];
  }
  for (const box of order) {
    for (const to of out[box]) {
      layer[to] = Math.max(layer[to], layer[box] + 1);
    }
  }
  for (const box of [...order].reverse()) {
    if (reads[box] === 0 && out[box].length > 0) {
      layer[box] = out[box].reduce((least, to) => Math.min(least, layer[to]), Infinity) - 1;
    }
  }
  return layer;
}

// An edge across several layers gets a narrow place on each.
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

// Sorts layers by the mean position of neighbours, downwards and upwards in turn, so that few edges cross.
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

// A box without inputs and with one reader stands aside and does not bend other edges.
const isAside = place => place.up.length === 0 && place.down.length === 1;

// Moves places towards their neighbours, keeping order and gaps.
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
        for (const other of list) { // straight long edges first, then those between single neighbours
          const pull = isAside(other) ? 1e-6 : place.bend && other.bend ? 8 : other.up.length + other.down.length <= 2 ? 2 : 1;
          weight += pull;
          sum += pull * other.x;
        }
        return weight === 0 ? place.x : sum / weight;
      });
    }
  }
}

// Least squares from the wished positions, in order and at least a gap apart: neighbours that would be closer form blocks.
function spread(row, gap, wish) {
  const blocks = [];
  let offset = 0;
  row.forEach((place, i) => {
    offset += i === 0 ? 0 : (row[i - 1].width + place.width) / 2 + (place.bend || row[i - 1].bend ? gap / 2 : gap);
    place.offset = offset;
    const weight = place.bend ? 3 : isAside(place) ? 1e-6 : 1;
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

// A smooth line through points, passed vertically or turned at.
function curve(points) {
  const text = ({x, y}) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const towards = (a, b) => { // the rounding of a turn
    const far = Math.hypot(b.x - a.x, b.y - a.y), part = far === 0 ? 0 : Math.min(5, far / 2) / far;
    return {x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part};
  };
  let d = `M${text(points[0])}`;
  for (let i = 1; i < points.length; ++i) {
    const a = points[i - 1], b = points[i];
    if (b.turn) {
      d += `L${text(towards(b, a))}Q${text(b)} ${text(towards(b, points[i + 1]))}`;
      continue;
    }
    const middle = ((a.y + b.y) / 2).toFixed(1);
    const end = `${b.x.toFixed(1)} ${b.y.toFixed(1)}`;
    d += a.x === b.x ? `L${end}` : `C${a.x.toFixed(1)} ${middle} ${b.x.toFixed(1)} ${middle} ${end}`;
  }
  return d;
}

// Points on a curve, a few pixels apart.
function pointsAlong(points) {
  const all = [];
  for (let i = 1; i < points.length; ++i) {
    const a = points[i - 1], b = points[i], middle = (a.y + b.y) / 2;
    const steps = Math.ceil((Math.abs(b.x - a.x) + Math.abs(b.y - a.y)) / 6) + 1;
    for (let step = 0; step <= steps; ++step) {
      const t = step / steps, u = 1 - t;
      all.push(a.turn || b.turn ? {x: u * a.x + t * b.x, y: u * a.y + t * b.y}
        : {x: a.x + (b.x - a.x) * t * t * (3 - 2 * t), y: u ** 3 * a.y + 3 * u * t * middle + t ** 3 * b.y});
    }
  }
  return all;
}

// Places labels beside their edges where they cover no box, edge or other label, and drops those that do not fit.
// Returns their right end.
function placeLabels(boxes, edges, widthOf) {
  const height = 12, side = 64;
  const cells = new Map(); // areas by square of the picture
  const cellsOf = ({left, right, top, bottom}) => {
    const keys = [];
    for (let x = Math.floor(left / side); x <= Math.floor(right / side); ++x) {
      for (let y = Math.floor(top / side); y <= Math.floor(bottom / side); ++y) {
        keys.push(`${x} ${y}`);
      }
    }
    return keys;
  };
  const occupy = area => cellsOf(area).forEach(key => cells.set(key, [...(cells.get(key) ?? []), area]));
  const isFree = area => cellsOf(area).every(key => (cells.get(key) ?? []).every(other =>
    area.right <= other.left || area.left >= other.right || area.bottom <= other.top || area.top >= other.bottom));
  boxes.forEach(({x, y, width, height}) => occupy(
    {left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2}));
  if (edges.some(edge => edge.label)) {
    edges.flatMap(edge => pointsAlong(edge.points)).forEach(({x, y}) => occupy({left: x - 1, right: x + 1, top: y - 1, bottom: y + 1}));
  }
  let reach = 0;
  for (const edge of edges) {
    const width = edge.label ? widthOf(edge.label) : 0;
    const spots = [];
    for (const [part, aside] of [[0.5, 4], [0.3, 4], [0.7, 4], [0.5, 12], [0.3, 12], [0.7, 12], [0.5, 24]]) {
      for (let i = 1; width > 0 && i < edge.points.length; ++i) {
        const a = edge.points[i - 1], b = edge.points[i];
        const bend = part === 0.5 ? 0.5 : part < 0.5 ? 0.2 : 0.8; // the line is steepest at its ends
        const x = a.x + (b.x - a.x) * bend, y = a.y + (b.y - a.y) * part;
        spots.push([x + aside, y], [x - aside - width, y]);
      }
    }
    const spot = spots.slice(0, 140).find(([x, y]) => x >= 0 && isFree(
      {left: x - 1, right: x + width + 1, top: y - height / 2, bottom: y + height / 2}));
    if (spot) {
      [edge.labelX, edge.labelY] = spot;
      occupy({left: spot[0] - 1, right: spot[0] + width + 1, top: spot[1] - height / 2, bottom: spot[1] + height / 2});
      reach = Math.max(reach, spot[0] + width + 8);
    } else {
      edge.label = "";
    }
  }
  return reach;
}
