// What tests of pages share: a headless Chromium, pages of which everything is noted that no page does, axe, and the running of tests.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const begin = async (program) => {
  const launch = () => chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
  let browser = await launch();
  // A page, and what it did that no page does: it asks for nothing but what is its own.
  const open = async (url, isOwn, more = {}) => {
    const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, permissions: ["clipboard-read", "clipboard-write"], ...more });
    // A machine that is busy with other things takes longer than a test.
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const wrong = [];
    page.on("dialog", (dialog) => { wrong.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => { if (!isOwn(request.url()) && !request.url().startsWith("data:")) wrong.push(`request ${request.url()}`); });
    page.on("requestfailed", (request) => {
      // What is not waited for any more, since the page is left, has not failed.
      const why = request.failure().errorText;
      if (why !== "net::ERR_ABORTED" && request.resourceType() !== "eventsource") wrong.push(`failed ${request.url()} ${why}`);
    });
    page.on("pageerror", (error) => wrong.push(`error ${error}`));
    page.on("console", (message) => wrong.push(`console ${message.text()}`));
    page.on("popup", () => wrong.push("popup"));
    await page.goto(url);
    return { page, wrong, end: () => context.close() };
  };
  const close = () => Promise.race([browser.close(), new Promise((done) => setTimeout(done, 10_000))]);
  const anew = async () => { await close(); browser = await launch(); };
  return { open, anew, close };
};

// Nothing serious is in the way of people who do not see the page, or not all of it.
export const axe = async (page) => {
  await page.evaluate(source);
  const { violations, passes } = await page.evaluate(() => window.axe.run());
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html + " " + node.failureSummary)]), []);
  assert.ok(passes.some(({ id }) => id === "color-contrast"));
  for (const { id, nodes } of violations) console.log(`  ${id}, ${nodes.length} times: ${nodes[0].html.slice(0, 100)}`);
};

// What a test may take at the most. A call that the browser does not answer waits for ever, whatever the page's time limit.
const PATIENCE = 120_000;

const within = async (work, name) => {
  let timer;
  const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Stuck(name)), PATIENCE); });
  try { return await Promise.race([work, late]); } finally { clearTimeout(timer); }
};

class Stuck extends Error {
  constructor(name) { super(`the browser did not answer: ${name}`); }
}

// Runs all tests, or those with this in their names, and says a line for each. One during which the browser no longer answers is tried once
// more in a browser of its own; what fails is not tried again.
export const all = async (browser, tests, only) => {
  let failed = false;
  for (const [name, test] of Object.entries(tests)) {
    if (only && !name.includes(only)) continue;
    const begun = performance.now();
    try {
      try {
        await within(test(), name);
      } catch (error) {
        if (!(error instanceof Stuck)) throw error;
        console.log(`  ${error.message}; once more`);
        await browser.anew();
        await within(test(), name);
      }
      console.log(`ok ${name}, ${Math.round(performance.now() - begun)} ms`);
    } catch (error) {
      failed = true;
      console.log(`FAILED ${name}: ${error.stack}`);
    }
  }
  await browser.close();
  process.exit(failed ? 1 : 0);
};
