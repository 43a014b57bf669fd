"""f.explain() writes a program: given back, it means the same and nothing more is inserted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at

from .test_right import HEAD, RIGHT, made

FUNCTIONS = HEAD.rsplit("@at.fn", 1)[0]


def code(text: str) -> list[str]:
    """The lines without comments."""
    lines = (line.split("  #")[0].rstrip() for line in text.splitlines())
    return [line for line in lines if line and not line.lstrip().startswith("#")]


def leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize(("params", "body", "args"), [(p, b, a) for p, b, _, a, _ in RIGHT], ids=[f"{p}: {b.splitlines()[-1].strip()}" for p, b, *_ in RIGHT])
def test_the_explanation_is_the_program(params: str, body: str, args: tuple[Any, ...]) -> None:
    first = made(params, body)
    again = at.fn(source=f"{FUNCTIONS}@at.fn\n{first.explain()}\n")
    assert code(again.explain()) == code(first.explain())
    for a, b in zip(leaves(first.interpret(*args)), leaves(again.interpret(*args)), strict=True):
        np.testing.assert_array_equal(a, b)


# (parameters, body, the lines of the explanation)
EXPLAINED = [
    ("a: f64[n, m], x: f64[m]", "return a + x", ["def f(a: f64[n, m], x: f64[m]) -> f64[n, m]:", "    return map(lambda y: map(add, y, x), a)"]),
    ("x: f64[n], i: i64[n]", "return x + i", ["def f(x: f64[n], i: i64[n]) -> f64[n]:", "    return map(add, x, f64(i))"]),
    ("a: f64[p, n, m]", "return norm(a)", ["def f(a: f64[p, n, m]) -> f64[p, n]:", "    return map(lambda x: map(norm, x), a)"]),
    ("a: f64[n, m]", "u, v = stats(a)\n    return u", ["def f(a: f64[n, m]) -> f64[n]:", "    u, v = unzip(map(stats, a))", "    return u"]),
    ("x: f64[n]", "return [v for v in x if v > 0.0]", ["def f(x: f64[n]):", "    return [v for v in x if v > 0.0]"]),
    ("x: bool_[n]", "return ~x", ["def f(x: bool_[n]) -> bool_[n]:", "    return map(lambda y: ~y, x)"]),
    ("a: f64[n, m]", "return fold(add, zeros(m), a)", ["def f(a: f64[n, m]) -> f64[m]:", "    return fold(lambda x, y: map(add, x, y), zeros(m), a)"]),
]


@pytest.mark.parametrize(("params", "body", "lines"), EXPLAINED, ids=[b for _, b, _ in EXPLAINED])
def test_lines(params: str, body: str, lines: list[str]) -> None:
    assert code(made(params, body).explain()) == lines
