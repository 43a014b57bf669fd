"""Values kept by a few rows: whatever their rows are made of, the two places that make them are certified and right.

A row stands before the loop and in it, with loops of its own in each place; sums have a first value before their loop.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import atoll as at
from tests.schedule.holding import holds

HEAD = "import atoll as at\nfrom atoll import f32, maximum, minimum, reduce\nn, m, k = at.sizes('n m k')\n\ndef f(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:\n"
ELEMENTS = {
    "a sum": "sum(a[i, p] * b[p, j] for p in range(k))",
    "twice a sum": "sum(a[i, p] * b[p, j] for p in range(k)) * 2.0",
    "two sums": "sum(a[i, p] for p in range(k)) - sum(b[q, j] * a[i, q] for q in range(k))",
    "a maximum that starts from a number": "reduce(maximum, -50.0, [a[i, p] * b[p, j] for p in range(k)])",
    "a maximum with a guard": "reduce(maximum, -50.0, [a[i, p] * b[p, j] - 30.0 if p >= 2 else 0.0 for p in range(k)]) * 2.0",
    "a sum of sums": "sum(a[i, p] * sum(b[q, j] * a[i, q] for q in range(k)) for p in range(k))",
    "a guarded sum": "(sum(a[i, p] * b[p, j] for p in range(k)) if j >= i else 0.0)",
}
READERS = {
    "the row before": "c[i, j] + (c[i - 1, j] if i >= 1 else 0.0)",
    "the next row": "c[i, j] + (c[i + 1, j] if i + 1 < n else 0.0)",
    "both": "(c[i - 1, j] if i >= 1 else 0.0) + c[i, j] + (c[i + 2, j] if i + 2 < n else 0.0)",
}


@pytest.mark.parametrize(("element", "reader"), list(itertools.product(ELEMENTS, READERS)))
def test_rolled(element: str, reader: str) -> None:
    text = f"{HEAD}    c = [[{ELEMENTS[element]} for j in range(m)] for i in range(n)]\n    return [[{READERS[reader]} for j in range(m)] for i in range(n)]\n"
    s = at.schedule(at.fn(source=text)).roll("c", "i")
    rng = np.random.default_rng(1)
    sizes = [(5, 3, 4), (1, 2, 0), (0, 1, 2), (3, 2, 3)]
    holds(s, *(tuple(rng.integers(-4, 5, shape).astype(np.float32) for shape in ((n, k), (k, m))) for n, m, k in sizes), optimise="0")
