"""Loops that fill places of an array one after the other have derivatives in one piece; the others keep their rounds."""

from __future__ import annotations

import re

import numpy as np
import pytest

import atoll as at
from atoll.ad.api import _reverse
from bench.kernels import linalg
from tests.fuzz_ad.check import check

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\n"
ONE_UPDATE = {
    "under a condition": "for i in range(n):\n        if c[i] > 0.5:\n            x[i] = x[i] * exp(x[i])",
    "rows": "for i in range(n):\n        a[i, 1:] = a[i, 1:] * a[i, 0] + a[i, :n - 1]",
    "own place": "for i in range(n):\n        x[i] = x[i] * x[i] * c[i]",
    "the next one": "for i in range(n - 1):\n        x[i] = x[i + 1] * sin(x[i])",
    "the other half": "for i in range(n // 2):\n        x[i] = x[i] * x[n - 1 - i]",
    "loops in loops": "for i in range(n):\n        for j in range(n):\n            a[i, j] = a[i, j] * a[i, j] * x[j]",
    "two updates": "for i in range(n):\n        x[i] = x[i] * sin(x[i])\n        x[i] = x[i] * x[i] + c[i]",
    "a column, then the rest": "for i in range(1, n):\n        a[i, 0] = a[i, 0] / (3.0 + c[i] * c[i])\n        for j in range(1, n):\n            a[i, j] -= a[i, 0] * c[j]",
    "the next one, then this": "for i in range(n // 2):\n        x[2 * i + 1] = x[2 * i + 1] * x[2 * i]\n        x[2 * i] = sin(x[2 * i + 1])",
    "two in a branch that is not taken": "t = sum(c)\n    if t > 99.0:\n        for i in range(n):\n            x[i] = x[i] * t\n            x[i] = x[i] * sin(x[i])",
    "two in a branch that is taken": "t = sum(c)\n    if t < 99.0:\n        for i in range(n):\n            x[i] = x[i] * t\n            x[i] = x[i] * sin(x[i])",
    "one of two under a condition": "for i in range(n):\n        if c[i] > 0.5:\n            x[i] = x[i] * exp(x[i])\n        x[i] += x[i] * c[i]",
}  # fmt: skip
IN_ORDER = {  # rounds that follow each other, or whose checks and conditions are their own
    "what only a round may read": "for i in range(n):\n        x[i] = c[i] * c[n - 1] * x[i]",
    "the one before": "for i in range(n - 1):\n        x[i + 1] = x[i] * sin(x[i + 1])",
    "the first": "for i in range(n):\n        x[i] = x[i] * x[0]",
    "one place": "for i in range(n):\n        x[0] = x[0] * x[i] + c[i]",
    "the other end": "for i in range(n):\n        x[i] = x[i] * x[n - 1 - i]",
    "places that are data": "for i in range(n):\n        x[abs(w[i]) % n] = sin(x[i])",
    "along the diagonal": "for i in range(n - 1):\n        a[i + 1, :] = a[i, :] * a[i + 1, :]",
    "two updates, one place": "for i in range(n - 1):\n        x[i] = x[i] * sin(x[i])\n        x[i + 1] = x[i] * x[i + 1]",
    "read after a later round's update": "for i in range(n - 1):\n        x[i] = x[i] * sin(x[i])\n        a[0, 0] = x[i + 1] * a[0, 0]",
    "the second reads what the first of a later round writes": "for i in range(1, n):\n        a[i, 0] = sin(a[i, 0])\n        a[i, 1] = a[n - i, 0] * a[i, 1]",
    "the first reads what the second of an earlier round wrote": "for i in range(1, n):\n        a[i, 0] = sin(a[i - 1, 1])\n        a[i, 1] = a[i, 0] * a[i, 1]",
}  # fmt: skip
BODY = "def f(x: f64[n], c: f64[n], a: f64[n, n], w: i64[n]):\n    {}\n    return x, a\n"


@pytest.mark.parametrize("name", [*ONE_UPDATE, *IN_ORDER])
def test_values_and_form(name: str) -> None:
    text = HEAD + BODY.format({**ONE_UPDATE, **IN_ORDER}[name])
    for size in (1, 4):
        outcome = check(text, 3, {"n": size, "m": 1})
        assert outcome.failure is None, outcome.failure.detail
        assert outcome.checks
    shown = _reverse(at.fn(source=text), "vjp").show("ainf")
    assert bool(re.search(r"= loop ", shown)) == (name in IN_ORDER)


def test_without_rounds() -> None:
    """What only a round may read is not read where there is none."""
    text = "import atoll as at\nfrom atoll import f64\nn = at.sizes('n')\n@at.fn\ndef f(x: f64[n]) -> f64:\n    for i in range(1, n):\n        x[i] = x[i] * x[0]\n    return sum(x)\n"
    f = at.fn(source=text)
    g = at.grad(f)
    np.testing.assert_array_equal(g(np.array([2.0, 3.0, 5.0])), [9.0, 2.0, 2.0])
    np.testing.assert_array_equal(g(np.array([2.0])), [1.0])
    assert g(np.zeros(0)).shape == (0,)
    assert g.interpret(np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("wrt", [0, 1, (0, 1)])
def test_one_argument_is_asked_for(wrt: int | tuple[int, int]) -> None:
    """The update stands after what it reads, also where no derivative goes through it."""
    text = """
import atoll as at
from atoll import f64
n = at.sizes('n')
@at.fn
def f(a: f64[n, n], t: f64[n, n]) -> f64:
    for i in range(1, n):
        for j in range(1, n):
            a[i, j] -= a[i, 0] * a[0, j]
    return sum(a * t, axis=None)
"""
    f = at.fn(source=text)
    a, t = np.random.default_rng(2).random((2, 4, 4))
    final = a.copy()
    final[1:, 1:] -= np.outer(a[1:, 0], a[0, 1:])
    to_a = t.copy()
    to_a[1:, 0] -= t[1:, 1:] @ a[0, 1:]
    to_a[0, 1:] -= a[1:, 0] @ t[1:, 1:]
    expected = {0: (to_a,), 1: (final,), (0, 1): (to_a, final)}[wrt]
    for g in (at.grad(f, wrt=wrt), at.grad(f, wrt=wrt).interpret):
        found = g(a, t)
        for x, y in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["cholesky", "lu"])
def test_factorisations(kernel: str) -> None:
    f = getattr(linalg, kernel)
    (a,) = linalg.spd(9)
    w = np.random.default_rng(1).random((9, 9))
    found = at.vjp(f, a, w)
    step = 1e-5
    for i, j in ((0, 0), (4, 4), (8, 8), (5, 2), (8, 0), (2, 5)):
        e = np.zeros((9, 9))
        e[i, j] = step
        assert found[i, j] == pytest.approx(float(np.sum(w * (f(a + e) - f(a - e)))) / (2 * step), rel=1e-6, abs=1e-8)


def test_a_factorisation_keeps_nothing() -> None:
    """No array of every round's matrix, where the final one is what all rounds read."""
    assert "n**3" not in str(_reverse(linalg.cholesky, "vjp").memory())
