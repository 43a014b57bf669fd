"""Loops whose arrays change their size: as large as they are in each round, compiled as interpreted (they went wrong silently as first-order code)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at

TEXT = r"""
entry squares (n: i64): []i64 = loop acc = [] for i < n do acc ++ [i * i]
entry pairs (n: i64): [](i64, f64) = loop acc = [] for i < n do acc ++ [(i, f64.i64 i)]
entry rows (n: i64): [][2]f64 = loop acc = [] for i < n do acc ++ [[f64.i64 i, 1]]
entry filtered [n] (xs: [n]i64): []i64 = loop ys = xs for i < 2 do filter (\x -> x % (i + 2) == 0) ys
entry doubled (n: i64): []i64 = loop acc = [1] while length acc < n do acc ++ map (*2) acc
entry halved [n] (xs: [n]i64): []i64 = loop ys = xs for i < 3 do ys[:length ys / 2]
entry primes (n: i64): []i64 = loop acc = [] for i in 2..<n do if all (\p -> i % p != 0) acc then acc ++ [i] else acc
entry none: []i32 = []
entry total (x: f64): f64 = f64.sum (loop acc = [x] for i < 3 do acc ++ [x * x])
"""
X = np.arange(20)
CASES: dict[str, tuple[tuple[Any, ...], Any]] = {
    "squares": ((5,), [0, 1, 4, 9, 16]),
    "rows": ((2,), [[0.0, 1.0], [1.0, 1.0]]),
    "filtered": ((X,), [0, 6, 12, 18]),
    "doubled": ((5,), [1, 2, 2, 4, 2, 4, 4, 8]),
    "halved": ((X,), [0, 1]),
    "primes": ((20,), [2, 3, 5, 7, 11, 13, 17, 19]),
    "none": ((), []),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("fut") / "growing.fut"
    path.write_text(TEXT)
    return at.futhark(path)


@pytest.mark.parametrize("name", CASES)
def test_sizes_that_change(program: Any, name: str) -> None:
    args, wanted = CASES[name]
    f = getattr(program, name)
    for found in (f.interpret(*args), f(*args)):
        assert np.array_equal(found, np.array(wanted).reshape(np.shape(found)))


def test_pairs_and_nothing(program: Any) -> None:
    for n in (0, 3):
        for found in (program.pairs.interpret(n), program.pairs(n)):
            assert all(np.array_equal(x, range(n)) for x in found)
    assert len(program.squares(0)) == 0 and len(program.primes(2)) == 0


def test_derivatives_are_refused_by_name(program: Any) -> None:
    with pytest.raises(at.Error, match="change their size"):
        at.grad(program.total)(1.5)
