"use strict";
// The table and what was computed about it are in the JSON above. All of it is shown as text, never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const PAGE = 25;      // lines of a list at a time
const MANY = 12;      // of more columns those with the largest shares come first
const ON_PAPER = 14;  // columns on a sheet, those with the largest shares
const HUES = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442"];   // Okabe and Ito
const GREY = "#8a929a";
const RAMP = ["#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838"];              // cividis
const n = data.ids.length, k = data.near.k, columns = data.columns, target = data.target;
const known = n - data.new, isNew = i => i < data.new;      // new rows come first
const isClasses = target?.kind === "text", isPredicted = Boolean(target?.deciders);
// whether columns have weights of their own when rows are compared
const isWeighted = columns.some(column => column.importance != null);
const shares = Int8Array.from(atob(data.near.shares), letter => letter.charCodeAt(0));        // percent
const $ = id => document.getElementById(id);

// ---- small tools --------------------------------------------------------------------------------------------------

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter(child => child != null && child !== false));
  return element;
}

const td = (child, attributes = {}) => make("td", attributes, child);
const tr = (...cells) => make("tr", {}, ...cells);
const heading = (child, attributes = {}) => make("th", { scope: "col", ...attributes }, child);
const rowHead = (child, attributes = {}) => make("th", { scope: "row", ...attributes }, child);
const note = (...words) => make("p", { class: "soft" }, ...words);
const button = (child, onclick, attributes = {}) => make("button", { type: "button", onclick, ...attributes }, child);
const meter = share => make("span", { class: "meter", "aria-hidden": "true" },
  make("i", { style: { width: `${100 * Math.min(share, 1)}%` } }));

const grouped = number => number.toLocaleString("en");
const signed = (value, text) => (value < 0 ? "\u2212" : "+") + text(Math.abs(value));
const quoted = text => /[\s"=<>]/.test(text) ? `"${text}"` : text;
// a name that may be broken after _ and other signs between words
const breakable = name => name.split(/(?<=[_./-])/).flatMap((piece, i) => i ? [make("wbr"), piece] : [piece]);

function percent(share) {
  if (share > 0.995 && share < 1) return "over 99\u00a0%";
  return share > 0 && share < 0.005 ? "under 1\u00a0%" : `${Math.round(100 * share)}\u00a0%`;
}

function textOf(value) {
  if (value == null) return "\u2013";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(4)));   // all digits before the point
}

// a date or another short word is not broken
const whole = text => /^\S{1,14}$/.test(text) ? make("span", { class: "whole" }, text) : text;

function valueOf(column, i) {
  if (!column.levels) return column.values[i];
  return column.codes[i] < 0 ? null : column.levels[column.codes[i]];
}

const nameOf = i => data.id || isNew(i) ? data.ids[i] : `row ${data.ids[i]}`;
const given = i => isClasses ? target.levels[target.codes[i]] : target.values[i];
const predicted = i => isClasses ? target.levels[target.likely[i][0]] : target.predicted[i];

// ---- fields: what can be searched, sorted and coloured by ---------------------------------------------------------

const kind = isClasses ? "text" : "number", levels = isClasses ? target.levels : null;
const ofId = { key: "id", name: data.id || "row", kind: "text", value: i => data.ids[i] };
const ofTarget = target && { key: "target", name: target.name, kind, levels, value: given, code: i => target.codes[i] };
const ofPrediction = isPredicted && { key: "predicted", name: "prediction", kind, levels, value: predicted,
  code: i => target.likely[i][0] };
const ofDoubt = isPredicted && (isClasses
  ? { key: "doubt", name: "doubt", kind: "number", value: i => target.doubt[i],
    text: i => isNew(i) ? textOf(null) : percent(target.doubt[i]) }
  : { key: "doubt", name: "error", kind: "number", 
    value: i => isNew(i) ? null : Math.abs(target.predicted[i] - target.values[i]) });
const ofNovelty = { key: "novelty", name: "novelty", kind: "number", value: i => data.novelty[i],
  text: i => data.novelty[i].toFixed(3) };
const ofColumns = columns.map((column, c) => ({ key: `column ${c}`, name: column.name, kind: column.kind,
  levels: column.levels, value: i => valueOf(column, i), code: i => column.codes[i] }));
const computed = [ofTarget, ofPrediction, ofDoubt, ofNovelty].filter(Boolean);
const fields = [ofId, ...computed, ...ofColumns];
const fieldOf = key => fields.find(field => field.key === key);
const shown = (field, i) => field.text ? field.text(i) : textOf(field.value(i));
const sideOf = field => field.kind === "number" ? null : "text";

// ---- search -------------------------------------------------------------------------------------------------------

