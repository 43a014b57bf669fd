"""Pieces joined to a product (transform/after_product.py): what is made leaves the same memory, what would not is refused and says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from atoll.ainf.ir import Site
from atoll.errors import NOWHERE
from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.loops.transform.after_product import Follower, follower, into_its_reader, joined
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import F64
from tests.loops.machine import same
from tests.loops.test_families import add, at, mul, over, put, why

n, m, i, j, r = (Sym(name) for name in "nmijr")
a, b, other = (lp.Buffer(name, F64, (poly(n), poly(n)), "temp") for name in ("a", "b", "other"))
c = lp.Buffer("c", F64, (poly(n), poly(n)), "temp")
made = lp.Buffer("made", F64, (poly(n), poly(n)), "temp")
NEXT = lp.Chunks(Sym("lo"), Sym("hi"), poly(n), poly(1), [])


def product() -> lp.Product:
    k, row, column = Sym("k"), Sym("row"), Sym("column")
    adds = lp.Update(c, (poly(row), poly(column)), "add", mul(at(a, row, k), at(b, k, column)))
    body = over(row, 0, n, over(column, 0, n, put(c, (row, column), lp.Const(0.0, F64)), over(k, 0, n, adds), parallel=True), parallel=True)
    return lp.Product(
        poly(n), poly(n), (poly(n),), at(a, 0, 0), poly(n), (poly(1),), at(b, 0, 0), poly(1), (poly(n),), at(c, 0, 0), poly(n), [body]
    )


def by_rows(*body: lp.Stmt, high: Poly | None = None) -> lp.Chunks:
    rows = lp.For(i, poly(NEXT.low), poly(NEXT.high) if high is None else high, [over(j, 0, n, *body, parallel=True)], True)
    return replace(NEXT, body=[rows])


def twice(e: lp.Expr) -> lp.Expr:
    return mul(lp.Const(2.0, F64), e)


PLAIN = by_rows(put(made, (i, j), twice(at(c, i, j))))
CHECK = lp.Check((lp.Test("ge", poly(n) - 1),), Site("E0703", NOWHERE, {}), ())
GIVEN = {a: np.arange(9.0).reshape(3, 3), b: np.ones((3, 3)), other: np.zeros((3, 3)), c: None, made: None}
JOINED: list[list[lp.Stmt]] = [
    [PLAIN],
    [CHECK, lp.Note("between"), PLAIN],
    [by_rows(put(made, (i, j), add(at(c, i, j), at(c, i, 0))))],  # a row of its own, whole
    [by_rows(put(c, (i, j), twice(at(c, i, j))))],
    [by_rows(put(made, (i, j), at(c, i, j))), by_rows(put(other, (i, j), at(made, j, i)))],  # the first of two
]
LEFT: list[tuple[list[lp.Stmt], str]] = [
    ([], "no pieces"),
    ([over(i, 0, n, put(other, (i, i), at(a, i, i))), PLAIN], "no pieces"),  # something else comes first
    ([lp.Let(lp.Var("v", F64), at(c, 0, 0)), PLAIN], "no pieces"),  # which reads the product
    ([lp.Free(c), PLAIN], "no pieces"),
    ([replace(PLAIN, accs=[lp.Acc(lp.Var("s", F64), "add")])], "add up"),
    ([replace(PLAIN, extent=poly(n) - 1)], "pieces of its rows"),
    ([by_rows(put(made, (i, j), at(c, i, j)), lp.Swap(a, other))], "as a whole"),
    ([by_rows(put(a, (i, j), at(c, i, j)))], "product reads"),
    ([by_rows(put(made, (i, j), at(c, j, i)))], "not theirs"),
    ([by_rows(put(made, (i, j), at(c, poly(n) - 1 - i, j)))], "not theirs"),
    ([by_rows(put(made, (i, j), at(c, i, j)), high=poly(NEXT.high) + 1)], "not theirs"),  # one row further
    ([by_rows(put(made, (i, j), at(a, i, j)))], "or none"),
]


@pytest.mark.parametrize("after", JOINED)
def test_pieces_are_joined_to_a_product(after: list[lp.Stmt]) -> None:
    block: list[lp.Stmt] = [product(), *after]
    found = follower(block[0], after)  # type: ignore[arg-type]
    assert isinstance(found, Follower)
    done = joined(block, found)
    assert not isinstance(done, Refused) and sum(isinstance(s, lp.Chunks) for s in done) == len([s for s in after if isinstance(s, lp.Chunks)]) - 1
    assert same(block, done, GIVEN, {n: 3})
    assert "other pieces" in why(joined([block[0], replace(PLAIN, low=Sym("lo")), *after], found))
    assert "not in this block" in why(joined(after, found))


@pytest.mark.parametrize(("after", "reason"), LEFT)
def test_what_is_not_joined(after: list[lp.Stmt], reason: str) -> None:
    assert reason in why(follower(product(), after))


def test_memory_that_is_freed_in_between_is_freed_behind_it() -> None:
    block = [lp.Alloc(other), product(), lp.Free(other), lp.Alloc(made), PLAIN]
    found = follower(block[1], block[2:])  # type: ignore[arg-type]
    assert isinstance(found, Follower)
    done = joined(block, found)
    assert not isinstance(done, Refused) and [type(s) for s in done] == [lp.Alloc, lp.Alloc, lp.Product, lp.Free]


def reader(pieces: lp.Chunks, *others: lp.Stmt) -> tuple[lp.Stmts, Follower]:
    block: list[lp.Stmt] = [lp.Alloc(c), product(), pieces, *others, lp.Free(c)]
    found = follower(block[1], block[2:])  # type: ignore[arg-type]
    assert isinstance(found, Follower)
    done = joined(block, found)
    assert not isinstance(done, Refused)
    return done, found


def test_a_product_goes_into_the_memory_of_its_reader() -> None:
    done, found = reader(PLAIN)
    moved = into_its_reader(done, found)
    assert not isinstance(moved, Refused) and mentions(moved)[c] == 0 and not any(isinstance(s, (lp.Alloc, lp.Free)) for s in moved)
    given = {b: value for b, value in GIVEN.items() if b is not c}
    assert same(done, moved, given, {n: 3})
    assert "nothing is joined" in why(into_its_reader([product(), PLAIN], found))


@pytest.mark.parametrize(
    ("pieces", "others", "reason"),
    [
        (PLAIN, [over(i, 0, n, put(other, (i, i), at(c, i, i)))], "others know"),
        (by_rows(put(made, (i, j), add(at(c, i, j), at(c, i, 0)))), [], "element by element"),  # another element is made of it as well
        (by_rows(put(made, (i, j), add(at(c, i, j), at(made, i, j)))), [], "element by element"),  # what was there is read
        (by_rows(put(made, (j, i), at(c, i, j))), [], "element by element"),
        (by_rows(put(made, (i, j), at(c, i, j)), put(other, (i, j), at(c, i, j))), [], "element by element"),  # made of it twice
        (by_rows(put(c, (i, j), twice(at(c, i, j)))), [], "element by element"),  # it is there already
    ],
)
def test_a_product_that_keeps_its_memory(pieces: lp.Chunks, others: list[lp.Stmt], reason: str) -> None:
    done, found = reader(pieces, *others)
    assert reason in why(into_its_reader(done, found))
