"""Two arrays of loop state that are assigned to each other, exchanged and updated, in and beside a branch: each keeps its own value.

An update may not take the memory of a value that another state goes on with. All short sequences of such statements are programs here (a
sample of them in every run); plain Python, where assignment copies, says what is right.
"""

from __future__ import annotations

import itertools
import random
import warnings
from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree, stages

STATEMENTS = {
    "a = b": "a = list(b)",
    "b = a": "b = list(a)",
    "a, b = b, a": "a, b = b, a",
    "a[(i + b[0]) % n] += 7": "a[(i + b[0]) % n] += 7",
    "b[a[i] % n] = a[0] + 1": "b[a[i] % n] = a[0] + 1",
    "a[i], b[i] = b[0], a[i]": "a[i], b[i] = b[0], a[i]",
}
TEXT = """
from atoll import i64, bool_
import atoll as at
n = at.sizes("n")

@at.fn
def f(m: bool_[n], a: i64[n], b: i64[n]) -> (i64[n], i64[n]):
    for i in range(n):
        {}
        if m[(a[i] + b[i]) % n]:
            {}
            {}
        {}
    return a, b
"""
ALL = list(itertools.product(STATEMENTS, repeat=4))


def in_python(statements: tuple[str, ...], m: Any, a: Any, b: Any) -> tuple[Any, Any]:
    before, first, second, after = (STATEMENTS[s] for s in statements)
    text = f"def f(m, a, b, n):\n  for i in range(n):\n    {before}\n    if m[(a[i] + b[i]) % n]:\n      {first}\n      {second}\n    {after}\n  return a, b"
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102  (this file's own statements)
    found = names["f"](list(m), [int(x) for x in a], [int(x) for x in b], len(m))
    return np.array(found[0], np.int64), np.array(found[1], np.int64)


def hold(statements: tuple[str, ...], compiled: bool = False) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = at.fn(source=TEXT.format(*statements))
        for size in (1, 2, 3, 5, 8):
            rng = np.random.default_rng(size)
            args = (rng.random(size) < 0.6, rng.integers(-9, 9, size), rng.integers(-9, 9, size))
            agree(f, *args, expected=in_python(statements, *args), compiled=compiled)
    stages.cache_clear()


@pytest.mark.parametrize("seed", range(4))
def test_states_that_meet(seed: int) -> None:
    for statements in random.Random(seed).sample(ALL, 5):
        hold(statements)


def test_a_state_takes_the_value_of_another_in_a_branch() -> None:
    hold(("b[a[i] % n] = a[0] + 1", "a = b", "a[(i + b[0]) % n] += 7", "a[(i + b[0]) % n] += 7"), compiled=True)


if __name__ == "__main__":
    for done, case in enumerate(ALL):
        hold(case)
        if done % 100 == 99:
            print(done + 1, "programs agree", flush=True)
