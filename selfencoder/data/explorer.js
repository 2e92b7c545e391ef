"use strict";
// The table and all that was computed about it are in the JSON above. Whatever comes from it is shown as text,
// never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const PAGE = 25;            // lines of a list at a time
const HUES = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442"];   // Okabe and Ito
const GREY = "#8a929a";
const RAMP = ["#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838"];              // cividis
const n = data.ids.length, k = data.near.k, columns = data.columns, target = data.target;
const isClasses = target?.kind === "classes";
const shares = Int8Array.from(atob(data.near.shares), letter => letter.charCodeAt(0));        // percent
for (const layout of Object.values(data.layouts)) {   // the room that it takes
  layout.wide = Math.max(2 * Math.max(...layout.x.map(x => Math.abs(x / 1e4 - 0.5))), 0.01);
  layout.high = Math.max(2 * Math.max(...layout.y.map(y => Math.abs(y / 1e4 - 0.5))), 0.01);
}
const $ = id => document.getElementById(id);

// ---- small tools --------------------------------------------------------------------------------------------------

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(child => child != null && child !== false));
  return element;
}

const percent = share => share > 0.995 && share < 1 ? "over 99\u00a0%" : share < 0.005 && share > 0 ? "under 1\u00a0%"
  : `${Math.round(100 * share)}\u00a0%`;
// a name that may be broken after _ and other signs between words
const breakable = name => String(name).split(/(?<=[_.\-/])/).flatMap((piece, i) => i ? [make("wbr"), piece] : [piece]);
const signed = (value, text) => (value < 0 ? "\u2212" : "+") + text(Math.abs(value));

function textOf(value) {
  if (value == null) return "\u2013";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(4)));
}

const valueOf = (column, i) => column.levels ? (column.codes[i] < 0 ? null : column.levels[column.codes[i]]) : column.values[i];
const nameOf = i => data.id ? data.ids[i] : `row ${data.ids[i]}`;
const given = i => !target ? null : isClasses ? target.classes[target.codes[i]] : target.values[i];
const predicted = i => isClasses ? target.classes[target.likely[i][0]] : target.predicted[i];

// ---- fields: what can be searched, sorted and coloured by ---------------------------------------------------------

function ranks(values) {
  // the share of the rows that have less
  const sorted = Float64Array.from(values).sort(), place = new Map();
  sorted.forEach((value, i) => place.has(value) || place.set(value, i / Math.max(sorted.length - 1, 1)));
  return values.map(value => place.get(value));
}

const unusual = ranks(data.novelty);
const ofId = { key: "id", name: data.id || "row", kind: "text", value: i => data.ids[i] };
const ofTarget = target && { key: "target", name: target.name, kind: isClasses ? "text" : "number", value: given,
  levels: isClasses ? target.classes : null, code: i => target.codes[i] };
const ofPrediction = target?.likely || target?.predicted ? { key: "predicted", name: "prediction",
  kind: isClasses ? "text" : "number", value: predicted, levels: isClasses ? target.classes : null,
  code: i => target.likely[i][0] } : null;
const ofDoubt = ofPrediction && { key: "doubt", name: isClasses ? "doubt" : "error rank", kind: "number", value: i => target.doubt[i],
  text: i => percent(target.doubt[i]) };
const ofNovelty = { key: "unusual", name: "how unusual", kind: "number", value: i => unusual[i], text: i => percent(unusual[i]) };
const ofColumns = columns.map((column, c) => ({ key: `column ${c}`, name: column.name, kind: column.kind,
  value: i => valueOf(column, i), levels: column.levels, code: column.levels && (i => column.codes[i]) }));
const computed = [ofTarget, ofPrediction, ofDoubt, ofNovelty].filter(Boolean);
const fields = [ofId, ...computed, ...ofColumns];
const shown = (field, i) => field.text ? field.text(i) : textOf(field.value(i));
const byName = new Map([...computed, ofId, ...ofColumns].map(field => [field.name.toLowerCase(), field]));   // the table's own win

// ---- search -------------------------------------------------------------------------------------------------------

