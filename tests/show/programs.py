"""Small programs that between them use most constructs: what the tests of origins, of the explorer and of the editor look at."""

from __future__ import annotations

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")


@at.fn
def blur(a: f64[n + 2, m + 2]) -> f64[n, m]:
    rows = [[(a[i, j] + a[i, j + 1] + a[i, j + 2]) / 3.0 for j in range(m)] for i in range(n + 2)]
    return [[(rows[i, j] + rows[i + 1, j] + rows[i + 2, j]) / 3.0 for j in range(m)] for i in range(n)]


@at.fn
def spread(a: f64[n, m], w: f64[m]) -> f64[n]:
    away = a - w
    square = away * away
    return sqrt(sum(square))


@at.fn
def loss(a: f64[n, m], w: f64[m]) -> f64:
    far = spread(a, w)
    twice = far * 2.0
    return mean(twice)


slope = at.grad(loss)


@at.fn
def product(a: f64[n, k], b: f64[k, m]) -> f64[n, m]:
    return a @ b


@at.fn
def smooth(x: f64[n], steps: i64) -> f64[n]:
    y = x
    for _ in range(steps):
        y = 0.5 * y + 0.5 * roll(y, 1)
    return y


@at.fn
def half(x: f64) -> i64:
    count = 0
    while x > 1.0:
        x = x / 2.0
        count += 1
    return count


@at.fn
def below(x: f64[n], top: f64):
    small = x[x < top]
    return sort(small)


@at.fn
def cells(keys: i64[n], weights: f64[n]) -> f64[8]:
    counts = zeros(8)
    for i in range(n):
        counts[keys[i] % 8] += weights[i]
    return cumsum(counts)


@at.fn
def best(x: f64[n, m]) -> i64[n]:
    if n > 3:
        assert m > 0
    return argmax(x, axis=1)


@at.fn
def factorial(count: i64) -> i64:
    if count < 2:
        return 1
    return count * factorial(count - 1)


@at.fn
def twice(x: f64[n]) -> f64[n]:
    a = x * x
    b = x * x
    return a + b
