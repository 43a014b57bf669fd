"""Loops that check in every round have the bits and the errors of the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.errors.base import Error
from atoll.functions.operators import fits

HEAD = "import atoll as at\nfrom atoll import bool_, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64\nn, m, h, w = at.sizes('n m h w')\n@at.fn\n"
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


def outcome(run: Any, *args: Any) -> Any:
    """The bits, or the error."""
    try:
        found = run(*args)
    except Error as e:
        return str(e)
    return [(np.asarray(x).dtype, np.asarray(x).tobytes()) for x in (found if isinstance(found, tuple) else (found,))]


def edges(source: type, target: str) -> list[Any]:
    low, high = np.iinfo({"i": "int", "u": "uint"}[target[0]] + target[1:]).min, np.iinfo({"i": "int", "u": "uint"}[target[0]] + target[1:]).max
    near = [source(x) for x in (low - 1, low, high, high + 1, 0.5, -0.5, -1.0, -0.999)]
    around = [y for x in near for y in (np.nextafter(x, source(-np.inf)), x, np.nextafter(x, source(np.inf)))]
    return [*around, source(np.nan), source(np.inf), source(-np.inf), source(-0.0)]


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", ["f32", "f64"])
def test_conversions_fit_or_are_refused(source: str, target: str) -> None:
    body = f"    y = at.full(len(x), {target}(0))\n    for i in range(len(x)):\n        y[i] = {target}(x[i] * 1)\n    return y\n"
    f = at.fn(source=HEAD + f"def f(x: {source}[n]) -> {target}[n]:\n" + body)
    kind = np.float32 if source == "f32" else np.float64
    fine = 0
    for x in edges(kind, target):
        args = np.array([kind(1), x])
        wanted = outcome(f.interpret, args)
        assert outcome(f, args) == wanted, x
        fine += isinstance(wanted, list)
    assert 3 <= fine <= 28


@pytest.mark.parametrize("target", ["i32", "u32", "i64"])
def test_conversions_in_functions_that_call_themselves(target: str) -> None:
    f = at.fn(source=HEAD + f"def f(x: f32, k: i64) -> {target}:\n    if k == 0:\n        return {target}(x)\n    return f(x, k - 1)\n")
    for x in edges(np.float32, target):
        wanted = outcome(f.interpret, x, 2)
        assert outcome(f, x, 2) == wanted, x
        assert bool(fits("f32", target).means(x)) == isinstance(wanted, list), x
