"""Every rewrite has a row of programs aimed at it, which it really rewrites; some of them run here, all of them in `make fuzz-all`."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import atoll as at
from atoll.loops.optimise import PASSES

from .oracle import python
from .run import patched, program, run_seeds
from .table import ROWS

SEEDS = range(12)  # one of so few is rewritten, and three are programs
CALLED = {"same_values_again": "same_values", "needless_checks_again": "clamped", "hoist_checks": "checks", "hoist_checks_again": "checks", "followers": "follow", "join_followers": "follow", "followers_in_place": "follow"}


def test_every_rewrite_has_a_row() -> None:
    passes = {CALLED.get(p.name, p.name) for p in PASSES} - {"plain_products", "grain"}  # which choose, and rewrite nothing
    assert len(passes) > 40 and passes <= set(ROWS), passes - set(ROWS)


@pytest.mark.parametrize("row", [name for name, row in ROWS.items() if row.says and not row.rare])
def test_rows_are_rewritten(row: str) -> None:
    programs, rewritten = 0, False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in SEEDS:
            _, p = program(seed, row)
            with patched(p.patch):
                try:
                    said = at.fn(source=p.text).explain("schedule")
                except at.Error:
                    continue
            programs += 1
            rewritten |= re.search(ROWS[row].says, said) is not None
            if programs >= 3 and rewritten:
                break
    assert programs >= 3 and rewritten


def test_the_oracle_is_plain_python() -> None:
    """Arrays are values: neither a swap nor a later change is seen through another name."""
    text = "@at.fn\ndef f(a: i64[n], m: i64[n, n]):\n    b = a\n    b[0] = 7\n    m[0], m[1] = m[1], m[0]\n    c = m[0]\n    m[0, 0] += 5\n    return a, b, m, c, [v for v in a if v > 1]\n"
    a, b, m, c, kept = python(text)(np.arange(3), np.arange(9).reshape(3, 3))
    assert a.tolist() == [0, 1, 2] and b.tolist() == [7, 1, 2] and m.tolist() == [[8, 4, 5], [0, 1, 2], [6, 7, 8]] and c.tolist() == [3, 4, 5] and kept.tolist() == [2]


def test_bools_count_in_the_oracle() -> None:
    """Two bools of NumPy are added by `or` and cannot be subtracted; the contract counts them, and a bool beside a u8 is a u8."""
    text = "@at.fn\ndef f(x: bool_[n], y: u8[n]):\n    return [x[i] + x[i] for i in range(n)], [x[i] - (y[i] > 0) for i in range(n)], x * x, [x[i] + y[i] for i in range(n)]\n"
    args = np.array([True, False]), np.array([255, 3], np.uint8)
    expected = python(text)(*args)
    assert [v.tolist() for v in expected] == [[2, 0], [0, -1], [1, 0], [0, 3]]
    f = at.fn(source="import atoll as at\nfrom atoll import *\nn = at.sizes('n')\n" + text)
    assert [v.tolist() for v in f.interpret(*args)] == [v.tolist() for v in expected]


def test_some_programs() -> None:
    found = list(run_seeds(range(90000, 90000 + 2 * len(ROWS), 9)))
    assert [f.detail for f in found if f.failed] == []
    assert sum(f.kind == "right" for f in found) > 0.8 * len(found)
