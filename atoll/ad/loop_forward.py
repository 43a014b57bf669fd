"""Forward mode through loops: tangents are further state.

The loop is changed in place, so its primal is computed once. A derivative mapped over seeds (jacfwd, hessian) carries one tangent per seed: the
seeds' indices become axes of the tangent. A loop that stands outside what its tangents depend on is copied to where they are.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from atoll.ad import lines as help_
from atoll.ad.indicator import zero
from atoll.ad.loop_state import new_param, read, state_reader
from atoll.ainf import ir
from atoll.ainf.builder import Builder
from atoll.ainf.replay import Replay, in_order
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.sizes import Atom, Poly, poly

if TYPE_CHECKING:
    from atoll.ad.forward import Forward


def varied(b: Builder, prim: ir.Loop | ir.While, active: set[Any]) -> list[int]:
    """States of numbers that depend on something active, from outside or from each other."""
    block = prim.block
    found: set[int] = set()
    lines = list(in_order(block.lines))
    while True:
        keys = set(active) | {(block.params[k], 0) for k in found}
        for line in lines:
            if any((r.line, r.result) in keys for r in line_refs(line)):
                keys |= {(line, k) for k in range(len(line.results))}
        new = set(found)
        for k, (first, result) in enumerate(zip(prim.state, prim.results, strict=True)):
            if not b.has_slope(block.params[k].results[0].dtype):
                continue
            if any((r.line, r.result) in keys for a in (first, result) for r in ir.operand_refs(a.body)):
                new.add(k)
        if new == found:
            return sorted(found)
        found = new


def forward_loop(fwd: Forward, line: ir.Line) -> None:
    """The loop carries tangents beside its state; a loop that stands outside what its tangents depend on is copied to them."""
    prim = line.prim
    assert isinstance(prim, (ir.Loop, ir.While))
    seeds, deeper = _foreign(fwd, line)
    if deeper:
        _forward_copy(fwd, line)
        return
    states = varied(fwd.b, prim, set(fwd.tangents))
    before = len(line.results)
    _release(prim.block, frozenset(seeds))
    line.prim = _with_tangents(fwd, prim, states, seeds)
    axes = tuple(x.extent for x in seeds)
    line.results += tuple(ir.Result(line.results[k].dtype, axes + line.results[k].axes) for k in states)
    dims = len(line.dims)
    at_seed = tuple(poly(x) for x in seeds)
    for position, k in enumerate(states):

        def read_tangent(index: tuple[Poly, ...], result: int = before + position) -> ir.Operand:
            return read(fwd.b, line, result, index[:dims] + at_seed + index[dims:])

        fwd.give(line, k, read_tangent)


def _foreign(fwd: Forward, line: ir.Line) -> tuple[tuple[ir.Binder, ...], bool]:
    """Indices of a mapped derivative that tangents depend on and the loop does not; whether they depend on an inner loop."""
    b = fwd.b
    here = set(line.block.ambient) | set(line.dims)  # not the block's: that also has indices it was only written under
    extra: set[ir.Binder] = set()
    for key in {(r.line, r.result) for r in line_refs(line)} & set(fwd.tangents):
        fresh = help_.own_indices(b, *key)
        with b.binding(*fresh):
            tangent = fwd.tangents[key](tuple(poly(x) for x in fresh))
        if any(not r.line.block.encloses(line.block) for r in ir.operand_refs(tangent)):
            return (), True
        queue = list(ir.operand_leaves(tangent))
        while queue:
            x = queue.pop()
            if x in b.owner and not b.owner[x].encloses(line.block):
                return (), True
            if isinstance(x, ir.Binder) and x not in here and x not in fresh and x not in extra:
                extra.add(x)
                queue += x.extent.leaves()
    return tuple(sorted(extra, key=lambda x: x.uid)), False


def _release(block: ir.Block, seeds: frozenset[ir.Binder]) -> None:
    """The block no longer stands under these indices: lines in it have them as dims."""
    block.ambient -= seeds
    for line in block.lines:
        for inner in blocks(line.prim):
            _release(inner, seeds)


def _with_tangents(fwd: Forward, prim: ir.Loop | ir.While, states: list[int], seeds: tuple[ir.Binder, ...]) -> ir.Loop | ir.While:
    """The loop with tangents of some of its states as further state, one per seed."""
    from atoll.ad.forward import Forward as ForwardMode

    b = fwd.b
    block = prim.block
    own = list(in_order([x for x in block.lines if x not in block.params]))
    sizes = tuple(x.extent for x in seeds)
    at_seed = tuple(poly(x) for x in seeds)

    def per_seed(array: ir.Abs) -> ir.Abs:
        """An array that mentions the seeds as one that has them as axes."""
        if not seeds:
            return array
        fresh = []
        env: dict[Atom, Poly] = {}
        for x in seeds:
            new = b.fresh_binder(x.name, x.extent.subst(env))
            env[x] = poly(new)
            fresh.append(new)
        return ir.Abs((*fresh, *array.binders), ir.subst_operand(array.body, env))

    with b.reenter(block):
        inner = ForwardMode(b)
        inner.tangents = dict(fwd.tangents)
        for k in states:
            info = block.params[k].results[0]
            param = new_param(b, block, f"d{block.params[k].prim.name}", info.dtype, sizes + info.axes)  # type: ignore[union-attr]
            inner.give(block.params[k], 0, state_reader(b, param, 0, at_seed))
        inner.run(own)
        results = []
        for k in states:
            array = prim.results[k]
            with b.binding(*array.binders):
                tangent = inner.operand(array.body)
            results.append(per_seed(ir.Abs(array.binders, tangent if tangent is not None else zero(block.params[k].results[0].dtype))))
    firsts = []
    for k in states:
        array = prim.state[k]
        made = fwd.abs_tangent(array)
        firsts.append(per_seed(made if made is not None else ir.Abs(array.binders, zero(block.params[k].results[0].dtype))))
    return dataclasses.replace(prim, state=(*prim.state, *firsts), results=(*prim.results, *results))


def _forward_copy(fwd: Forward, line: ir.Line) -> None:
    """A loop of its own, primal state included, where the tangents are known."""
    b = fwd.b
    replay = Replay(b, {})
    fresh, env = replay.binders(line.dims, {})
    conds = tuple(replay.cond(c, env) for c in line.conds)
    with b.binding(*fresh), b.under(*conds):
        prim = replay.prim(line, env)
        states = varied(fwd.b, prim, set(fwd.tangents))
        moved = _with_tangents(fwd, prim, states, ())
        results = tuple(replay.result(r, env) for r in line.results)
        made, at = b.emit(moved, results + tuple(results[k] for k in states), line.span, line.hint)
    dims = len(fresh)
    for position, k in enumerate(states):

        def read_tangent(index: tuple[Poly, ...], result: int = len(results) + position) -> ir.Operand:
            here = dict(zip(fresh, index[:dims], strict=True))
            return read(b, made, result, tuple(p.subst(here) for p in at) + index[dims:])

        fwd.give(line, k, read_tangent)
