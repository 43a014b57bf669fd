"""One program for every shape of kernel: what each is done by, and arguments of any size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import atoll as at
from atoll import f32, f64, i8, i64

n, m, k = at.sizes("n m k")


@at.fn
def points(a: f64, x: f64[n], y: f64[n]) -> f64[n]:
    return a * x + y


@at.fn
def grid(x: f64[n, m], w: f64[m]) -> f64[m, n]:
    return [[x[i, j] * w[j] for i in range(n)] for j in range(m)]


@at.fn
def total(x: f64[n]):
    return sum(x * x), max(x, default=0.0), any(x > 1.0)


@at.fn
def spread(a: f64[n, m], w: f64[m]) -> f64[n]:
    away = a - w
    return sqrt(sum(away * away))


@at.fn
def loss(a: f64[n, m], w: f64[m]) -> f64:
    return sum(spread(a, w))


@at.fn
def softmax(a: f64[n, m]) -> f64[n, m]:
    return [exp(r - max(r, default=0.0)) / sum(exp(r - max(r, default=0.0))) for r in a]


@at.fn
def columns(a: f64[n, m]) -> f64[m]:
    return sum(a, axis=0)


@at.fn
def two_columns(a: f64[n, m]) -> f64[m]:
    means = sum(a, axis=0) / f64(n + 1)
    return [sqrt(sum((a[i, j] - means[j]) ** 2 for i in range(n))) for j in range(m)]


@at.fn
def product(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:
    return a @ b


@at.fn
def batches(a: f32[k, n, m], b: f32[k, m, n]) -> f32[k, n, n]:
    return [a[i] @ b[i] for i in range(k)]


@at.fn
def convolved(x: f32[2, n + 2, m + 2], w: f32[k, 2, 3, 3]) -> f32[k, n, m]:
    return [[[sum(x[q, i + s, j + t] * w[o, q, s, t] for q in range(2) for s in range(3) for t in range(3)) for j in range(m)] for i in range(n)] for o in range(k)]


@at.fn
def extremes(x: f64[n], y: i64[n]) -> Tuple[i64, i64, i64]:
    return (argmax(x), argmin(x), argmax(y)) if n > 0 else (-1, -1, -1)


@at.fn
def ordered(x: f64[n], y: i8[n]) -> Tuple[i64[n], f64[n], i8[n]]:
    return argsort(x), sort(x), sort(y)


@at.fn
def scans(x: f64[n], y: i64[n]):
    return scan(add, 0.0, x), scan(maximum, -inf, x, exclusive=True), scan(add, 0, y, exclusive=True)


@at.fn
def kept(x: f64[n], y: i64[n]):
    return filter(lambda v: v > 0.3, x), [a * b for a, b in zip(x, y) if b % 3 == 1]


@at.fn
def counts(x: i64[n]) -> i64[10]:
    return hist(add, 0, 10, x, [1 for _ in x])


@at.fn
def sums_by_key(x: i64[n], v: f64[n], a: f64[n, m]):
    return hist(add, 0.0, 10, x, v), hist(maximum, -inf, 10, x, v), hist(add, [0.0 for _ in range(m)], 10, x, a)


@at.fn
def in_order(x: f64[n]):
    return sort(x), argsort(x), argmin(x) if n > 0 else 0


@at.fn
def rows_in_order(a: f64[n, m]) -> f64[n, m]:
    return [sort(row) for row in a]


@at.fn
def triangle(a: f64[n, n]) -> f64[n]:
    return [sum(a[i, :i]) for i in range(n)]


@at.fn
def ragged(x: f64[n]) -> f64:
    rows = [sum(exp(x[i] * x[j]) for j in range(i)) for i in range(n)]
    return sum(rows[i] / (1.0 + sum(exp(x[i] * x[j]) * rows[i] for j in range(i))) for i in range(n))


@at.fn
def rounds(u: f64[n], t: i64) -> f64[n]:
    for _ in range(t):
        u = [0.5 * (u[max(i - 1, 0)] + u[min(i + 1, n - 1)]) for i in range(n)]
    return u


@at.fn
def until(x: f64[n]):
    y, far = x, 1.0
    while far > 1e-9:
        z = y - (y * y * y - 2.0) / (3.0 * y * y + 1.0)
        far = max(abs(z - y), default=0.0)
        y = z
    return y, far


@at.fn
def powers(a: f64[n, m, m], v: f64[m]) -> f64[n, m]:
    def go(q: f64[m, m]):
        x = v
        for _ in range(2):
            x = q @ x
            x = x / (1.0 + sqrt(sum(x * x)))
        return x

    return [go(q) for q in a]


@at.fn
def waves(x: at.c128[n]):
    return exp(x) * conj(x), sum(x * x), abs(x)


@at.fn
def picked(x: f64[n], places: i64[m]) -> f64[m]:
    return [x[i] / 2 for i in places]


@at.fn
def carried(x: f64[n], t: i64):
    """What a round's sum reads is what the round changes after it; an array that has no elements at any size."""
    far, none = 1.0, [i for i in range(0)]
    for _ in range(t):
        far = sum(far * x)
    for _ in x:
        none[::-1] = 0
    return far, none


