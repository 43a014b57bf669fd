"""docs/in_place.md: every row is run, and the bytes it moves are counted."""

from __future__ import annotations

import re
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from tests.control.count import moved

PAGE = (Path(__file__).parents[2] / "docs" / "in_place.md").read_text()
ROWS = [line.strip("|").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
HEAD = "import atoll as at\nfrom atoll import i64, bool_\nn = at.sizes('n')\n"


@pytest.mark.parametrize(("cell", "cost"), ROWS, ids=range(len(ROWS)))
def test_row(cell: str, cost: str) -> None:
    body = textwrap.indent("\n".join(re.findall(r"`(.*?)`", cell)), "    ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = at.fn(source=f"{HEAD}def f(a: i64[n], b: i64[n], m: bool_[n]):\n{body}\n")

    def bytes_for(n: int) -> int:
        rng = np.random.default_rng(n)
        return moved(f, rng.integers(0, 9, n), rng.integers(0, 9, n), rng.integers(0, 2, n) > 0)

    ratio = bytes_for(64) / bytes_for(16)
    assert cost.strip() in ("in place", "copies")
    assert (ratio < 6) == (cost.strip() == "in place"), ratio  # four times the rounds: 4 where a round costs the same, 16 where it costs the array


def test_there_are_rows_of_both_kinds() -> None:
    kinds = [row[1].strip() for row in ROWS]
    assert kinds.count("in place") >= 12 and kinds.count("copies") >= 2