// the columns of the table come last and win where a name is there twice
const byName = new Map([...computed, ofId, ...ofColumns].map(field => [field.name.toLowerCase(), field]));
const haystack = Array.from({ length: n }, (_, i) => fields.map(field => shown(field, i)).join("\n").toLowerCase());
const PART = /(?:"([^"]+)"|([^\s"=<>]+))(<=|>=|=|<|>)(?:"([^"]*)"|(\S+))|"([^"]+)"|(\S+)/g;
const COMPARE = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };

function condition([whole, quotedName, bareName, sign, quotedValue, bareValue, phrase]) {
  const field = sign && byName.get((quotedName ?? bareName).toLowerCase());
  const word = (phrase ?? whole).toLowerCase();
  if (!field) return i => haystack[i].includes(word);
  const value = (quotedValue ?? bareValue).toLowerCase(), equal = text => text.toLowerCase() === value;
  if (sign === "=") return i => equal(shown(field, i)) || equal(String(field.value(i)));
  const limit = value.endsWith("%") ? parseFloat(value) / 100 : isNaN(value) ? value : Number(value);
  return i => field.value(i) != null && COMPARE[sign](field.value(i), limit);
}

function search(query) {
  const conditions = [...query.matchAll(PART)].map(condition);
  return Array.from({ length: n }, (_, i) => i).filter(i => conditions.every(holds => holds(i)));
}

// ---- state --------------------------------------------------------------------------------------------------------

const state = { row: 0, rows: search(""), visible: new Uint8Array(n).fill(1), list: data.new ? "new" : "rows",
  sort: null, page: 0, colour: null, zoom: 1, x: 0, y: 0, byShare: columns.length > MANY };

function find(query) {
  state.rows = search(query);
  state.visible.fill(0);
  for (const i of state.rows) state.visible[i] = 1;
  state.page = 0;
  $("found").textContent = query.trim() ? `${grouped(state.rows.length)} of ${grouped(n)} rows` : "";
  drawList();
  draw();
}

function select(i, { scroll = false, remember = true } = {}) {
  state.row = i;
  if (remember) history.replaceState(null, "", `#id=${encodeURIComponent(data.ids[i])}`);
  describe();
  markList();
  draw();
  if (scroll && matchMedia("(max-width: 60rem)").matches) $("row-card").scrollIntoView();
}

function fromAddress() {
  const hash = location.hash.slice(1), id = new URLSearchParams(hash).get("id");   // #id=4711, or #4711
  const i = data.ids.findIndex(each => each === id || encodeURIComponent(each) === hash);
  select(Math.max(i, 0), { remember: false, scroll: i >= 0 });
}

// ---- the map ------------------------------------------------------------------------------------------------------

const canvas = $("map"), pen = canvas.getContext("2d");
const polygon = (...corners) => (path, x, y, r) => {
  corners.forEach(([a, b], i) => i ? path.lineTo(x + a * r, y + b * r) : path.moveTo(x + a * r, y + b * r));
  path.closePath();
};
const SHAPES = [   // of classes, so that colour is never alone
  (path, x, y, r) => { path.moveTo(x + r, y); path.arc(x, y, r, 0, 7); },
  polygon([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]),
  polygon([0, -1.2], [1.1, 0.8], [-1.1, 0.8]),
  polygon([0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]),
  polygon([0, 1.2], [1.1, -0.8], [-1.1, -0.8]),
  polygon([-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2],
    [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]),
  polygon([1.1, 0], [0.55, 0.95], [-0.55, 0.95], [-1.1, 0], [-0.55, -0.95], [0.55, -0.95]),
];
const reach = values => Math.max(2 * Math.max(...values.map(value => Math.abs(value / 1e4 - 0.5))), 0.01);
const [wideMap, highMap] = [reach(data.map.x), reach(data.map.y)];   // the room that the map takes around its middle

function place() {
  // from the coordinates of the map to pixels
  const { width, height } = canvas.getBoundingClientRect();
  const scale = Math.min((width - 50) / wideMap, (height - 50) / highMap) * state.zoom;
  const at = i => [width / 2 + (data.map.x[i] / 1e4 - 0.5 + state.x) * scale,
    height / 2 - (data.map.y[i] / 1e4 - 0.5 + state.y) * scale];
  return { width, height, scale, at };
}

function onRamp(share) {
  const place = share * (RAMP.length - 1), i = Math.min(Math.floor(place), RAMP.length - 2);
  const [a, b] = [RAMP[i], RAMP[i + 1]].map(hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16)));
  return `rgb(${a.map((v, c) => Math.round(v + (b[c] - v) * (place - i)))})`;
}

