"""An index that was checked is not checked again at the next place that reads there: one check fails wherever the other would, and tells the first place."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

TEXT = """import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")
@at.fn
def f(x: f64[n], y: f64[m, n], p: i64[m], c: i64):
    {body}
"""
PROGRAMS = (
    # body, checks
    ("return [x[p[i]] * x[p[i]] for i in range(m)]", 1),
    ("return [x[p[i]] + y[i, p[i]] for i in range(m)]", 1),
    ("return [x[p[i]] * y[p[i], i] for i in range(m)]", 3),  # of ranges of two sizes
    ("a = [x[p[i]] for i in range(m)]\n    return [a[i] * x[p[i]] for i in range(m)]", 1),
    ("a = [x[p[i]] if c > i else 0.0 for i in range(m)]\n    return [a[i] * x[p[i]] for i in range(m)]", 2),  # the second also where the first is not asked
    ("a = [x[p[i]] for i in range(m)]\n    return [a[i] * x[p[i]] if c > i else 0.0 for i in range(m)]", 1),
    ("a = [x[p[0]] for j in range(c)]\n    return [x[p[0]] for i in range(m)]", 5),  # each in rounds of its own, which there may not be; and one of c
    ("for i in range(m):\n        x[p[i]] += y[i, p[i]]\n    return x", 1),
)


@pytest.mark.parametrize(("body", "checks"), PROGRAMS)
def test_checks(body: str, checks: int) -> None:
    f = at.fn(source=TEXT.format(body=body))
    assert f.show("ainf").count("= check ") == checks
    for n in (0, 1, 2, 3, 5):
        for m in (0, 1, 2, 3):
            r = np.random.default_rng(10 * n + m)
            for c in (-1, 0, 2):
                args = (r.random(n), r.random((m, n)), r.integers(-1, n + 1, m), c)
                assert _told(f.interpret, args) == _told(f, args)


def _told(f: object, args: tuple[object, ...]) -> object:
    """The bits of the result, or the text of the error, which has the place."""
    try:
        return np.asarray(f(*args)).tobytes()  # type: ignore[operator]
    except at.Error as error:
        return str(error)
