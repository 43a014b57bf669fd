"""Sizes that programs of others need: branches give parameters no size, loops keep sizes equal that a round needs so, arguments of any type stand in sizes."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

BRANCHES = {
    "either": ("def main (c: bool) (xs: []i32) (ys: []i32) = if c then xs else ys", "main(c: bool, xs: i32[n], ys: i32[m]) -> i32[k]"),
    "none": ("def main (c: bool) (xs: []i32) : []i32 = if c then xs else if length xs == 1 then [] else xs", "main(c: bool, xs: i32[n]) -> i32[k]"),
    "match": ("def main (c: i32) (xs: []i32) (ys: []i32) = match c case 0 -> xs case 1 -> ys case _ -> [7]", "main(c: i32, xs: i32[n], ys: i32[m]) -> i32[k]"),
    "rows": ("def main (c: bool) (xs: [][]i32) (ys: [][]i32) = if c then xs else ys", "main(c: bool, xs: i32[n, m], ys: i32[k, l]) -> i32[o, p]"),
    "one size": ("def main (c: bool) (xs: []i32) = if c then xs else map (+ 1) xs", "main(c: bool, xs: i32[n]) -> i32[n]"),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_a_parameter_keeps_any_size(name: str) -> None:
    text, wanted = BRANCHES[name]
    assert at.futhark(source=text).main.type == wanted


def test_branches_of_two_sizes() -> None:
    fn = at.futhark(source=BRANCHES["either"][0]).main
    xs, ys = np.arange(3, dtype=np.int32), np.arange(5, dtype=np.int32)
    for f in (fn, fn.interpret):
        assert np.array_equal(f(True, xs, ys), xs) and np.array_equal(f(False, xs, ys), ys)


def test_a_part_or_the_whole() -> None:
    text = """
    def removed (i: i64) (xs: []i32) : []i32 =
      if i < 0 then xs else if length xs == 1 then []
      else if i < length xs then take i xs ++ drop (i + 1) xs else tabulate (length xs) (\\k -> xs[k] + 1)
    entry main (i: i64) (xs: []i32) = removed i xs
    """
    fn = at.futhark(source=text).main
    xs = np.arange(4, dtype=np.int32)
    for f in (fn, fn.interpret):
        assert [f(i, xs).tolist() for i in (-1, 1, 4)] == [[0, 1, 2, 3], [0, 2, 3], [1, 2, 3, 4]] and f(0, xs[:1]).tolist() == []


def test_padding_to_a_power_of_two() -> None:
    """merge-sort's first step, as it is written without types: the size of a parameter is none of what a branch computes."""
    text = """
    def pad_to k x xs = sized k (xs ++ replicate (k - length xs) x)
    def padded xs = let d = 63 - i64.i32 (i64.clz (length xs)) in if length xs == 2**d then (xs, d) else (pad_to (2**(d+1)) xs[0] xs, d+1)
    entry main [n] (xs: [n]i32) = let (ys, d) = padded xs in (ys, d, take n ys)
    """
    fn = at.futhark(source=text).main
    xs = np.arange(5, dtype=np.int32)
    for f in (fn, fn.interpret):
        ys, d, back = f(xs)
        assert ys.tolist() == [0, 1, 2, 3, 4, 0, 0, 0] and d == 3 and np.array_equal(back, xs)


UP = "def up [n] (z: [n][n]f64) : [2*n][2*n]f64 = tabulate_2d (2*n) (2*n) (\\i j -> z[i/2,j/2] + f64.i64 (i-j))\n"


def test_a_square_that_grows_is_a_square_after_the_loop() -> None:
    text = UP + "entry main (c: i32) = let (_, z) = loop (m, z) = (1i64, [[1f64]]) for _k < c do let m2 = m * 2 in (m2, up z :> [m2][m2]f64) in up z"
    fn = at.futhark(source=text).main
    z = np.ones((1, 1))
    for _ in range(3):
        z = np.kron(z, np.ones((2, 2))) + np.subtract.outer(np.arange(2 * len(z)), np.arange(2 * len(z)))
    assert np.array_equal(fn(2), z) and np.array_equal(fn.interpret(2), z)


def test_what_no_round_needs_is_not_known_after_the_loop() -> None:
    text = UP + "entry main (c: i32) = let (_, z) = loop (m, z) = (1i64, [[1f64]]) for _k < c do (2 * m, tabulate_2d (2*m) (2*m) (\\i j -> 1)) in up z"
    with pytest.raises(at.Error) as told:
        at.futhark(source=text)
    assert told.value.code == "E1404"


ARGUMENTS = """
def samples (d: f32) (i: i64) : []f32 = tabulate (i64.f32 (10 * d)) (\\k -> f32.i64 (k * i))
def few (n: i32) (b: bool) : []i32 = replicate (i64.i32 n + i64.bool b) n
def of_record (r: {a: i64, b: f64}) : []f64 = replicate (r.a * i64.f64 r.b) r.b
entry literal = let c = \\d -> samples d 3 in samples 0.3 3 ++ samples 2 1 ++ c 0.2
entry computed (x: f32) = map2 (+) (samples (x * 2) 3) (samples (x * 2) 4)
entry whole (n: i32) = map2 (+) (few (n + 1) true) (few (n + 1) true)
entry wrapped (n: i32) = length (few (2147483647 + n + 1) true)
entry record (n: i64) = of_record {a = n + 1, b = 2}
"""


def test_arguments_of_any_type_in_sizes() -> None:
    fut = at.futhark(source=ARGUMENTS)
    wanted = [
        (fut.literal, (), [0, 3, 6, *range(20), 0, 3]),
        (fut.computed, (0.2,), [0, 7, 14, 21]),
        (fut.whole, (2,), [6, 6, 6, 6]),
        (fut.wrapped, (-(2**31),), 1),  # 2147483647 + n + 1 is 0 in i32
        (fut.record, (1,), [2, 2, 2, 2]),
    ]
    for fn, args, value in wanted:
        for f in (fn, fn.interpret):
            assert np.asarray(f(*args)).tolist() == value, fn.type


def test_a_name_for_a_size_of_an_argument() -> None:
    text = """
    type size [n] = [0][n]()
    type~ state = size []
    entry made (n: i64) : state = [] : [][n]()
    entry read (s: state) : i64 = let [n] (_: size [n]) = s in n
    entry columns (a: [][]i32) : [](i32, i64) = let [n][m] (a: [n][m]i32) = a in map (\\j -> (i32.sum (map (\\i -> a[i, j]) (iota n)), j)) (iota m)
    """
    fut = at.futhark(source=text)
    sums, places = fut.columns(np.arange(6, dtype=np.int32).reshape(2, 3))
    assert sums.tolist() == [3, 5, 7] and places.tolist() == [0, 1, 2]
    assert fut.read(fut.made(5)) == 5
    with pytest.raises(at.Error) as told:
        at.futhark(source="def main (x: i32) = let [n] (ys: [n]i32) = ??? in length ys")
    assert "Ambiguous size" in str(told.value)