// a darker edge by day, a brighter one by night
const edgeOf = hue => `color-mix(in srgb, ${hue} 65%, ${getComputedStyle(document.body).color})`;

// How rows are drawn: a list of groups { label, hue, shape, count }, and for each row the number of its group
const groupsOf = field => field.levels ? groupsOfLevels(field) : groupsOfNumbers(field);

const missing = field => field === ofTarget && data.new ? "new" : "missing";

function groupsOfLevels(field) {
  const count = new Array(field.levels.length).fill(0);
  for (let i = 0; i < n; i++) if (field.code(i) >= 0) count[field.code(i)]++;
  let named = count.map((_, c) => c).filter(c => count[c]);
  const many = named.length > HUES.length;
  if (many) named = named.sort((a, b) => count[b] - count[a]).slice(0, HUES.length - 1).sort((a, b) => a - b);
  const groups = named.map((c, g) => ({ label: textOf(field.levels[c]), hue: HUES[g], shape: g, count: count[c] }));
  const rest = n - groups.reduce((sum, group) => sum + group.count, 0);
  if (rest) groups.push({ label: many ? "all others" : missing(field), hue: GREY, shape: 0, count: rest, rest: true });
  const group = new Map(named.map((c, g) => [c, g]));
  return { groups, of: i => group.get(field.code(i)) ?? groups.length - 1 };
}

function groupsOfNumbers(field) {
  const STEPS = 24, isNumber = i => typeof field.value(i) === "number";
  const values = Array.from({ length: n }, (_, i) => i).filter(isNumber).map(field.value).sort((a, b) => a - b);
  const at = share => values[Math.round(share * (values.length - 1))] ?? 0, [low, high] = [at(0.02), at(0.98)];
  const step = value => Math.round(Math.min(Math.max((value - low) / (high - low || 1), 0), 1) * (STEPS - 1));
  const groups = Array.from({ length: STEPS }, (_, s) => ({ hue: onRamp(s / (STEPS - 1)), shape: 0 }));
  groups.push({ label: missing(field), hue: GREY, shape: 1, count: n - values.length, rest: true });
  const ends = [low, high].map(isClasses && field === ofDoubt ? percent : textOf);
  return { groups, of: i => isNumber(i) ? step(field.value(i)) : STEPS, ends };
}

let painting = null;
const radius = () => Math.max(2.4, Math.min(6, 90 / Math.sqrt(n))) * Math.min(state.zoom, 6) ** 0.35;

function draw() {
  if (!painting) return;
  const ratio = window.devicePixelRatio || 1, { width, height, at } = place(), r = radius();
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const paths = painting.groups.map(() => [new Path2D(), new Path2D()]);   // of rows not found, and found
  for (let i = 0; i < n; i++) {
    const [x, y] = at(i), g = painting.of(i);
    if (x < -9 || x > width + 9 || y < -9 || y > height + 9) continue;
    SHAPES[painting.groups[g].shape](paths[g][state.visible[i]], x, y, r);
  }
  pen.lineWidth = 0.8;
  for (const visible of [0, 1]) paths.forEach((both, g) => {
    pen.fillStyle = painting.groups[g].hue;
    pen.strokeStyle = edgeOf(painting.groups[g].hue);
    pen.globalAlpha = visible ? 0.9 : 0.12;
    pen.fill(both[visible]);
    pen.stroke(both[visible]);
  });
  pen.globalAlpha = 1;
  pen.lineWidth = 2;
  pen.strokeStyle = getComputedStyle(document.body).color;
  for (let i = 0; i < data.new; i++) if (state.visible[i]) pen.strokeRect(at(i)[0] - r - 3, at(i)[1] - r - 3, 2 * r + 6, 2 * r + 6);
  drawSelected(at, r);
}

function drawSelected(at, r) {
  const [x, y] = at(state.row), { color, backgroundColor } = getComputedStyle(document.body);
  const stroke = (width, colour, ...shape) => {
    [pen.lineWidth, pen.strokeStyle] = [width, colour];
    pen.beginPath();
    if (shape.length === 3) pen.arc(...shape, 0, 7);
    else { pen.moveTo(x, y); pen.lineTo(...shape); }
    pen.stroke();
  };
  for (const { row } of nearOf(state.row)) {
    stroke(1.2, color, ...at(row));
    stroke(1.5, color, ...at(row), r + 3);
  }
  stroke(6, backgroundColor, x, y, r + 5);
  stroke(3, color, x, y, r + 5);
}

