// search.js - all words must be there; a name that is the word counts most, then headings and titles, then text.

const field = document.getElementById("search");
const results = document.getElementById("results");
const MOST = 30;

// "tamis_add" is the name, and not tamis_add_id; "try_add" is the last part of tamis::set::try_add.
function nameScore(heading, word) {
  const name = heading.toLowerCase();
  if (name === word.replace(/\(\)$/, "")) return 40;
  return name.endsWith(`::${word}`) ? 20 : 0;
}

function score([, title, heading, text], words) {
  let sum = 0;
  for (const word of words) {
    const [inTitle, inHeading] = [title, heading].map((part) => part.toLowerCase().includes(word.replace(/\(\)$/, "")));
    const at = text.toLowerCase().split(word).length - 1;
    if (!inTitle && !inHeading && at === 0) return 0;
    sum += nameScore(heading, word) + (inHeading ? 10 : 0) + (inTitle ? 4 : 0) + Math.min(at, 5);
  }
  return sum;
}

function excerpt(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
  return (at > 0 ? "…" : "") + text.slice(at, at + 180) + (text.length > at + 180 ? "…" : "");
}

function showResult([target, title, heading, text], words) {
  const item = document.createElement("li");
  const link = Object.assign(document.createElement("a"), { href: target, textContent: heading && heading !== title ? `${title}: ${heading}` : title });
  item.append(link, Object.assign(document.createElement("p"), { textContent: excerpt(text, words[0]) }));
  return item;
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  results.hidden = words.length === 0;
  if (results.hidden) return;
  const found = searchIndex.map((entry) => [score(entry, words), entry]).filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]);
  const list = document.createElement("ol");
  list.append(...found.slice(0, MOST).map(([, entry]) => showResult(entry, words)));
  const about = Object.assign(document.createElement("p"), { textContent: `${found.length} ${found.length === 1 ? "place" : "places"} found` });
  results.replaceChildren(about, list);
}

field.addEventListener("input", search);
results.addEventListener("click", (event) => { if (event.target.tagName === "A") results.hidden = true; });
addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) event.preventDefault(), field.focus();
  if (event.key === "Escape") field.value = "", search();
});
if (innerWidth < 800) document.querySelector("nav details").open = false;
