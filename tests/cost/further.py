"""Gradients of programs of many kinds, written from the language alone: sparse and segmented data, masks, factorisations by loops and slices, dynamic programming,
layers of networks, steps over time, filters of particles. A program is as in tests/cost/programs.py, and held to the same bound.

    python -m tests.cost.ratio further
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cost.programs import Program, Rng, matrix, positive, sized, sparse, system, vector


def pairs_of(n: int, rng: Rng) -> tuple[Any, ...]:
    """A sparse matrix by rows, columns and values, and a vector."""
    return rng.integers(0, n, 3 * n), rng.integers(0, n, 3 * n), rng.normal(size=3 * n), rng.normal(size=n)


def by_segments(n: int, rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=(3 * n, 4)), rng.integers(0, n, 3 * n), rng.normal(size=(n, 4))


def chains(n: int, rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=n), rng.integers(0, n, n), rng.integers(0, n, n)


def masked(n: int, rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=(n, n)), rng.random((n, n)) < 0.5


def two_series(n: int, rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=n), rng.normal(size=n)


def markov(n: int, rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=(n, 4)), rng.normal(size=(4, 4))


def heads(n: int, rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=(n, 6)), rng.normal(size=(n, 6)), rng.normal(size=(n, 6))


def cell(gates: int) -> Any:
    def arguments(n: int, rng: Rng) -> tuple[Any, ...]:
        return rng.normal(size=(n, 5)), rng.normal(size=(gates * 4, 5)) / 3, rng.normal(size=(gates * 4, 4)) / 3, rng.normal(size=gates * 4)
    return arguments


def layer(n: int, rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=(2 * n, n)), rng.normal(size=n), rng.normal(size=n)


def tridiagonal(n: int, rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=n), 4.0 + rng.random(n), rng.normal(size=n), rng.normal(size=n)


def cloud(n: int, rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=(4 * n,)), rng.normal(size=(n, 4 * n)), rng.normal(size=n), 0.7


SOFT = "    def soft(a, b, c):\n        m = minimum(minimum(a, b), c)\n        return m - log(exp(m - a) + exp(m - b) + exp(m - c))\n"

FURTHER = [
    # sparse and segmented
    Program("coo product", "def f(row: i64[nnz], col: i64[nnz], val: f64[nnz], x: f64[n]) -> f64:\n    y = zeros(n)\n    for e in range(nnz):\n        y[row[e]] += val[e] * x[col[e]]\n    return sum(v * v for v in y)\n", (2, 3), pairs_of),
    Program("coo product by hist", "def f(row: i64[nnz], col: i64[nnz], val: f64[nnz], x: f64[n]) -> f64:\n    y = hist(add, 0.0, n, row, [val[e] * x[col[e]] for e in range(nnz)])\n    return sum(v * v for v in y)\n", (2, 3), pairs_of),
    Program("transposed csr product", "def f(ptr: i64[n + 1], col: i64[nnz], val: f64[nnz], x: f64[n]) -> f64:\n    y = zeros(n)\n    for i in range(n):\n        for e in range(ptr[i], ptr[i + 1]):\n            y[col[e]] += val[e] * x[i]\n    return sum(sin(v) for v in y)\n", (2, 3), sparse),
    Program("csr by a dense matrix", "def f(ptr: i64[n + 1], col: i64[nnz], val: f64[nnz], x: f64[n], b: f64[n, 4]) -> f64:\n    y = [[sum(val[e] * b[col[e], j] for e in range(ptr[i], ptr[i + 1])) for j in range(4)] for i in range(n)]\n    return sum(x[i] * y[i, j] * y[i, j] for i in range(n) for j in range(4))\n", (2, 3, 4), lambda n, rng: (*sparse(n, rng), rng.normal(size=(n, 4)))),
    Program("softmax of segments", "def f(ptr: i64[n + 1], val: f64[nnz]) -> f64:\n    s = 0.0\n    for i in range(n):\n        if ptr[i] < ptr[i + 1]:\n            m = max(val[e] for e in range(ptr[i], ptr[i + 1]))\n            z = sum(exp(val[e] - m) for e in range(ptr[i], ptr[i + 1]))\n            s += m + log(z)\n    return s\n", 1, lambda n, rng: sparse(n, rng)[::2][:2]),
    Program("messages along edges", "def f(h: f64[nnz, 4], to: i64[nnz], w: f64[n, 4]) -> f64:\n    s = zeros((n, 4))\n    for e in range(nnz):\n        for c in range(4):\n            s[to[e], c] += tanh(h[e, c]) * w[to[e], c]\n    return sum(v * v for row in s for v in row)\n", (0, 2), by_segments),
    Program("segment means by labels", "def f(x: f64[nnz, 4], label: i64[nnz], w: f64[n, 4]) -> f64:\n    count = hist(add, 0.0, n, label, [1.0 for e in range(nnz)])\n    return sum((x[e, c] / count[label[e]] - w[label[e], c]) ** 2 for e in range(nnz) for c in range(4))\n", (0, 2), by_segments),
    Program("gather of a gather", "def f(x: f64[n], i: i64[n], j: i64[n]) -> f64:\n    y = [x[i[a]] * x[a] for a in range(n)]\n    return sum(sin(y[j[a]]) * y[i[a]] for a in range(n))\n", 0, chains),
    Program("hops in a loop", "def f(x: f64[n], i: i64[n], j: i64[n]) -> f64:\n    for t in range(4):\n        x = [0.5 * x[i[a]] + sin(x[j[i[a]]]) for a in range(n)]\n    return sum(v * v for v in x)\n", 0, chains),
    Program("rows by an index, updated", "def f(x: f64[nnz, 4], label: i64[nnz], w: f64[n, 4]) -> f64:\n    for e in range(nnz):\n        w[label[e]] = 0.9 * w[label[e]] + 0.1 * x[e]\n    return sum(v * v for row in w for v in row)\n", (0, 2), by_segments),
    # masks
    Program("masked update", "def f(x: f64[n, n], m: at.bool_[n, n]) -> f64:\n    for t in range(3):\n        x = where(m, sin(x), 0.5 * x)\n    return sum(v * v for row in x for v in row)\n", 0, masked),
    Program("masked mean of rows", "def f(x: f64[n, n], m: at.bool_[n, n]) -> f64:\n    y = [sum(x[i, j] if m[i, j] else 0.0 for j in range(n)) / (1.0 + sum(1.0 if m[i, j] else 0.0 for j in range(n))) for i in range(n)]\n    return sum(v * v for v in y)\n", 0, masked),
    Program("update where it holds", "def f(x: f64[n, n], m: at.bool_[n, n]) -> f64:\n    for i in range(n):\n        for j in range(1, n):\n            if m[i, j]:\n                x[i, j] = x[i, j - 1] * x[i, j]\n            elif x[i, j] > 0.0:\n                x[i, j] += 0.5 * x[i, j - 1]\n    return sum(v for row in x for v in row)\n", 0, masked),
    Program("transposed convolution, gathered", "def f(x: f64[3, n], w: f64[3, 4, 3]) -> f64:\n    y = [[sum(x[c, (t - a) // 2] * w[c, o, a] for c in range(3) for a in range(3) if (t - a) % 2 == 0 and 0 <= (t - a) // 2 < n) for t in range(2 * n + 1)] for o in range(4)]\n    return sum(v * v for row in y for v in row)\n", (0, 1), lambda n, rng: (rng.normal(size=(3, n)), rng.normal(size=(3, 4, 3)))),
    Program("halves of a plane", "def f(x: f64[n, n]) -> f64:\n    return sum(sin(x[(i + 1) // 2, (j + i) // 2]) * (i + j) for i in range(n) for j in range(n) if (i + 1) // 2 < n and (i + j) // 2 < n)\n", 0, matrix),
    # factorisations and solves
    Program("lu with pivots", "def f(a: f64[n, n]) -> f64:\n    for k in range(n):\n        p = k\n        for i in range(k + 1, n):\n            if abs(a[i, k]) > abs(a[p, k]):\n                p = i\n        for j in range(n):\n            a[k, j], a[p, j] = a[p, j], a[k, j]\n        for i in range(k + 1, n):\n            a[i, k] = a[i, k] / a[k, k]\n            for j in range(k + 1, n):\n                a[i, j] -= a[i, k] * a[k, j]\n    return sum(log(abs(a[i, i])) for i in range(n))\n", 0, matrix),
    Program("gram schmidt", "def f(a: f64[n, n]) -> f64:\n    r = zeros((n, n))\n    for k in range(n):\n        r[k, k] = sqrt(sum(a[i, k] * a[i, k] for i in range(n)))\n        a[:, k] = a[:, k] / r[k, k]\n        for j in range(k + 1, n):\n            r[k, j] = sum(a[i, k] * a[i, j] for i in range(n))\n            a[:, j] = a[:, j] - a[:, k] * r[k, j]\n    return sum(v * v * (i + 1.0) for i, row in enumerate(r) for v in row)\n", 0, matrix),
    Program("householder", "def f(a: f64[n, n]) -> f64:\n    for k in range(n - 1):\n        s = sqrt(sum(a[i, k] * a[i, k] for i in range(k, n)))\n        v = [a[i, k] + (s if i == k else 0.0) if i >= k else 0.0 for i in range(n)]\n        b = 2.0 / sum(v[i] * v[i] for i in range(k, n))\n        w = [b * sum(v[i] * a[i, j] for i in range(k, n)) for j in range(n)]\n        for i in range(k, n):\n            for j in range(k, n):\n                a[i, j] -= v[i] * w[j]\n    return sum(a[i, i] for i in range(n))\n", 0, matrix),
    Program("givens", "def f(a: f64[n, n]) -> f64:\n    for j in range(n - 1):\n        for i in range(j + 1, n):\n            r = sqrt(a[j, j] * a[j, j] + a[i, j] * a[i, j])\n            c = a[j, j] / r\n            s = a[i, j] / r\n            for k in range(n):\n                a[j, k], a[i, k] = c * a[j, k] + s * a[i, k], c * a[i, k] - s * a[j, k]\n    return sum(a[i, i] for i in range(n))\n", 0, matrix),
    Program("cholesky by rows, and solve", "def f(a: f64[n, n], b: f64[n]) -> f64:\n    l = zeros((n, n))\n    for i in range(n):\n        for j in range(i + 1):\n            s = a[i, j] - sum(l[i, k] * l[j, k] for k in range(j))\n            l[i, j] = sqrt(s) if i == j else s / l[j, j]\n    y = zeros(n)\n    for i in range(n):\n        y[i] = (b[i] - sum(l[i, k] * y[k] for k in range(i))) / l[i, i]\n    return sum(v * v for v in y)\n", (0, 1), lambda n, rng: (*positive(n, rng), rng.normal(size=n))),
    Program("back substitution", "def f(a: f64[n, n], b: f64[n]) -> f64:\n    x = zeros(n)\n    for r in range(n):\n        i = n - 1 - r\n        x[i] = (b[i] - sum(a[i, j] * x[j] for j in range(i + 1, n))) / a[i, i]\n    return sum(sin(v) for v in x)\n", (0, 1), system),
    Program("tridiagonal", "def f(a: f64[n], b: f64[n], c: f64[n], d: f64[n]) -> f64:\n    for i in range(1, n):\n        w = a[i] / b[i - 1]\n        b[i] -= w * c[i - 1]\n        d[i] -= w * d[i - 1]\n    x = zeros(n)\n    x[n - 1] = d[n - 1] / b[n - 1]\n    for r in range(1, n):\n        x[n - 1 - r] = (d[n - 1 - r] - c[n - 1 - r] * x[n - r]) / b[n - 1 - r]\n    return sum(v * v for v in x)\n", (0, 1, 2, 3), tridiagonal),
    Program("conjugate gradients", "def f(a: f64[n, n], b: f64[n]) -> f64:\n    x = zeros(n)\n    r = b\n    p = b\n    for t in range(4):\n        q = a @ p\n        rr = sum(r * r)\n        alpha = rr / sum(p * q)\n        x = x + alpha * p\n        r = r - alpha * q\n        p = r + sum(r * r) / rr * p\n    return sum(x * b)\n", (0, 1), lambda n, rng: (*positive(n, rng), rng.normal(size=n))),
    Program("triangle of pairs", "def f(x: f64[n]) -> f64:\n    s = 0.0\n    for i in range(n):\n        for j in range(i):\n            s += exp(-(x[i] - x[j]) ** 2)\n    return s\n", 0, vector),
    # dynamic programming
    Program("soft time warping", "def f(x: f64[n], y: f64[n]) -> f64:\n" + SOFT + "    d = [[0.0 if i + j == 0 else 1000.0 for j in range(n + 1)] for i in range(n + 1)]\n    for i in range(1, n + 1):\n        for j in range(1, n + 1):\n            d[i, j] = (x[i - 1] - y[j - 1]) ** 2 + soft(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])\n    return d[n, n]\n", (0, 1), two_series),
    Program("time warping", "def f(x: f64[n], y: f64[n]) -> f64:\n    d = [[0.0 if i + j == 0 else 1000.0 for j in range(n + 1)] for i in range(n + 1)]\n    for i in range(1, n + 1):\n        for j in range(1, n + 1):\n            d[i, j] = abs(x[i - 1] - y[j - 1]) + minimum(minimum(d[i - 1, j], d[i, j - 1]), d[i - 1, j - 1])\n    return d[n, n]\n", (0, 1), two_series),
    Program("soft edit distance, a row", "def f(x: f64[n], y: f64[n]) -> f64:\n" + SOFT + "    row = [1.0 * j for j in range(n + 1)]\n    for i in range(n):\n        corner = row[0]\n        row[0] = i + 1.0\n        for j in range(n):\n            up = row[j + 1]\n            row[j + 1] = soft(up + 1.0, row[j] + 1.0, corner + tanh((x[i] - y[j]) ** 2))\n            corner = up\n    return row[n]\n", (0, 1), two_series),
    Program("viterbi", "def f(x: f64[n, 4], w: f64[4, 4]) -> f64:\n    v = x[0]\n    for t in range(1, n):\n        v = [max(v[i] + w[i, j] for i in range(4)) + x[t, j] for j in range(4)]\n    return max(v)\n", (0, 1), markov),
    Program("forward algorithm", "def f(x: f64[n, 4], w: f64[4, 4]) -> f64:\n    v = x[0]\n    for t in range(1, n):\n        m = max(v)\n        v = [m + log(sum(exp(v[i] - m + w[i, j]) for i in range(4))) + x[t, j] for j in range(4)]\n    return sum(v)\n", (0, 1), markov),
    Program("chain of products", "def f(x: f64[n]) -> f64:\n    d = zeros((n, n))\n    for l in range(1, n):\n        for i in range(n - l):\n            d[i, i + l] = min(d[i, i + k] + d[i + k + 1, i + l] + x[i] * x[i + k] * x[i + l] for k in range(l))\n    return d[0, n - 1]\n", 0, vector),
    # layers
    Program("largest of windows, strided", "def f(x: f64[2 * n + 1, 2 * n + 1]) -> f64:\n    y = [[max(x[2 * i + a, 2 * j + b] for a in range(3) for b in range(3)) for j in range(n)] for i in range(n)]\n    return sum(v * v for row in y for v in row)\n", 0, sized(lambda n: (2 * n + 1, 2 * n + 1)), (3, 6, 12)),
    Program("batch normalisation", "def f(x: f64[m, n], g: f64[n], b: f64[n]) -> f64:\n    mean = [sum(x[i, j] for i in range(m)) / m for j in range(n)]\n    var = [sum((x[i, j] - mean[j]) ** 2 for i in range(m)) / m for j in range(n)]\n    y = [[g[j] * (x[i, j] - mean[j]) / sqrt(var[j] + 1e-5) + b[j] for j in range(n)] for i in range(m)]\n    return sum(sin(v) for row in y for v in row)\n", (0, 1, 2), layer),
    Program("layer normalisation", "def f(x: f64[m, n], g: f64[n], b: f64[n]) -> f64:\n    s = 0.0\n    for i in range(m):\n        mu = sum(x[i]) / n\n        sd = sqrt(sum((x[i] - mu) ** 2) / n + 1e-5)\n        s += sum(tanh(g * (x[i] - mu) / sd + b))\n    return s\n", (0, 1, 2), layer),
    Program("attention with a mask", "def f(q: f64[n, 6], k: f64[n, 6], v: f64[n, 6]) -> f64:\n    s = [[sum(q[i] * k[j]) / 2.4 if j <= i else -1e9 for j in range(n)] for i in range(n)]\n    m = [max(row) for row in s]\n    e = [[exp(s[i, j] - m[i]) for j in range(n)] for i in range(n)]\n    z = [sum(row) for row in e]\n    o = [[sum(e[i, j] * v[j, c] for j in range(n)) / z[i] for c in range(6)] for i in range(n)]\n    return sum(x * x for row in o for x in row)\n", (0, 1, 2), heads),
    Program("attention of a triangle", "def f(q: f64[n, 6], k: f64[n, 6], v: f64[n, 6]) -> f64:\n    s = 0.0\n    for i in range(n):\n        w = [exp(sum(q[i, c] * k[j, c] for c in range(6)) / 2.4) for j in range(i + 1)]\n        z = sum(w)\n        for c in range(6):\n            s += (sum(w[j] * v[j, c] for j in range(i + 1)) / z) ** 2\n    return s\n", (0, 1, 2), heads),
    Program("rnn", "def f(x: f64[n, 5], w: f64[4, 5], u: f64[4, 4], b: f64[4]) -> f64:\n    h = zeros(4)\n    for t in range(n):\n        h = tanh(w @ x[t] + u @ h + b)\n    return sum(h)\n", (0, 1, 2, 3), cell(1)),
    Program("lstm", "def f(x: f64[n, 5], w: f64[16, 5], u: f64[16, 4], b: f64[16]) -> f64:\n    h = zeros(4)\n    c = zeros(4)\n    for t in range(n):\n        g = w @ x[t] + u @ h + b\n        c = c / (1.0 + exp(-g[4:8])) + tanh(g[8:12]) / (1.0 + exp(-g[0:4]))\n        h = tanh(c) / (1.0 + exp(-g[12:16]))\n    return sum(h)\n", (0, 1, 2, 3), cell(4)),
    Program("gru", "def f(x: f64[n, 5], w: f64[12, 5], u: f64[12, 4], b: f64[12]) -> f64:\n    h = zeros(4)\n    for t in range(n):\n        z = 1.0 / (1.0 + exp(-(w[0:4] @ x[t] + u[0:4] @ h + b[0:4])))\n        r = 1.0 / (1.0 + exp(-(w[4:8] @ x[t] + u[4:8] @ h + b[4:8])))\n        h = (1.0 - z) * h + z * tanh(w[8:12] @ x[t] + u[8:12] @ (r * h) + b[8:12])\n    return sum(h)\n", (0, 1, 2, 3), cell(3)),
    Program("padded convolution, strided", "def f(x: f64[3, 2 * n + 1, m], w: f64[4, 3, 3, 3]) -> f64:\n    y = [[[sum(w[o, c, a, b] * (x[c, 2 * i + a - 1, j + b - 1] if 0 <= 2 * i + a - 1 < 2 * n + 1 and 0 <= j + b - 1 < m else 0.0) for c in range(3) for a in range(3) for b in range(3)) for j in range(m)] for i in range(n + 1)] for o in range(4)]\n    return sum(maximum(v, 0.0) for p in y for row in p for v in row)\n", (0, 1), lambda n, rng: (rng.normal(size=(3, 2 * n + 1, n)), rng.normal(size=(4, 3, 3, 3))), (3, 6, 12)),
    Program("depthwise convolution", "def f(x: f64[4, n + 4, n + 4], w: f64[4, 3, 3]) -> f64:\n    y = [[[sum(w[c, a, b] * x[c, i + 2 * a, j + 2 * b] for a in range(3) for b in range(3)) for j in range(n)] for i in range(n)] for c in range(4)]\n    return sum(v * v for p in y for row in p for v in row)\n", (0, 1), lambda n, rng: (rng.normal(size=(4, n + 4, n + 4)), rng.normal(size=(4, 3, 3))), (6, 12)),
    Program("padded convolution of channels", "def f(x: f64[n, m, m], w: f64[k, n, 3, 3]) -> f64:\n    y = [[[sum(w[o, c, a, b] * (x[c, i + a - 1, j + b - 1] if 0 <= i + a - 1 < m and 0 <= j + b - 1 < m else 0.0) for c in range(n) for a in range(3) for b in range(3)) for j in range(m)] for i in range(m)] for o in range(k)]\n    return sum(v * v for p in y for row in p for v in row)\n", (0, 1), lambda n, rng: (rng.normal(size=(n, n, n)), rng.normal(size=(n, n, 3, 3))), (4, 8)),
    Program("convolution of channels", "def f(x: f64[n, m + 2, m + 2], w: f64[k, n, 3, 3]) -> f64:\n    y = [[[sum(w[o, c, a, b] * x[c, i + a, j + b] for c in range(n) for a in range(3) for b in range(3)) for j in range(m)] for i in range(m)] for o in range(k)]\n    return sum(v * v for p in y for row in p for v in row)\n", (0, 1), lambda n, rng: (rng.normal(size=(n, n + 2, n + 2)), rng.normal(size=(n, n, 3, 3))), (4, 8)),
    Program("embeddings and their mean", "def f(x: f64[nnz, 4], label: i64[nnz], w: f64[n, 4]) -> f64:\n    h = [sum(w[label[e], c] * x[e, c] for c in range(4)) for e in range(nnz)]\n    return sum(log(1.0 + exp(-v)) for v in h) / nnz\n", (0, 2), by_segments),
    # over time
    Program("leapfrog of bodies", "def f(x: f64[n, 2], v: f64[n, 2], h: f64) -> f64:\n    for t in range(3):\n        a = [[sum((x[j, c] - x[i, c]) / (0.1 + sum((x[j] - x[i]) ** 2)) ** 1.5 for j in range(n)) for c in range(2)] for i in range(n)]\n        v = v + h * a\n        x = x + h * v\n    return sum(p * p for row in x for p in row)\n", (0, 1, 2), lambda n, rng: (rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), 0.01)),
    Program("runge kutta of a line of cells", "def f(y: f64[n], h: f64, d: f64) -> f64:\n    def slope(u):\n        return [d * ((u[i - 1] if i > 0 else u[i]) - 2.0 * u[i] + (u[i + 1] if i + 1 < n else u[i])) + u[i] * (1.0 - u[i]) for i in range(n)]\n    for t in range(3):\n        k1 = slope(y)\n        k2 = slope(y + 0.5 * h * k1)\n        k3 = slope(y + 0.5 * h * k2)\n        k4 = slope(y + h * k3)\n        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)\n    return sum(v * v for v in y)\n", (0, 1, 2), lambda n, rng: (rng.random(n), 0.01, 0.3)),
    Program("scan in a loop", "def f(x: f64[n], y: f64[n]) -> f64:\n    for t in range(3):\n        x = cumsum(sin(x) * y)\n    return sum(v * v for v in x)\n", (0, 1), two_series),
    Program("largest so far", "def f(x: f64[n], y: f64[n]) -> f64:\n    m = scan(maximum, -9.0, x * y)\n    return sum(v * v for v in m)\n", (0, 1), two_series),
    Program("exponential averages of rows", "def f(x: f64[n, n]) -> f64:\n    s = 0.0\n    for i in range(n):\n        a = 0.0\n        for j in range(n):\n            a = 0.9 * a + 0.1 * x[i, j]\n            s += a * a\n    return s\n", 0, matrix),
    Program("particle filter", "def f(x: f64[k], noise: f64[n, k], y: f64[n], a: f64) -> f64:\n    s = 0.0\n    for t in range(n):\n        x = a * x + 0.1 * noise[t]\n        w = [exp(-(v - y[t]) ** 2) + 1e-9 for v in x]\n        z = sum(w)\n        s += log(z / k)\n        c = cumsum([v / z for v in w])\n        place = [sum(1 if c[j] < (i + 0.5) / k else 0 for j in range(k)) for i in range(k)]\n        x = [x[minimum(p, k - 1)] for p in place]\n    return s\n", (0, 2, 3), cloud, (2, 4, 8)),
    Program("kalman filter", "def f(y: f64[n], a: f64[2, 2], q: f64[2, 2]) -> f64:\n    m = zeros(2)\n    p = [[1.0, 0.0], [0.0, 1.0]]\n    s = 0.0\n    for t in range(n):\n        m = a @ m\n        p = a @ p @ transpose(a) + q\n        r = p[0, 0] + 0.5\n        e = y[t] - m[0]\n        s += log(r) + e * e / r\n        g = [p[0, 0] / r, p[1, 0] / r]\n        m = m + e * g\n        p = [[p[i, j] - g[i] * p[0, j] for j in range(2)] for i in range(2)]\n    return s\n", (0, 1, 2), lambda n, rng: (rng.normal(size=n), np.array([[0.9, 0.1], [-0.1, 0.8]]), 0.1 * np.eye(2))),
    Program("newton until it converges", "def f(x: f64[n]) -> f64:\n    s = 0.0\n    for i in range(n):\n        y = 1.0 + x[i] * x[i]\n        t = 0\n        while t < 20 and abs(y * y - 2.0 - x[i] * x[i]) > 1e-9:\n            y = 0.5 * (y + (2.0 + x[i] * x[i]) / y)\n            t += 1\n        s += y\n    return s\n", 0, vector),
    Program("fft by levels", "def f(re: f64[n], im: f64[n], l: i64) -> f64:\n    h = 1\n    for t in range(l):\n        for i in range(n // 2):\n            b = (i // h) * 2 * h + i % h\n            if b + h < n:\n                c = cos(-3.14159 * (i % h) / h)\n                s = sin(-3.14159 * (i % h) / h)\n                u = re[b + h] * c - im[b + h] * s\n                v = re[b + h] * s + im[b + h] * c\n                re[b + h], re[b] = re[b] - u, re[b] + u\n                im[b + h], im[b] = im[b] - v, im[b] + v\n        h = h * 2\n    return sum(re[i] * re[i] * (i + 1.0) + im[i] for i in range(n))\n", (0, 1), lambda n, rng: (rng.normal(size=n), rng.normal(size=n), int(np.log2(n))), (4, 8, 16)),
]