@at.fn
def converted(x: f32[n], y: f64[n]):
    return i8(x), i64(x), at.u8(abs(x)), at.u32(abs(x)), at.u64(abs(x)), at.i16(y), at.i32(y), at.u16(abs(y)), at.u64(abs(y))


@at.fn
def swept(a: f64[n, m, k]) -> f64[n, m, k]:
    """Every column fills an array and reads it backwards: on a CPU columns use one array in turn."""

    def column(i, j):
        c, out = zeros(k), zeros(k)
        for p in range(k):
            c[p] = a[i, j, p] + (0.5 * c[p - 1] if p > 0 else 0.0)
        for p in range(k):
            out[k - 1 - p] = c[k - 1 - p] * a[i, j, p]
        return out

    return [[column(i, j) for j in range(m)] for i in range(n)]


@at.fn
def substituted(a: f64[n, n], y: f64[n]) -> f64[n]:
    """Rounds that follow each other, with a sum for many threads in each."""
    x = zeros(n)
    for i in range(n):
        x[i] = (y[i] - sum(a[i, j] * x[j] for j in range(i))) / (4.0 + a[i, i])
    return x


@at.fn
def factored(a: f64[n, n]) -> f64[n, n]:
    """A loop for many threads after a sum, and a choice that all threads make."""
    found = zeros((n, n))
    for j in range(n):
        d = 2.0 + sqrt(abs(a[j, j] - sum(found[j, p] * found[j, p] for p in range(j))))
        if d > 2.5:
            found[j, j] = d
        for i in range(j + 1, n):
            found[i, j] = (a[i, j] - sum(found[i, p] * found[j, p] for p in range(j))) / d
    return found


slope = at.grad(loss, wrt=(0, 1))


def arguments(rng: Any, rows: int, width: int) -> list[tuple[at.Function, tuple[Any, ...]]]:
    """Every program with arguments of these sizes."""
    x, y, keys = rng.normal(size=rows), rng.normal(size=rows), rng.integers(0, 10, rows)
    a, w = rng.normal(size=(rows, width)), rng.normal(size=width)
    real: Callable[..., Any] = lambda *shape: rng.normal(size=shape).astype(np.float32)
    small = min(rows, 5)
    return [
        (points, (2.0, x, y)), (grid, (a, w)), (total, (x,)), (spread, (a, w)), (slope, (a, w)), (softmax, (a,)), (columns, (a,)), (two_columns, (a,)),
        (product, (real(rows, 3), real(3, width))), (batches, (real(2, rows, width), real(2, width, rows))), (convolved, (real(2, small + 2, width + 2), real(4, 2, 3, 3))), (extremes, (np.where(x > 0.3, np.nan, x), keys)), (extremes, (np.round(x), keys)), (scans, (x, keys)), (kept, (x, keys)), (counts, (keys,)), (sums_by_key, (keys, x, a)), (in_order, (x,)),
        (rows_in_order, (a[:, :7],)), (triangle, (rng.normal(size=(width, width)),)), (ragged, (x[:7],)), (at.grad(ragged), (x[:7],)), (rounds, (x, 3)), (until, (abs(x) + 1.0,)),
        (powers, (rng.normal(size=(small, min(width, 6), min(width, 6))), w[:6])), (waves, (x + 1j * y,)), (picked, (x, rng.integers(0, max(rows, 1), width if rows else 0))),
        (substituted, (rng.normal(size=(width, width)), w)), (factored, (rng.normal(size=(width, width)),)),
        (swept, (rng.normal(size=(2, width, 3)),)), (carried, (x, 3)), (carried, (x, 0)), (converted, (real(rows), y)),
    ]  # fmt: skip
