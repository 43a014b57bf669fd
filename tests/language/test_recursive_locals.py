"""Local functions that call themselves, or each other, given to functions that take functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from tests.agreement import same

n = at.sizes("n")


@at.fn
def apply(g: at.Fn[[i64], i64], x: i64) -> i64:
    return g(x) + 1

@at.fn
def twice(g: at.Fn[[f64], f64], x: f64) -> f64:
    return g(g(x))

@at.fn
def factorial(x: i64) -> i64:
    def fact(k: i64) -> i64:
        return 1 if k <= 1 else k * fact(k - 1)
    return apply(fact, x)

@at.fn
def in_maps(xs: i64[n], y: i64):
    def fib(k: i64) -> i64:
        if k < 2:
            return k + y
        return fib(k - 1) + fib(k - 2)
    return map(fib, xs), [apply(lambda q: fib(q) + y, v) for v in xs], map(global_fact, xs)

@at.fn
def global_fact(k: i64) -> i64:
    return 1 if k <= 1 else k * global_fact(k - 1)

@at.fn
def halved(x: f64) -> f64:
    def half(v: f64) -> f64:
        return v if v < 1.0 else half(v / 2.0)
    return twice(half, x * 3.0)

@at.fn
def each_other(x: f64) -> f64:
    def even(k: f64) -> f64:
        return 1.0 if k < 1.0 else odd(k - 1.0)
    def odd(k: f64) -> f64:
        return 0.0 if k < 1.0 else even(k - 1.0)
    return twice(even, x)


@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (factorial, (5,), 121),
        (in_maps, (np.arange(6), 2), ([2, 3, 5, 8, 13, 21], [5, 6, 8, 11, 16, 24], [1, 1, 2, 6, 24, 120])),
        (halved, (5.0,), 0.9375),
        (each_other, (4.0,), 0.0),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_recursive_functions_as_arguments(f: Any, args: tuple[Any, ...], expected: Any) -> None:
    wanted = tuple(np.array(x) for x in expected) if isinstance(expected, tuple) else type(args[0])(expected)
    same(f.interpret(*args), wanted)
    same(f(*args), wanted)
