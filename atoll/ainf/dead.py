"""Dead lines: those that neither a result nor an effect reaches."""

from __future__ import annotations

from atoll.ainf import ir
from atoll.ainf.scan_prim import blocks, line_refs, refs


def alive(program: ir.Program) -> set[ir.Line]:
    """Lines reachable from the results and from effects, inside blocks too."""
    seen: set[ir.Line] = set()
    queue: list[ir.Ref] = []

    def effects(block: ir.Block) -> None:
        for line in block.lines:
            if isinstance(line.prim, ir.EFFECTS) or _has_effect(line):
                visit(line)

    def visit(line: ir.Line) -> None:
        if line in seen:
            return
        seen.add(line)
        for inner in blocks(line.prim):
            effects(inner)
            seen.update(inner.params)
        for ref in refs(line.prim, inside=False):
            queue.append(ref)
        for cond in line.conds:
            queue.extend(cond.refs())
        for result in line.results:
            for axis in result.axes:
                queue.extend(ir.poly_refs(axis))
        for dim in line.dims:
            queue.extend(ir.poly_refs(dim.extent))
        if isinstance(line.prim, ir.Print):
            for part in line.prim.parts:
                if not isinstance(part, str):
                    for array in part[0][1]:
                        queue.extend(ir.operand_refs(array.body))
        if isinstance(line.prim, ir.While):
            for head in line.prim.head:
                visit(head)

    effects(program.block)
    for array in program.results:
        queue.extend(ir.operand_refs(array.body))
        for b in array.binders:
            queue.extend(ir.poly_refs(b.extent))
    while queue:
        visit(queue.pop().line)
    return seen


def _has_effect(line: ir.Line) -> bool:
    """A loop whose body checks or prints has that effect itself."""
    return any(isinstance(inner.prim, ir.EFFECTS) or _has_effect(inner) for block in blocks(line.prim) for inner in block.lines)


def remove_dead(program: ir.Program) -> ir.Program:
    """The program with dead lines dropped."""
    keep = alive(program)

    def sweep(block: ir.Block) -> None:
        block.lines = [line for line in block.lines if line in keep]
        for line in block.lines:
            for inner in blocks(line.prim):
                sweep(inner)

    sweep(program.block)
    return program


__all__ = ["alive", "line_refs", "remove_dead"]
