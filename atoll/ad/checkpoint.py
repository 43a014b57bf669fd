"""Strip-mining: n rounds as blocks of rounds, to any depth, so that the tape has about depth * n**(1/depth) slots (Schenck 2.4)."""

from __future__ import annotations

from atoll.ad.loop_state import new_param, state_reader, whole
from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.replay import Replay
from atoll.errors import NOWHERE
from atoll.sizes import Sym, poly
from atoll.types.dtypes import F64, I64


def strip_mine(b: Builder, line: ir.Line, depth: int) -> None:
    """n rounds as about n**(1/depth) blocks of rounds, to depth levels: the tape then has few slots per level."""
    prim = line.prim
    assert isinstance(prim, ir.Loop)
    dtype_f = F64
    with b.binding(*line.dims), b.under(*line.conds):
        n = scalars.from_poly(prim.size)
        size_f = scalars.cast(b, n, dtype_f, NOWHERE)
        root = scalars.op(b, "pow", (size_f, ir.Const((depth - 1) / depth, dtype_f)), dtype_f, NOWHERE)
        block_f = scalars.op(b, "max", (scalars.op(b, "ceil", (root,), dtype_f, NOWHERE), ir.Const(1.0, dtype_f)), dtype_f, NOWHERE)
        step = scalars.cast(b, block_f, I64, NOWHERE)
        up = scalars.op(b, "sub", (scalars.op(b, "add", (n, step), I64, NOWHERE), ir.Const(1, I64)), I64, NOWHERE)
        outer_size = b.ref(ir.Op("floordiv", (up, step)), ir.Result(I64), hint="n")
    outer, inner_index = Sym(f"{prim.index.name}_o"), Sym(f"{prim.index.name}_i")
    m, total = scalars.as_poly(b, step), prim.size
    assert m is not None
    block = ir.Block(line.block, frozenset(line.block.ambient | set(line.dims)), frozenset((outer,)))
    b.owner[outer] = block
    rounds = poly(ir.ref_atom(outer_size))
    b.index_facts[outer] = (poly(outer), rounds - 1 - poly(outer))
    with b.reenter(block):
        params = [
            new_param(b, block, p.prim.name, p.results[0].dtype, p.results[0].axes)  # type: ignore[union-attr]
            for p in prim.block.params
        ]
        done = b.ref(ir.Op("mul", (scalars.from_poly(poly(outer)), step)), ir.Result(I64), hint="done")
        done_p = poly(ir.ref_atom(done))
        left = scalars.op(b, "min", (step, scalars.from_poly(total - done_p)), I64, NOWHERE)
        inner_size = scalars.as_poly(b, left)
        assert inner_size is not None
        inner_block = b.new_block((inner_index,))
        b.index_facts[inner_index] = (poly(inner_index), inner_size - 1 - poly(inner_index), total - 1 - done_p - poly(inner_index), done_p)
        with b.inside(inner_block):
            replay = Replay(b, {prim.index: done_p + poly(inner_index)})
            for p in prim.block.params:
                info = p.results[0]
                new = new_param(b, inner_block, p.prim.name, info.dtype, info.axes)  # type: ignore[union-attr]
                replay.give(p, 0, state_reader(b, new))
            for x in replay.lines(prim.block):
                replay.line(x)
            results = tuple(replay.any(a, {}) for a in prim.results)
        firsts = tuple(whole(b, p) if p.results[0].axes else ir.Abs((), ir.Ref(p, 0, ())) for p in params)
        loop = ir.Loop(inner_index, inner_size, firsts, inner_block, results, depth - 1, prim.no_false_deps)
        made, where = b.emit(loop, tuple(p.results[0] for p in params), line.span, "l")
        outs = []
        for k, p in enumerate(params):
            outs.append(whole(b, made, k, where) if p.results[0].axes else ir.Abs((), ir.Ref(made, k, where)))
    line.prim = ir.Loop(outer, rounds, prim.state, block, tuple(outs), when=prim.when)
