"""Whole imperative programs are right, and linear in what they write (tests/control/programs.py)."""

from __future__ import annotations

import inspect
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree, same, stages
from tests.control import programs
from tests.control.count import growth
from tests.oracle import in_python

NAMES = [name for name, value in vars(programs).items() if isinstance(value, type(programs.labels))]
TEXT = Path(programs.__file__).read_text()


def two_axes(f: Any) -> bool:
    return "mask" in inspect.signature(f).parameters


def arguments(f: Any, size: int) -> tuple[Any, ...]:
    g = np.random.default_rng(size)
    if two_axes(f):
        return (g.random((size, max(size - 1, 0))) < 0.6,)
    return g.random(size) < 0.5, g.integers(0, 10, size)


def hold(name: str, compiled: bool) -> None:
    f = getattr(programs, name)
    reference = in_python(TEXT, name, Two=programs.Two)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", at.AliasWarning)
        for size in (0, 1, 2, 5, 8) if two_axes(f) else (0, 1, 2, 3, 7, 16):
            args = arguments(f, size)
            sizes = dict(zip("hw", args[0].shape, strict=True)) if two_axes(f) else {"n": size}
            reference.__globals__.update(sizes)
            value = agree(f, *args, compiled=compiled)
            expected = reference(*args)
            for x, y in zip(value, expected, strict=True) if isinstance(expected, tuple) else [(value, expected)]:
                same(x, np.asarray(y).reshape(np.shape(x)) if size == 0 else np.asarray(y), f"{name} at {size}, against Python")
        grown = growth(f, lambda s: arguments(f, s), (4, 8, 16) if two_axes(f) else (32, 64, 128))[-1]
    linear = grown < (5.2 if two_axes(f) else 2.8)
    assert linear == (name not in programs.COPY), (name, grown)
    assert ("every round" in str(f.memory())) == (name in programs.COPY), str(f.memory())
    stages.cache_clear()


@pytest.mark.parametrize("name", NAMES)
def test_right_and_in_place(name: str) -> None:
    hold(name, compiled=NAMES.index(name) % 4 == 0)


if __name__ == "__main__":
    for one in NAMES:
        hold(one, compiled=True)
        print(one, flush=True)
    sys.exit(0)
