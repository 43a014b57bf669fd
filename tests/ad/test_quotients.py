"""Places that are quotients of sums of indices: x[(t - a) // 2] has an adjoint that goes to its places, at any size (ad/indicator.py)."""

from __future__ import annotations

import pytest

import atoll as at
from tests.fuzz_ad.check import check

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n@at.fn\n"
PROGRAMS = {
    "upsampled": "def f(x: f64[n], w: f64[3]) -> f64:\n    return sum(sin(sum(w[a] * x[(i + a) // 2] for a in range(3) if (i + a) // 2 < n)) for i in range(2 * n))\n",
    "every other place has none": "def f(x: f64[n], w: f64[3]) -> f64:\n    return sum(sin(sum(x[(t - a) // 2] * w[a] for a in range(3) if (t - a) % 2 == 0 and 0 <= (t - a) // 2 < n)) for t in range(2 * n + 1))\n",
    "backwards": "def f(x: f64[n + 1], w: f64[n, 2]) -> f64:\n    return sum(sin(w[i, a] * x[(3 * n - i - 2 * a) // 3]) for i in range(n) for a in range(2) if 0 <= (3 * n - i - 2 * a) // 3 <= n)\n",
    "a plane": "def f(x: f64[n, n]) -> f64:\n    return sum(sin(x[(i + 1) // 2, (j + i) // 2]) * (i + j) for i in range(n) for j in range(n) if (i + 1) // 2 < n and (i + j) // 2 < n)\n",
    "a triangle": "def f(x: f64[n]) -> f64:\n    return sum(sin(x[(i + j) // 3]) * (i + 1) for i in range(n) for j in range(i))\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str) -> None:
    for size in (0, 1, 2, 5):
        outcome = check(HEAD + PROGRAMS[name], 3, {"n": size})
        assert outcome.failure is None, outcome.failure.detail
        assert outcome.checks


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_order_is_lost(name: str) -> None:
    """The gradient's operations grow as the function's."""
    f = at.fn(source=HEAD + PROGRAMS[name])
    assert at.grad(f).cost().operations.degree("n") == f.cost().operations.degree("n")
