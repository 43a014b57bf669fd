"""Derivatives through branches of different sizes. They are those of the program whose branches go as far as to a number."""

from __future__ import annotations

import random

import numpy as np
import pytest

import atoll as at

# what chooses, one of several arrays; each is used by a function to a number
CHOICES = [
    ("c", ["xs", "ys"]),
    ("f64.sum xs > 2", ["map (* 2) xs", "take 2 xs", "map2 (*) xs xs ++ ys"]),
    ("c", ["xs ++ ys", "map (+ f64.sum xs) ys"]),
    ("length xs > 3", ["drop 1 xs", "[xs[0], f64.sum ys]"]),
    ("c && xs[0] > 1", ["replicate 3 xs[1]", "[]", "xs"]),
    ("k > 2", ["replicate k (f64.product xs)", "map (\\i -> xs[i] * ys[0]) (iota 2)"]),
    ("k > 2", ["let m = k * 2 in tabulate m (\\i -> xs[i % 3] * f64.i64 i)", "let m = length ys + 1 in replicate m xs[0]"]),
]
USES = [
    "\\a -> f64.sum (map (\\x -> x * x) a)",
    "\\a -> f64.sum a * f64.i64 (length a)",
    "\\a -> f64.sum (map2 (*) a (reverse a)) + (if length a > 2 then a[2] else 7)",
    "\\a -> let s = scan (+) 0 a in f64.sum (map f64.sin s) / f64.i64 (1 + length s)",
    "\\a -> loop t = 0 for x in a do t * 0.5 + x * x",
]
HEAD = "entry main [n] [m] (c: bool) (k: i64) (xs: [n]f64) (ys: [m]f64) = "
DERIVATIVES = {
    "reverse": "vjp f (xs, ys) 1",
    "forward": "jvp f (xs, ys) (map (* 3) xs, reverse ys)",
    "both": "vjp2 f (xs, ys) 2",
    "second": "jvp (\\xs -> vjp (\\xs -> f (xs, ys)) xs 1) xs (map (+ 1) xs)",
}


def chosen(test: str, arms: list[str], use: str = "{}") -> str:
    if len(arms) == 2:
        return f"if {test} then {use.format(arms[0])} else {use.format(arms[1])}"
    return f"(match ({test}, k % 2 == 1) " + " ".join(f"case {p} -> {use.format(a)}" for p, a in zip(("(true, _)", "(false, true)", "_"), arms, strict=True)) + ")"


def said(value: object) -> object:
    return tuple(map(said, value)) if isinstance(value, tuple) else np.asarray(value)


def close(a: object, b: object) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return all(close(x, y) for x, y in zip(a, b, strict=True))
    return bool(np.allclose(a, b, rtol=1e-12, atol=1e-12))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", DERIVATIVES)
def test_of_branches(kind: str) -> None:
    rng = random.Random(kind)
    for test, arms in CHOICES:
        use = rng.choice(USES)
        found, plain = (
            at.futhark(source=HEAD + f"let f (xs: [n]f64, ys: [m]f64) : f64 = {body} in " + DERIVATIVES[kind]).main
            for body in (f"({use}) ({chosen(test, arms)})", chosen(test, arms, f"(({use}) ({{}}))"))
        )
        for c, k in ((True, 3), (False, 2), (False, 1)):
            given = c, k, np.array([1.5, 2.5, 0.5, 3.0]) * (2 if k == 1 else 0.25), np.array([0.5, 2.0])
            assert close(said(found.interpret(*given)), said(plain.interpret(*given))), (test, use)
        if rng.random() < 0.3:
            assert close(said(found(*given)), said(plain(*given))), (test, use)


FORMS = {
    "rows": ("if c then [xs, map (* 2) xs, xs] else transpose [ys, map f64.sin ys]", "\\a -> f64.sum (map f64.sum a) * f64.sum a[0]"),
    "a pair": ("if c then (xs, 2 * ys[0]) else (ys ++ ys, xs[1])", "\\(a, t) -> f64.sum (map (\\x -> x * t) a)"),
    "pairs": ("if c then zip xs (reverse xs) else zip (ys ++ ys ++ ys) (map (* xs[0]) (ys ++ ys ++ ys))", "\\a -> f64.sum (map (\\(x, y) -> x * y * y) a)"),
    "with what is no number": ("if c then zip3 xs (iota n) (replicate n true) else zip3 ys (map (+ 1) (iota m)) (replicate m false)", "\\a -> f64.sum (map (\\(x, i, b) -> if b then x * x else x * f64.i64 i) a)"),
    "in a map": ("if c then xs else ys", "\\a -> f64.sum (map (\\x -> f64.sum (if x > 1 then map (* x) a else [x, 2 * x])) xs)"),
    "in a loop": ("if c then xs else ys", "\\a -> loop t = 1.0 for i < 3 do t + f64.sum (if t > 9 then map (* t) a else a ++ [t])"),
    "sized by a branch": ("let e = if c then xs else ys in if xs[0] > 1 then e ++ e else e", "\\a -> f64.sum (map2 (*) a (scan (+) 0 a))"),
    "a condition of every row": ("map (\\x -> f64.sum (if x > 1 then [x, x * x] else [x * ys[0]])) xs", "f64.product"),
}


@pytest.mark.parametrize("name", FORMS)
def test_of_values_of_any_form(name: str) -> None:
    """Derivatives are differences of values."""
    value, use = FORMS[name]
    fut = at.futhark(source=HEAD + f"let f (xs: [n]f64, ys: [m]f64) : f64 = ({use}) ({value}) in (f (xs, ys), vjp f (xs, ys) 1, jvp f (xs, ys) (map (const 1) xs, map (const 1) ys))").main
    for c in (True, False):
        xs, ys = np.array([1.5, 2.5, 0.5, 3.25]), np.array([0.5, 2.0])
        up, down = (np.array([fut(c, 0, xs + h * e, ys)[0] for e in np.eye(4)] + [fut(c, 0, xs, ys + h * e)[0] for e in np.eye(2)]) for h in (1e-5, -1e-5))
        for f in (fut, fut.interpret):
            _, (dx, dy), slope = f(c, 0, xs, ys)
            assert np.allclose([*dx, *dy], (up - down) / 2e-5, rtol=1e-6, atol=1e-6) and np.isclose(slope, np.sum(dx) + np.sum(dy))


def test_what_only_a_branch_knows() -> None:
    """The size of a filter in a branch is not known outside of it: there is no derivative, and what the help says is one."""
    text = HEAD + "vjp (\\xs -> f64.sum (if c then filter (> 1) xs else xs)) xs 1"
    with pytest.raises(at.Error) as told:
        at.futhark(source=text).main  # noqa: B018
    assert told.value.code == "E1113"
    helped = text.replace("filter (> 1) xs", "map (\\x -> if x > 1 then x else 0) xs")
    assert at.futhark(source=helped).main(True, 0, np.array([0.5, 2.0]), np.zeros(1)).tolist() == [0, 1]
