"""Futhark differentiates integers, in their own arithmetic: compiled code does as the interpreter says."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest

import atoll as at

PROGRAMS = """
def f (x: i32) (y: i32) = x*x*y + x/y - x%y + x//y - x%%y + i32.max x y + i32.abs x + x**3 + (x & y) + i32.popc x
entry numbers x y = (jvp (\\(x, y) -> f x y) (x, y) (1, 0), vjp (\\(x, y) -> f x y) (x, y) 1)
def fl (x: i64) (y: i64) = x*x*y + x/y - x%y + i64.min x y + i64.abs x + x**3 + (x & y) + 3*x - y
entry longs x y = (jvp (\\(x, y) -> fl x y) (x, y) (0, 1), vjp (\\(x, y) -> fl x y) (x, y) 1)
entry sums [n] (xs: [n]i32) = vjp (\\xs -> reduce (+) 0 (map2 (*) xs (reverse xs))) xs 1
entry products [n] (xs: [n]i64) = vjp i64.product xs 1
entry greatest [n] (xs: [n]u8) = vjp u8.maximum xs 1
entry bits [n] (xs: [n]i32) = vjp (\\xs -> reduce (&) (-1) xs + reduce (^) 0 xs + i32.sum xs) xs 1
entry kept [n] (xs: [n]i16) = vjp (\\xs -> i16.sum (map (\\x -> x*x) (filter (> 0) xs))) xs 1
entry scans [n] (xs: [n]i64) = vjp (\\xs -> scan (*) 1 (map (+ 1) xs)) xs (iota n)
entry pairs [n] (xs: [n]i32) = vjp (\\xs -> (reduce (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (zip xs (map (* 2) xs))).1) xs 1
entry rounds [n] (xs: [n]i64) = vjp (\\xs -> loop a = 1 for x in xs do a * x + 2 * a) xs 1
entry changed [n] (xs: [n]i64) = vjp (\\xs -> i64.sum (map2 (*) xs (loop ys = copy xs for i < n do ys with [i] = ys[n - 1 - i] * xs[i]))) xs 1
entry counted [n] (is: [n]i64) = vjp (\\xs -> reduce_by_index (replicate 3 1) (*) 1 (map (% 3) is) (map (+ 2) xs)) is [1, 2, 3]
entry placed [n] (xs: [n]i64) = vjp (\\xs -> scatter (replicate (n + 1) 7) (map (+ 1) (iota n)) (map (* 3) xs)) xs (iota (n + 1))
entry far (x: i64) = vjp (\\x -> loop x while x < 1000 do x * x + x) x 1
entry lengths (n: i64) (x: i64) = vjp (\\(n, x) -> i64.sum (replicate n x) + n) (n, x) 1
entry places [n] (xs: [n]f64) (i: i64) = vjp (\\(xs, i) -> xs[i] * f64.i64 i) (xs, i) 1
entry conversions (x: i32) = jvp (\\x -> i64.i32 x * 3 + i64.f64 (f64.i32 x * 2.0)) x 1
entry inside (x: i32) (y: f64) = vjp (\\(x, y) -> f64.i32 x * y * vjp (\\z -> z * z * f64.i32 x) y 1) (x, y) 1
entry twice (x: i32) = vjp (\\x -> vjp (\\y -> y * y * y * x) x 1) x 1
entry own (x: i32) (y: i32) = vjp (\\(x, y) -> with_vjp (\\(x, y) -> x * x + y) (\\res b -> (res * b * 10, b * 7)) (x, y * 2) + x) (x, y) 3
entry half [n] (xs: [n]f32) = vjp (\\xs -> i32.f32 (f32.sum xs)) xs 3
"""
NUMBERS = [("numbers", (7, -3), np.int32), ("numbers", (-9, 4), np.int32), ("longs", (7, -3), np.int64), ("longs", (-9, 4), np.int64), ("far", (3,), np.int64), ("lengths", (4, 5), np.int64)]
ARRAYS = {
    "sums": np.int32, "products": np.int64, "greatest": np.uint8, "bits": np.int32, "kept": np.int16, "scans": np.int64, "pairs": np.int32, "rounds": np.int64,
    "changed": np.int64, "counted": np.int64, "placed": np.int64, "half": np.float32,
}  # fmt: skip


@pytest.fixture(scope="module")
def programs() -> Any:
    return at.futhark(source=PROGRAMS)


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return np.asarray(found).dtype == np.asarray(wanted).dtype and np.array_equal(found, wanted)


def agree(fn: Any, *args: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy tells that integers wrap
        wanted = fn.interpret(*args)
    assert same(fn(*args), wanted), (fn(*args), wanted)


@pytest.mark.parametrize("name, numbers, dtype", NUMBERS)
def test_numbers(programs: Any, name: str, numbers: tuple[int, ...], dtype: Any) -> None:
    agree(getattr(programs, name), *map(dtype, numbers))


def test_known(programs: Any) -> None:
    """x^2 y + ... by hand: of the product of the others, and of what stands at a place."""
    assert np.array_equal(programs.products(np.array([3, 5, 4, 2])), [40, 24, 30, 60])
    assert programs.twice(np.int32(3)) == 81
    xs, at_2 = programs.places(np.array([1.0, 2.0, 3.0]), 2)
    assert np.array_equal(xs, [0, 0, 2]) and at_2 == 3
    assert programs.own(np.int32(3), np.int32(4)) == ((9 + 8) * 30 + 3, 42)
    agree(programs.own, np.int32(3), np.int32(4))
    agree(programs.conversions, np.int32(5))
    agree(programs.inside, np.int32(3), 2.5)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 17])
def test_arrays(programs: Any, name: str, n: int) -> None:
    dtype = ARRAYS[name]
    rng = np.random.default_rng(n)
    agree(getattr(programs, name), (rng.normal(size=n) if dtype is np.float32 else rng.integers(-3 if np.dtype(dtype).kind == "i" else 0, 4, n)).astype(dtype))


def expression(rng: random.Random, names: list[str], t: str, depth: int) -> str:
    if depth == 0:
        return rng.choice([*names, *names, str(rng.randrange(1, 5))])
    a, b = (expression(rng, names, t, depth - 1) for _ in range(2))
    match rng.randrange(9):
        case 0 | 1 | 2:
            return f"({a} {rng.choice('+-*')} {b})"
        case 3:
            return f"({a} {rng.choice(['/', '%', '//', '%%'])} (1 + {t}.abs {b} % 4))"
        case 4:
            return f"({t}.{rng.choice(['min', 'max'])} {a} {b})"
        case 5:
            return f"(if {a} > {b} then {a} else {b} * 2)"
        case 6:
            return f"(loop r = {a} for i < 3 do r * 2 - {b})"
        case 7:
            return f"({t}.sum (map2 (\\p q -> p * {a} + q) xs (scan (+) {b} xs)))"
        case _:
            return f"(let k = {a} in (copy xs with [0] = k)[i64.{t} {b} & 1])"


@pytest.mark.parametrize("seed", range(12))
def test_made(seed: int) -> None:
    rng = random.Random(seed)
    t = rng.choice(["i8", "i16", "i32", "i64", "u8", "u32"])
    body = expression(rng, ["x", "y"], t, 3)
    source = f"def f (xs: [3]{t}) (x: {t}) (y: {t}) : {t} = {body}\nentry back xs x y = vjp (\\(xs, x, y) -> f xs x y) (xs, x, y) 1\n"
    source += "entry ahead xs x y = jvp (\\(xs, x, y) -> f xs x y) (xs, x, y) ([1, 2, 0], 1, 3)"
    fut = at.futhark(source=source)
    dtype = np.dtype({"i": "int", "u": "uint"}[t[0]] + t[1:]).type
    for x, y in ((2, 3), (0, 1), (5, 0)):
        for fn in (fut.back, fut.ahead):
            agree(fn, np.array([1, 3, 2], dtype), dtype(x), dtype(y))


def test_truth_values_are_refused() -> None:
    fut = at.futhark(source="entry main (x: bool) = vjp (\\x -> !x) x true")
    assert fut.main.interpret(True)
    with pytest.raises(at.Error) as told:
        fut.main(True)
    assert told.value.code == "E1408" and "truth values" in str(told.value)
