"""Differences, integrals and values between given ones."""

from __future__ import annotations

import atoll as at
from atoll.std.numpy.search import right

a, b, c = at.types("a b c")
n, m, k = at.sizes("n m k")


@at.fn
def interp(v: a, places: a[n], values: a[n], low: a, high: a) -> a:
    """Linear between the places; `low` and `high` outside."""
    j = min(max(right(places, v) - 1, 0), n - 1)
    after = min(j + 1, n - 1)
    width = places[after] - places[j]
    slope = (values[after] - values[j]) / (width if width != 0 else 1)
    inside = slope * (v - places[j]) + values[j]
    return v if isnan(v) else (low if v < places[0] else (high if v > places[n - 1] else (values[n - 1] if j == n - 1 else inside)))


@at.fn
def interp_around(v: a, places: a[n], values: a[n], period: a) -> a:
    """The table goes round: places are taken modulo the period, and the last stands before the first, the first after the last."""
    turn = abs(period)
    folded = places % turn
    order = argsort(folded)
    xs = concat([folded[order[n - 1]] - turn], gather(folded, order), [folded[order[0]] + turn])
    ys = concat([values[order[n - 1]]], gather(values, order), [values[order[0]]])
    return interp(v % turn, xs, ys, ys[0], ys[n + 1])


@at.fn
def trapezoid_even(y: a[n], dx: b):
    return sum((y[i] + y[i + 1]) * dx / 2 for i in range(n - 1))


@at.fn
def trapezoid(y: a[n], x: b[n]):
    return sum((x[i + 1] - x[i]) * (y[i] + y[i + 1]) / 2 for i in range(n - 1))


@at.fn
def gradient_even_1(f: a[n], h: b):
    """Central inside, one-sided at the ends."""
    assert n >= 2
    inner = [(f[i + 2] - f[i]) / (2 * h) for i in range(n - 2)]
    return concat([(f[1] - f[0]) / h], inner, [(f[n - 1] - f[n - 2]) / h])


@at.fn
def gradient_even_2(f: a[n], h: b):
    assert n >= 3
    inner = [(f[i + 2] - f[i]) / (2 * h) for i in range(n - 2)]
    first = (-1.5 * f[0] + 2.0 * f[1] - 0.5 * f[2]) / h
    last = (0.5 * f[n - 3] - 2.0 * f[n - 2] + 1.5 * f[n - 1]) / h
    return concat([first], inner, [last])


@at.fn
def middle_slope(f: a, g: a, h: a, before: b, after: b):
    """The derivative at the middle of three values at uneven places."""
    return -after / (before * (before + after)) * f + (after - before) / (before * after) * g + before / (after * (before + after)) * h


@at.fn
def gradient_uneven_1(f: a[n], x: b[n]):
    assert n >= 2
    inner = [middle_slope(f[i], f[i + 1], f[i + 2], x[i + 1] - x[i], x[i + 2] - x[i + 1]) for i in range(n - 2)]
    return concat([(f[1] - f[0]) / (x[1] - x[0])], inner, [(f[n - 1] - f[n - 2]) / (x[n - 1] - x[n - 2])])


@at.fn
def gradient_uneven_2(f: a[n], x: b[n]):
    assert n >= 3
    inner = [middle_slope(f[i], f[i + 1], f[i + 2], x[i + 1] - x[i], x[i + 2] - x[i + 1]) for i in range(n - 2)]
    p, q = x[1] - x[0], x[2] - x[1]
    first = -(2 * p + q) / (p * (p + q)) * f[0] + (p + q) / (p * q) * f[1] - p / (q * (p + q)) * f[2]
    u, v = x[n - 2] - x[n - 3], x[n - 1] - x[n - 2]
    last = v / (u * (u + v)) * f[n - 3] - (v + u) / (u * v) * f[n - 2] + (2 * v + u) / (v * (u + v)) * f[n - 1]
    return concat([first], inner, [last])


@at.fn
def convolve(x: a[n], y: b[m]):
    """Every place at which the two meet."""
    return [sum(x[j] * y[i - j] for j in range(max(0, i - m + 1), min(n, i + 1))) for i in range(n + m - 1)]


@at.fn
def unwrap(p: a[n], period: a) -> a[n]:
    """Jumps of more than half a period taken away."""
    half = period / 2
    jumps = [0 if i == 0 else correction(p[i] - p[i - 1], half, period) for i in range(n)]
    return p + cumsum(jumps)


@at.fn
def correction(d: a, half: a, period: a) -> a:
    wrapped = (d + half) % period - half
    folded = half if wrapped == -half and d > 0 else wrapped
    return 0 if abs(d) < half else folded - d
