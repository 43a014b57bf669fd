"""What is checked in a branch holds in that branch and says nothing about the other one.

A read that is in range only because of an assertion (or a division, a size, a greatest element) stays under what was checked. What leaves the branch must
not: where the branch is not taken nothing was checked, and the value of the other branch has to come out. Every way to leave a branch is a program here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

HEAD = """
import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")

def at_place(p: f64[n], k: i64) -> f64:
    assert k >= 1
    assert k <= n
    return p[k - 1]

def greatest(p: f64[n], k: i64) -> f64:
    return p[argmax(p[:k] if k <= n else p[:0]) % n]

def padded(p: f64[n], k: i64) -> f64:
    reach = 1
    while reach < k:
        reach = reach * 2
    size = at.size(reach)
    left = [p[j] if j < n else 0.0 for j in range(size)]
    return sum(left) + left[k - 1]

@at.fn
def f(p: f64[n], k: i64, c: i64[m]):
"""
VALUES = {
    "assertion": "at_place(p, k)",
    "two of them": "at_place(p, k) + at_place(p, k + 1) * at_place(p, 1)",
    "a greatest element": "p[argmax(full(k, 1.0)) % n]",
    "a remainder": "p[(7 % k) % n]",
    "a size": "sum(full(k - 1, 2.0)) + p[0]",
    "a slice": "sum(p[k - 1:])",
    "a size that a loop makes": "padded(p, k)",
    "a range whose ends are data": "sum(p[j] for j in range(k - 1, k + sum(c) * 0 + 1))",
}
SHAPES = {
    "comprehension": "    return [5.0 if c[i] > 0 else {} for i in range(m)]",
    "the other way round": "    return [{} if c[i] <= 0 else 5.0 for i in range(m)]",
    "nested": "    return [(1.0 if c[i] == 2 else {}) if c[i] != 1 else 5.0 for i in range(m)]",
    "outside": "    return [5.0 * x if m > 0 and c[0] > 0 else {} + x for x in p]",
    "loop": "    s = 0.0\n    for i in range(m):\n        if c[i] > 0:\n            s += 5.0\n        else:\n            s += {}\n    return s",
    "loop with arrays": "    t = [0.0 for i in range(m)]\n    for i in range(m):\n        if c[i] <= 0:\n            t[i] = {}\n        else:\n            t[i] = 5.0\n    return t",
    "while": "    s, i = 0.0, 0\n    while i < m:\n        s = s + 5.0 if c[i] > 0 else s + {}\n        i += 1\n    return s",
    "sum": "    return sum({} for i in range(m) if c[i] <= 0) + 1.0",
    "sum of choices": "    return sum(5.0 if c[i] > 0 else {} for i in range(m))",
    "filter": "    return sum([x for x in [5.0 if c[i] > 0 else {} for i in range(m)] if x > 1.0])",
    "and": "    return [c[i] <= 0 and {} > 1.0 for i in range(m)]",
    "or": "    return [c[i] > 0 or {} > 1.0 for i in range(m)]",
    "an array": "    return [7.0 for x in p] if m > 0 and c[0] > 0 else [x + {} for x in p]",
    "a pair": "    return [(5.0, 1) if c[i] > 0 else ({}, 2) for i in range(m)]",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("value", VALUES)
def test_the_other_branch_keeps_its_value(shape: str, value: str) -> None:
    f = at.fn(source=HEAD + SHAPES[shape].format(VALUES[value]) + "\n")
    compiled = value == "assertion"
    for k, c in ((0, [1, 1, 1]), (9, [1, 1, 1]), (0, []), (2, [1, 0, 2]), (1, [0, 0])):
        args = (np.array([1.5, 2.5, 3.5, 0.5]), k, np.array(c, np.int64))
        try:
            wanted: Any = f.interpret(*args)
        except at.Error as error:
            wanted = error.code
        if isinstance(wanted, str):
            with pytest.raises(at.Error) as caught:
                f(*args)
            assert caught.value.code == wanted
        else:
            agree(f, *args, compiled=compiled)


LOOPS = {  # w is updated and never used: what is left of the loop is its checks
    "for": "    if c[0] > 0:\n        for j in range(m):\n            w[j % n] = 1.0\n            assert {0}\n",
    "for over an array": "    if c[0] > 0:\n        for x in c:\n            w[0] += 1.0\n            assert {0}\n",
    "while": "    if c[0] > 0:\n        j = 0\n        while j < m:\n            w[0] += 1.0\n            assert {0}\n            j += 1\n",
    "nested": "    for t in range(2):\n        if c[0] > t:\n            for j in range(m):\n                if c[j] >= 0:\n                    for l in range(2):\n                        w[l] = 2.0\n                        assert {0}\n",
    "a shift": "    if c[0] > 0:\n        for j in range(m):\n            w[0] = 1.0\n            y = j >> ((sum(c) & 15) * 0 + k)\n",
    "an index": "    if c[0] > 0:\n        for j in range(m):\n            w[0] = 1.0\n            y = p[(sum(c) & 15) * 0 + k - 1]\n",
}


@pytest.mark.parametrize("shape", LOOPS)
def test_loops_that_only_check_run_where_they_stand(shape: str) -> None:
    """A loop without a state is nothing but its checks: what they ask for is made only where its condition holds."""
    f = at.fn(source=HEAD + "    w = [0.0 for x in p]\n" + LOOPS[shape].format("k >= 1 + (sum(c) & 15) * 0") + "    return sum(p)\n")
    p = np.array([1.5, 2.5])
    for k, c in ((1, [1, 2]), (1, [0, -1]), (-1, [0, 5]), (-1, [-3])):
        agree(f, p, k, np.array(c, np.int64), compiled=False)
    for given in (f, f.interpret):
        with pytest.raises(at.Error):
            given(p, -1, np.array([3, 1]))
