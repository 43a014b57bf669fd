"""Multiples of an index go up by a constant: it happens, and every bit stays."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i32, i64, u64

n = at.sizes("n")
ODD = 0x9E3779B97F4A7C15


@at.fn
def mixed(count: i64) -> u64:
    return sum((u64(2 * i + 1) * u64(0x9E3779B97F4A7C15)) ^ ((u64(2 * i) + u64(1)) * u64(0x9E3779B97F4A7C15) >> u64(7)) for i in range(count))


@at.fn
def signed(x: i64[n]) -> i64[n]:
    return [x[i] ^ ((3 - i) * -0x61C8864680B583EB + 5 * (7 * i - 2)) for i in range(n)]


@at.fn
def left_alone(x: i32[n], k: i64) -> (i64[n], i32[n], f64[n]):
    """Powers of two, products that are no multiples of the index, other types."""
    return [i * 8 for i in range(n)], [x[i] * i32(7) for i in range(n)], [f64(i * k * i) for i in range(n)]


def test_it_happens():
    for f in (mixed, signed):
        assert "stride__0 +=" in f.show("c")
    assert "stride__" not in left_alone.show("c")


@pytest.mark.parametrize("size", [0, 1, 7, 100, 70_001])
def test_every_bit_stays(size):
    i = np.arange(size, dtype=np.uint64)
    two, one, odd = np.uint64(2), np.uint64(1), np.uint64(ODD)
    with np.errstate(over="ignore"):
        values = ((two * i + one) * odd) ^ ((two * i + one) * odd >> np.uint64(7))
        assert mixed(size) == values.sum(dtype=np.uint64)
        j = np.arange(size, dtype=np.int64)
        x = j * 17 - 3
        assert (signed(x) == x ^ ((3 - j) * np.int64(-0x61C8864680B583EB) + 5 * (7 * j - 2))).all()
