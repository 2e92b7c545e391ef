// What a page does by itself: its colours, its menu, its search, links to its sections, and code that can be copied.
// No network, so it works from disk too.
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

const here = document.querySelector("#pages [aria-current]"), pages = document.getElementById("pages");
if (here) pages.scrollTop = here.offsetTop - pages.offsetTop - pages.clientHeight / 3;

for (const heading of document.querySelectorAll("main :is(h2, h3, h4)[id]")) {
  const link = document.createElement("a");
  link.className = "anchor";
  link.href = "#" + heading.id;
  link.textContent = "#";
  link.setAttribute("aria-label", "Link to this section");
  heading.append(link);
}

for (const block of document.querySelectorAll("div.sourceCode")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const code = block.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(code);
      button.textContent = "Copied";
    } catch {   // not allowed: select it, so that a key can copy it
      getSelection().selectAllChildren(block.querySelector("code"));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.append(button);
}

const box = document.getElementById("search"), found = document.getElementById("found");

// The index is a script because a page opened from disk may not fetch; it is loaded at the first search.
let loading;
const index = () => loading ??= new Promise(done => {
  const script = document.createElement("script");
  script.src = up + "search.js";
  script.onload = () => done(window.searchIndex);
  document.head.append(script);
});

// Every word must occur; one in a heading weighs more than one in prose, prose more than code, and each section of the
// site has a weight of its own.
function score([, page, head, prose, code, weight], words) {
  let total = 0;
  for (const word of words) {
    const times = text => Math.min(text.toLowerCase().split(word).length - 1, 5);
    const inHead = (head || page).toLowerCase().includes(word);
    if (!inHead && !times(prose) && !times(code)) return 0;
    total += 20 * inHead + 2 * times(prose) + times(code);
  }
  return total * weight;
}

function excerpt(text, words) {
  const lower = text.toLowerCase(), hits = words.map(w => lower.indexOf(w)).filter(i => i >= 0);
  const first = hits.length ? Math.min(...hits) : 0, start = Math.max(0, first - 40), part = text.slice(start, start + 140);
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
  found.replaceChildren(...hits.map(([, [address, page, head, prose]]) => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = up + address;
    link.append(head && head !== page ? `${page} › ${head}` : page, excerpt(prose, words));
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
