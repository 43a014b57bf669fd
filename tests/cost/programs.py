"""Functions whose gradients must not be dearer than a few times themselves, at any size: each construct of the language that reads or writes elsewhere
than where it stands, and the factorisations and solvers that overwrite what they read.

A program is its text, what to differentiate, and arguments at sizes that double.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import atoll as at

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m, k, nnz = at.sizes('n m k nnz')\n@at.fn\n"
SIZES = (5, 10, 20)


@dataclass(frozen=True)
class Program:
    name: str
    text: str
    wrt: Any
    arguments: Callable[[int, np.random.Generator], tuple[Any, ...]]
    sizes: tuple[int, ...] = SIZES

    @cached_property
    def function(self) -> at.Function:
        return at.fn(source=HEAD + self.text)

    @cached_property
    def gradient(self) -> at.Function:
        return at.grad(self.function, wrt=self.wrt)

    def points(self) -> list[tuple[Any, ...]]:
        rng = np.random.default_rng(0)
        return [self.arguments(n, rng) for n in self.sizes]


Rng = np.random.Generator


def vector(n: int, rng: Rng) -> tuple[Any, ...]:
    return (rng.normal(size=n),)


def matrix(n: int, rng: Rng) -> tuple[Any, ...]:
    return (rng.normal(size=(n, n)) / n + 2 * np.eye(n),)


def positive(n: int, rng: Rng) -> tuple[Any, ...]:
    a = rng.normal(size=(n, n))
    return (a @ a.T / n + 2 * np.eye(n),)


def system(n: int, rng: Rng) -> tuple[Any, ...]:
    return (*matrix(n, rng), rng.normal(size=n))


def sparse(n: int, rng: Rng) -> tuple[Any, ...]:
    ptr = np.sort(np.concatenate([[0], rng.integers(0, 3 * n, n - 1), [3 * n]]))
    return ptr, rng.integers(0, n, 3 * n), rng.normal(size=3 * n), rng.normal(size=n)


def segments(n: int, rng: Rng) -> tuple[Any, ...]:
    ptr, _, val, _ = sparse(n, rng)
    return ptr, val


def gathered(n: int, rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=n), rng.integers(0, n, n)


def sized(shape: Callable[[int], tuple[int, ...]]) -> Callable[[int, Rng], tuple[Any, ...]]:
    return lambda n, rng: (rng.normal(size=shape(n)),)


BOX = """def f(u: f64[n, n], p: f64[n, n], h: f64) -> f64:
    for t in range(2):
        b = ((u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * h)) * ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * h)) - u[1:-1, 1:-1] / h
        for s in range(3):
            p[1:-1, 1:-1] = (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - b * h ** 2) / 4.0
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
        u[1:-1, 1:-1] = u[1:-1, 1:-1] - u[1:-1, 1:-1] * (p[1:-1, 2:] - p[1:-1, :-2]) / (2 * h)
    return sum(v * v for row in u for v in row) + sum(v for row in p for v in row)
"""
"""A relaxation with borders inside steps of time: what does not change in it, updates of rows and columns, and divisions by a number whose adjoint is a sum."""

RING = """def f(u: f64[n, n], v: f64[n, n], h: f64) -> f64:
    for t in range(3):
        w = [[(u[j, i] - u[j, i] / h * (u[j, i] - u[j, (i - 1) % n]) - v[j, i] / h * (u[j, i] - u[j - 1, i]) + h * (u[j + 1, i] - 2 * u[j, i] + u[j - 1, i])) if 0 < j < n - 1 else 0.0 for i in range(n)] for j in range(n)]
        u, v = [[0.1 * x for x in row] for row in w], [[0.5 * v[j, i] + 0.1 * w[j, (i + 1) % n] for i in range(n)] for j in range(n)]
    return sum(x * x for row in u for x in row) + sum(x for row in v for x in row)
