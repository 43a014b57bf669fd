"""Values sorted instead of their places (transform/sorted_instead.py), and answers in blocks (transform/until_settled.py): what is made leaves the same memory, what would not is
refused and says why."""

from __future__ import annotations

import numpy as np
import pytest

from atoll.ainf.ir import Site
from atoll.errors import NOWHERE
from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.loops.transform.sorted_instead import Sorted, keys_in_place, values_in_place, values_sorted
from atoll.loops.transform.until_settled import until_settled
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, F64, I8, I64
from tests.loops.machine import same
from tests.loops.test_families import add, at, made, mul, over, put, why

n, i, j = (Sym(name) for name in "nij")
x, y, z, s = (lp.Buffer(name, F64, (poly(n),), "temp") for name in "xyzs")
table = lp.Buffer("table", F64, (poly(n), poly(n)), "temp")
o = lp.Buffer("o", I64, (poly(n),), "temp")
k, row = lp.Var("k", I64), lp.Var("row", I64)
GIVEN = {x: np.array([3.0, 1.0, 2.0, 1.0]), y: np.zeros(4), z: np.arange(4.0)}


def argsort(keys: lp.Buffer = x, *row: Poly | int) -> lp.Helper:
    return lp.Helper("argsort", ((keys, tuple(map(poly, (*row, 0)))), (o, (poly(0),))), (poly(n),))


def place(index: Poly | Sym | int) -> lp.Let:
    return lp.Let(k, at(o, index))


ELEMENT = at(x, poly(k.atom))
SORTED: list[list[lp.Stmt]] = [
    [over(i, 0, n, place(i), put(y, (i,), ELEMENT))],
    [over(i, 0, n, place(poly(n) - 1 - i), put(y, (i,), add(mul(ELEMENT, ELEMENT), at(x, i))))],
    [over(i, 0, n, place(i), put(y, (i,), ELEMENT)), over(i, 0, n, put(x, (i,), lp.Const(0.0, F64)))],  # changed behind the last of them
    [lp.Declare(row, lp.Const(0, I64)), over(i, 0, n, lp.Assign(row, lp.Index(poly(i))), place(poly(row.atom)), put(y, (i,), ELEMENT))],
]
LEFT: list[tuple[list[lp.Stmt], str]] = [
    ([], "more than elements"),
    ([over(i, 0, n, put(y, (i,), at(z, i))), lp.Swap(o, o)], "more than elements"),
    ([over(i, 0, n, place(i), put(y, (i,), at(z, poly(k.atom))))], "used for more"),
    ([over(i, 0, n, place(i), put(y, (poly(k.atom),), ELEMENT))], "used for more"),
    ([over(i, 0, n, place(i), put(y, (i,), at(x, poly(k.atom) * 0 + k.atom + 1 - 1)), put(z, (i,), at(x, poly(n) - 1 - k.atom)))], "used for more"),
    ([over(i, 0, n, place(i), put(y, (i,), ELEMENT), put(x, (i,), lp.Const(0.0, F64)))], "changes before"),
    ([lp.CopyBuffer(x, z), over(i, 0, n, place(i), put(y, (i,), ELEMENT))], "changes before"),
    (
        [lp.Declare(row, lp.Const(0, I64)), over(i, 0, n, place(poly(row.atom)), lp.Assign(row, lp.Index(poly(row.atom) + 1)), put(y, (i,), ELEMENT))],
        "another place",
    ),
]


@pytest.mark.parametrize("after", SORTED)
def test_values_are_sorted_instead_of_their_places(after: list[lp.Stmt]) -> None:
    stmts = [lp.Alloc(o), argsort(), *after, lp.Free(o)]
    found = values_sorted(stmts, stmts[1])  # type: ignore[arg-type]
    assert isinstance(found, Sorted) and mentions(found.stmts)[o] == 0 and found.sort.name == "sort"
    assert same(stmts, found.stmts, GIVEN, {n: 4})


@pytest.mark.parametrize(("after", "reason"), LEFT)
def test_places_that_are_wanted(after: list[lp.Stmt], reason: str) -> None:
    stmts = [lp.Alloc(o), argsort(), *after, lp.Free(o)]
    assert reason in why(values_sorted(stmts, stmts[1]))  # type: ignore[arg-type]


def test_places_of_a_row_that_is_another_one_meanwhile() -> None:
    read = over(i, 0, n, place(i), put(y, (i,), at(table, poly(row.atom), poly(k.atom))))
    first: list[lp.Stmt] = [lp.Declare(row, lp.Const(0, I64)), lp.Alloc(o), argsort(table, poly(row.atom))]
    stmts = [*first, read, lp.Free(o)]
    found = values_sorted(stmts, stmts[2])  # type: ignore[arg-type]
    assert isinstance(found, Sorted)
    assert same(stmts, found.stmts, {table: np.array([[2.0, 1.0], [3.0, 4.0]]), y: np.zeros(2)}, {n: 2})
    stmts = [*first, lp.Assign(row, lp.Const(1, I64)), read, lp.Free(o)]
    assert "changes before" in why(values_sorted(stmts, stmts[2]))  # type: ignore[arg-type]
    part = lp.Helper("argsort", ((x, (poly(1),)), (o, (poly(0),))), (poly(n),))
    assert "a part" in why(values_sorted([part, read], part))


