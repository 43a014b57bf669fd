"""Histograms by an operator that somebody wrote out: where it is a known one in every part it is that one, with its pieces for threads and its derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

HEAD = "import atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n@at.fn\ndef f(p: i64[n], x: f64[n], y: i64[n], a: f64[n, m]):\n    return "
KNOWN = {
    "a sum": "hist(lambda s, v: s + v, 0.5, 3, p, x)",
    "the other way round": "hist(lambda s, v: v + s, 0.5, 3, p, x)",
    "of integers": "hist(lambda s, v: s + v, 2, 3, p, y)",
    "a product of integers": "hist(lambda s, v: s * v, 2, 3, p, y)",
    "the greatest": "hist(lambda s, v: max(s, v), -9.0, 3, p, x)",
    "pairs": "hist(lambda s, v: (s[0] + v[0], min(s[1], v[1])), (0.0, 9), 3, p, [(x[i], y[i]) for i in range(n)])",
    "rows": "hist(lambda s, v: [q + w for q, w in zip(s, v)], [0.25 for j in range(m)], 3, p, a)",
    "into an array": "scatter(x, [q % n for q in p], y * 0.5, op=lambda s, v: s * v)",
    "dropped": 'hist(lambda s, v: s + v, 0.0, 3, [q - 1 for q in p], x, mode="drop")',
    "in a map": "[hist(lambda s, v: s + v, w, 3, p, x) for w in x]",
}
OTHERS = {
    "a difference": "hist(lambda s, v: s - v, 0.0, 3, p, x)",
    "the old value": "hist(lambda s, v: s, 0.0, 3, p, x)",
    "twice the old": "hist(lambda s, v: s + s, 1.0, 3, p, x)",
    "crosswise": "hist(lambda s, v: (s[0] + v[1], s[1] + v[0]), (0.0, 0.0), 3, p, [(x[i], 2.0) for i in range(n)])",
    "more than a sum": "hist(lambda s, v: s + v + 0.5 * s * v, 0.0, 3, p, x)",
    "something captured": "hist(lambda s, v: s + x[0], 0.0, 3, p, x)",
    "rows turned": "hist(lambda s, v: [q + w for q, w in zip(s, reverse(v))], [0.25 for j in range(m)], 3, p, a)",
    "one element for all": "hist(lambda s, v: [q + v[0] for q in s], [0.25, 0.5], 3, p, [[w, w] for w in x])",
}


def given(n: int) -> tuple[Any, ...]:
    r = np.random.default_rng(n)
    return r.integers(0, 3, n), r.integers(-4, 5, n) * 0.25, r.integers(-3, 4, n), r.integers(-4, 5, (n, 2)) * 0.5


def in_order(how: str, args: tuple[Any, ...]) -> Any:
    """By hand, element by element."""
    p, x, y, a = args
    start, values, op = {
        "a sum": (0.5, x, lambda s, v: s + v),
        "pairs": ((0.0, 9), list(zip(x, y, strict=True)), lambda s, v: (s[0] + v[0], min(s[1], v[1]))),
        "rows": (np.full(2, 0.25), a, lambda s, v: s + v),
        "a product of integers": (2, y, lambda s, v: s * v),
        "crosswise": ((0.0, 0.0), [(v, 2.0) for v in x], lambda s, v: (s[0] + v[1], s[1] + v[0])),
    }[how]
    found = [start] * 3
    for k, v in zip(p, values, strict=True):
        found[k] = op(found[k], v)
    return tuple(map(np.array, zip(*found, strict=True))) if isinstance(start, tuple) else np.array(found)


@pytest.mark.parametrize("how", [*KNOWN, *OTHERS])
def test_every_stage_agrees(how: str) -> None:
    text = {**KNOWN, **OTHERS}[how]
    f = at.fn(source=HEAD + text + "\n")
    assert (") -> (" in f.show("ainf")) == (how in OTHERS)
    for n in (1, 5, 70):
        args = given(n)
        value = agree(f, *args, compiled=how in ("pairs", "rows"))
        if how in ("a sum", "pairs", "rows", "a product of integers", "crosswise"):
            for x, y in zip(np.atleast_1d(value) if not isinstance(value, tuple) else value, np.atleast_1d(in_order(how, args)) if not isinstance(value, tuple) else in_order(how, args), strict=True):
                assert np.array_equal(x, y)


def test_derivatives_are_those_of_the_named_operator() -> None:
    written = at.fn(source=HEAD + "sum(hist(lambda s, v: s * v, 1.0, 3, p, x) * hist(lambda s, v: max(s, v), -9.0, 3, p, x))\n")
    named = at.fn(source=HEAD + "sum(hist(mul, 1.0, 3, p, x) * hist(maximum, -9.0, 3, p, x))\n")
    args = given(9)
    assert np.array_equal(at.grad(written, wrt="x").interpret(*args), at.grad(named, wrt="x").interpret(*args))
