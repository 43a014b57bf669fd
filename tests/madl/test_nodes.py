"""at.node as an operator of MADL: the function run from Python, its C, and the oracle give the same, cycle by cycle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.errors import Error
from atoll.madl.back_to_back import Caller
from atoll.madl.targets import TARGETS
from tests.madl.harness import same, strict_compile

n, m = at.sizes("n m")


@at.fn
def count(k: at.i64, by: at.i64) -> (at.i64, at.i64):
    return k + by, k


@at.fn
def delay(line: at.own[at.f64[n]], x: at.f64) -> (at.f64[n], at.f64):
    return concat(line[1:], [x]), line[0]


@at.fn
def smooth(s: at.f32[n], x: at.f32[n], k: at.f32) -> (at.f32[n], at.f32[n]):
    t = [a + k * (b - a) for a, b in zip(s, x)]
    return t, [v * v for v in t]


@at.fn
def pair(s: (at.i32, at.f64[n]), up: bool) -> ((at.i32, at.f64[n]), at.f64):
    k, v = s
    return (k + 1 if up else k - 1, [x * 0.5 + 1.0 for x in v]), sum(v)


@at.fn
def matrix(s: at.f64[n, m], let: at.f64[m]) -> (at.f64[n, m], at.f64[n]):
    return [[a + b for a, b in zip(row, let)] for row in s], [sum(row) for row in s]


CASES: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "count": (at.node(count, 5), [(1,), (2,), (-9,)]),
    "delay": (at.node(delay, np.array([1.0, 2.0, 3.0])), [(0.5,), (1.5,), (2.5,), (3.5,)]),
    "smooth": (at.node(smooth, np.zeros(4, "f4")), [(np.arange(4, dtype="f4"), np.float32(0.25)), (np.ones(4, "f4"), np.float32(0.5))]),
    "pair": (at.node(pair, (3, np.array([1.0, -0.5]))), [(True,), (False,), (True,)]),
    "a matrix, and a name that is a word of MADL": (at.node(matrix, lambda: np.array([[1.0, 2.0], [3.0, 4.0]])), [(np.array([0.5, 1.0]),), (np.array([2.0, 2.0]),)]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_same_three_times(name: str) -> None:
    made, cycles = CASES[name]
    node = made()
    native, oracle = node.operator(), node.operator.instance({}, True)
    for args in cycles:
        wanted = node.step(*args)
        assert same(native.step(*args), wanted) and same(oracle.step(*args), wanted), name


def test_the_c_compiles_and_runs_elsewhere(tmp_path: Path) -> None:
    node = at.node(delay, np.array([1.0, 2.0]))
    strict_compile(node.c(), (node.export_c(tmp_path / "out")[0]).read_text(), "delay", tmp_path)
    op = node.operator.compiled
    inputs = [(np.float64(v),) for v in (4.0, 5.0, 6.0)]
    for name in ("gcc", "cortex-m4"):
        if TARGETS[name].missing() is None:
            assert [float(row[0]) for row in Caller(op, (), {}).run(inputs, TARGETS[name], ["-O2"])] == [1.0, 2.0, 4.0]


@at.fn
def checked(s: at.f64[n], k: at.i64) -> (at.f64[n], at.f64):
    return s, s[k]


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (lambda: at.node(checked, np.zeros(2)), "it makes a check while it runs"),
        (lambda: at.node(delay, np.array([np.inf, 0.0])), "which MADL has no word for"),
        (lambda: at.node(count, "x"), "is no first state that MADL can write"),
    ],
)
def test_what_has_no_c_is_refused(node: Any, words: str) -> None:
    with pytest.raises(Error, match=words):
        node().c()