const PART = /(?:"([^"]+)"|([^\s"=<>]+))(<=|>=|=|<|>)(?:"([^"]*)"|(\S+))|"([^"]+)"|(\S+)/g;
const COMPARE = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };
const haystack = Array.from({ length: n }, (_, i) => fields.map(field => shown(field, i)).join("\n").toLowerCase());

function condition([whole, quoted, bare, sign, quotedValue, bareValue, phrase]) {
  const field = sign && byName.get((quoted ?? bare).toLowerCase());
  const word = (phrase ?? whole).toLowerCase();
  if (!field) return i => haystack[i].includes(word);
  const value = (quotedValue ?? bareValue).toLowerCase();
  if (sign === "=") return i => shown(field, i).toLowerCase() === value || String(field.value(i)).toLowerCase() === value;
  const limit = value.endsWith("%") ? parseFloat(value) / 100 : isNaN(Number(value)) ? value : Number(value);
  return i => field.value(i) != null && COMPARE[sign](field.value(i), limit);
}

const search = query => {
  const conditions = [...query.matchAll(PART)].map(condition);
  return Array.from({ length: n }, (_, i) => i).filter(i => conditions.every(holds => holds(i)));
};

// ---- state --------------------------------------------------------------------------------------------------------

const state = { row: 0, rows: search(""), visible: new Uint8Array(n).fill(1), list: "rows", sort: null, page: 0,
  colour: null, layout: Object.keys(data.layouts)[0], zoom: 1, x: 0, y: 0, answer: null, cells: {} };

function find(query) {
  state.rows = search(query);
  state.visible.fill(0);
  for (const i of state.rows) state.visible[i] = 1;
  state.page = 0;
  $("found").textContent = query.trim() ? `${state.rows.length.toLocaleString("en")} of ${n.toLocaleString("en")} rows` : "";
  drawList();
  draw();
}

function select(i, { scroll = false, remember = true } = {}) {
  state.row = i;
  state.cells = {};
  state.answer = answerOf(i);
  if (remember) history.replaceState(null, "", `#id=${encodeURIComponent(data.ids[i])}`);
  describe();
  markList();
  draw();
  if (scroll && matchMedia("(max-width: 60rem)").matches) $("row-card").scrollIntoView();
}

function fromAddress() {
  const id = new URLSearchParams(location.hash.slice(1)).get("id"), i = data.ids.indexOf(id);
  select(i >= 0 ? i : 0, { remember: false, scroll: i >= 0 });
}

// ---- the map ------------------------------------------------------------------------------------------------------

const canvas = $("map"), pen = canvas.getContext("2d");
const SHAPES = [   // of classes, so that colour is never alone
  (p, x, y, r) => { p.moveTo(x + r, y); p.arc(x, y, r, 0, 7); },
  (p, x, y, r) => p.rect(x - 0.89 * r, y - 0.89 * r, 1.78 * r, 1.78 * r),
  (p, x, y, r) => { p.moveTo(x, y - 1.2 * r); p.lineTo(x + 1.1 * r, y + 0.8 * r); p.lineTo(x - 1.1 * r, y + 0.8 * r); p.closePath(); },
  (p, x, y, r) => { p.moveTo(x, y - 1.3 * r); p.lineTo(x + 1.3 * r, y); p.lineTo(x, y + 1.3 * r); p.lineTo(x - 1.3 * r, y); p.closePath(); },
  (p, x, y, r) => { p.moveTo(x, y + 1.2 * r); p.lineTo(x + 1.1 * r, y - 0.8 * r); p.lineTo(x - 1.1 * r, y - 0.8 * r); p.closePath(); },
  (p, x, y, r) => { p.rect(x - 0.45 * r, y - 1.2 * r, 0.9 * r, 2.4 * r); p.rect(x - 1.2 * r, y - 0.45 * r, 2.4 * r, 0.9 * r); },
  (p, x, y, r) => { for (let a = 0; a < 6; a++) p.lineTo(x + 1.1 * r * Math.cos(a * Math.PI / 3), y + 1.1 * r * Math.sin(a * Math.PI / 3)); p.closePath(); },
];

function place() {
  // from a layout's coordinates, 0 to 1 on the longer side, to pixels
  const { width, height } = canvas.getBoundingClientRect(), layout = data.layouts[state.layout];
  const scale = Math.min((width - 50) / layout.wide, (height - 50) / layout.high) * state.zoom;
  const at = i => [width / 2 + (layout.x[i] / 1e4 - 0.5 + state.x) * scale, height / 2 - (layout.y[i] / 1e4 - 0.5 + state.y) * scale];
  return { width, height, scale, at };
}

function mix(share) {
  const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1), i = Math.min(Math.floor(place), RAMP.length - 2);
  const [a, b] = [RAMP[i], RAMP[i + 1]].map(hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16)));
  return `rgb(${a.map((v, c) => Math.round(v + (b[c] - v) * (place - i)))})`;
}

