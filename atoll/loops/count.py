"""What loops do at concrete sizes, counted: the checked executor with a tally.

    operations   scalar primitives on data; arithmetic of indices is not counted
    loads, stores   elements read and written, those of whole copies too; bytes_read and bytes_written are
                 their bytes, but for small arrays of the compiler's own that live in registers or near them
    rounds       of all loops

Counts of two sizes show an order of growth, those of two programs a ratio, on any machine alike. `loops/cost.py` gives the same numbers as formulas; what data decide
there has its number here in `times`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.execute import Executor
from atoll.sizes import Sym


@dataclass
class Counts:
    operations: int = 0
    loads: int = 0
    stores: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    rounds: int = 0
    times: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By what happens, and the id of the loop, test or expression it happens to: "rounds", "true" (a test held), "second" (the second of `and`, `or` was looked at), "passed" (a
    loop went on), "kept", "entered"."""

    @property
    def work(self) -> int:
        """Operations and elements moved: what a program costs, up to a factor."""
        return self.operations + self.loads + self.stores

    def read(self, b: lp.Buffer, elements: int = 1) -> None:
        self.loads += elements
        self.bytes_read += 0 if b.local else elements * b.dtype.size

    def wrote(self, b: lp.Buffer, elements: int = 1) -> None:
        self.stores += elements
        self.bytes_written += 0 if b.local else elements * b.dtype.size


class Counting(Executor):
    def __init__(self, fn: lp.Function, inputs: list[Any], sizes: dict[Sym, int], piece: int = 1 << 30) -> None:
        super().__init__(fn, inputs, sizes, piece)
        self.counts = Counts()

    def op(self, op: str, args: list[Any], dtype: Any) -> Any:
        self.counts.operations += 1
        return super().op(op, args, dtype)

    def expr(self, e: lp.Expr) -> Any:
        if isinstance(e, lp.Load):
            self.counts.read(e.buffer)
        elif isinstance(e, lp.Call) and e.op in ("and", "or") and e.dtype.kind == "b":
            first = bool(self.expr(e.args[0]))
            if first == (e.op == "or"):
                return e.dtype.numpy.type(first)
            self.counts.times["second", id(e)] += 1
            return e.dtype.numpy.type(bool(self.expr(e.args[1])))
        return super().expr(e)

    def tests(self, tests: tuple[lp.Test, ...]) -> bool:
        for t in tests:
            if not super().tests((t,)):
                return False
            self.counts.times["true", id(t)] += 1
        return True

    def round(self, loop: lp.Stmt) -> None:
        self.counts.rounds += 1
        self.counts.times["rounds", id(loop)] += 1

    def stmt(self, stmt: lp.Stmt) -> None:
        if isinstance(stmt, lp.Update):
            self.counts.read(stmt.buffer)
            self.counts.wrote(stmt.buffer)
        elif isinstance(stmt, lp.CopyBuffer):
            cells = self.memory[stmt.source].cells
            self.counts.read(stmt.source, cells.size)
            self.counts.wrote(stmt.target, cells.size)
            self.counts.times["rounds", id(stmt)] += cells.size
        elif isinstance(stmt, lp.Chunks):
            self.counts.times["entered", id(stmt)] += self.poly(stmt.extent) > 0
        before = self.counts.stores
        super().stmt(stmt)
        if isinstance(stmt, lp.BreakUnless):
            self.counts.times["passed", id(stmt)] += 1
        elif isinstance(stmt, lp.Helper):
            self.counts.times["rounds", id(stmt)] += self.poly(stmt.sizes[0]) if stmt.sizes else 0
            self.counts.times["kept", id(stmt)] += self.counts.stores - before

    def write(self, b: lp.Buffer, at: tuple[int, ...], value: Any) -> None:
        self.counts.wrote(b)
        super().write(b, at, value)


def counted(fn: lp.Function, inputs: list[Any], sizes: dict[Sym, int]) -> Counts:
    """What running the loops takes, with all pieces in one."""
    executor = Counting(fn, inputs, sizes)
    executor.run()
    return executor.counts
