"""min(xs, key=f), max(xs, key=f) and both of tuples are the element that Python gives: the first of the best, by one number or several."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")


def place(x: f64[n], k: i64):
    return max(range(n), key=lambda i: x[i])


def element(x: f64[n], k: i64):
    return min(x, key=lambda v: abs(v - k))


def tuples_of_rounds(x: f64[n], k: i64):
    return min((abs(x[i] - k), i) for i in range(n))


def tuples_that_count(x: f64[n], k: i64):
    return max((x[i] * 2, -i) for i in range(n) if x[i] >= x[0])


def several_numbers(x: f64[n], k: i64):
    return max(range(n), key=lambda i: (x[i] > 2, -x[i], i))


def rounded(x: f64[n], k: i64):
    best = min(range(n), key=lambda i: (round(x[i]), -i))
    return x[best] * 2, best


def a_list_of_tuples(x: f64[n], k: i64):
    return max([(x[i] * 2, i) for i in range(n)])


def those_that_count(x: f64[n], k: i64):
    return max((v for v in x if v < 5), key=lambda v: -v, default=-1.0)


def of_a_list(x: f64[n], k: i64):
    return max([x[0], x[n - 1] - k, 1.5], key=abs)


def in_rounds(x: f64[n], k: i64):
    s = 0.0
    for j in range(n):
        c = min(range(n), key=lambda i: (x[i] - x[j]) ** 2 + 0.1 * i)
        s += x[c]
    return s


FUNCTIONS = [place, element, tuples_of_rounds, tuples_that_count, several_numbers, rounded, a_list_of_tuples, those_that_count, of_a_list, in_rounds]


@pytest.mark.parametrize("f", FUNCTIONS, ids=[f.__name__ for f in FUNCTIONS])
def test_as_in_python(f: Any) -> None:
    compiled = at.fn(f)
    for values in ([1, 2, 5, 7], [1, 0], [9], [3, 3, 3, 4], [0, 7, 5], [2.5, 2.4, 2.6]):
        x = np.array(values, dtype=np.float64)
        for k in (-1, 0, 3, 100):
            expected = FunctionType(f.__code__, {"n": len(x)})(x, k)
            np.testing.assert_allclose(np.array(compiled(x, k), dtype=float), np.array(expected, dtype=float))


def test_rows() -> None:
    @at.fn
    def nearest(p: f64[n, 2], q: f64[m, 2]):
        return [min(range(n), key=lambda i: (p[i, 0] - a[0]) ** 2 + (p[i, 1] - a[1]) ** 2) for a in q]

    @at.fn
    def row(c: f64[n, m]):
        return min(c, key=lambda r: r[0])

    rng = np.random.default_rng(0)
    p, q, c = rng.random((6, 2)), rng.random((5, 2)), rng.random((4, 3))
    np.testing.assert_array_equal(nearest(p, q), ((p[None] - q[:, None]) ** 2).sum(-1).argmin(1))
    np.testing.assert_array_equal(row(c), c[c[:, 0].argmin()])


def test_of_nothing() -> None:
    @at.fn
    def least(x: f64[n]) -> f64:
        return min(x, key=lambda v: -v)

    @at.fn
    def least_or(x: f64[n]) -> f64:
        return min(x, key=lambda v: -v, default=7.0)

    assert least_or(np.zeros(0)) == 7.0
    with pytest.raises(at.Error, match="E0704: min of nothing"):
        least(np.zeros(0))


def test_the_derivative_is_that_of_the_element() -> None:
    @at.fn
    def f(x: f64[n], c: f64) -> f64:
        v = min(x, key=lambda v: abs(v - c))
        return v * v

    np.testing.assert_array_equal(at.grad(f)(np.array([1.0, 3.0, 7.0]), 2.8), [0.0, 6.0, 0.0])


@pytest.mark.parametrize(
    ("call", "code"),
    [("max(x, key=3)", "E0239"), ("max(x, kay=lambda v: v)", "E0236"), ("max(x, x, key=lambda v: v)", "E0236"), ("max(c, key=lambda r: r)", "E0251"), ("min(c, axis=0, key=lambda v: v)", "E0236"), ("max(len(x), key=lambda v: v)", "E0238")],
)
def test_refused(call: str, code: str) -> None:
    text = f"import atoll as at\nfrom atoll import f64\nn, m = at.sizes('n m')\n@at.fn\ndef f(x: f64[n], c: f64[n, m]):\n    return {call}\n"
    with pytest.raises(at.Error, match=code):
        at.fn(source=text).compile()
