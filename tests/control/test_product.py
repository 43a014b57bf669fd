"""Updates under any nest of branches and loops cost what they write, and are right (tests/control/product.py)."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree, stages
from tests.control.count import growth
from tests.control.product import ALL, AROUND, LOOPS, UPDATES, program
from tests.oracle import in_python


def arguments(size: int) -> tuple[Any, ...]:
    g = np.random.default_rng(size)
    return g.random(size) < 0.6, g.integers(0, 9, size), g.integers(0, 9, size)


def hold(around: str, update: str, loop: str = "for", compiled: bool = False) -> None:
    text = program(around, update, loop)
    f = at.fn(source=text)
    reference = in_python(text, "f")
    for size in (0, 1, 2, 3, 8, 17):
        args = arguments(size)
        reference.__globals__["n"] = size
        a, b, p = reference(*args)
        agree(f, *args, expected=(a, b, np.int64(p)), compiled=compiled)
    assert math.prod(growth(f, arguments, (32, 64, 128))) < 6.7, (around, update, loop)
    assert "every round" not in str(f.memory()), (around, update, loop)
    stages.cache_clear()


@pytest.mark.parametrize("around", list(AROUND))
def test_updates_are_done_in_place(around: str) -> None:
    for k, update in enumerate(UPDATES):
        hold(around, update, compiled=k == list(AROUND).index(around) % len(UPDATES))


@pytest.mark.parametrize("loop", [loop for loop in LOOPS if loop != "for"])
def test_whatever_loop_is_around(loop: str) -> None:
    for k, around in enumerate(AROUND):
        hold(around, list(UPDATES)[(k + len(loop)) % len(UPDATES)], loop, compiled=k % 7 == 0)


if __name__ == "__main__":  # all of them, compiled
    for done, case in enumerate(ALL):
        hold(*case, compiled=True)
        print(done + 1, *case, flush=True)
    sys.exit(0)
