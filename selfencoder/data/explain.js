"use strict";
// Without this script the page only lacks its filter.
const filter = document.getElementById("filter");
filter?.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/);
  let found = 0;
  for (const line of document.querySelectorAll("#index tbody tr")) {
    const article = document.getElementById(line.dataset.article);
    const text = `${line.textContent} ${article.textContent}`.toLowerCase();
    line.hidden = article.hidden = !words.every(word => text.includes(word));
    found += !line.hidden;
  }
  document.getElementById("found").textContent = filter.value.trim() ? `${found} found` : "";
});
