// Looks at the pages of `agentglot view` in Chromium: node view.mjs CHROMIUM ADDRESS LOGS PICTURES. The folder of logs is the one that is
// shown. Says a line for each thing tried.
import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { all, axe, begin } from "./browser.mjs";

const [program, address, logs, pictures, only] = process.argv.slice(2);
const browser = await begin(program);
const open = async (path = "", more = {}) => browser.open(address + path, (url) => url.startsWith(address), more);
const look = (page, name) => page.screenshot({ path: join(pictures, `view-${name}.png`) });
const listed = (page, text) => page.locator("#found", { hasText: text }).waitFor();
const titles = (page) => page.locator("#sessions .title a").allInnerTexts();
// Those two that did much the same.
const compare = async (page) => {
  for (const name of ["claude-cli_edit", "cursor-read_edit"]) await page.locator("#sessions > li", { hasText: name }).locator("input").check();
  await page.click("#compare");
  await page.waitForURL(/\/diff\?a=\d+&b=\d+$/);
  await page.waitForLoadState("load");
};
const harmless = async (page) => {
  assert.equal(await page.evaluate(() => window.ran), undefined);
  const elements = await page.evaluate(() => [...document.querySelectorAll("main *")].map((element) => element.localName).filter((name) => ["img", "iframe", "object", "base", "form", "style", "link", "meta", "math"].includes(name)));
  return elements;
};