def test_keys_are_sorted_where_they_are() -> None:
    copy = over(i, 0, n, put(s, (i,), at(table, j, i)))
    out = over(i, 0, n, place(i), put(y, (i,), at(table, j, poly(k.atom))))
    sort = argsort(s)
    stmts = [lp.Alloc(s), lp.Alloc(o), copy, sort, out, lp.Free(o), lp.Free(s)]
    found = keys_in_place(stmts, sort)
    assert isinstance(found, Sorted) and mentions(found.stmts)[s] == 0
    given = {table: np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0], [1.0, 1.0, 0.0]]), y: np.zeros(3)}
    assert same([over(j, 0, n, *stmts)], [over(j, 0, n, *found.stmts)], given, {n: 3})
    assert "no copy" in why(keys_in_place([copy, out, sort], sort))
    assert "no copy" in why(keys_in_place([over(i, 0, poly(n) - 1, *copy.body), sort], sort))
    assert "no row" in why(keys_in_place([over(i, 0, n, put(s, (i,), at(table, i, j))), sort], sort))
    assert "others know" in why(keys_in_place([copy, sort, over(i, 0, n, put(y, (i,), at(s, i)))], sort))


def test_values_are_sorted_to_where_they_go() -> None:
    sort = lp.Helper("sort", ((x, (poly(0),)), (s, (poly(0),))), (poly(n),), dtype=F64)
    copy = over(i, 0, n, put(y, (i,), at(s, i)), parallel=True)
    pieces = lp.Chunks(Sym("lo"), Sym("hi"), poly(n), poly(1), [])
    rounds = lp.For(i, poly(pieces.low), poly(pieces.high), copy.body, True)
    for behind in (copy, lp.Chunks(pieces.low, pieces.high, poly(n), poly(1), [rounds])):
        stmts = [lp.Alloc(s), sort, lp.Free(z), behind, lp.Free(s)]
        found = values_in_place(stmts, sort)
        assert isinstance(found, Sorted) and [type(x) for x in found.stmts] == [lp.Helper, lp.Free]
        assert same([stmts[0], sort, behind], [x for x in found.stmts if not isinstance(x, lp.Free)], GIVEN, {n: 4})
    assert "no copy" in why(values_in_place([sort, over(i, 0, n, put(y, (i,), at(z, i)))], sort))
    assert "no copy" in why(values_in_place([sort, over(i, 0, n, put(z, (i,), at(y, i))), copy], sort))
    assert "no copy" in why(values_in_place([sort, over(i, 1, n, *copy.body)], sort))
    assert "others know" in why(values_in_place([sort, copy, copy], sort))
    assert "another array" in why(values_in_place([sort, over(i, 0, n, put(x, (i,), at(s, i)))], sort))  # sorted where it is
    assert "another array" in why(values_in_place([sort, over(i, 0, n, put(table, (i, i), at(s, i)))], sort))


# -- any and all


@pytest.mark.parametrize("monoid", ["or", "and"])
def test_answers_in_blocks(monoid: str) -> None:
    answer = lp.Var("answer", BOOL)
    holds = lp.Call("lt", (at(x, i), lp.Const(2.0, F64)), BOOL)
    loop = lp.Accumulate(i, poly(j), poly(n), [lp.Add(answer, monoid, holds)], [lp.Acc(answer, monoid)])
    found = made(until_settled(loop, 3, I8))
    tell = put(y, (0,), lp.Choose((lp.Test("true", None, lp.Use(answer)),), lp.Const(1.0, F64), lp.Const(0.0, F64)))
    for size in (1, 2, 3, 4, 7):
        for values in (np.full(size, 1.0), np.full(size, 3.0), np.arange(float(size)), np.arange(float(size))[::-1].copy()):
            for low in (0, 2):  # with less than no rounds too
                given = {x: values, y: np.zeros(size)}
                assert same([loop, tell], [*found, tell], given, {n: size, j: low})
    assert "more than say" in why(until_settled(lp.Accumulate(i, poly(0), poly(n), [*loop.body, put(y, (i,), at(x, i))], loop.accs), 3, I8))
    check = lp.Let(k, lp.Index(poly(i))), lp.Check((lp.Test("ge", poly(n) - 1),), Site("E0703", NOWHERE, {}), ())
    assert "more than say" in why(until_settled(lp.Accumulate(i, poly(0), poly(n), [*check, *loop.body], loop.accs), 3, I8))
    total = lp.Var("total", F64)
    assert "no question" in why(until_settled(lp.Accumulate(i, poly(0), poly(n), [lp.Add(total, "add", at(x, i))], [lp.Acc(total, "add")]), 3, I8))
