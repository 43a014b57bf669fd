"""Loops that end when they like and that count meanwhile: their tests are made once for a stretch of rounds (strip-mining of a `while`).

    forever:  break unless p + 1 < k;  check 0 <= p < n;  break unless x[p] != y;  p := p + 1
becomes, in C,
    for (;;) { the first two;  more = for how many rounds they hold still;  last = p + more + 1;  while (p != last) { the rest }  a look }

    stretch_of(body, sizes)    the tests that hold in a stretch of rounds, how many rounds that is, and what a round is without them

A round alone then tests what may end it in that round, as in a loop of C by hand. Rounds of a stretch that is left early are not counted (looks.py): they are few, and loops around count their own.

Such a test is `p >= 0` of a polynomial with one variable that the loop changes, by 1 or -1, once in every round. One that falls by one in every round holds for as many rounds more as it says; in
numbers that wrap around too, since the difference of what is compared is exact without a sign. One that rises holds for as long as another one keeps the variable between two sizes. Nothing that
a round does stands before them, so that they are made in the state that begins a round, and in their order.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64

Tests = tuple[lp.Test, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    tests: list[lp.BreakUnless | lp.Check]  # made before a stretch
    more: list[Poly]  # for so many rounds after the first they hold still
    rest: list[lp.Stmt]  # a round
    var: lp.Var  # which every round changes
    step: int  # by so much: 1 or -1
    ends: bool  # the loop does when they hold no longer, and nothing fails


def stretch_of(body: lp.Stmts, sizes: Collection[Sym]) -> Stretch | None:
    """`sizes`: those of the function."""
    steps = _steps(body)
    made = {s.var for s in lp.walk(body) if isinstance(s, (lp.Let, lp.Declare, lp.Assign, lp.Add))}
    tests: list[lp.BreakUnless | lp.Check] = []
    rest: list[lp.Stmt] = []
    slopes: list[_Slope] = []
    for place, stmt in enumerate(body):
        if isinstance(stmt, lp.Note) or (isinstance(stmt, lp.Declare) and (stmt.value is None or isinstance(stmt.value, lp.Const))):
            rest.append(stmt)
            continue
        found = [_slope(t, steps, made) for t in _terms(stmt.tests)] if isinstance(stmt, (lp.BreakUnless, lp.Check)) else [None]
        if None in found:
            rest += body[place:]
            break
        assert isinstance(stmt, (lp.BreakUnless, lp.Check))
        slopes += [s for s in found if s is not None]
        tests.append(stmt)
    falling = [s for s in slopes if s.by == -1]
    between = all(any(_is_size(up.test + down.test, sizes) for down in falling) for up in slopes if up.by == 1)
    if not falling or not between or falling[0].var is None:
        return None
    told = [t for s in tests if isinstance(s, lp.Check) for t in _terms(s.tests)]
    return Stretch(tests, [s.test for s in falling], rest, falling[0].var, steps[falling[0].var], not any(t.poly == s.test for t in told for s in falling))


@dataclass(frozen=True, slots=True)
class _Slope:
    """A test p >= 0 and by how much a round changes p, through which variable."""

    test: Poly
    by: int
    var: lp.Var | None


def _terms(tests: Tests) -> Tests:
    return tuple(x for t in tests for x in (_terms(t.expr.tests) if t.kind == "true" and isinstance(t.expr, lp.Truth) else (t,)))


def _slope(t: lp.Test, steps: dict[lp.Var, int], made: set[lp.Var]) -> _Slope | None:
    if t.kind != "ge" or t.poly is None:
        return None
    moving = [a.var for a in t.poly.leaves() if isinstance(a, lp.VarAtom) and a.var in made]
    if not moving:
        return _Slope(t.poly, 0, None)
    slope = t.poly.slope(moving[0].atom) if len(moving) == 1 else None
    by = slope.const() if slope is not None else None
    return _Slope(t.poly, by * steps[moving[0]], moving[0]) if by in (1, -1) and moving[0] in steps else None


def _steps(body: lp.Stmts) -> dict[lp.Var, int]:
    """The variables that every round changes once, by 1 or -1."""
    given: dict[lp.Var, list[lp.Expr]] = {}
    for s in lp.walk(body):
        if isinstance(s, (lp.Assign, lp.Add)):
            given.setdefault(s.var, []).append(s.value if isinstance(s, lp.Assign) else lp.Use(s.var))
    always = {s.var for s in body if isinstance(s, lp.Assign)}
    inside = {s.var for s in lp.walk(body) if isinstance(s, (lp.Let, lp.Declare))}
    found: dict[lp.Var, int] = {}
    for var, values in given.items():
        if len(values) == 1 and var in always and var not in inside and var.dtype is I64:
            value = values[0]
            if isinstance(value, lp.Use) and value.var in inside and value.var in always and len(given[value.var]) == 1 and _before(body, value.var, var):
                value = given[value.var][0]  # what the next round begins with
            step = (value.poly - poly(var.atom)).const() if isinstance(value, lp.Index) else None
            if step in (1, -1):
                found[var] = step
    return found


def _before(body: lp.Stmts, first: lp.Var, second: lp.Var) -> bool:
    order = [s.var for s in body if isinstance(s, lp.Assign)]
    return order.index(first) < order.index(second)


def _is_size(p: Poly, sizes: Collection[Sym]) -> bool:
    """A sum of sizes: far from overflow."""
    return p.leaves() <= set(sizes) and all(len(mono) <= 1 for mono in p.terms)
