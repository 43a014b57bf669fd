"""Hoist: all functions to one bundle at the top. Functions must have no free variables other than functions (closure conversion)."""

from __future__ import annotations

from atoll.functions import ir
from atoll.functions.deep import Deep, run
from atoll.functions.walk import with_functions


def hoist(program: ir.Program) -> ir.Program:
    """The program as one bundle and a block. The inverse of nothing: nests of definitions cost nothing and mean nothing here."""
    top: list[ir.Fun] = []
    block = run(_block(program.block, top))
    binds = (ir.Funs(tuple(top)), *block.binds) if top else block.binds
    return program.with_block(ir.Block(binds, block.term))


def _hoisted(bundle: tuple[ir.Fun, ...], top: list[ir.Fun]) -> Deep[tuple[ir.Fun, ...]]:
    """The functions, and those inside them, put on `top`; nothing stays."""
    for f in bundle:
        place = len(top)
        top.append(f)
        top[place] = ir.with_body(f, (yield _block(f.body, top)))
    return ()


def _block(block: ir.Block, top: list[ir.Fun]) -> Deep[ir.Block]:
    return with_functions(block, lambda bundle: _hoisted(bundle, top))
