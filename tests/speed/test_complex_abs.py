"""abs of complex numbers in vectors: right over all exponents, at the ends of the range, and for what is not finite."""

import numpy as np
import pytest

import atoll as at
from atoll import c64, c128, f32, f64
from tests.agreement import agree
from tests.export.driver import SANITIZE, run

n = at.sizes("n")
rng = np.random.default_rng(3)


@at.fn
def size64(z: c64[n]) -> f32[n]:
    return abs(z)


@at.fn
def size128(z: c128[n]) -> f64[n]:
    return abs(z)


def ulps(found, exact):
    t = found.dtype.type
    return float(np.max(np.abs(found.astype(np.longdouble) - exact) / np.spacing(np.abs(exact.astype(t))).astype(np.longdouble)))


@pytest.mark.parametrize("f, part, low, high", [(size64, "f4", -148, 126), (size128, "f8", -1073, 1022)])
def test_every_exponent(f, part, low, high):
    size = 40001
    a, b = (np.ldexp(rng.uniform(1, 2, size), rng.integers(low, high, size)).astype(part) for _ in range(2))
    near = np.ldexp(rng.uniform(1, 2, size), np.clip(np.frexp(a)[1] + rng.integers(-4, 5, size), low, high)).astype(part)
    for im in (b, near, np.zeros(size, part), -near):
        z = (a + 0j).astype("c8" if part == "f4" else "c16")
        z.imag = im
        exact = np.sqrt(z.real.astype(np.longdouble) ** 2 + z.imag.astype(np.longdouble) ** 2)
        assert ulps(f(z), exact) <= 1.5
        assert np.array_equal(f(z[:5]), f(z)[:5])  # the same in vectors and one by one


@pytest.mark.parametrize("f, t", [(size64, "c8"), (size128, "c16")])
def test_ends(f, t, tmp_path):
    parts = [0.0, -0.0, 1.0, -3.0, np.inf, -np.inf, np.nan]
    z = np.array([complex(a, b) for a in parts for b in parts], t)
    close = 3e-7 if t == "c8" else 4e-16
    np.testing.assert_allclose(f(z), np.abs(z), rtol=close)
    agree(f, z[np.isfinite(z)])
    tiny = np.finfo(t).tiny
    big = np.finfo(t).max
    ends = np.array([tiny, tiny * 1j, tiny / 8 * (1 + 1j), big * (0.5 + 0.5j), complex(big, 0), complex(0, -big), complex(big, big)], t)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(f(ends), np.abs(ends), rtol=close)
    status, _, (found,) = run(f, (z,), tmp_path, *SANITIZE)
    assert status == 0
    np.testing.assert_allclose(found, np.abs(z), rtol=close)
