"""Files of values: text, Futhark's binary format, both in one file, compressed or not."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

import atoll as at
from atoll.futhark.data import read_bytes

NUMBERS = np.array([[1, 2, 130], [255, 2, 98]], np.uint8)
BINARY = b"b\x02\x02  u8" + struct.pack("<qq", *NUMBERS.shape) + NUMBERS.tobytes()
ONE = b"b\x02\x00 f32" + struct.pack("<f", 1.5)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"10 [1.5f32, 2]", [np.int32(10), np.array([1.5, 2], np.float32)]),
        (BINARY + ONE, [NUMBERS, np.float32(1.5)]),
        (b"10\n" + BINARY, [np.int32(10), NUMBERS]),
        (BINARY + b"\n true " + ONE + b" [3i64]\n", [NUMBERS, np.bool_(True), np.float32(1.5), np.array([3])]),
        (b"", []),
    ],
    ids=["text", "binary", "text first", "in turns", "nothing"],
)
def test_values(data: bytes, expected: list[np.ndarray], packed: bool) -> None:
    found = read_bytes(gzip.compress(data) if packed else data)
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == y.dtype and np.array_equal(x, y)


def test_what_is_neither() -> None:
    with pytest.raises(at.Error, match="binary format"):
        read_bytes(b"b\x02\x01 q32" + bytes(8))
