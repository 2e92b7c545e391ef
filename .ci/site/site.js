// The three things a page does by itself: its colours, its menu, its search. No network, so it works from disk too.
"use strict";
const root = document.documentElement;
const up = document.currentScript.dataset.up;
const remembered = {
  get() { try { return localStorage.getItem("theme"); } catch { return null; } },
  set(value) { try { localStorage.setItem("theme", value); } catch { /* private window: forget */ } },
};
const preferred = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
root.dataset.theme = remembered.get() || preferred;

document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  remembered.set(root.dataset.theme);
});

const menu = document.getElementById("menu");
menu.addEventListener("click", () => {
  const open = document.getElementById("pages").classList.toggle("open");
  menu.setAttribute("aria-expanded", open);
});

const box = document.getElementById("search"), found = document.getElementById("found");

// The index is a script because a page opened from disk may not fetch; it is loaded at the first search.
let loading;
const index = () => loading ??= new Promise(done => {
  const script = document.createElement("script");
  script.src = up + "search.js";
  script.onload = () => done(window.searchIndex);
  document.head.append(script);
});

// Every word must occur; a word in a heading weighs more than one in the text.
function score([, page, head, text], words) {
  let total = 0;
  for (const word of words) {
    const inHead = (head || page).toLowerCase().includes(word), inText = text.toLowerCase().split(word).length - 1;
    if (!inHead && !inText) return 0;
    total += 20 * inHead + Math.min(inText, 5);
  }
  return total;
}

function excerpt(text, words) {
  const lower = text.toLowerCase(), hits = words.map(w => lower.indexOf(w)).filter(i => i >= 0);
  const start = Math.max(0, Math.min(...hits, text.length) - 40), part = text.slice(start, start + 140);
  const small = document.createElement("small");
  const pattern = new RegExp(`(${words.map(w => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  part.split(pattern).forEach((piece, i) => {
    if (i % 2) { const mark = document.createElement("mark"); mark.textContent = piece; small.append(mark); }
    else small.append(piece);
  });
  return small;
}

async function search() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = !words.length;
  if (!words.length) return;
  const hits = (await index()).map(entry => [score(entry, words), entry]).filter(([s]) => s)
    .sort((a, b) => b[0] - a[0]).slice(0, 12);
  found.replaceChildren(...hits.map(([, [address, page, head, text]]) => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = up + address;
    link.append(head && head !== page ? `${page} › ${head}` : page, excerpt(text, words));
    item.append(link);
    return item;
  }));
  if (!hits.length) {
    const none = document.createElement("li");
    none.className = "none";
    none.textContent = "Nothing found.";
    found.append(none);
  }
}

box.addEventListener("input", search);
found.addEventListener("click", () => { found.hidden = true; });
document.addEventListener("click", event => { if (!event.target.closest(".search")) found.hidden = true; });
document.addEventListener("keydown", event => {
  if (event.key === "/" && !event.target.closest("input, textarea")) { event.preventDefault(); box.focus(); }
  if (event.key === "Escape") { found.hidden = true; box.blur(); }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], links = [...found.querySelectorAll("a")];
  if (!step || found.hidden || !links.length) return;
  event.preventDefault();
  const next = links.indexOf(document.activeElement) + step;
  (links[next] || box).focus();
});
