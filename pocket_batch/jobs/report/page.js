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
    const words = make("div");
    words.append(make("bdi", "words", entry.text), " ", make("code", "id", entry.id));
    const change = make("button", "change", "Change");
    change.type = "button";
    change.setAttribute("aria-label", "Change Segment " + entry.id);
    change.setAttribute("aria-expanded", "false");
    const form = redoForm(entry);
    change.addEventListener("click", () => {
      form.hidden = !form.hidden;
      change.setAttribute("aria-expanded", String(!form.hidden));
      if (!form.hidden) form.querySelector("textarea").focus();
    });
    item.dataset.segment = entry.id;
    item.append(words, change, form);
    if (entry.key) ready(item);
    return item;
  };
  const fill = async (chapter) => {
    const answer = await fetch(base + "lines/" + chapter.dataset.chapter + ".json");
    if (answer.ok) chapter.querySelector(".lines").replaceChildren(...(await answer.json()).map(line));
  };
  for (const chapter of all("details.chapter")) {
    chapter.addEventListener("toggle", () => {
      if (chapter.open && !chapter.querySelector(".lines").children.length) fill(chapter);
    });
  }

  // speak again
  const token = base.split("/").filter(Boolean).pop();
  const post = (path, body) => fetch(base + path, {
    method: "POST", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "X-Token": token },
  });
  const buttons = () => all("form.redo button");
  // `done` is called with what the server says of a line that was spoken
  const speak = async (form, body, done) => {
    const told = form.querySelector(".told");
    const tell = (words, bad) => { told.textContent = words; told.classList.toggle("bad", Boolean(bad)); };
    buttons().forEach((other) => { other.disabled = true; });
    tell("Speaking, and making the audiobook again …");
    try {
      let state = await (await post("redo", body)).json();
      const mine = state.segment === body.segment;
      while (mine && state.is_busy) {
        await new Promise((wait) => setTimeout(wait, 700));
        state = await (await fetch(base + "state")).json();
      }
      if (!mine) tell("Another line is being spoken: try again in a moment.", true);
      else if (state.ok) { await done(state.text, tell); return; }
      else tell(state.text, true);
    } catch { tell("The server does not answer: is `pocket-batch listen` still there?", true); }
    finally { buttons().forEach((other) => { other.disabled = false; }); }
    form.querySelector("button").focus();
  };
  const changed = (form, segment, before) => {
    const text = form.querySelector("textarea").value;
    return text.trim() === before.trim() ? { segment } : { segment, text };
  };
  for (const form of all(".card form.redo")) {
    const segment = form.closest(".card").dataset.segment, before = form.querySelector("textarea").value;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      speak(form, changed(form, segment, before), (text, tell) => {
        tell(text + " The page shows it in a moment.");
        setTimeout(() => location.reload(), 1500);
      });
    });
  }
  // of any line; a function, since lines come later
  function redoForm(entry) {
    const form = make("form", "redo"), label = make("label", "", "Text to speak "), area = make("textarea");
    form.hidden = true;
    area.rows = 3;
    area.value = entry.text;
    label.append(area);
    const told = make("p", "told");
    told.setAttribute("role", "status");
    const again = make("button", "", "Speak again");
    again.type = "submit";
    form.append(label, again);
    const done = async (text) => {
      const list = form.closest(".lines");
      await fill(form.closest("details.chapter"));
      const item = list.querySelector('[data-segment="' + entry.id + '"]');
      item.querySelector(".change").click();
      item.querySelector(".told").textContent = text + " The suspects above are as they were: reload the page to see them anew.";
      item.querySelector(".play, .change").focus();
    };
    if (entry.is_changed) {
      const undo = make("button", "undo", "As the book has it");
      undo.type = "button";
      undo.addEventListener("click", () => speak(form, { segment: entry.id, undo: true }, done));
      form.append(undo);
    }
    form.append(told);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      speak(form, changed(form, entry.id, entry.text), done);
    });
    return form;
  }
})();
