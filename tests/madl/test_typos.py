"""Typos are errors, in words that help: each help is followed, and what comes out is right. The programs are those that strangers tripped over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.errors import CausalityError, Error, InitialisationError, LocationError, ScheduleError
from atoll.madl.api import Module
from tests.madl.harness import agree, last

# name: the program, its code, words of the message, the program with the help followed
WRONG: dict[str, tuple[str, str, list[str], str]] = {
    "a forgotten operator": (
        "let f (k of int, a of [_]int) returns (s): forward ([x] = a) returns (s = {t}): t init 0 += x  k",
        "E0901", ["'k' cannot stand here", "is an operator missing?"],
        "let f (k of int, a of [_]int) returns (s): forward ([x] = a) returns (s = {t}): t init 0 += x*k",
    ),
    "a loop that is not closed": (
        "let f (a of [_]int) returns (s): forward ([x] = a) returns (t = {u}): u init 0 += x\n  s = t + 1",
        "E0901", ["'s' cannot stand here", "`end`"],
        "let f (a of [_]int) returns (s): forward ([x] = a) returns (t = {u}): u init 0 += x end\n  s = t + 1",
    ),
    "an operation nobody gets": ("let f (a of int) returns (b): a + 7; b = a + 1", "E0943", ["a + 7 has no effect"], "let f (a of int) returns (b): b = a + 1"),
    "== for =": ("let f (a of int) returns (b): b == a + 1", "E0943", ["b == a + 1 has no effect", "b = a + 1"], "let f (a of int) returns (b): b = a + 1"),
    "a call nobody gets": (
        "let g (a of int) returns (b): b init 0 = last b + a\nlet f (a of int) returns (b): g(a); b = a + 1",
        "E0943", ["_ = g(a)"], "let g (a of int) returns (b): b init 0 = last b + a\nlet f (a of int) returns (b): _ = g(a); b = a + 1",
    ),
    "a lonely name": ("let f (a of int) returns (b): b = a + 1; a", "E0943", ["a has no effect"], "let f (a of int) returns (b): b = a + 1"),
    "an unknown name in let rec": (
        "let rec f <<n>> (x of [n]int) returns (s of int): s = nosuch(x)", "E0903", ["Undefined operator nosuch"],
        "let rec f <<n>> (x of [n]int) returns (s of int): forward ([a] = x) returns (s = {t}): t init 0 += a",
    ),
    "a wrong type in let rec": (
        "let rec f <<n>> (x of [n]int) returns (s of int): s = x + true", "E0915", ["the operation + is not defined for [1]int"], "",
    ),
    "a cycle in let rec": (
        "let rec f <<n>> (x of [n]int) returns (s of int): s = s + 1", "E0920", ["Non causal definition of s"],
        "let rec f <<n>> (x of [n]int) returns (s of int): s init 0 = last s + 1",
    ),
    "a word as a name": (
        "let f (data of [4]u8) returns (c of u8): [|c', _, _, _|] = data; c = !c'", "E0901", ["`data` is a word of the language", "data_"],
        "let f (data_ of [4]u8) returns (c of u8): [|c', _, _, _|] = data_; c = !c'",
    ),
    "a word as a variable": ("let f (a of int) returns (b): size = a + 1; b = size + 1", "E0901", ["`size` is a word of the language"], ""),
    "a bool is no number": (
        "let f (a of bool) returns (b): b = a + 1", "E0915", ["the operation + is not defined for bool", "i32(..)"],
        "let f (a of bool) returns (b): b = i32(a) + 1",
    ),
    "two arguments at one place": (
        "let f (c of bool, a of [4]int, b of [4]int) returns (o): if c then o = a else o = b end", "E0941", ["!a, !b"],
        "let f (c of bool, a of [4]int, b of [4]int) returns (o): if c then o = !a else o = !b end",
    ),
    "the last value and the new one": (
        "let f (a of int) returns (y): x init 0 = !a; y = x + last x", "E0940", ["save the old value first: !last x"],
        "let f (a of int) returns (y): x init 0 = !a; y = x + !last x",
    ),
    "a constant twice": ("const n = 3\nlet f (n of int) returns (b): b = n + 1", "E0906", ["n is defined twice", "a constant"], "const n = 3\nlet f (m of int) returns (b): b = m + n"),
    "a constant that is none": ("let g (x of int) returns (y): y = x + 1\nconst n = g(3)", "E0908", ["not known before the program runs"], ""),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_told_and_mended(name: str) -> None:
    source, code, words, mended = WRONG[name]
    with pytest.raises(Error) as caught:
        at.madl(source=source)
    assert caught.value.code == code, str(caught.value)
    for word in words:
        assert word in str(caught.value)
    if mended.startswith("let rec"):
        at.madl(source=mended)
    elif mended:
        agree(last(mended))


def test_errors_have_classes_of_their_own() -> None:
    cases: dict[str, type[Error]] = {
        "let f (a of int) returns (b): b = b + a": CausalityError,
        "let f (a of [3]int) returns (b): b = a ++ a": LocationError,
        "let f (a of int) returns (b): b = a + last c; c = a + 1": InitialisationError,
        "let f (u of [2]int at 'l) returns (v at 'l): [|a, b|] = u; v = [|!b, !a|]": ScheduleError,
    }
    for source, wanted in cases.items():
        with pytest.raises(wanted):
            at.madl(source=source)


def test_unused_variables_are_told_and_not_computed() -> None:
    op = last("let f (a of int, v of [_]int) returns (b): c = a*a; d = c + 1; forward ([x] = v) ([y] = v) returns (e = [z]): z = x + 1 end; b = a + 2")
    assert {name for name, _ in op.unused} == {"v", "c", "d", "x", "y", "e", "z"}
    from tests.madl.c_shape import shape

    assert shape(op) == "*b=a+2;"
    agree(op)
    assert last("let f (a of int) returns (b): c init 0 = last c + a; b = c + 1").unused == ()


# -- refused before, although right

RIGHT: dict[str, tuple[str, Any, Any]] = {
    "a bound is exclusive": ("let f () returns (a): forward <<3:7>> [i] returns (a = [x]): x = int(i)", lambda nd: nd.f().tolist(), [3, 4, 5, 6]),
    "a forward applied": (
        "let dot <<n>> (u of [n]int, v) returns (s): s = (forward <<n>> ([ui], [vi]) returns ({ls}): ls init 0 = last ls + ui * vi reset true) (u, v)",
        lambda nd: nd.dot().step(np.arange(3, dtype="i4"), np.arange(3, dtype="i4")), 5,
    ),
    "a forward without a body": (
        "let func my_repeat <<n>> (x of int) returns (a at repeat(_)): forward <<n>> returns (a = [x])\n"
        "let f (x of int) returns (b of [3]int): b = !my_repeat<<3>>(x)",
        lambda nd: nd.f(7).tolist(), [7, 7, 7],
    ),
    "a constant index asks for sizes": ("let f <<n>> (a of [n+3]int) returns (b): b = !a.[2]", lambda nd: nd.f(np.arange(3, dtype="i4")), 2),
    "an index that is computed": (
        "let lut (k of int) returns (v of int): table init [|10, 20, 30, 40|] = last table; v = !(last table).[clamp<<4>>(k)]",
        lambda nd: nd.lut().step(2), 30,
    ),
    "the last value of an index": (
        "let f (x of [3]int, k of int) returns (y): j init clamp<<3>>(0) = clamp<<3>>(k); y = x.[last j] + 0",
        lambda nd: [int(i.step(np.array([5, 6, 7], "i4"), 2)) for i in [nd.f()] for _ in range(2)], [5, 7],
    ),
    "hexadecimal, binary, bits": (
        "let f (x of u8) returns (y): y = x & 0xF0 | ~x & 0b1111 ^ 1", lambda nd: nd.f(np.uint8(0xAB)), (0xAB & 0xF0) | ((~0xAB & 0x0F) ^ 1),
    ),
    "else if": (
        "let f (x of int) returns (y, z): if x > 0 then y = 1 else if x < 0 then y = -1 else y = 0 end; z = if x > 9 then 2 else if x > 5 then 1 else 0",
        lambda nd: [tuple(map(int, nd.f(v))) for v in (-3, 0, 6, 10)], [(-1, 0), (0, 0), (1, 1), (1, 2)],
    ),
    "constants": (
        "const n = 2\nconst m = 2*n\nconst w = [|1.5, 2.5|]\nlet f (x of [n]f64) returns (y of [m]f64): forward ([a] = x) ([b] = w) returns (z = [c]): c = a*b end; y = z ++ [_]0.5",
        lambda nd: nd.f(np.ones(2)).tolist(), [1.5, 2.5, 0.5, 0.5],
    ),
    "feedback through a node": (
        "let delay (x of int) returns (y): y = !last (!x init 0)\nlet loop (a of int) returns (b): b = a + delay(b)",
        lambda nd: [int(i.step(1)) for i in [nd.loop()] for _ in range(4)], [1, 2, 3, 4],
    ),
    "feedback through two nodes": (
        "let delay (x of f64) returns (y): y = !last (!x init 0.0)\nlet gain (x of f64) returns (y): y = 0.5*delay(x)\n"
        "let loop (r of f64) returns (y): e = r - y; y = gain(e) + delay(y)",
        lambda nd: [float(i.step(1.0)) for i in [nd.loop()] for _ in range(4)], [0.0, 0.5, 0.75, 0.875],
    ),
    "as many sizes as it takes": (
        "let rec sum <<n>> (x of [n]int) returns (s of int): if n == 1 then [|a|] = x; s = !a else [|h|] ++ t = x; s = h + sum<<n-1>>(t) end",
        lambda nd: nd.sum[100](np.ones(100, "i4")), 100,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    source, run, wanted = RIGHT[name]
    module: Module = at.madl(source=source)
    assert run(module) == wanted


@pytest.mark.parametrize("name", [n for n in RIGHT if "rec" not in RIGHT[n][0]])
def test_right_under_the_oracle(name: str) -> None:
    agree(last(RIGHT[name][0]))


def test_a_true_cycle_through_calls_is_told_as_one() -> None:
    with pytest.raises(CausalityError) as caught:
        at.madl(source="let g (x of int) returns (y): y = x + 1\nlet f (a of int) returns (b): b = a + g(b)")
    assert "Non causal definition of b" in str(caught.value)


def test_recursion_that_grows_is_told() -> None:
    with pytest.raises(Error) as caught:
        at.madl(source="let rec f <<n>> (x of int) returns (s of int): s = f<<n+1>>(x)")
    assert caught.value.code == "E0951"


def test_checking_deep_nests_takes_time_by_their_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: it doubled with every dimension, so that twenty took minutes."""
    from atoll.madl import causality

    asked, needs = [0], causality.needs

    def counted(graph: Any, node: Any) -> Any:
        asked[0] += 1
        return needs(graph, node)

    monkeypatch.setattr(causality, "needs", counted)

    def deep(d: int) -> int:
        asked[0] = 0
        levels, opened, closed = "," * (d - 1), "[" * d, "]" * d
        last(f"let f (x of {'[_]' * d}int) returns (y): forward{levels} ({opened}a{closed} = x) returns (y = {opened}b{closed}): b = a + 1")
        return asked[0]

    assert deep(16) < 16 * deep(4)