function rowAt(event) {
  const box = canvas.getBoundingClientRect(), { at } = place();
  const [px, py] = [event.clientX - box.left, event.clientY - box.top];
  let best = -1, least = (event.pointerType === "touch" ? 22 : 14) ** 2;
  for (let i = 0; i < n; i++) {
    if (!state.visible[i]) continue;
    const [x, y] = at(i), square = (x - px) ** 2 + (y - py) ** 2;
    if (square < least) [best, least] = [i, square];
  }
  return best;
}

function zoomBy(factor, event) {
  if (!factor) {
    Object.assign(state, { zoom: 1, x: 0, y: 0 });
    return draw();
  }
  const box = canvas.getBoundingClientRect(), before = place().scale;
  const middle = [box.left + box.width / 2, box.top + box.height / 2];
  const [px, py] = event ? [event.clientX - middle[0], middle[1] - event.clientY] : [0, 0];
  state.zoom = Math.min(Math.max(state.zoom * factor, 0.5), 60);
  const after = place().scale;   // what is under the pointer stays there
  state.x += px / after - px / before;
  state.y += py / after - py / before;
  draw();
}

function listenToPointers() {
  const held = new Map();   // pointers that are down
  let moved = 0;
  const spread = () => {
    const [a, b] = [...held.values()];
    return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  };
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    if (!held.size) moved = 0;
    held.set(event.pointerId, event);
  });
  canvas.addEventListener("pointermove", event => {
    const before = held.get(event.pointerId);
    if (!before) return hover(event);
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
    const apart = held.size === 2 && spread();
    held.set(event.pointerId, event);
    moved += Math.abs(dx) + Math.abs(dy);
    if (moved < 5) return;
    const { scale } = place();
    state.x += dx / scale / held.size;
    state.y -= dy / scale / held.size;
    if (apart) zoomBy(spread() / apart, event); else draw();
  });
  canvas.addEventListener("pointerup", event => {
    const i = held.delete(event.pointerId) && moved < 5 ? rowAt(event) : -1;
    if (i >= 0) select(i, { scroll: event.pointerType === "touch" });
  });
  canvas.addEventListener("pointercancel", event => held.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; });
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event);
  }, { passive: false });
}

function listenToMapKeys() {
  const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const ZOOMS = { "+": 1.5, "=": 1.5, "-": 1 / 1.5, 0: 0 };
  canvas.addEventListener("keydown", event => {
    if (event.key in ARROWS) step(...ARROWS[event.key]);
    else if (event.key in ZOOMS) zoomBy(ZOOMS[event.key]);
    else return;
    event.preventDefault();
  });
  for (const each of $("zoom").children) each.addEventListener("click", () => zoomBy(Number(each.dataset.zoom)));
}

function step(dx, dy) {
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
  const told = new Set([ofTarget, ofPrediction, fieldOf(state.colour)].filter(Boolean));
  tip.replaceChildren(make("strong", {}, nameOf(i)),
    ...[...told].map(field => make("div", {}, `${field.name}: ${shown(field, i)}`)));
  const [left, top] = [event.clientX - box.left, event.clientY - box.top];
  tip.style.left = `${Math.max(Math.min(left + 14, box.width - tip.offsetWidth - 4), 4)}px`;
  tip.style.top = `${top + 20 + tip.offsetHeight > box.height ? top - tip.offsetHeight - 12 : top + 16}px`;
}

function markOf(group) {
  const style = { width: "14px", height: "14px" };
  const small = make("canvas", { width: 28, height: 28, style, "aria-hidden": "true" });
  const ink = small.getContext("2d"), path = new Path2D();
  SHAPES[group.shape](path, 14, 14, 10);
  [ink.fillStyle, ink.strokeStyle, ink.lineWidth] = [group.hue, edgeOf(group.hue), 1.6];
  ink.fill(path);
  ink.stroke(path);
  return small;
}

function colourBy(key) {
  const field = fieldOf(key), words = group => make("span", {}, `${group.label} (${grouped(group.count)})`);
  const only = group => {
    $("search").value = `${quoted(field.name)}=${quoted(group.label)}`;
    find($("search").value);
  };
  state.colour = key;
  painting = groupsOf(field);
  const marks = painting.groups.filter(group => group.count).map(group => group.rest
    ? make("span", { class: "buttons" }, markOf(group), words(group))
    : button([markOf(group), words(group)], () => only(group), { title: "show these rows only" }));
  const style = { background: `linear-gradient(90deg, ${RAMP})` }, [low, high] = painting.ends ?? [];
  const scale = painting.ends ? [low, make("span", { class: "scale", style }), high] : [];
  $("legend").replaceChildren(...scale, ...marks);
  draw();
}

// ---- lists --------------------------------------------------------------------------------------------------------

