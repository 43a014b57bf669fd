"""Loops that are written out: constants are put in only where they exist."""

from __future__ import annotations

import pytest

import atoll as at


def test_a_constant_read_where_nobody_may() -> None:
    """Found by fuzzing: the update is refused at run time, but its code was rewritten all the same."""
    f = at.fn(source="import numpy as np\nimport atoll as at\nW = np.array([5])\ndef f():\n    v = concat(W, W)\n    v[3] = 0\n    return v\n")
    with pytest.raises(at.RunError, match="E0701"):
        f()
