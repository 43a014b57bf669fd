"""What is decided already is not asked: tests of checks that hold, and what has nothing left inside.

    check 0 <= p < k          becomes          check p < k          where p >= 0 is known

    without_proved(check, proves)     the check without the tests that hold; nothing where all of them do
    something_left(stmt)              a branch or a loop as long as anything is done in it

Right where `proves` says so only of what holds whenever the program comes to the check (knowledge/walk.py). A branch or a loop without statements does nothing, but a loop that ends when it
likes may never end, and one with sums or with arrays of its own pieces gives their names a value.
"""

from __future__ import annotations

from collections.abc import Callable

from atoll.loops import ir as lp
from atoll.loops.transform.refused import Made, Refused


def without_proved(check: lp.Check, proves: Callable[[lp.Test], bool]) -> Made:
    left = tuple(t for t in check.tests if not proves(t))
    if len(left) == len(check.tests):
        return Refused("none of its tests is seen to hold")
    return [lp.Check(left, check.site, check.args, instance=check.instance)] if left else []


def something_left(stmt: lp.Stmt) -> lp.Stmts:
    match stmt:
        case lp.If(_, [], []) | lp.For(body=[]) | lp.Accumulate(body=[], accs=[]) | lp.Chunks(body=[], accs=[], buffers=[]):
            return []
    return [stmt]
