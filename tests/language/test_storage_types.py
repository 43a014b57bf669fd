"""f16 and bf16: all 65,536 values in and out, rounding as NumPy and ml_dtypes round, arithmetic in f32, in the interpreter, in C with and without the
processor's own conversions, in exported C, under derivatives, in calls."""

import ctypes
import subprocess

import ml_dtypes
import numpy as np
import pytest

import atoll as at
from atoll import bf16, f16, f32, f64, i64

n, m = at.sizes("n m")
ALL = np.arange(65536, dtype=np.uint16)
rng = np.random.default_rng(3)


@at.fn
def wide(x: f16[n], y: bf16[n]) -> (f32[n], f32[n]):
    return x, y


@at.fn
def narrow(x: f32[n]) -> (f16[n], bf16[n]):
    return x, x


@at.fn
def rounded(x: f32[n]) -> f32[n]:
    return f16(x) - bf16(x) + x.astype(f16)


@at.fn
def scaled(x: f16[n, m], k: f32) -> f16[n, m]:
    return x * k + 1.0


@at.fn
def inner(x: f16[n], w: f32) -> bf16[n]:
    return x * w


@at.fn
def outer(x: f32[n]) -> f32:
    return sum(inner(x, 2.0))


@at.fn
def loss(x: f16[n], w: bf16[n], k: i64) -> f32:
    return sum(x * x * w) * k


@at.fn
def parts(p: (f16[n], i64), s: f16) -> (bf16[n], f16, f32):
    return p[0] * p[1], s * 2.0, s + 1.0


def both(f):
    return f.interpret, f.compile(optimise="1").call


