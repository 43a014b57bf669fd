"""Liveness: which results of which lines a program's results or effects reach. The state of a loop lives value by value."""

from __future__ import annotations

from collections.abc import Iterable

from atoll.ainf import ir
from atoll.ainf.check import check
from atoll.ainf.scan_prim import blocks, refs
from atoll.uncollected import uncollected

Key = tuple[ir.Line, int]


class Live:
    """`keys` are the live (line, result) pairs; `lines` the lines that have one, or an effect."""

    def __init__(self, program: ir.Program) -> None:
        self.keys: set[Key] = set()
        self.lines: set[ir.Line] = set()
        self._queue: list[Key] = []
        self._owner: dict[ir.Line, tuple[ir.Line, int]] = {}  # a parameter of a loop: whose state it is
        self._effects(program.block)
        for array in program.results:
            self._array(array)
        while self._queue:
            self._key(*self._queue.pop())

    def _refs(self, found: Iterable[ir.Ref]) -> None:
        for ref in found:
            key = (ref.line, ref.result)
            if key not in self.keys:
                self.keys.add(key)
                self._queue.append(key)

    def _array(self, array: ir.Abs) -> None:
        self._refs(ir.operand_refs(array.body))
        for b in array.binders:
            self._refs(ir.poly_refs(b.extent))

    def _effects(self, block: ir.Block) -> None:
        for line in block.lines:
            if isinstance(line.prim, ir.EFFECTS) or has_effect(line):
                self._line(line)

    def _line(self, line: ir.Line) -> None:
        """What a line needs whichever of its results is used."""
        if line in self.lines:
            return
        self.lines.add(line)
        for cond in line.conds:
            self._refs(cond.refs())
        for dim in line.dims:
            self._refs(ir.poly_refs(dim.extent))
        prim = line.prim
        for inner in blocks(prim):
            self._effects(inner)
            self.lines.update(inner.params)
        if not isinstance(prim, (ir.Loop, ir.While)):
            self._refs(refs(prim, inside=False))
            for result in line.results:
                for axis in result.axes:
                    self._refs(ir.poly_refs(axis))
            return
        self._owner.update({param: (line, k) for k, param in enumerate(prim.block.params)})
        for cond in prim.when:
            self._refs(cond.refs())
        if isinstance(prim, ir.Loop):
            self._refs(ir.poly_refs(prim.size))
            return
        self._refs([*ir.poly_refs(prim.size), *ir.operand_refs(prim.cond)])
        for head in prim.head:
            self._line(head)
        if prim.bound is not None:
            self._refs(ir.poly_refs(prim.bound))

    def _key(self, line: ir.Line, k: int) -> None:
        self._line(line)
        prim = line.prim
        if isinstance(prim, (ir.Loop, ir.While)):
            self._array(prim.state[k])
            self._array(prim.results[k])
            for axis in line.results[k].axes:
                self._refs(ir.poly_refs(axis))
        owner = self._owner.get(line)
        if owner is not None and owner not in self.keys:
            self.keys.add(owner)
            self._queue.append(owner)


def has_effect(line: ir.Line) -> bool:
    """A loop whose body checks or prints has that effect itself."""
    return any(isinstance(inner.prim, ir.EFFECTS) or has_effect(inner) for block in blocks(line.prim) for inner in block.lines)


def alive(program: ir.Program) -> set[ir.Line]:
    """Lines reachable from the results and from effects, inside blocks too."""
    return Live(program).lines


@uncollected
def remove_dead(program: ir.Program) -> ir.Program:
    """The program with dead lines and dead loop state dropped."""
    from atoll.ainf.renormal import needs_renormal, renormal

    live = Live(program)
    while needs_renormal(program, live):
        program = renormal(program, live)
        live = Live(program)
    keep = live.lines

    def sweep(block: ir.Block) -> None:
        block.lines = [line for line in block.lines if line in keep]
        for line in block.lines:
            for inner in blocks(line.prim):
                sweep(inner)

    sweep(program.block)
    return check(program)
