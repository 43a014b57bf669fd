"""Elements that are the same in every round are read once, before the loop (loop-invariant code motion).

    for c in 0..m:  k = w[i];  y[c] = x[c - k]
becomes
    if m >= 1:  k = w[i];  for c in 0..m:  y[c] = x[c - k]

    read_first(loop, wanted)               the wanted ones of those that a round reads first of all
    read_in_any_case(loop, there, most)    those that are there, whether rounds come to read them or not

Right where there is a round, which is tested; where nothing of the loop writes the array or says which element it is; and where a round
reads it before anything else, so that it is read in the first round whatever the data are. What the loop hands to a routine, exchanges or
copies as a whole is not looked into. What is in the range of its array and has a value (`there`, of what is known before the loop) is read
in any case, also where rounds would do so under a condition, which C compilers do not dare; an array of which only some rows are kept is not, nor is anything moved
out of rounds that run on threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops.questions import changed
from atoll.loops.transform.refused import Made, Refused
from atoll.sizes import Atom

_OPAQUE = (lp.Helper, lp.Swap, lp.CopyBuffer, lp.Product, lp.Section, lp.Chunks)


@dataclass(frozen=True, slots=True)
class ReadFirst:
    """What stands in the place of the loop, and the names of what it reads no longer."""

    stmts: lp.Stmts
    read: list[lp.Var]


def read_first(loop: lp.For, wanted: Callable[[lp.Let], bool]) -> ReadFirst | Refused:
    if loop.scan:
        return Refused("it is a scan, whose rounds stay as they are")
    if any(isinstance(s, _OPAQUE) for s in lp.walk(loop.body)):
        return Refused("not everything in it is seen")
    made = _steady(loop, wanted)
    if not made:
        return Refused("no element that a round reads first is the same in all of them")
    first: list[lp.Stmt] = [s if s.instance is None else replace(s, instance=s.instance.subst({loop.sym: loop.low})) for s in made]
    rounds = lp.Test("ge", loop.high - loop.low - 1)
    return ReadFirst([lp.If((rounds,), [*first, replace(loop, body=loop.body[len(made) :])])], [s.var for s in made])


def read_in_any_case(loop: lp.For | lp.Forever, there: Callable[[lp.Load], bool], most: int) -> Made:
    """The elements, at most so many, and the loop without them."""
    if isinstance(loop, lp.For) and loop.parallel:
        return Refused("its rounds run on threads")
    variables, arrays = changed(loop.body)
    moving: set[Atom] = {v.atom for v in variables} | ({loop.sym} if isinstance(loop, lp.For) else set())
    moved: list[lp.Stmt] = []

    def stays(load: lp.Load) -> bool:
        return load.buffer not in arrays and load.buffer.rows is None and all(moving.isdisjoint(p.leaves()) for p in load.index)

    def rest(stmts: lp.Stmts) -> list[lp.Stmt]:
        out: list[lp.Stmt] = []
        for s in stmts:
            if isinstance(s, lp.Let) and isinstance(s.value, lp.Load) and len(moved) < most and stays(s.value) and there(s.value):
                moved.append(s)
            else:
                out.append(lp.If(s.tests, rest(s.then), rest(s.orelse)) if isinstance(s, lp.If) else s)
        return out

    body = rest(loop.body)
    return [*moved, replace(loop, body=body)] if moved else Refused("it reads nothing that is the same in every round and there in any case")


def _steady(loop: lp.For, wanted: Callable[[lp.Let], bool]) -> list[lp.Let]:
    """The wanted reads that a round begins with, as long as they are the same in all rounds."""
    variables, arrays = changed(loop.body)
    moving: set[Atom] = {loop.sym, *(v.atom for v in variables)}
    found: list[lp.Let] = []
    for s in loop.body:
        if not isinstance(s, lp.Let) or not isinstance(s.value, lp.Load) or s.value.buffer in arrays:
            break
        if any(not moving.isdisjoint(p.leaves()) for p in s.value.index) or not wanted(s):
            break
        found.append(s)
    return found
