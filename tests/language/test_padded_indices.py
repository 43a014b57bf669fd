"""Indices beside zeros: 0 is an index of n only where n is at least 1, so their type says integers where n may be 0."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

HEAD = "import atoll as at\nfrom atoll import *\nn = at.sizes('n')\ndef f(x: f64[n]):\n    return "

PADDED = {
    "pad_r([j for j in range(n)], 1)": ("i64[n + 1]", [0, 1, 0]),
    "pad_l([j for j in range(n)], 1)": ("i64[n + 1]", [0, 0, 1]),
    "pad([j for j in range(n)], 1)": ("i64[n + 2]", [0, 0, 1, 0]),
    "pad([j for j in range(n)], 1, value=-1)": ("i64[n + 2]", [-1, 0, 1, -1]),
    "pad([j for j in range(3)], 1, value=9)": ("i64[5]", [9, 0, 1, 2, 9]),
    "pad_r([j for j in range(3)], 1)": ("idx[3][4]", [0, 1, 2, 0]),
    "pad_r([j for j in range(0)], 1)": ("i64[1]", [0]),
    "tile([j for j in range(n)], 3)": ("idx[n][(n + 2) // 3, 3]", [[0, 1, 0]]),
}


@pytest.mark.parametrize("text", PADDED)
def test_the_type_holds_the_zeros(text: str) -> None:
    f = at.fn(source=HEAD + text + "\n")
    wanted, values = PADDED[text]
    assert str(f.type).endswith(f"-> {wanted}")
    assert f.interpret(np.zeros(2)).tolist() == values
    assert all(v in range(0 if "-1" not in text else -1, 10) for v in f.interpret(np.zeros(0)).flat)