"""
"""A flow that comes round along one axis and has walls along the other."""

PROGRAMS = [
    # ranges that depend on data
    Program("csr product", "def f(ptr: i64[n + 1], col: i64[nnz], val: f64[nnz], x: f64[m]) -> f64:\n    y = [sum(val[e] * x[col[e]] for e in range(ptr[i], ptr[i + 1])) for i in range(n)]\n    return 0.5 * sum(v * v for v in y)\n", (2, 3), sparse),
    Program("csr product, values", "def f(ptr: i64[n + 1], col: i64[nnz], val: f64[nnz], x: f64[m]) -> f64:\n    y = [sum(val[e] * x[col[e]] for e in range(ptr[i], ptr[i + 1])) for i in range(n)]\n    return 0.5 * sum(v * v for v in y)\n", 2, sparse),
    Program("csr product in a loop", "def f(ptr: i64[n + 1], col: i64[nnz], val: f64[nnz], x: f64[n]) -> f64:\n    for t in range(3):\n        x = [0.1 * sum(val[e] * x[col[e]] for e in range(ptr[i], ptr[i + 1])) for i in range(n)]\n    return sum(v * v for v in x)\n", (2, 3), sparse),
    Program("segmented sum of squares", "def f(ptr: i64[n + 1], val: f64[nnz]) -> f64:\n    y = [sum(val[e] * val[e] for e in range(ptr[i], ptr[i + 1])) for i in range(n)]\n    return sum(sin(v) for v in y)\n", 1, segments),
    Program("segmented largest", "def f(ptr: i64[n + 1], val: f64[nnz]) -> f64:\n    y = [max(val[e] if e < ptr[i + 1] else -9.0 for e in range(ptr[i], ptr[i + 1] + 1)) if ptr[i + 1] < nnz else 0.0 for i in range(n)]\n    return sum(sin(v) for v in y)\n", 1, segments),
    Program("segments by a loop", "def f(ptr: i64[n + 1], val: f64[nnz]) -> f64:\n    s = 0.0\n    for i in range(n):\n        t = 0.0\n        for e in range(ptr[i], ptr[i + 1]):\n            t = t + val[e] * val[e]\n        s = s + sin(t)\n    return s\n", 1, segments),
    # places that depend on data
    Program("gather", "def f(x: f64[n], i: i64[n]) -> f64:\n    return sum(sin(x[i[j]]) * x[j] for j in range(n))\n", 0, gathered),
    Program("gather in a loop", "def f(x: f64[n], i: i64[n]) -> f64:\n    s = 0.0\n    for j in range(n):\n        s = s * 0.5 + sin(x[i[j]])\n    return s\n", 0, gathered),
    Program("hist", "def f(x: f64[n], i: i64[n]) -> f64:\n    return sum(sin(v) for v in hist(add, 0.0, n, i, x * x))\n", 0, gathered),
    Program("put in a loop", "def f(x: f64[n], i: i64[n]) -> f64:\n    for j in range(n):\n        x[i[j]] = sin(x[j]) + 0.5 * x[i[j]]\n    return sum(x)\n", 0, gathered),
    Program("two swapped in a loop", "def f(x: f64[n], i: i64[n]) -> f64:\n    for j in range(n):\n        x[j], x[i[j]] = x[i[j]] * 0.5, x[j]\n    return sum(v * v for v in x)\n", 0, gathered),
    Program("filter", "def f(x: f64[n]) -> f64:\n    return sum(sin(v) for v in filter(lambda v: v > 0.0, x))\n", 0, vector),
    Program("sort", "def f(x: f64[n]) -> f64:\n    return sum(v * (i + 1.0) for i, v in enumerate(sort(x)))\n", 0, vector),
    # triangles, scans, stencils
    Program("triangle", "def f(x: f64[n]) -> f64:\n    return sum(sin(sum(x[j] * x[i] for j in range(i))) for i in range(n))\n", 0, vector),
    Program("cumsum", "def f(x: f64[n]) -> f64:\n    return sum(v * v for v in cumsum(sin(x)))\n", 0, vector),
    Program("scan by an operator", "def f(x: f64[n]) -> f64:\n    return sum(scan(lambda a, b: a + b + 0.1 * a * b, 0.0, sin(x)))\n", 0, vector),
    Program("reduce by an operator", "def f(x: f64[n]) -> f64:\n    return reduce(lambda a, b: a + b + 0.1 * a * b, 0.0, sin(x))\n", 0, vector),
    Program("product of all", "def f(x: f64[n]) -> f64:\n    return prod(1.0 + 0.01 * v for v in x)\n", 0, vector),
    Program("largest of rows", "def f(a: f64[n, n]) -> f64:\n    return sum(max(row) for row in a)\n", 0, matrix),
    Program("pressure in a box", BOX, (0, 1, 2), lambda n, rng: (rng.normal(size=(n, n)), rng.normal(size=(n, n)), 0.3), (14, 28)),
    Program("a ring of cells", RING, (0, 1, 2), lambda n, rng: (rng.normal(size=(n, n)), rng.normal(size=(n, n)), 0.3), (14, 28)),
    Program("stencil over time", "def f(x: f64[n]) -> f64:\n    for t in range(n):\n        x = [0.5 * x[i] + 0.25 * (x[i - 1] if i > 0 else 0.0) + 0.25 * (x[i + 1] if i + 1 < n else 0.0) for i in range(n)]\n    return sum(v * v for v in x)\n", 0, vector),
    Program("matrix product", "def f(a: f64[n, n]) -> f64:\n    b = a @ a\n    return sum(v * v for row in b for v in row)\n", 0, matrix),
    Program("power method", "def f(a: f64[n, n], x: f64[n]) -> f64:\n    for t in range(4):\n        x = tanh(a @ x)\n    return sum(x)\n", (0, 1), system),
    # overwriting
    Program("running sum in place", "def f(x: f64[n]) -> f64:\n    for i in range(1, n):\n        x[i] = x[i] + 0.5 * sin(x[i - 1])\n    return sum(v * v for v in x)\n", 0, vector),
    Program("triangular solve", "def f(a: f64[n, n], b: f64[n]) -> f64:\n    x = zeros(n)\n    for i in range(n):\n        x[i] = (b[i] - sum(a[i, j] * x[j] for j in range(i))) / a[i, i]\n    return sum(v * v for v in x)\n", (0, 1), system),
    Program("solve in place", "def f(a: f64[n, n], b: f64[n]) -> f64:\n    for i in range(n):\n        for j in range(i):\n            b[i] = b[i] - a[i, j] * b[j]\n        b[i] = b[i] / a[i, i]\n    return sum(v * v for v in b)\n", (0, 1), system),
    Program("lu by slices", "def f(a: f64[n, n]) -> f64:\n    for k in range(n):\n        a[k + 1:, k] = a[k + 1:, k] / a[k, k]\n        a[k + 1:, k + 1:] -= [[a[i, k] * a[k, j] for j in range(k + 1, n)] for i in range(k + 1, n)]\n    return sum(x * x for row in a for x in row)\n", 0, matrix),
    Program("lu by loops", "def f(a: f64[n, n]) -> f64:\n    for p in range(n):\n        for i in range(p + 1, n):\n            a[i, p] = a[i, p] / a[p, p]\n            for j in range(p + 1, n):\n                a[i, j] -= a[i, p] * a[p, j]\n    return sum(x * x for row in a for x in row)\n", 0, matrix),
    Program("lu by dots", "def f(a: f64[n, n]) -> f64:\n    for i in range(n):\n        for j in range(i):\n            a[i, j] = (a[i, j] - sum(a[i, p] * a[p, j] for p in range(j))) / a[j, j]\n        for j in range(i, n):\n            a[i, j] = a[i, j] - sum(a[i, p] * a[p, j] for p in range(i))\n    return sum(x * x for row in a for x in row)\n", 0, matrix),
    Program("cholesky", "def f(a: f64[n, n]) -> f64:\n    for j in range(n):\n        a[j, j] = sqrt(a[j, j] - sum(a[j, p] * a[j, p] for p in range(j)))\n        for i in range(j + 1, n):\n            a[i, j] = (a[i, j] - sum(a[i, p] * a[j, p] for p in range(j))) / a[j, j]\n    return sum(a[i, j] * a[i, j] for i in range(n) for j in range(i + 1))\n", 0, positive),
    Program("cholesky by columns", "def f(a: f64[n, n]) -> f64:\n    for k in range(n):\n        a[k, k] = sqrt(a[k, k])\n        a[k + 1:, k] = a[k + 1:, k] / a[k, k]\n        for j in range(k + 1, n):\n            a[j:, j] = a[j:, j] - a[j:, k] * a[j, k]\n    return sum(a[i, j] * a[i, j] for i in range(n) for j in range(i + 1))\n", 0, positive),
    Program("floyd", "def f(a: f64[n, n]) -> f64:\n    for k in range(n):\n        a = [[minimum(a[i, j], a[i, k] + a[k, j]) for j in range(n)] for i in range(n)]\n    return sum(x for row in a for x in row)\n", 0, matrix),
    Program("table read by loops inside", "def f(x: f64[n]) -> f64:\n    t = ones(n)\n    for i in range(1, n):\n        s = 0.0\n        for j in range(3):\n            s += x[j % n] * t[(i - 1 - j) % n]\n        t[i] = sin(s)\n    return sum(t)\n", 0, vector, (8, 32, 128)),
    Program("written, then read by a loop inside", "def f(x: f64[n], i: i64[n]) -> f64:\n    s = 0.0\n    for t in range(n):\n        x[i[t]] = sin(x[t])\n        for j in range(2):\n            s = s * 0.5 + x[(i[t] + j) % n] * x[t]\n    return s\n", 0, gathered, (8, 32, 128)),
    Program("two loops inside, one writes", "def f(x: f64[n], i: i64[n]) -> f64:\n    s = 0.0\n    for t in range(n):\n        for j in range(2):\n            s = s * 0.5 + x[(i[t] + j) % n]\n        for j in range(2):\n            x[(i[t] + j) % n] = tanh(x[t] * x[(i[t] + j) % n])\n    return s + sum(x)\n", 0, gathered, (8, 32, 128)),
    Program("two numbers over time", "def f(x: f64[n], y: f64[2], h: f64) -> f64:\n    def slope(u, k):\n        return [k * u[0] - u[0] * u[1], u[0] * u[1] - 0.5 * u[1]]\n    s = 0.0\n    for t in range(n):\n        k1 = slope(y, x[t])\n        k2 = slope(y + 0.5 * h * k1, x[t])\n        k3 = slope(y + 0.5 * h * k2, x[t])\n        k4 = slope(y + h * k3, x[t])\n        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)\n        s += y[0] * y[1]\n    return s\n", (0, 1, 2), lambda n, rng: (np.linspace(0.5, 1.5, n), np.array([1.0, 0.5]), 0.01)),
    # windows
    Program("padded image of twelve columns", "def f(x: f64[n, 12], w: f64[3, 3]) -> f64:\n    y = [[sum(w[a, b] * (x[i + a - 1, j + b - 1] if 0 <= i + a - 1 < n and 0 <= j + b - 1 < 12 else 0.0) for a in range(3) for b in range(3)) for j in range(12)] for i in range(n)]\n    return sum(v * v for row in y for v in row)\n", (0, 1), lambda n, rng: (np.linspace(0.5, 1.5, 12 * n).reshape(n, 12), np.linspace(-1.0, 1.0, 9).reshape(3, 3)), (3, 6, 12)),
    Program("largest of pairs", "def f(x: f64[2 * n]) -> f64:\n    return sum(sin(max(x[2 * i + a] for a in range(2))) for i in range(n))\n", 0, sized(lambda n: (2 * n,))),
    Program("largest of squares", "def f(x: f64[2 * n, 2 * n]) -> f64:\n    y = [[max(x[2 * i + a, 2 * j + b] for a in range(2) for b in range(2)) for j in range(n)] for i in range(n)]\n    return sum(v * v for row in y for v in row)\n", 0, sized(lambda n: (2 * n, 2 * n)), (3, 6, 12)),
    Program("means of threes", "def f(x: f64[3 * n]) -> f64:\n    y = [sum(x[3 * i + a] for a in range(3)) for i in range(n)]\n    return sum(v * v for v in y)\n", 0, sized(lambda n: (3 * n,))),
    Program("convolution", "def f(x: f64[n + 2]) -> f64:\n    y = [sum(x[i + a] * (a + 1.0) for a in range(3)) for i in range(n)]\n    return sum(v * v for v in y)\n", 0, sized(lambda n: (n + 2,))),
    Program("convolution, every other place", "def f(x: f64[2 * n + 1]) -> f64:\n    y = [sum(x[2 * i + a] * (a + 1.0) for a in range(3)) for i in range(n)]\n    return sum(v * v for v in y)\n", 0, sized(lambda n: (2 * n + 1,))),
    Program("convolution with holes", "def f(x: f64[n + 4]) -> f64:\n    y = [sum(x[i + 2 * a] * (a + 1.0) for a in range(3)) for i in range(n)]\n    return sum(v * v for v in y)\n", 0, sized(lambda n: (n + 4,))),
    Program("convolution of an image", "def f(x: f64[n + 2, n + 2]) -> f64:\n    y = [[sum(x[i + a, j + b] * (a + 2.0 * b) for a in range(3) for b in range(3)) for j in range(n)] for i in range(n)]\n    return sum(v * v for row in y for v in row)\n", 0, sized(lambda n: (n + 2, n + 2)), (3, 6, 12)),
    Program("scan of pairs", "def f(x: f64[n]) -> f64:\n    y = scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (1.0, 0.0), [(sin(v), v) for v in x])\n    return sum(v[1] for v in y)\n", 0, vector),
    Program("reduce of matrices", "def f(x: f64[n]) -> f64:\n    m = reduce(lambda a, b: a @ b, [[1.0, 0.0], [0.0, 1.0]], [[[0.9, 0.1 * v], [0.05 * v, 0.8]] for v in x])\n    return m[0, 0] + m[1, 0]\n", 0, vector),
]