const isOutside = i => target.low && (given(i) < target.low[i] || given(i) > target.high[i]);
const isDoubtful = i => !isNew(i) && (isClasses ? target.likely[i][0] !== target.codes[i] : isOutside(i));
const isKnown = i => !isNew(i);
const KEYS = "Click a heading to sort, a row to open it. Arrow keys move from row to row.";
const columnsNote = [
  isPredicted && "Effect: how much worse predictions become if the values of the column come from other rows (loss of R\u00b2, "
    + "each row predicted from the others).",
  isWeighted ? "Weight: how much the column counts when rows are compared." : "All columns count the same when rows are compared.",
  "Share: how much of the distance between a row and its most similar rows is due to the column.",
  isPredicted && "A large share and a small effect: rows differ in the column, but it matters little for predictions."];
const LISTS = {
  new: data.new > 0 && { title: "New rows", draw: drawRows, rows: () => state.rows.filter(isNew),
    note: `${KEYS} Printed, each new row takes a sheet.` },
  rows: { title: data.new ? "Known rows" : "All rows", draw: drawRows, rows: () => state.rows.filter(isKnown), note: KEYS },
  doubtful: isPredicted && { title: isClasses ? "Doubtful labels" : "Large errors", draw: drawRows,
    rows: () => state.rows.filter(isDoubtful), sort: ["doubt", true],
    note: isClasses ? "Rows whose label differs from the one predicted from the other rows. Doubt is 1 minus the "
      + "probability of the label in the table."
      : "Rows whose value lies outside the range that holds about nine of ten such values." },
  duplicates: { title: "Near duplicates", draw: drawPairs,
    note: "Pairs of rows with the smallest distances. At distance 0 all compared columns agree." },
  unusual: { title: "Unusual rows", draw: drawRows, rows: () => state.rows.filter(isKnown), sort: ["novelty", true],
    note: "Rows that are least like the others: those with the largest novelty." },
  columns: { title: "Columns", draw: drawColumns, note: columnsNote.filter(Boolean).join(" ") },
};
const sorting = () => state.sort ?? LISTS[state.list].sort ?? [];

function inOrder(rows) {
  const [key, down] = sorting(), field = fieldOf(key);
  if (!field) return rows;
  const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
  return [...rows].sort((i, j) => {
    const [a, b] = [field.value(i), field.value(j)];
    if (a == null || b == null) return (a == null) - (b == null) || i - j;   // missing values come last
    return (down ? order(b, a) : order(a, b)) || i - j;
  });
}

function drawTabs() {
  const tab = key => button(LISTS[key].title, () => openList(key), { role: "tab", id: `tab-${key}`,
    "aria-controls": "panel", "aria-selected": String(key === state.list), tabindex: key === state.list ? 0 : -1 });
  $("tabs").replaceChildren(...Object.keys(LISTS).filter(key => LISTS[key]).map(tab));
}

function openList(key) {
  Object.assign(state, { list: key, sort: null, page: 0 });
  drawTabs();
  drawList();
}

function listenToTabs() {
  $("tabs").addEventListener("keydown", event => {
    const all = [...$("tabs").children], by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const { id } = all[(all.indexOf(event.target) + by + all.length) % all.length];
    openList(id.slice("tab-".length));
    $(id).focus();
  });
}

function drawList() {
  $("list-note").textContent = LISTS[state.list].note;
  LISTS[state.list].draw(LISTS[state.list]);
}

function fillList(heads, items, line, attributes) {
  const first = state.page * PAGE, body = make("tbody", attributes, items.slice(first, first + PAGE).map(line));
  if (!items.length) body.append(tr(td("Nothing found.", { colspan: heads.length })));
  $("list").replaceChildren(make("thead", {}, tr(...heads)), body);
  const last = Math.ceil(items.length / PAGE) - 1, go = page => () => { state.page = page; drawList(); };
  $("pages").replaceChildren(...(last < 1 ? [] : [
    button("Previous", go(state.page - 1), { disabled: state.page === 0 }),
    `${first + 1} to ${Math.min(first + PAGE, items.length)} of ${grouped(items.length)}`,
    button("Next", go(state.page + 1), { disabled: state.page === last })]));
}

function drawRows(list) {
  const [key, down] = sorting();
  const heads = fields.map(field => heading(button(field.name, () => sortBy(field.key), { "data-key": field.key }),
    { class: sideOf(field), "aria-sort": field.key === key ? (down ? "descending" : "ascending") : null }));
  const line = i => make("tr", { "data-row": i, onclick: () => select(i, { scroll: true }) },
    fields.map(field => td(shown(field, i), { class: sideOf(field), title: shown(field, i) })));
  fillList(heads, inOrder(list.rows()), line, { onkeydown: moveInList });
  markList();
}

