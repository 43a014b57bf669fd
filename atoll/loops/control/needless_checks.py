"""Checks that cannot fail are not made, loops that count are written as such, and elements that are there in any case are read before loops.

    p = 0
    forever:  break unless p + 1 < k and x[p] != y;  check 0 <= p < k;  p := p + 1
becomes
    p = 0
    forever:  break unless p + 1 < k and x[p] != y;  p := p + 1                         p >= 0 in every round, and p + 1 < k where it is read

What is known at every statement is found by a walk (knowledge/walk.py); this file says what is done with it (transform/decided.py, counted.py, read_first.py).
"""

from __future__ import annotations

from collections.abc import Callable

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.knowledge.walk import Loop, Rounds, Walk
from atoll.loops.questions import filled_on_condition
from atoll.loops.transform.counted import counted
from atoll.loops.transform.decided import something_left, without_proved
from atoll.loops.transform.read_first import read_in_any_case
from atoll.loops.transform.refused import Refused


def needless_checks(fn: lp.Function, decisions: list[str]) -> lp.Stmts:
    """The statements of a function without the checks that cannot fail."""
    if not any(isinstance(s, (lp.Check, lp.Forever)) for s in lp.walk(fn.body)):
        return fn.body
    walk = _Needless(fn)
    body = walk.body()
    if walk.gone:
        decisions.append(f"{walk.gone} of {walk.gone + walk.kept} checks cannot fail and are not made")
    if walk.counted:
        decisions.append(f"{walk.counted} loops that count are written as such")
    return body


class _Needless(Walk):
    def __init__(self, fn: lp.Function) -> None:
        super().__init__(fn)
        self.perhaps_empty = filled_on_condition(fn.body)  # arrays that may have no values yet
        self.gone = self.kept = self.counted = 0

    def made_check(self, s: lp.Check, proves: Callable[[lp.Test], bool]) -> lp.Stmts:
        found = without_proved(s, proves)
        made = [s] if isinstance(found, Refused) else found
        if not self.looking:
            self.gone, self.kept = self.gone + (not made), self.kept + bool(made)
        return made

    def made_holder(self, s: lp.If | lp.Accumulate | lp.Chunks) -> lp.Stmts:
        return something_left(s)

    def made_loop(self, s: Loop, rounds: Rounds) -> lp.Stmts:
        before = rounds.before
        moved = read_in_any_case(s, lambda load: load.buffer not in self.perhaps_empty and self.in_range(load, before), profit.READ_FIRST)
        *first, loop = [s] if isinstance(moved, Refused) else moved
        if isinstance(loop, lp.Forever):
            found = counted(loop, rounds.steps(), lambda p: self.far_from_overflow(p, before))
            if not isinstance(found, Refused):
                self.counted += 1
                return [*first, *found]
        return [*first, *something_left(loop)]
