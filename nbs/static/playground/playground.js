// What the visitor sees and does; the mathematics is in solver.js.
// The points are kept as they lie before the plane is stretched. Everything else is computed from them anew at each
// change: the stretched points, both families of regions, and what the stretching has changed.
"use strict";
(() => {
  const $ = id => document.getElementById(id);
  const form = $("controls"), planes = ["euclidean", "learned"].map($);
  // Okabe and Ito's colours, told apart by nearly every eye; letters and borders say the same without colour.
  const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442"];
  const PRESETS = {
    square: [[1, 1], [-1, 1], [-1, -1], [1, -1]],
    centre: [[1, 1], [-1, 1], [-1, -1], [1, -1], [0.1, 0.05]],
    crowd: [[-1.6, -0.9], [-1.1, -0.2], [-0.5, -0.6], [-0.2, 0.3], [0.3, -0.1], [0.7, 0.7], [1.2, 0.4], [1.7, 1.1],
      [0.1, 1.2], [-0.9, -1.3]],
  };
  const ALPHAS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];   // 0.03 is the default in Python
  const MOST = 12, FEWEST = 2;
  const letter = i => String.fromCharCode(65 + i);

  let points = [], selected = 0, half = 2, coarse = false;   // half: the view reaches from -half to half
  let cursor = null;   // where the visitor points at, in the stretched plane; null: at the selected point
  let view;   // all that is computed from the above

  // ---- the stretched plane --------------------------------------------------------------------------------------

  // rotation * shear * stretch; the stretching keeps areas, so that the picture keeps its size
  function matrix() {
    const s = 2 ** (form.stretch.valueAsNumber / 2), h = form.shear.valueAsNumber;
    const angle = form.rotation.valueAsNumber * Math.PI / 180, c = Math.cos(angle), d = Math.sin(angle);
    return [[c * s, (c * h - d) / s], [d * s, (d * h + c) / s]];
  }
  const times = ([[a, b], [c, d]], [x, y]) => [a * x + b * y, c * x + d * y];
  const inverse = ([[a, b], [c, d]]) => [[d, -b], [-c, a]];   // the determinant is one

  // The share of the points of a grid that have the same nearest point before and after.
  function share(before, after, M) {
    const steps = 41, reach = 1.5 * Math.max(1, ...points.flat().map(Math.abs));
    let same = 0;
    for (let i = 0; i < steps; i++)
      for (let j = 0; j < steps; j++) {
        // a little off centre: on the axes symmetric points tie, and round-off would decide
        const p = [(2 * i / (steps - 1) - 0.987) * reach, (2 * j / (steps - 1) - 1.009) * reach], q = times(M, p);
        same += selfEncoder.nearest(before, ...p) === selfEncoder.nearest(after, ...q);
      }
    return same / steps ** 2;
  }

  function options() {
    const [nothing, units] = form.invariance;   // a kernel takes raw numbers for no one's units: that is not on offer
    nothing.disabled = selfEncoder.isKernel(form.output.value);
    if (nothing.disabled && nothing.checked) units.checked = true;
    return { invariance: form.invariance.value, output: form.output.value, alpha: ALPHAS[form.penalty.value] };
  }

  function compute() {
    const M = matrix(), stretched = points.map(p => times(M, p)), trained = selfEncoder.train(stretched, options());
    const before = [selfEncoder.euclidean(points), selfEncoder.train(points, options()).functions];
    const after = [selfEncoder.euclidean(stretched), trained.functions];
    const kept = after.map((functions, i) => share(before[i], functions, M));
    view = { M, stretched, trained, functions: after, kept };
  }

  // Zooms out when the points would leave the picture; never while one is held, or it would run away from the hand.
  function fit() {
    const M = matrix();
    half = Math.max(2, ...points.map(p => 1.35 * Math.max(...times(M, p).map(Math.abs))));
  }

  // ---- pictures -------------------------------------------------------------------------------------------------

  const channels = color => [1, 3, 5].map(i => parseInt(color.slice(i, i + 2), 16));
  const dark = () => {
    const wish = document.documentElement.dataset.theme;
    return wish ? wish === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };

  // Colours of regions: mixed with the paper, and more so from the eighth on, where the palette starts again.
  function tints() {
    const paper = dark() ? [20, 24, 28] : [255, 255, 255];
    return points.map((_, i) => channels(PALETTE[i % 7]).map((c, k) => {
      const share = (dark() ? 0.45 : 0.5) * (i < 7 ? 1 : 0.5);
      return Math.round(share * c + (1 - share) * paper[k]);
    }));
  }

  // Each pixel gets the colour of its largest function, and ink where the region changes.
  function regions(canvas, functions) {
    const size = Math.round(canvas.clientWidth * Math.min(devicePixelRatio, 2) / (coarse ? 3 : 1));
    canvas.width = canvas.height = size;
    const context = canvas.getContext("2d"), image = context.createImageData(size, size);
    const data = new Uint32Array(image.data.buffer);
    const pack = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
    const colors = tints().map(pack), ink = pack(dark() ? [221, 227, 233] : [29, 35, 41]);
    const owners = new Uint8Array(size * size), pixel = 2 * half / size;
    for (let row = 0, at = 0; row < size; row++)
      for (let column = 0; column < size; column++, at++) {
        const x = (column + 0.5) * pixel - half, y = half - (row + 0.5) * pixel;
        const owner = owners[at] = selfEncoder.nearest(functions, x, y);
        const border = column && owners[at - 1] !== owner || row && owners[at - size] !== owner;
        data[at] = border ? ink : colors[owner];
      }
    context.putImageData(image, 0, 0);
    grid(context, size);
  }

  // The lines x = k and y = k of the plane before it was stretched: they show what was done to it.
  function grid(context, size) {
    const place = p => times(view.M, p).map((v, k) => size / 2 * (1 + (k ? -v : v) / half));
    context.strokeStyle = dark() ? "#ffffff" : "#000000";
    for (let k = -12; k <= 12; k++)
      for (const ends of [[[k, -12], [k, 12]], [[-12, k], [12, k]]]) {
        context.globalAlpha = k ? 0.1 : 0.3;
        context.beginPath();
        for (const end of ends) context.lineTo(...place(end));
        context.stroke();
      }
  }

  // ---- the points as buttons ------------------------------------------------------------------------------------

  const buttons = plane => [...plane.querySelectorAll(".point")];

  function newButton(i, plane) {
    const button = document.createElement("button"), name = document.createElement("span");
    button.type = "button";
    button.className = "point";
    button.style.setProperty("--hue", PALETTE[i % 7]);
    name.textContent = letter(i);
    button.append(name);
    // The right picture shows the same points: for keyboards and screen readers one set of them is enough.
    if (plane === planes[1]) { button.tabIndex = -1; button.setAttribute("aria-hidden", "true"); }
    return button;
  }

  function arrange(plane, functions) {
    const have = buttons(plane);
    have.slice(points.length).forEach(button => button.remove());
    for (let i = have.length; i < points.length; i++) plane.append(newButton(i, plane));
    buttons(plane).forEach((button, i) => {
      const [x, y] = view.stretched[i], lost = selfEncoder.nearest(functions, x, y) !== i;
      button.style.left = `${50 + 50 * x / half}%`;
      button.style.top = `${50 - 50 * y / half}%`;
      button.classList.toggle("lost", lost);
      button.classList.toggle("selected", i === selected);
      button.setAttribute("aria-label", `Point ${letter(i)} at ${x.toFixed(2)}, ${y.toFixed(2)}`);
    });
  }

  // ---- weights as lines -----------------------------------------------------------------------------------------

  // From the cursor to each point, the thicker the more it counts there; kernel only.
  function lines() {
    const { weights } = view.trained, from = cursor ?? view.stretched[selected];
    $("weights").hidden = !weights;
    if (!weights) { $("lines").replaceChildren(); return; }
    const f = weights(from);
    $("lines").replaceChildren(...f.map((weight, i) => {
      const line = document.createElementNS("http://www.w3.org/2000/svg", "line"), to = view.stretched[i];
      const ends = { x1: from[0], y1: -from[1], x2: to[0], y2: -to[1] };
      for (const name in ends) line.setAttribute(name, ends[name] / half);
      line.setAttribute("stroke-width", 12 * Math.min(1, Math.abs(weight)));
      line.setAttribute("class", weight < 0 ? "minus" : "plus");
      return line;
    }));
    const signed = weight => `${weight < 0 ? "−" : "+"}${Math.abs(weight).toFixed(2)}`;
    $("weights").textContent = `Weights at ${cursor ? "the cursor" : letter(selected)}: ` +
      `${f.map((weight, i) => `${letter(i)} ${signed(weight)}`).join(", ")}. They sum to one; dashed: negative.`;
  }

  // ---- words ----------------------------------------------------------------------------------------------------

  const percent = part => part === 1 ? "All" : `${Math.min(99, Math.round(100 * part))} %`;

  function describe() {
    ["euclidean", "learned"].forEach((name, i) => {
      $(`${name}-meter`).value = 100 * view.kept[i];
      $(`${name}-kept`).value = `${percent(view.kept[i])} of the plane keeps its nearest point`;
    });
    const list = functions => selfEncoder.ranking(functions, view.stretched[selected], selected)
      .map(group => group.map(letter).join(" = ")).join(", ");
    const own = ([x, y], i) => selfEncoder.nearest(view.functions[1], x, y) === i;
    const lost = points.length - view.stretched.filter(own).length;
    $("neighbors").textContent = `Neighbours of ${letter(selected)}, nearest first. ` +
      `Euclidean: ${list(view.functions[0])}. Self-encoder: ${list(view.functions[1])}.`;
    const { steps, loss } = view.trained, method = form.output.value === "sigmoid" ? "Newton" : "L-BFGS";
    $("training").textContent = (selfEncoder.isKernel(form.output.value) ? "Solved just now, in closed form." :
      `Trained just now: ${steps} steps of ${method}, loss ${loss.toFixed(2)}.`) +
      (lost ? ` The network takes ${lost} of the ${points.length} points for another (dashed).` : "");
    $("words").setAttribute("aria-busy", coarse);   // a screen reader waits until the hand rests
    const shown = { stretch: `× ${(2 ** form.stretch.valueAsNumber).toFixed(2)}`,
      shear: form.shear.valueAsNumber.toFixed(1), rotation: `${form.rotation.value}°`, penalty: options().alpha };
    for (const name in shown) form[name].parentElement.querySelector("output").value = shown[name];
    $("add").disabled = points.length === MOST;
    $("remove").disabled = points.length === FEWEST;
    $("remove").textContent = `Remove point ${letter(selected)}`;
  }

  // ---- one picture per frame ------------------------------------------------------------------------------------

  let frame = 0, rest = 0;

  function draw() {
    frame = 0;
    compute();
    planes.forEach((plane, i) => {
      arrange(plane, view.functions[i]);
      regions(plane.querySelector("canvas"), view.functions[i]);
    });
    describe();
    lines();
    document.body.dataset.drawn = coarse ? "coarse" : "fine";
  }

  // While something moves a coarse picture keeps up with the hand; the fine one follows when it rests.
  function change(moving = false) {
    coarse = moving;
    frame ||= requestAnimationFrame(draw);
    clearTimeout(rest);
    if (moving) rest = setTimeout(() => change(), 150);
  }

  // ---- what the visitor does ------------------------------------------------------------------------------------

  function place(i, [x, y]) {   // in the stretched plane, within the picture
    const within = v => Math.max(-0.98 * half, Math.min(0.98 * half, v));
    points[i] = times(inverse(matrix()), [within(x), within(y)]);
  }

  function where(event, plane) {
    const box = plane.querySelector("canvas").getBoundingClientRect();
    const across = (event.clientX - box.left) / box.width, down = (event.clientY - box.top) / box.height;
    return [half * (2 * across - 1), half * (1 - 2 * down)];
  }

  function add(p) {
    if (points.length === MOST) return;
    points.push([0, 0]);
    place(points.length - 1, p);
    selected = points.length - 1;
    change();
  }

  // A new point goes where there is most room.
  function roomiest() {
    let best = [0, 0], room = -1;
    for (let x = -0.8; x <= 0.8; x += 0.1)
      for (let y = -0.8; y <= 0.8; y += 0.1) {
        const p = [x * half, y * half];
        const free = Math.min(...view.stretched.map(q => Math.hypot(q[0] - p[0], q[1] - p[1])));
        if (free > room + 1e-9) { room = free; best = p; }
      }
    return best;
  }

  function remove(i) {
    if (points.length === FEWEST) return;
    points.splice(i, 1);
    selected = Math.min(i, points.length - 1);
    fit();
    change();
  }

  function restart() {
    points = PRESETS[form.preset.value].map(p => [...p]);
    selected = 0;
    fit();
    change();
  }

  for (const plane of planes) {
    plane.addEventListener("pointerdown", event => {
      const held = event.target.closest(".point");
      if (!held || event.button) return;
      event.preventDefault();
      selected = buttons(plane).indexOf(held);
      buttons(planes[0])[selected].focus({ preventScroll: true });   // so that arrow keys go on from here
      held.setPointerCapture(event.pointerId);
      const from = where(event, plane), at = times(matrix(), points[selected]);
      const move = e => {
        const to = where(e, plane);
        place(selected, at.map((v, k) => v + to[k] - from[k]));
        change(true);
      };
      held.addEventListener("pointermove", move);
      const drop = () => { held.removeEventListener("pointermove", move); fit(); change(); };
      held.addEventListener("lostpointercapture", drop, { once: true });
      change(true);
    });
    const point = event => {   // a held point has the cursor to itself
      cursor = event.target.closest(".point") ? null : where(event, plane);
      if (view) lines();
    };
    for (const name of ["pointermove", "pointerdown"]) plane.addEventListener(name, point);
    plane.addEventListener("pointerleave", () => { cursor = null; if (view) lines(); });
    plane.addEventListener("dblclick", event => { if (!event.target.closest(".point")) add(where(event, plane)); });
  }

  planes[0].addEventListener("focusin", event => {
    const i = buttons(planes[0]).indexOf(event.target);
    if (i >= 0 && i !== selected) { selected = i; change(); }
  });

  planes[0].addEventListener("keydown", event => {
    const i = buttons(planes[0]).indexOf(event.target);
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (i < 0 || !move && !["Delete", "Backspace"].includes(event.key)) return;
    event.preventDefault();
    if (!move) { remove(i); buttons(planes[0])[selected].focus(); return; }
    const step = half / (event.shiftKey ? 200 : 20);
    place(i, times(matrix(), points[i]).map((v, k) => v + step * move[k]));   // `view` may be a frame old
    change(true);
  });

  form.addEventListener("input", event => {
    if (event.target.name === "preset") return restart();
    fit();
    change(event.target.type === "range");
  });
  form.addEventListener("submit", event => event.preventDefault());
  $("add").addEventListener("click", () => add(roomiest()));
  $("remove").addEventListener("click", () => remove(selected));
  $("undo").addEventListener("click", () => {
    form.stretch.value = form.shear.value = form.rotation.value = 0;
    fit();
    change();
  });
  $("again").addEventListener("click", () => { form.reset(); restart(); });

  // ---- light, dark, size ----------------------------------------------------------------------------------------

  function theme() {   // the site's switch, if it was used
    try {
      const wish = localStorage.getItem("theme");
      if (wish) document.documentElement.dataset.theme = wish;
    } catch { /* private window: the system decides */ }
    if (points.length) change();
  }
  if (window.parent !== window) document.documentElement.classList.add("framed");
  addEventListener("storage", theme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => change());
  theme();
  form.reset();   // a browser that remembers the sliders of the last visit would begin with a stretched plane
  restart();
  new ResizeObserver(() => change()).observe(planes[0]);
})();
