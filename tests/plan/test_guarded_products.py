"""Sums of products under conditions on their indices reach the matrix kernel, and their values stay."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

HEAD = "import atoll as at\nfrom atoll import f64\nn, m, k = at.sizes('n m k')\n@at.fn\ndef f(a: f64[n, k], b: f64[k, m]) -> f64[n, m]:\n    return "

# conditions that leave out a few elements of the target: those are computed, and not used
EPILOGUES = {
    "diagonal": "[[1.0 if i == j else sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)]",
    "off the diagonal": "[[sum(a[i, p] * b[p, j] for p in range(k)) if i != j else a[i, 0] if k > 0 else 0.0 for j in range(m)] for i in range(n)]",
    "beside the diagonal": "[[0.5 if i == j + 1 else sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)]",
    "first row": "[[sum(a[i, p] * b[p, j] for p in range(k)) if i > 0 else 7.0 for j in range(m)] for i in range(n)]",
    "last columns": "[[sum(a[i, p] * b[p, j] for p in range(k)) if j < m - 2 else 7.0 for j in range(m)] for i in range(n)]",
    "edge": "[[sum(a[i, p] * b[p, j] for p in range(k)) if 0 < i and i < n - 1 and 0 < j else 7.0 for j in range(m)] for i in range(n)]",
}

# conditions that leave out so much that computing it would cost more than the text says, or what does not exist
OTHERS = {
    "only the diagonal": "[[sum(a[i, p] * b[p, j] for p in range(k)) if i == j else 0.0 for j in range(m)] for i in range(n)]",
    "band": "[[sum(a[i, p] * b[p, j] for p in range(k)) if i - j < 2 and j - i < 2 else 0.0 for j in range(m)] for i in range(n)]",
    "last half": "[[sum(a[i, p] * b[p, j] for p in range(k)) if 2 * i >= n else 0.0 for j in range(m)] for i in range(n)]",
    "row before": "[[sum(a[i - 1, p] * b[p, j] for p in range(k)) if i > 0 else 0.0 for j in range(m)] for i in range(n)]",
}


def points() -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(3)
    return [(rng.standard_normal((n, k)), rng.standard_normal((k, m))) for n, k, m in ((5, 6, 7), (1, 3, 1), (4, 0, 3), (0, 2, 3), (13, 17, 12))]


@pytest.mark.parametrize("name", [*EPILOGUES, *OTHERS])
def test_values(name: str) -> None:
    f = at.fn(source=HEAD + {**EPILOGUES, **OTHERS}[name] + "\n")
    for args in points():
        agree(f, *args, compiled=name == "diagonal")


@pytest.mark.parametrize("name", EPILOGUES)
def test_happens(name: str) -> None:
    assert "product of" in at.fn(source=HEAD + EPILOGUES[name] + "\n").show("loops")


@pytest.mark.parametrize("name", OTHERS)
def test_costs_no_more_than_the_text(name: str) -> None:
    f = at.fn(source=HEAD + OTHERS[name] + "\n")
    assert name == "row before" or "product of" not in f.show("loops")
    assert f.cost(n=64, k=64, m=64).operations <= {"only the diagonal": 3, "band": 12, "last half": 80, "row before": 140}[name] * 64 * 64  # type: ignore[operator]
