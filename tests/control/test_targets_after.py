"""The variable of a `for` that has a value before the loop keeps the last one after it, as in Python; without one it may be unbound, unless the loop surely has rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at

HEAD = "import atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n\n@at.fn\n"
NUMBERS = [(0,), (1,), (5,)]
ARRAYS = [(np.zeros(0),), (np.zeros(3),), (np.arange(3.0) + 1,)]
PROGRAMS: dict[str, tuple[str, list[Any]]] = {
    "a count": ("def f(k: i64) -> i64:\n    it = -1\n    for it in range(k):\n        pass\n    return it\n", NUMBERS),
    "elements": ("def f(x: f64[n]) -> f64:\n    v = 0.5\n    for v in x:\n        pass\n    return v\n", ARRAYS),
    "break and else": ("def f(x: f64[n]) -> i64:\n    it = 7\n    for it in range(len(x)):\n        if x[it] > 1.5:\n            break\n    else:\n        it = -1\n    return it\n", ARRAYS),
    "loops in loops": ("def f(k: i64) -> i64:\n    j = 3\n    s = 0\n    for i in range(k):\n        for j in range(i):\n            s += j\n        s += j\n    return s * 10 + j\n", NUMBERS),
    "two at once": ("def f(x: f64[n]) -> f64:\n    i = 0\n    v = 1.0\n    for i, v in enumerate(x):\n        pass\n    return v + i\n", ARRAYS),
    "read before the loop": ("def f(k: i64) -> i64:\n    i = 2\n    s = i\n    for i in range(k):\n        s += i\n    return s + 100 * i\n", NUMBERS),
    "downwards": ("def f(k: i64) -> i64:\n    i = 9\n    for i in range(k, 0, -2):\n        pass\n    return i\n", NUMBERS),
    "changed in the body": ("def f(k: i64) -> i64:\n    i = 9\n    for i in range(k):\n        i = i * 2\n    return i\n", NUMBERS),
    "rounds that are sure": ("def f(k: i64) -> i64:\n    s = 0\n    for it in range(4):\n        s += it\n    return s * 10 + it\n", NUMBERS),
    "rounds that are sure, twice": ("def f(k: i64) -> i64:\n    s = 0\n    for it in range(k):\n        s += it\n    for it in range(2, 5):\n        s += it * k\n    return s * 10 + it\n", NUMBERS),
    "rounds until": ("def f(k: i64) -> i64:\n    s = 0\n    for it in range(9):\n        s += it\n        if s > 2 * k:\n            break\n    return s * 10 + it\n", NUMBERS),
    "sure, in a loop": ("def f(k: i64) -> i64:\n    s = 0\n    for q in range(k):\n        for it in range(3):\n            if it + q > 2:\n                break\n        s += it\n    return s\n", NUMBERS),
    "under a condition": ("def f(k: i64) -> i64:\n    i = 9\n    if k > 2:\n        for i in range(k):\n            pass\n    return i\n", NUMBERS),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_as_in_python(what: str) -> None:
    text, cases = PROGRAMS[what]
    f, names = at.fn(source=HEAD + text), {}
    exec(text, {"i64": int, "f64": {None: float}, "n": None}, names)  # noqa: S102
    for args in cases:
        wanted = names["f"](*args)
        assert f(*args) == f.interpret(*args) == wanted


def test_derivative() -> None:
    f = at.fn(source=HEAD + "def f(x: f64[n]) -> f64:\n    v = 0.5\n    for v in x:\n        pass\n    return v * v\n")
    assert at.grad(f)(np.array([1.0, 3.0])).tolist() == [0.0, 6.0] and at.grad(f)(np.zeros(0)).shape == (0,)


def test_without_a_value_before() -> None:
    with pytest.raises(at.Error, match="E0110"):
        _ = at.fn(source=HEAD + "def f(k: i64) -> i64:\n    for it in range(k):\n        pass\n    return it\n").type
