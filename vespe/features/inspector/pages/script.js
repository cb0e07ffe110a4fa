// What makes the pages quicker to use. Every page reads and every form works without it.
"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const kept = (() => { try { return localStorage.getItem("vespe-theme"); } catch { return null; } })();
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;

  const typing = (target) => target.matches("input, textarea, select");
  const each = (where, what, act) => where.querySelectorAll(what).forEach(act);

  function switchTheme() {
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    try { localStorage.setItem("vespe-theme", root.dataset.theme); } catch { /* the choice holds for this page */ }
  }

  function offerCopies(where) {
    each(where, "[data-copy]", (button) => {
      button.hidden = false;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(button.dataset.copy);
        const said = button.firstChild.textContent;
        button.firstChild.textContent = "Copied";
        setTimeout(() => { button.firstChild.textContent = said; }, 1500);
      });
    });
  }

  // A search shows what it finds while it is typed: the page is fetched, and its results take the place of these.
  function live(form) {
    let asked = 0, timer;
    const look = async () => {
      const mine = ++asked;
      const address = new URL(form.action);
      address.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
      const answer = await fetch(address);
      if (mine !== asked || !answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.querySelector(form.dataset.live);
      if (!found) return;
      document.querySelector(form.dataset.live).replaceWith(document.adoptNode(found));
      offerCopies(found);
      history.replaceState(null, "", address);
    };
    form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, 120); });
  }

  // A call that runs can be stopped: hanging up ends it with all its processes.
  function running(form) {
    let line = null;
    form.addEventListener("submit", (event) => {
      if (line) { event.preventDefault(); return; }
      const began = performance.now();
      const stop = document.createElement("button");
      const text = document.createElement("span");
      line = document.createElement("p");
      line.className = "running";
      line.setAttribute("role", "status");
      stop.type = "button";
      stop.textContent = "Stop";
      line.append(text, " ", stop);
      form.append(line);
      const tick = () => { text.textContent = `running, ${Math.round((performance.now() - began) / 1000)} s`; };
      const timer = setInterval(tick, 1000);
      tick();
      stop.addEventListener("click", () => {
        window.stop();
        clearInterval(timer);
        stop.remove();
        text.textContent = "stopped";
        line = null;
      });
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
  }

  // While the page is followed, what is new takes the place of what is there.
  function follow(box) {
    let timer;
    const look = async () => {
      const answer = await fetch(location.href);
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.querySelector(box.dataset.follow);
      if (found) document.querySelector(box.dataset.follow).replaceWith(document.adoptNode(found));
    };
    box.closest("label").hidden = false;
    box.addEventListener("change", () => {
      clearInterval(timer);
      if (box.checked) { look(); timer = setInterval(look, 1500); }
    });
  }

  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    const search = document.querySelector("[data-key='/']");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  });
  document.addEventListener("DOMContentLoaded", () => {
    each(document, "[data-theme-switch]", (button) => { button.hidden = false; button.addEventListener("click", switchTheme); });
    each(document, "[data-live]", live);
    each(document, "[data-running]", running);
    each(document, "[data-follow]", follow);
    offerCopies(document);
    const here = document.querySelector(".menu [aria-current]");
    if (here) here.parentElement.parentElement.parentElement.scrollLeft = here.offsetLeft - 60;
  });
})();
