"""A row, a column or some elements of an array, read in a loop that changes it: what was read is kept, not the whole array.

In a work list of pairs that is the difference between a round that costs what it writes and one that copies the list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree, stages
from tests.control.count import growth
from tests.oracle import in_python

HEAD = """import atoll as at
from atoll import i64
n = at.sizes("n")

@at.fn
def f(a: i64[n, 2], k: i64):
    p = 0
"""
PAIRS = {
    "pop a pair": "top = n\nwhile top > 0:\n    top -= 1\n    u, v = a[top]\n    for d in range(2):\n        if (u + v + d) % 3 == 0 and top < n and p < 2 * n:\n            a[top, 0] = u + d\n            a[top, 1] = v - 1\n            top += 1\n        p += 1",
    "neighbours of a pair": "top = n\nwhile top > 0 and p < 3 * n:\n    top -= 1\n    u, v = a[top]\n    for dy, dx in [(1, 0), (-1, 0), (0, 1), (0, -1)]:\n        y, x = u + dy, v + dx\n        if 0 <= y < 3 and 0 <= x < 3 and top < n:\n            a[top, 0] = y\n            a[top, 1] = x\n            top += 1\n        p += 1",
    "a row by its elements": "for r in range(n):\n    row = a[r]\n    for q in range(3):\n        a[(q * k) % n, q % 2] += row[0] - row[q % 2]",
    "two rows": "for r in range(n):\n    row, other = a[r], a[(r + k) % n]\n    for q in range(2):\n        a[r, q] = other[q]\n        a[(r + k) % n, 1 - q] = row[q]",
    "in a branch": "for r in range(n):\n    row = a[r]\n    if row[0] > row[1]:\n        for q in range(2):\n            a[(r + q) % n, 0] = row[1 - q]\n    elif row[1] > 3:\n        while p % 4 < 3:\n            a[(r + p) % n, 1] -= row[0]\n            p += 1\n        p += 1",
    "the first elements": "for r in range(n):\n    first = a[:1]\n    for q in range(3):\n        a[(q * 5 + r) % n, 0] += first[0, q % 2]",
    "left at once": "for r in range(n):\n    row = a[(r * k) % n]\n    for q in range(4):\n        if row[q % 2] == a[r, 0]:\n            break\n        a[r, 0] = row[1] + q",
}


def pairs(size: int) -> tuple[Any, ...]:
    return np.random.default_rng(size).integers(0, 6, (size, 2)), 3


@pytest.mark.parametrize("name", PAIRS)
def test_a_round_costs_what_it_writes(name: str) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in PAIRS[name].split("\n")) + "    return a, p\n"
    f = at.fn(source=text)
    reference = in_python(text, "f")
    for size in (1, 2, 3, 8, 17):
        args = pairs(size)
        reference.__globals__["n"] = size
        a, p = reference(*args)
        agree(f, *args, expected=(a, np.int64(p)), compiled=size == 8)
    assert max(growth(f, pairs, (32, 64, 128))) < 2.5
    assert all(line.split()[2].isdigit() for line in str(f.memory()).splitlines() if "every round" in line)  # two elements, not n
    stages.cache_clear()


ELIMINATION = """import atoll as at
from atoll import f64, i64
n = at.sizes("n")

@at.fn
def f(a: f64[n, n]) -> f64[n, n]:
    for k in range(n):
        row = a[k]
        for i in range(k + 1, n):
            c = a[i, k] / row[k]
            for j in range(k, n):
                a[i, j] -= c * row[j]
    return a
"""


def test_a_row_of_an_elimination() -> None:
    """The row is kept, n numbers in each round, where the matrix was copied."""
    f = at.fn(source=ELIMINATION)
    reference = in_python(ELIMINATION, "f")
    for size in (1, 2, 5, 9):
        reference.__globals__["n"] = size
        a = np.random.default_rng(size).random((size, size)) + size * np.eye(size)
        agree(f, a, expected=reference(a))
    kept = [line for line in str(f.memory()).splitlines() if "every round" in line]
    assert len(kept) == 1 and kept[0].split()[:4] == ["copy", "row", "8*n", "bytes"] and kept[0].endswith("(line 8)")
