"""When a size is known: what an argument makes is known to the function, what branches compute alike is one size, and what needs a size before it is computed is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at

XS = np.array([3, -1, 4, -1, 5], np.int32)
KS = np.array([1, 2, 1])

# text, arguments, what it gives
RIGHT: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "a size that only a function's type mentions": (
        "def room [n] (_: [n]i32 -> i32) : [n]i32 -> i64 = let m = n * 10 in \\_ -> m\nentry f xs = filter (> 0) xs |> room (\\_ -> 0)", (XS,), 30),
    "a part of a sum of sizes": (
        "def parts [n] [m] 't (_: [n + m]t) = (n, m)\nentry f [n] (xs: [n]i32) = parts (let ys = filter (< 0) xs in ys ++ xs)", (XS,), (2, 5)),
    "a part of a difference": (
        "def tail [n] 't (_: [n - 1]t) = n\nentry f (xs: []i32) = let ys = filter (> 3) xs in tail ys[1:]", (XS,), 2),
    "branches of one computed size": (
        "entry f [n] (ks: [n]i64) = tabulate n \\i -> if i < 1 then replicate (i64.sum ks) i else iota (i64.sum ks)",
        (KS,), np.array([[0, 0, 0, 0], [0, 1, 2, 3], [0, 1, 2, 3]])),
    "cases of one computed size": (
        "type shift = #by i64 | #none\ndef moved (ks: []i64) (s: shift) = match s case #by k -> tabulate (2 * ks[0]) (+ k) case #none -> iota (2 * ks[0])\n"
        "entry f [n] (ks: [n]i64) = map (\\i -> moved ks (if i == 1 then #by i else #none)) (iota n)", (KS,), np.array([[0, 1], [1, 2], [0, 1]])),
    "seeds of one computed size": (
        "def spread (ks: []i64) (x: f64) = replicate (i64.sum ks) (x * x)\n"
        "entry f [n] (ks: [n]i64) = tabulate n \\i -> vjp (spread ks) 3 (if i > 0 then replicate (i64.sum ks) 1 else replicate (i64.sum ks) 0)", (KS,), np.array([0.0, 24, 24])),
    "an abstract type of any size": (
        "module m : {type~ t\n val mk : i64 -> t\n val total : t -> i64} = {type~ t = []i64\n def mk (n: i64) : t = iota n\n def total (t: t) = i64.sum t}\n"
        "entry f (n: i64) = m.total (m.mk n)", (5,), 10),
    "a loop whose rounds make a size by a pipe": (
        "def both [k] (es: [k](i32, i32)) (is: [k]i64) = i64.sum is + i64.i32 (i32.sum (map (.0) es))\n"
        "def run [n] (es: [](i32, i32)) (is: []i64) (seen: *[n]bool) =\n  let (_, _, seen, s) = loop (es, is, seen, s) = (es, is, seen, 0) while length es > 0 do\n"
        "    let (is, es) = map (\\(a, b) -> (a - 1, b)) es |> zip is |> filter (\\e -> e.1.0 > e.1.1) |> unzip\n    in (es, is, map not seen, s + both es is)\n  in (seen, s)\n"
        "entry f [n] (xs: [n]i32) = run (zip xs (map (const 0) xs)) (iota n) (replicate n true)", (np.array([2, 1], np.int32),), ([True, True], 1)),
    "bound beforehand": ("entry f (xs: []i32) (m: [2][2]i32) = let ys = filter (> 0) xs in map (ys ++) m", (XS, np.ones((2, 2), np.int32)), np.array([[3, 4, 5, 1, 1]] * 2)),
}  # fmt: skip

LATE = {
    "a section": "def f (xs: []i32) (m: [][]i32) = map (filter (> 0) xs ++) m",
    "a hole": "def f (b: bool) (xs: []i32) = if b then filter (> 1) xs else ???",
    "a loop after its operator": "def f (n: i32) = ([1i32] ++) <| loop (xs: []i32) = [] for i < n do xs ++ [i]",
    "a projection": "def f (n: i32) = (.0) <| loop (xs: []i32, j) = ([], 0) for i < n do (xs ++ [i], j + 1)",
    "an empty array": "def f (xs: []i32) = let a = [] : [][]i32 let b = [filter (> 0) xs] in a[0] == b[0]",
    "a constructor": "type option 'a = #none | #some a\ndef some (n: i64) : ?[k].[k]i32 = filter (> 0) (map i32.i64 (iota n))\ndef f (n: i64) : option ([]i32) = if n > 3 then #none else #some (some n)",
}

REFUSED = [
    ("E1404", "Ambiguous size", "def f = f32.sum ???"),
    ("E1404", "Ambiguous size", "type~ either = #left ([]i32) | #right ([]i32)\ndef f (xs: []i32) = let v: either = #left xs in xs"),
    ("E1403", "Type is ambiguous", "def f : i32 = match (#bar 12) case #foo _ -> 1 case #bar _ -> 2"),
    ("E1404", "is not", "def make n = let (m, _) = (n + 1, true) in (iota (m + 1), \\_ -> iota m)\ndef less [n] (_: [n + 1]i64) = n\ndef f n = let (xs, _) = make n in less xs"),
    ("E1404", "Unknown size", "def f n = let (m, _) = (n + 1, true) in (iota m, zip (iota (m + 1)))"),
    ("E1403", "array element", "def f 'a '~b (g: i64 -> a -> b) (x: a) = [g 0 x, g 1 x]"),
    ("E1403", "is lifted", "def f 'a '~b (g: i64 -> a -> b) (x: a) = (tabulate 3 (\\i -> g i x))[0]"),
    ("E1403", "size-lifted", "type~ vec = []i32\ntype box 't = {content: t}\ntype f = box vec"),
    ("E1405", "not consumable", "def eat (xs: *[]i64) : i64 = xs[0]\ndef f [n] (ns: *[n]i64) (xs: [eat ns]f32) = xs[0]"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_known(name: str) -> None:
    text, args, wanted = RIGHT[name]
    f = at.futhark(source=text).f
    for found in (f(*args), f.interpret(*args)):
        for a, b in zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", LATE)
def test_known_too_late(name: str) -> None:
    with pytest.raises(at.Error, match="Causality check") as told:
        _ = at.futhark(source=LATE[name]).f
    assert told.value.code == "E1404"


@pytest.mark.parametrize(("code", "words", "text"), REFUSED)
def test_refused(code: str, words: str, text: str) -> None:
    with pytest.raises(at.Error) as told:
        _ = at.futhark(source=text).f
    assert told.value.code == code and words in str(told.value), str(told.value)


OF_INTEGERS = [
    ("jvp i32.f64 (x: f64) 1.5", 2.0, 1),
    ("vjp i32.f64 (x: f64) 2", 7.9, 2.0),
    ("jvp (\\y -> i32.u32 (f32.to_bits y)) (f32.f64 x) 1", 2.0, 1065353216),
    ("vjp (\\(y, z) -> i64.f64 y * z) (x, 3i64) 5", 2.0, (15.0, 10)),
    ("jvp (\\b -> !b && x > 0) (x > 1) true", 0.5, False),
    ("jvp (\\b -> !b) (x > 1) true", 2.0, True),
]


@pytest.mark.parametrize(("text", "x", "wanted"), OF_INTEGERS)
def test_derivatives_of_integers_go_through_conversions(text: str, x: float, wanted: Any) -> None:
    np.testing.assert_array_equal(at.futhark(source=f"entry f (x: f64) = {text}").f.interpret(x), wanted)
