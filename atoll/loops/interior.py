"""Tests on loop indices leave the loop: the range is cut where they change, so that the inside of a grid has none.

    for j in 0..m:  a[j] = f if i >= 1 and j >= 1 and m - j >= 2 else g
becomes
    if i >= 1:  for j in 0..1: a[j] = g;  for j in 1..m-1: a[j] = f;  for j in m-1..m: a[j] = g
    else:       for j in 0..m: a[j] = g

Tests that do not mention the index go before the loop; those that step by one with it cut its range (index-set splitting). A loop is cut at
most once from below and once from above, and all its guards must agree on where.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.rewrite import Copier, copyable, fresh_like
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64

FAR = 1 << 62


def interior(stmts: list[lp.Stmt], decisions: list[str]) -> list[lp.Stmt]:
    out: list[lp.Stmt] = []
    for stmt in stmts:
        for body in lp.bodies(stmt):
            body[:] = interior(body, decisions)
        found = _cut(stmt) if isinstance(stmt, lp.For) else None
        if found is not None:
            assert isinstance(stmt, lp.For)
            decisions.append(f"the range of {stmt.sym} is cut where its tests change")
            out += found
        else:
            out.append(stmt)
    return out


def _guards(x: Any) -> Iterator[tuple[lp.Test, ...]]:
    """Tests of choices and of conditional statements."""
    if isinstance(x, (lp.Choose, lp.If)):
        yield x.tests
    if isinstance(x, (list, tuple)):
        for item in x:
            yield from _guards(item)
    elif isinstance(x, (lp.Call, lp.Cast, lp.Choose, lp.Truth, lp.Test)) or isinstance(x, lp.Stmt.__args__):  # type: ignore[attr-defined]
        for name in x.__dataclass_fields__:
            yield from _guards(getattr(x, name))


def _cut(loop: lp.For) -> list[lp.Stmt] | None:
    if not loop.parallel or loop.vector or loop.unroll or not copyable(loop.body) or any(isinstance(s, (lp.For, lp.Accumulate)) for s in lp.walk(loop.body)):
        return None
    guards = {g for g in _guards(loop.body) if g and all(t.kind == "ge" and t.poly is not None for t in g)}
    made = {s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare))}
    guards = {g for g in guards if not any(t.poly is None or not made.isdisjoint(t.poly.leaves()) for t in g)}
    guards = {g for g in guards if all(_step(t.poly, loop.sym) is not None for t in g)}
    if len(guards) != 1:
        return None
    tests = next(iter(guards))
    fixed = tuple(t for t in tests if _step(t.poly, loop.sym) == 0)
    lower = [_bound(t.poly, loop.sym) for t in tests if _step(t.poly, loop.sym) == 1]
    upper = [_bound(t.poly, loop.sym) for t in tests if _step(t.poly, loop.sym) == -1]
    if len(lower) > 1 or len(upper) > 1 or not (lower or upper):
        return [lp.If(fixed, _copy(loop, loop.low, loop.high, tests, True), _copy(loop, loop.low, loop.high, tests, False))] if fixed and not (lower or upper) else None
    before: list[lp.Stmt] = []

    def settled(name: str, op: str, a: Poly, b: Poly) -> Poly:
        var = fresh_like(name, I64)
        var.small = True
        before.append(lp.Let(var, lp.Call(op, (lp.Index(a), lp.Index(b)), I64)))
        return poly(var.atom)

    def within(p: Poly) -> Poly:
        """The bound with its variables cut to what is far from overflow and beyond every index."""
        wide = [leaf for leaf in p.leaves() if isinstance(leaf, lp.VarAtom) and not leaf.var.small]
        return p.subst({leaf: settled("above", "max", settled("below", "min", poly(leaf), poly(FAR)), poly(-FAR)) for leaf in wide})

    lower, upper = [within(p) for p in lower], [within(p) for p in upper]
    start = settled("first", "min", settled("least", "max", loop.low, lower[0]), loop.high) if lower else loop.low
    stop = settled("last", "max", settled("most", "min", loop.high, upper[0] + 1), start) if upper else loop.high
    pieces = [*(_copy(loop, loop.low, start, tests, False) if lower else ()), *_copy(loop, start, stop, tests, True), *(_copy(loop, stop, loop.high, tests, False) if upper else ())]
    if not fixed:
        return [*before, *pieces]
    return [lp.If(fixed, [*before, *pieces], _copy(loop, loop.low, loop.high, tests, False))]


def _step(p: Poly | None, sym: Sym) -> int | None:
    """How a test's polynomial moves with the index: -1, 0 or 1, or None."""
    assert p is not None
    step = p.coefficient(sym)
    if step is None or sym in (p - step * sym).leaves():
        return None
    found = step.const()
    return found if found in (-1, 0, 1) else None


def _bound(p: Poly | None, sym: Sym) -> Poly:
    """The least index where p = sym + r is not negative, or the greatest where p = r - sym is not."""
    assert p is not None
    return sym - p if p.coefficient(sym) == poly(1) else p + sym


def _copy(loop: lp.For, low: Poly, high: Poly, tests: tuple[lp.Test, ...], holds: bool) -> list[lp.Stmt]:
    """The loop over a part of its range where the tests hold, or where they do not all hold."""

    class Decided(Copier):
        def tests(self, given: tuple[lp.Test, ...]) -> tuple[lp.Test, ...] | None:
            if given == tests:
                return () if holds else None
            return super().tests(given)

    return [lp.For(loop.sym, low, high, Decided({}).stmts(loop.body), loop.parallel)]
