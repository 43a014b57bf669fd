"""Replacing elements at places that are known only when the program runs."""

from __future__ import annotations

import atoll as at
from atoll import bool_, i64

a = at.types("a")
n, m, k = at.sizes("n m k")


@at.fn
def put_masked(x: a[n], mask: bool_[n], v: a[k]) -> a[n]:
    """x[mask] = v: the values in order, as many as there are places."""
    place = scan(add, 0, [i64(m) for m in mask], exclusive=True)
    assert sum(mask) == k, "as many values as the mask is true"
    return [v[place[i]] if mask[i] else x[i] for i in range(n)]


@at.fn
def repeat_each(x: a[n], times: i64[n]):
    """Each element as often as is said beside it."""
    ends = cumsum(times)
    total = at.size(sum(times))
    owner = [0] * total
    for i in range(n):
        start = ends[i] - times[i]
        for j in range(times[i]):
            owner[start + j] = i
    return [x[owner[j]] for j in range(total)]


@at.fn
def cycle(x: a[n], total: i64):
    """The elements again and again."""
    return [x[j % n] for j in range(total)]


@at.fn
def pad_edge(x: a[n], before: i64, after: i64):
    return [x[min(max(i - before, 0), n - 1)] for i in range(before + n + after)]


@at.fn
def pad_wrap(x: a[n], before: i64, after: i64):
    return [x[(i - before) % n] for i in range(before + n + after)]


@at.fn
def pad_symmetric(x: a[n], before: i64, after: i64):
    """Mirrored at the edge, which is there twice."""
    return [x[min((i - before) % (2 * n), 2 * n - 1 - (i - before) % (2 * n))] for i in range(before + n + after)]


@at.fn
def pad_reflect(x: a[n], before: i64, after: i64):
    """Mirrored at the edge, which is there once; one element alone is repeated."""
    return [x[min((i - before) % max(2 * n - 2, 1), 2 * n - 2 - (i - before) % max(2 * n - 2, 1))] for i in range(before + n + after)]


@at.fn
def trim_zeros(x: a[n], front: bool_, back: bool_):
    """Without the zeros at the ends."""
    first = min((i for i in range(n) if x[i] != 0), default=n)
    last = max((i for i in range(n) if x[i] != 0), default=-1)
    low = first if front else 0
    high = max(last + 1, low) if back else n
    return x[low:high]


@at.fn
def put(x: a[n], places: i64[k], v: a[k]) -> a[n]:
    """x[places] = v: in order, so the last of equal places wins."""
    for j in range(k):
        x[places[j]] = v[j]
    return x


@at.fn
def within(i: i64, size: i64) -> i64:
    """An index that must be in range."""
    assert 0 <= i < size, f"index {i} is out of bounds for array with size {size}"
    return i


@at.fn
def wrapped(i: i64, size: i64) -> i64:
    return i % size


@at.fn
def clipped(i: i64, size: i64) -> i64:
    return min(max(i, 0), size - 1)
