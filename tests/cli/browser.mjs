// SPDX-License-Identifier: Apache-2.0
// A page in headless Chromium, driven by playwright-core. STEMMA_RUNTIME: its folder (tests/runtime/install.sh).
import {spawnSync} from "node:child_process";
import {existsSync, readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {resolve} from "node:path";

const chromium = process.env.CHROMIUM ?? "chromium";
const folder = process.env.STEMMA_RUNTIME ?? "";
const require = createRequire(resolve(folder, "package.json"));

/** A package installed from npm for tests. */
export const from = name => require(name);
from.resolve = name => require.resolve(name);

/** Exits with the status of skipped tests if browser or driver are missing. */
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

/** In a page: texts in pictures, which axe leaves out, that are hard to read on their boxes, modules of any colour. */
const paleTexts = `(() => {
  const linear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = color => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => sum + part * linear(Number(color.match(/[0-9.]+/g)[i]) / 255), 0.05);
  const pale = new Set();
  for (const face of document.querySelectorAll("svg .box:not(.open) > .face")) {
    const box = face.parentElement, hue = box.style.getPropertyValue("--h");
    for (const h of hue ? [hue, 0, 60, 120, 180, 240, 300] : [hue]) {
      box.style.setProperty("--h", h);
      const below = light(getComputedStyle(face.querySelector("rect")).fill);
      for (const text of face.querySelectorAll("text")) {
        const above = light(getComputedStyle(text).fill);
        if (Math.max(above, below) / Math.min(above, below) < 4.5) {
          pale.add("contrast of " + text.getAttribute("class") + " in " + box.getAttribute("class") + " of hue " + h);
        }
      }
    }
    box.style.setProperty("--h", hue);
  }
  return [...pale];
})()`;

/** The browser of all pages, as starting one takes longer than most tests. */
let browser;
function launch() {
  const executablePath = spawnSync("sh", ["-c", `command -v ${chromium}`]).stdout.toString().trim();
  return from("playwright-core").chromium.launch({executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"]});
}
export async function closeBrowser() {
  await (await browser)?.close();
}

/** A page that shares nothing with others, as in a separate browser. */
export class Page {
  /** Opens an address. `dark`: with the preference for dark colors. */
  static async open(url, {dark = false, width = 1280, height = 800} = {}) {
    const page = new Page();
    browser ??= launch();
    page.context = await (await browser).newContext({viewport: {width, height}, colorScheme: dark ? "dark" : "light"});
    page.view = await page.context.newPage();
    page.view.on("request", request => page.requests.push(request.url()));
    page.view.on("pageerror", problem => page.problems.push(problem.stack));
    page.view.on("console", message => message.type() === "error" && page.problems.push(message.text()));
    await page.view.goto(url);
    return page;
  }

  requests = []; // addresses requested by the page
  problems = []; // errors in the page

  prefer(scheme) {
    return this.view.emulateMedia({colorScheme: scheme});
  }

  /** The value of an expression in the page. */
  evaluate(expression) {
    return this.view.evaluate(expression);
  }

  /** Texts of all elements that match a selector. */
  texts(selector) {
    return this.view.locator(selector).allTextContents();
  }

  async text(selector) {
    return (await this.texts(selector))[0];
  }

  /** Clicks the first visible element that matches a selector and contains a text. */
  async click(selector, text = "") {
    await this.view.locator(selector).filter({hasText: text, visible: true}).first().click({timeout: 10000});
    await this.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))");
  }

  /** Types a text into an element, replacing its content. */
  type(selector, text) {
    return this.view.locator(selector).fill(text);
  }

  press(key) {
    return this.view.keyboard.press(key);
  }

  /** What axe finds wrong with the page, in dark and in light. */
  async barriers() {
    if (await this.evaluate("window.axe === undefined")) {
      await this.evaluate(readFileSync(from.resolve("axe-core/axe.min.js"), "utf8"));
    }
    const problems = [];
    for (const scheme of ["dark", "light"]) {
      await this.prefer(scheme);
      problems.push(...(await this.evaluate(paleTexts)).map(text => `${scheme}: ${text}`));
      problems.push(...await this.evaluate(`axe.run({resultTypes: ["violations"]}).then(({violations}) =>
        violations.flatMap(({id, nodes}) => nodes.map(({html, any}) => \`${scheme}: \${id}: \${html} \${any[0]?.message ?? ""}\`)))`));
    }
    return problems;
  }

  /** A screenshot of the page, as PNG. */
  picture() {
    return this.view.screenshot();
  }

  close() {
    return this.context.close();
  }
}

/** Runs tests by name, only those with the fourth argument in theirs if there is one, and exits. */
export async function runTests(tests) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests).filter(([name]) => !process.argv[4] || name.includes(process.argv[4]))) {
    try {
      await test();
      console.log(`ok      ${name}`);
    } catch (problem) {
      ++failed;
      console.log(`FAILED  ${name}\n${problem.stack}`);
    }
  }
  process.exit(failed === 0 ? 0 : 1);
}
