"use strict";
// The log still grows: what is new is put behind what is there, and what was unfolded stays unfolded.
(() => {
  const start = () => {
    const main = document.getElementById("main");
    const name = location.pathname.split("/").pop();
    let seen = document.querySelector('meta[name="agentglot-seen"]').content;
    const tell = (text) => { document.getElementById("news").textContent = text; };

    // The last turn as it was written, thing by thing: of what is the same nothing is touched.
    let last;
    let things = [];
    const note = () => {
      last = [...main.querySelectorAll(".turn")].pop();
      things = last ? [...last.children].map((thing) => thing.outerHTML) : [];
    };
    note();

    const put = (page) => {
      const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
      // What stands behind the last turn, or in place of any, comes again.
      for (const row of main.querySelectorAll(":scope > .row")) {
        if (!last || last.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING) row.remove();
      }
      let sessions = main.querySelectorAll(":scope > .session").length;
      let old = last;
      for (const part of [...page.body.children]) {
        if (part.matches(".session")) {
          if (sessions-- <= 0) main.append(part);
        } else if (part.matches(".turn") && old && part.id === old.id) {
          const now = [...part.children];
          let same = 0;
          while (same < things.length && now[same]?.outerHTML === things[same]) same++;
          for (const thing of [...old.children].slice(same)) thing.remove();
          things = now.map((thing) => thing.outerHTML);
          old.append(...now.slice(same));
          old = undefined;
        } else if (part.matches(".turn, .row")) {
          main.append(part);
        }
      }
      const turns = [...main.querySelectorAll(".turn")];
      if (turns[turns.length - 1] !== last) note();
      dispatchEvent(new Event("agentglot-turns"));
      if (atEnd) scrollTo(0, document.documentElement.scrollHeight);
    };

    let [busy, next] = [false, ""];
    const update = async (stamp) => {
      next = stamp;
      if (busy) return;
      busy = true;
      while (next) {
        const stamp = next;
        next = "";
        const turns = main.querySelectorAll(".turn").length;
        try {
          const answer = await fetch(`${name}/turns?from=${Math.max(turns - 1, 0)}`);
          if (!answer.ok) throw new Error(answer.statusText);
          put(new DOMParser().parseFromString(await answer.text(), "text/html"));
          seen = stamp;
          tell(`Went on at ${new Date().toLocaleTimeString()}`);
        } catch {
          tell("What is new could not be read.");
        }
      }
      busy = false;
    };

    // A page that nobody sees wants no news, and leaves its connection to others.
    let news;
    const listen = () => {
      if (document.hidden) { news?.close(); news = undefined; return; }
      if (news) return;
      news = new EventSource(`${name}/events?seen=${encodeURIComponent(seen)}`);
      news.addEventListener("grown", (event) => update(event.data));
      news.addEventListener("again", () => tell("The file was begun anew: reload the page to see it."));
      news.addEventListener("gone", () => tell("The file is gone; what was read of it is shown."));
    };
    document.addEventListener("visibilitychange", listen);
    listen();
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start); else start();
})();
