"""Folds, scans and combining scatters by any operator, as the loops that compute the same (Schenck 2.5 to 2.7, by the loop rule).

The known operators have rules of their own; for the others the loop's rule is the derivative, exact also where operators are not
commutative, have several components or read free variables (docs/sources.md, Schenck: rules that take free variables from `l ⊙ a ⊙ r` over-count).

All folds that depend on something active are turned before any line is followed. With elements that are the same at every position, lines of
the operator stand outside the loop, and may be lines that others read too: they have to be in order with everything else.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from atoll.ad.indicator import zero
from atoll.ad.lines import is_active, lines_since, spread
from atoll.ad.loop_forward import varied
from atoll.ad.loop_state import abs_reader, new_param, put, read, state_reader, whole
from atoll.ad.regrouped import Regrouped, can_regroup, pays
from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.replay import Reader, Replay, in_order
from atoll.core.prims import MONOIDS
from atoll.sizes import Poly, Sym, poly


def folds_as_loops(b: Builder, start: int, lines: list[ir.Line], active: set[tuple[ir.Line, int]]) -> list[ir.Line]:
    """Turn what folds of these lines depend on something active into loops, those inside loops too; the lines since `start` that there are then.

    Those that forward mode follows as they are stay: what may be regrouped, unless a derivative is taken for many tangents."""
    before = b._count
    kept = set() if b.binders else {x for x in lines if not isinstance(x.prim, ir.Scan) and can_regroup(b, x)}
    _visit(b, lines, set(active), kept)
    return lines if b._count == before else lines_since(b, start)


def folds_regrouped(b: Builder, start: int, lines: list[ir.Line], active: set[tuple[ir.Line, int]]) -> tuple[list[ir.Line], list[Regrouped]]:
    """The same for reverse mode, where folds that may be regrouped are followed in parallel (ad/regrouped.py)."""
    before = b._count
    active = set(active)
    spread(b, lines, active)
    found = []
    for line in lines:
        if _is_general(b, line) and is_active(line, active) and can_regroup(b, line):
            fold = Regrouped(b, line)
            if pays(fold):
                fold.mark()
                found.append(fold)
    if b._count > before:
        lines = lines_since(b, start)
    kept = {x for fold in found for x in (fold.kept, fold.value) if x is not None}
    _visit(b, lines, active, kept)
    return lines if b._count == before else lines_since(b, start), found


def _visit(b: Builder, lines: list[ir.Line], active: set[tuple[ir.Line, int]], kept: Container[ir.Line] = ()) -> None:
    spread(b, lines, active)
    for line in lines:
        if line in kept or not is_active(line, active):
            continue
        prim = line.prim
        if _is_general(b, line):
            before = b._count
            to_loop(b, line)
            loop = line.prim
            assert isinstance(loop, ir.Loop)
            _visit(b, [x for x in lines_since(b, before, line.block) if x is not line], active)  # of the operator, outside the loop
            _visit(b, _round_of(loop), active | {(param, 0) for param in loop.block.params})
        elif isinstance(prim, (ir.Loop, ir.While)):
            _visit(b, _round_of(prim), active | {(prim.block.params[k], 0) for k in varied(b, prim, active)})


def _is_general(b: Builder, line: ir.Line) -> bool:
    """A fold by an operator that has no rule of its own."""
    prim = line.prim
    if isinstance(prim, (ir.Fold, ir.ScanFold, ir.ScatterFold)):
        return True
    known = ("add",) if isinstance(prim, ir.Scan) else (None, "add")
    return isinstance(prim, (ir.Scan, ir.Scatter)) and prim.monoid not in known and b.has_slope(line.results[0].dtype)


def _round_of(prim: ir.Loop | ir.While) -> list[ir.Line]:
    return list(in_order([line for line in prim.block.lines if line not in prim.block.params]))


def to_loop(b: Builder, line: ir.Line) -> None:
    """Turn a fold, a scan or a combining scatter into the loop that computes the same, in place; its results keep their numbers."""
    prim = line.prim
    index = Sym("t")
    block = ir.Block(line.block, frozenset(line.block.ambient | set(line.dims)), frozenset((index,)))
    b.owner[index] = block
    first = prim.binders[0] if isinstance(prim, ir.Scatter) else prim.binder  # type: ignore[union-attr]
    size = first.extent
    b.index_facts[index] = (poly(index), size - 1 - poly(index), *(f.subst({first: poly(index)}) for f in first.facts))
    maker = {ir.Fold: _fold, ir.ScanFold: _scan_fold, ir.Scan: _scan, ir.Scatter: _scatter, ir.ScatterFold: _scatter_fold}[type(prim)]
    with b.reenter(block):
        state, results, extra = maker(b, line, block, index)
    line.prim = ir.Loop(index, size, tuple(state), block, tuple(results))
    line.results = line.results + tuple(extra)
    around: ir.Block | None = line.block
    while around is not None:  # the loop reads lines made just now, here or around
        around.lines[:] = in_order(around.lines)
        around = around.parent


def _operator(b: Builder, prim: Any, state: list[Reader], elements: list[Reader]) -> list[ir.Abs]:
    """The operator's block replayed on these values."""
    replay = Replay(b, {})
    for param, reader in zip(prim.block.params, [*state, *elements], strict=True):
        replay.give(param, 0, reader)
    for line in replay.lines(prim.block):
        replay.line(line)
    return [replay.any(a, {}) for a in prim.results]


