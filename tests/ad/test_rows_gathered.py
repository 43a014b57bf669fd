"""What flows into rows that data choose is added row by row, in the order of the places: gradients against differences, and their loops executed with every access looked at."""

from __future__ import annotations

import random

import numpy as np
import pytest

import atoll as at
from tests.fuzz_ad.check import _like
from tests.fuzz_ad.cost import _reverse, counts

TEXT = """import atoll as at
from atoll import f64, i64
n, m, k = at.sizes("n m k")
@at.fn
def f(x: f64[m, k], y: f64[n, m, k], p: i64[n], q: i64[n]):
    return {value}
"""
VALUES = (
    # sum, the scatter
    ("sum(sin(x[p[i], c]) * c for i in range(n) for c in range(k))", "[p_2[i], j]"),
    ("sum(sin(sum(x[p[i], c] * x[q[i], c] for c in range(k))) for i in range(n))", "[p_2[i], j]"),
    ("sum(x[p[i], c] ** 2 if c > i else 0.0 for i in range(n) for c in range(k))", "[p_2[i], j]"),
    ("sum(x[p[i], k - 1 - c] * y[i, q[i], c] for i in range(n) for c in range(k))", "[p_2[i], j]"),
    ("sum(sin(y[i, p[i], c]) for i in range(n) for c in range(k))", None),
    ("sum(x[p[i], c] ** 2 for c in range(k) for i in range(c, n))", None),  # as many rows as the column says
    ("sum(x[p[i], q[i] % k] ** 2 for i in range(n))", None),
)


@pytest.mark.parametrize(("value", "where"), VALUES)
def test_gradients(value: str, where: str | None) -> None:
    f = at.fn(source=TEXT.format(value=value))
    slope, back = at.grad(f, wrt=(0, 1)), _reverse(f, "vjp")
    text = slope.show("ainf")
    assert where is None or f". {where} " in text, text
    for n in (0, 1, 2, 3, 9):
        for m, k in ((1, 1), (2, 3), (3, 0), (5, 8)):
            if not k and "% k" in value:
                continue
            r = np.random.default_rng(n + m)
            args = (r.random((m, k)), r.random((n, m, k)), r.integers(0, m, n), r.integers(0, m, n))
            counts(back, (*args, _like(f.interpret(*args), random.Random(n))))
            found = slope(*args)
            for which in (0, 1):
                for at_ in list(np.ndindex(args[which].shape))[:: max(1, args[which].size // 7)]:
                    moved = [tuple(a + h * (np.indices(a.shape) == np.reshape(at_, (-1,) + (1,) * a.ndim)).all(axis=0) if w == which else a for w, a in enumerate(args)) for h in (1e-6, -1e-6)]
                    assert abs((f(*moved[0]) - f(*moved[1])) / 2e-6 - found[which][at_]) < 1e-6 * (1 + abs(found[which][at_]))


SOME_COLUMNS = (
    "sum(y[i, 0, 0] * x[p[i], c] for i in range(n) for c in range(1, k))",
    "sum(y[0, q[0], 0] * x[p[i], c] for i in range(1, n) for c in range(2, k))",
    "sum(y[i, q[0], 0] * x[p[i], c] for i in range(1, n) for c in range(k - 2))",
    "sum(y[0, q[0], 0] * x[p[i], c] for i in range(n) for c in range(k) if i >= c + 1)",
)


@pytest.mark.parametrize("value", SOME_COLUMNS)
def test_what_is_there_for_some_columns_only(value: str) -> None:
    """A factor that is checked where there is such a column only: without one nothing is added, and the slope is 0 and not what memory had."""
    f = at.fn(source=TEXT.format(value=value))
    back = _reverse(f, "vjp")
    for n, m, k in ((0, 2, 2), (1, 2, 3), (2, 3, 1), (2, 3, 2), (3, 2, 4), (5, 3, 1)):
        r = np.random.default_rng(n + k)
        args = (r.random((m, k)), r.random((n, m, k)), r.integers(0, m, n), r.integers(0, m, n))
        counts(back, (*args, np.float64(1.0)))


def test_what_is_there_for_some_rows_only() -> None:
    """x[p[i], 0] is checked where i >= 1 is; the slope of z is there for every i, as is its own part where n is 1."""
    body = "z = [sum(y[i, p[i], c] for c in range(1, k)) for i in range(n)]\n    return sum(v * v for v in z) + sum(x[p[i], 0] * z[i] for i in range(1, n))"
    f = at.fn(source=TEXT.replace("return {value}", body))
    back, slope = _reverse(f, "vjp"), at.grad(f, wrt=1)
    for n, m, k in ((0, 1, 1), (1, 1, 1), (1, 1, 2), (1, 2, 3), (2, 2, 2), (3, 2, 4)):
        r = np.random.default_rng(n + k)
        args = (r.random((m, k)), r.random((n, m, k)), r.integers(0, m, n), r.integers(0, m, n))
        counts(back, (*args, np.float64(1.0)))
        x, y, p, _ = args
        z = np.array([y[i, p[i], 1:].sum() for i in range(n)])
        expected = np.zeros_like(y)
        for i in range(n):
            expected[i, p[i], 1:] = 2 * z[i] + (x[p[i], 0] if i else 0.0)
        np.testing.assert_allclose(slope(*args), expected, rtol=1e-12)
