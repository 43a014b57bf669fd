"""Functions computed in vectors are within 4 units in the last place, over all exponents."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64

n = at.sizes("n")


@at.fn
def all32(x: f32[n]):
    return exp(x), expm1(x), log(x), log1p(x), sin(x), cos(x), tanh(x), erf(x), cbrt(x), sqrt(x), arctan(x), exp2(x), log2(x), sinh(x), cosh(x)


@at.fn
def all64(x: f64[n]):
    return exp(x), expm1(x), log(x), log1p(x), sin(x), cos(x), tanh(x), cbrt(x), sqrt(x), arctan(x), exp2(x), log2(x), sinh(x), cosh(x)


NAMES32 = ["exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf", "cbrt", "sqrt", "arctan", "exp2", "log2", "sinh", "cosh"]
NAMES64 = [name for name in NAMES32 if name != "erf"]


def exact(name, x):
    """In the widest type there is."""
    wide = x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        if name == "erf":
            from math import erf

            return np.array([erf(float(v)) for v in x])
        return getattr(np, name)(wide)


def units(got, wanted, dtype):
    """The distance in units in the last place of the exact result."""
    with np.errstate(all="ignore"):
        rounded = wanted.astype(dtype)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        distance = np.abs(got.astype(np.longdouble) - wanted) / np.spacing(np.abs(rounded)).astype(np.longdouble)
    distance = np.where(same | ~np.isfinite(rounded.astype(np.float64)) & (np.abs(got) >= np.finfo(dtype).max), 0, distance)
    return float(np.max(np.where(np.isnan(distance), np.inf, distance)))


def samples(dtype, bits):
    """Random mantissas at every exponent, both signs; not the subnormal numbers, whose results may be flushed by nobody."""
    rng = np.random.default_rng(0)
    info = np.finfo(dtype)
    exponents = np.repeat(np.arange(info.minexp, info.maxexp), bits)
    x = np.ldexp(rng.random(exponents.size) + 1.0, exponents).astype(dtype)
    return np.concatenate([x, -x, np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)])


@pytest.mark.parametrize("name", NAMES32)
def test_f32(name):
    x = samples(np.float32, 40)
    if name in ("sin", "cos"):
        x = x[~(np.abs(x) > 1e5)]
    assert units(all32(x)[NAMES32.index(name)], exact(name, x), np.float32) <= 4.0


@pytest.mark.parametrize("name", NAMES64)
def test_f64(name):
    x = samples(np.float64, 6)
    if name in ("sin", "cos"):
        x = x[~(np.abs(x) > 1e5)]
    assert units(all64(x)[NAMES64.index(name)], exact(name, x), np.float64) <= 4.0


def test_they_run_in_vectors():
    import shutil
    import subprocess

    if shutil.which("nm") is None:
        pytest.skip("nm is not there to look with")
    library = all64.compile().path
    found = subprocess.run(["nm", "-D", str(library)], capture_output=True, text=True, check=True).stdout
    if "GLIBC" not in found or "x86" not in __import__("platform").machine():
        pytest.skip("the vector functions are glibc's on x86")
    assert all(any(line.endswith(f"v_{name}@GLIBC_2.22") or f"v_{name}@" in line for line in found.splitlines() if "_ZGV" in line) for name in ("exp", "sin", "cos", "sinh"))
