"""Captured arrays of short floats, masked arrays, and integers written as powers: what fits means what it says, the rest is refused."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

SHORT = np.array([1.5, 2.5, -0.25], np.float16)
ONE = np.float16(0.5)
MASKED = np.ma.array([1.0, 2.0], mask=[True, False])
HEAD = "import atoll as at\nfrom atoll import f32, f64\nn = at.sizes('n')\n@at.fn\n"


@at.fn
def short(x: at.f32) -> at.f32:
    return sum(SHORT) + x * ONE


@at.fn
def sorted_short(x: at.f32[3]):
    return sort(SHORT), SHORT * x, SHORT > x, -SHORT, exp(SHORT)


def masked(x: at.f64[2]):
    return x + MASKED


def test_short_floats_are_read_as_f32() -> None:
    agree(short, np.float32(2), expected=np.float32(4.75))
    x = np.ones(3, np.float32)
    wide = SHORT.astype(np.float32)
    for found, wanted in zip(sorted_short(x), (np.sort(wide), wide * x, wide > x, -wide, np.exp(wide)), strict=True):
        assert found.dtype == wanted.dtype and np.allclose(found, wanted, rtol=1e-6)


def test_a_masked_array_is_refused() -> None:
    f = at.fn(masked)
    with pytest.raises(at.Error, match=r"MASKED\.filled\(0\)"):
        f(np.ones(2))


def test_powers_of_literals() -> None:
    for text, value in (("2**10", 1024), ("(-2)**63", -(2**63)), ("2**62", 2**62), ("2**3**2", 512), ("0**0", 1), ("1**1000", 1), ("(-1)**65", -1), ("7**0", 1), ("-2**63", -(2**63)), ("-2**63 + 1", 1 - 2**63)):
        assert at.fn(source=f"{HEAD}def f():\n    return {text}\n")() == value, text
    assert at.fn(source=f"{HEAD}def f():\n    return at.u64(2**63)\n")() == 2**63
    for text in ("2**64", "x[2**70]", "10**20 + x[0]", "(-2)**65"):
        with pytest.raises(at.Error) as found:
            at.fn(source=f"{HEAD}def f(x: f64[n]):\n    return {text}\n")
        assert found.value.code == "E0212", text


def test_powers_of_edges_are_those_of_c():
    """Also in the interpreter, number by number: NumPy takes a square root of one number to the 0.5."""

    powers = at.fn(source=HEAD + "def powers(x: f64[n], y: f64[n]) -> f64[n]:\n    return x ** y\n")
    edges = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 2.0]
    x, y = (np.array(v) for v in zip(*[(a, b) for a in edges for b in edges], strict=True))
    with np.errstate(all="ignore"):
        expected = x**y
    for found in (powers.interpret(x, y), powers(x, y)):
        np.testing.assert_allclose(found, expected, rtol=1e-15)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected), strict=True)
