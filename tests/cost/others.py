"""Gradients of programs written from the language alone, after those of further.py and of other kinds: what an iteration over a sparse matrix changes, ragged rows, masks and lengths,
factorisations that exchange or keep bands, steps with conditions, tables, transforms by loops, prefix products, interpolation. A program is as in tests/cost/programs.py, and held to the same bound.

    python -m tests.cost.ratio others
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cost.programs import Program, Rng, matrix, positive, sparse, system, vector


def two_vectors(n: int, rng: Rng) -> tuple[Any, ...]:
    return *sparse(n, rng), rng.normal(size=n)


def near_diagonal(n: int, rng: Rng) -> tuple[Any, ...]:
    """Three columns in each row, the first of them the diagonal, which is the largest."""
    col = np.stack([np.arange(n), (np.arange(n) + 1) % n, rng.integers(0, n, n)], 1)
    val = np.where(np.arange(3) == 0, 2.0, 0.2 * rng.normal(size=(n, 3)))
    return 3 * np.arange(n + 1), col.ravel(), val.ravel(), rng.normal(size=n)


def ragged(n: int, rng: Rng) -> tuple[Any, ...]:
    ptr, _, val, x = sparse(n, rng)
    return ptr, val, x


def table(n: int, rng: Rng) -> tuple[Any, ...]:
    return np.sort(rng.random(n)), rng.normal(size=n), rng.random(2 * n)


def image(n: int, rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=(n, n)), (n - 2) * rng.random(2 * n), (n - 2) * rng.random(2 * n)


def masked(n: int, rng: Rng) -> tuple[Any, ...]:
    return *(rng.normal(size=(n, 6)) for _ in range(3)), rng.random((n, n)) < 0.6


def lengths(n: int, rng: Rng) -> tuple[Any, ...]:
    return *(rng.normal(size=(2, n, 3)) for _ in range(3)), rng.integers(1, n + 1, 2)


SIZES = (12, 24)

OTHERS = [
    # CSR, segments, gathers
    Program("gauss seidel over csr", "def f(ptr: i64[n + 1], col: i64[nnz], val: f64[nnz], b: f64[n]) -> f64:\n    x = zeros(n)\n    for t in range(2):\n        for i in range(n):\n            s = b[i]\n            d = 1.0\n            for e in range(ptr[i], ptr[i + 1]):\n                if col[e] == i:\n                    d = d + val[e]\n                else:\n                    s = s - val[e] * x[col[e]]\n            x[i] = s / d\n    return sum(v * v for v in x)\n", (2, 3), near_diagonal, SIZES),
    Program("segmented softmax and norm", "def f(ptr: i64[n + 1], val: f64[nnz], w: f64[n]) -> f64:\n    s = 0.0\n    for i in range(n):\n        m = max((val[e] for e in range(ptr[i], ptr[i + 1])), default=0.0)\n        z = sum(exp(val[e] - m) for e in range(ptr[i], ptr[i + 1]))\n        q = sum(exp(val[e] - m) * val[e] for e in range(ptr[i], ptr[i + 1])) / (z + 1e-9)\n        s += w[i] * q + log(z + 1.0)\n    return s\n", (1, 2), ragged, SIZES),
    Program("graph attention, two rounds", "def f(ptr: i64[n + 1], col: i64[nnz], val: f64[nnz], x: f64[n], a: f64[n]) -> f64:\n    for t in range(2):\n        z = [sum(exp(tanh(val[e] * a[i] + x[col[e]])) for e in range(ptr[i], ptr[i + 1])) + 1.0 for i in range(n)]\n        x = [sum(exp(tanh(val[e] * a[i] + x[col[e]])) / z[i] * x[col[e]] for e in range(ptr[i], ptr[i + 1])) for i in range(n)]\n    return sum(v * v for v in x)\n", (2, 3, 4), two_vectors, SIZES),
    Program("scatter of rows by add", "def f(x: f64[nnz, 4], label: i64[nnz], w: f64[n, 4]) -> f64:\n    for e in range(nnz):\n        w[label[e], :] += x[e, :] * x[e, :]\n    return sum(sin(v) for row in w for v in row)\n", (0, 2), lambda n, rng: (rng.normal(size=(3*n, 4)), rng.integers(0, n, 3*n), rng.normal(size=(n, 4))), SIZES),
    Program("ragged rows with a running mean", "def f(ptr: i64[n + 1], val: f64[nnz], w: f64[n]) -> f64:\n    out = zeros(nnz)\n    for i in range(n):\n        a = w[i]\n        for e in range(ptr[i], ptr[i + 1]):\n            a = 0.8 * a + 0.2 * val[e]\n            out[e] = a\n    return sum(v * v for v in out)\n", (1, 2), ragged, SIZES),
    Program("pooling of ragged rows", "def f(ptr: i64[n + 1], val: f64[nnz], w: f64[n]) -> f64:\n    best = [max((val[e] for e in range(ptr[i], ptr[i + 1])), default=0.0) for i in range(n)]\n    k = [sum(1 if val[e] == best[i] else 0 for e in range(ptr[i], ptr[i + 1])) for i in range(n)]\n    return sum(best[i] * w[i] / (1 + k[i]) for i in range(n))\n", (1, 2), ragged, SIZES),
    # masks
    Program("masked attention by lengths", "def f(q: f64[k, n, 3], kk: f64[k, n, 3], v: f64[k, n, 3], long: i64[k]) -> f64:\n    s = [[[sum(q[b, i, c] * kk[b, j, c] for c in range(3)) if j < long[b] else -1e9 for j in range(n)] for i in range(n)] for b in range(k)]\n    e = [[[exp(s[b, i, j] - max(s[b, i])) for j in range(n)] for i in range(n)] for b in range(k)]\n    o = [[[sum(e[b, i, j] * v[b, j, c] for j in range(n)) / sum(e[b, i]) for c in range(3)] for i in range(n)] for b in range(k)]\n    return sum(x * x for p in o for row in p for x in row)\n", (0, 1, 2), lengths, SIZES),
    Program("attention, mask given, summed where it holds", "def f(q: f64[n, 6], kk: f64[n, 6], v: f64[n, 6], m: at.bool_[n, n]) -> f64:\n    s = 0.0\n    for i in range(n):\n        p = [exp(tanh(sum(q[i, c] * kk[j, c] for c in range(6)))) if m[i, j] else 0.0 for j in range(n)]\n        z = sum(p) + 1e-6\n        o = [sum(p[j] * v[j, c] for j in range(n) if m[i, j]) / z for c in range(6)]\n        s += sum(x * x for x in o)\n    return s\n", (0, 1, 2), masked, SIZES),
    Program("average of pools with edges", "def f(x: f64[n, n]) -> f64:\n    s = 0.0\n    for i in range(n):\n        for j in range(n):\n            a = 0.0\n            c = 0.0\n            for p in range(-1, 2):\n                for q in range(-1, 2):\n                    if 0 <= i + p < n and 0 <= j + q < n:\n                        a += x[i + p, j + q]\n                        c += 1.0\n            s += (a / c) ** 2\n    return s\n", 0, matrix, (10, 20)),
    # factorisations
    Program("ludcmp", "def f(a: f64[n, n], b: f64[n]) -> f64:\n    x = zeros(n)\n    y = zeros(n)\n    for i in range(n):\n        for j in range(i):\n            w = a[i, j]\n            for k in range(j):\n                w -= a[i, k] * a[k, j]\n            a[i, j] = w / a[j, j]\n        for j in range(i, n):\n            w = a[i, j]\n            for k in range(i):\n                w -= a[i, k] * a[k, j]\n            a[i, j] = w\n    for i in range(n):\n        w = b[i]\n        for j in range(i):\n            w -= a[i, j] * y[j]\n        y[i] = w\n    for i in range(n - 1, -1, -1):\n        w = y[i]\n        for j in range(i + 1, n):\n            w -= a[i, j] * x[j]\n        x[i] = w / a[i, i]\n    return sum(v * v for v in x)\n", (0, 1), system, SIZES),
    Program("ldl", "def f(a: f64[n, n]) -> f64:\n    d = zeros(n)\n    l = zeros((n, n))\n    for j in range(n):\n        d[j] = a[j, j] - sum(l[j, k] * l[j, k] * d[k] for k in range(j))\n        l[j, j] = 1.0\n        for i in range(j + 1, n):\n            l[i, j] = (a[i, j] - sum(l[i, k] * l[j, k] * d[k] for k in range(j))) / d[j]\n    return sum(log(v) for v in d) + sum(v * v for row in l for v in row)\n", 0, positive, SIZES),
    Program("doolittle with row exchange by largest", "def f(a: f64[n, n], b: f64[n]) -> f64:\n    for k in range(n):\n        p = k\n        for i in range(k + 1, n):\n            if abs(a[i, k]) > abs(a[p, k]):\n                p = i\n        for j in range(n):\n            a[k, j], a[p, j] = a[p, j], a[k, j]\n        b[k], b[p] = b[p], b[k]\n        for i in range(k + 1, n):\n            w = a[i, k] / a[k, k]\n            for j in range(k, n):\n                a[i, j] -= w * a[k, j]\n            b[i] -= w * b[k]\n    for r in range(n):\n        i = n - 1 - r\n        for j in range(i + 1, n):\n            b[i] -= a[i, j] * b[j]\n        b[i] = b[i] / a[i, i]\n    return sum(v * v for v in b)\n", (0, 1), system, SIZES),
    Program("modified gram schmidt in place", "def f(a: f64[n, n]) -> f64:\n    r = zeros((n, n))\n    for k in range(n):\n        r[k, k] = sqrt(sum(a[i, k] * a[i, k] for i in range(n)))\n        for i in range(n):\n            a[i, k] = a[i, k] / r[k, k]\n        for j in range(k + 1, n):\n            for i in range(n):\n                r[k, j] += a[i, k] * a[i, j]\n            for i in range(n):\n                a[i, j] -= a[i, k] * r[k, j]\n    return sum(v * v for row in r for v in row) + sum(row[0] for row in a)\n", 0, matrix, SIZES),
    Program("band cholesky", "def f(a: f64[n, 3]) -> f64:\n    l = zeros((n, 3))\n    for i in range(n):\n        for p in range(3):\n            j = i - 2 + p\n            if j >= 0:\n                s = a[i, p] + (6.0 if p == 2 else 0.0)\n                for k in range(maximum(0, i - 2), j):\n                    s -= l[i, k - i + 2] * l[j, k - j + 2]\n                l[i, p] = sqrt(abs(s) + 0.1) if p == 2 else s / l[j, 2]\n    return sum(v * v for row in l for v in row)\n", 0, lambda n, rng: (rng.normal(size=(n, 3)),), (16, 32)),
    # time loops with conditionals
    Program("bouncing ball", "def f(y: f64[n], v: f64[n], h: f64, e: f64) -> f64:\n    s = 0.0\n    for t in range(20):\n        v = v - 9.81 * h\n        y = y + h * v\n        v = [-e * b if a < 0.0 else b for a, b in zip(y, v)]\n        y = [-a if a < 0.0 else a for a in y]\n        s += sum(y)\n    return s\n", (0, 1, 2, 3), lambda n, rng: (rng.random(n), rng.normal(size=n), 0.05, 0.8), SIZES),
    Program("upwind flow by the sign", "def f(u: f64[n], c: f64[n], h: f64) -> f64:\n    for t in range(n):\n        for i in range(1, n - 1):\n            if c[i] > 0.0:\n                u[i] = u[i] - h * c[i] * (u[i] - u[i - 1])\n            elif c[i] < -1.0:\n                u[i] = u[i] * 0.9\n            else:\n                u[i] = u[i] - h * c[i] * (u[i + 1] - u[i])\n    return sum(v * v for v in u)\n", (0, 1, 2), lambda n, rng: (rng.normal(size=n), rng.normal(size=n), 0.05), SIZES),
    Program("every third step, a snapshot", "def f(u: f64[n, n], q: f64[n, n]) -> f64:\n    s = 0.0\n    last = u\n    for t in range(9):\n        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) + 0.01 * q[1:-1, 1:-1]\n        if t % 3 == 2:\n            s += sum((a - b) ** 2 for r, o in zip(u, last) for a, b in zip(r, o))\n            last = u\n    return s\n", (0, 1), lambda n, rng: (rng.normal(size=(n, n)), rng.normal(size=(n, n))), SIZES),
    Program("wave of two times", "def f(u: f64[n, n], c: f64) -> f64:\n    old = u\n    s = 0.0\n    for t in range(6):\n        new = [[2.0 * u[i, j] - old[i, j] + c * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]) if 0 < i < n - 1 and 0 < j < n - 1 else 0.0 for j in range(n)] for i in range(n)]\n        old, u = u, new\n        s += u[n // 2, n // 2]\n    return s\n", (0, 1), lambda n, rng: (rng.normal(size=(n, n)), 0.1), SIZES),
    Program("until it is small", "def f(x: f64[n], a: f64) -> f64:\n    t = 0\n    while t < 30 and sum(v * v for v in x) > 0.5:\n        x = [v - a * sin(v) if abs(v) > 0.1 else 0.5 * v for v in x]\n        t += 1\n    return sum(v * (i + 1.0) for i, v in enumerate(x))\n", (0, 1), lambda n, rng: (rng.normal(size=n), 0.1), SIZES),
    # dynamic programming
    Program("longest common subsequence, soft", "def f(x: f64[n], y: f64[n]) -> f64:\n    d = zeros((n + 1, n + 1))\n    for i in range(n):\n        for j in range(n):\n            m = maximum(d[i, j + 1], d[i + 1, j])\n            d[i + 1, j + 1] = maximum(m, d[i, j] + exp(-(x[i] - y[j]) ** 2))\n    return d[n, n]\n", (0, 1), lambda n, rng: (rng.normal(size=n), rng.normal(size=n)), SIZES),
    Program("knapsack of values", "def f(w: i64[n], v: f64[n]) -> f64:\n    best = zeros(3 * n + 1)\n    for i in range(n):\n        for c in range(3 * n, w[i] - 1, -1):\n            best[c] = maximum(best[c], best[c - w[i]] + v[i])\n    return best[3 * n]\n", 1, lambda n, rng: (rng.integers(1, 7, n), rng.random(n)), SIZES),
    Program("nussinov", "def f(x: f64[n]) -> f64:\n    d = zeros((n, n))\n    for i in range(n - 1, -1, -1):\n        for j in range(i + 1, n):\n            d[i, j] = maximum(d[i, j], d[i, j - 1])\n            d[i, j] = maximum(d[i, j], d[i + 1, j])\n            d[i, j] = maximum(d[i, j], d[i + 1, j - 1] + x[i] * x[j])\n            for k in range(i + 1, j):\n                d[i, j] = maximum(d[i, j], d[i, k] + d[k + 1, j])\n    return d[0, n - 1]\n", 0, vector, SIZES),
    Program("forward backward of a chain", "def f(x: f64[n, 3], w: f64[3, 3]) -> f64:\n    a = zeros((n, 3))\n    b = ones((n, 3))\n    a[0] = x[0] * x[0]\n    for t in range(1, n):\n        for j in range(3):\n            a[t, j] = x[t, j] * x[t, j] * sum(a[t - 1, i] * w[i, j] for i in range(3))\n    for r in range(1, n):\n        t = n - 1 - r\n        for i in range(3):\n            b[t, i] = sum(w[i, j] * x[t + 1, j] * x[t + 1, j] * b[t + 1, j] for j in range(3))\n    return sum(p * q for u, v in zip(a, b) for p, q in zip(u, v))\n", (0, 1), lambda n, rng: (rng.normal(size=(n, 3)) * 0.5 + 1, rng.random((3, 3))), SIZES),
    # FFT by loops, prefix products
    Program("fft by bit reversal and stages", "def f(re: f64[n], im: f64[n], l: i64) -> f64:\n    j = 0\n    for i in range(1, n):\n        bit = n // 2\n        while j >= bit and bit > 0:\n            j -= bit\n            bit = bit // 2\n        j += bit\n        if i < j and j < n:\n            re[i], re[j] = re[j], re[i]\n            im[i], im[j] = im[j], im[i]\n    h = 1\n    for t in range(l):\n        for s in range(0, n, 2 * h):\n            for q in range(h):\n                c = cos(-3.14159 * q / h)\n                d = sin(-3.14159 * q / h)\n                u = re[s + q + h] * c - im[s + q + h] * d\n                v = re[s + q + h] * d + im[s + q + h] * c\n                re[s + q + h], re[s + q] = re[s + q] - u, re[s + q] + u\n                im[s + q + h], im[s + q] = im[s + q] - v, im[s + q] + v\n        h = 2 * h\n    return sum(re[i] * re[i] * (i + 1.0) + im[i] for i in range(n))\n", (0, 1), lambda n, rng: (rng.normal(size=n), rng.normal(size=n), int(np.log2(n))), (8, 16, 32)),
    Program("prefix products of rows", "def f(x: f64[n, n]) -> f64:\n    y = [scan(mul, 1.0, [1.0 + 0.01 * v for v in row]) for row in x]\n    return sum(v for row in y for v in row)\n", 0, matrix, SIZES),
    Program("cumprod and sums down columns", "def f(x: f64[n, n]) -> f64:\n    p = cumprod(1.0 + 0.01 * x, axis=0)\n    q = cumsum(p, axis=1)\n    return sum(v * v for row in q for v in row)\n", 0, matrix, SIZES),
    Program("affine recurrences", "def f(a: f64[n], b: f64[n]) -> f64:\n    y = zeros(n)\n    y[0] = b[0]\n    for i in range(1, n):\n        y[i] = tanh(a[i]) * y[i - 1] + b[i]\n    z = zeros(n)\n    for i in range(n - 2, -1, -1):\n        z[i] = 0.5 * z[i + 1] + y[i] * y[i + 1]\n    return sum(z)\n", (0, 1), lambda n, rng: (rng.normal(size=n), rng.normal(size=n)), SIZES),
    # interpolation
    Program("linear interpolation, searched", "def f(at_: f64[n], y: f64[n], x: f64[m]) -> f64:\n    s = 0.0\n    for q in range(m):\n        lo = 0\n        hi = n - 1\n        while hi - lo > 1:\n            mid = (lo + hi) // 2\n            if at_[mid] <= x[q]:\n                lo = mid\n            else:\n                hi = mid\n        w = (x[q] - at_[lo]) / (at_[lo + 1] - at_[lo])\n        s += ((1.0 - w) * y[lo] + w * y[lo + 1]) ** 2\n    return s\n", (0, 1, 2), table, SIZES),
    Program("bilinear sampling", "def f(g: f64[n, n], py: f64[m], px: f64[m]) -> f64:\n    s = 0.0\n    for q in range(m):\n        i = minimum(maximum(i64(floor(py[q])), 0), n - 2)\n        j = minimum(maximum(i64(floor(px[q])), 0), n - 2)\n        a = py[q] - i\n        b = px[q] - j\n        s += ((1.0 - a) * (1.0 - b) * g[i, j] + a * (1.0 - b) * g[i + 1, j] + (1.0 - a) * b * g[i, j + 1] + a * b * g[i + 1, j + 1]) ** 2\n    return s\n", (0, 1, 2), image, SIZES),
    Program("spline by a tridiagonal solve", "def f(y: f64[n], x: f64[m]) -> f64:\n    c = zeros(n)\n    d = zeros(n)\n    for i in range(1, n - 1):\n        w = 4.0 - c[i - 1]\n        c[i] = 1.0 / w\n        d[i] = (6.0 * (y[i + 1] - 2.0 * y[i] + y[i - 1]) - d[i - 1]) / w\n    k = zeros(n)\n    for r in range(2, n):\n        i = n - r\n        k[i] = d[i] - c[i] * (k[i + 1] if i < n - 1 else 0.0)\n    s = 0.0\n    for q in range(m):\n        i = minimum(i64(x[q] * (n - 1)), n - 2)\n        t = x[q] * (n - 1) - i\n        u = 1.0 - t\n        s += (u * y[i] + t * y[i + 1] + ((u ** 3 - u) * k[i] + (t ** 3 - t) * k[i + 1]) / 6.0) ** 2\n    return s\n", (0, 1), lambda n, rng: (rng.normal(size=n), rng.random(2 * n) * 0.99), SIZES),
    Program("convex hull of distances (pairwise, nearest)", "def f(x: f64[n, 2], y: f64[m, 2]) -> f64:\n    return sum(min(sum((x[i] - y[j]) ** 2) for j in range(m)) for i in range(n)) + sum(min(sum((x[i] - y[j]) ** 2) for i in range(n)) for j in range(m))\n", (0, 1), lambda n, rng: (rng.normal(size=(n, 2)), rng.normal(size=(n, 2))), SIZES),
    Program("lstm steps with lengths", "def f(x: f64[n, 4], w: f64[8, 4], u: f64[8, 4], long: i64) -> f64:\n    h = zeros(4)\n    for t in range(n):\n        g = tanh(w @ x[t] + u @ h)\n        if t < long:\n            h = [0.5 * h[j] + g[j] * g[j + 4] for j in range(4)]\n    return sum(h * h)\n", (0, 1, 2), lambda n, rng: (rng.normal(size=(n, 4)), rng.normal(size=(8, 4)), rng.normal(size=(8, 4)), 2 * n // 3), SIZES),
]
