"""Elements stored a few lines at a time (transform/past_caches.py): what is made leaves the same memory, what would not is refused and says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from atoll.loops import ir as lp
from atoll.loops.transform.past_caches import fenced, in_lines
from atoll.sizes import Sym, poly
from atoll.types.dtypes import F64, I64
from tests.loops.machine import same
from tests.loops.test_families import add, at, made, mul, over, put, why

n, m, i, j = (Sym(name) for name in "nmij")
x = lp.Buffer("x", F64, (poly(n),), "temp")
y, z = (lp.Buffer(name, F64, (poly(n) + 3,), "out") for name in "yz")
w = lp.Buffer("w", I64, (poly(n),), "temp")
v, data = lp.Var("v", F64), lp.Var("k", I64)
TWICE = put(y, (poly(j) + 3,), mul(lp.Const(2.0, F64), at(x, j)))


@pytest.mark.parametrize(
    "body",
    [
        [TWICE],
        [lp.Let(v, at(x, j)), put(y, (j,), lp.Use(v)), put(z, (poly(j) + 1,), add(lp.Use(v), lp.Use(v)))],
        [put(y, (j,), at(x, poly(n) - 1 - j))],
    ],
)
def test_elements_are_stored_a_few_lines_at_a_time(body: list[lp.Stmt]) -> None:
    loop = over(j, 0, n, *body, parallel=True)
    some = poly(n) - 8  # as its recipe tests
    found = made(in_lines(loop, 4, (some,)))
    assert sum(isinstance(s, lp.Helper) and s.name == "stream" for s in lp.walk(found)) == sum(isinstance(s, lp.Store) for s in body)
    for size in (0, 3, 4, 7, 8, 9, 13):
        given = {x: np.arange(float(size)), y: None, z: None}
        assert same([loop], [lp.If((lp.Test("ge", some),), found, [loop])], given, {n: size})


def test_what_is_not_stored_in_lines() -> None:
    loop = over(j, 0, n, TWICE, parallel=True)
    assert "not independent" in why(in_lines(replace(loop, parallel=False), 4))
    assert "not independent" in why(in_lines(replace(loop, vector=4), 4))
    assert "does more" in why(in_lines(over(j, 0, n, TWICE, over(i, 0, 1, TWICE), parallel=True), 4))
    assert "does more" in why(in_lines(over(j, 0, n, TWICE, put(y, (j,), at(x, j)), parallel=True), 4))  # the second may be of an earlier round
    assert "does more" in why(in_lines(over(j, 0, n, lp.Let(v, at(x, j)), parallel=True), 4))
    for index in (poly(j) * 2, poly(n) - 1 - j, poly(i), poly(j) * poly(j), poly(data.atom)):
        assert "next to the other" in why(in_lines(over(j, 0, n, put(y, (index,), at(x, j)), parallel=True), 4))
    assert "next to the other" in why(in_lines(over(j, 0, n, lp.Let(data, at(w, j)), put(y, (poly(j) + data.atom,), at(x, j)), parallel=True), 4))
    temporary = over(j, 0, n, put(x, (j,), lp.Const(0.0, F64)), parallel=True)
    assert "next to the other" in why(in_lines(temporary, 4))  # it may be a window, or a thread's own
    assert "reads what is stored" in why(in_lines(over(j, 0, n, put(y, (j,), at(y, j)), parallel=True), 4))
    assert "fewer than none" in why(in_lines(replace(loop, low=poly(m)), 4))
    assert made(in_lines(replace(loop, low=poly(m)), 4, (poly(n) - m,)))


def test_a_piece_ends_with_a_fence() -> None:
    pieces = lp.Chunks(Sym("lo"), Sym("hi"), poly(n), poly(1), [])
    (only, last) = fenced(pieces, [TWICE]).body
    assert only is TWICE and isinstance(last, lp.Helper) and last.name == "fence"
