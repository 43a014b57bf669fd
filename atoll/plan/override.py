"""Overriding the plan: what becomes of a value the program names.

    store    its elements are computed in a loop of their own and kept in memory until nobody reads them
    once     each element is computed once, in the loop of its readers where they can share one, else kept in memory
    inline   it is computed again wherever it is read

`f.with_plan(bx="store")` says so for one function value, `plan.bx = store` in the .tune file for a function of a file. A name stands for every
value bound to it. Results are the same bits, whatever is chosen: only where and how often an element is computed changes. What cannot be
done is refused with the place and the reason; nothing is ignored.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from atoll.ainf import ir
from atoll.ainf.dead import remove_dead
from atoll.ainf.from_core import translate
from atoll.ainf.keep import refuse
from atoll.ainf.scan_prim import blocks
from atoll.core import ir as core
from atoll.errors import fail

WORDS = ("store", "once", "inline")
MOST = 10_000  # operations in the expression of a value that is computed again at each use

def planned(fn: core.Function, plan: Mapping[str, str]) -> ir.Program:
    """The normal form of a function, each value that the plan names marked with what becomes of it."""
    for name, word in plan.items():
        if word not in WORDS:
            fail("E0818", fn.span, fn=fn.name, name=name, given=word)
    program = translate(fn, plan=plan)
    program = remove_dead(program)
    if plan:
        _check(fn, program, plan)
    return program


def _check(fn: core.Function, program: ir.Program, plan: Mapping[str, str]) -> None:
    found = {line.keep[1] for line in _lines(program.block) if line.keep is not None}
    for name, word in plan.items():
        if name not in program.bound:
            near = difflib.get_close_matches(name, program.bound, 1)
            known = ", ".join(sorted(program.bound)) or "none, since it binds no names"
            fail("E0816", fn.span, fn=fn.name, name=name, help=f"did you mean {near[0]}?" if near else f"the names it binds are: {known}")
        if name not in found and word != "inline":
            refuse(name, word, "nobody needs its value, or it is known when the program is compiled", program.bound[name], fn.name)


def _lines(block: ir.Block) -> Iterator[ir.Line]:
    for line in block.lines:
        yield line
        for inner in blocks(line.prim):
            yield from _lines(inner)


def kept(lines: list[ir.Line], word: str) -> set[ir.Line]:
    """The lines of a block that are to be stored, computed once, or inlined."""
    return {line for line in lines if line.keep is not None and line.keep[0] == word}
