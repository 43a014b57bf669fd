"""Choices between patterns of bits are computed without a branch, and mean the same."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

TEXT = """
import atoll as at
from atoll import {t}
n = at.sizes("n")
@at.fn
def f(data: {t}[n]) -> ({t}, {t}):
    crc, other = ~{t}(0), {t}(0)
    for x in data:
        crc = crc ^ x
        for bit in range(8):
            crc = (crc >> 1) ^ {t}(0x8D) if (crc & 1) == 1 else crc >> 1
        other = other | x if (crc & 3) == 3 and x != crc else other & ~crc
    return crc, other
"""


@pytest.mark.parametrize("t", ["u8", "u16", "u32", "u64"])
def test_values(t: str) -> None:
    f = at.fn(source=TEXT.format(t=t))
    rng = np.random.default_rng(2)
    for size in (0, 1, 37):
        data = rng.integers(0, 2 ** int(t[1:]), size, dtype=f"uint{t[1:]}")
        agree(f, data, compiled=t in ("u8", "u64"))
    steps = [line for line in f.show("c").splitlines() if "141" in line and "^" in line and "crc" in line]
    assert steps and not any("?" in line for line in steps)
