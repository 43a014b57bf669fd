"""Opaque parts of a program: a line of the normal form that the tensor language does not have (a scan, a histogram, a loop, a sort,
a check), kept whole. Its meaning is the normal form's evaluator; its loops are those lower/ makes for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.ainf import ir
from atoll.ainf.evaluate import Evaluator, Frame
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.ainf.show import prim_text
from atoll.sizes import Atom, Sym


@dataclass(eq=False)
class Routine:
    """`line` and the cheap lines only it needs, from the arrays of `given` lines. `params` are integers given as unknowns."""

    program: ir.Program
    line: ir.Line
    inner: list[ir.Line]
    given: list[tuple[ir.Line, int]]
    params: dict[ir.Line, Sym]

    @property
    def label(self) -> str:
        return f"{self.line.name} = {prim_text(self.line.prim)}"

    @property
    def digest(self) -> str:
        """What the routine is, for certificates."""
        text = "\n".join(f"{line.dims} {line.conds} {prim_text(line.prim)}" for line in (*self.inner, self.line))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def rows(self) -> int:
        """How many of its first axes are independent of each other: none where it does more than give values (a check, a print), since then it is
        run as a whole or not at all."""
        lines = [*self.inner, self.line]
        plain = not self.line.conds and all(isinstance(x.prim, _TOTAL) and not getattr(x.prim, "when", ()) and not _can_fail(x.prim) for x in _all(lines))
        return len(self.line.dims) if plain else 0

    @property
    def results(self) -> list[tuple[ir.Line, int]]:
        return [(self.line, k) for k in range(len(self.line.results))]

    def evaluate(self, args: list[Any], sizes: dict[Atom, int]) -> list[Any]:
        """The result arrays (dims first, then axes), by the evaluator of the normal form."""
        run = Evaluator.__new__(Evaluator)
        run.program, run.portable, run.work = self.program, self.program.portable, 0
        run.sizes = dict(sizes)
        run.inputs = {line.id: np.int64(sizes[sym]) for line, sym in self.params.items()}
        frame = Frame(self.program.block, None, [], {})
        for (line, result), array in zip(self.given, args, strict=True):
            if isinstance(line.prim, (ir.Input, ir.ConstArray)):
                run.inputs[line.id] = array
            for at in np.ndindex(*np.shape(array)[: len(line.dims)]):
                frame.memo[(line.id, result, at)] = array[at] if line.dims else array
        run.effect(self.line, frame, {})
        found = []
        for _, k in self.results:
            extents = [run.poly(d.extent, frame, {}) for d in self.line.dims]
            out = np.zeros((*extents, *(run.poly(p, frame, {}) for p in self.line.results[k].axes)), self.line.results[k].dtype.numpy)
            for at in np.ndindex(*extents):
                env: dict[Atom, int] = dict(zip(self.line.dims, at, strict=True))
                if all(run.holds(c, frame, env) for c in self.line.conds):
                    out[at] = run.value(self.line, k, at, frame, env)
            found.append(out if out.ndim else out[()])
        return found


_TOTAL = (ir.Op, ir.Cast, ir.Select, ir.Truth, ir.Extent, ir.Param, ir.Reduce, ir.ArgReduce, ir.Fold, ir.Scan, ir.ScanFold, ir.Argsort, ir.Scatter, ir.ScatterFold, ir.Loop)


def _can_fail(prim: ir.Prim) -> bool:
    return isinstance(prim, ir.Cast) and ir.operand_dtype(prim.arg).is_float


def _all(lines: Sequence[ir.Line]) -> Iterator[ir.Line]:
    """Also those of blocks inside."""
    for line in lines:
        yield line
        for block in blocks(line.prim):
            yield from _all(block.lines)


def gather(program: ir.Program, line: ir.Line, kept: set[ir.Line], params: dict[ir.Line, Sym]) -> Routine:
    """The routine for a line: what it reads down to lines that are kept as arrays."""
    inner: dict[ir.Line, None] = {}
    given: dict[tuple[ir.Line, int], None] = {}
    queue = [line]
    seen = {line}
    while queue:
        for ref in line_refs(queue.pop()):
            other = ref.line
            if other.block is not program.block or other in params:
                continue
            if other in kept or isinstance(other.prim, (ir.Input, ir.ConstArray)):
                given[(other, ref.result)] = None
            elif other not in seen:
                seen.add(other)
                inner[other] = None
                queue.append(other)
    order = {x: k for k, x in enumerate(program.block.lines)}
    return Routine(program, line, sorted(inner, key=order.__getitem__), sorted(given, key=lambda g: (g[0].id, g[1])), params)
