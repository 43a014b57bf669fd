"""A while loop as a loop with as many rounds as it had: it counts them, and a second loop has the tape (Schenck's inspector)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from atoll.ad.loop_state import new_param, state_reader
from atoll.ainf import ir, scalars
from atoll.ainf.replay import Replay
from atoll.sizes import Sym, poly
from atoll.types.dtypes import I64

if TYPE_CHECKING:
    from atoll.ad.reverse import Reverse


def counted(rev: Reverse, line: ir.Line) -> ir.Line:
    """A while loop as a loop with as many rounds as it had: the while loop counts them, a second loop has the tape."""
    b = rev.b
    prim = line.prim
    assert isinstance(prim, ir.While)
    states = len(prim.state)
    with b.reenter(prim.block):
        count = new_param(b, prim.block, "count", I64, ())
        after = scalars.from_poly(poly(ir.ref_atom(ir.Ref(count, 0, ()))) + 1)
    number = len(line.results)
    line.prim = dataclasses.replace(prim, state=(*prim.state, ir.Abs((), ir.Const(0, I64))), results=(*prim.results, ir.Abs((), after)))
    line.results = (*line.results, ir.Result(I64))
    sweep, b.reverse = b.reverse, line.reverse  # the second loop is no part of the reverse sweep: what it keeps is what the sweep reads
    with b.binding(*line.dims), b.under(*line.conds):
        rounds = poly(ir.ref_atom(ir.Ref(line, number, tuple(poly(d) for d in line.dims))))
        index = Sym("t")
        block = ir.Block(line.block, frozenset(line.block.ambient | set(line.dims)), frozenset((index,)))
        b.owner[index] = block
        b.index_facts[index] = (poly(index), rounds - 1 - poly(index))
        if prim.index is not None:
            b.index_facts[index] += tuple(f.subst({prim.index: poly(index)}) for f in b.index_facts[prim.index][1:])
        with b.reenter(block):
            replay = Replay(b, {} if prim.index is None else {prim.index: poly(index)})
            for param in prim.block.params[:states]:
                info = param.results[0]
                new = new_param(b, block, param.prim.name, info.dtype, info.axes)  # type: ignore[union-attr]
                replay.give(param, 0, state_reader(b, new))
            for x in replay.lines(prim.block):
                if not (isinstance(x.prim, ir.EFFECTS) and not x.results):
                    replay.line(x)
            results = tuple(replay.any(a, {}) for a in prim.results)
        loop = ir.Loop(index, rounds, prim.state, block, results, when=prim.when)
        made, where = b.emit(loop, line.results[:states], line.span, "l")
    b.reverse = sweep
    del where
    rev.spread([made])
    for k in range(states):
        adjoint = rev.adjoint((line, k))
        if adjoint is not None:
            rev.seed((made, k), adjoint)
    return made