function groupsOf(field) {
  // how rows are drawn: a list of { label, hue, shape } and for each row the number of its group
  if (!field) return { groups: [{ label: "all rows", hue: HUES[0], shape: 0 }], of: () => 0 };
  if (field.levels) {
    const count = new Array(field.levels.length).fill(0);
    for (let i = 0; i < n; i++) if (field.code(i) >= 0) count[field.code(i)]++;
    const used = count.map((_, c) => c).filter(c => count[c]);
    const named = used.length <= HUES.length ? used : [...used].sort((a, b) => count[b] - count[a]).slice(0, HUES.length - 1).sort((a, b) => a - b);
    const groups = named.map((c, g) => ({ label: textOf(field.levels[c]), value: field.levels[c], hue: HUES[g], shape: g, count: count[c] }));
    const rest = n - groups.reduce((sum, group) => sum + group.count, 0);
    if (rest) groups.push({ label: used.length > named.length ? "all others" : "missing", hue: GREY, shape: 0, count: rest });
    const place = new Map(named.map((c, g) => [c, g]));
    return { groups, of: i => place.get(field.code(i)) ?? groups.length - 1 };
  }
  const values = [];
  for (let i = 0; i < n; i++) if (typeof field.value(i) === "number") values.push(field.value(i));
  values.sort((a, b) => a - b);
  const low = values[Math.floor(0.02 * (values.length - 1))] ?? 0, high = values[Math.ceil(0.98 * (values.length - 1))] ?? 1;
  const steps = 24, groups = Array.from({ length: steps }, (_, s) => ({ hue: mix(s / (steps - 1)), shape: 0 }));
  groups.push({ label: "missing", hue: GREY, shape: 1 });
  const step = value => Math.min(Math.max(Math.round((value - low) / (high - low || 1) * (steps - 1)), 0), steps - 1);
  const text = value => field.text ? percent(value) : textOf(value);
  return { groups, of: i => typeof field.value(i) === "number" ? step(field.value(i)) : steps, scale: [text(low), text(high)],
    missing: n - values.length };
}

let painting = groupsOf(null);
const radius = () => Math.max(2.4, Math.min(6, 90 / Math.sqrt(n))) * Math.min(state.zoom, 6) ** 0.35;

function draw() {
  const ratio = window.devicePixelRatio || 1, { width, height, at } = place(), r = radius();
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio))
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const dark = getComputedStyle(document.body).color, paths = painting.groups.map(() => [new Path2D(), new Path2D()]);
  for (let i = 0; i < n; i++) {
    const [x, y] = at(i), g = painting.of(i);
    if (x > -9 && x < width + 9 && y > -9 && y < height + 9) SHAPES[painting.groups[g].shape](paths[g][state.visible[i]], x, y, r);
  }
  pen.lineWidth = 0.8;
  for (const visible of [0, 1]) paths.forEach((both, g) => {
    pen.globalAlpha = visible ? 0.85 : 0.12;
    pen.fillStyle = painting.groups[g].hue;
    pen.fill(both[visible]);
    pen.globalAlpha = visible ? 0.5 : 0.1;
    pen.strokeStyle = dark;
    pen.stroke(both[visible]);
  });
  pen.globalAlpha = 1;
  drawSelected(at, r, dark);
}

function drawSelected(at, r, dark) {
  const [x, y] = at(state.row), paper = getComputedStyle(document.body).backgroundColor;
  const ring = (x, y, radius, width, colour) => {
    pen.beginPath();
    pen.arc(x, y, radius, 0, 7);
    [pen.lineWidth, pen.strokeStyle] = [width, colour];
    pen.stroke();
  };
  for (const { row } of state.answer.near) {
    const [a, b] = at(row);
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(a, b);
    [pen.lineWidth, pen.strokeStyle] = [1.2, dark];
    pen.stroke();
    ring(a, b, r + 3, 1.5, dark);
  }
  ring(x, y, r + 5, 6, paper);
  ring(x, y, r + 5, 3, dark);
}

function rowAt(event) {
  const box = canvas.getBoundingClientRect(), [px, py] = [event.clientX - box.left, event.clientY - box.top], { at } = place();
  let best = -1, least = (event.pointerType === "touch" ? 22 : 14) ** 2;
  for (let i = 0; i < n; i++) {
    if (!state.visible[i]) continue;
    const [x, y] = at(i), square = (x - px) ** 2 + (y - py) ** 2;
    if (square < least) [best, least] = [i, square];
  }
  return best;
}

function zoomBy(factor, event) {
  if (!factor) Object.assign(state, { zoom: 1, x: 0, y: 0 });
  else {
    const box = canvas.getBoundingClientRect(), before = place().scale;
    const px = event ? event.clientX - box.left - box.width / 2 : 0, py = event ? box.height / 2 - event.clientY + box.top : 0;
    state.zoom = Math.min(Math.max(state.zoom * factor, 0.5), 60);
    const after = place().scale;   // what is under the pointer stays there
    state.x += px / after - px / before;
    state.y += py / after - py / before;
  }
  draw();
}

