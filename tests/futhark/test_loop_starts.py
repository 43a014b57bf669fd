"""A loop's start has the sizes that its rounds ask of the state, and no size of the state is one of the loop's own variables."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

SQUARE = """
def square [n] (a: [n][n]f64) : [n][n]f64 = map (\\r -> map (\\c -> f64.sum (map2 (*) r c)) (transpose a)) a
def joined [n][m][p] (a: [n][m]f64) (b: [m][p]f64) : [n][p]f64 = map (\\r -> map (\\c -> f64.sum (map2 (*) r c)) (transpose b)) a
"""

STARTS = {
    "two sizes that a round makes one": SQUARE + "def main [n][m] (a: [n][m]f64) = loop a for _i < 3 do square a",
    "two sizes that a round makes one and shrinks": SQUARE + "def main [n][m] (a: [n][m]f64) : [][]f64 = loop a for _i < 2 do joined (drop 1 a) (map (drop 1) a)",
    "the size of another array": "def main [n][m] (xs: [n]i32) (ys: [m]i32) = loop xs for _i < 3 do map2 (+) xs ys",
    "a part of a tuple": "def main [n][m] (xs: [n]i32) (ys: [m]i32) = loop (s, ys) = (0, ys) for i < 3 do (s + i, map2 (+) xs ys)",
    "two arrays of a state": "def main [n][m] (xs: [n]i32) (ys: [m]i32) = (loop (xs, ys) for _i < 3 do (map2 (+) xs ys, ys)).0",
    "in a while loop": "def main [n] (xs: [n]i32) (ys: [4]i32) = loop xs while xs[0] < 10 do map2 (+) xs ys",
}
OWN = {
    "the length of the state": "def main [n] (xs: [n]i32) = loop xs for _i < 3 do map2 (+) xs (map i32.i64 (iota (length xs)))",
    "a number of the state": "def main [n] (xs: [n]i64) = (loop (k, xs) = (n, xs) for _i < 3 do (k, map2 (+) xs (iota k))).1",
    "the number of the round": "def main [n] (xs: [n]i64) = loop xs for i < 3 do map2 (+) xs (iota i)",
}
FINE = {
    "the same size": ("def main [n] (xs: [n]i64) = loop xs for i < 3 do map2 (+) xs (map (+ i) (iota n))", [0, 0], [3, 6]),
    "squares": (SQUARE + "def main [n] (a: [n][n]f64) = loop a for _i < 2 do square a", [[2.0]], [[16.0]]),
    "another size each round": ("def main [n] (xs: [n]i64) : []i64 = loop xs for i < 3 do concat xs [i]", [7], [7, 0, 1, 2]),
    "its length, where the array is made": ("def main [n] (xs: [n]i64) : []i64 = loop xs for _i < 2 do map (* 2) (iota (length xs))", [5, 5, 5], [0, 2, 4]),
    "a coercion": ("def main [n] (xs: [n]i64) = loop xs for _i < 2 do map2 (+) xs (iota (length xs) :> [n]i64)", [5, 5, 5], [5, 7, 9]),
    "two of one size that change places": ("def main [n] (xs: [n]i64) = (loop (a, b) = (xs, map (* 3) xs) for _i < 3 do (b, map2 (+) a b)).0", [1, 2], [7, 14]),
    "a branch whose size only the round has": ("def main [n] (xs: [n]i64) : []i64 = loop b = iota 2 for i < n do let m = xs[i] in if m < length b then b else map (\\j -> j + b[0]) (iota m)", [1, 3], [0, 1, 2]),
    "two that shrink together": ("def main [n] (xs: [n]i64) : []i64 = (loop (a, b) = (xs, xs) for _i < 1 do let c = map2 (+) a b in (drop 1 c, drop 1 c)).0", [1, 2], [4]),
}


@pytest.mark.parametrize("name", STARTS)
def test_a_start_of_other_sizes(name: str) -> None:
    with pytest.raises(at.Error, match="Initial loop values do not have expected type") as told:
        at.futhark(source=STARTS[name])
    assert told.value.code == "E1404"


@pytest.mark.parametrize("name", OWN)
def test_a_size_named_by_the_loop_itself(name: str) -> None:
    with pytest.raises(at.Error, match="is not in scope") as told:
        at.futhark(source=OWN[name])
    assert told.value.code == "E1404"


@pytest.mark.parametrize("name", FINE)
def test_what_fits(name: str) -> None:
    text, given, expected = FINE[name]
    assert np.array_equal(at.futhark(source=text).main(np.array(given)), expected)


def test_existential_sizes_are_those_of_arrays() -> None:
    with pytest.raises(at.Error, match='Existential size "k" not used as array size') as told:
        at.futhark(source="def f : i64 -> ?[k].bool -> [k]i64 = \\k _ -> iota k\ndef main (x: i64) = length (f x true)")
    assert told.value.code == "E1406"
    fine = at.futhark(source="def f (k: i64) : ?[m].([m]i64, bool -> [m]i64) = let xs = iota k in (xs, \\_ -> xs)\ndef main (x: i64) = length (f x).0")
    assert fine.main(3) == 3
