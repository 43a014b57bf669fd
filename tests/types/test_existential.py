"""Sizes that only a value knows: named apart in f.type, usable where they arise. Where they would escape: wrong/existential.txt."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

HEAD = """
import atoll as at
from atoll import f64, i64
n, m, k = at.sizes("n m k")
few, many = at.some("few many")
@at.fn
"""


def fn(text: str) -> at.Function:
    return at.fn(source=HEAD + text)


POS = "[v for v in x if v > 0.0]"
NEG = "[v for v in x if v < 0.0]"

# (definition, type)
TYPES = [
    (f"def f(x: f64[n]):\n    return {POS}", "f(x: f64[n]) -> f64[k]"),
    (f"def f(x: f64[n]):\n    return {POS}, {NEG}", "f(x: f64[n]) -> (f64[k], f64[l])"),
    (f"def f(x: f64[n], y: f64[k]):\n    return {POS}, y", "f(x: f64[n], y: f64[k]) -> (f64[l], f64[k])"),
    (f"def f(x: f64[n]):\n    p = {POS}\n    return p, 2.0 * p, {NEG}", "f(x: f64[n]) -> (f64[k], f64[k], f64[l])"),
    (f"def f(x: f64[n]):\n    return concat({POS}, {NEG})", "f(x: f64[n]) -> f64[k + l]"),
    (f"def f(x: f64[n]):\n    return concat({POS}, x)", "f(x: f64[n]) -> f64[k + n]"),
    (f"def f(x: f64[n]) -> (f64[few], f64[many]):\n    return {POS}, {NEG}", "f(x: f64[n]) -> (f64[few], f64[many])"),
    (f"def f(x: f64[n]) -> f64[few]:\n    return {POS}", "f(x: f64[n]) -> f64[few]"),
    ("def f(x: i64):\n    c = at.size(x)\n    return full(c, 1.0), full(2 * c, 2.0)", "f(x: i64) -> (f64[x], f64[2*x])"),
    ("def f(x: f64[n]):\n    c = at.size(i64(x[0]))\n    d = at.size(i64(x[1]))\n    return full(c, 1.0), full(d, 2.0)", "f(x: f64[n]) -> (f64[k], f64[l])"),
    (f"def f(x: f64[n]):\n    def keep(v):\n        return {POS.replace('x', 'v', 1).replace('in x', 'in v')}\n    return keep(x), keep(2.0 * x)", "f(x: f64[n]) -> (f64[k], f64[l])"),
]


@pytest.mark.parametrize(("text", "shown"), TYPES, ids=[shown for _, shown in TYPES])
def test_type(text: str, shown: str) -> None:
    assert fn(text).type == shown


def test_a_callers_existential_sizes_are_its_own() -> None:
    text = f"def g(x: f64[n]):\n    return {POS}\n@at.fn\ndef f(x: f64[n]):\n    return g(x), g(-x), concat(g(x), g(x))"
    f = fn(text)
    assert f.type == "f(x: f64[n]) -> (f64[k], f64[l], f64[p + q])"
    x = np.array([1.0, -2.0, 3.0])
    for got, expected in zip(f(x), ([1, 3], [2], [1, 3, 1, 3]), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_used_where_it_arises() -> None:
    f = fn(f"def f(x: f64[n]):\n    p = {POS}\n    return sum(p * p), len(p), [sum(v * p) for v in x]")
    total, count, rows = f(np.array([1.0, -2.0, 3.0]))
    assert (total, count) == (10.0, 2)
    np.testing.assert_array_equal(rows, [4, -8, 12])

