"""Idioms that are made wrong in one place, by changing what the compiler makes them of: the validator follows the right ones and none of these."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.check.compiled import validated
from atoll.check.watched import watch
from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.idioms import first_best as fb

n, m = at.sizes("n m")


@at.fn
def smallest(x: f64[n]) -> i64:
    return argmin(x)


@at.fn
def largest(x: f32[n, m]) -> i64[n]:
    return [argmax(row) for row in x]


@at.fn
def of_numbers(x: i64[n]) -> i64:
    return argmax(x)


def whys(f: at.Function, name: str) -> list[str]:
    watched = watch(f.core)
    assert watched is not None
    found = [why for r, why in zip(watched.rewrites, validated(watched), strict=True) if r.name == name]
    assert found
    return found


@pytest.mark.parametrize("f", [smallest, largest, of_numbers])
def test_the_best_by_blocks(f: at.Function) -> None:
    assert whys(f, "first_best") == [""]




def other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two blocks the worse is taken."""
    take = fb._take
    monkeypatch.setattr(fb, "_take", lambda way, *more: take("maximum" if way == "minimum" else "minimum", *more))


def another_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """The block is said to begin where the best so far is."""
    take = fb._take
    monkeypatch.setattr(fb, "_take", lambda way, top, begin, total, start: take(way, top, start, total, start))


def too_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """One element more than there are."""
    end = fb.block_end
    monkeypatch.setattr(fb, "block_end", lambda name, begin, block, stop: end(name, begin, block, stop + 1))


def steps_that_leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    first = fb._first

    def made(*args: Any) -> list[lp.Stmt]:
        passed, *rest = first(*args)
        assert isinstance(passed, lp.Forever)
        *stmts, step = passed.body
        assert isinstance(step, lp.Assign) and isinstance(step.value, lp.Index)
        return [lp.Forever([*stmts, dataclasses.replace(step, value=lp.Index(step.value.poly + 1))]), *rest]

    monkeypatch.setattr(fb, "_first", made)


def last_not_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the places in a block the last."""
    first = fb._first

    def made(*args: Any) -> list[lp.Stmt]:
        passed, end, least, step = first(*args)
        assert isinstance(least, lp.Accumulate) and isinstance(least.body[-1], lp.Add)
        add = dataclasses.replace(least.body[-1], monoid="maximum")
        return [passed, end, dataclasses.replace(least, body=[*least.body[:-1], add], accs=[dataclasses.replace(least.accs[0], monoid="maximum")]), step]

    monkeypatch.setattr(fb, "_first", made)


def not_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN are noticed, and then?"""
    one = fb._one_by_one
    monkeypatch.setattr(fb, "_one_by_one", lambda loop: one(loop)[:-1])


def done_again_from_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    one = fb._one_by_one

    def made(loop: lp.For) -> list[lp.Stmt]:
        *rest, again = one(loop)
        assert isinstance(again, lp.If)
        return [*rest, dataclasses.replace(again, then=again.then[1:])]

    monkeypatch.setattr(fb, "_one_by_one", made)


def of_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty array has no block with its best."""
    monkeypatch.setattr(profit, "BEST_SHORT", 0)


def places_that_are_not_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profit, "FOUND_BLOCK", 1 << 31)


@pytest.mark.parametrize("wrong", [other_way, another_block, too_far, steps_that_leave_out, last_not_first, not_done_again, done_again_from_where_it_was, of_none, places_that_are_not_far])
def test_the_best_found_wrongly(wrong: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch)
    assert all(whys(largest, "first_best"))
