"""Futhark programs of ours: their test blocks by the interpreter, some compiled, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll.errors import Error
from atoll.futhark.blocks import read_spec
from atoll.futhark.data import read_values
from atoll.futhark.testing import test_file as run_file

HERE = Path(__file__).parent
PROGRAMS = [*sorted((HERE / "programs").glob("*.fut")), HERE.parent.parent / "examples/futhark/kmeans.fut"]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_blocks(path: Path) -> None:
    outcomes = run_file(path)
    assert outcomes and all(o.state == "passed" for o in outcomes), outcomes


def test_entry_points_are_functions() -> None:
    fut = at.futhark(source="entry dot [n] (xs: [n]f64) (ys: [n]f64) : f64 = reduce (+) 0 (map2 (*) xs ys)")
    x, y = np.arange(4.0), np.ones(4)
    assert fut.dot.type == "dot(xs: f64[n], ys: f64[n]) -> f64"
    assert fut.dot(x, y) == fut.dot.interpret(x, y) == 6.0
    np.testing.assert_array_equal(at.grad(fut.dot)(x, y), y)
    assert "reduce(add" in fut.dot.show("core")


WRONG = {
    "E1401": "def main = let x = 2",
    "E1402": "def main = y + 1",
    "E1403": "def main (x: i32) : bool = x + 1",
    "E1404": "def main [n] [m] (xs: [n]i32) (ys: [m]i32) = map2 (+) xs ys",
    "E1405": "def main (xs: *[3]i32) = let ys = xs with [0] = 1 in (xs[0], ys)",
    "E1406": "def f = 1\ndef f = 2",
    "E1407": "def main (x: #a | #b) : i32 = match x case #a -> 1",
    "E1408": "def main (xs: [4][4]i32) (s: i64) (t: i64) = copy xs with [0:1, 0:s:t] = [[1]]",
    "E1409": "def other = 1",
}


@pytest.mark.parametrize("code", WRONG)
def test_refused(code: str) -> None:
    with pytest.raises(Error) as found:
        _ = at.futhark(source=WRONG[code]).main
    assert found.value.code == code, str(found.value)


# Programs that Futhark's rules forbid, one rule each: a message names what is wrong.
FORBIDDEN = [
    ("E1405", "def f (xs: [2]i32) = xs with [0] = 1"),
    ("E1405", "def g (xs: *[2]i32) = xs[0]\ndef f (xs: *[2]i32) = let y = g xs in y + xs[1]"),
    ("E1405", "def f (xs: *[2]i32) = \\(i: i64) -> xs with [i] = 0"),
    ("E1405", "def g (xs: *[2]i32) (i: i64) = xs[i]\ndef f (xs: *[2]i32) = let h = g xs in h 0 + h 1"),
    ("E1405", "def f (xs: [2]i32) : *[2]i32 = xs"),
    ("E1405", "def f (xs: *[9]i32) = loop (ys: [9]i32) = xs for i < 9 do ys with [i] = 0"),
    ("E1405", "def table : [2]i32 = [1, 2]\ndef f = \\(b: bool) -> if b then table else [3, 4]"),
    ("E1405", "def table : [2]i32 = [1, 2]\ndef f (c: bool) = let g (b: bool) = if b then table else [3, 4] in (g c)[0]"),
    ("E1405", "def g (n: i64) : ([n]i64, [n]i64) = let a = iota n in (a, a)\ndef f (n: i64) = let (a, b) = g n let a[0] = 7 in a[0] + b[0]"),
    ("E1405", "def dup x = (x, x)\ndef f (xs: [3]i32) : (*[3]i32, *[3]i32) = dup (copy xs)"),
    ("E1405", "def own (g: i32 -> *[2]i32) : *[2]i32 = g 1 with [0] = 1\ndef f (x: [2]i32) : *[2]i32 = let h (_: i32) : [2]i32 = x in own h"),
    ("E1404", "def f [n] (xs: [n]i32) = map iota (map i64.i32 xs)"),
    ("E1403", "def f x = ([x], x 2)"),
    ("E1403", "def f : u8 = 256"),
    ("E1403", "type^ t = i32 -> i32\ntype u = [2]t"),
    ("E1403", "def f (b: bool) = if b then (\\x -> x + 1) else (\\x -> x - 1)"),
    ("E1406", "module m : {val x : i32} = {def x = true}"),
    ("E1406", "module m : {val x : i32} = {def y = 1}"),
    ("E1406", "module type a = {type t '^x}\nmodule type b = a with t 'x = x\ndef f (x: i32) = x"),
    ("E1406", "def f [n] (n: [n]i32) = n"),
    ("E1407", "def f (x: #some i32 | #none) = match x case #some 0 -> 1 case #none -> 2"),
]


# The same with what makes them right.
ALLOWED = [
    ("def main (xs: *[3]i32) = loop (ys: *[3]i32) = xs for i < 3 do ys with [i] = 7", [7, 7, 7]),
    ("def main (xs: *[3]i32) = loop ys = xs for i < 3 do ys with [i] = 7", [7, 7, 7]),
    ("def main (xs: *[3]i32) = (loop (ys, k: i32) = (xs, 5) for i < 3 do (ys with [i] = k, k + 1)).0", [5, 6, 7]),
    ("def table : [3]i32 = [1, 2, 3]\ndef main (xs: [3]i32) = map (\\i -> table[i - 4] + xs[0]) [4, 5, 6]", [5, 6, 7]),
    ("def table : [3]i32 = [1, 2, 3]\ndef main (xs: [3]i32) = (\\(b: bool) -> if b then copy table else xs) true", [1, 2, 3]),
    ("def g (n: i64) : (*[n]i64, *[n]i64) = (iota n, iota n)\ndef main (xs: [3]i32) = let (a, b) = g 3 let a[0] = 7 in map2 (\\x y -> i32.i64 (x + y)) a b", [7, 2, 4]),
    (
        "module type rules = {type cell val make : i32 -> cell}\nmodule type looks = {type cell val colour : cell -> i32}\n"
        "module type both = {include rules include looks with cell = cell}\n"
        "module q : both = {type cell = i8 def make (x: i32) = i8.i32 x def colour (c: cell) = i32.i8 c + 1}\n"
        "module game (R: rules) (L: looks with cell = R.cell) = {def show (x: i32) = L.colour (R.make x)}\nmodule g = game q q\ndef main (xs: [3]i32) = map g.show xs",
        [5, 6, 7],
    ),
    ("def counted [n] : [n]i32 = map i32.i64 (iota n)\ndef main (_: [3]i32) : *[3]i32 = counted", [0, 1, 2]),
    ("type own [n] = *[n]i32\ndef rows (p: [2][3]i32) : [](own [3]) = p\ndef main (xs: [3]i32) = (rows [xs, xs])[1]", [4, 5, 6]),
    ("def main (xs: [3]i32) = let more k ys = map (+ xs[k]) ys let a = [1, 2, 3] let a[:] = more 0 a let a[:] = more 1 a in a", [10, 11, 12]),
    ("def own (g: i32 -> *[3]i32) : *[3]i32 = g 1 with [0] = 1\ndef main (x: [3]i32) : *[3]i32 = let h (_: i32) : *[3]i32 = copy x in own h", [1, 5, 6]),
]


@pytest.mark.parametrize(("text", "wanted"), ALLOWED)
def test_allowed(text: str, wanted: list[int]) -> None:
    assert at.futhark(source=text).main.interpret(np.array([4, 5, 6], np.int32)).tolist() == wanted


@pytest.mark.parametrize(("code", "text"), FORBIDDEN)
def test_forbidden(code: str, text: str) -> None:
    with pytest.raises(Error) as found:
        at.futhark(source=text)
    assert found.value.code == code, str(found.value)


def test_blocks_are_read() -> None:
    spec = read_spec('-- Words.\n-- ==\n-- tags { autodiff }\n-- entry: f g\n-- "one" compiled input { 1 [2i64] }\n-- output { true }\n-- input { 0 } error: zero\n')
    assert spec.tags == ["autodiff"] and [c.entry for c in spec.cases] == ["f", "g", "f", "g"]
    assert spec.cases[0].name == "one" and spec.cases[0].tags == ["compiled"] and spec.cases[2].error == "zero"


def test_values_are_read() -> None:
    a, b, c, d = read_values('[1i8, -2] empty([0][3]f32) f32.nan "ab"')
    assert a.dtype == np.int8 and a.tolist() == [1, -2]
    assert b.shape == (0, 3) and np.isnan(c) and d.tolist() == [97, 98]


def test_least_maps_must_be_one() -> None:
    with pytest.raises(Error, match="ambiguous") as found:
        at.futhark(source="def f (xss: [][]i32) = i64.sum (length xss)")
    assert found.value.code == "E1403"


def test_what_no_map_mends_is_told_as_it_was() -> None:
    with pytest.raises(Error, match="f64 is not bool"):
        at.futhark(source="def f (xs: []f64) : bool = f64.sum xs")


def test_deep_programs() -> None:
    chain = at.futhark(source="def main (x: i64) : i64 = " + " + ".join(["x"] * 1200)).main
    assert chain.interpret(2) == 2400
    lets = " ".join(f"let a{k} = x in" for k in range(700))
    assert at.futhark(source=f"def main (x: i64) : i64 = {lets} a699").main.interpret(3) == 3


MORE = [
    ("E1403", "def f x = let g 'b (y: b) = if true then y else x.0 let (_, _: i32) = x in g", "scope violation"),
    ("E1404", "def f xs n = zip xs (iota n)", "scope-violation"),
    ("E1404", "def f [m] (xs: [m]i32) (n: i64) = loop (ys: [n]i32) = xs for _i < 3 do replicate n (ys[0] + 1)", "Initial loop values"),
    ("E1404", "def f [n] (xs: [n]i32) (ys: [n]i32) = loop (xs, ys) for i < 10 do let zs = filter (> 0) (map2 (+) xs ys) in (xs, zs)", "Loop body"),
    ("E1404", "def f = let [n][m] (xss: [n][m]i64) = [] in (n, m)", "Ambiguous size"),
    ("E1404", "type^ t = []bool -> bool", "anonymous"),
    ("E1405", "def f : *[]i32 = [1, 2, 3]", "constant"),
    ("E1406", "def add (n: i64) : i64 -> i64 = \\x -> if n == 0 then x else add (n - 1) (x + 1)", "first-order"),
    ("E1406", "def go (g: i64 -> i64) (n: i64) : i64 = if n == 0 then g 0 else go (\\x -> g x * 2) (n - 1)", "unchanged"),
    ("E1406", "module m : { type sum [n] [m] } = { type sum [n] [m] = [n + m]bool }", "constructively"),
    ("E1406", "module m = intrinsics", "intrinsics"),
    ("E1404", "def f (x: bool) = let (n, _) = if x then (10, true) else (20, true) in \\(_: [n]bool) -> true", "Unknown size"),
]


@pytest.mark.parametrize(("code", "text", "words"), MORE, ids=lambda x: str(x)[:12])
def test_forbidden_for_this_reason(code: str, text: str, words: str) -> None:
    with pytest.raises(Error, match=words) as found:
        at.futhark(source=text)
    assert found.value.code == code
