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
from atoll.loops.idioms import first_best
from atoll.loops.transform import best_by_blocks as fb
from atoll.loops.transform import scan as sc

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
    monkeypatch.setattr(fb, "_one_by_one", lambda search: one(search)[:-1])


def done_again_from_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    one = fb._one_by_one

    def made(search: fb.Search) -> list[lp.Stmt]:
        *rest, again = one(search)
        assert isinstance(again, lp.If)
        return [*rest, dataclasses.replace(again, then=again.then[1:])]

    monkeypatch.setattr(fb, "_one_by_one", made)


def of_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty array has no block with its best."""
    blocks = first_best.by_blocks

    def made(search: fb.Search, sizes: fb.Sizes, alone: bool) -> lp.Stmts:
        (found,) = blocks(search, sizes, alone)
        assert isinstance(found, lp.If)
        return [dataclasses.replace(found, tests=(lp.Test("ge", search.loop.high),))]

    monkeypatch.setattr(first_best, "by_blocks", made)


def places_that_are_not_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profit, "FOUND_BLOCK", 1 << 31)


@pytest.mark.parametrize("wrong", [other_way, another_block, too_far, steps_that_leave_out, last_not_first, not_done_again, done_again_from_where_it_was, of_none, places_that_are_not_far])
def test_the_best_found_wrongly(wrong: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch)
    assert all(whys(largest, "first_best"))


# -- scans


@at.fn
def running(x: f64[n]) -> f64[n]:
    return cumsum(x)


@at.fn
def highest(x: f64[n]) -> f64[n]:
    return scan(maximum, -inf, x)


@at.fn
def counted(x: i64[n]) -> i64[n]:
    return scan(add, 0, x * x)


@pytest.mark.parametrize("f", [running, highest, counted])
def test_scans_in_chunks(f: at.Function) -> None:
    assert whys(f, "scans") == [""]


def made_otherwise(method: str, change: Callable[[Any], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        right = getattr(sc._Runs, method)
        monkeypatch.setattr(sc._Runs, method, lambda self, *args: change(right(self, *args)))

    return patch


def turned(loop: lp.For) -> lp.For:
    """What is before a run, with the run."""
    (runs, *more) = loop.body
    assert isinstance(runs, lp.For)
    here, store, step = runs.body
    return dataclasses.replace(loop, body=[dataclasses.replace(runs, body=[here, step, store]), *more])


def without_rest(stmts: list[lp.Stmt]) -> list[lp.Stmt]:
    *_, rest = (s for s in stmts if isinstance(s, lp.For))
    return [dataclasses.replace(s, low=s.low + 1) if s is rest and isinstance(s, lp.For) else s for s in stmts]


def in_any_order(loop: lp.For) -> lp.For:
    return dataclasses.replace(loop, parallel=True)


WRONG = {
    "one place further": (running, made_otherwise("first", lambda p: p + 1)),
    "with the run itself": (running, made_otherwise("scanned", turned)),
    "runs by any thread": (running, made_otherwise("scanned", in_any_order)),
    "the rest without its first": (running, made_otherwise("loops", without_rest)),
    "shorter totals": (counted, made_otherwise("totals", lambda stmts: [dataclasses.replace(stmts[0], high=stmts[0].high - 1)])),
    "plainly where there is a NaN": (highest, made_otherwise("each", lambda stmts: [*stmts[:-1], dataclasses.replace(stmts[-1], tests=(lp.Test("false", None, stmts[-1].tests[0].expr),))])),
    "of the other order": (highest, made_otherwise("compared", lambda stmts: [stmts[0], dataclasses.replace(stmts[1], value=dataclasses.replace(stmts[1].value, then=stmts[1].value.orelse, orelse=stmts[1].value.then))])),
}


@pytest.mark.parametrize(("f", "wrong"), WRONG.values(), ids=WRONG)
def test_scans_made_wrongly(f: at.Function, wrong: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch)
    assert all(whys(f, "scans"))


def test_scans_without_the_programs_word() -> None:
    """Of floats the program must allow it; of integers nobody needs to."""
    for f, asks in ((running, True), (counted, False)):
        watched = watch(f.core)
        assert watched is not None
        watched.core = dataclasses.replace(watched.core, reassociate=False)
        found = [why for r, why in zip(watched.rewrites, validated(watched), strict=True) if r.name == "scans"]
        assert [bool(why) for why in found] == [asks]