function listenToMap() {
  const held = new Map();   // pointers that are down
  let moved = 0;
  const spread = () => { const [a, b] = [...held.values()]; return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY); };
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    if (!held.size) moved = 0;
    held.set(event.pointerId, event);
  });
  canvas.addEventListener("pointermove", event => {
    const before = held.get(event.pointerId);
    if (!before) return hover(event);
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY], wide = held.size === 2 && spread();
    held.set(event.pointerId, event);
    moved += Math.abs(dx) + Math.abs(dy);
    if (moved < 5) return;
    const { scale } = place();
    state.x += dx / scale / held.size;
    state.y -= dy / scale / held.size;
    if (wide) zoomBy(spread() / wide, event); else draw();
  });
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, event => {
    if (!held.delete(event.pointerId) || kind === "pointercancel" || moved >= 5) return;
    const i = rowAt(event);
    if (i >= 0) select(i, { scroll: event.pointerType === "touch" });
  });
  canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; });
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event);
  }, { passive: false });
  canvas.addEventListener("keydown", event => {
    const arrow = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const zoom = { "+": 1.5, "=": 1.5, "-": 1 / 1.5, "0": 0 }[event.key];
    if (arrow) step(arrow); else if (zoom !== undefined) zoomBy(zoom); else return;
    event.preventDefault();
  });
  for (const button of $("zoom").children) button.addEventListener("click", () => zoomBy(Number(button.dataset.zoom)));
}

function step([dx, dy]) {
  // the nearest row in a direction; what lies aside counts twice
  const { at } = place(), [x, y] = at(state.row);
  let best = -1, least = Infinity;
  for (let i = 0; i < n; i++) {
    const [a, b] = at(i), ahead = (a - x) * dx + (b - y) * dy, aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
    if (state.visible[i] && ahead > 0.5 && ahead + 2 * aside < least) [best, least] = [i, ahead + 2 * aside];
  }
  if (best >= 0) select(best);
}

function hover(event) {
  const i = rowAt(event), tip = $("tip"), box = $("plane").getBoundingClientRect();
  tip.hidden = i < 0;
  if (i < 0) return;
  const field = fields.find(each => each.key === state.colour);
  const lines = [nameOf(i), ...new Set([ofTarget, ofPrediction, field].filter(Boolean))].map(each =>
    make("div", {}, typeof each === "string" ? make("strong", {}, each) : `${each.name}: ${shown(each, i)}`));
  tip.replaceChildren(...lines);
  const left = event.clientX - box.left, top = event.clientY - box.top;
  tip.style.left = `${Math.max(Math.min(left + 14, box.width - tip.offsetWidth - 4), 4)}px`;
  tip.style.top = `${top + 20 + tip.offsetHeight > box.height ? top - tip.offsetHeight - 12 : top + 16}px`;
}

function mark(group) {
  const small = make("canvas", { width: 28, height: 28, style: { width: "14px", height: "14px" }, "aria-hidden": "true" });
  const p = small.getContext("2d"), path = new Path2D();
  SHAPES[group.shape](path, 14, 14, 10);
  [p.fillStyle, p.strokeStyle, p.lineWidth] = [group.hue, getComputedStyle(document.body).color, 1.6];
  p.fill(path);
  p.stroke(path);
  return small;
}

function colourBy(key) {
  const field = fields.find(each => each.key === key);
  state.colour = key;
  painting = groupsOf(field);
  const quote = text => /[\s"=<>]/.test(text) ? `"${text}"` : text;
  const filter = group => { $("search").value = `${quote(field.name)}=${quote(group.label)}`; find($("search").value); };
  if (painting.scale) {
    const gradient = make("span", { class: "scale", style: { background: `linear-gradient(90deg, ${RAMP})` } });
    const missing = painting.missing ? [mark(painting.groups.at(-1)), `missing (${painting.missing})`] : [];
    $("legend").replaceChildren(painting.scale[0], gradient, painting.scale[1], ...missing);
  } else {
    $("legend").replaceChildren(...painting.groups.map(group => field && group.value !== undefined
      ? make("button", { type: "button", title: "show these rows only", onclick: () => filter(group) }, mark(group),
        make("span", {}, `${group.label} (${group.count.toLocaleString("en")})`))
      : make("span", { class: "buttons" }, mark(group), `${group.label} (${(group.count ?? n).toLocaleString("en")})`)));
  }
  draw();
}

// ---- lists --------------------------------------------------------------------------------------------------------

const doubtful = () => state.rows.filter(i => isClasses ? target.likely[i][0] !== target.codes[i]
  : Math.abs(target.predicted[i] - target.values[i]) > target.within);
const LISTS = {
  rows: { title: "All rows", note: "Click a heading to sort, a row to open it. Arrow keys move from row to row.",
    fields, rows: () => state.rows },
  doubtful: ofPrediction && { title: isClasses ? "Doubtful labels" : "Large errors", sort: ["doubt", true],
    note: isClasses ? "Rows whose label differs from the prediction that the other rows make. Doubt is 1 minus the probability of the label in the table."
      : `Rows farther than ${textOf(target.within)} from what the other rows predict: the largest tenth of the errors.`,
    fields: [ofId, ...computed, ...ofColumns], rows: doubtful },
  duplicates: { title: "Near duplicates", note: "Pairs of rows with the smallest distances. At distance 0 all compared columns agree." },
  unusual: { title: "Unusual rows", sort: ["unusual", true], fields,
    note: "Rows that the table explains least. \u201cHow unusual\u201d is the share of the rows with a smaller novelty.", rows: () => state.rows },
  columns: { title: "Columns", note: data.columns_note },
};

function sorted(list) {
  const rows = [...list.rows()], [key, down] = state.sort ?? list.sort ?? [], field = fields.find(each => each.key === key);
  if (!field) return rows;
  const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
  return rows.sort((i, j) => {
    const [a, b] = [field.value(i), field.value(j)];
    if (a == null || b == null) return (a == null) - (b == null) || i - j;   // missing values come last
    return (down ? order(b, a) : order(a, b)) || i - j;
  });
}

function drawTabs() {
  $("tabs").replaceChildren(...Object.entries(LISTS).filter(([, list]) => list).map(([key, list]) => make("button", {
    type: "button", role: "tab", id: `tab-${key}`, "aria-controls": "panel", "aria-selected": String(key === state.list),
    tabindex: key === state.list ? 0 : -1, onclick: () => openList(key) }, list.title)));
  $("tabs").onkeydown = event => {
    const all = [...$("tabs").children], by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) { const next = all[(all.indexOf(event.target) + by + all.length) % all.length]; next.click(); $(next.id).focus(); }
  };
}

