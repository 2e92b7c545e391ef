// The self-encoder without hidden layer for a few points of the plane: the same model, objective and optimum as
// SelfEncoder(invariance=..., output_activation=..., alpha=...) in Python; and the kernel self-encoder, as
// KernelSelfEncoder(kernel=..., invariance=..., alpha=...) in Python. Tested against both on fixed cases.
// A classic script, because a page opened from disk may not load modules; node finds it as a module all the same.
"use strict";
const selfEncoder = (() => {
  // The product of a with the part of b that begins at `start`: a loop, as training spends its time here.
  function dot(a, b, start = 0) {
    let sum = 0;
    for (let i = 0; i < a.length; i++) sum += a[i] * b[start + i];
    return sum;
  }
  const sum = values => values.reduce((a, b) => a + b, 0);
  const mean = values => sum(values) / values.length;
  const sigmoid = u => 1 / (1 + Math.exp(-u));
  const softplus = u => Math.max(u, 0) + Math.log1p(Math.exp(-Math.abs(u)));

  // ---- coordinates: z = matrix (x - offset) --------------------------------------------------------------------

  // What must not matter ("scale": units and origins; "affine": any invertible affine map) is taken out here, so
  // that training never sees it. A direction in which the points do not vary says nothing and gets no coordinate.
  function coordinates(points, invariance) {
    const columns = [0, 1].map(j => points.map(p => p[j]));
    const offset = columns.map(mean);
    const deviation = columns.map((column, j) => Math.sqrt(mean(column.map(x => (x - offset[j]) ** 2))));
    const varies = deviation.map((s, j) => s > 1e-12 * Math.max(...columns[j].map(Math.abs)));
    const axes = [[1, 0], [0, 1]];
    if (invariance === "none") return { offset: [0, 0], matrix: axes.filter((_, j) => varies[j]) };
    const matrix = axes.map((axis, j) => axis.map(a => a / deviation[j])).filter((_, j) => varies[j]);
    if (invariance === "scale" || matrix.length < 2) return { offset, matrix };
    // Affine: the first standardised column, and what the second does not share with it. That leaves a rotation
    // free, but the objective has no preferred direction, so the logits do not depend on it.
    const [first, second] = matrix;
    const z = points.map(p => [dot(first, [p[0] - offset[0], 0]), dot(second, [0, p[1] - offset[1]])]);
    const shared = mean(z.map(([a, b]) => a * b));
    const rest = Math.sqrt(mean(z.map(([a, b]) => (b - shared * a) ** 2)));
    // On a line both columns say the same: their mean treats the two alike.
    if (rest < 1e-9) return { offset, matrix: [first.map((s, j) => (s + shared * second[j]) / 2)] };
    return { offset, matrix: [first, second.map((s, j) => (s - shared * first[j]) / rest)] };
  }

  const apply = ({ offset, matrix }, p) => matrix.map(row => dot(row, [p[0] - offset[0], p[1] - offset[1]]));

  // ---- sigmoid: n separate logistic regressions, by Newton -----------------------------------------------------

  // Gauss without pivoting: the systems are small, symmetric and positive definite.
  function solve(A, y) {
    const rows = A.map((row, i) => [...row, y[i]]), k = y.length, x = Array(k).fill(0);
    for (let i = 0; i < k; i++)
      for (let j = i + 1; j < k; j++) {
        const factor = rows[j][i] / rows[i][i];
        for (let c = i; c <= k; c++) rows[j][c] -= factor * rows[i][c];
      }
    for (let i = k - 1; i >= 0; i--)
      x[i] = (rows[i][k] - dot(rows[i].slice(i + 1, k), x.slice(i + 1))) / rows[i][i];
    return x;
  }

  // Eq. 1 of one output, plus alpha/2 |w|^2 (the bias, last in theta, is free): its value, gradient and Hessian.
  function regression(X, own, alpha, theta) {
    const k = theta.length, gradient = theta.map((t, i) => i < k - 1 ? alpha * t : 0);
    const hessian = theta.map((_, i) => theta.map((_, j) => i === j && i < k - 1 ? alpha : 0));
    let value = dot(gradient, theta) / 2;   // the penalty
    X.forEach((x, row) => {
      const u = dot(x, theta), p = sigmoid(u), target = row === own ? 1 : 0;
      value += softplus(target ? -u : u);
      for (let i = 0; i < k; i++) {
        gradient[i] += (p - target) * x[i];
        for (let j = 0; j < k; j++) hessian[i][j] += p * (1 - p) * x[i] * x[j];
      }
    });
    return { value, gradient, hessian };
  }

  // From the intercept alone, so that no start has to be chosen.
  function newton(X, own, alpha) {
    let theta = X[0].map((_, i) => i < X[0].length - 1 ? 0 : -Math.log(X.length - 1));
    let now = regression(X, own, alpha, theta);
    for (let steps = 1; ; steps++) {
      const step = solve(now.hessian, now.gradient), promise = dot(step, now.gradient) / 2;
      let size = 1, next, there;
      do {   // damped: a full step may overshoot far from the optimum
        next = theta.map((t, i) => t - size * step[i]);
        there = regression(X, own, alpha, next);
        size /= 2;
      } while (there.value > now.value + 1e-12 && size > 1e-6);
      [theta, now] = [next, there];
      if (promise < 1e-14 || steps === 50) return { theta, steps, value: now.value };
    }
  }

  // ---- SoftMax: all outputs together, by L-BFGS ----------------------------------------------------------------

  // Eq. 1 over a SoftMax, plus the penalty. theta holds the outputs one after the other.
  function softmaxLoss(X, alpha, theta) {
    const n = X.length, k = X[0].length, gradient = theta.map((t, i) => i % k < k - 1 ? alpha * t : 0);
    let value = dot(gradient, theta) / 2;   // the penalty
    X.forEach((x, own) => {
      const u = X.map((_, j) => dot(x, theta, j * k)), top = Math.max(...u);
      const e = u.map(v => Math.exp(v - top)), total = sum(e), odds = Array(n).fill(0);   // odds: p / (1 - p)
      for (let j = 0; j < n; j++) {
        let others = 0;   // 1 - p as their sum: a difference would lose a p that is nearly one
        for (let i = 0; i < n; i++) if (i !== j) others += e[i];
        if (j !== own) odds[j] = e[j] / Math.max(others, 1e-300);
      }
      const sumOfOdds = sum(odds);
      value += Math.log(total) - (u[own] - top) + sum(odds.map(Math.log1p));
      for (let j = 0; j < n; j++) {
        const slope = e[j] / total * (1 - sumOfOdds) + odds[j] - (j === own ? 1 : 0);
        for (let i = 0; i < k; i++) gradient[j * k + i] += slope * x[i];
      }
    });
    return { value, gradient };
  }

  // Two-loop recursion over the last ten steps, halving until the objective falls enough.
  function lbfgs(objective, theta) {
    let now = objective(theta), pairs = [], steps = 0;
    while (steps++ < 500) {
      const direction = now.gradient.map(g => -g), coefficients = [];
      for (const { s, y, sy } of [...pairs].reverse()) {
        const a = dot(s, direction) / sy;
        coefficients.unshift(a);
        y.forEach((v, i) => { direction[i] -= a * v; });
      }
      const last = pairs.at(-1), length = Math.sqrt(dot(direction, direction));
      const scale = last ? last.sy / dot(last.y, last.y) : 1 / Math.max(1, length);
      direction.forEach((_, i) => { direction[i] *= scale; });
      pairs.forEach(({ s, y, sy }, m) => {
        const b = coefficients[m] - dot(y, direction) / sy;
        s.forEach((v, i) => { direction[i] += b * v; });
      });
      const slope = dot(now.gradient, direction);
      let size = 1, next, there;
      do {
        next = theta.map((t, i) => t + size * direction[i]);
        there = objective(next);
        size /= 2;
      } while (!(there.value <= now.value + 2e-4 * size * slope) && size > 1e-9);
      if (!(there.value < now.value)) break;   // nothing lower can be told apart any more
      const s = next.map((t, i) => t - theta[i]), y = there.gradient.map((g, i) => g - now.gradient[i]), sy = dot(s, y);
      if (sy > 1e-14 * dot(y, y)) pairs = [...pairs.slice(-9), { s, y, sy }];
      [theta, now] = [next, there];
      if (dot(now.gradient, now.gradient) < 1e-16) break;
    }
    return { theta, steps, value: now.value };
  }

  // ---- the kernel self-encoder: similarities, and one system of equations ---------------------------------------

  // What the kernel compares, and how. "affine": whitened columns, Euclidean. "scale": clipped standard scores and
  // ranks of each column, as a sum of absolute differences. Gaussian: squared distances, and no ranks.
  function kernelView(points, invariance, gaussian) {
    const map = coordinates(points, invariance), n = points.length, clipped = v => Math.max(-3, Math.min(3, v));
    const squared = (a, b) => a.reduce((total, v, k) => total + (v - b[k]) ** 2, 0);
    const distance = gaussian ? squared : (a, b) => Math.sqrt(squared(a, b));
    if (invariance === "affine") return { place: p => apply(map, p), distance };
    if (gaussian) return { place: p => apply(map, p).map(clipped), distance };
    const columns = map.matrix.map(row => row[0] ? 0 : 1);
    // the share of points below a value less the share above, ties counted half
    const centred = (j, v) => sum(points.map(p => (p[j] < v) + (p[j] <= v))) / (2 * n) - 0.5;
    const factors = columns.map(j => 1 / Math.sqrt(mean(points.map(p => centred(j, p[j]) ** 2))));
    const place = p => [...apply(map, p).map(clipped), ...columns.map((j, k) => centred(j, p[j]) * factors[k])];
    return { place, distance: (a, b) => sum(a.map((v, k) => Math.abs(v - b[k]))) };
  }

  // The outputs f(x) = 1/n + P (k(x) - mean), and for each point its similarity k(x, x_i), which ranks as the distance
  // sqrt(2 - 2k) does. Both are linear in the similarities.
  function kernel(points, { invariance = "affine", alpha = 0.1, bandwidth = 0.5, gaussian = false } = {}) {
    const { place, distance } = kernelView(points, invariance, gaussian), Z = points.map(place), n = points.length;
    const pairs = Z.flatMap((a, i) => Z.slice(i + 1).map(b => distance(a, b))).sort((a, b) => a - b);
    const middle = (pairs[pairs.length - 1 >> 1] + pairs[pairs.length >> 1]) / 2;
    const width = bandwidth * (middle || pairs.at(-1) || 1);
    const similarities = z => Z.map(other => Math.exp(-distance(z, other) / width));
    const K = Z.map(similarities), m = K.map(mean), grand = mean(m);
    const Kc = K.map((row, i) => row.map((k, j) => k - m[i] - m[j] + grand));
    const system = Kc.map((row, i) => row.map((k, j) => k + (i === j ? alpha : 0)));
    const P = Z.map((_, j) => solve(system, Z.map((_, i) => i === j ? 1 : 0)));   // symmetric: columns are rows
    const outputs = P.map(row => {   // over the similarities, and a constant
      const centred = row.map(v => v - mean(row));
      return [...centred, 1 / n - dot(centred, m)];
    });
    const functions = Z.map((_, i) => [...Z.map((_, j) => i === j ? 1 : 0), 0]);   // the similarity to point i
    functions.features = (x, y) => [...similarities(place([x, y])), 1];
    const weights = ([x, y]) => { const k = functions.features(x, y); return outputs.map(output => dot(output, k)); };
    return { functions, weights };
  }

  // ---- the model ------------------------------------------------------------------------------------------------

  const isKernel = output => ["kernel", "gaussian"].includes(output);

  // Trains on points [[x, y], ...]. Returns one function [w_x, w_y, b] of the plane for each point, its logit, with
  // the number of steps and the mean loss. alpha counts per coordinate, as in Python.
  function train(points, { invariance = "affine", output = "sigmoid", alpha = 0.03 } = {}) {
    if (isKernel(output)) return kernel(points, { invariance, alpha, gaussian: output === "gaussian" });
    const map = coordinates(points, invariance), X = points.map(p => [...apply(map, p), 1]), k = X[0].length;
    const penalty = alpha * (k - 1), n = points.length;
    let thetas, steps, value;
    if (output === "sigmoid") {
      const fits = points.map((_, own) => newton(X, own, penalty));
      thetas = fits.map(fit => fit.theta);
      steps = Math.max(...fits.map(fit => fit.steps));
      value = sum(fits.map(fit => fit.value));
    } else {
      const fit = lbfgs(theta => softmaxLoss(X, penalty, theta), Array(n * k).fill(0));
      thetas = points.map((_, j) => fit.theta.slice(j * k, j * k + k));
      ({ steps, value } = fit);
    }
    return { functions: thetas.map(theta => onPlane(unbiased(theta, penalty), map)), steps, loss: value / n };
  }

  // The penalty moved into the bias, as `bregman_bias` does in Python: without it outer points would take over the
  // middle; with it the logits rank, but for the small number of points, by a divergence from each point.
  function unbiased(theta, penalty) {
    const w = theta.slice(0, -1);
    return [...w, theta.at(-1) - penalty / 2 * dot(w, w)];
  }

  // Weights over the coordinates as weights over the plane.
  function onPlane(theta, { offset, matrix }) {
    const w = [0, 1].map(j => dot(matrix.map(row => row[j]), theta));
    return [...w, theta.at(-1) - dot(w, offset)];
  }

  // The squared distance to p, less |x|^2 and halved: linear functions rank by Euclidean distance too.
  const euclidean = points => points.map(p => [p[0], p[1], -dot(p, p) / 2]);

  // The functions are linear: in x, y and 1, or in the similarities and 1.
  const features = (functions, x, y) => functions.features ? functions.features(x, y) : [x, y, 1];
  const values = (functions, [x, y]) => { const t = features(functions, x, y); return functions.map(f => dot(f, t)); };

  // The index of the largest function at (x, y); the first of several, as in Python.
  function nearest(functions, x, y) {
    const t = features(functions, x, y);
    let best = 0, top = -Infinity;
    for (let i = 0; i < functions.length; i++) {
      const u = dot(functions[i], t);
      if (u > top) { top = u; best = i; }
    }
    return best;
  }

  // Everyone but `own` at its point, nearest first, in groups of equals (symmetric points tie up to round-off).
  function ranking(functions, point, own) {
    const u = values(functions, point), groups = [];
    const order = u.map((_, i) => i).filter(i => i !== own).sort((i, j) => u[j] - u[i]);
    for (const i of order) {
      const last = groups.at(-1);
      if (last && u[last[0]] - u[i] < 1e-7 * (1 + Math.abs(u[i]))) last.push(i);
      else groups.push([i]);
    }
    return groups.map(group => group.sort((i, j) => i - j));
  }

  return { train, isKernel, euclidean, values, nearest, ranking };
})();
if (typeof module !== "undefined") module.exports = selfEncoder;
