"""Arrays as sets: sorted, without equal elements."""

from __future__ import annotations

import atoll as at
from atoll import bool_, i64
from atoll.std.numpy.search import left

a, b = at.types("a b")
n, m, k = at.sizes("n m k")


@at.fn
def differ(x: a, y: a) -> bool_:
    """Different values; NaNs are one value."""
    return x != y and not (isnan(x) and isnan(y))


@at.fn
def unique(x: a[n]):
    s = sort(x)
    return [s[i] for i in range(n) if i == 0 or differ(s[i], s[i - 1])]


@at.fn
def unique_all(x: a[n]):
    """The values, the place of the first of each, which of them each element is, and how often each occurs."""
    order = argsort(x)
    s = [x[i] for i in order]
    new = [i == 0 or differ(s[i], s[i - 1]) for i in range(n)]
    starts = [i for i in range(n) if new[i]]
    number = cumsum([i64(b) for b in new])
    inverse = [0] * n
    for i in range(n):
        inverse[order[i]] = number[i] - 1
    values = [s[i] for i in starts]
    first = [i64(order[i]) for i in starts]
    count = len(starts)
    counts = [(starts[j + 1] if j + 1 < count else n) - starts[j] for j in range(count)]
    return values, first, inverse, counts


@at.fn
def contains(s: a[n], v: a) -> bool_:
    """Whether a sorted array has the value."""
    place = left(s, v)
    return place < n and s[min(place, n - 1)] == v


@at.fn
def is_in(x: a[n], y: a[m]) -> bool_[n]:
    s = sort(y)
    return [contains(s, v) for v in x]


@at.fn
def union(x: a[n], y: a[m]):
    return unique(concat(x, y))


@at.fn
def intersection(x: a[n], y: a[m]):
    s = sort(y)
    return [v for v in unique(x) if contains(s, v)]


@at.fn
def difference(x: a[n], y: a[m]):
    s = sort(y)
    return [v for v in unique(x) if not contains(s, v)]


@at.fn
def exclusive(x: a[n], y: a[m]):
    s, t = sort(x), sort(y)
    return [v for v in unique(concat(x, y)) if contains(s, v) != contains(t, v)]
