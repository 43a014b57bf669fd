"""Elements kept for the next round (transform/carry.py): the same memory at all small sizes, or a reason; random loops, with stores to the same element in rounds after each other."""

from __future__ import annotations

import random

import numpy as np
import pytest

import atoll as at
from atoll.loops import ir as lp
from atoll.loops.transform.carry import Carried, carried
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import F64, I64
from tests.loops.machine import same

N, I = Sym("n"), Sym("i")
A, B, X = (lp.Buffer(name, F64, (poly(N) * 4 + 8,), "temp") for name in "abx")
V, K = lp.Var("v", F64), lp.Var("k", I64)


def plus(a: lp.Expr, b: lp.Expr) -> lp.Expr:
    return lp.Call("add", (a, b), F64)


def read(b: lp.Buffer, p: Poly) -> lp.Load:
    return lp.Load(b, (p,))


def places(rng: random.Random) -> Poly:
    """Where a round stores: next to each other, at steps, at one place for several rounds, at squares."""
    i = poly(I)
    return rng.choice([i + 1, i + 1, 2 * i + 2, poly(N) + 3 - i, (i + 1) // 2 + 1, i * i - i + 2, i % 3 + 1, 2 + i // 3 + i])


def loop_of(rng: random.Random) -> lp.For:
    at_, value = places(rng), lp.Use(V)
    last = at_.subst({I: poly(I) - 1})
    first: list[lp.Stmt] = [lp.Let(V, plus(read(A, last if rng.random() < 0.6 else at_), read(X, poly(I)))), lp.Store(A, (at_,), value)]
    rest: list[lp.Stmt] = [lp.Store(B, (poly(I),), plus(value, read(A, rng.choice([last, last, at_]))))]
    if rng.random() < 0.3:
        rest = [lp.If((lp.Test("ge", poly(I) - 2),), rest)]
    if rng.random() < 0.2:
        rest.append(lp.Store(A, (poly(0),), value))
    if rng.random() < 0.3:
        first, rest = [lp.Store(A, (at_,), plus(read(A, last), read(X, poly(I))))], [lp.Store(B, (poly(I),), read(A, last))]
    return lp.For(I, poly(rng.choice([1, 1, 2])), poly(N), first + rest, False)


def test_elements_in_variables_do_the_same() -> None:
    made = {True: 0, False: 0}
    for seed in range(300):
        rng = random.Random(seed)
        loop = loop_of(rng)
        found = carried(loop)
        made[isinstance(found, Carried)] += 1
        for n in range(6) if isinstance(found, Carried) else ():
            size = max(4 * n + 8, n * n + 8)
            given = {b: np.arange(size) * (k + 0.5) for k, b in enumerate((A, B, X))}
            assert same([loop], found.stmts, given, {N: n}), f"seed {seed}, n = {n}"
    assert made[True] > 100 and made[False] > 80


STORED = lp.Store(A, (poly(I) + 1,), read(A, poly(I)))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([STORED, lp.Store(A, (poly(0),), read(X, poly(I)))], "another store"),
        ([lp.Let(K, lp.Index(poly(I))), lp.Store(A, (poly(K.atom) + 1,), read(A, poly(K.atom)))], "variable of the round"),
        ([lp.Store(A, (poly(0),), read(A, poly(0)))], "the same in all rounds"),
        ([lp.Store(A, (poly(I),), read(A, poly(I) + 1))], "does not read it"),
        ([lp.If((lp.Test("ge", poly(I) - 2),), [lp.Store(B, (poly(I),), read(A, poly(I)))]), lp.Store(A, (poly(I) + 1,), read(X, poly(I)))], "does not read it"),
        ([lp.Store(A, ((poly(I) + 1) // 2,), read(X, poly(I))), lp.Store(B, (poly(I),), read(A, poly(I) // 2))], "what this round stored"),
        ([lp.Let(V, read(X, poly(I)))], "stores anything"),
        ([STORED, lp.Alloc(B)], "does more"),
    ],
)
def test_reasons(body: list[lp.Stmt], why: str) -> None:
    found = carried(lp.For(I, poly(0), poly(N), body, False))
    assert isinstance(found, Refused) and why in found.why
    assert isinstance(refused := carried(lp.For(I, poly(0), poly(N), [STORED], True)), Refused) and "not in order" in refused.why


def test_one_element_for_two_rounds() -> None:
    """a[i // 2] is stored in two rounds: what is read behind the store is the new value in one of them."""
    n = at.sizes("n")

    @at.fn
    def f(x: at.f64[n]) -> at.f64[n]:
        a = zeros(n)
        y = zeros(n)
        for i in range(1, n):
            a[i // 2] = x[i]
            y[i] = a[(i - 1) // 2]
        return y

    assert f(np.arange(1.0, 8.0)).tolist() == [0, 2, 2, 4, 4, 6, 6]
