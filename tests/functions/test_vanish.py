"""Functions given to array operations and to second-order functions leave no trace in the C: no closure, no indirect call."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.core.needs import needs_functions
from atoll.functions.program import FunctionProgram
from atoll.std.lists import List, filter_list, fold_left, map_list, of_array

n = at.sizes("n")
a, b, c = at.types("a b c")


@at.fn
def compose(f: at.Fn[[b], c], g: at.Fn[[a], b]) -> at.Fn[[a], c]:
    return lambda x: f(g(x))


@at.fn
def iterate(f: at.Fn[[f64], f64], x: f64, k: i64) -> f64:
    for _ in range(k):
        x = f(x)
    return x


@at.fn
def composed_map(x: f64[n], k: f64) -> f64[n]:
    return map(compose(lambda y: y + k, compose(lambda y: y * y, sqrt)), x)


@at.fn
def reduced(x: f64[n]) -> f64:
    pick = lambda f: lambda p, q: f(p, q)
    return reduce(pick(lambda p, q: p if p > q else q), 0.0, x)


@at.fn
def scanned(x: f64[n], k: f64) -> f64[n]:
    damp = lambda g: lambda p, q: g(p, q) * 1.0
    return scan(damp(add), 0.0, map(lambda y: y + k, x))


@at.fn
def looped(x: f64[n], k: i64) -> f64[n]:
    step = lambda r: lambda y: r * y * (1.0 - y)
    return [iterate(step(3.5), y, k) for y in x]


@at.fn
def from_a_tuple(x: f64[n]) -> f64[n]:
    f, g = (lambda y: y + 1.0, lambda y: 2.0 * y)
    return map(f, map(g, x))


@at.record
class Pair:
    up: at.Fn[[f64], f64]
    down: at.Fn[[f64], f64]


@at.fn
def from_a_record(x: f64[n], k: f64) -> f64[n]:
    p = Pair(lambda y: y + k, lambda y: y - k)
    return [p.up(p.down(y)) * p.up(0.0) for y in x]


@at.fn
def chosen_by_index(x: f64[n], i: i64) -> f64[n]:
    fs = [lambda y: y + 1.0, lambda y: y * 2.0]
    return map(fs[i], x)


FIRST_ORDER = [
    (composed_map, (2.0,), lambda x, k: x + k),
    (reduced, (), lambda x: x.max()),
    (scanned, (1.0,), lambda x, k: np.cumsum(x + k)),
    (looped, (2,), lambda x, k: 3.5 * (3.5 * x * (1 - x)) * (1 - 3.5 * x * (1 - x))),
    (from_a_tuple, (), lambda x: 2 * x + 1),
    (chosen_by_index, (1,), lambda x, i: 2 * x),
]


@pytest.mark.parametrize(("f", "more", "oracle"), FIRST_ORDER, ids=lambda x: getattr(x, "name", ""))
def test_array_code_is_first_order(f: Any, more: tuple[Any, ...], oracle: Any) -> None:
    assert not needs_functions(f.core)
    text = f.show("c")
    code = text[text.index("_run(") :] if "_run(" in text else text
    assert not re.search(r"\(\s*\*\s*\w*\s*\)\s*\(", code), "an indirect call"
    assert "closure" not in code
    x = np.array([0.5, 0.25, 1.0])
    assert np.allclose(f(x, *more), oracle(x, *more))


@at.fn
def list_pipeline(x: i64[n], k: i64) -> i64:
    xs = of_array(x)
    ys = map_list(lambda v: v * k, filter_list(lambda v: v % 2 == 0, xs))
    return fold_left(lambda p, q: p + q, 0, map_list(compose(lambda v: v + 1, lambda v: v * v), ys))


@at.fn
def sums_of_lists(xs: List[i64], x: f64[n]) -> f64[n]:
    """A kernel inside a program with data: its functions are gone too."""
    total = fold_left(lambda p, q: p + q, 0, xs)
    return [y * total for y in map(compose(lambda v: v + 1.0, lambda v: -v), x)]


@pytest.mark.parametrize("f", [list_pipeline, sums_of_lists, from_a_record], ids=lambda f: f.name)
def test_functions_over_lists_vanish(f: Any) -> None:
    text = f.show("c")
    assert "(*)(at_heap" not in text, "an indirect call"
    x = np.arange(5)
    p = FunctionProgram(f.core, f._arguments, "1", counters=True)
    if f is list_pipeline:
        assert p.call(x, 3) == sum((3 * v) ** 2 + 1 for v in x if v % 2 == 0)
    elif f is sums_of_lists:
        assert np.array_equal(p.call([1, 2, 3], x * 1.0), (1.0 - x) * 6)
    else:
        assert np.array_equal(p.call(x * 1.0, 2.0), 2.0 * x)
    assert p.closures == 0


def test_kernels_have_no_indirect_calls() -> None:
    text = sums_of_lists.show("c")
    kernels = re.findall(r"static int at_k\d+_run\(.*?\n\}\n", text, re.S)
    assert kernels
    for kernel in kernels:
        assert not re.search(r"\(\s*\*\s*\w*\s*\)\s*\(", kernel) and "at_cell" not in kernel


# -- derivatives


@at.fn
def loss(x: f64[n], k: f64) -> f64:
    f = compose(lambda y: y * y, lambda y: y + k)
    return sum(map(f, x))


def test_derivatives_of_functions_that_vanish() -> None:
    x = np.array([1.0, 2.0])
    assert np.array_equal(at.grad(loss)(x, 0.5), 2 * (x + 0.5))
    assert at.grad(loss, wrt="k")(x, 0.5) == (2 * (x + 0.5)).sum()
    assert np.allclose(at.jvp(composed_map, (x, 1.0), (np.ones(2), 0.0)), np.ones(2))
    assert np.allclose(at.grad(lambda_sum)(x), 6 * x)


@at.fn
def lambda_sum(x: f64[n]) -> f64:
    pick = (lambda y: 3.0 * y * y) if n > 1 else (lambda y: y)
    return sum(pick(y) for y in x)


@at.fn
def inner_gradient(x: f64[n], k: i64) -> f64[n]:
    """A derivative of array code inside a recursion."""
    g = vjp(lambda y: sum(v * v for v in y), x, 1.0)
    return x if k == 0 else inner_gradient(g, k - 1)


def test_a_derivative_inside_a_recursion() -> None:
    assert list(inner_gradient(np.ones(2), 3)) == [8.0, 8.0]
    assert list(inner_gradient.interpret(np.ones(2), 3)) == [8.0, 8.0]


@at.fn
def escaping(x: f64, k: i64) -> f64:
    def power(f: at.Fn[[f64], f64], k: i64) -> at.Fn[[f64], f64]:
        if k == 0:
            return lambda y: y
        before = power(f, k - 1)
        return lambda y: f(before(y))

    return power(lambda y: y * y, k)(x)


def test_derivatives_of_closures_are_refused() -> None:
    with pytest.raises(at.TypeError) as error:
        at.grad(escaping)(2.0, 3)
    assert error.value.code == "E1113" and "escaping" in str(error.value)


# -- from Python


def test_functions_from_python() -> None:
    @at.fn
    def integrate(f: at.Fn[[f64], f64], low: f64, high: f64, k: i64) -> f64:
        h = (high - low) / k
        return h * sum(f(low + (i + 0.5) * h) for i in range(k))

    @at.fn
    def square(x: f64) -> f64:
        return x * x

    assert np.isclose(integrate(square, 0.0, 3.0, 1000), 9.0)
    assert np.isclose(integrate(np.sin, 0.0, np.pi, 1000), 2.0)
    assert np.isclose(integrate.interpret(f=square, low=0.0, high=3.0, k=100), 9.0, atol=1e-2)
    with pytest.raises(at.TypeError, match="integrate: argument f must be an Atoll function, not a Python function"):
        integrate(lambda x: x, 0.0, 1.0, 3)
