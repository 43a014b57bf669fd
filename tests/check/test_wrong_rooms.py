"""Private copies of what is added up, and windows of rows, that are made wrong in one place, by changing what the compiler makes them of: the validator follows the right ones and none of these."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import atoll as at
from atoll import f64, i64
from atoll.loops import ir as lp
from atoll.loops.transform import private as pr
from atoll.loops.transform import window as wd
from atoll.sizes import poly
from examples.ranks.kmeans import with_maps as rows
from tests.check.test_wrong_idioms import whys

n, m = at.sizes("n m")
Change = Callable[[pytest.MonkeyPatch], None]


# -- private copies


@at.fn
def counts(a: i64[n]) -> i64[8]:
    return hist(add, 0, 8, a, ones(n, i64), mode="drop")


@at.fn
def weights(a: i64[n], w: f64[n]) -> f64[300]:
    return hist(add, 0.0, 300, a, w)


@at.fn
def places(x: i64[n]) -> i64[2000]:
    return hist(add, 0, 2000, [abs(v) // 3 for v in x], x)


@pytest.mark.parametrize("f", [counts, weights, rows, places])
def test_in_private_copies(f: at.Function) -> None:
    assert whys(f, "privatise") == [""]


def rounds_left_out(patch: pytest.MonkeyPatch) -> None:
    """Parts that are too short: the last rounds are in none."""
    patch.setattr(pr, "begun", lambda count, size: count // size)


def begun_with_something(patch: pytest.MonkeyPatch) -> None:
    neutral = pr.neutral
    patch.setattr(pr, "neutral", lambda monoid, dtype: dataclasses.replace(neutral(monoid, dtype), value=1))


def a_copy_forgotten(patch: pytest.MonkeyPatch) -> None:
    combined = pr._combined
    patch.setattr(pr, "_combined", lambda target, own, copies, op: combined(target, own, copies - 1, op))


def a_copy_twice(patch: pytest.MonkeyPatch) -> None:
    combined = pr._combined

    def made(target: lp.Buffer, own: lp.Buffer, copies: int, op: str) -> list[lp.Stmt]:
        (loop,) = combined(target, own, copies, op)
        assert isinstance(loop, lp.For)
        return [dataclasses.replace(loop, low=poly(-1))]

    patch.setattr(pr, "_combined", made)


def combined_otherwise(patch: pytest.MonkeyPatch) -> None:
    combined = pr._combined
    patch.setattr(pr, "_combined", lambda target, own, copies, op: combined(target, own, copies, "max"))


def combined_in_any_order(patch: pytest.MonkeyPatch) -> None:
    combined = pr._combined
    patch.setattr(pr, "_combined", lambda *args: [dataclasses.replace(s, parallel=True) for s in combined(*args)])


def into_the_copy_of_another_part(patch: pytest.MonkeyPatch) -> None:
    made = pr._Redirected.__init__

    def init(self: Any, env: Any, own: Any, number: Any) -> None:
        made(self, env, own, number - number)

    patch.setattr(pr._Redirected, "__init__", init)


def rounds_of_a_part_in_any_order(patch: pytest.MonkeyPatch) -> None:
    made = pr._rounds
    patch.setattr(pr, "_rounds", lambda *args: [dataclasses.replace(s, parallel=True) if isinstance(s, lp.For) else s for s in made(*args)])


def not_begun(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pr, "_filled", lambda *args: [])


def a_copy_that_is_too_short(patch: pytest.MonkeyPatch) -> None:
    own = pr._own

    def made(target: lp.Buffer, copies: int) -> lp.Buffer:
        b = own(target, copies)
        return lp.Buffer(b.name, b.dtype, (b.extents[0], b.extents[1] - 1, *b.extents[2:]), "temp", b.reason, target.span)

    patch.setattr(pr, "_own", made)


def shifted_rounds(patch: pytest.MonkeyPatch) -> None:
    rounds = pr._rounds
    patch.setattr(pr, "_rounds", lambda loop, turns, part: rounds(loop, turns, dataclasses.replace(part, begin=part.begin + 1, end=part.end + 1)))


WRONG = [rounds_left_out, begun_with_something, a_copy_forgotten, a_copy_twice, combined_otherwise, combined_in_any_order, into_the_copy_of_another_part, rounds_of_a_part_in_any_order, not_begun, a_copy_that_is_too_short, shifted_rounds]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("f", [counts, weights, rows])
def test_wrong_private_copies(f: at.Function, wrong: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch)
    assert all(whys(f, "privatise"))


def unchecked(patch: pytest.MonkeyPatch) -> None:
    """The rounds of a block are made before they are checked."""
    made = pr._checked

    def late(*args: Any) -> list[lp.Stmt]:
        return [dataclasses.replace(s, body=[s.body[0], *s.body[2:], s.body[1]]) if isinstance(s, lp.For) else s for s in made(*args)]

    patch.setattr(pr, "_checked", late)


def blocks_that_are_not_checked(patch: pytest.MonkeyPatch) -> None:
    made = pr._checked
    patch.setattr(pr, "_checked", lambda loop, updates, checks, how, part: made(loop, updates, dataclasses.replace(checks, body=[*checks.body[:-1]]), how, part))


def places_of_another_round(patch: pytest.MonkeyPatch) -> None:
    made = pr._checked

    def other(*args: Any) -> list[lp.Stmt]:
        def moved(s: lp.Stmt) -> lp.Stmt:
            if isinstance(s, lp.Store) and s.buffer.name.startswith("place"):
                return dataclasses.replace(s, index=(poly(0),))
            return dataclasses.replace(s, body=[moved(x) for x in s.body]) if isinstance(s, lp.For) else s

        return [moved(s) for s in made(*args)]

    patch.setattr(pr, "_checked", other)


@pytest.mark.parametrize("wrong", [unchecked, blocks_that_are_not_checked, places_of_another_round])
def test_wrong_checks_of_blocks(wrong: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch)
    assert all(whys(places, "privatise"))


# -- windows


@at.fn
def smooth(u: f64[n, m]) -> f64[n, m]:
    x = [[(u[i - 1, j] + u[i, j] + u[i + 1, j]) / 3.0 if 0 < i and i < n - 1 else u[i, j] for j in range(m)] for i in range(n)]
    return [[(x[i - 1, j] + x[i, j] + x[i + 1, j]) / 3.0 if 0 < i and i < n - 1 else x[i, j] for j in range(m)] for i in range(n)]


@at.fn
def blurred(a: f64[n + 8, m + 8]) -> f64[n, m]:
    x = [[sum(a[i, j + r] for r in range(9)) / 9.0 for j in range(m)] for i in range(n + 8)]
    return [[sum(x[i + r, j] for r in range(9)) / 9.0 for j in range(m)] for i in range(n)]


@pytest.mark.parametrize("f", [smooth, blurred])
def test_a_window(f: at.Function) -> None:
    assert whys(f, "window") == [""]


def changed(patch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """What stands in a piece of the pieces that a window is made of."""
    joined = wd._joined

    def made(*args: Any) -> lp.Chunks:
        whole = joined(*args)
        (some,) = whole.body
        assert isinstance(some, lp.If)
        return dataclasses.replace(whole, body=[dataclasses.replace(some, then=change(list(some.then)))])

    patch.setattr(wd, "_joined", made)


def too_few_rows(patch: pytest.MonkeyPatch) -> None:
    joined = wd._joined

    def made(making: Any, reading: Any, found: wd.Pair, again: int) -> lp.Chunks:
        whole = joined(making, reading, found, again)
        assert found.array.rows is not None
        found.array.rows //= 2 if found.array.rows > found.last - found.first + 1 else 4
        return whole

    patch.setattr(wd, "_joined", made)


def begins_too_late(patch: pytest.MonkeyPatch) -> None:
    changed(patch, lambda body: [body[0], dataclasses.replace(body[1], low=body[1].low + 1), *body[2:]])


def ends_too_early(patch: pytest.MonkeyPatch) -> None:
    changed(patch, lambda body: [body[0], dataclasses.replace(body[1], high=body[1].high - 1), *body[2:]])


def begins_before(patch: pytest.MonkeyPatch) -> None:
    """With rows that are not there."""
    changed(patch, lambda body: [body[0], dataclasses.replace(body[1], low=body[1].low - 20), *body[2:]])


def rounds_left(patch: pytest.MonkeyPatch) -> None:
    changed(patch, lambda body: [*body[:2], dataclasses.replace(body[2], low=body[2].low + 1), body[3]])


def read_before_it_is_made(patch: pytest.MonkeyPatch) -> None:
    changed(patch, lambda body: [*body[:2], dataclasses.replace(body[2], body=[*body[2].body[1:], body[2].body[0]]), body[3]])


def made_no_more(patch: pytest.MonkeyPatch) -> None:
    changed(patch, lambda body: [*body[:2], dataclasses.replace(body[2], body=[*body[2].body[1:]]), body[3]])


def in_any_order(patch: pytest.MonkeyPatch) -> None:
    changed(patch, lambda body: [*body[:2], dataclasses.replace(body[2], parallel=True), body[3]])


def one_row_less(patch: pytest.MonkeyPatch) -> None:
    joined = wd._joined
    patch.setattr(wd, "_joined", lambda making, reading, found, again: joined(making, reading, dataclasses.replace(found, last=found.last - 1), again))


def of_another_row(patch: pytest.MonkeyPatch) -> None:
    joined = wd._joined

    def made(making: Any, reading: Any, found: wd.Pair, again: int) -> lp.Chunks:
        loop = making.body[0]
        moved = wd.Copier({loop.sym: poly(loop.sym)}).stmts(loop.body)
        return joined(dataclasses.replace(making, body=[dataclasses.replace(loop, body=[_raised(s) for s in moved])]), reading, found, again)

    patch.setattr(wd, "_joined", made)


def _raised(s: lp.Stmt) -> lp.Stmt:
    if isinstance(s, lp.Store):
        return dataclasses.replace(s, index=(s.index[0] + 1, *s.index[1:]))
    return dataclasses.replace(s, body=[_raised(x) for x in s.body]) if isinstance(s, (lp.For, lp.Accumulate)) else s


@pytest.mark.parametrize("wrong", [too_few_rows, begins_too_late, ends_too_early, begins_before, rounds_left, read_before_it_is_made, made_no_more, in_any_order, one_row_less, of_another_row])
@pytest.mark.parametrize("f", [smooth, blurred])
def test_wrong_windows(f: at.Function, wrong: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch)
    assert all(whys(f, "window"))


def unguarded(patch: pytest.MonkeyPatch) -> None:
    """Rows that are not there are made at the edges."""
    changed(patch, lambda body: [body[0], dataclasses.replace(body[1], body=body[1].body[0].then), *body[2:]])


def test_rows_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    unguarded(monkeypatch)
    assert all(whys(smooth, "window"))
