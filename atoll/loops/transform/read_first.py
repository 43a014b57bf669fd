"""Elements that are the same in every round are read once, before the loop (loop-invariant code motion).

    for c in 0..m:  k = w[i];  y[c] = x[c - k]
becomes
    if m >= 1:  k = w[i];  for c in 0..m:  y[c] = x[c - k]

    read_first(loop, wanted)     the wanted ones of those that a round reads first of all

Right where there is a round, which is tested; where nothing of the loop writes the array or says which element it is; and where a round
reads it before anything else, so that it is read in the first round whatever the data are. What the loop hands to a routine, exchanges or
copies as a whole is not looked into.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops.questions import changed
from atoll.loops.transform.refused import Refused
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
