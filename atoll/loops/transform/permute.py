"""Rounds in another order: a loop taken apart (fission, or distribution), and two loops exchanged (interchange). Fusion, the way back, is fuse.py.

    distributed(loop, at, known)    for i: A(i); B(i)               becomes      for i: A(i);   for i: B(i)
    interchanged(loop, known)       for i: for j: S(i, j)           becomes      for j: for i: S(i, j)

Right where no two rounds that change places touch an element that one of them writes. Taken apart, A(b) is done before B(a) for every earlier round a. Exchanged, S(b, c) is done
before S(a, d) for a < b and c < d. What goes from round to round goes in arrays, not in variables, and of the two loops exchanged neither says how far the other runs.
A skew (skew.py) is an exchange after j is counted from another place in every round, which changes none of the rounds.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.dependence import Order
from atoll.loops.questions import changed
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.refused import Made, Refused
from atoll.sizes import Atom, Poly, Sym, poly

Known = tuple[Poly, ...]
_TOUCHES = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.For, lp.Accumulate, lp.Add, lp.If, lp.Chunks, lp.Note)  # what they touch is in their indices


def own_variables(stmts: lp.Stmts) -> bool:
    """Nothing goes on from these statements but in arrays: they assign no variable that they do not make."""
    every = list(lp.walk(stmts))
    made = {s.var for s in every if isinstance(s, (lp.Let, lp.Declare))} | {a.var for s in every if isinstance(s, lp.Accumulate) for a in s.accs}
    return not any(isinstance(s, (lp.Assign, lp.Add)) and s.var not in made for s in every)


def _why_not(loop: lp.For) -> Refused | None:
    """What does not depend on the indices."""
    if loop.vector or loop.unroll or loop.scan:
        return Refused("it is scheduled as it stands")
    if not all(isinstance(s, _TOUCHES) and not (isinstance(s, lp.Chunks) and s.buffers) for s in lp.walk(loop.body)):
        return Refused("something in it is told as a whole, or can fail")
    return None if own_variables(loop.body) else Refused("a round leaves a variable for the next one")


def distributed(loop: lp.For, at: int, known: Known = ()) -> Made:
    """Two loops, the first with the first `at` statements of every round."""
    first, second = loop.body[:at], loop.body[at:]
    if (why := _why_not(loop)) is not None:
        return why
    if not changed(first)[0].isdisjoint(lp.used_vars(second)):
        return Refused("the second part of a round uses a variable of the first")
    a, b = Sym(loop.sym.name), Sym(loop.sym.name)
    order = Order((*known, poly(a) - loop.low, poly(b) - poly(a) - 1, loop.high - poly(b) - 1))
    if not order.apart(order.touched(first, {loop.sym: poly(b)}), order.touched(second, {loop.sym: poly(a)})):
        return Refused("a later round may touch what the second part of an earlier one does")
    return [replace(loop, sym=sym, body=Copier({loop.sym: poly(sym)}).stmts(part)) for sym, part in ((Sym(loop.sym.name), first), (Sym(loop.sym.name), second))]


def interchanged(loop: lp.For, known: Known = ()) -> Made:
    """The one loop inside a loop around it."""
    inner = loop.body[0] if len(loop.body) == 1 else None
    if not isinstance(inner, lp.For):
        return Refused("these are not two loops, one in the other")
    why = _why_not(loop) or _why_not(inner)
    if why is not None:
        return why
    if loop.sym in inner.low.leaves() | inner.high.leaves():
        return Refused("how far the inner loop runs depends on the round")
    if not (loop.parallel and inner.parallel) and not _free(loop, inner, known):
        return Refused("a later round may touch what an earlier one does in a later column")
    i, j = Sym(loop.sym.name), Sym(inner.sym.name)
    body = Copier({loop.sym: poly(i), inner.sym: poly(j)}).stmts(inner.body)
    return [replace(inner, sym=j, body=[replace(loop, sym=i, body=body)])]


def _free(loop: lp.For, inner: lp.For, known: Known) -> bool:
    a, b, c, d = (Sym(name) for name in "abcd")
    rows = (poly(a) - loop.low, poly(b) - poly(a) - 1, loop.high - poly(b) - 1)
    order = Order((*known, *rows, poly(c) - inner.low, poly(d) - poly(c) - 1, inner.high - poly(d) - 1))
    later: dict[Atom, Poly] = {loop.sym: poly(b), inner.sym: poly(c)}
    return order.apart(order.touched(inner.body, later), order.touched(inner.body, {loop.sym: poly(a), inner.sym: poly(d)}))
