"""Elements of arrays that are made by a formula."""

from __future__ import annotations

import atoll as at
from atoll import bool_, f64, i64

a, b = at.types("a b")
n, m, k = at.sizes("n m k")


@at.fn
def how_many(low: a, high: a, step: a) -> i64:
    return max(i64(ceil((high - low) / step)), 0)


@at.fn
def how_many_integers(low: i64, high: i64, step: i64) -> i64:
    return max(-((low - high) // step), 0)


@at.fn
def smaller(x: i64, y: i64) -> i64:
    return max(min(x, y), 0)


@at.fn
def float_step(low: a, step: a, i: i64):
    """NumPy goes by the difference of the first two."""
    return low + i * ((low + step) - low)


@at.fn
def step(low: a, high: b, count: i64):
    return (high - low) / count


@at.fn
def closed_step(low: a, high: b, i: i64, count: i64):
    """The i-th of `count` from low to high, the last of them high itself."""
    between = max(count - 1, 1)
    delta = high - low
    return high + 0 * delta if i == count - 1 and count > 1 else i * (delta / between) + low


@at.fn
def open_step(low: a, high: b, i: i64, count: i64):
    return i * ((high - low) / count) + low


@at.fn
def geometric(low: a, high: b, i: i64, count: i64, closed: bool_):
    """From low to high by equal factors, both of one sign."""
    between = max(count - 1, 1) if closed else count
    sign = 1.0 if low > 0 else -1.0
    first, last = log10(abs(low)), log10(abs(high))
    inner = sign * 10.0 ** (i * ((last - first) / between) + first)
    end = closed and i == count - 1 and count > 1
    return low + 0 * inner if i == 0 else (high + 0 * inner if end else inner)


@at.fn
def lower(x: a[n, m], shift: i64):
    return [[x[i, j] if j <= i + shift else 0 for j in range(m)] for i in range(n)]


@at.fn
def upper(x: a[n, m], shift: i64):
    return [[x[i, j] if j >= i + shift else 0 for j in range(m)] for i in range(n)]


@at.fn
def on_diagonal(x: a[n], shift: i64, size: i64):
    """A square matrix with x on the diagonal that is `shift` to the right."""
    down = max(-shift, 0)
    return [[x[i - down] if j == i + shift and 0 <= i - down < n else 0 for j in range(size)] for i in range(size)]


@at.fn
def with_diagonal(x: a[n, m], value: a) -> a[n, m]:
    return [[value if i == j else x[i, j] for j in range(m)] for i in range(n)]


@at.fn
def with_diagonal_of(x: a[n, m], values: a[k]) -> a[n, m]:
    """The values over and over, from the first row on."""
    return [[values[i % k] if i == j else x[i, j] for j in range(m)] for i in range(n)]


@at.fn
def powers_up(x: a[n], count: i64):
    return [cumprod([1 if j == 0 else v for j in range(count)]) for v in x]


@at.fn
def powers_down(x: a[n], count: i64):
    return [reverse(cumprod([1 if j == 0 else v for j in range(count)])) for v in x]


@at.fn
def lower_places(rows: i64, columns: i64, shift: i64):
    pairs = [(i, j) for i in range(rows) for j in range(columns) if j <= i + shift]
    return unzip(pairs)


@at.fn
def upper_places(rows: i64, columns: i64, shift: i64):
    pairs = [(i, j) for i in range(rows) for j in range(columns) if j >= i + shift]
    return unzip(pairs)


@at.fn
def hanning(i: i64, count: i64) -> f64:
    return 0.5 - 0.5 * cos(2 * pi * i / (count - 1)) if count > 1 else 1.0


@at.fn
def hamming(i: i64, count: i64) -> f64:
    return 0.54 - 0.46 * cos(2 * pi * i / (count - 1)) if count > 1 else 1.0


@at.fn
def bartlett(i: i64, count: i64) -> f64:
    place = 2 * i / (count - 1) if count > 1 else 1.0
    return place if place <= 1 else 2.0 - place


@at.fn
def blackman(i: i64, count: i64) -> f64:
    turn = 2 * pi * i / (count - 1) if count > 1 else pi
    return 0.42 - 0.5 * cos(turn) + 0.08 * cos(2 * turn)
