"""Additions by parts (transform/private.py): every element gets exactly what the loop adds to it, or there is a reason; random loops, with checks and without."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from atoll.ainf.ir import Site
from atoll.errors import NOWHERE
from atoll.loops import ir as lp
from atoll.loops.transform.private import Parts, additions, checks_before, privatised
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import DTYPES, I64

F64 = DTYPES["f64"]
N, R = Sym("n"), Sym("r")
BINS = 3
H, G = (lp.Buffer(name, I64, (poly(BINS),), "temp") for name in "hg")
X, PLACE = lp.Buffer("x", I64, (poly(N),), "in"), lp.Buffer("place", I64, (poly(N),), "in")
K = lp.Var("k", I64)
Bag = Counter[tuple[str, int]]


class _Failed(Exception):
    """A check of the program."""


class _Machine:
    """Loops at one size; an element of what is added to is the bag of what was added, an element of `place` is a number."""

    def __init__(self, n: int, places: list[int], backwards: bool) -> None:
        self.values: dict[object, int] = {N: n}
        self.places, self.backwards = places, backwards
        self.bags: dict[tuple[str, tuple[int, ...]], Bag] = {}
        self.kept: dict[tuple[str, tuple[int, ...]], int] = {}

    def at(self, p: Poly) -> int:
        return p.evaluate(lambda a: self.values[a])

    def number(self, e: lp.Expr) -> int:
        if isinstance(e, lp.Call):
            assert e.op == "min"
            return min(map(self.number, e.args))
        if isinstance(e, lp.Use):
            return self.values[e.var.atom]
        if isinstance(e, lp.Load):
            where = self.element(e.buffer, e.index)
            return self.places[where[1][0]] if e.buffer is PLACE else self.kept[where]
        assert isinstance(e, lp.Index)
        return self.at(e.poly)

    def element(self, b: lp.Buffer, index: tuple[Poly, ...]) -> tuple[str, tuple[int, ...]]:
        where = tuple(map(self.at, index))
        assert all(0 <= k < self.at(n) for k, n in zip(where, b.extents, strict=True)), (b.name, where)
        return b.name, where

    def run(self, stmts: lp.Stmts) -> None:
        for s in stmts:
            match s:
                case lp.For():
                    rounds = range(self.at(s.low), self.at(s.high))
                    for k in reversed(rounds) if self.backwards and s.parallel else rounds:
                        self.values[s.sym] = k
                        self.run(s.body)
                case lp.Chunks():
                    pieces = range(self.at(s.extent))
                    for k in reversed(pieces) if self.backwards else pieces:
                        self.values[s.low], self.values[s.high] = k, k + 1
                        self.run(s.body)
                case lp.Let():
                    self.values[s.var.atom] = self.number(s.value)
                case lp.Check():
                    if not all(t.poly is not None and self.at(t.poly) >= 0 for t in s.tests):
                        raise _Failed
                case lp.Store(value=lp.Const()):
                    self.bags[self.element(s.buffer, s.index)] = Counter()
                case lp.Store():
                    self.kept[self.element(s.buffer, s.index)] = self.number(s.value)
                case lp.Update(value=lp.Load() as read):
                    name, where = self.element(read.buffer, read.index)
                    added = Counter([(name, where[0])]) if read.buffer is X else self.bags[name, where]
                    self.bags.setdefault(self.element(s.buffer, s.index), Counter()).update(added)
                case lp.Alloc() | lp.Free():
                    pass
                case _:
                    raise AssertionError(s)


def what(stmts: lp.Stmts, n: int, places: list[int], backwards: bool = False) -> dict[object, Bag] | None:
    machine = _Machine(n, places, backwards)
    try:
        machine.run(stmts)
    except _Failed:
        return None
    return {where: bag for where, bag in machine.bags.items() if where[0] in ("h", "g")}


def loop_of(rng: random.Random) -> lp.For:
    place = poly(K.atom) if rng.random() < 0.5 else 2 - poly(K.atom)
    body: list[lp.Stmt] = [lp.Let(K, lp.Load(PLACE, (poly(R),))), lp.Update(H, (place,), "add", lp.Load(X, (poly(R),)))]
    if rng.random() < 0.5:
        body.append(lp.Update(G, (poly(K.atom),), "add", lp.Load(X, (poly(R),))))
    return lp.For(R, poly(0), poly(N), body, False)


def checks_of() -> lp.For:
    seen, sym = lp.Var("seen", I64), Sym("c")
    tests = (lp.Test("ge", poly(seen.atom)), lp.Test("ge", BINS - 1 - poly(seen.atom)))
    return lp.For(sym, poly(0), poly(N), [lp.Let(seen, lp.Load(PLACE, (poly(sym),))), lp.Check(tests, None, ())], True)  # type: ignore[arg-type]


def test_every_element_gets_what_it_got() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        loop, checks = loop_of(rng), checks_of() if rng.random() < 0.5 else None
        how = Parts(rng.choice([1, 2, 3]), rng.choice([1, 2, 4]), checks, rng.choice([1, 2, 3]))
        made = privatised(loop, how)
        assert not isinstance(made, Refused)
        for n in (0, 1, 2, 5, 11):
            places = [rng.randrange(BINS) for _ in range(n)]
            if checks is not None and n and rng.random() < 0.3:
                places[rng.randrange(n)] = rng.choice([-1, BINS])
            expected = what([loop] if checks is None else [checks, loop], n, places)
            for backwards in (False, True):
                found = what(made, n, places, backwards)
                assert (found is None) == (expected is None), f"seed {seed}, n = {n}"
                assert found is None or {k: bag for k, bag in found.items() if bag} == expected, f"seed {seed}, n = {n}"


S, V = lp.Var("s", I64), lp.Var("v", F64)
FLOATS = lp.Buffer("f", F64, (poly(BINS),), "temp")
KEEPS = lp.Buffer("w", I64, (poly(N),), "temp")
KEEPS.rows = 2
ADDED = lp.Update(H, (poly(R),), "add", lp.Load(X, (poly(R),)))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([ADDED, lp.Store(G, (poly(0),), lp.Const(0, I64))], "more than add"),
        ([ADDED, ADDED], "memory of its own"),
        ([lp.Update(H, (poly(R),), "sub", lp.Load(X, (poly(R),)))], "not known how"),
        ([lp.Update(KEEPS, (poly(R),), "add", lp.Load(X, (poly(R),)))], "not known how"),
        ([lp.Update(H, (poly(R),), "add", lp.Load(H, (poly(0),)))], "is read"),
        ([ADDED, lp.Assign(S, lp.Load(X, (poly(R),)))], "leaves a variable"),
        ([lp.Update(FLOATS, (poly(R),), "add", lp.Const(1.0, F64))], "another order"),
    ],
)
def test_reasons(body: list[lp.Stmt], why: str) -> None:
    loop = lp.For(R, poly(0), poly(N), body, False)
    found = privatised(loop, Parts(2))
    assert isinstance(found, Refused) and why in found.why
    assert isinstance(additions(loop), Refused) is (why != "another order")


def test_rounds_are_there() -> None:
    loop = lp.For(R, poly(0), poly(N) - 3, [ADDED], False)
    found = privatised(loop, Parts(2))
    assert isinstance(found, Refused) and "from 0 on" in found.why
    assert not isinstance(privatised(loop, Parts(2), (poly(N) - 3,)), Refused)
    looking = lp.For(R, poly(0), poly(N), [lp.Let(S, lp.Load(H, (poly(0),)))], True)
    refused = privatised(lp.For(R, poly(0), poly(N), [ADDED], False), Parts(2, 1, looking, 4))
    assert isinstance(refused, Refused) and "look at what is added to" in refused.why


def test_checks_that_may_be_made_with_the_rounds() -> None:
    i, low, high = Sym("i"), Sym("i_lo"), Sym("i_hi")
    check = lp.Check((lp.Test("ge", poly(K.atom)),), Site("E0703", NOWHERE, {}), ())

    def checks(*body: lp.Stmt, shorter: int = 0, last: Poly | None = None) -> lp.Chunks:
        return lp.Chunks(low, high, poly(N) - shorter, poly(1), [lp.For(i, poly(low), poly(high) if last is None else last, list(body), True)])

    def fill(b: lp.Buffer) -> lp.For:
        return lp.For(i, poly(0), poly(BINS), [lp.Store(b, (poly(i),), lp.Const(0, I64))], True)

    adds = lp.For(R, poly(0), poly(N), [lp.Let(K, lp.Load(PLACE, (poly(R),))), lp.Update(H, (poly(K.atom),), "add", lp.Const(1, I64))], False)
    looks = lp.Let(K, lp.Load(PLACE, (poly(i),)))
    good = checks(looks, check)
    assert checks_before([good], adds) == (good, good.body[0])
    assert checks_before([good, lp.Alloc(H), fill(H)], adds) == (good, good.body[0])

    def why(*before: lp.Stmt, loop: lp.For = adds) -> str:
        found = checks_before(before, loop)
        assert isinstance(found, Refused)
        return found.why

    assert "no checks" in why() and "no checks" in why(fill(H)) and "no checks" in why(good, lp.Free(G), fill(H))
    assert "no checks" in why(checks(looks, check, lp.Store(G, (poly(0),), lp.Use(K))))
    assert "other rounds" in why(checks(looks, check, shorter=1)) and "other rounds" in why(checks(looks, check, last=poly(high) - 1))
    inner = lp.For(Sym("q"), poly(0), poly(BINS), [check], True)
    assert "loops in the checks" in why(checks(looks, inner))
    assert "behind them" in why(checks(lp.Let(K, lp.Load(H, (poly(i),))), check))  # what is added to
    assert "behind them" in why(checks(lp.Let(K, lp.Load(G, (poly(i),))), check), fill(G))
    assert "more than add" in why(good, loop=lp.For(R, poly(0), poly(N), [*adds.body, lp.Store(G, (poly(0),), lp.Const(0, I64))], False))