function sortBy(key) {
  const [now, down] = sorting();
  Object.assign(state, { sort: [key, now === key && !down], page: 0 });
  drawList();
  $("list").querySelector(`[data-key="${key}"]`).focus();
}

function moveInList(event) {
  const line = event.target.closest("tr");
  const next = { ArrowDown: line.nextElementSibling, ArrowUp: line.previousElementSibling }[event.key];
  if (!next) return;
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

const linkTo = i => button(nameOf(i), () => select(i, { scroll: true }), { class: "link" });

function differing(a, b) {
  // the columns in which two rows differ, by name
  const names = columns.filter(column => valueOf(column, a) !== valueOf(column, b)).map(column => column.name);
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ") || "nothing";
}

function drawPairs() {
  const text = { class: "text" }, cell = words => td(words, { ...text, title: words });
  const labels = (a, b) => [...new Set([textOf(given(a)), textOf(given(b))])].join(" / ");
  const heads = [heading("row"), heading("and", text), heading("distance"), target && heading(target.name, text),
    heading("differ in", text)].filter(Boolean);
  const line = ([a, b, distance]) => tr(td(linkTo(a)), td(linkTo(b), text), td(distance ? distance.toFixed(3) : "0"),
    target && cell(labels(a, b)), cell(differing(a, b)));
  fillList(heads, data.pairs.filter(([a, b]) => state.visible[a] || state.visible[b]), line);
}

function drawColumns() {
  const titles = { effect: `effect on ${target?.name}`, importance: "weight in the comparison", share: "share of the distances" };
  const measures = Object.keys(titles).filter(name => columns.some(column => column[name] != null));
  const most = name => Math.max(...columns.map(column => column[name] ?? 0)) || 1;
  const show = (share, name) => name === "effect" ? `${(100 * share).toFixed(1)}\u00a0%` : percent(share);
  const bar = (column, name) => td(column[name] == null ? "\u2013"
    : [meter(Math.max(column[name], 0) / most(name)), ` ${show(Math.max(column[name], 0), name)}`]);
  const paint = c => () => { $("colour").value = `column ${c}`; colourBy($("colour").value); };
  const rank = (a, b) => measures.map(name => (columns[b][name] ?? -1) - (columns[a][name] ?? -1)).find(Boolean) ?? 0;
  const line = c => tr(td(button(columns[c].name, paint(c), { class: "link", title: "colour the map by this column" })),
    measures.map(name => bar(columns[c], name)));
  fillList([heading("column"), ...measures.map(name => heading(titles[name]))], columns.map((_, c) => c).sort(rank), line);
}

// ---- one row ------------------------------------------------------------------------------------------------------

const slice = (all, i, size) => all.slice(i * size, (i + 1) * size);

function nearOf(i) {
  const distances = slice(data.near.distances, i, k), d = columns.length;
  return slice(data.near.rows, i, k).map((row, r) => ({ row, distance: distances[r],
    shares: shares.subarray((i * k + r) * d, (i * k + r + 1) * d) }));
}

function titleOf(i) {
  if (data.id) return `${data.id} ${data.ids[i]}${isNew(i) ? " (new)" : ""}`;
  return nameOf(i).replace(/^./, letter => letter.toUpperCase());
}

// what is known about one row, on the screen and on paper
const partsOf = (i, most = columns.length) =>
  [...answerPart(i), ...unusualPart(i), ...nearPart(i, most), ...madePart(i)];

function describe() {
  const i = state.row, at = Math.max(state.rows.indexOf(i), 0), count = state.rows.length;
  const go = by => () => count && select(state.rows[(at + by + count) % count]);
  const bar = make("div", { class: "bar" }, make("h2", { id: "row-title" }, titleOf(i)),
    make("span", { class: "buttons" },
      button("\u2190", go(-1), { id: "previous", "aria-label": "Previous row" }),
      button("\u2192", go(1), { id: "next", "aria-label": "Next row" }),
      make("a", { href: `#id=${encodeURIComponent(data.ids[i])}` }, "link to this row")));
  $("row-card").replaceChildren(bar, ...partsOf(i));
}

function answerPart(i) {
  if (!target || (isNew(i) && !isPredicted)) return [];
  if (!isPredicted) return [make("p", { class: "answer" }, `${target.name}: ${textOf(given(i))}`)];
  const observed = isNew(i) ? [] : ["; in the table: ", make("strong", {}, textOf(given(i)))];
  const more = isClasses ? classParts(i) : numberParts(i);
  const chance = isClasses && ` (probability ${percent(target.probabilities[i][0])})`;
  const own = isNew(i) ? null : note("The prediction is made from the other rows; this row\u2019s own ",
    isClasses ? "label" : "value", " was not used.");
  return [make("p", { class: "answer" }, `Predicted ${target.name}: `, make("strong", {}, textOf(predicted(i))), chance,
    observed, isClasses && isDoubtful(i) && make("span", { class: "wrong" }, " \u2013 they differ")), ...more, own].filter(Boolean);
}

function classParts(i) {
  const label = code => textOf(target.levels[code]), possible = target.possible?.[i] ?? [];
  const bars = target.likely[i].map((code, c) => [make("span", {}, label(code)), meter(target.probabilities[i][c]),
    make("span", {}, percent(target.probabilities[i][c]))]);
  const sure = possible.length > 1 && make("p", {}, `Not certain: it may be ${possible.map(label).join(" or ")}. In about `
    + "nine of ten such cases it is one of them.");
  return [make("div", { class: "likely" }, bars.flat()), sure];
}

function numberParts(i) {
  if (!target.low) return [];
  return [make("p", {}, `In about nine of ten such cases the number lies between ${textOf(target.low[i])} and ${
    textOf(target.high[i])}: at the ${Math.min(20, known - 1)} most similar rows the prediction was off by ${
    textOf(target.off[i])} on average.`)];
}

const nearestOf = Array.from({ length: known }, (_, i) => data.near.distances[(i + data.new) * k]);
const knownNovelty = data.novelty.slice(data.new);
const shareBelow = (values, limit) => values.filter(value => value < limit).length / known;

function unusualPart(i) {
  const nearer = shareBelow(nearestOf, nearOf(i)[0].distance), rows = isNew(i) ? "known rows" : "rows";
  const words = nearer === 1 ? "No known row is as far from its most similar row: treat the prediction with caution."
    : nearer === 0 && isNew(i) ? "No known row has a more similar one."
      : `Its most similar row is farther away than that of ${percent(nearer)} of the ${rows}.`;
  const scale = isNew(i) ? "0 is like the table, 1 like nothing in it"
    : `larger than that of ${percent(shareBelow(knownNovelty, data.novelty[i]))} of the rows`;
  return [make("h3", {}, "How unusual is this row?"), make("p", { class: "unusual" }, meter(nearer), ` ${words} `,
    make("span", { class: "soft" }, `(novelty ${data.novelty[i].toFixed(3)}; ${scale})`))];
}

function nearCell(each, c, i, largest) {
  const value = valueOf(columns[c], each.row), share = each.shares[c], part = Math.abs(share) / largest;
  const hue = share >= 0 ? "230, 159, 0" : "86, 180, 233";
  const side = columns[c].kind === "number" ? "" : "text", same = value === valueOf(columns[c], i) ? "same" : "";
  return td([whole(textOf(value)), Math.abs(share) >= 10 && make("small", {}, ` ${share}\u00a0%`)], { class: `${side} ${same}`,
    title: `${textOf(value)}: ${share}\u00a0% of the distance`,
    style: { background: share ? `rgba(${hue}, ${(0.45 * part).toFixed(3)})` : "" } });
}

function nearTable(i, most) {
  const near = nearOf(i), total = c => near.reduce((sum, each) => sum + Math.abs(each.shares[c]), 0);
  const largest = Math.max(1, ...near.flatMap(each => [...each.shares].map(Math.abs)));
  const order = columns.map((_, c) => c);
  if (state.byShare || most < order.length) order.sort((a, b) => total(b) - total(a));
  const some = order.slice(0, most), others = order.length - some.length + data.hidden;
  const heads = near.map(each => heading([linkTo(each.row), target && make("small", {}, textOf(given(each.row))),
    make("small", { class: "soft" }, `distance ${each.distance.toFixed(2)}`)]));
  const lines = some.map(c => tr(rowHead(breakable(columns[c].name), { title: columns[c].name }),
    td(whole(textOf(valueOf(columns[c], i))), { class: `mine ${sideOf(columns[c]) ?? ""}` }),
    near.map(each => nearCell(each, c, i, largest))));
  const left = each => 100 - some.reduce((sum, c) => sum + each.shares[c], 0);
  // less than what rounding may leave is nothing
  const rest = each => td(`${Math.abs(left(each)) > some.length / 2 ? left(each) : 0}\u00a0%`);
  if (others) lines.push(tr(rowHead(`${others} other columns`), td("", { class: "mine" }), near.map(rest)));
  return make("table", { class: "near" }, make("thead", {}, tr(make("td"),
    heading("this row", { class: "mine" }), heads)), make("tbody", {}, lines));
}

function nearPart(i, most) {
  const toggle = event => {
    state.byShare = event.target.checked;
    describe();
    document.querySelector("#row-card .by-share").focus();
  };
  return [make("h3", {}, "Most similar rows"),
    note("Orange cells make the two rows differ: the darker, the larger their share of the distance. Shares of ",
      "10\u00a0% and more are written out."),
    make("label", { class: "soft no-print" }, make("input", { type: "checkbox", class: "by-share", checked: state.byShare,
      onchange: toggle }), " columns with the largest shares first"),
    make("div", { class: "scroll" }, nearTable(i, most))];
}

function madePart(i) {
  // base + rows + all others = vote; then the calibration: the probability or number that is shown above
  if (!isPredicted) return [];
  const size = target.deciders.k, weights = slice(target.deciders.weights, i, size);
  const code = target.likely?.[i][0], label = isClasses ? textOf(target.levels[code]) : target.name;
  const mean = isClasses ? target.mean[code] : target.mean, vote = target.votes[i];
  const end = isClasses ? target.probabilities[i][0] : target.predicted[i];
  const own = row => isClasses ? Number(target.codes[row] === code) : target.values[row];
  const rows = slice(target.deciders.rows, i, size), pushes = rows.map((row, r) => weights[r] * (own(row) - mean));
  const others = vote - mean - pushes.reduce((sum, push) => sum + push, 0), correction = end - vote;
  const largest = Math.max(...[...pushes, others, correction].map(Math.abs), 1e-12);
  const text = value => isClasses ? `${(100 * value).toFixed(1)}\u00a0%` : textOf(value);
  const steps = [isClasses && "calibration", isWeighted && !isNew(i) && "cross-fitting"].filter(Boolean).join(" and ");
  const line = (who, label, push) => tr(rowHead(who), td(label), td(signed(push, text)), make("td",
    { class: "push", "aria-hidden": "true" }, make("i", { class: push > 0 ? "up" : "down",
      style: { width: `${50 * Math.abs(push) / largest}%` } })));
  const sum = (who, value) => make("tr", { class: "sum" }, rowHead(who), td(""), td(text(value)), td(""));
  const lines = [sum(isClasses ? `share of ${label} among all rows` : "mean of all rows", mean),
    ...rows.map((row, r) => line(linkTo(row), textOf(given(row)), pushes[r])),
    line(`${known - !isNew(i) - size} other rows together`, "", others),
    Math.abs(correction) > 1e-6 * Math.abs(end) && line(steps, "", correction),
    sum(isClasses ? `probability of ${label}` : `predicted ${label}`, end)];
  return [make("h3", {}, "What made the prediction"),
    note("Start with the mean of all rows. A row with a positive weight moves the number towards its own label, one "
      + "with a negative weight away from it."),
    make("div", { class: "scroll" }, make("table", { class: "made" }, make("tbody", {}, lines)))];
}

// ---- paper: one sheet for each new row, or for the row that is open ------------------------------------------------

function layOutSheets() {
  const rows = data.new ? Array.from({ length: data.new }, (_, i) => i) : [state.row];
  $("sheets").replaceChildren(...rows.map(i => make("article", {}, make("h2", {}, titleOf(i)), ...partsOf(i, ON_PAPER))));
}

// ---- start ----------------------------------------------------------------------------------------------------------

function listenToPage() {
  $("search").addEventListener("input", event => find(event.target.value));
  $("colour").addEventListener("change", event => colourBy(event.target.value));
  window.addEventListener("beforeprint", layOutSheets);
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colourBy(state.colour));
  window.addEventListener("hashchange", fromAddress);
  document.addEventListener("keydown", event => {
    const typing = /INPUT|SELECT/.test(event.target.tagName);
    if (event.key === "/" && !typing) {
      event.preventDefault();
      $("search").focus();
    } else if (event.key === "Escape" && event.target === $("search")) {
      $("search").value = "";
      find("");
    }
  });
}

function start() {
  const example = ofColumns.find(field => field.kind === "number") ?? ofColumns[0];
  $("hint").textContent = `Words, or conditions without spaces such as ${quoted(example.name)}${
    example.kind === "number" ? ">=" : "="}${quoted(shown(example, 0))}`;
  const colours = [...computed, ...ofColumns.filter(field => field.levels || field.kind === "number")];
  const choice = field => make("option", { value: field.key }, field.name);
  $("colour").append(make("optgroup", { label: "Answers" }, colours.filter(field => computed.includes(field)).map(choice)),
    make("optgroup", { label: "Columns" }, colours.filter(field => !computed.includes(field)).map(choice)));
  fromAddress();
  colourBy(colours[0].key);
  drawTabs();
  find("");
  listenToPage();
  listenToTabs();
  listenToPointers();
  listenToMapKeys();
}

start();
