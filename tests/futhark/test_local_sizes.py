"""Local functions are used with several sizes: each use has its own, of arrays and of what functions return. What a program gives is what it gives with the functions written out."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import atoll as at

# parameters without types, a body that gives an array, and arguments of one type but different sizes; n is the size of xs, k is a number
FUNCTIONS = [
    ("f", "f k", ["(\\m -> iota m)", "(\\m -> iota (m + 1))", "(\\m -> replicate m 2i64)", "(\\m -> replicate (2 * m) m)", "(\\_ -> copy xs)", "(\\m -> filter (> m) xs)", "iota"]),
    ("f", "f xs", ["(map (+ 1))", "(filter (> 2))", "(\\a -> a ++ a)", "(take 1)", "reverse", "(const [7, 8])"]),
    ("f", "map (+ 1) (f k n)", ["(\\a b -> iota (a + b))", "(\\a b -> replicate b a)", "(\\(_: i64) (b: i64) -> filter (< b) xs)"]),
    ("x", "x", ["xs", "(iota k)", "[1, 2]", "(filter (> 2) xs)", "(xs ++ xs)"]),
    ("x", "map (* 2) x ++ x", ["xs", "(iota k)", "[1, 2]", "(filter (> 2) xs)"]),
    ("(x, i)", "map (+ i) x", ["(xs, 3)", "(iota k, n)", "([4i64], 1)"]),
    ("(f, i)", "f (i + 1)", ["(\\m -> iota m, k)", "(\\m -> replicate m 5i64, n)", "(\\m -> filter (> m) xs, 2)"]),
    ("{of, len}", "of len ++ of len", ["{of = \\(m: i64) -> iota m, len = 3i64}", "{len = k, of = \\m -> replicate m 1i64}"]),
    ("f x", "f x", ["(map (+ 1))  xs", "(filter (> 2))  (iota 6)", "(\\a -> a ++ [1])  [2, 3]", "(const (iota k))  xs"]),
    ("_ x", "x", ["xs  [1]", "(iota k)  xs", "[1]  (iota k)"]),
    ("f", "let go g = g k in go f ++ f 2", ["(\\m -> iota m)", "(\\m -> replicate m n)", "(\\m -> filter (> m) xs)"]),
    ("f", "flatten (f k)", ["(\\m -> replicate m xs)", "(\\m -> tabulate_2d 2 m (\\i j -> i * j))", "(\\m -> map (\\i -> replicate m i) (iota m))"]),
]
WAYS = {
    "a sum": "({0} |> i64.sum) + 3 * ({1} |> i64.sum)",
    "both": "({0}, {1})",
    "one after the other": "{0} ++ {1} ++ {0}",
    "a branch": "if k > 2 then {0} else {1}",
    "in a loop": "loop acc = 0 for i < 3 do acc * 2 + i64.sum {0} + length {1}",
    "one in the other": "map (\\i -> i + length {0}) {1}",
}
HEAD = "entry main [n] (xs: [n]i64) (k: i64) =\n  "


def written_out(params: str, body: str, args: str) -> str:
    """A use of a function in the words of its body."""
    names = [params] if params[0] in "({" else params.split()
    return "(" + "".join(f"let {p} = {a} in " for p, a in zip(names, args.split("  "), strict=True)) + body + ")"


def said(value: object) -> object:
    return tuple(map(said, value)) if isinstance(value, tuple) else np.asarray(value).tolist()


@pytest.mark.parametrize("way", WAYS)
def test_each_use_has_its_sizes(way: str) -> None:
    rng = random.Random(way)
    for param, body, uses in FUNCTIONS:
        one, other = rng.choice(list(itertools.permutations(uses, 2)))
        whole = f"let g {param} = {body}\n  in " + WAYS[way].format(f"(g {one})", f"(g {other})")
        plain = WAYS[way].format(written_out(param, body, one), written_out(param, body, other))
        found, expected = at.futhark(source=HEAD + whole).main, at.futhark(source=HEAD + plain).main
        for k in (1, 3):
            given = np.arange(4) * 2 % 5, k
            assert said(found.interpret(*given)) == said(expected.interpret(*given)), whole
        if rng.random() < 0.2:
            assert said(found(*given)) == said(expected(*given)), whole


ITERATE = "def iterate '~a (n: i32) (f: (() -> a) -> a) (x: () -> a) = loop x = x () for _i < n do f (\\() -> x)\n"
PICK = "def pick '~a (c: bool) (f: i64 -> a) (g: i64 -> a) : a = if c then f 3 else g 4\n"
BESIDE = "def both [m] (f: i64 -> [m]i64) (g: i64 -> [m]i64) = map2 (+) (f 3) (g 3)\n"
LIFTED = {
    "a loop whose state grows": (ITERATE + "entry main (n: i32) (xs: []i32) = iterate n (\\(p: () -> []i32) -> p () ++ p ()) (\\() -> xs)", [[2, 1], [2, 1, 2, 1, 2, 1, 2, 1]]),
    "beside what keeps its size": (ITERATE + "entry main [m] (n: i32) (xs: [m]i32) = (iterate n (\\(p: () -> []i32) -> p () ++ p ()) (\\() -> xs), map2 (+) xs (replicate m 1i32))", [([2, 1], [3, 2]), ([2, 1] * 4, [3, 2])]),
    "from what is written": (ITERATE + "entry main (n: i32) (xs: []i32) = iterate n (\\(p: () -> []i32) -> filter (< 5) (p ()) ++ xs) (\\() -> [7])", [[7], [2, 1, 2, 1]]),
    "of two sizes": (ITERATE + "entry main (n: i32) (xs: []i32) = iterate n (\\(p: () -> [][]i32) -> let a = p () in transpose (a ++ a)) (\\() -> [xs])", [[[2, 1]], [[2, 1, 2, 1], [2, 1, 2, 1]]]),
    "one of two functions": (PICK + "entry main (n: i32) (xs: []i32) = pick (n > 0) (\\k -> iota k) (\\_ -> map i64.i32 xs)", [[2, 1], [0, 1, 2]]),
    "one of two functions of one's sizes": (PICK + "entry main (n: i32) (xs: []i32) = pick (n > 0) (\\k -> iota (i64.i32 xs[0] * k)) (\\k -> replicate k k)", [[4, 4, 4, 4], [0, 1, 2, 3, 4, 5]]),
    "one of two functions of expressions": (PICK + "def inc (k: i64) = k + 1\nentry main (n: i32) (xs: []i32) = pick (n > 0) (\\k -> replicate (inc k) k) (\\k -> iota (inc (2 * k)))", [list(range(9)), [3] * 4]),
    "two functions of one size": (BESIDE + "entry main (n: i32) (xs: []i32) = both (\\k -> iota k) (\\k -> replicate k (i64.i32 n))", [[0, 1, 2], [2, 3, 4]]),
}


@pytest.mark.parametrize("name", LIFTED)
def test_a_type_parameter_of_any_size(name: str) -> None:
    """What stands for a size-lifted type has a size of its own wherever it stands. An argument keeps its size."""
    text, expected = LIFTED[name]
    fut = at.futhark(source=text).main
    assert "unknown" not in fut.type
    for n, result in zip((0, 2), expected, strict=True):
        for f in (fut, fut.interpret):
            assert said(f(n, np.array([2, 1], np.int32))) == (tuple(result) if isinstance(result, tuple) else result)


def test_functions_of_their_own_sizes() -> None:
    """As misc/functional-images of futhark-benchmarks has it: one local function calls what it is given, a function whose result has the sizes that it is given."""
    fut = at.futhark(source="""
    def grid (w: i64) (h: i64) f : [h][w]i32 = tabulate_2d h w (\\i j -> f (i32.i64 i) (i32.i64 j))
    def a t (w: i64) (h: i64) = grid w h (\\i j -> i + j + t)
    def b x y t (w: i64) (h: i64) = grid w h (\\i j -> i * x + j * y + t)
    entry main (c: i32) (w: i64) (h: i64) : [][]i32 =
      let render f = f 3i32 w h
      in match c case 0 -> render a case 1 -> render (b 1 2) case _ -> render (b 2 1)
    """)
    for f in (fut.main, fut.main.interpret):
        assert [f(c, 2, 3).tolist() for c in (0, 1, 2)] == [[[3, 4], [4, 5], [5, 6]], [[3, 5], [4, 6], [5, 7]], [[3, 4], [5, 6], [7, 8]]]


OTHER_SIZES = {
    "declared": "def sums [m] (f: i64 -> [m]i64) (k: i64) = i64.sum (map2 (+) (f 2) (f {}))\nentry main (k: i64) = sums (\\m -> iota m) k + k",
    "found out": "entry main (k: i64) = let sums f = i64.sum (map2 (+) (f 2) (f {})) in sums (\\m -> iota m) + sums (\\m -> replicate m 1) + k",
}


@pytest.mark.parametrize("name", OTHER_SIZES)
def test_sizes_that_calls_make_are_compared(name: str) -> None:
    """That all calls of a parameter have results of one size is what the function's text says, as in Futhark: it is looked at when the program runs."""
    same = at.futhark(source=OTHER_SIZES[name].format("2")).main
    assert same(1) == same.interpret(1) == (3 if name == "declared" else 7)
    with pytest.raises(at.Error, match=r"E0[0-9]+"):
        at.futhark(source=OTHER_SIZES[name].format("(k + 1)")).main(4)


