"""Names that are bound however a loop is left: by every `break` before it, and by the `else` of the loop.

    for i in range(n):
        if x[i] > k:
            t = i
            break
    else:
        t = -1
    return t

The loop's own variable is one where the `else` binds it. A loop that only `break` ends (`while True`) needs no `else`.
"""

from __future__ import annotations

from functools import reduce

from atoll.surface import syntax as s
from atoll.surface.names import Liveness, binds, binds_pattern, binds_target, one_runs, reads

Names = frozenset[str]
_NONE: Names = frozenset()


def bound_however_left(loop: s.While | s.For) -> Names:
    """Such names, but for those that the loop's head, or a round before it binds them, may read: these have a value before the loop."""
    ways = _ways_out(loop, _NONE)
    endless = isinstance(loop, s.While) and isinstance(loop.test, s.Num) and loop.test.value is True
    if not ways or not (loop.orelse or endless):
        return _NONE
    bound, at_head = reduce(frozenset.intersection, ways), binds_target(loop.target) if isinstance(loop, s.For) else _NONE
    return ((bound & at_head) | ((bound & binds(loop.body)) - Liveness(loop.body).before_all)) - reads(loop.iter if isinstance(loop, s.For) else loop.test)


def _ways_out(loop: s.While | s.For, have: Names) -> list[Names]:
    """What is surely bound after a loop, for every `break` and, last, where no `break` ended it."""
    inside = have | binds_target(loop.target) if isinstance(loop, s.For) else have
    ways = _through(loop.body, inside)[1]
    endless = isinstance(loop, s.While) and isinstance(loop.test, s.Num) and loop.test.value is True
    end = None if endless else _through(loop.orelse, have)[0]
    return ways if end is None else [*ways, end]


def _through(stmts: tuple[s.Stmt, ...], have: Names) -> tuple[Names | None, list[Names]]:
    """What is surely bound after statements (None: they do not end here), and at each `break` of the loop around them."""
    breaks: list[Names] = []
    for stmt in stmts:
        match stmt:
            case s.Break():
                return None, [*breaks, have]
            case s.Continue() | s.Return():
                return None, breaks
            case s.While() | s.For():
                breaks += _through(stmt.orelse, have)[1]
                ends: list[Names | None] = list(_ways_out(stmt, have))
            case s.If() | s.Match():
                parts = [(case.body, have | binds_pattern(case.pattern)) for case in stmt.cases] if isinstance(stmt, s.Match) else [(body, have) for body in s.bodies(stmt)]
                found = [_through(body, known) for body, known in parts]
                breaks += [names for _, more in found for names in more]
                ends = [end for end, _ in found] + ([] if one_runs(stmt) else [have])
            case _:
                have = have | binds((stmt,))
                continue
        after = [end for end in ends if end is not None]
        if not after:
            return None, breaks
        have = reduce(frozenset.intersection, after)
    return have, breaks
