"use strict";
// Everything of the log is text of elements that are there already: nothing here makes markup of a text.
(() => {
  const root = document.documentElement;
  root.classList.add("lively");
  const kept = {
    get(name) { try { return localStorage.getItem("agentglot-" + name); } catch { return null; } },
    set(name, value) { try { localStorage.setItem("agentglot-" + name, value); } catch { /* it is not kept */ } },
  };
  const theme = kept.get("theme");
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches;
  let sides = kept.get("sides") === "yes";

  const $ = (id) => document.getElementById(id);
  // Lets the browser do other things while much is done.
  let until = 0;
  const breath = async () => {
    if (performance.now() < until) return;
    await new Promise((go) => setTimeout(go));
    until = performance.now() + 12;
  };

  // What stands in a template is made when it is unfolded.
  const make = (folded) => {
    const template = folded.querySelector(":scope > template");
    if (!template) return;
    template.replaceWith(template.content);
    if (sides) folded.querySelectorAll(".diff").forEach(beside);
  };
  const unfold = (element) => {
    for (let at = element; at; at = at.parentElement) if (at.localName === "details") { make(at); at.open = true; }
  };

  // Both sides of a change beside each other.
  const beside = (diff) => {
    if (diff.hidden) return;
    const table = document.createElement("table");
    table.className = "sides";
    const caption = table.createCaption();
    caption.className = "unseen";
    caption.textContent = "Before and after";
    const columns = table.appendChild(document.createElement("colgroup"));
    for (const name of ["number", "", "number", ""]) columns.appendChild(document.createElement("col")).className = name;
    const body = table.createTBody();
    let [old, now] = [NaN, NaN];
    const number = (row, n) => {
      const cell = row.insertCell();
      cell.className = "number";
      if (!Number.isNaN(n)) cell.textContent = n;
    };
    const side = (row, line, name) => {
      const cell = row.insertCell();
      if (!line) return;
      cell.className = name;
      const copy = line.cloneNode(true);
      const first = copy.firstChild;
      if (first && first.nodeType === Node.TEXT_NODE) first.data = first.data.slice(1);
      copy.normalize();
      if (copy.lastChild && copy.lastChild.nodeType === Node.TEXT_NODE) copy.lastChild.data = copy.lastChild.data.replace(/\n$/, "");
      if (name) cell.append(Object.assign(document.createElement("span"), { className: "unseen", textContent: name === "a" ? "added " : "removed " }));
      cell.append(...copy.childNodes);
    };
    let [before, after] = [[], []];
    const put = () => {
      for (let n = 0; n < Math.max(before.length, after.length); n++) {
        const row = body.insertRow();
        number(row, before[n] ? old++ : NaN);
        side(row, before[n], "r");
        number(row, after[n] ? now++ : NaN);
        side(row, after[n], "a");
      }
      [before, after] = [[], []];
    };
    for (const line of diff.children) {
      if (line.className === "r") { if (after.length) put(); before.push(line); continue; }
      if (line.className === "a") { after.push(line); continue; }
      put();
      const row = body.insertRow();
      if (line.className === "h") {
        const cell = row.insertCell();
        cell.colSpan = 4;
        cell.className = "h";
        cell.textContent = line.textContent.trimEnd();
        const at = /^@@ -(\d+)[^+]*\+(\d+)/.exec(cell.textContent);
        if (at) [old, now] = [Number(at[1]), Number(at[2])];
      } else {
        number(row, old++);
        side(row, line, "");
        number(row, now++);
        side(row, line, "");
      }
    }
    put();
    diff.hidden = true;
    diff.after(table);
  };
  const above = (table) => {
    table.previousElementSibling.hidden = false;
    table.remove();
  };

  // What a row says, folded or not.
  const words = (row) => {
    let text = row.textContent;
    for (const template of row.querySelectorAll("template")) text += "\n" + inTemplate(template.content);
    return text;
  };
  const inTemplate = (content) => {
    let text = content.textContent;
    for (const template of content.querySelectorAll("template")) text += "\n" + inTemplate(template.content);
    return text;
  };

  const start = () => {
    const main = $("main");

    document.addEventListener("toggle", (event) => { if (event.target.open) make(event.target); }, true);

    // The outline. A page of thousands of turns is to be seen before its outline is complete.
    const list = document.querySelector("#outline ol");
    const entries = new Map();
    const outline = async () => {
      for (const turn of document.querySelectorAll(".turn")) {
        await breath();
        if (entries.has(turn)) continue;
        const link = document.createElement("a");
        link.href = "#" + turn.id;
        // What was asked; where the log does not say it, what was answered.
        const about = (turn.querySelector(".prompt .said") ?? turn.querySelector(".markdown > :not(.piece), .markdown pre"))?.textContent.trim().slice(0, 80) ?? "";
        link.textContent = `${turn.querySelector("h2 .anchor").textContent.replace("Turn ", "")} ${about}`;
        if (turn.querySelector(".outcome.bad")) {
          link.className = "bad";
          link.setAttribute("aria-label", link.textContent + ", failed");
        }
        const entry = document.createElement("li");
        entry.append(link);
        list.append(entry);
        entries.set(turn, link);
        seen.observe(turn);
      }
    };
    const visible = new Set();
    const seen = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) isIntersecting ? visible.add(target) : visible.delete(target);
      let first = null;
      for (const turn of visible) if (!first || turn.compareDocumentPosition(first) & Node.DOCUMENT_POSITION_FOLLOWING) first = turn;
      list.querySelector("[aria-current]")?.removeAttribute("aria-current");
      entries.get(first)?.setAttribute("aria-current", "true");
    }, { rootMargin: "-60px 0px -40% 0px" });
    outline();
    // The page has got more.
    addEventListener("agentglot-turns", () => { outline(); if (sides) changes(); });

    // Links into the page.
    const go = () => {
      const target = /^#(session-\d+-)?(turn-\d+|outside)(-call-\d+)?$/.test(location.hash) && $(location.hash.slice(1));
      if (!target) return;
      unfold(target);
      target.scrollIntoView();
      const first = target.matches("details") ? target.querySelector("summary") : target.querySelector("a");
      first?.focus({ preventScroll: true });
    };
    addEventListener("hashchange", go);
    go();
    // A browser that goes there itself takes the focus away.
    addEventListener("load", () => setTimeout(go));

    // Folding.
    const fold = async (open) => {
      for (const folded of main.querySelectorAll("details")) {
        await breath();
        if (open) unfold(folded); else folded.open = false;
      }
    };
    $("fold").onclick = () => fold(false);
    $("unfold").onclick = async () => { await fold(true); await fold(true); };

    // Failures, one after the other.
    $("failure").onclick = () => {
      const bad = [...main.querySelectorAll(".call.bad, .outcome.bad, .damage, .fault.row, .change")];
      const from = document.activeElement?.closest(".row");
      const next = bad.find((row) => from && from !== row && from.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING) ?? bad[0];
      if (!next) { $("found").textContent = $("failure").dataset.none ?? "Nothing failed"; return; }
      show(next);
    };
    const show = (row) => {
      unfold(row);
      const target = row.querySelector("summary") ?? row;
      if (target === row) row.tabIndex = -1;
      row.scrollIntoView({ block: "center" });
      target.focus({ preventScroll: true });
    };

    // Search.
    let [matches, at, asked] = [[], -1, 0];
    const marks = (rows) => {
      if (!window.Highlight) return;
      const wanted = $("find").value.toLowerCase();
      const ranges = [];
      for (const row of wanted ? rows : []) {
        const walk = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
        while (walk.nextNode() && ranges.length < 2000) {
          const text = walk.currentNode.data.toLowerCase();
          if (text.length !== walk.currentNode.length) continue;
          for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + wanted.length)) {
            const range = new Range();
            range.setStart(walk.currentNode, from);
            range.setEnd(walk.currentNode, from + wanted.length);
            ranges.push(range);
          }
        }
      }
      return new Highlight(...ranges);
    };
    const tell = () => {
      $("found").textContent = !$("find").value ? "" : matches.length ? (at >= 0 ? `${at + 1} of ${matches.length}` : `${matches.length} found`) : "Nothing found";
    };
    const search = async () => {
      const wanted = $("find").value.toLowerCase();
      const mine = ++asked;
      const rows = [];
      [matches, at] = [[], -1];
      if (wanted) {
        for (const row of main.querySelectorAll(".row, .session")) {
          await breath();
          if (mine !== asked) return;
          if (words(row).toLowerCase().includes(wanted)) rows.push(row);
        }
      }
      matches = rows;
      tell();
      if (window.Highlight) {
        CSS.highlights.delete("here");
        CSS.highlights.set("found", marks(matches.slice(0, 200)));
      }
    };
    let [pause, searching] = [];
    const now = () => { clearTimeout(pause); pause = undefined; return searching = search(); };
    const move = async (by) => {
      if (pause) now();
      // A second key that comes while the first still searches waits as well, and keeps its place.
      await searching;
      if (!matches.length) return;
      at = at < 0 && by < 0 ? matches.length - 1 : (at + by + matches.length) % matches.length;
      const row = matches[at];
      const wanted = $("find").value.toLowerCase();
      if (row.localName === "details") unfold(row);
      for (const folded of row.querySelectorAll("details")) if (words(folded).toLowerCase().includes(wanted)) unfold(folded);
      // What was unfolded may hold more that is folded.
      for (const folded of row.querySelectorAll("details")) if (words(folded).toLowerCase().includes(wanted)) unfold(folded);
      row.scrollIntoView({ block: "nearest" });
      if (window.Highlight) {
        const here = marks([row]);
        CSS.highlights.set("here", here);
        const first = here.values().next().value;
        if (first) scrollBy(0, first.getBoundingClientRect().top - innerHeight / 2);
      }
      tell();
    };
    $("find").oninput = () => { clearTimeout(pause); pause = setTimeout(now, 200); };
    $("find").onkeydown = (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      move(event.shiftKey ? -1 : 1);
    };
    // What was typed while the page still loaded.
    if ($("find").value) now();
    $("next").onclick = () => move(1);
    $("previous").onclick = () => move(-1);

    // Changes.
    const pressed = () => $("sides").setAttribute("aria-pressed", sides);
    const changes = async () => {
      for (const diff of main.querySelectorAll(sides ? ".diff" : ".sides")) {
        await breath();
        if (sides) beside(diff); else above(diff);
      }
    };
    pressed();
    if (sides) changes();
    $("sides").onclick = () => {
      sides = !sides;
      kept.set("sides", sides ? "yes" : "no");
      pressed();
      changes();
    };

    // Dark and light.
    const lit = () => $("dark").setAttribute("aria-pressed", isDark());
    lit();
    prefersDark.addEventListener("change", lit);
    $("dark").onclick = () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      kept.set("theme", root.dataset.theme);
      lit();
    };

    // Copies.
    document.addEventListener("click", async (event) => {
      const button = event.target.closest?.("button.copy");
      if (!button) return;
      const piece = button.closest(".piece");
      const text = [...piece.querySelectorAll(":scope > pre, :scope > .more")]
        .map((part) => part.localName === "pre" ? part : part.querySelector("template")?.content ?? part.querySelector("pre"))
        .map((part) => part.textContent.replace(/\n$/, ""))
        .join("\n");
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const area = document.body.appendChild(document.createElement("textarea"));
        area.value = text;
        area.select();
        document.execCommand("copy");
        area.remove();
        button.focus();
      }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start); else start();
})();
