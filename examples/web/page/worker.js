// SPDX-License-Identifier: Apache-2.0
// Calls the library. Files are read by slices as it asks for them; a file to download is put together of texts that
// were made and of ranges of the file, which stay on the disk.
"use strict";
/* global importScripts, self */

importScripts("stemma.js");

/** @type {Promise<any>} */
const loaded = /** @type {any} */ (self).createStemma();
const models = {}; // by slot, the file

/** @returns {Uint8Array} a copy of the memory that two functions name */
const bytesAt = (lib, at, size) => lib.HEAPU8.slice(lib[at](), lib[at]() + lib[size]());

function call(lib, request) {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const at = lib._malloc(text.length);
  lib.HEAPU8.set(text, at);
  const failed = lib._stemma_call(at, text.length);
  lib._free(at);
  const answer = new TextDecoder().decode(bytesAt(lib, "_stemma_answer", "_stemma_answer_size"));
  if (failed) {
    throw new Error(answer);
  }
  return answer;
}

function mount(lib, {slot, files, model}) {
  const folder = `/${slot}`;
  if (lib.FS.analyzePath(folder).exists) {
    lib.FS.unmount(folder);
  } else {
    lib.FS.mkdir(folder);
  }
  lib.FS.mount(lib.FS.filesystems.WORKERFS, {files}, folder);
  lib.FS.chdir("/a");
  models[slot] = files.find(file => file.name === model);
}

function assemble(lib, list, from) {
  const made = bytesAt(lib, "_stemma_made", "_stemma_made_size");
  let at = 0;
  return new Blob(JSON.parse(list).pieces.map(([begin, size]) => {
    if (begin >= 0) {
      return from.slice(begin, begin + size);
    }
    at += size;
    return made.subarray(at - size, at);
  }), {type: "application/octet-stream"});
}

self.onmessage = async ({data: {id, request, mount: files, file}}) => {
  try {
    const lib = await loaded;
    if (files) {
      mount(lib, files);
      const up = files.slot === "a" ? "" : `../${files.slot}/`;
      request.file = up + files.model;
      request.captures = request.captures.map(name => up + name);
    }
    const answer = call(lib, request);
    self.postMessage({id, answer: file ? assemble(lib, answer, models[request.slot ?? "a"]) : answer});
  } catch (problem) {
    self.postMessage({id, problem: problem instanceof WebAssembly.RuntimeError
      ? "the library ended unexpectedly; open the file again" : problem instanceof Error ? problem.message : String(problem)});
  }
};
