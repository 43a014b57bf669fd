"""The versions in Python that `bench.futhark_programs` compares with: those that are written twice agree."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from bench.futhark_programs import arrays, loops
from bench.futhark_programs.__main__ import apart
from bench.futhark_programs.rows import ROWS

RNG = np.random.default_rng(5)
F, I = partial(RNG.random, dtype=np.float32), partial(RNG.integers, dtype=np.int32)
EDGES = I(0, 6, 30), np.sort(I(0, 6, 30))
PAIRS: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "lud": (arrays.lud, loops.lud, (F((6, 6)) + 6 * np.eye(6, dtype=np.float32),)),
    "mri_q": (partial(arrays.mri_q, np), loops.mri_q, (F(4), F(4), F(4), F(5), F(5), F(5), F(4), F(4))),
    "counted": (partial(arrays.counted, np), loops.counted, (3, I(0, 90, 20), I(0, 9, 20))),
    "counted_rows": (arrays.counted_rows, loops.counted_rows, (3, I(0, 90, (2, 20)), I(0, 9, (2, 20)))),
    "in_rectangles": (arrays.in_rectangles, loops.in_rectangles, (RNG.random((31, 2)),)),
    "pagerank": (arrays.pagerank, loops.pagerank, (*EDGES, np.bincount(EDGES[0], minlength=7).astype(np.int32), 3)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_versions_agree(name: str) -> None:
    whole, by_element, args = PAIRS[name]
    assert apart(by_element(*args), whole(*args)) < 1e-5


def test_differences_are_seen() -> None:
    a = np.arange(4.0)
    assert apart(a, a) == 0 and apart(a + 0.5, a) == 0.5 / 3
    assert apart((a, a), a) == apart(a[:3], a) == apart(a * np.nan, a) == np.inf


def test_every_row_has_a_version() -> None:
    assert all(row.shared or row.numpy or row.numba for row in ROWS)
    assert len({row.program for row in ROWS}) >= 25
