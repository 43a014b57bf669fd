"""Elements read before a loop (transform/read_first.py), operands in another order (transform/regroup.py),
rows and columns that are made where they are copied to (transform/made_in_place.py): what is made leaves the same memory, what would not is refused and says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from atoll.ainf.ir import Site
from atoll.errors import NOWHERE
from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.loops.transform.made_in_place import InPlace, columns_in_place, row_in_place
from atoll.loops.transform.read_first import ReadFirst, read_first
from atoll.loops.transform.regroup import waiting_last
from atoll.sizes import Sym, poly
from atoll.types.dtypes import F64, I64, DType
from tests.loops.machine import left, same
from tests.loops.test_families import at, over, put, why

n, i, j = (Sym(name) for name in "nij")
x, y = (lp.Buffer(name, F64, (poly(n),), "temp") for name in "xy")
w, u = (lp.Buffer(name, I64, (poly(n),), "temp") for name in "wu")
k, v = lp.Var("k", I64), lp.Var("v", I64)


def test_elements_that_are_the_same_in_every_round() -> None:
    read = lp.Let(k, at(w, 0))
    loop = over(j, 0, n, read, put(y, (j,), at(x, poly(k.atom))))
    found = read_first(loop, lambda s: True)
    assert isinstance(found, ReadFirst) and found.read == [k]
    for size in (0, 1, 4):  # of no rounds nothing is read
        given = {x: np.arange(float(size)), y: np.zeros(size), w: np.zeros(size, "i8")}
        assert same([loop], found.stmts, given, {n: size})
    refused = "no element"
    assert refused in why(read_first(loop, lambda s: False))
    assert refused in why(read_first(over(j, 0, n, lp.Let(k, at(w, j))), lambda s: True))  # another one in every round
    assert refused in why(read_first(over(j, 0, n, read, lp.Store(w, (poly(j),), lp.Const(0, I64))), lambda s: True))  # which a round writes
    data = lp.Let(k, at(w, poly(v.atom)))
    assert refused in why(read_first(over(j, 0, n, data, lp.Assign(v, lp.Use(k))), lambda s: True))  # whose place a round changes
    assert refused in why(read_first(over(j, 0, n, put(y, (j,), at(x, j)), read), lambda s: True))  # it may never come to it
    assert "not everything" in why(read_first(over(j, 0, n, read, lp.Swap(w, w)), lambda s: True))
    assert "scan" in why(read_first(lp.For(j, poly(0), poly(n), [read], False, scan=True), lambda s: True))


def least(*of: lp.Expr, dtype: DType = I64) -> lp.Expr:
    first, *rest = of
    return first if not rest else lp.Call("min", (least(*of[:-1], dtype=dtype), of[-1]), dtype)


def test_what_a_round_waits_for_comes_last() -> None:
    step = lp.Index(poly(k.atom) + 1)
    loop = over(j, 0, n, lp.Assign(k, least(step, at(w, j), at(w, j))), lp.Store(u, (poly(j),), lp.Use(k)))
    found = waiting_last(loop)
    assert isinstance(found, lp.For) and found.body[0] == lp.Assign(k, least(at(w, j), at(w, j), step))
    start = lp.Declare(k, lp.Const(7, I64))
    assert same([start, loop], [start, found], {w: np.array([3, 9, 1, 4]), u: np.zeros(4, "i8")}, {n: 4})
    assert "last already" in why(waiting_last(found))
    floats = lp.Var("f", F64)
    nan_and_zero = lp.Assign(floats, least(lp.Use(floats), at(x, j), at(y, j), dtype=F64))
    assert "have an order" in why(waiting_last(over(j, 0, n, nan_and_zero)))
    assert "no round waits" in why(waiting_last(over(j, 0, n, lp.Let(k, at(w, j)), lp.Store(u, (poly(j),), lp.Use(k)))))
    assert "does not wait" in why(waiting_last(over(j, 0, n, *loop.body, parallel=True)))


table, columns = (lp.Buffer(name, F64, (poly(n), poly(n)), "temp") for name in ("table", "columns"))
result = lp.Buffer("result", F64, (poly(n), poly(n)), "out")
FILL = over(i, 0, n, put(y, (i,), at(x, i)))
MORE = over(i, 0, n, put(y, (i,), lp.Call("add", (at(y, i), at(x, j)), F64)))
COPY = over(i, 0, n, put(table, (j, i), at(y, i)))
PLACE_IS_THERE = lp.Check((lp.Test("ge", poly(n) - poly(j) - 1),), Site("E0703", NOWHERE, {}), ())
ROWS: list[tuple[list[lp.Stmt], str | None]] = [
    ([FILL, MORE, COPY], None),
    ([PLACE_IS_THERE, FILL, COPY], None),
    ([lp.Alloc(y), MORE, COPY, lp.Free(y)], None),
    ([MORE, COPY], "another one left"),
    ([FILL, PLACE_IS_THERE, COPY], "after the row is begun"),
    ([FILL, lp.BreakUnless((lp.Test("ge", poly(n)),)), COPY], "may end before"),
    ([FILL, over(i, 0, n, put(x, (i,), at(table, 0, i))), COPY], "know the array"),
    ([FILL, COPY, over(i, 0, n, put(x, (i,), at(y, i)))], "know the row"),
    ([FILL, lp.Swap(x, y), COPY], "as a whole"),
    ([FILL, lp.Assign(k, lp.Index(poly(i))), over(i, 0, n, put(table, (poly(k.atom), i), at(y, i)))], "another one before"),
    ([FILL, over(i, 0, poly(n) - 1, put(table, (j, i), at(y, i)))], "copies no row"),
]


@pytest.mark.parametrize(("block", "reason"), ROWS)
def test_rows_are_made_where_they_are_copied_to(block: list[lp.Stmt], reason: str | None) -> None:
    place = next(at for at, s in enumerate(block) if isinstance(s, lp.For) and isinstance(store := s.body[0], lp.Store) and store.buffer is table)
    found = row_in_place(block, place, mentions(block))
    if reason is not None:
        assert reason in why(found)
        return
    assert isinstance(found, InPlace) and mentions(found.stmts)[y] == 0
    if not isinstance(block[0], lp.Alloc):
        given = {table: None, x: np.arange(1.0, 4.0), y: np.zeros(3)}
        assert left([over(j, 0, n, *block)], given, {n: 3})["table"] == left([over(j, 0, n, *found.stmts)], given, {n: 3})["table"]
    assert "know the row" in why(row_in_place(block, place, mentions([block, block])))


def running(value: lp.Expr) -> lp.Chunks:
    """A column in every round."""
    pieces = lp.Chunks(Sym("lo"), Sym("hi"), poly(n), poly(1), [])
    return replace(pieces, body=[over(i, pieces.low, pieces.high, over(j, 0, n, put(columns, (i, j), value)), parallel=True)])


def test_columns_are_made_where_they_are_copied_to() -> None:
    pieces = lp.Chunks(Sym("from"), Sym("to"), poly(n), poly(1), [])
    copy = replace(pieces, body=[over(i, pieces.low, pieces.high, over(j, 0, n, put(result, (i, j), at(columns, j, i)), parallel=True), parallel=True)])
    stmts = [lp.Alloc(columns), running(at(table, j, i)), copy, lp.Free(columns)]
    found = columns_in_place(stmts, 2)
    assert isinstance(found, InPlace) and len(found.stmts) == 1
    given = {table: np.arange(9.0).reshape(3, 3), result: None}
    assert same(stmts, found.stmts, given, {n: 3})
    assert "no columns" in why(columns_in_place(stmts, 1))
    assert "others know" in why(columns_in_place([*stmts, over(i, 0, n, put(x, (i,), at(columns, i, i)))], 2))
    assert "one place" in why(columns_in_place([stmts[0], *stmts[1:2] * 2, *stmts[2:]], 3))
    assert "next to" in why(columns_in_place([stmts[0], running(at(table, i, j)), *stmts[2:]], 2))
