"""Small arrays of complex numbers whose size is known are lanes of parts; also where pieces of a loop, functions of their own, read them."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import c64, c128, f64, i64

n = at.sizes("n")


@at.fn
def kept_if(z: c128[3], p: i64[n]):
    return [v for v in z if p[0] == p[n - 1]]


@at.fn
def kept(z: c64[4], p: i64[n]):
    return [v * 2 for v in z if abs(v) > 1.5]


@at.fn
def spread(z: c128[3], x: f64[n]):
    w = [v * v for v in z]
    w[1] = w[0] + 1j
    return [w[i % 3] * x[i] for i in range(n)]


@at.fn
def changed(z: c128[3], x: f64[n]):
    w = z * 1j
    for i in range(n):
        w[i % 3] = w[(i + 1) % 3] + x[i]
    return [[w[j] * v for j in range(3)] for v in x]


@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_values(size: int) -> None:
    z = np.array([1 + 2j, -0.5j, 3.0])
    x, p = np.arange(size) + 0.5, np.arange(size) // 2 * (size > 2)
    np.testing.assert_array_equal(kept_if(z, p), z if p[0] == p[-1] else z[:0])
    four = np.array([1, 2j, -3, 0.5], dtype=np.complex64)
    np.testing.assert_array_equal(kept(four, p), 2 * four[np.abs(four) > 1.5])
    w = z * z
    w[1] = w[0] + 1j
    np.testing.assert_allclose(spread(z, x), w[np.arange(size) % 3] * x)
    w = z * 1j
    for i in range(size):
        w[i % 3] = w[(i + 1) % 3] + x[i]
    np.testing.assert_allclose(changed(z, x), x[:, None] * w[None])