function openList(key) {
  Object.assign(state, { list: key, sort: null, page: 0 });
  drawTabs();
  drawList();
}

function drawList() {
  const list = LISTS[state.list];
  $("list-note").textContent = list.note;
  $("pages").replaceChildren();
  if (state.list === "columns") drawColumns();
  else if (state.list === "duplicates") drawPairs();
  else drawRows(list);
}

function drawRows(list) {
  const rows = sorted(list), [key, down] = state.sort ?? list.sort ?? [], first = state.page * PAGE;
  const head = field => make("th", { scope: "col", class: field.kind === "number" ? null : "text",
    "aria-sort": field.key === key ? (down ? "descending" : "ascending") : null },
    make("button", { type: "button", "data-key": field.key, onclick: () => sortBy(field.key) }, field.name));
  const line = i => make("tr", { "data-row": i, tabindex: -1, onclick: () => select(i, { scroll: true }) },
    ...list.fields.map(field => make("td", { class: field.kind === "number" ? null : "text", title: shown(field, i) }, shown(field, i))));
  const body = make("tbody", { onkeydown: moveInList }, ...rows.slice(first, first + PAGE).map(line));
  if (!rows.length) body.append(make("tr", {}, make("td", { colspan: list.fields.length }, "No rows.")));
  $("list").replaceChildren(make("thead", {}, make("tr", {}, ...list.fields.map(head))), body);
  pages(rows.length);
  markList();
}

function sortBy(key) {
  const [now, down] = state.sort ?? LISTS[state.list].sort ?? [];
  state.sort = [key, now === key ? !down : false];
  state.page = 0;
  drawList();
  $("list").querySelector(`[data-key="${key}"]`).focus();
}

function pages(count) {
  if (count <= PAGE) return;
  const last = Math.ceil(count / PAGE) - 1, go = page => { state.page = page; drawList(); };
  const button = (text, page, off) => make("button", { type: "button", disabled: off, onclick: () => go(page) }, text);
  $("pages").append(button("Previous", state.page - 1, state.page === 0),
    `${state.page * PAGE + 1} to ${Math.min((state.page + 1) * PAGE, count)} of ${count.toLocaleString("en")}`,
    button("Next", state.page + 1, state.page === last));
}

function moveInList(event) {
  const line = event.target.closest("tr"), next = { ArrowDown: line?.nextElementSibling, ArrowUp: line?.previousElementSibling }[event.key];
  if (!next?.dataset.row) return;
  event.preventDefault();
  select(Number(next.dataset.row));
  next.focus();
}

function markList() {
  const lines = [...$("list").querySelectorAll("tr[data-row]")];
  const here = lines.find(line => Number(line.dataset.row) === state.row);
  for (const line of lines) {
    line.setAttribute("aria-selected", String(line === here));
    line.tabIndex = line === (here ?? lines[0]) ? 0 : -1;   // one of them can be reached by Tab
  }
}

const linkTo = i => make("button", { type: "button", class: "link", onclick: () => select(i, { scroll: true }) }, nameOf(i));

function drawPairs() {
  const pairs = data.pairs.filter(([a, b]) => state.visible[a] || state.visible[b]), first = state.page * PAGE;
  const heads = ["row", "and", "distance", ...(target ? [`${target.name}, first`, `${target.name}, second`] : [])];
  const line = ([a, b, distance]) => make("tr", {}, make("td", {}, linkTo(a)), make("td", { class: "text" }, linkTo(b)),
    make("td", {}, distance ? distance.toFixed(3) : "0"), ...(target ? [make("td", {}, textOf(given(a))), make("td", {}, textOf(given(b)))] : []));
  $("list").replaceChildren(make("thead", {}, make("tr", {}, ...heads.map((head, h) => make("th", { scope: "col", class: h < 2 ? "text" : null }, head)))),
    make("tbody", {}, ...pairs.slice(first, first + PAGE).map(line)));
  pages(pairs.length);
}

