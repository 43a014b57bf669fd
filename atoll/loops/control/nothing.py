"""Loops whose rounds would all do nothing are not run.

    for i in 0..n:  for j in 0..m:  a[i, j] = e          becomes          if m >= 1:  (the same)

An array of 2**40 rows of no elements takes no memory, so its rows must take no time. A round does something only where a loop inside it has rounds: where all that is done is
done in inner loops, the outer one runs under the test that they have some, as far as that does not depend on the round.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.walk import Known, outermost_first
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import quotients

Needs = dict[Poly, None]  # each must be at least 1, or nothing is done
_SORTS = ("sort", "argsort")  # of the elements of a row


def nothing(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    """Every outermost loop that is not run where its rounds are known to do nothing."""

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        needs = _needs(stmt) if isinstance(stmt, (lp.For, lp.Chunks)) else []
        if isinstance(stmt, lp.Product) and not stmt.after and stmt.columns.const() is None:
            needs = [stmt.columns]
        return [lp.If(tuple(lp.Test("ge", p - 1) for p in needs), [stmt])] if needs else None

    def enter(stmt: lp.Stmt) -> bool:
        rounds = isinstance(stmt, lp.For) and any(isinstance(s, lp.Chunks) for s in stmt.body)  # of a time loop
        return rounds or isinstance(stmt, (lp.If, lp.Section))

    return outermost_first(stmts, rewrite, enter)


def _needs(loop: lp.For | lp.Chunks) -> list[Poly]:
    """What must be at least 1 for any round to do something, of what is known before the loop."""
    found: list[Needs] = []
    if not _collect([loop], frozenset(), {}, found) or not found:
        return []
    shared = [p for p in found[0] if all(p in needs for needs in found)]
    return [p for p in shared if p.single() is not None] or shared[:1]


def _collect(stmts: lp.Stmts, bound: frozenset[Atom], around: Needs, found: list[Needs]) -> bool:
    """For each statement that does something, what the loops around it need to have rounds; False where that is not seen.
    `bound` is what the loops around bind, from the outermost on."""
    for stmt in stmts:
        if isinstance(stmt, (lp.Alloc, lp.Free, lp.Note)) or (isinstance(stmt, lp.Helper) and not stmt.buffers and stmt.result is None):
            continue
        if isinstance(stmt, (lp.Let, lp.Declare)):
            bound |= {stmt.var.atom}
        elif isinstance(stmt, lp.Helper) and stmt.name in _SORTS:
            if not (needs := {**around, **_has_rounds(stmt.sizes[0], bound)}):
                return False
            found.append(needs)
        elif isinstance(stmt, lp.If):
            if not all(_collect(body, bound, around, found) for body in (stmt.then, stmt.orelse)):
                return False
        elif isinstance(stmt, lp.For):
            needs = {**around, **(_has_rounds(stmt.high - stmt.low, bound) if bound else {})}
            if not _collect(stmt.body, bound | {stmt.sym}, needs, found):
                return False
        elif isinstance(stmt, lp.Chunks):
            needs = {**around, **(_has_rounds(stmt.extent, bound) if bound else {})}
            if stmt.accs or stmt.buffers or not _collect(stmt.body, bound | {stmt.low, stmt.high}, needs, found):
                return False
        elif isinstance(stmt, (lp.Store, lp.Update, lp.Helper, lp.Accumulate, lp.Check, lp.Assign)) and around:
            found.append(around)
        else:
            return False
    return True


def _has_rounds(extent: Poly, bound: frozenset[Atom]) -> Needs:
    """What is at least 1 where a loop of this extent has rounds: the extent, and the sizes without which it is 0."""
    if extent.const() is not None or not bound.isdisjoint(extent.leaves()):
        return {}
    divisors = {a for quot in quotients(extent) for a in quot.den.leaves()}  # never 0
    sizes = [a for a in extent.leaves() if isinstance(a, Sym) and a not in divisors]
    return {extent: None, **{poly(a): None for a in sizes if (c := extent.subst({a: poly(0)}).const()) is not None and c <= 0}}
