"""`where`: places said apart from the equations are the same as places said in them."""

from __future__ import annotations

import pytest

import atoll as at
from atoll.errors import Error
from tests.madl.harness import agree, last

_SWAP = "[|f|] ++ m ++ [|o|] = u; t, a, b = !f, !o, !t; v = [|a|] ++ m ++ [|b|]"
PAIRS = {
    f"let f (u of [9]int at 'l) returns (v at 'l): {_SWAP}": f"let f (u of [9]int) returns (v): {_SWAP} where u at 'l, v at 'l",
    "let f (a of [4]f64, b of [4]f64) returns (c at a, d at b): c = !a; d = !b": "let f (a of [4]f64, b of [4]f64) returns (c, d): c = !a; d = !b where c at a, d at b;",
    "let f (x of [_]int at 'l) returns (y at 'l): forward ([a] = x) returns (y = [b]): b = a + 1": "let f (x of [_]int) returns (y): forward ([a] = x) returns (y = [b]): b = a + 1 end where x at 'l, y at 'l end",
    "let f (x of [4]int) returns (y): t at x; t = !reverse(!x); y = !t": "let f (x of [4]int) returns (y): t = !reverse(!x); y = !t where t at x",
    "let f (x of [4]int, c of bool) returns (y at s): s init [4]0 = !x; y = s reset c": "let f (x of [4]int, c of bool) returns (y): s init [4]0 = !x; y = s reset c where y at s",
}  # fmt: skip


@pytest.mark.parametrize("written", PAIRS)
def test_the_same_c(written: str) -> None:
    one, two = at.madl(source=written).f, at.madl(source=PAIRS[written]).f
    assert (one.c(), one.places, one.type) == (two.c(), two.places, two.type)
    agree(last(PAIRS[written]), 1, code=False)


WRONG = {
    "let f (x of [4]int) returns (y): y = !x where z at x": ("E0902", "z"),
    "let f (x of [4]int) returns (y): y = x + 1 where y at x": ("E0915", "[4]int"),
    "let f (x of [4]int) returns (y): y = !reverse(x) where y at x": ("E0933", "Overlapping copy"),
    "let f (x of [4]int) returns (y): y = !x where y": ("E0901", "ends too early"),
    "let f (where of [4]int) returns (y): y = !where": ("E0901", "where"),
    "let f (x of [4]int, z of [3]int) returns (y): y = !x where y at z": ("E0910", "[3]int"),
}


@pytest.mark.parametrize("source", WRONG)
def test_mistakes_are_told(source: str) -> None:
    code, words = WRONG[source]
    with pytest.raises(Error) as problem:
        at.madl(source=source)
    assert problem.value.code == code and words in str(problem.value)
