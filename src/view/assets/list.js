"use strict";
// The list. What logs say is text of elements that are made here: nothing of it becomes markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const fields = ["text", "filter", "agent", "project", "sort", "wrong"];
  const value = (name) => $(name).type === "checkbox" ? ($(name).checked ? "true" : "") : $(name).value;
  const make = (name, text, className = "") => Object.assign(document.createElement(name), { className, textContent: text });
  const number = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
  const size = (bytes) => bytes < 1024 ? `${bytes} B` : bytes < 1 << 20 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / (1 << 20)).toFixed(1)} MB`;

  // What is wanted stands in the address, so that it is there again after a reload.
  const wanted = () => {
    const query = new URLSearchParams();
    for (const name of fields) if (value(name) && value(name) !== "recent") query.set(name, value(name));
    return query;
  };
  const options = (name, all) => {
    const [select, chosen] = [$(name), value(name)];
    const wanted = Object.entries(all).filter(([each]) => each).sort((a, b) => b[1] - a[1]).slice(0, 500);
    if (chosen && !wanted.some(([each]) => each === chosen)) wanted.unshift([chosen, 0]);
    const texts = wanted.map(([each, many]) => `${each} (${many})`);
    if ([...select.options].slice(1).map((option) => option.textContent).join("\n") === texts.join("\n")) return;
    select.length = 1;
    wanted.forEach(([each], at) => select.add(new Option(texts[at], each)));
    select.value = chosen;
  };

  // Two may be compared.
  let chosen = [];
  const choose = () => {
    $("compare").disabled = chosen.length !== 2;
    $("compare").textContent = chosen.length === 1 ? "Compare two: one more" : "Compare two";
  };
  $("compare").onclick = () => { location.href = `diff?a=${chosen[0]}&b=${chosen[1]}`; };

  const entry = (session) => {
    const item = make("li", "");
    item.dataset.id = session.id;
    const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: chosen.includes(session.id) });
    const title = session.title || session.file;
    box.setAttribute("aria-label", `Compare ${title}`);
    box.onchange = () => {
      chosen = chosen.filter((id) => id !== session.id);
      if (box.checked) chosen.push(session.id);
      while (chosen.length > 2) {
        const old = $("sessions").querySelector(`li[data-id="${chosen.shift()}"] input`);
        if (old) old.checked = false;
      }
      choose();
    };
    const body = make("div", "");
    const head = make("p", "", "title");
    head.append(Object.assign(make("a", title), { href: `session/${session.id}` }));
    const facts = [session.time, session.agent, session.model, session.project, number(session.turns, "turn", "turns"), number(session.calls, "call", "calls"), size(session.size)];
    const line = make("p", facts.filter(Boolean).join(" · "));
    const wrong = [session.failed && `${session.failed} failed`, session.bad && "did not end well", session.damaged && `${number(session.damaged, "line", "lines")} damaged`];
    for (const fault of wrong.filter(Boolean)) line.append(" · ", make("span", fault, "fault"));
    body.append(head, line, make("p", [session.file, session.session].filter(Boolean).join(" · ")));
    item.append(box, body);
    near.observe(item);
    return item;
  };

  // An entry that says what it said stays, with the focus on it.
  let shown = new Map();
  const put = (sessions) => {
    const now = new Map();
    const list = $("sessions");
    let at = list.firstElementChild;
    for (const session of sessions) {
      const said = JSON.stringify(session);
      const old = shown.get(session.id);
      let item = old?.said === said ? old.item : entry(session);
      if (old && item !== old.item && old.item.contains(document.activeElement)) {
        const where = document.activeElement.localName;
        old.item.replaceWith(item);
        if (at === old.item) at = item;
        item.querySelector(where)?.focus();
      }
      now.set(session.id, { said, item });
      if (item === at) at = at.nextElementSibling;
      else list.insertBefore(item, at);
    }
    for (const item of [...list.children]) if (now.get(Number(item.dataset.id))?.item !== item) item.remove();
    shown = now;
  };

  // Where the words stand: asked for one session after the other, of those that are to be seen.
  let places = new Map();
  let [sought, seeking] = ["", false];
  const marked = (text, words) => {
    const line = document.createDocumentFragment();
    const cut = words.length ? text.split(new RegExp(`(${words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, "\\$&")).join("|")})`, "giu")) : [text];
    cut.forEach((piece, at) => line.append(at % 2 ? make("mark", piece) : piece));
    return line;
  };
  const seek = async () => {
    if (seeking) return;
    seeking = true;
    for (;;) {
      const item = [...$("sessions").children].find((item) => item.dataset.near && item.dataset.sought !== sought);
      if (!item) break;
      const text = item.dataset.sought = sought;
      item.querySelector(".hits")?.remove();
      if (!text) continue;
      const name = `${item.dataset.id} ${text}`;
      let hits = places.get(name);
      try {
        if (!hits) hits = await (await fetch(`hits/${item.dataset.id}?${new URLSearchParams({ text })}`)).json();
      } catch { continue; }
      places.set(name, hits);
      if (text !== sought || !hits.length) continue;
      const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
      const list = make("ul", "", "hits");
      for (const hit of hits) {
        const entry = make("li", "");
        const link = Object.assign(make("a", ""), { href: `session/${item.dataset.id}${hit.turn ? "#" + hit.turn : ""}` });
        link.append(make("span", hit.kind + ": ", "quiet"), marked(hit.text, words));
        entry.append(link);
        list.append(entry);
      }
      item.querySelector(".hits")?.remove();
      item.lastElementChild.append(list);
    }
    seeking = false;
  };
  const near = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) isIntersecting ? target.dataset.near = "yes" : delete target.dataset.near;
    seek();
  }, { rootMargin: "200px" });

  let [pages, asked] = [1, 0];
  const look = async () => {
    const mine = ++asked;
    const query = wanted();
    history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
    const all = [];
    let said;
    try {
      for (let page = 0; page < pages; page++) {
        if (page) query.set("from", all.length);
        const answer = await fetch(`list?${query}`);
        if (!answer.ok) throw new Error(await answer.text());
        said = await answer.json();
        if (mine !== asked) return;
        all.push(...said.sessions);
        if (all.length >= said.found) break;
      }
    } catch {
      if (mine === asked) trouble("The server does not answer: was it ended?");
      return;
    }
    trouble(said.failure);
    if (sought !== value("text")) [sought, places] = [value("text"), new Map()];
    put(all);
    seek();
    options("agent", said.agents);
    options("project", said.projects);
    const waiting = said.waiting === null ? ", looking" : said.waiting ? `, ${number(said.waiting, "log is", "logs are")} still to be read` : "";
    $("found").textContent = (said.found === said.total ? number(said.total, "session", "sessions") : `${said.found.toLocaleString("en")} of ${number(said.total, "session", "sessions")}`) + waiting;
    $("more").hidden = all.length >= said.found;
    $("unread").hidden = !said.unread_total;
    $("unread").querySelector("summary").textContent = `${number(said.unread_total, "file is", "files are")} no log or cannot be read`;
    $("unread").querySelector("ul").replaceChildren(...said.unread.map((why) => make("li", why)));
    document.documentElement.dataset.ready = mine;
  };
  const trouble = (text) => {
    $("trouble").hidden = !text;
    $("trouble").textContent = text ?? "";
  };

  for (const [name, given] of new URLSearchParams(location.search)) {
    if (!fields.includes(name)) continue;
    if ($(name).type === "checkbox") $(name).checked = given === "true";
    else {
      if ($(name).localName === "select" && ![...$(name).options].some((option) => option.value === given)) $(name).add(new Option(given, given));
      $(name).value = given;
    }
  }
  let pause;
  for (const name of fields) {
    $(name).oninput = () => {
      clearTimeout(pause);
      pages = 1;
      pause = setTimeout(look, $(name).type === "search" ? 150 : 0);
    };
  }
  $("more").onclick = () => { pages++; look(); };

  // Keys, where nothing is typed.
  addEventListener("keydown", (event) => {
    const at = document.activeElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !at.matches("input[type=search], select")) {
      event.preventDefault();
      $("text").focus();
      return;
    }
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || at.matches("select")) return;
    const links = [...$("sessions").querySelectorAll("a")];
    const now = links.indexOf(at.closest("#sessions li")?.querySelector("a"));
    const next = now < 0 ? (at.matches("#text, #filter") && by > 0 ? links[0] : null) : links[now + by];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });

  // News. A page that nobody sees wants none, and leaves its connection to others.
  let news;
  let soon;
  const listen = () => {
    if (document.hidden) { news?.close(); news = undefined; return; }
    if (news) return;
    news = new EventSource("events");
    news.addEventListener("changed", () => { soon ??= setTimeout(() => { soon = undefined; look(); }, 250); });
    news.onopen = () => look();
  };
  document.addEventListener("visibilitychange", listen);
  choose();
  look();
  listen();
})();
