"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const live = root.dataset.mode === "live";
  const all = (selector, within) => [...(within || document).querySelectorAll(selector)];
  const by = (id) => document.getElementById(id);
  const base = live ? location.pathname.replace(/[^/]*$/, "") : "";

  // colours: auto, light, dark
  const themes = ["auto", "light", "dark"];
  const names = { auto: "Auto", light: "Light", dark: "Dark" };
  const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  let theme = themes.includes(stored()) ? stored() : "auto";
  const show = () => {
    if (theme === "auto") root.removeAttribute("data-theme"); else root.dataset.theme = theme;
    by("theme").textContent = names[theme];
    // the name begins with what is seen, for those who speak to their browser
    by("theme").setAttribute("aria-label", names[theme] + (theme === "auto" ? ": colours as the system has them" : " colours"));
  };
  by("theme").addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try { localStorage.setItem("theme", theme); } catch { /* a file may have no storage */ }
    show();
  });
  show();

  // players: one sounds at a time
  let playing = null;
  const stop = (player) => {
    player.querySelector("audio").pause();
    const button = player.querySelector(".play");
    button.classList.remove("on");
    button.setAttribute("aria-label", button.getAttribute("aria-label").replace(/^Pause/, "Play"));
    if (playing === player) playing = null;
  };
  const start = (player) => {
    if (playing && playing !== player) stop(playing);
    const audio = player.querySelector("audio");
    const button = player.querySelector(".play");
    playing = player;
    button.classList.add("on");
    button.setAttribute("aria-label", button.getAttribute("aria-label").replace(/^Play/, "Pause"));
    audio.play().catch(() => stop(player));
  };
  const ready = (player) => {
    const audio = player.querySelector("audio");
    const seek = player.querySelector(".seek");
    player.querySelector(".play").addEventListener("click", () => audio.paused ? start(player) : stop(player));
    audio.addEventListener("ended", () => { stop(player); if (seek) seek.value = 0; });
    if (!seek) return;
    audio.addEventListener("timeupdate", () => {
      if (!audio.duration) return;
      seek.value = 1000 * audio.currentTime / audio.duration;
      seek.setAttribute("aria-valuetext", audio.currentTime.toFixed(1) + " of " + audio.duration.toFixed(1) + " seconds");
    });
    seek.addEventListener("input", () => {
      const go = () => { audio.currentTime = audio.duration * seek.value / 1000; };
      if (audio.duration) go(); else { audio.addEventListener("loadedmetadata", go, { once: true }); audio.load(); }
    });
  };
  all(".player:not(.mute)").forEach(ready);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && playing) stop(playing);
  });

  // filters and order of the suspects
  const filters = by("filters");
  const cards = all(".card");
  const apply = () => {
    const words = by("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const kind = by("kind").value, chapter = by("chapter").value;
    let shown = 0;
    for (const card of cards) {
      const text = card.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word))
        && (!kind || card.dataset.kinds.split(" ").includes(kind))
        && (!chapter || card.dataset.chapters.split(" ").includes(chapter));
      card.hidden = !fits;
      shown += fits;
      if (!fits && playing && card.contains(playing)) stop(playing);
    }
    by("count").textContent = shown + " shown";
    by("none").hidden = shown > 0;
  };
  const sort = () => {
    const name = by("order").value, sign = name === "place" ? 1 : -1;
    const value = (card) => Number(card.dataset[name]);
    const ordered = [...cards].sort((a, b) => sign * (value(a) - value(b)) || a.dataset.place - b.dataset.place);
    by("cards").append(...ordered);
  };
  if (filters) {
    filters.addEventListener("input", apply);
    filters.addEventListener("submit", (event) => event.preventDefault());
    by("order").addEventListener("change", sort);
  }

  // tables
  for (const button of all(".sort")) {
    button.addEventListener("click", () => {
      const head = button.closest("th"), table = head.closest("table");
      const column = [...head.parentNode.children].indexOf(head);
      const up = head.getAttribute("aria-sort") !== "ascending";
      all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => {
        const cell = row.children[column];
        return "sort" in cell.dataset ? Number(cell.dataset.sort) : cell.textContent;
      };
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const x = key(a), y = key(b);
        const order = typeof x === "number" ? x - y : x.localeCompare(y);
        return up ? order : -order;
      });
      table.tBodies[0].append(...rows);
    });
  }

  // commands
  for (const button of all(".copy")) {
    button.addEventListener("click", async () => {
      const code = button.previousElementSibling;
      try { await navigator.clipboard.writeText(code.textContent); button.textContent = "Copied"; }
      catch { getSelection().selectAllChildren(code); button.textContent = "Selected"; }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
  if (!live) return;

  // all lines of a chapter, when it is opened
  const make = (tag, name, text) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const line = (entry) => {
    const item = make("li", "player");
    if (entry.key) {
      const button = make("button", "play");
      button.type = "button";
      button.setAttribute("aria-label", "Play Segment " + entry.id);
      button.append(make("span"));
      const audio = make("audio");
      audio.preload = "none";
      audio.src = "audio/" + entry.key + ".flac";
      item.append(button, audio);
    } else item.append(make("span"));
    item.append(make("bdi", "words", entry.text), make("code", "id", entry.id));
    if (entry.key) ready(item);
    return item;
  };
  for (const chapter of all("details.chapter")) {
    chapter.addEventListener("toggle", async () => {
      const list = chapter.querySelector(".lines");
      if (!chapter.open || list.children.length) return;
      const answer = await fetch(base + "lines/" + chapter.dataset.chapter + ".json");
      if (answer.ok) list.append(...(await answer.json()).map(line));
    });
  }

  // speak again
  const token = base.split("/").filter(Boolean).pop();
  const post = (path, body) => fetch(base + path, {
    method: "POST", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "X-Token": token },
  });
  for (const form of all("form.redo")) {
    const text = form.querySelector("textarea"), button = form.querySelector("button");
    const told = form.querySelector(".told"), before = text.value;
    const tell = (words, bad) => { told.textContent = words; told.classList.toggle("bad", Boolean(bad)); };
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const body = { segment: form.closest(".card").dataset.segment };
      if (text.value.trim() !== before.trim()) body.text = text.value;
      all("form.redo button").forEach((other) => { other.disabled = true; });
      tell("Speaking, and making the audiobook again …");
      try {
        let state = await (await post("redo", body)).json();
        const mine = state.segment === body.segment;
        while (mine && state.is_busy) {
          await new Promise((done) => setTimeout(done, 700));
          state = await (await fetch(base + "state")).json();
        }
        if (!mine) tell("Another line is being spoken: try again in a moment.", true);
        else if (state.ok) { tell(state.text + " The page shows it in a moment."); setTimeout(() => location.reload(), 1500); return; }
        else tell(state.text, true);
      } catch { tell("The server does not answer: is `pocket-batch listen` still there?", true); }
      all("form.redo button").forEach((other) => { other.disabled = false; });
      button.focus();
    });
  }
})();
