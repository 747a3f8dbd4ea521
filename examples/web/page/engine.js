// SPDX-License-Identifier: Apache-2.0
// The library in its worker. Each opened file gets a worker of its own, which frees the memory of the last.

/** @param {File} file */
export const isCapture = file => /\.json$/i.test(file.name);

export class Engine {
  /** @type {Map<number, {resolve: (answer: any) => void, reject: (problem: Error) => void}>} */
  #waiting = new Map();
  #last = 0;

  constructor() {
    this.worker = new Worker("worker.js");
    this.worker.onmessage = ({data: {id, answer, problem}}) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      problem === undefined ? waiting?.resolve(answer) : waiting?.reject(new Error(problem));
    };
    this.worker.onerror = event => this.#failAll(event.message || "the library could not be loaded");
  }

  #failAll(text) {
    this.#waiting.forEach(({reject}) => reject(new Error(text)));
    this.#waiting.clear();
  }

  #send(message) {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#waiting.set(id, {resolve, reject});
      this.worker.postMessage({id, ...message});
    });
  }

  /**
   * Opens a model among files dropped together: the rest are captures (.json) and external data.
   * @param {File[]} files
   * @param {"a" | "b"} slot
   */
  async open(files, slot) {
    const others = files.filter(file => !isCapture(file));
    if (others.length === 0) {
      throw new Error(`${files.map(file => file.name).join(", ")}: no model. A capture is dropped together with its .onnx file, or after it`);
    }
    const model = files.find(file => /\.onnx$/i.test(file.name)) ?? (others.length === 1 ? others[0] : undefined);
    if (model === undefined) {
      throw new Error("none of these files is an .onnx file");
    }
    if (model.size >= 2 ** 31) {
      throw new Error(`${model.name}: has 2 GiB or more, protobuf's limit: store larger weights in separate files`);
    }
    const captures = files.filter(isCapture).map(file => file.name);
    const about = JSON.parse(await this.#send({mount: {slot, files, model: model.name}, request: {do: "open", slot, captures}}));
    return {...about, model: model.name};
  }

  /** An answer as text: what the program would print. */
  text(request) {
    return this.#send({request});
  }

  async ask(request) {
    return JSON.parse(await this.text(request));
  }

  /** A file made by the library. @returns {Promise<Blob>} */
  file(request) {
    return this.#send({request, file: true});
  }

  /** Ends the worker and rejects pending requests. */
  close() {
    this.worker.terminate();
    this.#failAll("another file was opened");
  }
}
