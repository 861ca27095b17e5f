// Measures a page in headless Chromium: node speed.mjs CHROMIUM FILE.html. Prints the CPU time of
// the page's main thread in milliseconds until it is first painted and until its events are
// decoded, and for a frame of the timeline while it is moved: the mean at the whole run and at two
// zooms.

import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file] = process.argv.slice(2);
const flags = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];
const FRAMES = 20;
const browser = await chromium.launch({ executablePath, args: flags });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable", { timeDomain: "threadTicks" });

/** CPU time of the main thread so far, in milliseconds. */
async function cpu() {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
}

await page.goto(pathToFileURL(file).href, { waitUntil: "commit" });
await page.waitForFunction(() => performance.getEntriesByType("paint").length > 0);
console.log(`first paint ${Math.round(await cpu())}`);
await page.waitForSelector("body[data-loaded]", { timeout: 120_000 });
await page.waitForTimeout(500);
console.log(`events decoded ${Math.round(await cpu())}`);
const canvas = page.locator("#timeline canvas");
await canvas.scrollIntoViewIfNeeded();
for (const zoom of [0, 6, 12]) {
  for (let step = 0; step < (zoom > 0 ? 6 : 0); step++) {
    await page.locator("#timeline button[aria-label='Zoom in']").click();
  }
  await page.waitForTimeout(300);
  const before = await cpu();
  await canvas.evaluate(async (canvas, frames) => {
    for (let frame = 0; frame < frames; frame++) {
      const key = frame % 2 ? "ArrowLeft" : "ArrowRight";
      canvas.dispatchEvent(new KeyboardEvent("keydown", { key }));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    }
  }, FRAMES);
  console.log(`frame, zoomed ${2 ** zoom} times ${((await cpu()) - before) / FRAMES}`);
}
await browser.close();
