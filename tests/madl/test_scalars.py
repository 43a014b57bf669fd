"""Scalar operations have a value for every operand, and code and oracle agree on it: the corners of every type, division by zero, conversions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.madl.scalars import SCALAR_OPS
from tests.madl.harness import by_code, by_oracle, last, same

INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f32", "f64"]


def corners(t: str) -> list[Any]:
    dtype = np.dtype({"i": "int", "u": "uint", "f": "float"}[t[0]] + t[1:])
    if t[0] == "f":
        values = [0.0, -0.0, 1.0, -1.5, 2.5, 1e30, -1e30, 0.1, math.inf, -math.inf, math.nan]
    else:
        limits = np.iinfo(dtype)
        values = [limits.min, limits.max, limits.max - 1, 0, 1, 2, 7, *([] if limits.min == 0 else [-1, -2, -7])]
    return [dtype.type(v) for v in values]


def agree_on(source: str, inputs: list[tuple[Any, ...]]) -> list[list[Any]]:
    op = last(source)
    with np.errstate(all="ignore"):
        wanted, found = by_oracle(op, {}, inputs), by_code(op, {}, inputs)
    for given, a, b in zip(inputs, found, wanted, strict=True):
        assert same(a, b), f"{given}: code gives {a}, the oracle {b}"
    return wanted


@pytest.mark.parametrize("t", INTEGERS)
def test_integers(t: str) -> None:
    names = ["a + b", "a - b", "a * b", "a / b", "a % b", "min(a, b)", "max(a, b)", "-a", "abs(a)", "sqrt(a)", "sign(a)"]
    names += ["bit_and(a, b)", "bit_or(a, b)", "bit_xor(a, b)", "bit_not(a)", "shift_left(a, b)", "shift_right(a, b)", "quot(a, b)", "rem(a, b)"]
    results = ", ".join(f"r{k}" for k in range(len(names)))
    body = "; ".join(f"r{k} = {e}" for k, e in enumerate(names))
    values = corners(t)
    agree_on(f"let f (a of {t}, b of {t}) returns ({results}): {body}", [(a, b) for a in values for b in values])


@pytest.mark.parametrize("t", FLOATS)
def test_floats(t: str) -> None:
    names = ["a + b", "a - b", "a * b", "a / b", "min(a, b)", "max(a, b)", "-a", "abs(a)", "sqrt(a)", "clip(a, -1.0, 1.0)", "min(a, 0.0)", "max(0.0, a)"]
    names += ["floor(a)", "ceil(a)", "round(a)", "trunc(a)", "copysign(a, b)", "sign(a)"]
    results = ", ".join(f"r{k}" for k in range(len(names)))
    body = "; ".join(f"r{k} = {e}" for k, e in enumerate(names))
    values = corners(t)
    agree_on(f"let f (a of {t}, b of {t}) returns ({results}): {body}", [(a, b) for a in values for b in values])


@pytest.mark.parametrize("t", [*INTEGERS, *FLOATS])
def test_comparisons(t: str) -> None:
    names = ["a < b", "a <= b", "a > b", "a >= b", "a == b", "a != b", "a < 1 || not (b == a) && b > 1"]  # (a < b || a != b && a >= b is miscompiled by GCC 12 itself)
    names += ["isnan(a)", "isfinite(a)"] if t in FLOATS else []
    results = ", ".join(f"r{k}" for k in range(len(names)))
    body = "; ".join(f"r{k} = {e}" for k, e in enumerate(names))
    values = corners(t)
    agree_on(f"let f (a of {t}, b of {t}) returns ({results}): {body}", [(a, b) for a in values for b in values])


@pytest.mark.parametrize("t", [*INTEGERS, *FLOATS])
def test_conversions(t: str) -> None:
    targets = [*INTEGERS, *FLOATS, "bool", "int", "float"]
    results = ", ".join(f"r_{n}" for n in targets)
    body = "; ".join(f"r_{n} = {n}(a)" for n in targets)
    agree_on(f"let f (a of {t}) returns ({results}): {body}", [(v,) for v in corners(t)])


def test_division_by_zero_and_conversions_have_values() -> None:
    found = agree_on(
        "let f (a of int, b of int, x of f64) returns (q, r, k, n): q = a / b; r = a % b; k = i8(x); n = u8(x)",
        [(7, 0, math.nan), (-7, 2, 300.7), (-(2**31), -1, -5.5)],
    )
    assert [[int(v) for v in row] for row in found] == [[0, 0, -128, 0], [-4, 1, 127, 255], [-(2**31), 0, -5, 0]]


def test_indices() -> None:
    found = agree_on(
        "let f (a of [4]int, k of int) returns (c, w): i = clamp<<4>>(k); j = wrap<<4>>(k); c = !a.[i]; w = !a.[j]",
        [(np.arange(4, dtype="int32"), k) for k in (-9, -1, 0, 3, 4, 9)],
    )
    assert [[int(v) for v in row] for row in found] == [[0, 3], [0, 3], [0, 0], [3, 3], [3, 0], [3, 1]]


def test_transcendental_functions_are_those_of_numpy() -> None:
    names = [n for n, row in SCALAR_OPS.items() if row.family == "float" and row.arity == 1 and row.gives == "same"]
    results = ", ".join(f"r{k}" for k in range(len(names)))
    body = "; ".join(f"r{k} = {n}(a)" for k, n in enumerate(names))
    nd = at.madl(source=f"let f (a of f64) returns ({results}): {body}")
    for value in (0.5, 0.25):
        for name, got, want in zip(names, nd.f(value), nd.f.interpret(value), strict=True):
            assert np.isclose(got, want, rtol=1e-12, equal_nan=True), name
    assert np.isclose(nd.f(0.5)[names.index("asin")], np.arcsin(0.5))
    assert len(names) >= 25
