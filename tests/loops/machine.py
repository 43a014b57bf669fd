"""Statements run as they stand, for tests of transformations: what memory holds after them, by the checked executor (an element read before it is written, or out of range, is `Stuck`)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from atoll.loops import ir as lp
from atoll.loops.execute import Executor
from atoll.sizes import Sym

Given = Mapping[lp.Buffer, "np.ndarray | None"]  # None: memory without values
Left = dict[str, tuple[list[object], list[bool]]]


def left(stmts: lp.Stmts, given: Given, sizes: Mapping[Sym, int], backwards: bool = False, piece: int = 2) -> Left:
    """The cells of every array that was given, and which of them have a value. Independent rounds and pieces also go from last to first."""
    filled = {b: value.copy() for b, value in given.items() if value is not None}
    machine = Executor(lp.Function("f", tuple(sizes), list(filled), [], stmts, []), list(filled.values()), dict(sizes), piece, backwards)
    for b in given.keys() - filled.keys():
        machine._alloc(b)
    with np.errstate(all="ignore"):
        machine.stmts(stmts)
    return {b.name: (np.where(machine.memory[b].written, machine.memory[b].cells, 0).tolist(), machine.memory[b].written.tolist()) for b in given}


def same(before: lp.Stmts, after: lp.Stmts, given: Given, sizes: Mapping[Sym, int], piece: int = 2) -> bool:
    """Both leave the same memory, whatever the order of what is independent."""
    expected = left(before, given, sizes)
    return all(repr(left(after, given, sizes, backwards, piece)) == repr(expected) for backwards in (False, True))
