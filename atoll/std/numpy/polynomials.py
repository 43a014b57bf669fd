"""Polynomials as arrays of coefficients, the highest power first."""

from __future__ import annotations

import atoll as at
from atoll import bool_, i64
from atoll.std.numpy.linear import least_squares

a, b, c = at.types("a b c")
n, m, k = at.sizes("n m k")


@at.fn
def value_at(p: a[n], x: a) -> a:
    """Horner's rule."""
    result: a = 0
    for coefficient in p:
        result = result * x + coefficient
    return result


@at.fn
def is_led(p: a[n]) -> bool_:
    """Whether the highest power is there, or is all there is."""
    return n < 2 or p[0] != 0


@at.fn
def plus(p: a[n], q: b[m]):
    size = max(n, m)
    return [(p[i - size + n] if i >= size - n else 0) + (q[i - size + m] if i >= size - m else 0) for i in range(size)]


@at.fn
def minus(p: a[n], q: b[m]):
    size = max(n, m)
    return [(p[i - size + n] if i >= size - n else 0) - (q[i - size + m] if i >= size - m else 0) for i in range(size)]


@at.fn
def derivative(p: a[n]):
    return [p[i] * (n - 1 - i) for i in range(n - 1)]


@at.fn
def integral(p: a[n]):
    return concat([p[i] / (n - i) for i in range(n)], [0.0])


@at.fn
def weighted(y: a[n], w: b[n]):
    return y * w


@at.fn
def fit(x: a[n], y: b[n], w: c[n], degree: i64):
    """Least squares of values that are weighted already; columns are scaled to length 1 first."""
    assert n >= degree + 1, "at least as many points as coefficients"
    columns = [[w[i] * x[i] ** (degree - j) for i in range(n)] for j in range(degree + 1)]
    lengths = [sqrt(sum(v * v for v in column)) for column in columns]
    scaled = [[columns[j][i] / lengths[j] for j in range(degree + 1)] for i in range(n)]
    return least_squares(scaled, y) / lengths


@at.fn
def with_roots(roots: a[n]):
    """The coefficients of the product of all x - root."""
    zero: a = 0
    result = [zero + 1 if i == 0 else zero for i in range(n + 1)]
    for j in range(n):
        for i in range(n):
            k = n - i
            result[k] = result[k] - roots[j] * result[k - 1]
    return result
