"""What loops do at concrete sizes, counted: the checked executor with a tally.

    operations   scalar primitives on data; arithmetic of indices is not counted
    loads, stores   elements read and written, those of whole copies too
    rounds       statements that ran, which bounds the rounds of loops however little is in them

Counts of two sizes show an order of growth, those of two programs a ratio, on any machine alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.execute import Executor
from atoll.sizes import Sym


@dataclass
class Counts:
    operations: int = 0
    loads: int = 0
    stores: int = 0
    rounds: int = 0

    @property
    def work(self) -> int:
        """Operations and elements moved: what a program costs, up to a factor."""
        return self.operations + self.loads + self.stores


class Counting(Executor):
    def __init__(self, fn: lp.Function, inputs: list[Any], sizes: dict[Sym, int], piece: int = 1 << 30) -> None:
        super().__init__(fn, inputs, sizes, piece)
        self.counts = Counts()

    def op(self, op: str, args: list[Any], dtype: Any) -> Any:
        self.counts.operations += 1
        return super().op(op, args, dtype)

    def expr(self, e: lp.Expr) -> Any:
        if isinstance(e, lp.Load):
            self.counts.loads += 1
        return super().expr(e)

    def stmt(self, stmt: lp.Stmt) -> None:
        self.counts.rounds += 1
        if isinstance(stmt, lp.Update):
            self.counts.loads += 1
            self.counts.stores += 1
        elif isinstance(stmt, lp.CopyBuffer):
            self.counts.loads += self.memory[stmt.source].cells.size
            self.counts.stores += self.memory[stmt.source].cells.size
        super().stmt(stmt)

    def write(self, b: lp.Buffer, at: tuple[int, ...], value: Any) -> None:
        self.counts.stores += 1
        super().write(b, at, value)


def counted(fn: lp.Function, inputs: list[Any], sizes: dict[Sym, int]) -> Counts:
    """What running the loops takes, with all pieces in one."""
    executor = Counting(fn, inputs, sizes)
    executor.run()
    return executor.counts
