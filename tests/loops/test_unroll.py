"""Loops that are written out, or several rounds at a time: constants are put in only where they exist, and no rounds are none."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

n = at.sizes("n")


def test_a_constant_read_where_nobody_may() -> None:
    """Found by fuzzing: the update is refused at run time, but its code was rewritten all the same."""
    f = at.fn(source="import numpy as np\nimport atoll as at\nW = np.array([5])\ndef f():\n    v = concat(W, W)\n    v[3] = 0\n    return v\n")
    with pytest.raises(at.RunError, match="E0701"):
        f()


def test_rounds_fewer_than_none() -> None:
    """range(1, 0) has no rounds, also where several are done at a time."""

    @at.fn
    def before(x: at.bool_[n]) -> at.bool_[n]:
        return [any(y for y in x for j in range(1, i)) for i in range(n)]

    x = np.arange(20) % 3 == 0
    agree(before, x, expected=np.arange(20) >= 2)
