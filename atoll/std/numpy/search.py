"""Searching in sorted arrays, and counting: bincount, histogram."""

from __future__ import annotations

import atoll as at
from atoll import bool_, f64, i64

a, b, c = at.types("a b c")
n, m, k = at.sizes("n m k")


@at.fn
def before(x: a, y: b) -> bool_:
    """Whether x comes before y when they are sorted: NaN is last."""
    return x < y or (isnan(y) and not isnan(x))


@at.fn
def left(x: a[n], v: b) -> i64:
    """How many elements come before v."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if before(x[middle], v):
            low = middle + 1
        else:
            high = middle
    return low


@at.fn
def right(x: a[n], v: b) -> i64:
    """How many elements do not come after v."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if before(v, x[middle]):
            high = middle
        else:
            low = middle + 1
    return low


@at.fn
def digitize(edges: a[n], v: b, closed: bool_) -> i64:
    """The number of the bin; edges may go up or down."""
    down = n > 1 and edges[0] > edges[n - 1]
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        edge = edges[n - 1 - middle] if down else edges[middle]
        stays = before(edge, v) if closed != down else not before(v, edge)
        if stays:
            low = middle + 1
        else:
            high = middle
    return n - low if down else low


@at.fn
def bincount(x: i64[n], least: i64):
    size = at.size(max(max(x, default=-1) + 1, least))
    return hist(add, 0, size, x, [1 for _ in x])


@at.fn
def weighted_bincount(x: i64[n], w: f64[n], least: i64):
    size = at.size(max(max(x, default=-1) + 1, least))
    return hist(add, 0.0, size, x, w)


@at.fn
def lowest(x: a[n]):
    """Where a histogram begins: half below one value alone, 0 for no values."""
    low, high = min(x, default=0), max(x, default=1)
    return low - 0.5 if low == high else low * 1.0


@at.fn
def highest(x: a[n]):
    low, high = min(x, default=0), max(x, default=1)
    return high + 0.5 if low == high else high * 1.0


@at.fn
def from_range(low: a, high: a) -> a:
    """Where a histogram begins whose range is given."""
    assert low <= high, f"the range of a histogram ends at {high}, before it begins at {low}"
    return low - 0.5 if low == high else low


@at.fn
def to_range(low: a, high: a) -> a:
    return high + 0.5 if low == high else high


@at.fn
def edge(low: a, high: b, i: i64, count: i64):
    return high + 0 * low if i == count else i * ((high - low) / count) + low


@at.fn
def count_evenly(x: a[n], edges: b[k], w: c[n]):
    """How much lies in each of k - 1 equal bins, the last one closed."""
    return hist(add, 0, at.size(k - 1), places_evenly(x, edges), w, mode="drop")


@at.fn
def places_evenly(x: a[n], edges: b[k]) -> i64[n]:
    low, high = edges[0], edges[k - 1]
    return [bin_of(v, edges, low, high) for v in x]


@at.fn
def bin_of(v: a, edges: b[k], low: b, high: b) -> i64:
    """The bin by a division, put right where rounding chose its neighbour; -1 outside."""
    bins = k - 1
    inside = v >= low and v <= high
    guess = min(i64((v - low) / (high - low) * bins), bins - 1) if inside else 0
    down = guess - 1 if v < edges[guess] else guess
    up = down + 1 if inside and v >= edges[down + 1] and down != bins - 1 else down
    return up if inside else -1


@at.fn
def count_between(x: a[n], edges: b[k], w: c[n]):
    """How much lies between neighbouring edges, which go up; the last bin is closed."""
    return hist(add, 0, at.size(k - 1), places_between(x, edges), w, mode="drop")


@at.fn
def places_between(x: a[n], edges: b[k]) -> i64[n]:
    return [k - 2 if v == edges[k - 1] else (right(edges, v) - 1 if v <= edges[k - 1] else -1) for v in x]


@at.fn
def count_pairs(p: i64[n], q: i64[n], w: f64[n], rows: i64, columns: i64):
    """How much lies in each field of a table; what is outside either way counts nowhere."""
    place = [p[i] * columns + q[i] if p[i] >= 0 and q[i] >= 0 else -1 for i in range(n)]
    flat = hist(add, 0.0, at.size(rows * columns), place, w, mode="drop")
    return [[flat[r * columns + s] for s in range(columns)] for r in range(rows)]


@at.fn
def density(counts: a[n], edges: b[k]):
    total = sum(counts)
    return [counts[i] / (edges[i + 1] - edges[i]) / total for i in range(n)]
