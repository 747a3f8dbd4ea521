// SPDX-License-Identifier: Apache-2.0
// A page in headless Chromium, driven by playwright-core. STEMMA_RUNTIME: the folder that has it (tests/runtime/install.sh).
import {spawnSync} from "node:child_process";
import {existsSync} from "node:fs";
import {createRequire} from "node:module";
import {resolve} from "node:path";

const chromium = process.env.CHROMIUM ?? "chromium";
const folder = process.env.STEMMA_RUNTIME ?? "";
const require = createRequire(resolve(folder, "package.json"));

/** A package that the tests have from npm. */
export const from = name => require(name);
from.resolve = name => require.resolve(name);

/** Ends with the status of skipped tests where there is no browser, or nothing to drive it with. */
export function needBrowser() {
  if (spawnSync(chromium, ["--version"]).error) {
    console.log("skipped: chromium is not installed");
    process.exit(77);
  }
  if (!existsSync(resolve(folder, "node_modules/playwright-core"))) {
    console.log("skipped: there is no playwright-core (sh tests/runtime/install.sh FOLDER, STEMMA_RUNTIME=FOLDER)");
    process.exit(77);
  }
}

/** The page of a browser of its own; `close` ends both. */
export class Page {
  /** Opens an address. `dark`: as a reader who prefers that. */
  static async open(url, {dark = false, width = 1280, height = 800} = {}) {
    const page = new Page();
    const executablePath = spawnSync("sh", ["-c", `command -v ${chromium}`]).stdout.toString().trim();
    page.browser = await from("playwright-core").chromium.launch({executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"]});
    const context = await page.browser.newContext({viewport: {width, height}, colorScheme: dark ? "dark" : "light"});
    page.view = await context.newPage();
    page.view.on("request", request => page.requests.push(request.url()));
    page.view.on("pageerror", problem => page.problems.push(problem.stack));
    page.view.on("console", message => message.type() === "error" && page.problems.push(message.text()));
    await page.view.goto(url);
    return page;
  }

  requests = []; // addresses requested by the page
  problems = []; // what went wrong in the page

  prefer(scheme) {
    return this.view.emulateMedia({colorScheme: scheme});
  }

  /** The value of an expression in the page. */
  evaluate(expression) {
    return this.view.evaluate(expression);
  }

  /** Texts of all elements that a selector finds. */
  texts(selector) {
    return this.view.locator(selector).allTextContents();
  }

  async text(selector) {
    return (await this.texts(selector))[0];
  }

  /** Presses the mouse button on the first element in sight that a selector finds and that holds a text. */
  async click(selector, text = "") {
    await this.view.locator(selector).filter({hasText: text, visible: true}).first().click({timeout: 10000});
    await this.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))");
  }

  /** Types a text into an element, in place of what is there. */
  type(selector, text) {
    return this.view.locator(selector).fill(text);
  }

  press(key) {
    return this.view.keyboard.press(key);
  }

  /** The page as it looks, as PNG. */
  picture() {
    return this.view.screenshot();
  }

  close() {
    return this.browser.close();
  }
}
