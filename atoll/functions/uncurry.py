"""Uncurry: a function that returns a function at once gets a twin that takes all parameters.

    fun f(x) = fun g(y) = b; ret g     ⇒     fun f'(x, y) = b    fun f(x') = (wrapper) fun g(y') = (wrapper) f'(x', y'); ret g

The whole nest is taken at once: level by level, a function of three parameters would stay curried after the thirteen passes
(docs/sources.md F1). Inlining the wrappers and shrinking then turns saturated calls of f into calls of f'.
"""

from __future__ import annotations

from atoll.functions import ir
from atoll.functions.deep import Deep, run
from atoll.functions.names import mentions
from atoll.functions.walk import with_functions


def uncurry(program: ir.Program) -> ir.Program:
    """The program with multi-argument twins for curried functions."""
    return program.with_block(run(_block(program.block)))


def _block(block: ir.Block) -> Deep[ir.Block]:
    return with_functions(block, _bundle)


def _bundle(bundle: tuple[ir.Fun, ...]) -> Deep[list[ir.Fun]]:
    done = []
    for f in bundle:
        for made in _split(f):
            done.append(ir.with_body(made, (yield _block(made.body))))
    return done


def _returned(f: ir.Fun) -> ir.Fun | None:
    """The function a function does nothing but return."""
    body = f.body
    if len(body.binds) != 1 or not isinstance(body.binds[0], ir.Funs) or len(body.binds[0].bundle) != 1:
        return None
    (g,) = body.binds[0].bundle
    returns_it = isinstance(body.term, ir.Ret) and body.term.values == (g.name,)
    return g if returns_it and not g.marked and not mentions(g.body, (g.name,)) else None


def _split(f: ir.Fun) -> list[ir.Fun]:
    """A curried function as its wrapper and the twin that takes everything; any other function as it is."""
    nest: list[ir.Fun] = []
    inner = None if f.marked else _returned(f)
    while inner is not None:
        nest.append(inner)
        inner = _returned(inner)
    if not nest:
        return [f]
    twin = f.name.again()
    levels = [f, *nest]
    fresh = [tuple(p.again() for p in level.params) for level in levels]
    body = ir.Block((), ir.Tail(twin, tuple(p for params in fresh for p in params)))
    for level, params in zip(reversed(nest), reversed(fresh), strict=False):
        wrapper = level.name.again()
        body = ir.Block((ir.Funs((ir.Fun(wrapper, params, body, level.results, True, level.span),)),), ir.Ret((wrapper,)))
    params = tuple(p for level in levels for p in level.params)
    last = nest[-1]
    return [ir.Fun(f.name, fresh[0], body, f.results, True, f.span), ir.Fun(twin, params, last.body, last.results, False, f.span)]
