// Opens pages in headless Chromium and compares what they show with what is expected:
// node browser.mjs CHROMIUM EXPECTED.json. The file has a list of pages; for each, `file`, `texts`
// (selectors with the text of the first element), `message` (a number and the text that shows its
// times), `steps` (the length of the critical path). Errors of the console, requests and serious
// findings of axe fail, too.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import { chromium } from "playwright-core";

const [executablePath, list] = process.argv.slice(2);
const flags = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];
const browser = await chromium.launch({ executablePath, args: flags });
let failed = 0;

function fail(file, message) {
  failed += 1;
  console.log(`${file}: ${message}`);
}

/** Waits until a text is there, and says how it differs if it never is. */
async function expectText(page, file, selector, expected) {
  const found = page.locator(selector).first();
  const deadline = Date.now() + 5000;
  let text;
  do {
    text = (await found.count()) > 0 ? await found.textContent() : "(nothing)";
    if (text === expected) return;
    await page.waitForTimeout(20);
  } while (Date.now() < deadline);
  fail(file, `${selector}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(text)}`);
}

/** True if the canvas has more colours than the one of nothing. */
async function isDrawn(page, selector) {
  return page.locator(selector).first().evaluate((canvas) => {
    const { width, height } = canvas;
    const pixels = new Uint32Array(
      canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer,
    );
    return new Set(pixels).size > 3;
  });
}

async function findings(page, file, colours, rules) {
  const options = rules ? { runOnly: rules } : {};
  const { violations } = await page.evaluate((options) => window.axe.run(options), options);
  for (const { id, impact, nodes } of violations) {
    if (impact !== "serious" && impact !== "critical") continue;
    fail(file, `axe (${colours}): ${id}: ${nodes.map((node) => node.html).join("; ")}`);
  }
}

async function check({ file, texts, message, steps, canvases = [] }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.on("console", (said) => {
    if (["error", "warning"].includes(said.type())) fail(file, `console: ${said.text()}`);
  });
  page.on("pageerror", (error) => fail(file, `error: ${error.message}`));
  page.on("dialog", () => fail(file, "a dialog opened"));
  const address = pathToFileURL(file).href;
  page.on("request", (request) => {
    if (request.url() !== address) fail(file, `request: ${request.url()}`);
  });
  await page.goto(address);
  if ((await page.locator("img").count()) > 0) fail(file, "an image got into the page");
  for (const [selector, text] of texts) await expectText(page, file, selector, text);
  for (const selector of canvases) {
    await page.waitForTimeout(50);
    if (!(await isDrawn(page, selector))) fail(file, `${selector}: nothing is drawn`);
  }
  if (message) {
    await page.locator("#timeline input[type=number]").fill(String(message.id));
    await page.locator("#timeline form button").click();
    await expectText(page, file, "#timeline-panel", message.text);
    // The same with keys: the next message and back.
    await page.locator("#timeline canvas").focus();
    await page.keyboard.press("n");
    await page.keyboard.press("p");
    await expectText(page, file, "#timeline-panel", message.text);
  }
  if (steps !== undefined) {
    await page.locator("#path button", { hasText: "End" }).click();
    const last = await page.locator("#path output").textContent();
    if (!last?.startsWith(`Step ${steps} of ${steps}:`)) fail(file, `the path ends: ${last}`);
  }
  await page.evaluate(axe.source);
  await findings(page, file, "light");
  await page.emulateMedia({ colorScheme: "dark" });
  await findings(page, file, "dark", ["color-contrast"]);
  await context.close();
}

for (const page of JSON.parse(readFileSync(list, "utf8"))) await check(page);
await browser.close();
process.exit(failed > 0 ? 1 : 0);
