"""Filters in blocks and without branches (transform/compact.py): what is kept stays, at all small sizes and block lengths, or there is a reason."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.loops.transform.compact import Around, Compacted, Filter, compacted, filter_of, without_branch
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, F64, I64
from tests.loops.machine import same

N, R, K = Sym("n"), Sym("r"), Sym("k")
X, D, OUT = (lp.Buffer(name, I64, (poly(N),), "in" if name != "out" else "temp") for name in ("x", "d", "out"))
Y, Z = (lp.Buffer(name, I64, (poly(N),), "temp") for name in "yz")
C, V = lp.Var("c", I64), lp.Var("v", I64)
COUNT = poly(C.atom)
START = lp.Declare(C, lp.Const(0, I64))
STEP = lp.Assign(C, lp.Index(COUNT + 1))


def at(b: lp.Buffer, p: Poly) -> lp.Load:
    return lp.Load(b, (p,))


def call(op: str, *args: lp.Expr) -> lp.Call:
    return lp.Call(op, args, BOOL if op in ("gt", "lt") else I64)


def keeps(*stores: lp.Stmt, test: lp.Expr | None = None, lets: tuple[lp.Stmt, ...] = ()) -> lp.For:
    wanted = call("gt", at(X, poly(R)), lp.Const(0, I64)) if test is None else test
    return lp.For(R, poly(0), poly(N), [*lets, lp.If((lp.Test("true", None, wanted),), [*stores, STEP])], False)


PLAIN = lp.Store(Y, (COUNT,), at(X, poly(R)))
USES = lp.For(K, poly(0), COUNT, [lp.Store(OUT, (poly(K),), at(Y, poly(K)))], True)
SIZE = lp.If((lp.Test("ge", poly(N) - 1),), [lp.Store(OUT, (poly(N) - 1,), lp.Use(C))])


def test_what_is_kept_is_kept() -> None:
    for seed in range(80):
        rng = random.Random(seed)
        value = rng.choice([at(X, poly(R)), call("add", at(X, poly(R)), at(D, poly(R))), lp.Index(poly(R) * 2)])
        also = [lp.Store(Z, (COUNT,), at(D, poly(R)))] if rng.random() < 0.5 else []
        test = call("lt", at(rng.choice([X, D]), poly(R)), lp.Const(rng.randrange(-2, 3), I64))
        loop = keeps(lp.Store(Y, (COUNT,), value), *also, test=test)
        before: list[lp.Stmt] = [lp.Alloc(Y), lp.Alloc(Z), START]
        after: list[lp.Stmt] = [USES, SIZE]
        found = filter_of(loop, Around(before))
        assert isinstance(found, Filter)
        blocks = compacted(found, rng.choice([1, 2, 3]), after)
        assert isinstance(blocks, Compacted) and blocks.used == 0
        for n in range(7):
            values = np.random.default_rng(seed).integers(-3, 4, (2, n))
            given = {X: values[0], D: values[1], OUT: np.zeros(n, np.int64)}
            expected = [*before, loop, *after]
            assert same(expected, [*before, *blocks.stmts, *after], given, {N: n}), f"seed {seed}, n = {n}"
            assert same(expected, [*before, replace(loop, body=without_branch(found)), *after], given, {N: n}), f"seed {seed}, n = {n}"


def test_a_result_is_copied_from_the_blocks() -> None:
    result = lp.Buffer("result", I64, (COUNT,), "out")
    low, high = Sym("lo"), Sym("hi")
    copy = lp.Chunks(low, high, COUNT, poly(1), [lp.For(K, poly(low), poly(high), [lp.Store(result, (poly(K),), at(Y, poly(K)))], True)])
    found = filter_of(keeps(PLAIN), Around([lp.Alloc(Y), START]))
    assert isinstance(found, Filter)
    made = compacted(found, 2, [lp.Alloc(result), copy, lp.Free(Y)])
    assert isinstance(made, Compacted) and made.used == 2 and mentions(made.stmts)[result] == 1
    read_again = compacted(found, 2, [lp.Alloc(result), copy, USES])
    part = replace(copy, body=[lp.For(K, poly(low), poly(low) + 1, copy.body[0].body, True)])  # type: ignore[union-attr]
    some = compacted(found, 2, [lp.Alloc(result), part])
    assert isinstance(read_again, Compacted) and read_again.used == 0 and isinstance(some, Compacted) and some.used == 0


@pytest.mark.parametrize(
    ("before", "loop", "why"),
    [
        ([lp.Alloc(Y), START], keeps(PLAIN), ""),
        ([lp.Alloc(Y), START], replace(keeps(PLAIN), parallel=True), "no loop in order"),
        ([lp.Alloc(Y), START, STEP], keeps(PLAIN), "from 0 on"),
        ([lp.Alloc(Y), lp.Declare(C, lp.Const(1, I64))], keeps(PLAIN), "from 0 on"),
        ([lp.Alloc(Y), START], keeps(PLAIN, PLAIN), "once into each array"),
        ([lp.Alloc(Y), START], keeps(lp.Store(Y, (COUNT,), lp.Use(C))), "used for more"),
        ([lp.Alloc(Y), START], keeps(lp.Store(Y, (COUNT + 1,), at(X, poly(R)))), "next place"),
        ([lp.Alloc(Y), START, USES], keeps(PLAIN), "may be read"),
        ([START], keeps(PLAIN), "may be read"),
        ([lp.Alloc(Y), START], keeps(lp.Store(Y, (COUNT,), at(X, poly(R) + 1))), "no value"),
        ([lp.Alloc(Y), START], keeps(lp.Store(Y, (COUNT,), call("floordiv", at(X, poly(R)), at(D, poly(R))))), "no value"),
        ([lp.Alloc(Y), START], keeps(lp.Store(Y, (COUNT,), lp.Cast(lp.Const(1e300, F64), I64))), "no value"),
        ([lp.Alloc(Y), START], keeps(PLAIN, lets=(lp.Let(V, at(Y, poly(0))),)), "is read"),
    ],
)
def test_reasons(before: list[lp.Stmt], loop: lp.For, why: str) -> None:
    found = filter_of(loop, Around(before))
    assert isinstance(found, Filter) if not why else isinstance(found, Refused) and why in found.why


@pytest.mark.parametrize(
    ("after", "known", "made"),
    [
        ([USES], 2, True),
        ([USES], 3, False),  # somebody else mentions the array
        ([replace(USES, high=poly(N))], 2, False),  # what lies behind the count is read
        ([STEP, USES], 2, False),  # the count is another one
        ([lp.CopyBuffer(OUT, Y)], 2, False),
        ([lp.Store(OUT, (poly(0),), at(Y, poly(0)))], 2, False),
    ],
)
def test_an_array_that_is_used_again_is_read_below_the_count(after: list[lp.Stmt], known: int, made: bool) -> None:
    found = filter_of(keeps(PLAIN), Around([START], after, Counter({Y: known})))
    assert isinstance(found, Filter) is made