const tests = {
  async "the list names all sessions, filters and sorts them"() {
    const { page, wrong, end } = await open();
    await listed(page, /^7 sessions$/);
    await look(page, "list");
    await page.fill("#filter", "greet.py loud");
    await listed(page, /of 7 sessions$/);
    for (const title of await titles(page)) assert.match(title, /greet/i);
    await page.fill("#filter", "");
    await page.selectOption("#agent", "cursor");
    await listed(page, /^1 of 7 sessions$/);
    // What is wanted is there again.
    await page.reload();
    await listed(page, /^1 of 7 sessions$/);
    await page.selectOption("#agent", "");
    await page.check("#wrong");
    await listed(page, /of 7 sessions$/);
    assert.ok((await page.locator("#sessions > li").count()) === (await page.locator("#sessions > li:has(.fault)").count()));
    await page.uncheck("#wrong");
    await listed(page, /^7 sessions$/);
    assert.equal(await page.locator("#unread summary").innerText(), "1 file is no log or cannot be read");
    assert.deepEqual(wrong, []);
    await end();
  },

  async "what was said is found, and where"() {
    const { page, wrong, end } = await open();
    await listed(page, /^7 sessions$/);
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "text");
    await page.keyboard.type("needle output");
    // The log of hostile texts does not say it.
    await listed(page, /^1 of 7 sessions$/);
    const hit = page.locator("#sessions .hits a").first();
    await hit.waitFor();
    assert.match(await hit.innerText(), /NEEDLE in the output/);
    // It is searched for while it is typed: what was found for its beginning stands there first.
    await hit.locator("mark", { hasText: "output" }).first().waitFor();
    assert.deepEqual([...new Set(await hit.locator("mark").allInnerTexts())].sort(), ["NEEDLE", "output"]);
    await look(page, "search");
    await axe(page);
    await hit.click();
    await page.waitForURL(/\/session\/\d+#turn-1$/);
    await page.waitForFunction(() => document.activeElement?.closest("#turn-1"));
    await page.goBack();
    await listed(page, /^1 of 7 sessions$/);
    await page.fill("#text", "alert script");
    await listed(page, /of 7 sessions$/);
    await page.locator("#sessions .hits mark").first().waitFor();
    assert.deepEqual(await harmless(page), []);
    await page.fill("#text", "nobody said this zyx");
    await listed(page, /^0 of 7 sessions$/);
    await page.fill("#text", "");
    await listed(page, /^7 sessions$/);
    assert.equal(await page.locator(".hits").count(), 0);
    assert.deepEqual(wrong, []);
    await end();
  },

  async "a session opens, is searched, and leads back"() {
    const { page, wrong, end } = await open("?filter=session.jsonl");
    await listed(page, /^1 of 7/);
    await page.locator("#sessions .title a").first().click();
    await page.locator("#turn-2").waitFor();
    assert.match(page.url(), /\/session\/\d+$/);
    await page.fill("#find", "NEEDLE in the output");
    await page.locator("#found", { hasText: "1 found" }).waitFor();
    await page.press("#find", "Enter");
    await page.locator("#found", { hasText: "1 of 1" }).waitFor();
    await look(page, "session");
    await page.locator(".bar nav a").click();
    await listed(page, /^7 sessions$/);
    assert.deepEqual(wrong, []);
    await end();
  },

  async "the keyboard reaches everything"() {
    const { page, wrong, end } = await open();
    await listed(page, /^7 sessions$/);
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "text");
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.evaluate(() => document.activeElement === document.querySelector("#sessions a")), true);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.evaluate(() => [...document.querySelectorAll("#sessions a")].indexOf(document.activeElement)), 1);
    await page.reload();
    await listed(page, /^7 sessions$/);
    const reached = new Set();
    for (let n = 0; n < 60; n++) {
      await page.keyboard.press("Tab");
      const where = await page.evaluate(() => {
        const at = document.activeElement;
        if (at === document.body) return "";
        const { outlineStyle, outlineWidth } = getComputedStyle(at);
        if (outlineStyle === "none" || parseFloat(outlineWidth) < 2) throw new Error("no focus to be seen on " + at.outerHTML.slice(0, 100));
        return at.id || at.localName;
      });
      if (where === "") break;
      reached.add(where);
    }
    for (const wanted of ["dark", "filter", "agent", "project", "sort", "wrong", "input", "a"]) assert.ok(reached.has(wanted), `${wanted}: ${[...reached]}`);
    await page.locator("#sessions a").first().focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/session\/\d+$/, { waitUntil: "commit" });
    assert.deepEqual(wrong, []);
    await end();
  },

  async "it is dark where that is preferred, or switched to, on all pages"() {
    const { page, wrong, end } = await open("", { colorScheme: "dark" });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await listed(page, /^7 sessions$/);
    assert.equal(await paper(), "rgb(20, 23, 26)");
    await look(page, "list-dark");
    await page.click("#dark");
    assert.equal(await paper(), "rgb(255, 255, 255)");
    await page.locator("#sessions .title a").first().click();
    await page.locator("#turn-1").waitFor();
    assert.equal(await paper(), "rgb(255, 255, 255)");
    assert.deepEqual(wrong, []);
    await end();
  },

  async "axe finds nothing serious on any page"() {
    for (const colorScheme of ["light", "dark"]) {
      const { page, end } = await open("", { colorScheme });
      await listed(page, /^7 sessions$/);
      // The policy lets nobody else's script in; a test may.
      await axe(page);
      await compare(page);
      await axe(page);
      await page.goto(address + "stats");
      await page.locator("figure").first().waitFor();
      for (const numbers of await page.locator("figure summary").all()) await numbers.click();
      await axe(page);
      await look(page, `stats-${colorScheme}`);
      await end();
    }
  },

  async "two are compared"() {
    const { page, wrong, end } = await open();
    await listed(page, /^7 sessions$/);
    assert.equal(await page.isDisabled("#compare"), true);
    await compare(page);
    await look(page, "diff");
    assert.ok((await page.locator(".figures tbody tr").count()) >= 8);
    const changes = await page.locator(".change").count();
    assert.ok(changes > 1);
    await page.click("#failure");
    assert.ok(await page.evaluate(() => document.activeElement.closest(".change") === document.querySelector(".change")));
    await page.click("#sides");
    await page.locator(".change table.sides").first().waitFor();
    await look(page, "diff-sides");
    await page.click("#sides");
    await page.fill("#find", "greet");
    await page.locator("#found", { hasText: /^\d+ found$/ }).waitFor();
    await page.locator(".bar nav a").click();
    await listed(page, /^7 sessions$/);
    // With itself, and with what is not there.
    const id = await page.locator("#sessions > li").first().getAttribute("data-id");
    await page.goto(`${address}diff?a=${id}&b=${id}`);
    assert.match(await page.locator("main").innerText(), /They are the same/);
    assert.deepEqual(wrong, []);
    assert.equal((await page.goto(`${address}diff?a=${id}&b=4711`)).status(), 410);
    await end();
  },

  async "what was used is counted and drawn"() {
    const { page, wrong, end } = await open("stats");
    await page.locator("figure").first().waitFor();
    const titles = await page.locator("figcaption h2").allInnerTexts();
    for (const title of ["Tokens by day", "Tokens by model", "Calls by tool", "Tokens by project", "Tokens by agent"]) assert.ok(titles.includes(title), titles.join());
    const said = JSON.parse(readFileSync(join(pictures, "stats.json"), "utf8"));
    const total = Object.fromEntries(await page.locator(".totals div").evaluateAll((all) => all.map((one) => [one.querySelector("dt").textContent, one.querySelector("dd").textContent])));
    // The same that `agentglot stats` counts.
    const number = (text) => Number(text.replaceAll(",", ""));
    assert.deepEqual([number(total["Tokens in"]), number(total["Tokens out"]), number(total.Turns), number(total["Tool calls"])], [said.total.input, said.total.output, said.total.turns, said.total.calls]);
    const wide = await page.locator("figure svg[role=img] rect").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
    assert.ok(wide.length > 5 && wide.some((width) => width > 100) && wide.every((width) => width > 0 && width < 700));
    await page.locator("figure summary").first().click();
    assert.ok((await page.locator("figure").first().locator("tbody tr").count()) > 0);
    assert.deepEqual(await harmless(page), []);
    assert.deepEqual(wrong, []);
    await end();
  },

  async "a log that grows shows what is new, and nothing else moves"() {
    const file = join(logs, "live.jsonl");
    rmSync(file, { force: true });
    const said = (message) => appendFileSync(file, JSON.stringify({ session_id: "live", ...message }) + "\n");
    const turn = (n, text) => {
      said({ type: "user", isReplay: true, parent_tool_use_id: null, message: { role: "user", content: `Question ${n}` } });
      said({ type: "assistant", parent_tool_use_id: null, message: { id: `t${n}`, type: "message", role: "assistant", model: "m", content: [{ type: "tool_use", id: `c${n}`, name: "Bash", input: { command: `make ${n}` } }] } });
      said({ type: "user", parent_tool_use_id: null, message: { role: "user", content: [{ type: "tool_result", tool_use_id: `c${n}`, content: `output ${n}\n`.repeat(300) }] } });
      said({ type: "assistant", parent_tool_use_id: null, message: { id: `m${n}`, type: "message", role: "assistant", model: "m", content: [{ type: "text", text }] } });
    };
    const ended = () => said({ type: "result", subtype: "success", is_error: false, duration_ms: 5, num_turns: 1, result: "", usage: { input_tokens: 1, output_tokens: 1 } });
    const { page, wrong, end } = await open();
    await listed(page, /^7 sessions$/);
    said({ type: "system", subtype: "init", cwd: "/w", model: "m", tools: [] });
    turn(1, "The first answer.");
    ended();
    // The list has it without being asked.
    await listed(page, /^8 sessions$/);
    await page.locator("#sessions .title a", { hasText: "Question 1" }).click();
    await page.locator("#turn-1 .outcome").waitFor();
    await page.waitForLoadState("load");
    await page.locator("#turn-1-call-1 > summary").click();
    await page.evaluate(() => { window.before = document.querySelector("#turn-1-call-1"); });
    turn(2, "The **second** answer.");
    await page.locator("#turn-2 .answer strong", { hasText: "second" }).waitFor();
    // A turn that goes on, word for word.
    said({ type: "assistant", parent_tool_use_id: null, message: { id: "m3", type: "message", role: "assistant", model: "m", content: [{ type: "text", text: "<img src=x onerror=alert(1)> more" }] } });
    await page.locator("#turn-2 .answer", { hasText: "more" }).waitFor();
    ended();
    await page.locator("#turn-2 .outcome.fine").waitFor();
    turn(3, "The third answer.");
    await page.locator("#turn-3 .answer").waitFor();
    assert.equal(await page.evaluate(() => window.before === document.querySelector("#turn-1-call-1") && window.before.open), true);
    assert.equal(await page.locator("#outline a").count(), 3);
    assert.equal(await page.locator(".turn").count(), 3);
    // What came later unfolds, too.
    await page.locator("#turn-3-call-1 > summary").click();
    await page.locator("#turn-3-call-1 pre", { hasText: "output 3" }).waitFor();
    assert.deepEqual(await page.evaluate(() => { const ids = [...document.querySelectorAll("[id]")].map((element) => element.id); return ids.filter((id, at) => ids.indexOf(id) !== at); }), []);
    await look(page, "live");
    await axe(page);
    writeFileSync(file, "");
    await page.locator("#news", { hasText: "begun anew" }).waitFor();
    rmSync(file);
    await page.locator("#news", { hasText: "The file is gone" }).waitFor();
    assert.equal(await page.locator(".turn").count(), 3);
    assert.deepEqual(wrong, []);
    const there = await page.reload();
    assert.equal(there.status(), 410);
    assert.match(await page.locator("main").innerText(), /The session is gone/);
    await end();
  },

  async "nothing of a hostile log runs"() {
    const { page, wrong, end } = await open("?filter=hostile");
    await listed(page, /^1 of 7/);
    assert.deepEqual(await harmless(page), []);
    const text = await page.locator("#sessions").innerText();
    assert.ok(text.includes("hostile <img src=x onerror=alert(1)>\\u{202e}.jsonl"), text);
    assert.equal(/[\u202a-\u202e\u2066-\u2069]/.test(await page.content()), false);
    await page.locator("#unread summary").click();
    await page.locator("#sessions .title a").first().click();
    await page.waitForURL(/\/session\/\d+$/);
    await page.click("#unfold");
    await page.waitForFunction(() => !document.querySelector("template"));
    assert.deepEqual((await harmless(page)).filter((name) => name !== "img"), []);
    assert.deepEqual(wrong, []);
    await end();
  },

  async "a page of ours runs no script but ours"() {
    const { page, wrong, end } = await open();
    await listed(page, /^7 sessions$/);
    await page.evaluate(() => {
      document.body.append(Object.assign(document.createElement("script"), { textContent: "window.ran = 1" }));
      document.body.append(Object.assign(document.createElement("img"), { src: "http://127.0.0.1:9/x.png" }));
      document.body.insertAdjacentHTML("beforeend", "<img src=data:, onerror='window.ran = 2'>");
    });
    assert.equal(await page.evaluate(() => fetch("http://127.0.0.1:9/").then(() => "fetched", () => "refused")), "refused");
    assert.equal(await page.evaluate(() => window.ran), undefined);
    assert.ok(wrong.filter((said) => said.includes("Content Security Policy")).length >= 3, wrong.join("\n"));
    await end();
  },
};

await all(browser, tests, only);
