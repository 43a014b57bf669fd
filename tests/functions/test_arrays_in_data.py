"""Arrays, sizes and indices inside unions: what crosses from Python is measured; a record's own sizes are one number each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import c64, c128, f32, f64, i16, i64, u8
from atoll.std.lists import Cons, List, Nil, fold_left, length
from atoll.std.options import Option, Some

n = at.sizes("n")
k = at.some("k")


@at.record
class Vec:
    data: f64[k]


@at.record
class Two:
    left: Block
    right: Block


Block = Vec | Two


@at.fn
def build(x: f64[n]) -> Block:
    return Vec(x) if n <= 2 else Two(build(x[: n // 2]), build(x[n // 2 :]))


@at.fn
def squares(b: Block) -> f64:
    match b:
        case Vec(x):
            return sum(x * x)
        case Two(l, r):
            return squares(l) + squares(r)


@at.fn
def both(x: f64[n]) -> (f64, Block):
    b = build(x)
    return squares(b), b


def test_arrays_of_any_size_in_cases() -> None:
    for f in (both, both.interpret):
        total, block = f(np.arange(5.0))
        assert total == 30.0
        assert list(block.left.data) == [0.0, 1.0] and list(block.right.right.data) == [3.0, 4.0]
    assert squares(block) == squares.interpret(block) == 30.0


@at.fn
def added(xs: List[f64[n]], x: f64[n]) -> f64[n]:
    return fold_left(lambda p, q: p + q, x, xs)


@at.fn
def picked(xs: List[at.idx[n]], x: f64[n]) -> f64:
    return fold_left(lambda p, q: p + x[q], 0.0, xs)


@pytest.mark.parametrize("how", ["call", "interpret"])
def test_sizes_inside_lists_are_checked(how: str) -> None:
    add: Any = added if how == "call" else added.interpret
    pick: Any = picked if how == "call" else picked.interpret
    assert list(add([np.ones(3), np.ones(3)], np.arange(3.0))) == [2.0, 3.0, 4.0]
    with pytest.raises(at.SizeError, match=r"added: argument xs\[1\] \(axis 0\) is 2, but n is 3"):
        add([np.ones(3), np.ones(2)], np.arange(3.0))
    assert pick([0, 2], np.arange(3.0)) == 2.0
    for wrong in ([0, 3], [-1]):
        with pytest.raises(IndexError, match=r"picked: argument xs\S* is declared idx\[n\], but holds (3|-1)"):
            pick(wrong, np.arange(3.0))


def test_a_size_only_a_list_has_is_refused() -> None:
    @at.fn
    def count(xs: List[f64[n]]) -> i64:
        return length(xs)

    with pytest.raises(at.SizeError, match="no argument determines the size n"):
        count([np.ones(3)])


@at.record
class Fit:
    x: f64[k]
    y: f64[k]
    edges: f64[k + 1]


@at.fn
def total(d: Fit) -> f64:
    return sum(d.x * d.y) + sum(d.edges)


@pytest.mark.parametrize("how", ["call", "interpret"])
def test_own_sizes_agree_within_a_record(how: str) -> None:
    f: Any = total if how == "call" else total.interpret
    assert f(Fit(np.ones(2), np.ones(2), np.ones(3))) == 5.0
    with pytest.raises(at.SizeError, match=r"argument d.y \(axis 0\) is 3, but k is 2 in the same record"):
        f(Fit(np.ones(2), np.ones(3), np.ones(3)))
    with pytest.raises(at.SizeError, match=r"argument d.edges \(axis 0\) is 2, which is not k \+ 1"):
        f(Fit(np.ones(2), np.ones(2), np.ones(2)))


@at.record
class Many:
    z: c128
    w: c64
    b: at.bool_
    s: f32
    u: u8
    h: i16
    rest: Chain


Chain = Many | None


@at.fn
def changed(c: Chain) -> Chain:
    match c:
        case None:
            return None
        case Many(z, w, b, s, u, h, rest):
            return Many(z * z, w * w, not b, s + s, u + u, -h, changed(rest))


def test_numbers_of_every_kind_in_cells() -> None:
    given = Many(1 + 2j, np.complex64(1 - 1j), True, 1.5, 200, 7, Many(3j, np.complex64(2), False, 2.5, 1, -3, None))
    assert repr(changed(given)) == repr(changed.interpret(given))
    assert changed(given).z == -3 + 4j and changed(given).u == 144 and changed(given).rest.h == 3


@at.fn
def maybe(x: f64[n], c: at.bool_) -> Option[f64[n]]:
    return Some(2.0 * x) if c else None


def test_options_of_arrays() -> None:
    assert list(maybe(np.arange(3.0), True)) == [0.0, 2.0, 4.0]
    assert maybe(np.arange(3.0), False) is None


@at.fn
def captured(x: f64[n], xs: List[i64], i: i64) -> f64:
    fs: List[at.Fn[[i64], f64]] = Cons(lambda j: x[j] + f64(length(xs)), Nil())
    for j in range(3):
        fs = Cons(lambda k, j=j: x[k] * f64(j) + sum(x), fs)
    return fold_left(lambda acc, u: acc + u(i), 0.0, fs)


def test_closures_that_hold_arrays_and_lists() -> None:
    x = np.arange(4.0)
    assert captured(x, [1, 2], 3) == captured.interpret(x, [1, 2], 3) == 3 + 2 + 3 * (0 + 1 + 2) + 3 * 6
    with pytest.raises(IndexError, match="index 4 is out of range for size 4"):
        captured(x, [1, 2], 4)


@at.fn
def doubled(x: at.own[f64[n]], i: i64) -> f64[n]:
    if i < 0:
        return x
    x[i] = 2.0 * x[i]
    return doubled(x, i - 1)


def test_updates_in_a_recursion_leave_the_argument_alone() -> None:
    x = np.ones(4)
    assert list(doubled(x, 2)) == [2.0, 2.0, 2.0, 1.0]
    assert list(x) == [1.0] * 4
