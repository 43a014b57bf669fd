"""Tests on loop indices leave the loop: the range is cut where they change, so that the inside of a grid has none
(transform/cut_at_tests.py).

    for j in 0..m:  a[j] = f if i >= 1 and j >= 1 else g
becomes
    if i >= 1:  for j in 0..1: a[j] = g;  for j in 1..m: a[j] = f
    else:       for j in 0..m: a[j] = g

Innermost loops with sums inside are cut; then sums are made over the range where the tests of all their terms hold,
or in parts. Conditions by name are spelled out and tests on equality made tests on signs first. What is certain
anyway is not tested; a sum that has no terms in a part, and that nobody reads there, is not run there. What is long
is not copied for its parts.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import told
from atoll.loops.transform.cut_at_tests import signed, spelled, sum_in_parts, sum_where_tests_hold, tests_in, without_tests
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, innermost_first, outermost_first, with_bodies
from atoll.sizes import Poly


def interior(stmts: lp.Stmts, decisions: list[str], known: tuple[Poly, ...] = ()) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt]:
        tests = tests_in([stmt])
        if not tests:
            return [stmt]
        if isinstance(stmt, (lp.For, lp.Accumulate)) and any(t.kind != "ge" for t in tests):
            stmt = signed(spelled(stmt), known)
        if isinstance(stmt, lp.For) and _short(stmt) and not isinstance(made := without_tests(stmt, known), Refused):
            decisions.append(f"the range of {stmt.sym} is cut where its tests change")
            return _sums(made, decisions, known)
        stmt = with_bodies(stmt, lambda body: interior(body, decisions, (*known, *told(stmt))))
        return _sums([stmt], decisions, known) if isinstance(stmt, lp.Accumulate) else [stmt]

    return outermost_first(stmts, rewrite, known=known)


def _sums(stmts: lp.Stmts, decisions: list[str], known: tuple[Poly, ...]) -> list[lp.Stmt]:
    """The sums of some loops shortened, or cut where tests of some of their terms change."""

    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.Accumulate):
            return None
        made = sum_where_tests_hold(stmt, known)
        if not isinstance(made, Refused):
            decisions.append(f"{stmt.accs[0].var.shown} runs over the range of {stmt.sym} where its tests hold")
            return made
        made = sum_in_parts(stmt, known) if _short(stmt) else made
        if isinstance(made, Refused):
            return None
        decisions.append(f"{stmt.accs[0].var.shown} is made in parts of the range of {stmt.sym}, cut where its tests change")
        return made

    return innermost_first(stmts, rewrite, known=known)


def _short(loop: lp.For | lp.Accumulate) -> bool:
    return sum(1 for _ in lp.walk(loop.body)) <= profit.CUT_STATEMENTS
