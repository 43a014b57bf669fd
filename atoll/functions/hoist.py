"""Hoist: all functions to one bundle at the top. Functions must have no free variables other than functions (closure conversion)."""

from __future__ import annotations

from atoll.functions import ir
from atoll.functions.deep import Deep, run


def hoist(program: ir.Program) -> ir.Program:
    """The program as one bundle and a block. The inverse of nothing: nests of definitions cost nothing and mean nothing here."""
    top: list[ir.Fun] = []
    block = run(_block(program.block, top))
    binds = (ir.Funs(tuple(top)), *block.binds) if top else block.binds
    return program.with_block(ir.Block(binds, block.term))


def _block(block: ir.Block, top: list[ir.Fun]) -> Deep[ir.Block]:
    out: list[ir.Bind] = []
    for bind in block.binds:
        if isinstance(bind, ir.Funs):
            for f in bind.bundle:
                place = len(top)
                top.append(f)
                top[place] = ir.with_body(f, (yield _block(f.body, top)))
        elif isinstance(bind, ir.Join):
            out.append(ir.Join(bind.name, bind.params, (yield _block(bind.body, top))))
        else:
            out.append(bind)
    term = block.term
    if isinstance(term, ir.Case):
        branches = []
        for con, inner in term.branches:
            branches.append((con, (yield _block(inner, top))))
        term = ir.Case(term.value, tuple(branches))
    return ir.Block(tuple(out), term)