def numbers():
    """Values around every boundary of rounding, at random, and those that are none."""
    halves = ALL.view(np.float16).astype(np.float32)
    tops = ALL.view(ml_dtypes.bfloat16).astype(np.float32)
    with np.errstate(all="ignore"):
        middles = [(a[:-1] / 2 + a[1:] / 2) for a in (halves, tops)]
        beside = [np.nextafter(a, np.float32(np.inf)) for a in middles]
    any_bits = rng.integers(0, 2**32, 5000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    return np.concatenate([*middles, *beside, any_bits, np.float32([65504, 65519.996, 65520, 1e9, -1e9, 2**-24, 2**-25, 2**-26, np.inf, -np.inf, np.nan, 0, -0.0])]).astype(np.float32)


def bits(x):
    """As bits, NaN as one of them."""
    return np.where(np.isnan(x.astype(np.float32)), np.uint16(0xFFFF), np.asarray(x).view(np.uint16))


@pytest.mark.parametrize("run", ["interpret", "compiled"])
def test_all_values_come_in_and_go_out(run):
    read, write = (both(f)[run == "compiled"] for f in (wide, narrow))
    x, y = ALL.view(np.float16), ALL.view(ml_dtypes.bfloat16)
    a, b = read(x, y)
    for found, given in ((a, x), (b, y)):
        np.testing.assert_array_equal(found, given.astype(np.float32))
        np.testing.assert_array_equal(np.signbit(found), np.signbit(given.astype(np.float32)))
    assert np.array_equal(bits(write(a)[0]), bits(x)) and np.array_equal(bits(write(b)[1]), bits(y))


@pytest.mark.parametrize("run", ["interpret", "compiled"])
def test_rounding_is_to_nearest_even(run):
    given = numbers() if run == "compiled" else numbers()[::37]
    found = both(narrow)[run == "compiled"](given)
    with np.errstate(all="ignore"):
        assert found[0].dtype == np.float16 and np.array_equal(bits(found[0]), bits(given.astype(np.float16)))
        assert found[1].dtype == ml_dtypes.bfloat16 and np.array_equal(bits(found[1]), bits(given.astype(ml_dtypes.bfloat16)))


def test_exported_c_converts_without_the_processor(tmp_path):
    for f in (wide, narrow):
        f.export_c(tmp_path)
        subprocess.run(["gcc", "-std=c99", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", f"{f.name}.c", "-o", f"{f.name}.so", "-lm"], cwd=tmp_path, check=True)
    given = np.ascontiguousarray(numbers())
    found = np.zeros(len(given), np.uint16), np.zeros(len(given), np.uint16)
    assert ctypes.CDLL(str(tmp_path / "narrow.so")).narrow(ctypes.c_int64(len(given)), *(x.ctypes.data_as(ctypes.c_void_p) for x in (given, *found))) == 0
    with np.errstate(all="ignore"):
        assert np.array_equal(bits(found[0].view(np.float16)), bits(given.astype(np.float16))) and np.array_equal(bits(found[1].view(ml_dtypes.bfloat16)), bits(given.astype(ml_dtypes.bfloat16)))
    back = np.zeros(65536, np.float32), np.zeros(65536, np.float32)
    assert ctypes.CDLL(str(tmp_path / "wide.so")).wide(ctypes.c_int64(65536), *(x.ctypes.data_as(ctypes.c_void_p) for x in (ALL, ALL, *back))) == 0
    np.testing.assert_array_equal(back[0], ALL.view(np.float16).astype(np.float32))
    np.testing.assert_array_equal(back[1], ALL.view(ml_dtypes.bfloat16).astype(np.float32))


def test_arithmetic_is_f32():
    x, a, k = rng.random(9).astype(np.float32), rng.random((3, 4)).astype(np.float16), np.float32(0.3)
    through = {t: x.astype(t).astype(np.float32) for t in (np.float16, ml_dtypes.bfloat16)}
    for run in both(rounded):
        np.testing.assert_array_equal(run(x), through[np.float16] - through[ml_dtypes.bfloat16] + through[np.float16])
    for run in both(scaled):
        np.testing.assert_array_equal(run(a, k), (a.astype(np.float32) * k + np.float32(1)).astype(np.float16))
        assert run(a[:0], k).shape == (0, 4)
    assert [repr(u.bytes) for u in scaled.memory()] == ["2*n*m"]


def test_calls_and_tuples():
    x = rng.random(6).astype(np.float32)
    wanted = (x.astype(np.float16).astype(np.float32) * 2).astype(ml_dtypes.bfloat16).astype(np.float32).sum()
    h = x.astype(np.float16)
    for run in both(outer):
        np.testing.assert_allclose(run(x), wanted, rtol=1e-6)
    for run in both(parts):
        a, b, c = run((h, 3), np.float16(0.1))
        np.testing.assert_array_equal(a, (h.astype(np.float32) * 3).astype(ml_dtypes.bfloat16))
        assert isinstance(b, np.float16) and b == np.float16(np.float32(np.float16(0.1)) * 2) and isinstance(c, np.float32)


def test_derivatives_are_those_of_f32():
    x, w = rng.random(6).astype(np.float16), rng.random(6).astype(ml_dtypes.bfloat16)
    a, b = x.astype(np.float32), w.astype(np.float32)
    for g in (at.grad(loss, wrt=(0, 1)), at.grad(loss, wrt=(0, 1)).interpret):
        dx, dw = g(x, w, 3)
        np.testing.assert_allclose(dx, 6 * a * b, rtol=1e-5)
        np.testing.assert_allclose(dw, 3 * a * a, rtol=1e-5)
    np.testing.assert_allclose(at.grad(outer)(a), np.full(6, 2.0))


def test_what_does_not_fit_is_told():
    with pytest.raises(at.Error, match=r"must have dtype f16, not f32[\s\S]*astype\(np.float16\)"):
        scaled(np.zeros((2, 2), np.float32), np.float32(1))
    with pytest.raises(at.Error, match=r"np.array\(w, dtype=ml_dtypes.bfloat16\)"):
        loss(np.zeros(2, np.float16), [1.0, 2.0], 1)
    with pytest.raises(at.Error, match=r"E0201[\s\S]*write f16\(...\) to convert"):

        @at.fn
        def narrows(x: f64[n]) -> f16[n]:
            return x
