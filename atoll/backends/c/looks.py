"""Looking now and then whether the user wants to stop: which loops look, and how often.

A function counts down what its loops do, in units of a few operations, and asks the host when they are used up (AT_LOOK in jit.py). A loop whose rounds
are known to be few does not count. One with loops inside that count does so once a round; any other counts a stretch of its rounds at once, so that the
rounds themselves stay as they are. Loops over the indices of a piece need not count when the piece is done in parts (piece_text.py).
"""

from __future__ import annotations

from typing import Any

from atoll.loops import ir as lp
from atoll.loops.profit import QUICK

UNITS = 65536  # between two looks
UNIT = 8  # quick operations in one
_SLOW = 16  # what other operations count for
_OFTEN = 16  # rounds of a loop whose length is not known, as the loops around it count them

_Loop = (lp.For, lp.Accumulate)
_LOOK = (lp.Chunks, lp.Forever, lp.Product, lp.Helper, lp.CopyBuffer)  # of any length, or host to some


def rounds(loop: lp.For | lp.Accumulate) -> int | None:
    """How many, if that is known."""
    found = (loop.high - loop.low).const()
    return max(0, found) if found is not None else None


def operations(stmts: lp.Stmts) -> int:
    """About how many quick operations statements take once."""
    total = 0
    for stmt in stmts:
        inside = sum(operations(body) for body in lp.bodies(stmt))
        if isinstance(stmt, _Loop):
            known = rounds(stmt)
            total += inside * (_OFTEN if known is None else min(known, 1 << 20))
        else:
            total += 1 + inside + _in_expressions(stmt)
    return total


def _in_expressions(x: Any) -> int:
    if isinstance(x, lp.Call):
        return (1 if x.op in QUICK else _SLOW) + sum(map(_in_expressions, x.args))
    if isinstance(x, tuple):
        return sum(map(_in_expressions, x))
    if isinstance(x, lp.Load):
        return 1
    return sum(_in_expressions(getattr(x, name)) for name in lp.FIELDS.get(type(x), ()))


def units(stmts: lp.Stmts) -> int:
    """What a round counts: a power of two."""
    return 1 << min(12, max(0, (operations(stmts) - 1) // UNIT).bit_length())


def is_short(loop: lp.For | lp.Accumulate) -> bool:
    """Over before a look is due."""
    known = rounds(loop)
    return known is not None and known * units(loop.body) <= UNITS and not looks(loop.body)


def looks(stmts: lp.Stmts) -> bool:
    """Whether there are loops inside that may take long."""
    return any(isinstance(s, _LOOK) or (isinstance(s, _Loop) and not is_short(s)) for s in lp.walk(stmts))
