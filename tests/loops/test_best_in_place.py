"""An element that is replaced by what is better is the best of all rounds where that is so, and is left alone where it is not."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

HEAD = "import atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n@at.fn\n"
BODY = "def f(x: f64[n], y: {t}[n], k: i64):\n    for i in range(n):\n        for j in range({r}):\n            {b}\n    return y\n"
DONE = [
    ("i64", "i", "if x[j] < x[i] and y[j] + 1 > y[i]:\n                y[i] = y[j] + 1"),
    ("i64", "i", "if y[j] + 1 < y[i]:\n                y[i] = y[j] + 1"),
    ("u8", "i", "if x[j] < x[i]:\n                if y[i] <= y[j]:\n                    y[i] = y[j]"),
    ("i32", "i + 1, n", "if x[j] < x[i] and x[j] > 0.2 and y[j] > y[i]:\n                y[i] = y[j]"),
    ("i64", "i", "if x[j] < x[i] and y[j] - k > y[i]:\n                y[i] = y[j] - k"),
]
LEFT = [
    ("i64", "i", "if j > 0 and x[j - 1] < x[i] and y[j] - k > y[i]:\n                y[i] = y[j] - k"),  # what is read under a condition is there under it only
    ("i64", "n", "if y[j] + 1 > y[i]:\n                y[i] = y[j] + 1"),  # its own element is among those it reads
    ("f64", "i", "if y[j] + 1 > y[i]:\n                y[i] = y[j] + 1"),  # a NaN is not better, nor worse
    ("i64", "i", "if y[j] + 1 > y[i]:\n                y[i] = y[j] + 2"),
    ("i64", "i", "if y[j] > y[i] and y[i] < 3:\n                y[i] = y[j]"),
    ("i64", "i", "if y[j] + y[i] > y[i]:\n                y[i] = y[j] + y[i]"),
    ("i64", "i", "if y[j] > y[i] and x[y[j] % n] > 0.5:\n                y[i] = y[j]"),
    ("i64", "k", "if k > i and y[0] + 1 > y[i]:\n                y[i] = y[0] + 1"),
]


@pytest.mark.parametrize("kind, span, body", [*DONE, *LEFT])
def test_only_the_best(kind: str, span: str, body: str) -> None:
    f = at.fn(source=HEAD + BODY.format(t=kind, r=span, b=body))
    assert ("replaces one element" in f.explain("schedule")) == ((kind, span, body) in DONE)
    rng = np.random.default_rng(3)
    for n in (0, 1, 2, 3, 8, 33):
        for k in (-1, 0, 3):
            agree(f, rng.random(n), rng.integers(0, 9, n).astype({"u8": np.uint8, "i32": np.int32, "i64": np.int64, "f64": np.float64}[kind]), k)


def test_numbers_at_their_ends() -> None:
    f = at.fn(source=HEAD + BODY.format(t="i64", r="i", b="if x[j] < x[i] and y[j] > y[i]:\n                y[i] = y[j]"))
    ends = np.array([-(2**63), 2**63 - 1, 0, -(2**63), 5])
    agree(f, np.array([0.5, np.nan, 0.7, 0.7, 0.9]), ends, 0)
    agree(f, np.full(5, np.nan), ends, 0)