function drawColumns() {
  const most = Math.max(...columns.map(column => column.importance)), widest = Math.max(...columns.map(column => column.share));
  const bar = (value, largest) => make("td", {}, make("span", { class: "meter", "aria-hidden": "true" },
    make("i", { style: { width: `${100 * value / (largest || 1)}%` } })), ` ${percent(value)}`);
  const order = columns.map((_, c) => c).sort((a, b) => columns[b].importance - columns[a].importance || columns[b].share - columns[a].share);
  const learned = data.learned;
  $("list").replaceChildren(
    make("thead", {}, make("tr", {}, ...["column", ...(learned ? ["learned importance"] : []), "share of the distances to similar rows"]
      .map(head => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...order.map(c => make("tr", {},
      make("td", {}, make("button", { type: "button", class: "link", title: "colour the map by this column",
        onclick: () => { $("colour").value = `column ${c}`; colourBy($("colour").value); } }, columns[c].name)),
      learned && bar(columns[c].importance, most), bar(columns[c].share, widest)))));
}

// ---- one row ------------------------------------------------------------------------------------------------------

function answerOf(i) {
  // in the shape that the service answers in, too
  const d = columns.length, near = Array.from({ length: k }, (_, r) => ({ row: data.near.rows[i * k + r],
    distance: data.near.distances[i * k + r], shares: shares.subarray((i * k + r) * d, (i * k + r + 1) * d) }));
  const answer = { near, novelty: data.novelty[i] };
  if (!ofPrediction) return answer;
  const m = target.deciders.k, deciders = Array.from({ length: m }, (_, r) => ({ row: target.deciders.rows[i * m + r],
    weight: target.deciders.weights[i * m + r] }));
  if (!isClasses) return { ...answer, deciders, predicted: target.predicted[i], vote: target.votes[i] };
  const likely = target.likely[i].map((code, c) => ({ code, probability: target.probabilities[i][c] }));
  return { ...answer, deciders, likely, vote: target.votes[i] };
}

function describe() {
  const i = state.row, visible = state.rows, at = visible.indexOf(i);
  const go = by => visible.length && select(visible[(Math.max(at, 0) + by + visible.length) % visible.length]);
  const title = make("div", { class: "bar" }, make("h2", { id: "row-title" }, data.id ? `${data.id} ${data.ids[i]}` : `Row ${data.ids[i]}`),
    make("span", { class: "buttons no-print" },
      make("button", { type: "button", id: "previous", "aria-label": "Previous row", onclick: () => go(-1) }, "\u2190"),
      make("button", { type: "button", id: "next", "aria-label": "Next row", onclick: () => go(1) }, "\u2192"),
      make("a", { href: `#id=${encodeURIComponent(data.ids[i])}` }, "link to this row")));
  $("row-card").replaceChildren(title, ...answerPart(i), ...unusualPart(i), ...nearPart(i), ...madePart(i));
}

function answerPart(i) {
  const { answer } = state, changed = answer.changed;
  if (!ofPrediction) return target ? [make("p", { class: "answer" }, `${target.name}: ${textOf(given(i))}`)] : [];
  const own = textOf(given(i)), label = make("strong", {}, own);
  if (!isClasses) {
    const low = answer.predicted - target.within, high = answer.predicted + target.within;
    const text = make("p", { class: "answer", id: "answer" }, `Predicted ${target.name}: `, make("strong", {}, textOf(answer.predicted)),
      changed ? ` (was ${textOf(answer.before.predicted)})` : "; in the table: ", !changed && label);
    return [text, make("p", { class: "soft" }, `Nine of ten rows lie within ${textOf(target.within)} of their prediction: here ${textOf(low)} to ${textOf(high)}. `
      + "The prediction is made by the other rows; this row\u2019s own value was not used.")];
  }
  const [best] = answer.likely, was = answer.before?.likely[0], same = best.code === target.codes[i];
  const text = make("p", { class: "answer", id: "answer" }, `Predicted ${target.name}: `, make("strong", {}, textOf(target.classes[best.code])),
    ` (${percent(best.probability)})`, changed ? ` \u2013 was ${textOf(target.classes[was.code])} (${percent(was.probability)})` : "; in the table: ",
    !changed && label, !changed && !same && make("span", { class: "wrong" }, " \u2013 they differ"));
  const bars = answer.likely.flatMap(({ code, probability }) => [make("span", {}, textOf(target.classes[code])),
    make("span", { class: "meter", "aria-hidden": "true" }, make("i", { style: { width: `${100 * probability}%` } })), make("span", {}, percent(probability))]);
  return [text, make("div", { class: "likely" }, ...bars),
    make("p", { class: "soft" }, "The prediction is made by the other rows; this row\u2019s own label was not used.")];
}

function unusualPart(i) {
  const { answer } = state, less = data.novelty.filter(value => value < answer.novelty).length / Math.max(n - 1, 1);
  const text = less >= 0.995 && !answer.changed ? "the most unusual rows of the table" : `more unusual than ${percent(less)} of the rows`;
  return [make("h3", {}, "How unusual is this row?"),
    make("p", { id: "unusual" }, make("span", { class: "meter", "aria-hidden": "true" }, make("i", { style: { width: `${100 * Math.min(less, 1)}%` } })),
      ` ${less >= 0.995 && !answer.changed ? "Among " : "It is "}${text}. Novelty ${answer.novelty.toFixed(3)}: 0 is like the table, 1 like nothing in it.`)];
}

function nearPart(i) {
  const { near } = state.answer, largest = Math.max(1, ...near.flatMap(each => [...each.shares].map(Math.abs)));
  const total = c => near.reduce((sum, each) => sum + Math.abs(each.shares[c]), 0);
  const order = columns.map((_, c) => c);
  if (state.byShare ?? columns.length > 12) order.sort((a, b) => total(b) - total(a));
  const heads = near.map(each => make("th", { scope: "col" }, linkTo(each.row),
    make("small", {}, target ? textOf(given(each.row)) : ""), make("small", { class: "soft" }, `distance ${each.distance.toFixed(2)}`)));
  const cell = (each, c) => {
    const value = valueOf(columns[c], each.row), share = each.shares[c], mine = state.cells[c] !== undefined ? state.cells[c] : valueOf(columns[c], i);
    const hue = share >= 0 ? "230, 159, 0" : "86, 180, 233";
    return make("td", { class: `${columns[c].kind === "number" ? "" : "text"} ${value === mine ? "same" : ""}`.trim() || null,
      title: `${textOf(value)}: ${share} % of the distance`, style: { background: Math.abs(share) >= 1 ? `rgba(${hue}, ${(0.45 * Math.abs(share) / largest).toFixed(3)})` : "" } },
      textOf(value), Math.abs(share) >= 10 && make("small", {}, ` ${share}\u00a0%`));
  };
  const rows = order.map(c => make("tr", {}, make("th", { scope: "row", title: columns[c].name }, ...breakable(columns[c].name)),
    make("td", { class: `mine ${columns[c].kind === "number" ? "" : "text"}` }, data.serve ? editor(c, i) : textOf(valueOf(columns[c], i))),
    ...near.map(each => cell(each, c))));
  if (data.hidden) rows.push(make("tr", {}, make("th", { scope: "row" }, `${data.hidden} other columns`), make("td", { class: "mine" }),
    ...near.map(each => make("td", {}, `${100 - each.shares.reduce((sum, share) => sum + share, 0)}\u00a0%`))));
  const sort = make("label", { class: "soft no-print" }, make("input", { type: "checkbox", id: "by-share", checked: state.byShare ?? columns.length > 12,
    onchange: event => { state.byShare = event.target.checked; describe(); $("by-share").focus(); } }), " columns with the largest shares first");
  return [make("h3", {}, "Most similar rows"), ...whatIfPart(),
    make("p", { class: "soft" }, "Orange cells make the two rows differ: the darker, the larger their share of the distance. Shares of 10 % and more are written out."
      + (data.serve ? " Change a cell of this row to see what would follow." : "")),
    sort, make("div", { class: "scroll" }, make("table", { id: "near", class: "near" },
      make("thead", {}, make("tr", {}, make("th", {}), make("th", { class: "mine", scope: "col" }, state.answer.changed ? "this row, changed" : "this row"), ...heads)),
      make("tbody", {}, ...rows)))];
}

function madePart(i) {
  // base + rows + all others = vote, then the calibration: the probability or number above
  const { answer } = state;
  if (!answer.deciders) return [];
  const code = isClasses ? answer.likely[0].code : null, label = isClasses ? textOf(target.classes[code]) : target.name;
  const mean = isClasses ? target.mean[code] : target.mean, of = row => isClasses ? Number(target.codes[row] === code) : target.values[row];
  const number = isClasses ? value => `${(100 * value).toFixed(1)}\u00a0%` : value => textOf(value);
  const lines = answer.deciders.map(each => ({ row: each.row, push: each.weight * (of(each.row) - mean) }));
  const named = lines.reduce((sum, line) => sum + line.push, 0), rest = answer.vote - mean - named;
  const end = isClasses ? answer.likely[0].probability : answer.predicted, calibration = end - answer.vote;
  const largest = Math.max(...lines.map(line => Math.abs(line.push)), Math.abs(rest), Math.abs(calibration), 1e-12);
  const bar = push => make("td", { class: "push", "aria-hidden": "true" }, make("i", { class: push > 0 ? "up" : "down",
    style: { width: `${50 * Math.abs(push) / largest}%` } }));
  const line = (who, own, push) => make("tr", {}, make("th", { scope: "row" }, who), make("td", {}, own), make("td", {}, signed(push, number)), bar(push));
  const whole = (who, value) => make("tr", { class: "sum" }, make("th", { scope: "row" }, who), make("td", {}), make("td", {}, number(value)), make("td", {}));
  return [make("h3", {}, "What made the answer"),
    make("p", { class: "soft" }, `Begin with ${isClasses ? `the share of ${label} among all rows` : `the mean of all rows`}; each row moves it up or down.`),
    make("div", { class: "scroll" }, make("table", { id: "made", class: "made" }, make("tbody", {},
      whole(isClasses ? "share among all rows" : "mean of all rows", mean),
      ...lines.map(each => line(linkTo(each.row), textOf(given(each.row)), each.push)),
      line(`${n - 1 - lines.length} other rows together`, "", rest),
      Math.abs(calibration) > 1e-6 * Math.abs(end) && line(target.correction, "", calibration), whole(isClasses ? `probability of ${label}` : `predicted ${label}`, end))))];
}

// ---- what if: only where a service answers --------------------------------------------------------------------------

function editor(c, i) {
  const column = columns[c], now = state.cells[c] !== undefined ? state.cells[c] : valueOf(column, i);
  const options = { "aria-label": `${column.name} of this row`, class: state.cells[c] !== undefined ? "changed" : null, "data-column": c,
    onchange: event => change(c, event.target) };
  if (!column.levels || column.levels.length > 200) return make("input", { ...options, type: column.kind === "number" ? "number" : "text", step: "any",
    value: now ?? "", placeholder: "missing" });
  const choice = (value, index) => make("option", { value: index, selected: value === now }, value == null ? "missing" : textOf(value));
  return make("select", options, choice(null, -1), ...column.levels.map(choice));
}

function change(c, field) {
  const column = columns[c], original = valueOf(column, state.row);
  const value = field.tagName === "SELECT" ? column.levels[field.value] ?? null : field.value === "" ? null
    : column.kind === "number" ? Number(field.value) : field.value;
  if (value === original) delete state.cells[c]; else state.cells[c] = value;
  ask(c);
}

async function ask(c) {
  const row = state.row, cells = Object.fromEntries(Object.entries(state.cells).map(([c, value]) => [columns[c].name, value]));
  let answer = answerOf(row), error = "";
  if (Object.keys(cells).length) try {
    const response = await fetch("what-if", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ row, cells }) });
    const said = await response.json();
    if (response.ok) answer = { ...said, changed: true };
    else error = typeof said.detail === "string" ? said.detail : "The service did not understand this value.";
  } catch { error = "The service does not answer: is it still running?"; }
  if (row !== state.row) return;
  state.answer = answer;
  state.error = error;
  describe();
  draw();
  $("near").querySelector(`[data-column="${c}"]`)?.focus();
}

