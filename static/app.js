/*
 * What scripts add to the console. Every page works without this file: it listens
 * on the document, so that parts swapped in later need no set-up, and it never
 * builds markup from text.
 */
(() => {
  "use strict";

  const root = document.documentElement;
  const body = document.body;
  const words = document.getElementById("words")?.dataset ?? {};
  const find = (selector, within = document) => within.querySelector(selector);
  const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];

  root.classList.add("scripted");

  /** A sentence of _words.html with its {0}, {1} filled in. */
  function say(key, ...values) {
    return (words[key] ?? "").replace(/\{(\d)\}/g, (_, index) => values[index] ?? "");
  }

  const format = (number) => Number(number).toLocaleString("en-US");

  /* ---- storage that may be forbidden ---------------------------------- */

  function recall(key) {
    try { return localStorage.getItem(key); } catch { return null; }
  }

  function keep(key, value) {
    try { localStorage.setItem(key, value); } catch { /* private window: not kept */ }
  }

  /* ---- theme ----------------------------------------------------------- */

  function toggleTheme() {
    const systemIsDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme ?? (systemIsDark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    const safe = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax${safe}`;
  }

  /* ---- toasts and announcements ----------------------------------------- */

  function toast(text) {
    const box = document.createElement("div");
    box.className = "toast";
    const line = document.createElement("span");
    line.textContent = text;
    box.append(line);
    find("#toasts")?.append(box);
  }

  /** A toast leaves by itself, but one with something to press stays. */
  function tendToast(box) {
    if (box.dataset.tended) return;
    box.dataset.tended = "yes";
    const dismiss = document.createElement("button");
    dismiss.type = "button";
    dismiss.className = "button icon quiet";
    dismiss.setAttribute("aria-label", words.dismiss ?? "");
    dismiss.textContent = "×";
    dismiss.addEventListener("click", () => box.remove());
    const hasAct = find("form, a", box);
    box.append(dismiss);
    if (!hasAct) setTimeout(() => box.remove(), 8000);
  }

  const toasts = find("#toasts");
  if (toasts) {
    new MutationObserver(() => findAll(".toast", toasts).forEach(tendToast)).observe(toasts, { childList: true });
  }

  function announce(text) {
    const line = find("#announcer");
    if (line) line.textContent = text;
  }

  /* ---- dialogs ----------------------------------------------------------- */

  const opensByItself = "commandForElement" in HTMLButtonElement.prototype;

  function openDialog(id) {
    const dialog = document.getElementById(id);
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
  }

  /* ---- time --------------------------------------------------------------- */

  // The server's clock counts: a wrong clock of the reader must not bend a cooldown.
  const skew = body.dataset.now ? Number(body.dataset.now) * 1000 - Date.now() : 0;
  const now = () => Date.now() + skew;
  const announced = new WeakMap();
  const MARKS = [60, 30, 10, 0];

  function spell(seconds) {
    const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
    if (hours) return say("hoursMinutes", hours, minutes);
    return minutes ? say("minutesSeconds", minutes, rest) : say("justSeconds", rest);
  }

  function countDown(element) {
    const left = Math.max(0, Math.ceil(Number(element.dataset.countdown) - now() / 1000));
    const before = announced.get(element) ?? Infinity;
    announced.set(element, left);
    if (before === left) return;
    element.textContent = left ? say("left", spell(left)) : words.over;
    const passed = before !== Infinity && MARKS.find((mark) => left <= mark && before > mark);
    if (passed === 0) {
      announce(words.ended);
      element.dispatchEvent(new CustomEvent("countdown:over", { bubbles: true }));
    } else if (passed) {
      announce(say("seconds", left));
    }
  }

  function tellAge(element) {
    const seconds = Math.floor((now() - Date.parse(element.dateTime)) / 1000);
    if (!(seconds >= 2 && seconds < 86400)) return;
    const [key, size] = seconds < 60 ? ["agoSeconds", 1] : seconds < 3600 ? ["agoMinutes", 60] : ["agoHours", 3600];
    const text = say(key, Math.floor(seconds / size));
    if (text && element.textContent !== text) element.textContent = text;
  }

  function tick() {
    findAll("time[data-countdown]").forEach(countDown);
    if (!isPaused()) findAll("time[data-ago]").forEach(tellAge);
  }

  /* ---- live parts ----------------------------------------------------------- */

  const isPaused = () => root.dataset.live === "paused";
  const isLivePart = (element) => Boolean(element?.closest?.("[data-live-part]"));

  function showLive() {
    findAll("[data-live-toggle]").forEach((button) => {
      button.setAttribute("aria-pressed", String(isPaused()));
      button.textContent = isPaused() ? words.resume : words.pause;
    });
    findAll("[data-live-state]").forEach((state) => state.classList.toggle("paused", isPaused()));
    findAll("[data-live-word]").forEach((word) => { word.textContent = isPaused() ? words.paused : words.live; });
  }

  function toggleLive() {
    root.dataset.live = isPaused() ? "on" : "paused";
    showLive();
    announce(isPaused() ? words.paused : words.live);
    if (!isPaused()) {
      findAll("[data-live-part]").forEach((part) => part.dispatchEvent(new CustomEvent("live:resume")));
    }
  }

  function holdWhilePaused(event) {
    const source = event.detail?.ctx?.sourceElement ?? event.target;
    const isAsked = ["click", "submit", "change", "input", "live:resume"].includes(event.detail?.ctx?.sourceEvent?.type);
    if (isPaused() && isLivePart(source) && !isAsked) event.preventDefault();
  }

  document.addEventListener("htmx:before:request", holdWhilePaused);
  document.addEventListener("htmx:sse:before:message", holdWhilePaused);

  /* ---- when the console does not answer ---------------------------------------- */

  /** What was just put on the page may ask for the focus, once. */
  function takeFocus() {
    const wanted = find("[data-focus]");
    wanted?.focus();
    wanted?.removeAttribute("data-focus");
  }

  let toldLost = 0;

  function tellLost(event) {
    const source = event.detail?.ctx?.sourceElement ?? event.target;
    if (isLivePart(source)) {
      findAll("[data-live-state]").forEach((state) => state.classList.add("stale"));
    }
    if (Date.now() - toldLost < 15000) return;
    toldLost = Date.now();
    toast(words.lost);
  }

  document.addEventListener("htmx:error", tellLost);
  document.addEventListener("htmx:sse:error", tellLost);
  document.addEventListener("htmx:after:swap", () => {
    findAll("[data-live-state].stale").forEach((state) => state.classList.remove("stale"));
    takeFocus();
    keepCurrent();
    showLive();
    tick();
    watchRows();
  });

  /* ---- lists: j, k, Enter, x ----------------------------------------------------- */

  const rows = () => findAll("[data-row]").filter((row) => row.offsetParent !== null);
  const currentRow = () => find("[data-row].is-current");
  let current = null;

  /** A list that renews itself knows nothing of the row one is at. */
  function keepCurrent() {
    if (!current?.isConnected || currentRow()) return;
    current.classList.add("is-current");
    current.tabIndex = -1;
  }

  function setCurrent(row) {
    current = row;
    findAll("[data-row].is-current").forEach((other) => other.classList.remove("is-current"));
    row.classList.add("is-current");
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
    pointAt(row.dataset.position);
  }

  function step(by) {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(currentRow());
    setCurrent(all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + by))]);
  }

  function openCurrent() {
    const row = currentRow();
    if (row !== document.activeElement) return false;
    const way = row && (find("[data-row-link]", row) ?? find("details > summary", row) ?? find("a[href]", row));
    way?.click();
    return Boolean(way);
  }

  const selectCurrent = () => currentRow()?.querySelector("input[type=checkbox]")?.click();

  /* ---- keyboard ------------------------------------------------------------------- */

  const press = (selector) => () => find(selector)?.click();
  const KEYS = {
    "/": () => find("[data-search], input[type=search]")?.focus(),
    "?": () => openDialog("help"),
    j: () => step(1),
    k: () => step(-1),
    Enter: openCurrent,
    x: selectCurrent,
    c: press("[data-shortcut='c']"),
    ".": press("[data-live-toggle]"),
  };
  const AFTER_G = { o: "[data-go='o']", s: "[data-go='s']", r: "[data-go='r']", v: "[data-go='v']", p: "[data-go='p']", e: "[data-go='e']", i: "[data-go='i']", c: "[data-tab='1']" };
  for (let digit = 1; digit <= 9; digit += 1) KEYS[digit] = press(`[data-tab='${digit}']`);

  let sawG = 0;
  const areOn = () => recall("shortcuts") !== "off";
  const isTyping = (target) => target.closest("input, textarea, select, [contenteditable], dialog[open], [popover]:popover-open");

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!areOn() || isTyping(event.target)) return;
    if (Date.now() - sawG < 1200 && AFTER_G[event.key]) {
      sawG = 0;
      event.preventDefault();
      find(AFTER_G[event.key])?.click();
      return;
    }
    sawG = event.key === "g" ? Date.now() : 0;
    const act = KEYS[event.key];
    if (act && act() !== false && event.key !== "Enter") event.preventDefault();
  }

  document.addEventListener("keydown", onKey);
  document.addEventListener("keydown", (event) => {
    const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches?.("[data-sends]");
    if (!isSend) return;
    event.preventDefault();
    find("button[type=submit]:enabled", event.target.form)?.click();
  });
  const switchBox = find("#shortcuts-on");
  if (switchBox) {
    switchBox.checked = areOn();
    switchBox.addEventListener("change", () => keep("shortcuts", switchBox.checked ? "on" : "off"));
  }

  /* ---- ruler and list ---------------------------------------------------------------- */

  const ranges = new WeakMap();

  /** Bars of a ruler from left to right: [{left, first, last, tokens, bar}]. */
  function barsOf(ruler) {
    if (!ranges.has(ruler)) {
      const bars = findAll("rect[data-at]", ruler).map((bar) => {
        const [first, last] = bar.dataset.at.split("-").map(Number);
        const left = Number(bar.getAttribute("x"));
        return { left, width: Number(bar.getAttribute("width")), first, last: last ?? first, tokens: bar.dataset.tokens, bar };
      });
      ranges.set(ruler, bars.sort((a, b) => a.left - b.left || a.first - b.first));
    }
    return ranges.get(ruler);
  }

  function barUnder(ruler, event) {
    const box = ruler.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 1000;
    return barsOf(ruler).findLast((bar) => bar.left <= x);
  }

  function highlight(ruler, found) {
    findAll("rect.is-current", ruler).forEach((bar) => bar.classList.remove("is-current"));
    found?.bar.classList.add("is-current");
    const readout = find("[data-readout]", ruler.closest("[data-ruler-panel]") ?? document);
    if (!readout || !found) return;
    const place = found.first === found.last ? say("place", found.first) : say("places", found.first, found.last);
    readout.textContent = `${place} · ${say("tokens", format(found.tokens))}`;
  }

  /** Show on the ruler where a message of the list stands. */
  function pointAt(position) {
    const ruler = find("[data-ruler]");
    if (!ruler || position === undefined) return;
    highlight(ruler, barsOf(ruler).find((bar) => bar.first <= Number(position) && Number(position) <= bar.last));
  }

  function goTo(ruler, found) {
    const row = document.getElementById(`m-${found.first}`);
    const url = ruler.closest("[data-ruler-panel]")?.dataset.atUrl;
    if (row) {
      row.scrollIntoView({ block: "center" });
      setCurrent(row);
    } else if (url) {
      const target = new URL(url, location.href);
      target.searchParams.set("at", found.first);
      target.hash = `m-${found.first}`;
      location.assign(target);
    }
  }

  document.addEventListener("pointermove", (event) => {
    const ruler = event.target.closest?.("[data-ruler]");
    if (ruler) highlight(ruler, barUnder(ruler, event));
  });
  document.addEventListener("pointerover", (event) => {
    pointAt(event.target.closest?.(".message[data-position]")?.dataset.position);
  });

  /** The stretch of the ruler that is on the screen. */
  const seen = new Set();
  const watcher = "IntersectionObserver" in window && new IntersectionObserver((entries) => {
    entries.forEach(({ target, isIntersecting }) => {
      const position = Number(target.dataset.position);
      if (isIntersecting) seen.add(position); else seen.delete(position);
    });
    markSeen();
  });

  function markSeen() {
    const ruler = find("[data-ruler]");
    const line = ruler && find("[data-shown]", ruler);
    if (!line || !seen.size) return;
    const inside = barsOf(ruler).filter((bar) => bar.last >= Math.min(...seen) && bar.first <= Math.max(...seen));
    if (!inside.length) return;
    line.setAttribute("x1", `${inside[0].left / 10}%`);
    line.setAttribute("x2", `${(inside.at(-1).left + inside.at(-1).width) / 10}%`);
  }

  function watchRows() {
    if (watcher && find("[data-shown]")) findAll(".message[data-position]").forEach((row) => watcher.observe(row));
  }

  /* ---- copying ---------------------------------------------------------------------- */

  async function copy(id) {
    try {
      await navigator.clipboard.writeText(document.getElementById(id)?.textContent ?? "");
      toast(words.copied);
    } catch {
      toast(words.notCopied);
    }
  }

  /* ---- forms ------------------------------------------------------------------------ */

  const edited = new Set();
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-guard]");
    if (form) edited.add(form);
    const pair = event.target.dataset.pair && document.getElementById(event.target.dataset.pair);
    if (pair) pair.value = event.target.value;
  });
  document.addEventListener("submit", (event) => edited.delete(event.target));
  document.addEventListener("reset", (event) => edited.delete(event.target));
  window.addEventListener("beforeunload", (event) => {
    if ([...edited].some((form) => form.isConnected)) event.preventDefault();
  });

  function onDrag(event) {
    const zone = event.target.closest?.("[data-drop]");
    const input = zone && find("input[type=file]", zone);
    if (!input) return;
    event.preventDefault();
    zone.classList.toggle("is-over", event.type === "dragover");
    if (event.type === "drop" && event.dataTransfer.files.length) {
      input.files = event.dataTransfer.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    }
  }
  ["dragover", "dragleave", "drop"].forEach((type) => document.addEventListener(type, onDrag));

  /* ---- one click listener --------------------------------------------------------------- */

  document.addEventListener("click", (event) => {
    const target = event.target.closest?.("[data-theme-toggle], [data-open], [data-live-toggle], [data-copy], [data-ruler]");
    if (!target) return;
    if (target.matches("[data-theme-toggle]")) toggleTheme();
    else if (target.matches("[data-live-toggle]")) toggleLive();
    else if (target.matches("[data-copy]")) copy(target.dataset.copy);
    else if (target.matches("[data-ruler]")) {
      const found = barUnder(target, event);
      if (found) goTo(target, found);
    } else if (!(opensByItself && target.hasAttribute("command"))) openDialog(target.dataset.open);
  });

  findAll(".tabs [aria-current], .nav [aria-current]").forEach((link) => link.scrollIntoView({ block: "nearest", inline: "center" }));
  takeFocus();
  showLive();
  watchRows();
  tick();
  setInterval(tick, 1000);
})();
