"""Elements read before a loop (transform/read_first.py), operands in another order (transform/regroup.py): what is made leaves the same memory, what would not is refused and says why."""

from __future__ import annotations

import numpy as np

from atoll.loops import ir as lp
from atoll.loops.transform.read_first import ReadFirst, read_first
from atoll.loops.transform.regroup import waiting_last
from atoll.sizes import Sym, poly
from atoll.types.dtypes import F64, I64, DType
from tests.loops.machine import same
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
