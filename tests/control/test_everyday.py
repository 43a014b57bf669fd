"""The programs of bench/everyday are right, linear in what they write, and copy nothing in a loop."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from bench.everyday.programs import HEAD, PROGRAMS
from tests.oracle import in_python


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_as_in_python(name: str) -> None:
    text, _, make = PROGRAMS[name]
    f, reference = at.fn(source=HEAD + text), in_python(text, "f")
    assert "round" not in str(f.memory()), str(f.memory())
    for size in (2, 3, 6, 17) if name != "queens" else (1, 4, 6):
        args = make(size, np.random.default_rng(size))
        expected, found = reference(*args), f(*args)
        for x, y in zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]:
            np.testing.assert_allclose(x, y, rtol=1e-9, err_msg=f"{name} at {size}")
