"""The large transformations (transform/look_back.py, update_once.py, cut_at_turns.py, cut_at_tests.py,
in_variables.py, side_by_side.py, recurrences.py, tile.py, until_all_end.py, window.py, sums_of_sums.py, parts.py):
what is made leaves the same memory, by the checked executor and in every order that it allows; what would not is
refused, and says why."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.loops.transform.cut_at_tests import signed, spelled, sum_in_parts, sum_where_tests_hold, without_tests
from atoll.loops.transform.cut_at_turns import at_edges, at_turns
from atoll.loops.transform.in_variables import InVariables, in_variables
from atoll.loops.transform.jam import row_updates
from atoll.loops.transform.look_back import Blocks, Sizes, rounds_together
from atoll.loops.transform.parts import in_parts
from atoll.loops.transform.recurrences import Limits, in_every_lane, recurrences
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.row_sums import looking_back
from atoll.loops.transform.side_by_side import side_by_side, with_sums
from atoll.loops.transform.sums_of_sums import sums_of_sums
from atoll.loops.transform.tile import tiled
from atoll.loops.transform.until_all_end import ending, until_all_end
from atoll.loops.transform.update_once import update_behind, updated_once
from atoll.loops.transform.window import in_window, pair
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, F64, I64
from tests.loops.machine import left, same

n, i, j, r, p = (Sym(name) for name in "nijrp")
x, y = (lp.Buffer(name, F64, (poly(n), poly(n)), "temp") for name in "xy")
row, total = lp.Buffer("row", F64, (poly(n),), "temp"), lp.Var("s", F64)
rng = np.random.default_rng(5)


def given(size: int) -> dict[lp.Buffer, np.ndarray | None]:
    return {b: np.asarray(rng.integers(1, 5, [size] * len(b.extents)), dtype=float) for b in (x, y, row)}


def made(found: object) -> lp.Stmts:
    assert not isinstance(found, Refused), found.why
    return found  # type: ignore[return-value]


def why(found: object) -> str:
    assert isinstance(found, Refused)
    return found.why


def over(sym: Sym, low: Poly | int, high: Poly | int, *body: lp.Stmt, parallel: bool = False) -> lp.For:
    return lp.For(sym, poly(low), poly(high), list(body), parallel)


def at(b: lp.Buffer, *index: Poly | Sym | int) -> lp.Load:
    return lp.Load(b, tuple(map(poly, index)))


def put(b: lp.Buffer, index: tuple[Poly | Sym | int, ...], value: lp.Expr) -> lp.Store:
    return lp.Store(b, tuple(map(poly, index)), value)


def mul(a: lp.Expr, b: lp.Expr) -> lp.Expr:
    return lp.Call("mul", (a, b), F64)


def add(a: lp.Expr, b: lp.Expr) -> lp.Expr:
    return lp.Call("add", (a, b), F64)


def summed(high: Poly | int, value: lp.Expr, low: Poly | int = 0, exact: bool = False) -> lp.Accumulate:
    return lp.Accumulate(r, poly(low), poly(high), [lp.Add(total, "add", value)], [lp.Acc(total, "add")], exact)


def agree(before: lp.Stmts, after: lp.Stmts, sizes: tuple[int, ...] = (0, 1, 2, 3, 5, 8, 13)) -> None:
    for size in sizes:
        assert same(before, after, given(size), {n: size}), size


# -- loops that look back

SIZES = Sizes(4, 2, 2, 4)


def factor(read: lp.Load, low: Poly | int = 0, exact: bool = False) -> lp.For:
    """for in order j:  for i in j + 1..n:  x[i, j] = x[i, j] + sum over r in low..j of x[i, r] * read"""
    inner = summed(poly(j), mul(at(x, i, r), read), low, exact)
    return over(j, 0, n, over(i, poly(j) + 1, n, inner, put(x, (i, j), add(at(x, i, j), lp.Use(total))), parallel=True))


def blocks(loop: lp.For) -> lp.Stmts | Refused:
    found = looking_back(loop, (poly(n),))
    if isinstance(found, Refused):
        return found
    together = rounds_together(found, SIZES, False, (poly(n),))
    return together.loops() if isinstance(together, Blocks) else together


def test_rounds_that_look_back() -> None:
    agree([factor(at(x, j, r))], made(blocks(factor(at(x, j, r)))))
    assert "rounds in order" in why(blocks(replace(factor(at(x, j, r)), parallel=True)))
    assert "no rows" in why(blocks(over(j, 0, n, put(row, (j,), at(x, j, j)))))
    assert "different rows" in why(blocks(factor(at(x, poly(i) - 1, r))))
    assert "no rows" in why(blocks(factor(at(x, j, r), low=j, exact=True)))  # its first terms would be left


# -- eliminations


def elimination(value: lp.Expr, low: Poly | int = 1) -> lp.For:
    rows = over(i, poly(p) + low, n, over(j, poly(p) + 1, n, put(x, (i, j), value)))
    return over(p, 0, n, over(r, poly(p) + 1, n, put(x, (r, p), add(at(x, r, p), at(x, p, p)))), rows)


def together(loop: lp.For) -> lp.Stmts | Refused:
    found = update_behind(loop)
    return found if isinstance(found, Refused) else updated_once(found, 3, 1, ())


def test_updates_of_several_rounds_at_once() -> None:
    usual = elimination(add(at(x, i, j), mul(at(x, i, p), at(x, p, j))))
    agree([usual], made(together(usual)))
    assert "one further" in why(together(replace(usual, body=[usual.body[0], replace(usual.body[1], low=poly(1))])))  # type: ignore[type-var]
    assert "updated behind" in why(together(elimination(add(at(x, i, j), at(x, poly(n) - 1, j)))))
    assert "in order" in why(together(replace(usual, parallel=True)))
    assert "does not end with rows" in why(together(over(p, 0, n, put(row, (p,), at(x, p, p)))))


# -- ranges cut where indices turn


def test_ranges_are_cut_where_indices_turn() -> None:
    turning = over(i, 0, n, put(row, (i,), at(x, i, (poly(i) + 2) % poly(n))), parallel=True)
    agree([turning], made(at_turns(turning, 4)))
    assert "independent" in why(at_turns(replace(turning, parallel=False), 4))
    assert "too much" in why(at_turns(turning, 0))
    assert "loops or checks" in why(at_turns(over(i, 0, n, turning, parallel=True), 4))
    k = lp.Var("k", I64)
    edge = lp.Let(k, lp.Call("max", (lp.Index(poly(i) - 1), lp.Index(poly(0))), I64))
    stopping = over(i, 0, n, edge, put(row, (i,), at(x, i, poly(k.atom))), parallel=True)
    agree([stopping], made(at_edges(stopping, 4)))
    assert "stops at an edge" in why(at_edges(turning, 4))
    exact = summed(poly(n), at(x, 0, (poly(r) + 2) % poly(n)), exact=True)
    assert "made in parts" in why(at_turns(exact, 4))


# -- ranges cut where tests change


def chosen(*tests: Poly, kind: str = "ge") -> lp.Expr:
    return lp.Choose(tuple(lp.Test(kind, t) for t in tests), at(x, i, j), at(y, i, j))


def test_ranges_are_cut_where_tests_change() -> None:
    for value in (chosen(poly(j) - 1), chosen(poly(j) - 1, poly(i) - 2), chosen(poly(n) - poly(j) - 3, poly(j) - poly(i))):
        loop = over(j, 0, n, put(row, (j,), value))
        around = over(i, 0, n, loop)
        agree([around], [replace(around, body=made(without_tests(loop, (poly(i), poly(n) - poly(i) - 1))))])
    loop = over(j, 0, n, put(row, (j,), chosen(poly(j) * 2 - poly(i))))
    assert "no test" in why(without_tests(loop, ()))  # it moves by two
    assert "there are loops" in why(without_tests(over(i, 0, n, loop), ()))
    assert "scheduled" in why(without_tests(replace(loop, vector=4), ()))
    equal = over(j, 0, n, put(row, (j,), chosen(poly(j), kind="eq")))
    assert "1 >= 0" not in repr(signed(equal, ())) and not isinstance(without_tests(signed(equal, ()), ()), Refused)


def test_conditions_by_name_are_decided_with_their_tests() -> None:
    """x = i <= 0 and j <= 0 is false where one of the two is; and a test that holds at an end only is false inside."""
    edge, corner = lp.Var("edge", BOOL), lp.Var("corner", BOOL)
    for kind in ("true", "false"):
        body = [
            lp.Let(edge, lp.Truth((lp.Test("ge", -poly(i)),))),
            lp.Let(corner, lp.Call("and", (lp.Use(edge), lp.Truth((lp.Test("ge", -poly(j)),))), BOOL)),
            put(row, (j,), lp.Choose((lp.Test(kind, None, lp.Use(corner)),), at(x, i, j), at(y, i, j))),
        ]
        loop = over(j, 0, n, *body)
        known = (poly(i), poly(n) - poly(i) - 1)
        parts = made(without_tests(spelled(loop), known))  # type: ignore[arg-type]
        agree([over(i, 0, n, loop)], [over(i, 0, n, *parts)])
        assert isinstance(parts[0], lp.If) and [t.poly for t in parts[0].tests] == [poly(i) - 1]
        assert not any(isinstance(e, lp.Choose) for s in lp.walk(parts[0].then) if isinstance(s, lp.Store) for e in [s.value])


def test_sums_are_cut_where_tests_change() -> None:
    part = lp.Choose((lp.Test("ge", poly(r) - 2),), at(x, 0, r), at(y, 0, r))
    kept = lp.Choose((lp.Test("ge", poly(n) - poly(r) - 3),), at(x, 0, r), lp.Const(0.0, F64))
    for value, way in ((part, sum_in_parts), (kept, sum_where_tests_hold)):
        around = over(i, 0, n, summed(poly(n), value), put(row, (i,), lp.Use(total)))
        agree([around], [replace(around, body=[*made(way(summed(poly(n), value), ())), around.body[1]])])
    assert "made in parts" in why(sum_in_parts(summed(poly(n), part, exact=True), ()))
    assert "in common" in why(sum_where_tests_hold(summed(poly(n), part), ()))


# -- arrays in variables

SMALL = lp.Buffer("small", F64, (poly(2),), "temp")


def test_arrays_whose_elements_have_numbers() -> None:
    body = [put(SMALL, (0,), at(x, i, 0)), put(SMALL, (1,), at(SMALL, 0)), put(row, (i,), at(SMALL, 1))]
    loop = [lp.Alloc(SMALL), over(i, 0, n, *body, parallel=True), lp.Free(SMALL)]
    found = in_variables(loop, lambda b: b is SMALL)
    assert isinstance(found, InVariables) and found.arrays == [SMALL] and not mentions(found.stmts)[SMALL]
    agree(loop, found.stmts)
    unknown = [lp.Alloc(SMALL), over(i, 0, 2, put(SMALL, (i,), at(x, i, 0))), lp.Free(SMALL)]
    shared = [
        lp.Alloc(SMALL),
        put(SMALL, (0,), at(x, 0, 0)),
        over(i, 0, n, put(SMALL, (0,), at(x, i, 0)), parallel=True),
        put(row, (0,), at(SMALL, 0)),
        lp.Free(SMALL),
    ]
    for kept in (unknown, shared):
        assert "known by the numbers" in why(in_variables(kept, lambda b: True))
    assert "known by the numbers" in why(in_variables(loop, lambda b: False))


# -- rounds side by side


def test_rounds_with_sums_side_by_side() -> None:
    loop = over(i, 0, n, summed(poly(n), at(x, r, i)), put(row, (i,), lp.Use(total)), parallel=True)
    agree([loop], side_by_side(made(with_sums(loop)), 4, 3))  # type: ignore[arg-type]
    assert "another range" in why(
        with_sums(over(i, 0, n, summed(poly(i), at(x, r, i)), put(row, (i,), lp.Use(total)), parallel=True))
    )
    assert "independent" in why(with_sums(replace(loop, parallel=False)))
    assert "no sums" in why(with_sums(over(i, 0, n, put(row, (i,), at(x, i, i)), parallel=True)))
    assert "more than sums" in why(with_sums(over(i, 0, n, *loop.body[:1], put(row, (0,), lp.Use(total)), parallel=True)))


@pytest.mark.parametrize("along", [False, True])
def test_recurrences_side_by_side(along: bool) -> None:
    step = put(x, (poly(j) + 1, i), add(at(x, j, i), at(y, j, i)))
    loop = over(i, 0, n, over(j, 0, poly(n) - 1, step), parallel=True)
    everywhere: Counter[lp.Buffer] = mentions([loop])
    found = recurrences(loop, everywhere)
    assert not isinstance(found, Refused)
    agree([loop], in_every_lane(found, 4, along, Limits(2, 1 << 20)))
    assert "independent" in why(recurrences(replace(loop, parallel=False), everywhere))
    shared = over(i, 0, n, over(j, 0, poly(n) - 1, put(row, (poly(j) + 1,), at(row, j))), parallel=True)
    assert "share" in why(recurrences(shared, mentions([shared, put(row, (0,), at(x, 0, 0))])))
    uneven = over(i, 0, n, over(j, 0, i, step), parallel=True)
    assert "same ranges" in why(recurrences(uneven, everywhere))


# -- tiles, loops that end when they like, windows, sums in parts


def test_tiles() -> None:
    inner = over(j, 1, n, put(y, (i, j), at(x, j, i)), parallel=True)
    loop = over(i, 0, n, inner, parallel=True)
    agree([loop], made(tiled(loop, inner, 4, 2)), (2, 3, 5, 8, 13))
    assert "independent" in why(tiled(replace(loop, parallel=False), inner, 4, 2))
    assert "another range" in why(tiled(replace(loop, body=[short := replace(inner, high=poly(i))]), short, 4, 2))
    assert "more in the outer loop" in why(tiled(replace(loop, body=[put(row, (i,), at(x, i, i)), inner]), inner, 4, 2))


def ends(step: lp.Expr, stored: lp.Buffer = row) -> lp.For:
    """for i:  s = x[i, 0];  forever: break unless s - 20 < 0;  s = step;   stored[i] = s"""
    until = lp.BreakUnless((lp.Test("true", None, lp.Call("lt", (lp.Use(total), lp.Const(20.0, F64)), BOOL)),))
    return over(
        i,
        0,
        n,
        lp.Declare(total, at(x, i, 0)),
        lp.Forever([until, lp.Assign(total, step)]),
        put(stored, tuple([i] * len(stored.extents)), lp.Use(total)),
        parallel=True,
    )


def test_rounds_that_end_when_they_like() -> None:
    loop = ends(add(lp.Use(total), at(x, i, 0)))
    agree([loop], until_all_end(made(ending(loop, ())), 4, 2, ()))  # type: ignore[arg-type]
    assert "seen to be there" in why(ending(ends(add(lp.Use(total), at(x, i, poly(i) + 1))), ()))
    assert "what rounds store" in why(ending(ends(add(lp.Use(total), at(x, i, 0)), x), ()))
    assert "once" in why(ending(replace(loop, parallel=False), ()))


def rows_of(extent: Poly, body: lp.Stmt) -> lp.Chunks:
    low, high = Sym("lo"), Sym("hi")
    return lp.Chunks(low, high, extent, poly(1), [lp.For(i, poly(low), poly(high), [body], True)])


def test_a_window_of_rows() -> None:
    kept = lp.Buffer("kept", F64, (poly(n), poly(n)), "temp")
    making = rows_of(poly(n), over(j, 0, n, put(kept, (i, j), add(at(x, i, j), lp.Const(1.0, F64)))))
    reading = rows_of(poly(n) - 2, over(r, 0, n, put(y, (i, r), add(at(kept, i, r), at(kept, poly(i) + 2, r)))))
    block = [lp.Alloc(kept), making, reading, lp.Free(kept)]
    assert "too many" in why(pair(block, 1, 2)) and "no two loops" in why(pair(block, 2, 8))
    assert "for the two alone" in why(pair([*block, put(row, (0,), at(kept, 0, 0))], 1, 8))
    expected = [left(block, given_, {n: size}) for size in (2, 3, 5, 8) for given_ in [fixed(size)]]
    found = pair(block, 1, 8)
    assert not isinstance(found, Refused) and (found.first, found.last) == (0, 2)
    joined = in_window(block, 1, found, 4)
    assert [left(joined, fixed(size), {n: size}) for size in (2, 3, 5, 8)] == expected and kept.rows == 4


def fixed(size: int) -> dict[lp.Buffer, np.ndarray | None]:
    return {b: np.arange(size ** len(b.extents), dtype=float).reshape([size] * len(b.extents)) for b in (x, y, row)}


def test_sums_of_sums() -> None:
    loop = over(i, 0, n, over(j, 0, n, lp.Update(row, (poly(j),), "add", at(x, i, j)), parallel=True))
    found = row_updates(loop)
    assert not isinstance(found, Refused)
    agree([loop], made(sums_of_sums(found, 2)))
    fewer = row_updates(replace(loop, body=[replace(loop.body[0], high=poly(n) - 2)]))  # type: ignore[type-var]
    assert "fewer than none" in why(sums_of_sums(fewer, 2)) and made(sums_of_sums(fewer, 2, (poly(n) - 2,)))  # type: ignore[arg-type]
    least = row_updates(replace(loop, body=[replace(loop.body[0], body=[lp.Update(row, (poly(j),), "min", at(x, i, j))])]))  # type: ignore[type-var]
    assert "else than sums" in why(sums_of_sums(least, 2))  # type: ignore[arg-type]


def test_sums_in_parts_of_the_rows() -> None:
    low, high = Sym("lo"), Sym("hi")
    columns = lp.For(j, poly(low), poly(high), [lp.Update(row, (poly(j),), "add", at(x, r, j))], True)
    whole = lp.Chunks(low, high, poly(n), poly(1), [over(r, 0, n, columns)])
    found = in_parts(whole, 3)
    assert not isinstance(found, Refused) and not found.tests
    agree([whole], found.made)
    read = replace(columns, body=[lp.Update(row, (poly(j),), "add", at(row, j))])
    for loops in (
        [over(r, 0, n, read)],
        [over(r, 0, n, columns), over(p, 0, n, columns)],
        [over(r, 0, n, replace(columns, high=poly(n)))],
    ):
        assert "no loop over rows" in why(in_parts(replace(whole, body=loops), 3))
    assert "added up" in why(in_parts(replace(whole, accs=[lp.Acc(total, "add")]), 3))