function whatIfPart() {
  if (!data.serve || !Object.keys(state.cells).length) return [];
  const changes = Object.entries(state.cells).map(([c, value]) => `${columns[c].name}: ${textOf(valueOf(columns[c], state.row))} \u2192 ${textOf(value)}`);
  return [make("div", { id: "what-if", role: "status" }, make("strong", {}, "What if "), changes.join("; "), state.error && make("p", { class: "wrong" }, state.error), " ",
    make("button", { type: "button", id: "undo", onclick: () => select(state.row) }, "Undo"))];
}

// ---- start ----------------------------------------------------------------------------------------------------------

function start() {
  $("title").textContent = data.title;
  $("summary").textContent = data.summary;
  $("method").textContent = data.method;
  const example = ofColumns.find(field => field.kind === "number") ?? ofColumns[0];
  $("hint").textContent = `Words are looked for in all cells. A condition is written without spaces, such as ${example.kind === "number" ? `${
    /\s/.test(example.name) ? `"${example.name}"` : example.name}>${textOf(valueOf(columns[ofColumns.indexOf(example)], 0) ?? 0)}` : `${example.name}=${shown(example, 0)}`}.`;
  $("search").addEventListener("input", event => find(event.target.value));
  const colours = [...computed, ...ofColumns.filter(field => field.levels || field.kind === "number")];
  $("colour").append(...colours.map(field => make("option", { value: field.key }, field.name)));
  $("colour").addEventListener("change", event => colourBy(event.target.value));
  $("layout").append(...Object.entries(data.layouts).map(([key, layout]) => make("option", { value: key }, layout.title)));
  const note = () => { $("layout-note").textContent = data.layouts[state.layout].note; };
  $("layout").addEventListener("change", event => { state.layout = event.target.value; note(); zoomBy(0); });
  note();
  fromAddress();
  colourBy(colours[0].key);
  drawTabs();
  find("");
  listenToMap();
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colourBy(state.colour));
  window.addEventListener("hashchange", fromAddress);
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !/INPUT|SELECT/.test(event.target.tagName)) { event.preventDefault(); $("search").focus(); }
    if (event.key === "Escape" && event.target === $("search")) { $("search").value = ""; find(""); }
  });
}

start();
