"""Loops over loops as rows of columns (transform/table.py): names, totals and elements of a row; what rows become leaves the same memory, what would not is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from atoll.loops import ir as lp
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.skew import Rows, skewed
from atoll.loops.transform.table import read_first, table, totalled
from atoll.sizes import Sym, poly
from atoll.types.dtypes import F64, I64, DType
from tests.loops.machine import same
from tests.loops.test_families import add, at, over, put, why

n, i, j = (Sym(name) for name in "nij")
a, row = (lp.Buffer(name, I64, (poly(n),), "temp") for name in ("a", "row"))
told = lp.Buffer("told", I64, (poly(n),), "temp")
x, v = lp.Var("x", I64), lp.Var("v", I64)
best, mine, again = (lp.Var(name, I64) for name in ("best", "mine", "again"))


def use(var: lp.Var) -> lp.Expr:
    return lp.Use(var)


def larger(one: lp.Expr, other: lp.Expr, dtype: DType = I64) -> lp.Expr:
    return lp.Call("max", (one, other), dtype)


CELL: list[lp.Stmt] = [lp.Let(x, larger(at(row, j), at(a, i))), put(row, (j,), use(x))]
TAKE = lp.Assign(mine, larger(use(mine), use(x)))
START, END = lp.Declare(mine, use(best)), lp.Assign(best, use(mine))


def whole(*after: lp.Stmt, before: tuple[lp.Stmt, ...] = (START,), cell: tuple[lp.Stmt, ...] = (*CELL, TAKE)) -> lp.For:
    return over(i, 0, n, *before, over(j, 0, n, *cell), *after)


def test_a_total_of_the_whole_table() -> None:
    loop = whole(END)
    rows = table(loop)
    assert isinstance(rows, Rows) and isinstance(rows.inner, lp.For)
    found = totalled(rows)
    assert not isinstance(found, Refused)
    rest, totals = found
    assert totals == {mine: (best, "max")} and list(rest.before) == [] and list(rest.after) == []
    bands = skewed(read_first(rest), totals, 2)
    assert not isinstance(bands, Refused)
    first, last = lp.Declare(best, lp.Const(2, I64)), put(told, (0,), use(best))
    for size in (1, 2, 3, 4, 7):
        given = {a: np.arange(size)[::-1].copy(), row: np.arange(size) % 3, told: np.zeros(size, "i8")}
        assert same([first, loop, last], [first, *bands, last], given, {n: size})


def test_a_total_with_another_name() -> None:
    rows = table(whole(lp.Let(again, use(mine)), lp.Assign(best, use(again))))
    assert isinstance(rows, Rows) and not isinstance(found := totalled(rows), Refused)
    assert found[1] == {mine: (best, "max")} and list(found[0].after) == []


@pytest.mark.parametrize(
    "loop",
    [
        whole(),  # rows leave nothing, and yet begin with it: a cell's own variable
        whole(END, put(told, (i,), use(mine))),  # somebody reads a row's
        whole(END, put(told, (i,), use(best))),  # or that of the table
        whole(END, cell=(*CELL, lp.Assign(mine, lp.Call("sub", (use(mine), use(x)), I64)))),  # not in any order
        whole(END, cell=(*CELL, TAKE, put(told, (j,), use(mine)))),
        whole(END, before=(START, lp.Assign(mine, lp.Const(3, I64)))),
        whole(END, before=()),  # it does not begin with what there was
        whole(lp.Assign(again, use(mine)), put(told, (i,), use(again)), END, before=(START, lp.Declare(again, lp.Const(0, I64)), lp.Assign(again, use(v)))),
    ],
)
def test_what_is_no_total(loop: lp.For) -> None:
    rows = table(loop)
    assert isinstance(rows, Rows)
    found = totalled(rows)
    assert isinstance(found, Refused) or found[1] == {}


def test_totals_of_floats_keep_their_order() -> None:
    total, own = lp.Var("total", F64), lp.Var("own", F64)
    f = lp.Buffer("f", F64, (poly(n),), "temp")
    cell = over(j, 0, n, lp.Assign(own, add(use(own), at(f, j))))
    rows = table(over(i, 0, n, lp.Declare(own, use(total)), cell, lp.Assign(total, use(own))))
    assert isinstance(rows, Rows)
    assert "no total" in why(totalled(rows))


def test_names_and_elements_of_a_row() -> None:
    """A variable that is assigned once is a name; what is the same in all columns is read once, before them."""
    loop = whole(cell=(lp.Declare(v, lp.Const(0, I64)), lp.Assign(v, at(a, i)), put(row, (j,), larger(at(row, j), use(v)))), before=())
    rows = table(loop)
    assert isinstance(rows, Rows) and [type(s) for s in rows.cell] == [lp.Let, lp.Store]
    found = read_first(rows)
    (let,) = found.before
    first = found.cell[0]
    assert isinstance(let, lp.Let) and let.value == at(a, i) and isinstance(first, lp.Let) and first.value == use(let.var)
    kept = whole(cell=(lp.Let(v, at(a, i)), put(a, (j,), at(row, j)), lp.Let(x, at(row, poly(v.atom)))), before=())
    rows = table(kept)
    assert isinstance(rows, Rows) and read_first(rows).before == []  # written by cells; moved by the column; placed by a cell


def test_what_is_no_table() -> None:
    inner = over(j, 0, n, *CELL)
    assert "loop in order" in why(table(over(i, 0, n, inner, over(j, 0, n, *CELL))))
    assert "loop in order" in why(table(over(i, 0, n, *CELL)))
    assert "loop in order" in why(table(over(i, 0, n, replace(inner, parallel=True))))
    assert "depends on the row" in why(table(over(i, 0, n, over(j, 0, i, *CELL))))
    assert "compute and store" in why(table(over(i, 0, n, over(j, 0, n, lp.If((lp.Test("ge", poly(i)),), CELL)))))
