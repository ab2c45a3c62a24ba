// Looks at pages of `agentglot show --format html` in Chromium: node look.mjs CHROMIUM FOLDER. The folder holds session.html, long.html,
// hostile-*.html, tampered.html. Says a line for each thing tried; the first that fails ends it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { all, axe, begin } from "./browser.mjs";

const [program, folder, only] = process.argv.slice(2);
const browser = await begin(program);
const open = (name, { hash = "", ...more } = {}) => {
  const own = "file://" + join(folder, name);
  return browser.open(own + hash, (url) => url.split("#")[0] === own, more);
};
const look = (page, name) => page.screenshot({ path: join(folder, name + ".png") });
const text = (page, selector) => page.locator(selector).first().innerText();
const isOpen = (page, id) => page.evaluate((id) => document.getElementById(id).open, id);

const tests = {
  async "what is folded is made when it is unfolded, by mouse and by keyboard"() {
    const { page, wrong, end } = await open("session.html");
    const call = page.locator("#turn-1-call-1");
    assert.equal(await isOpen(page, "turn-1-call-1"), false);
    assert.equal(await call.locator("pre").count(), 0);
    await call.locator("summary").first().click();
    await call.locator("pre").first().waitFor();
    assert.match(await call.locator("pre").nth(1).innerText(), /^line 1 of the output/);
    await call.locator("summary").first().focus();
    await page.keyboard.press("Enter");
    assert.equal(await isOpen(page, "turn-1-call-1"), false);
    await page.click("#unfold");
    await page.waitForFunction(() => !document.querySelector("details:not([open])") && !document.querySelector("template"));
    await page.click("#fold");
    await page.waitForFunction(() => !document.querySelector("details[open]"));
    assert.deepEqual(wrong, []);
    await end();
  },

  async "what is typed while the page loads is searched"() {
    const { page, wrong, end } = await open("session.html");
    // Between its last element and the start of its script.
    await page.addInitScript(() => document.addEventListener("readystatechange", () => {
      if (document.readyState === "interactive") document.getElementById("find").value = "NEEDLE in the output";
    }));
    await page.reload();
    await page.locator("#found", { hasText: "1 found" }).waitFor();
    assert.deepEqual(wrong, []);
    await end();
  },

  async "search finds what is folded and shows it"() {
    const { page, wrong, end } = await open("session.html");
    await page.fill("#find", "NEEDLE in the output");
    await page.locator("#found", { hasText: "1 found" }).waitFor();
    assert.equal(await isOpen(page, "turn-1-call-1"), false);
    await page.press("#find", "Enter");
    await page.locator("#found", { hasText: "1 of 1" }).waitFor();
    assert.equal(await isOpen(page, "turn-1-call-1"), true);
    assert.equal(await page.evaluate(() => CSS.highlights.get("here").size), 1);
    await page.waitForFunction(() => {
      const { top, bottom } = [...CSS.highlights.get("here")][0].getBoundingClientRect();
      return top > 0 && bottom < innerHeight;
    });
    await look(page, "search");
    await page.fill("#find", "no such thing");
    await page.locator("#found", { hasText: "Nothing found" }).waitFor();
    await page.fill("#find", "greeting");
    await page.press("#find", "Enter");
    await page.press("#find", "Enter");
    await page.locator("#found", { hasText: /^2 of \d+$/ }).waitFor();
    await page.press("#find", "Shift+Enter");
    await page.locator("#found", { hasText: /^1 of \d+$/ }).waitFor();
    // A key pressed again while the first still searches counts too: nothing is moved to in half a list.
    const all = (await text(page, "#found")).split(" ").pop();
    await page.fill("#find", "");
    await page.fill("#find", "greeting");
    await page.evaluate(() => {
      const enter = () => document.getElementById("find").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", cancelable: true }));
      enter();
      enter();
    });
    await page.locator("#found", { hasText: `2 of ${all}` }).waitFor();
    assert.deepEqual(wrong, []);
    await end();
  },

  async "links lead to turns and calls"() {
    const { page, wrong, end } = await open("session.html", { hash: "#turn-1-call-1" });
    await page.waitForFunction(() => document.activeElement?.closest("#turn-1-call-1"));
    assert.equal(await isOpen(page, "turn-1-call-1"), true);
    await page.evaluate(() => { location.hash = "#turn-2"; });
    await page.waitForFunction(() => document.activeElement?.closest("#turn-2") && document.getElementById("turn-2").getBoundingClientRect().top < innerHeight);
    assert.equal(await page.locator("#outline a").count(), await page.locator(".turn").count());
    await page.locator("#outline a").first().click();
    await page.waitForFunction(() => location.hash === "#turn-1");
    // A turn that comes later, without a prompt: what it answers is code.
    await page.evaluate(() => {
      const turn = Object.assign(document.createElement("section"), { className: "turn", id: "turn-99" });
      turn.innerHTML = '<h2><a class="anchor">Turn 99</a></h2><div class="markdown"><div class="piece"><div class="title">Code <button>Copy</button></div><pre>let x</pre></div></div>';
      document.getElementById("main").append(turn);
      dispatchEvent(new Event("agentglot-turns"));
    });
    await page.locator("#outline a", { hasText: /^99 let x$/ }).waitFor();
    // A link that is none of ours does nothing.
    await page.evaluate(() => { location.hash = "#dark"; });
    assert.deepEqual(wrong, []);
    await end();
  },

  async "the keyboard reaches everything"() {
    const { page, wrong, end } = await open("session.html");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    const reached = new Set();
    for (let n = 0; n < 200; n++) {
      await page.keyboard.press("Tab");
      const where = await page.evaluate(() => {
        const at = document.activeElement;
        if (at === document.body) return "";
        const { outlineStyle, outlineWidth } = getComputedStyle(at);
        if (outlineStyle === "none" || parseFloat(outlineWidth) < 2) throw new Error("no focus to be seen on " + at.outerHTML.slice(0, 100));
        return at.id || at.closest("details")?.id || at.getAttribute("href") || at.localName;
      });
      if (where === "" || reached.has("find")) break;
      reached.add(where);
    }
    for (const wanted of ["turn-1-call-1", "turn-1-call-2", "#turn-2"]) assert.ok(reached.has(wanted), `${wanted}: ${[...reached]}`);
    await page.focus("#failure");
    await page.keyboard.press("Enter");
    assert.ok(await page.evaluate(() => document.activeElement.closest(".bad")));
    await page.keyboard.press("Enter");
    assert.deepEqual(wrong, []);
    await end();
  },

  async "it is dark where that is preferred, or switched to"() {
    const { page, wrong, end } = await open("session.html", { colorScheme: "dark" });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await paper(), "rgb(20, 23, 26)");
    assert.equal(await page.getAttribute("#dark", "aria-pressed"), "true");
    await look(page, "dark");
    await page.click("#dark");
    assert.equal(await paper(), "rgb(255, 255, 255)");
    // What a page keeps, the browser writes a while later; a page that is loaded before that has it not yet.
    for (let n = 0; n < 50; n++) {
      await page.reload();
      if (await paper() === "rgb(255, 255, 255)") break;
      await page.waitForTimeout(200);
    }
    assert.equal(await paper(), "rgb(255, 255, 255)");
    await page.click("#dark");
    assert.equal(await paper(), "rgb(20, 23, 26)");
    await page.emulateMedia({ media: "print" });
    assert.equal(await paper(), "rgb(255, 255, 255)");
    assert.equal(await page.isVisible(".bar"), false);
    assert.equal(await page.isVisible(".prompt"), true);
    assert.deepEqual(wrong, []);
    await end();
  },

  async "changes stand beside each other, and back"() {
    const { page, wrong, end } = await open("session.html");
    await look(page, "inline");
    const lines = await page.locator("#turn-1-call-2 .diff > span").count();
    await page.click("#sides");
    const table = page.locator("#turn-1-call-2 table.sides");
    await table.waitFor();
    await look(page, "sides");
    const rows = await table.locator("tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.deepEqual(rows.slice(1, 3), [["1", "def greet(name):", "1", "def greet(name):"], ["2", "removed     return \"hello \" + name", "2", "added     return (\"hello \" + name).upper()"]]);
    await page.reload();
    await table.waitFor();
    await page.click("#sides");
    await table.waitFor({ state: "detached" });
    assert.equal(await page.locator("#turn-1-call-2 .diff > span:visible").count(), lines);
    assert.deepEqual(wrong, []);
    await end();
  },

  async "what is copied is what was written"() {
    const { page, wrong, end } = await open("session.html");
    await page.locator("#turn-1-call-1 > summary").click();
    await page.locator("#turn-1-call-1 .copy").last().click();
    await page.locator("#turn-1-call-1 .copy", { hasText: "Copied" }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(copied.startsWith("line 1 of the output\nline 2") && copied.endsWith("<b>the last</b> & NEEDLE in the output"), copied);
    assert.deepEqual(wrong, []);
    await end();
  },

  async "pictures of the log are shown"() {
    const { page, wrong, end } = await open("session.html");
    await page.click("#unfold");
    await page.locator("img").first().scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.images.length === 2 && [...document.images].every((image) => image.naturalWidth === 1));
    assert.deepEqual(wrong, []);
    await end();
  },

  async "without scripts everything short is there"() {
    const { page, end } = await open("session.html", { javaScriptEnabled: false });
    assert.equal(await page.isVisible("#unfold"), false);
    assert.equal(await page.locator("noscript").isVisible(), true);
    assert.equal(await page.isVisible("#turn-1-call-2 .diff"), true);
    await end();
  },

  async "axe finds nothing serious"() {
    for (const colorScheme of ["light", "dark"]) {
      const { page, end } = await open("session.html", { colorScheme });
      await page.click("#unfold");
      for (const sides of [false, true]) {
        if (sides) await page.click("#sides");
        await axe(page);
      }
      await look(page, `unfolded-${colorScheme}`);
      await end();
    }
  },

  async "nothing of a hostile log runs"() {
    const names = readdirSync(folder).filter((name) => /^hostile-.*\.html$/.test(name));
    assert.ok(names.length >= 3, names.join());
    for (const name of names) {
      const { page, wrong, end } = await open(name);
      await page.click("#unfold");
      await page.click("#sides");
      await page.fill("#find", "alert");
      await page.press("#find", "Enter");
      await page.waitForFunction(() => !document.querySelector("template"));
      await page.locator("#found", { hasText: /^1 of \d+$/ }).waitFor();
      // Whatever could be waiting for a mouse, a focus or a load.
      await page.evaluate(() => {
        for (const element of document.body.querySelectorAll("main *")) {
          for (const kind of ["mouseover", "mouseenter", "focus", "load", "error", "animationend", "toggle"]) element.dispatchEvent(new Event(kind));
        }
      });
      const found = await page.evaluate(() => {
        const known = new Set("html head meta title style script body a header search label input button span div noscript nav h1 h2 h3 h4 h5 h6 ol ul li main code dl dt dd section time details summary b pre p table caption colgroup col thead tbody tr th td em strong del blockquote hr br img".split(" "));
        const wrong = [];
        for (const element of document.querySelectorAll("*")) {
          if (!known.has(element.localName) || element.namespaceURI !== "http://www.w3.org/1999/xhtml") wrong.push("element " + element.outerHTML.slice(0, 100));
          for (const { name, value } of element.attributes) {
            if (name.startsWith("on") || name === "style" || name === "srcset" || name === "action") wrong.push(`attribute ${name}`);
            if (name === "href" && !/^#(main|(session-\d+-)?turn-\d+(-call-\d+)?|outside-call-\d+)$/.test(value) && !(/^(https?:\/\/|mailto:)/.test(value) && element.rel === "noopener noreferrer")) wrong.push(`link ${value}`);
            if (name === "src" && !/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+\/]+=*$/.test(value)) wrong.push(`source ${value}`);
          }
        }
        if (document.scripts.length !== 1 || document.styleSheets.length !== 1) wrong.push("more scripts or styles than our own");
        for (const [id, count] of Object.entries(Object.groupBy([...document.querySelectorAll("[id]")], (element) => element.id)).map(([id, all]) => [id, all.length])) if (count > 1) wrong.push(`${count} times #${id}`);
        const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/.exec(document.body.textContent);
        if (hidden) wrong.push("hidden " + escape(hidden[0]));
        if (window.ran !== undefined) wrong.push("a script ran");
        return wrong;
      });
      assert.deepEqual([...found, ...wrong], [], name);
      await look(page, name.replace(".html", ""));
      await end();
    }
  },

  async "should something get through, the page's policy holds it"() {
    const { page, wrong, end } = await open("tampered.html");
    await page.waitForFunction(() => document.getElementById("tampered"));
    assert.equal(await page.evaluate(() => window.ran), undefined);
    const of = (kind) => wrong.filter((what) => what.startsWith(kind));
    assert.deepEqual([of("dialog"), of("error")], [[], []]);
    // Chromium says what it did not do, and why.
    assert.ok(of("console").filter((said) => said.includes("Content Security Policy")).length >= 6, wrong.join("\n"));
    for (const request of of("request")) assert.ok(wrong.includes(request.replace("request", "failed") + " csp"), wrong.join("\n"));
    await end();
  },

  async "a long session is there soon"() {
    const begun = performance.now();
    const { page, wrong, end } = await open("long.html");
    const took = Math.round(performance.now() - begun);
    await page.locator("#outline a").nth(50).waitFor({ state: "attached" });
    await look(page, "long");
    assert.deepEqual(wrong, []);
    // A figure, not a judgement: machines differ.
    console.log(`  ${readFileSync(join(folder, "long.html")).length} bytes in ${took} ms`);
    await end();
  },
};

await all(browser, tests, only);
