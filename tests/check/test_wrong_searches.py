"""Rounds that each end when they like, side by side, made wrong in one place by changing what the compiler makes them of: the validator follows the right ones and none of these."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import atoll as at
from atoll import f64, i64
from atoll.loops import ir as lp
from atoll.loops.transform import until_all_end as side
from atoll.sizes import poly
from tests.check.test_wrong_idioms import whys

n = at.sizes("n")


@at.fn
def halved(x: f64[n], least: f64[n]) -> i64[n]:
    def one(v, low):
        k = 0
        while v > low and k < 100:
            v, k = v * 0.5, k + 1
        return k

    return [one(v, w) for v, w in zip(x, least)]


def test_side_by_side() -> None:
    assert whys(halved, "searches") == [""]


def of_lanes(name: str, change: Callable[[list[lp.Stmt]], list[lp.Stmt]]) -> Callable[[pytest.MonkeyPatch], None]:
    def wrong(patch: pytest.MonkeyPatch) -> None:
        made = getattr(side._Lanes, name)
        patch.setattr(side._Lanes, name, lambda self, copier, lane: change(made(self, copier, lane)))

    return wrong


def kept_anyway(s: lp.Stmt) -> lp.Stmt:
    """What is computed for nothing is kept."""
    return dataclasses.replace(s, value=s.value.then) if isinstance(s, lp.Let) and isinstance(s.value, lp.Choose) else s


def one_lane(s: lp.Stmt) -> lp.Stmt:
    return dataclasses.replace(s, index=(poly(0),)) if isinstance(s, lp.Store) else s


def going_on(s: lp.Stmt) -> lp.Stmt:
    """A lane that has ended goes on."""
    return dataclasses.replace(s, value=s.value.then) if isinstance(s, lp.Store) and isinstance(s.value, lp.Choose) else s


def begins_again(s: lp.Stmt) -> lp.Stmt:
    """The second test counts alone."""
    return dataclasses.replace(s, value=s.value.args[1]) if isinstance(s, lp.Let) and isinstance(s.value, lp.Call) and s.value.op == "and" else s


def none_going(s: lp.Stmt) -> lp.Stmt:
    return dataclasses.replace(s, value=lp.Const(0, s.value.dtype)) if isinstance(s, lp.Store) and isinstance(s.value, lp.Const) else s


def of_the_first(patch: pytest.MonkeyPatch) -> None:
    """All lanes are of the first round of a block."""
    first = side.first_of
    patch.setattr(side, "first_of", lambda loop, size, block: first(loop, size, block) - size)


def blocks_that_overlap(patch: pytest.MonkeyPatch) -> None:
    first = side.first_of
    patch.setattr(side, "first_of", lambda loop, size, block: first(loop, size - 1, block))


def of_the_whole(change: Callable[[list[lp.Stmt]], list[lp.Stmt]]) -> Callable[[pytest.MonkeyPatch], None]:
    def wrong(patch: pytest.MonkeyPatch) -> None:
        blocks = side.in_blocks
        patch.setattr(side, "in_blocks", lambda loop, size, block, body, known: blocks(loop, size, block, change(list(body)), known))

    return wrong


def ends_with_the_first(body: list[lp.Stmt]) -> list[lp.Stmt]:
    """Left as soon as one of the lanes has ended."""
    def made(s: lp.Stmt) -> lp.Stmt:
        if not isinstance(s, lp.Forever):
            return s
        some, stop, steps = s.body
        assert isinstance(stop, lp.BreakUnless) and stop.tests[0].poly is not None
        return lp.Forever([some, lp.BreakUnless((lp.Test("ge", stop.tests[0].poly - 7),)), steps])

    return [made(s) for s in body]


def in_any_order(body: list[lp.Stmt]) -> list[lp.Stmt]:
    return [lp.Forever([*s.body[:2], dataclasses.replace(s.body[2], parallel=True)]) if isinstance(s, lp.Forever) else s for s in body]


def not_begun(body: list[lp.Stmt]) -> list[lp.Stmt]:
    return [s for k, s in enumerate(body) if not isinstance(s, lp.For) or isinstance(body[k - 1], lp.Forever)]


def rounds_twice(patch: pytest.MonkeyPatch) -> None:
    """The rounds that are left begin one earlier."""
    blocks = side.in_blocks

    def made(*args: Any) -> list[lp.Stmt]:
        first, rest = blocks(*args)
        return [first, dataclasses.replace(rest, low=rest.low - 1)]

    patch.setattr(side, "in_blocks", made)


def rounds_left_out(patch: pytest.MonkeyPatch) -> None:
    blocks = side.in_blocks

    def made(*args: Any) -> list[lp.Stmt]:
        first, rest = blocks(*args)
        return [dataclasses.replace(first, high=first.high - 1), rest]

    patch.setattr(side, "in_blocks", made)


def each(change: Callable[[lp.Stmt], lp.Stmt]) -> Callable[[list[lp.Stmt]], list[lp.Stmt]]:
    return lambda body: [change(s) for s in body]


WRONG: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "kept anyway": of_lanes("again", each(kept_anyway)),
    "kept in one lane": of_lanes("again", each(one_lane)),
    "goes on": of_lanes("again", each(going_on)),
    "by one test only": of_lanes("again", each(begins_again)),
    "never begun": of_lanes("first", each(none_going)),
    "begun in one lane": of_lanes("first", each(one_lane)),
    "stored in one place": of_lanes("last", each(one_lane)),
    "steps without their last statement": of_lanes("again", lambda body: body[:-1]),
    "of the first round": of_the_first,
    "blocks that overlap": blocks_that_overlap,
    "ends with the first": of_the_whole(ends_with_the_first),
    "steps in any order": of_the_whole(in_any_order),
    "nothing to begin with": of_the_whole(not_begun),
    "rounds twice": rounds_twice,
    "rounds left out": rounds_left_out,
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_lanes(wrong: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch)
    assert all(whys(halved, "searches"))


@at.fn
def before_it(x: f64[n]) -> f64[n]:
    def one(v, i):
        while v < 100.0:
            v = v * 2.0 + (x[i - 1] if i > 0 else 1.0)
        return v

    return [one(v, i) for i, v in enumerate(x)]


def test_what_may_not_be_there_is_not_read_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An element that is read only under a test: refused by the compiler, and by the validator when the compiler does not ask."""
    monkeypatch.setattr(side, "total", lambda *args: None)
    assert all(whys(before_it, "searches"))