REFUSED = {
    "a lambda has one size": ("entry main (k: i64) =\n let run = \\f -> i64.sum (f k)\n in run (\\m -> iota m) + run (\\m -> replicate m 2i64)", "E1404", "is not in scope"),
    "one parameter, two sizes of a call": ("def f [m] (g: i64 -> [m][m]i64) = transpose (g 3)\nentry main (k: i64) = f (\\j -> replicate j (replicate (j + 1) k))", "E1404", 'the size "j + 1"'),
    "another function takes it": ("entry main (k: i64) =\n let run f g = g (f k)\n in run (\\m -> iota m) i64.sum + run (\\m -> replicate m 2i64) i64.sum", "E1404", "Existential size would appear"),
    "a size that is declared": ("entry main (k: i64) : [k]i64 =\n let run f = f k\n in if k > 2 then run (\\m -> iota m) else run (\\m -> replicate m 2i64)", "E1404", 'the size one that only its value knows is not "k"'),
    "a parameter of a lambda has a size": ("def f : (k: i64) -> [k]i32 -> i64 = \\_ xs -> length xs\nentry main (k: i64) = f k (replicate k 1)", "E1404", '"k" is not in scope'),
    "types are one": ("entry main (k: i64) =\n let run f = f k\n in i64.sum (run (\\m -> iota m)) + i64.i32 (run (\\m -> i32.i64 m))", "E1403", "is not"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, code, words = REFUSED[name]
    with pytest.raises(at.Error) as told:
        at.futhark(source=text)
    assert told.value.code == code and words in str(told.value)


def test_the_help_is_right() -> None:
    text = REFUSED["a size that is declared"][0]
    helped = text.replace("if k", "(if k") + ") :> [k]i64"
    assert at.futhark(source=helped).main(2).tolist() == [2, 2]
