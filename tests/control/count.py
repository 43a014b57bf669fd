"""How much a program moves: bytes stored by the checked executor, whole copies included. Deterministic, so growth is tested without a clock."""

from __future__ import annotations

import itertools
from typing import Any

from atoll.core.binding import bind_call
from atoll.core.values import leaves
from atoll.loops import ir as lp
from atoll.loops.execute import Executor
from atoll.runtime.arguments import from_python
from tests.agreement import stages


class Count(Executor):
    """Runs loops and counts the bytes they store, and the rounds of loops in order."""

    moved = 0
    rounds = 0

    def write(self, buffer: Any, at: Any, value: Any) -> None:
        self.moved += buffer.dtype.numpy.itemsize
        super().write(buffer, at, value)

    def stmt(self, s: Any) -> None:
        if isinstance(s, lp.CopyBuffer):
            self.moved += self.memory[s.source].cells.nbytes
        elif isinstance(s, lp.Update):
            self.moved += s.buffer.dtype.numpy.itemsize
        super().stmt(s)


def moved(f: Any, *args: Any) -> int:
    """Bytes that a call stores."""
    _, loops = stages(f)
    given = from_python(f.core, f._arguments(args, {}))
    run = Count(loops, [leaf for x in given for leaf in leaves(x)], bind_call(f.core, given), 1000)
    run.run()
    return run.moved


def growth(f: Any, make: Any, sizes: tuple[int, ...]) -> list[float]:
    """How the bytes grow from size to size."""
    found = [max(moved(f, *make(s)), 1) for s in sizes]
    return [b / a for a, b in itertools.pairwise(found)]
