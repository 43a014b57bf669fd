"""Twice the program is about twice the work of reading and translating it: counted in Python's function calls, never timed."""

from __future__ import annotations

import cProfile
import pstats
import sys
from collections.abc import Callable

import pytest

import atoll as at
from atoll.ainf.from_core import translate

HEAD = "import atoll as at\nfrom atoll import *\n"


def chain(k: int) -> str:
    functions = (f"@at.fn\ndef h{i}(x: f64):\n    return h{i - 1}(x) * 2.0\n" for i in range(1, k))
    return HEAD + "@at.fn\ndef h0(x: f64):\n    return x + 1.0\n" + "".join(functions)


def ands(k: int) -> str:
    return HEAD + "def f(x: f64):\n    return " + " and ".join(f"x > {i}.0" for i in range(k)) + "\n"


def branches(k: int) -> str:
    return HEAD + "def f(x: i64):\n    y = 0.0\n    if x == -1:\n        y = 1.0\n" + "".join(f"    elif x == {i}:\n        y = {i}.5\n" for i in range(k)) + "    return y\n"


def statements(k: int) -> str:
    return HEAD + "def f(x: f64):\n" + "".join(f"    x = x * 1.5 + {i}.0\n" for i in range(k)) + "    return x\n"


def parameters(k: int) -> str:
    return HEAD + "def f(" + ", ".join(f"a{i}: f64" for i in range(k)) + "):\n    return " + " + ".join(f"a{i}" for i in range(k)) + "\n"


def calls(text: str) -> int:
    profile = cProfile.Profile()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)  # no thread of its own for deep programs, which would not be counted
    profile.enable()
    try:
        translate(at.fn(source=text).core)
    finally:
        profile.disable()
        sys.setrecursionlimit(limit)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("program", "size"), [(chain, 30), (ands, 60), (branches, 30), (statements, 60), (parameters, 60)], ids=lambda x: getattr(x, "__name__", str(x)))
def test_twice_the_program(program: Callable[[int], str], size: int):
    calls(program(3))
    small, large = calls(program(size)), calls(program(2 * size))
    assert large < 3 * small, (small, large)
