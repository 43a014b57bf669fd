"""Updates of rows and parts of integer arrays: their new values are polynomials of elements, and cost what they write as those of floats do."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.surface.source import remember

UPDATES = {
    "twice": "a[p[i]] = a[p[i]] * 2",
    "of two rows": "a[p[i]] = a[p[i]] + 2 * a[p[(i + 1) % n]]",
    "op=": "a[p[i]] += 3 * b[i]",
    "negated": "a[p[i]] = -a[p[i]] + i",
    "less the first": "a[p[i]] = a[p[i]] - 2 * a[p[i], 0]",
    "a part": "a[p[i], 1:] = 2 * a[p[i], 1:] + 1",
    "moved": "a[p[i], 1:] = 2 * a[p[i], :-1]",
    "a column": "a[:, p[i] % m] = 3 * a[:, p[i] % m]",
    "of several": "a[p[i]] = 2 * a[p[i]] - 3 * b[i] + a[i]",
    "elements": "c[p[i]] = 2 * c[p[i]] + 1",
    "neighbours": "c[1:] = 2 * c[1:] + c[:-1]",
    "after an element": "c[p[i] % 2:] = 2 * c[p[i] % 2:] + c[0]",
}
KNOWN = {"two rounds": "for i in range(2):\n        a[i] = a[i] * 2", "some rounds": "for i in range(k):\n        a[i] = a[i] * 2"}


def _made(loop: str) -> Any:
    text = f"import atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n@at.fn\ndef f(a: i64[n, m], b: i64[n, m], c: i64[n], p: i64[n], k: i64):\n    {loop}\n    return a, c\n"
    names: dict[str, Any] = {}
    exec(compile(text, remember(text), "exec", dont_inherit=True), names)  # noqa: S102  a text of this file
    return names["f"]


def _in_python(loop: str, a: Any, b: Any, c: Any, p: Any, k: int) -> tuple[Any, Any]:
    names = {"a": a.copy(), "b": b, "c": c.copy(), "p": p, "k": k, "n": len(a), "m": a.shape[1]}
    exec("if True:\n    " + loop, names)  # noqa: S102  a text of this file
    return names["a"], names["c"]


LOOPS = {**{name: f"for i in range(n):\n        {update}" for name, update in UPDATES.items()}, **KNOWN}


@pytest.mark.parametrize("name", LOOPS)
def test_an_update_costs_what_it_writes(name: str) -> None:
    f = _made(LOOPS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error", at.CopyWarning)
        f.compile()
    every = [line for line in str(f.memory()).split("\n") if "every round" in line]
    assert not any("n*m" in line or "8*n " in line for line in every), every
    for size, columns in ((2, 1), (3, 2), (5, 4), (9, 3)):
        r = np.random.default_rng(size)
        a, b, c, p = r.integers(-5, 5, (size, columns)), r.integers(-5, 5, (size, columns)), r.integers(-5, 5, size), r.integers(0, size, size)
        for found, expected in zip(f(a, b, c, p, 2), _in_python(LOOPS[name], a, b, c, p, 2), strict=True):
            np.testing.assert_array_equal(found, expected)
