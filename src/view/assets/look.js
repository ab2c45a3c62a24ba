"use strict";
// Dark and light, as the pages of sessions keep it.
(() => {
  const root = document.documentElement;
  root.classList.add("lively");
  const name = "agentglot-theme";
  const kept = () => { try { return localStorage.getItem(name); } catch { return null; } };
  if (["dark", "light"].includes(kept())) root.dataset.theme = kept();
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches;
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("dark");
    const lit = () => button.setAttribute("aria-pressed", isDark());
    lit();
    prefersDark.addEventListener("change", lit);
    button.onclick = () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try { localStorage.setItem(name, root.dataset.theme); } catch { /* it is not kept */ }
      lit();
    };
  });
})();
