"""Sizes that are known too late: those that only a call of a function makes, parts of parameters, sizes of entry points that nothing says."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

COMPOSED = {
    "a filter before a length": "def main (xs: []i32) = (filter (> 0) >-> length) xs",
    "a function applied twice": "def twice '^a '^b '^c (f: a -> b) (g: b -> c) (x: a) (y: a) : (c, c) = (g (f x), g (f y))\ndef main (n: i64) = let both = twice iota in both (\\xs -> length xs) n 2",
    "sizes that arguments of it name": "def at0 (n: i64) (m: i64) (b: [n][m]bool) = b[0, 0]\ndef main (x: i64) = let g = uncurry at0 in g (x, x) (replicate x (replicate x true))",
}
FINE = {
    "a pipe": ("def main (xs: []i32) = xs |> filter (> 0) |> length", [1, -1, 2], 2),
    "a long pipe": ("def main (xs: []i32) = xs |> filter (> 0) |> map (+ 1) |> filter (> 2) |> map (* 3) |> length", [1, -1, 2], 1),
    "a composition of known sizes": ("def main [n] (xs: [n]i32) = (map (+ 1) >-> i32.sum) xs", [1, 2], 5),
    "a function beside an array of its size": ("def f (n: i64) (m: i64) : ([n][m](), [n][m]i32 -> i32) = (replicate n (replicate m ()), \\b -> b[0, 0])\ndef main [n] (xs: [n]i32) = let (a, g) = uncurry f (n, 3) in g (map (map (const xs[0])) a)", [4, 5], 4),
    "a composition whose last makes a size": ("def main [n] (xs: [n]i32) = length ((map (+ 1) >-> filter (> 2)) xs)", [1, 2], 1),
    "a function of an older unknown size": ("def main (xs: []i32) = let ys = filter (> 0) xs in (map (* 2) >-> i32.sum) ys", [1, -1, 2], 6),
    "what is unknown is handed on beside a function": ("def use [n] (xs: [n]i32) (f: i32 -> i32) = i32.sum (map f xs)\ndef main (xs: []i32) = use (filter (> 0) xs) (+ 1)", [1, -1, 2], 5),
}
PARTS = {
    "a part that no element shows": "def f (x: i64, _: bool) : [0][x]i32 = []",
    "a part": "def f (x: i64, y: i32) : [x]i32 = replicate x y",
    "a field": "def f {len = n: i64, of = y: i32} : [n]i32 = replicate n y",
    "in an expression": "def f (x: i64, y: i32) : [x + 1]i32 = replicate (x + 1) y",
    "of a function in a function": "def main (n: i64) = let f (x: i64, y: i32) : [x]i32 = replicate x y in length (f (n, 1))",
}
OPEN_RESULTS = {
    "rows of no array": "entry main (_x: i32) : [][]i32 = []",
    "of a function": "def empty 'a (x: i32) = (x, [] : [0]a)\nentry main (x: i32) : (i32, [][]i32) = empty x",
}


@pytest.mark.parametrize("name", COMPOSED)
def test_functions_whose_sizes_calls_make(name: str) -> None:
    with pytest.raises(at.Error, match="Existential size would appear in function parameter of return type") as told:
        at.futhark(source=COMPOSED[name])
    assert told.value.code == "E1404"


@pytest.mark.parametrize("name", FINE)
def test_sizes_that_are_known(name: str) -> None:
    text, given, expected = FINE[name]
    assert at.futhark(source=text).main(np.array(given, np.int32)) == expected


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_parameters_are_no_sizes_of_results(name: str) -> None:
    with pytest.raises(at.Error, match="is bound to an inner component of a function parameter") as told:
        at.futhark(source=PARTS[name])
    assert told.value.code == "E1404"


def test_parts_where_nothing_is_declared() -> None:
    fut = at.futhark(source="def f (x: i64, y: i32) = replicate x y\ndef g (x: i64, y: i32) : []i32 = replicate x y\ndef main (n: i64) = (f (n, 7), g (n, 8))")
    assert [list(x) for x in fut.main(2)] == [[7, 7], [8, 8]]


@pytest.mark.parametrize("name", OPEN_RESULTS)
def test_entry_points_of_any_size(name: str) -> None:
    with pytest.raises(at.Error, match="must not be size-polymorphic in their return type") as told:
        _ = at.futhark(source=OPEN_RESULTS[name]).main
    assert told.value.code == "E1404"


def test_a_size_that_nothing_says_is_what_the_use_says() -> None:
    fut = at.futhark(source="def rows (_x: i32) : [][]i32 = []\nentry main (x: i32) : [0][3]i32 = rows x")
    assert fut.main(1).shape == (0, 3)
