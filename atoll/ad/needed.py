"""What a reverse sweep reads of a round again: slopes, conditions and places, and what they are computed from (to-be-recorded analysis).

`a[i] = a[i] - a[p] * b[i]` needs a[p] and b[i] on the way back, not the element it overwrites: that only passes its adjoint on. What is overwritten is
kept where it is needed (ad/tape.py), so elimination keeps a column per round and not the rest of the matrix.
"""

from __future__ import annotations

from collections.abc import Iterable

from atoll.ainf import ir
from atoll.ainf.scan_prim import blocks, line_refs

_PASSES_ON = frozenset(("add", "sub", "neg", "read"))
"""Operations whose slopes need no value."""


def needed_refs(prim: ir.Loop) -> dict[ir.Line, set[ir.Ref]]:
    """Of every line of a round, those inside its loops too, what it reads that the sweep needs."""
    lines = list(prim.block.lines)
    for line in lines:  # grows
        for inner in blocks(line.prim):
            lines += inner.lines
    found = {line: set(line_refs(line)) if line.block is not prim.block or blocks(line.prim) else _at_once(line) for line in lines}
    waiting = [ref for refs in found.values() for ref in refs]
    waiting += [inner for array in prim.results for ref in ir.operand_refs(array.body) for inner in _places(ref)]
    again: set[ir.Line] = set()  # lines that are computed again, from all they read
    while waiting:
        line = waiting.pop().line
        if line not in again and line in found:
            again.add(line)
            found[line] = set(line_refs(line))
            waiting += found[line]
    return found


def _at_once(line: ir.Line) -> set[ir.Ref]:
    """What the rule of a line reads itself. What it only passes adjoints on to is none of it, but for the places."""
    prim = line.prim
    match prim:
        case ir.Op() if prim.name in _PASSES_ON:
            passed: Iterable[ir.Operand] = prim.args
        case ir.Select():
            passed = (prim.then, prim.orelse)
        case ir.Reduce(monoid="add"):
            passed = (prim.arg,)
        case ir.Scatter(monoid=None | "add"):
            passed = (prim.value, prim.base.body)
        case ir.Display():
            passed = prim.items
        case ir.Check() if prim.value is None:
            passed = ()
        case _:
            return set(line_refs(line))
    through = [x for x in passed if isinstance(x, ir.Ref)]
    counts: dict[ir.Ref, int] = {}
    for ref in line_refs(line):
        counts[ref] = counts.get(ref, 0) + 1
    for ref in through:
        counts[ref] -= 1
    return {ref for ref, n in counts.items() if n > 0}


def _places(ref: ir.Ref) -> list[ir.Ref]:
    return [inner for inner in ref.refs() if inner is not ref]
