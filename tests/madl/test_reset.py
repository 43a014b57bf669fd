"""What reset means: the state of a scope is initialised again immediately before it runs, in each cycle (or round) in which the condition holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at

SOURCE = """
let count (c of bool) returns (n): n init 0 = last n + 1 reset c
let nat () returns (n): n = !last p; p init 0 = last p + 1

// the inner instance is reset by c and by d, the outer one never
let pair (c of bool, d of bool) returns (a, b):
  a = nat();
  block returns (b = y):
    x = nat();
    block returns (z = w): w = nat() reset d;
    y = 10*x + z
  reset c

// the inner loop is reset before each row; without reset its sum goes on through rows and cycles
let rows (m of [_][_]int, c of bool) returns (s):
  forward ([r] = m) returns (s = [t]):
    forward ([x] = r) returns (u = {v}): v init 0 += x reset c;
    t = !u
  resume

let restarted <<n>> () returns (a): forward <<n>> returns (a = [x]): x = nat()
let resumed <<n>> () returns (a): forward <<n>> returns (a = [x]): x = nat() resume
let conditional <<n>> (c of bool) returns (a): forward <<n>> returns (a = [x]): x = nat() reset c

// an outer reader of the same state sees the value before the reset
let seen (c of bool) returns (old, new): old = !last p; block returns (p = q): q init 0 = last q + 1 reset c; new = !p

// each branch has an instance of its own, which goes on when its branch runs
let branches (c of bool) returns (n): if c then n = nat() else n = 100 + nat() end
"""
M = np.array([[1, 2], [3, 4]], "int32")
F, T = False, True

# operator, sizes, arguments of each cycle, results
CASES: dict[str, tuple[dict[str, int], list[tuple[Any, ...]], list[Any]]] = {
    "count": ({}, [(F,), (F,), (T,), (F,)], [1, 2, 1, 2]),
    "pair": ({}, [(F, F), (F, F), (F, T), (F, F), (T, F), (F, F)], [[0, 0], [1, 11], [2, 20], [3, 31], [4, 0], [5, 11]]),
    "rows": ({}, [(M, F), (M, F), (M, T)], [[3, 10], [13, 20], [3, 7]]),
    "restarted": ({"n": 3}, [(), ()], [[0, 1, 2], [0, 1, 2]]),
    "resumed": ({"n": 3}, [(), ()], [[0, 1, 2], [3, 4, 5]]),
    "conditional": ({"n": 3}, [(F,), (F,), (T,), (F,)], [[0, 1, 2], [3, 4, 5], [0, 1, 2], [3, 4, 5]]),
    "seen": ({}, [(F,), (F,), (T,), (F,)], [[0, 1], [1, 2], [2, 1], [1, 2]]),
    "branches": ({}, [(T,), (F,), (T,), (F,)], [0, 100, 1, 101]),
}


@pytest.fixture(scope="module")
def nd() -> Any:
    return at.madl(source=SOURCE)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("interpret", [False, True], ids=["code", "oracle"])
def test_reset(nd: Any, name: str, interpret: bool) -> None:
    sizes, inputs, wanted = CASES[name]
    operator = getattr(nd, name)
    if not operator.stateful:
        call = operator.interpret if interpret else operator
        assert [np.asarray(call(*args, **sizes)).tolist() for args in inputs] == wanted
        return
    instance = operator.instance(sizes, interpret)
    for _ in range(2):
        assert [np.asarray(instance.step(*args)).tolist() for args in inputs] == wanted
        instance.reset()