def _fold(b: Builder, line: ir.Line, block: ir.Block, index: Sym) -> tuple[list[ir.Abs], list[ir.Abs], list[ir.Result]]:
    prim = line.prim
    assert isinstance(prim, ir.Fold)
    params = [new_param(b, block, "acc", p.results[0].dtype, p.results[0].axes) for p in prim.block.params[: len(prim.start)]]
    env = {prim.binder: poly(index)}
    results = _operator(b, prim, [state_reader(b, p) for p in params], [abs_reader(e, env) for e in prim.elements])
    return list(prim.start), results, []


def _history(b: Builder, block: ir.Block, line: ir.Line) -> tuple[list[ir.Line], list[ir.Abs]]:
    """State for the results of a scan: arrays filled round by round."""
    params = [new_param(b, block, "ys", r.dtype, r.axes) for r in line.results]
    starts = [ir.Abs(tuple(b.fresh_binder("i", a) for a in r.axes), zero(r.dtype)) for r in line.results]
    return params, starts


def _scan_fold(b: Builder, line: ir.Line, block: ir.Block, index: Sym) -> tuple[list[ir.Abs], list[ir.Abs], list[ir.Result]]:
    prim = line.prim
    assert isinstance(prim, ir.ScanFold)
    ys, starts = _history(b, block, line)
    accs = [new_param(b, block, "acc", p.results[0].dtype, p.results[0].axes) for p in prim.block.params[: len(prim.start)]]
    env = {prim.binder: poly(index)}
    after = _operator(b, prim, [state_reader(b, p) for p in accs], [abs_reader(e, env) for e in prim.elements])
    results = []
    for y, acc, new in zip(ys, accs, after, strict=True):
        stored = whole(b, acc) if prim.exclusive else new
        results.append(whole(b, put(b, whole(b, y), y.results[0], (poly(index),), stored)))
    return [*starts, *prim.start], [*results, *after], [acc.results[0] for acc in accs]


def _scan(b: Builder, line: ir.Line, block: ir.Block, index: Sym) -> tuple[list[ir.Abs], list[ir.Abs], list[ir.Result]]:
    prim = line.prim
    assert isinstance(prim, ir.Scan)
    dtype = line.results[0].dtype
    (y,), starts = _history(b, block, line)
    acc = new_param(b, block, "acc", dtype, ())
    before = ir.Ref(acc, 0, ())
    arg = ir.subst_operand(prim.arg, {prim.binder: poly(index)})
    after = scalars.op(b, MONOIDS[prim.monoid][0], (before, arg), dtype, line.span)
    stored = ir.Abs((), before if prim.exclusive else after)
    new = whole(b, put(b, whole(b, y), y.results[0], (poly(index),), stored))
    return [*starts, ir.Abs((), prim.start)], [new, ir.Abs((), after)], [ir.Result(dtype)]


def _scatter(b: Builder, line: ir.Line, block: ir.Block, index: Sym) -> tuple[list[ir.Abs], list[ir.Abs], list[ir.Result]]:
    """One round per value of the first binder: the old element combined with the new one."""
    prim = line.prim
    assert isinstance(prim, ir.Scatter) and prim.monoid is not None
    info = line.results[0]
    h = new_param(b, block, "h", info.dtype, info.axes)
    env: dict[Any, Poly] = {prim.binders[0]: poly(index)}
    row = tuple(b.fresh_binder(x.name, x.extent) for x in prim.binders[1:])
    env.update({x: poly(y) for x, y in zip(prim.binders[1:], row, strict=True)})
    where = tuple(p.subst(env) for p in prim.index)
    guards = _in_range(where, info.axes) if prim.drop else ()
    when = tuple(c.subst(env) for c in prim.when)
    with b.binding(*row), b.under(*when, *guards):
        old = read(b, h, 0, where)
        value = scalars.op(b, MONOIDS[prim.monoid][0], (old, ir.subst_operand(prim.value, env)), info.dtype, line.span)
    new, _ = b.emit(ir.Scatter(whole(b, h), row, where, value, None, False, (*when, *guards)), (info,), hint="u")
    return [prim.base], [whole(b, new)], []


def _in_range(where: tuple[Poly, ...], axes: tuple[Poly, ...]) -> tuple[ir.Cond, ...]:
    return tuple(ir.Cond("ge", q) for p, n in zip(where, axes, strict=True) for q in (p, n - 1 - p))


def _scatter_fold(b: Builder, line: ir.Line, block: ir.Block, index: Sym) -> tuple[list[ir.Abs], list[ir.Abs], list[ir.Result]]:
    prim = line.prim
    assert isinstance(prim, ir.ScatterFold)
    hs = [new_param(b, block, "h", r.dtype, r.axes) for r in line.results]
    env: dict[Any, Poly] = {prim.binder: poly(index)}
    at = prim.index.subst(env)
    guards = _in_range((at,), line.results[0].axes[:1]) if prim.drop else ()
    with b.under(*guards):
        olds: list[Reader] = [state_reader(b, h, 0, (at,)) for h in hs]
        after = _operator(b, prim, olds, [abs_reader(e, env) for e in prim.elements])
    results = []
    for h, value in zip(hs, after, strict=True):
        scatter = ir.Scatter(whole(b, h), value.binders, (at, *(poly(x) for x in value.binders)), value.body, None, False, guards)
        made, _ = b.emit(scatter, (h.results[0],), hint="u")
        results.append(whole(b, made))
    return list(prim.base), results, []
