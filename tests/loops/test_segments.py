"""Ranges cut where indices go round: at two sizes, of which one is the range and the other may be anything but 0."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\n"
TEXTS = {
    "elements": "def f(a: f64[n, m]):\n    return [[a[i, (j + 1) % m] * (((j + 2) % (n - 3)) * ((j + 2) % (n - 3)) + 1) for j in range(m)] for i in range(n)]\n",
    "sums": "def f(a: f64[n, m]):\n    return [sum(a[i, (j + 1) % m] * (((j + 2) % (n - 3)) * ((j + 2) % (n - 3)) + 1) for j in range(m)) for i in range(n)]\n",
    "quotients": "def f(a: f64[n, m]):\n    return [sum(a[i, (j + 1) % m] * (((2 - j) // (n - 3)) * ((2 - j) // (n - 3)) + 1) for j in range(m)) for i in range(n)]\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_another_size_may_be_negative(name: str) -> None:
    f = at.fn(source=HEAD + TEXTS[name])
    assert "cut where indices go round" in f.explain("schedule")
    for n in (1, 2, 4, 5, 9):
        for m in (0, 1, 2, 3, 8):
            a = np.arange(1.0, n * m + 1).reshape(n, m)
            assert np.array_equal(f(a), f.interpret(a)), (n, m)
