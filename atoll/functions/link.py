"""Linking: `link(x, library, client) = fun f() = library; x = f(); client` (docs/sources.md, CertiCoq).

Parts compiled with different selections link, because every pass keeps the values a part exchanges with another: after closure conversion a
function value is a closure cell whatever the selection was, and calls of one go through its entry.
"""

from __future__ import annotations

from atoll.functions import ir
from atoll.functions.closure_convert import CLOSURE


def link(library: ir.Program, client: ir.Program, names: ir.Vars) -> ir.Program:
    """The client with its free `names` standing for the library's results. Both before closure conversion, or both after."""
    start = ir.Var("library", ir.CODE)
    define = ir.Funs((ir.Fun(start, (), library.block, library.results),))
    return ir.Program(ir.Block((define, ir.Call(names, start, ()), *client.block.binds), client.block.term), client.results)


def link_converted(library: ir.Program, client: ir.Program, names: ir.Vars) -> ir.Program:
    """The same for closed code: the two bundles become one."""
    lib_funs, lib_block = _split(library)
    client_funs, client_block = _split(client)
    start = ir.Var("library", ir.CODE)
    bundle = (*lib_funs, ir.Fun(start, (), lib_block, library.results), *client_funs)
    return ir.Program(
        ir.Block((ir.Funs(bundle), ir.Call(names, start, ()), *client_block.binds), client_block.term), client.results
    )


def _split(program: ir.Program) -> tuple[tuple[ir.Fun, ...], ir.Block]:
    binds = program.block.binds
    if binds and isinstance(binds[0], ir.Funs):
        return binds[0].bundle, ir.Block(binds[1:], program.block.term)
    return (), program.block


__all__ = ["CLOSURE", "link", "link_converted"]
