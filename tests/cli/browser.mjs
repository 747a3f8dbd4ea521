// SPDX-License-Identifier: Apache-2.0
// A page in headless Chromium, driven by the DevTools protocol over pipes.
import {spawn} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";

/** The page of a browser of its own; `close` ends both. */
export class Page {
  /** Opens an address. `dark`: as a reader who prefers that. */
  static async open(url, {dark = false, width = 1280, height = 800} = {}) {
    const page = new Page();
    page.folder = mkdtempSync(join(tmpdir(), "stemma-browser-"));
    page.process = spawn(process.env.CHROMIUM ?? "chromium", [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--disable-background-networking", "--remote-debugging-pipe", `--user-data-dir=${page.folder}`,
      "about:blank"], {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
    page.process.on("error", problem => page.fail(problem));
    page.process.on("exit", code => page.fail(new Error(`the browser ended with status ${code}`)));
    page.process.stdio[3].on("error", () => {});
    page.listen();
    const {targetId} = await page.send("Target.createTarget", {url: "about:blank"});
    ({sessionId: page.session} = await page.send("Target.attachToTarget", {targetId, flatten: true}));
    for (const domain of ["Page", "Runtime", "Log", "Network"]) {
      await page.send(`${domain}.enable`);
    }
    await page.send("Emulation.setDeviceMetricsOverride", {width, height, deviceScaleFactor: 1, mobile: false});
    await page.prefer(dark ? "dark" : "light");
    const loaded = page.once("Page.loadEventFired");
    await page.send("Page.navigate", {url});
    await loaded;
    return page;
  }

  waiting = new Map(); // calls without an answer, by number
  events = []; // [method, resolve, reject] of who waits for one
  requests = []; // addresses that the page asked for
  problems = []; // what went wrong in the page
  last = 0;

  listen() {
    let rest = Buffer.alloc(0);
    this.process.stdio[4].on("data", chunk => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        this.take(JSON.parse(rest.subarray(0, end).toString()));
        rest = rest.subarray(end + 1);
      }
    });
  }

  take({id, method, params, result, error}) {
    if (id !== undefined) {
      const {resolve, reject} = this.waiting.get(id);
      this.waiting.delete(id);
      error ? reject(new Error(error.message)) : resolve(result);
      return;
    }
    if (method === "Network.requestWillBeSent") {
      this.requests.push(params.request.url);
    } else if (method === "Runtime.exceptionThrown") {
      this.problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    } else if (method === "Log.entryAdded" && params.entry.level === "error") {
      this.problems.push(params.entry.text);
    }
    const heard = this.events.filter(([wanted]) => wanted === method);
    this.events = this.events.filter(([wanted]) => wanted !== method);
    heard.forEach(([, resolve]) => resolve(params));
  }

  fail(problem) {
    this.dead = problem;
    this.waiting.forEach(({reject}) => reject(problem));
    this.events.forEach(([, , reject]) => reject(problem));
  }

  send(method, params = {}) {
    if (this.dead) {
      return Promise.reject(this.dead);
    }
    const id = ++this.last;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, {resolve, reject}));
    this.process.stdio[3].write(`${JSON.stringify({id, method, params, sessionId: this.session})}\0`);
    return answer;
  }

  once(method) {
    return new Promise((resolve, reject) => this.events.push([method, resolve, reject]));
  }

  prefer(scheme) {
    return this.send("Emulation.setEmulatedMedia", {features: [{name: "prefers-color-scheme", value: scheme}]});
  }

  /** The value of an expression in the page. */
  async evaluate(expression) {
    const {result, exceptionDetails} = await this.send("Runtime.evaluate", {expression, returnByValue: true, awaitPromise: true});
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }

  /** Texts of all elements that a selector finds. */
  texts(selector) {
    return this.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map(e => e.textContent)`);
  }

  async text(selector) {
    return (await this.texts(selector))[0];
  }

  /** Presses the mouse button on the first element that a selector finds and that holds a text. */
  async click(selector, text = "") {
    const place = await this.evaluate(`(() => {
      const element = [...document.querySelectorAll(${JSON.stringify(selector)})].find(
        e => e.textContent.includes(${JSON.stringify(text)}) && e.getClientRects().length > 0);
      if (!element) {
        return null;
      }
      element.scrollIntoView({block: "center", inline: "center"});
      const {x, y, width, height} = element.getBoundingClientRect();
      return {x: x + width / 2, y: y + height / 2};
    })()`);
    if (!place) {
      throw new Error(`nothing to click on: ${selector} with '${text}'`);
    }
    for (const type of ["mousePressed", "mouseReleased"]) {
      await this.send("Input.dispatchMouseEvent", {type, ...place, button: "left", clickCount: 1});
    }
    await this.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))");
  }

  /** Types a text into an element, in place of what is there. */
  async type(selector, text) {
    await this.evaluate(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element.focus();
      element.select();
    })()`);
    if (text === "") {
      await this.send("Input.dispatchKeyEvent", {type: "keyDown", key: "Delete", code: "Delete", windowsVirtualKeyCode: 46});
      await this.send("Input.dispatchKeyEvent", {type: "keyUp", key: "Delete", code: "Delete"});
    } else {
      await this.send("Input.insertText", {text});
    }
  }

  /** The page as it looks, as PNG. */
  async picture() {
    return Buffer.from((await this.send("Page.captureScreenshot")).data, "base64");
  }

  async close() {
    const ended = new Promise(done => this.process.once("exit", done));
    this.session = undefined;
    this.send("Browser.close").catch(() => {}); // the answer may come, or the end before it
    await ended;
    for (let tries = 0; tries < 50; ++tries) {
      try { // helpers of the browser may write for a moment longer
        rmSync(this.folder, {recursive: true, force: true});
        return;
      } catch {
        await new Promise(done => setTimeout(done, 100));
      }
    }
  }
}
