"""Making a program again, line by line: derivatives leave it in an order, with duplicates and with loop state that nobody needs.

Afterwards lines follow what they use, equal lines are one, loops carry only live state and nothing is active.
"""

from __future__ import annotations

from atoll.ainf import ir
from atoll.ainf.builder import Builder
from atoll.ainf.dead import Live
from atoll.ainf.replay import Replay, is_marker
from atoll.ainf.scan_prim import blocks


def needs_renormal(program: ir.Program, live: Live) -> bool:
    """Something live is active, or a live loop has dead state."""

    def found(block: ir.Block) -> bool:
        for line in block.lines:
            if line not in live.lines:
                continue
            if is_marker(line.prim):
                return True
            if isinstance(line.prim, (ir.Loop, ir.While)) and any((line, k) not in live.keys for k in range(len(line.results))):
                return True
            if any(found(inner) for inner in blocks(line.prim)):
                return True
        return False

    return found(program.block)


def renormal(program: ir.Program, live: Live) -> ir.Program:
    """The same program, made again."""
    b = Builder(program.name)
    b.portable = bool(program.portable)
    b.sizes |= set(program.sizes)
    b.known += program.facts
    replay = Replay(b, {}, live, program.index_facts)
    for line in program.inputs:
        replay.line(line)
    inputs = list(b.root.lines)
    for line in replay.lines(program.block):
        if line not in program.inputs:
            replay.line(line)
    results = [replay.any(array, {}) for array in program.results]
    return ir.Program(program.name, program.sizes, inputs, b.root, results, program.facts, program.reassociate, b.index_facts, program.open, program.bound, program.span, program.returned, program.portable)
