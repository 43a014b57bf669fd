"""Histograms on several threads: parts of the data go to private copies of the bins, which are then combined in order.

    for in order r in 0..n:  h[at[r]] += v(r)
becomes, when there are many more elements than bins,
    pieces of 8 parts:  own[p] = neutral;  for in order r of part p:  own[p, at[r]] += v(r)
    for j:  h[j] = ((h[j] + own[0, j]) + own[1, j]) + ...

The number of parts is fixed, so the result does not depend on threads. With few bins each part has four copies that take turns, because
two additions into one bin would wait for each other (docs/sources.md C5).

Histograms of the same rounds are made together: what both compute, as the place, is computed once (`_together`).

A loop before it that does nothing but check the places is made part of it: a few thousand at a time are checked and then added, so that memory is read
once. The result of a program that fails is not seen.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.fuse import fused, once, past
from atoll.loops.transform.private import Parts, additions, checks_before, only_fills, privatised
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import with_bodies
from atoll.sizes import poly
from atoll.sizes.poly import product


def privatise(stmts: lp.Stmts, decisions: list[str], reassociate: bool = True) -> lp.Stmts:
    """Loops of the program itself, not those inside pieces or other loops."""
    out: list[lp.Stmt] = []
    for stmt in _together(stmts, decisions):
        if isinstance(stmt, lp.If):
            stmt = with_bodies(stmt, lambda body: privatise(body, decisions, reassociate))
        updates = _at_data(stmt)
        if not updates or not isinstance(stmt, lp.For):
            out.append(stmt)
            continue
        turns = _turns(updates)
        bins = sum((product(u.buffer.extents) for u in updates), poly(0))
        many = stmt.high - stmt.low - profit.PART_ROUNDS * profit.PARTS * turns * bins
        found = checks_before(out, stmt)
        how = Parts(profit.PARTS, turns, None if isinstance(found, Refused) else found[1], profit.CHECKED, reassociate)
        made = privatised(stmt, how, (bins, many))
        if isinstance(made, Refused):
            out.append(stmt)
            continue
        shown = " and ".join(u.buffer.shown for u in updates)
        decisions.append(f"{shown} {'is' if len(updates) == 1 else 'are'} added up in {profit.PARTS} private copies when there are many more rounds of {stmt.sym} than elements")
        test = (lp.Test("ge", many),)
        if isinstance(found, Refused):
            out.append(lp.If(test, made, [stmt]))
            continue
        decisions.append(f"{profit.CHECKED} rounds of {stmt.sym} are checked before they are made")
        out = [*(s for s in out if s is not found[0]), lp.If(test, made, [found[0], stmt])]
    return out


def _together(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    """Loops over the same rounds that each add to memory of their own, one loop where only fills of other memory stand between them."""
    out: list[lp.Stmt] = []
    for stmt in stmts:
        updates = _at_data(stmt)
        k = len(out) - 1
        while updates and k >= 0 and (only_fills(out[k]) or isinstance(out[k], lp.Alloc)):
            k -= 1
        before = out[k] if updates and k >= 0 else None
        earlier = _at_data(before)
        between = [s for s in out[k + 1 :] if not isinstance(s, lp.Alloc)]
        joined = _fused(before, between, stmt) if earlier else None
        if joined is None:
            out.append(stmt)
            continue
        decisions.append(f"{', '.join(u.buffer.shown for u in [*earlier, *updates])} are added up in the same rounds of {joined.sym}")
        out = [*out[:k], *out[k + 1 :], joined]
    return out


def _fused(before: lp.Stmt | None, between: lp.Stmts, stmt: lp.Stmt) -> lp.For | None:
    """Two loops as one behind what stands between them, its values computed once."""
    if not isinstance(before, lp.For) or not isinstance(stmt, lp.For) or past(before, between) is not None or not isinstance(made := fused(before, stmt), lp.For):
        return None
    body = once(made.body)
    return None if isinstance(body, Refused) else replace(made, body=body)


def _at_data(stmt: lp.Stmt | None) -> list[lp.Update]:
    """The additions of a loop that does nothing else, where each goes to a place that is data: rounds may meet, and nobody knows where."""
    if not isinstance(stmt, lp.For) or stmt.parallel or stmt.low.const() != 0:
        return []
    updates = additions(stmt)
    if isinstance(updates, Refused) or not all(any(isinstance(a, lp.VarAtom) for p in u.index for a in p.leaves()) for u in updates):
        return []
    return updates


def _turns(updates: list[lp.Update]) -> int:
    bins = [product(u.buffer.extents).const() for u in updates]
    return profit.TURNS if all(n is not None and n <= profit.FEW_BINS for n in bins) else 1
