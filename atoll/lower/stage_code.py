"""The code of one stage: what happens before its loops, at its innermost loop, and after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from atoll.ainf import ir
from atoll.ainf.identity import identity_of, is_read, read_arg
from atoll.core.prims import MONOIDS
from atoll.errors import NOWHERE
from atoll.loops import ir as lp
from atoll.lower.block import BufferSink
from atoll.lower.copies import REPLACES, RETURNED, note_copy
from atoll.lower.places import AgainPlace, BufferPlace, Scope, VarPlace
from atoll.lower.product_code import product_code
from atoll.plan.apart import own_place
from atoll.plan.fuse import accumulates_in_memory
from atoll.plan.stages import Stage
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, I64, U8

if TYPE_CHECKING:
    from atoll.lower.block import BlockLowerer


def before_nest(b: BlockLowerer, stage: Stage, binder: ir.Binder, scope: Scope) -> lp.Acc | str:
    """Prepare a loop over an index a stage accumulates over; "sequential" when the rounds depend on each other."""
    prim = stage.prim
    assert stage.line is not None
    if isinstance(prim, ir.Reduce):
        if accumulates_in_memory(stage, b.fuser.orders[stage]):
            return "sequential"
        return lp.Acc(b.fn.line_var(stage.line, stage.line.results[0].dtype), prim.monoid)
    if isinstance(prim, ir.Scan):
        b.make_places(stage, scope, 0)
        var = b.fn.line_var(stage.line, stage.line.results[0].dtype)
        scope.add(lp.Declare(var, b.value(prim.start, b.env(stage), scope)))
        b.scan_vars[stage] = var
        return "sequential"
    return "sequential" if own_place(stage, binder) is None else "apart"


def finish_reduction(b: BlockLowerer, stage: Stage, acc: lp.Acc, scope: Scope, in_piece: bool) -> None:
    """After the loop: the scalar is complete, or complete for this piece."""
    assert stage.line is not None
    if in_piece:
        scope.add(lp.Add(b.totals[stage], acc.monoid, lp.Use(acc.var)))
        return
    settle(b, stage, 0, lp.Use(acc.var), scope)


def settle(b: BlockLowerer, stage: Stage, result: int, value: lp.Expr, scope: Scope) -> None:
    """A scalar result is known: put it where it lives."""
    line = stage.line
    assert line is not None
    place = b.places.get((line, result))
    if isinstance(place, BufferPlace):
        env = b.env(stage)
        index = tuple(b.translate(poly(d), env, scope) for d in line.dims)
        scope.add(lp.Store(place.buffer, place.index(index), value))
    else:
        b.places[(line, result)] = VarPlace(value)


def start_code(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    """What memory holds before a stage accumulates into it."""
    line = stage.line
    assert line is not None
    if isinstance(stage.prim, ir.Scatter) and stage.prim.replaces and isinstance(into := b.places[(line, 0)], BufferPlace):
        note_copy(b, ir.Abs(stage.prim.binders, stage.prim.value), into.buffer, line.dims, REPLACES, line.span, True)
    if (line, 0) in b.inplace.takes:
        return
    place = b.places[(line, 0)]
    assert isinstance(place, BufferPlace)
    env = b.env(stage)
    if isinstance(stage.prim, ir.Scatter):
        base = stage.prim.base
        note_copy(b, base, place.buffer, line.dims, b.inplace.copies.get((line, 0)), line.span, bool(stage.conds))
        if place.positions == tuple(range(len(base.binders))) and not line.dims and not place.offsets:
            _guarded(b, stage, scope, lambda s: b.fill(base, place.buffer, (), env, s))
            return
        prefix = tuple(b.translate(poly(d), env, scope) for d in line.dims)
        _guarded(b, stage, scope, lambda s: _fill_place(b, base, place, prefix, env, s))
        return
    prim = stage.prim
    order = b.fuser.orders[stage]
    at = next(k for k, x in enumerate(order) if x in stage.inner)
    loops = order[at + 1 :]
    inner_env = dict(env)
    scopes = [scope]
    heads: list[tuple[Sym, Poly, Poly]] = []
    for binder in loops:
        sym = Sym(binder.name)
        low, high = b.fuser.range_of(stage, binder, _bounds(b, stage, binder))
        heads.append((sym, b.translate(low, inner_env, scope), b.translate(high, inner_env, scope)))
        inner_env[binder] = poly(sym)
        scopes.append(scopes[-1].child())
    index = tuple(b.translate(poly(d), inner_env, scope) for d in line.dims)
    scopes[-1].add(lp.Store(place.buffer, place.index(index), b.neutral(prim.monoid, line.results[0].dtype)))
    for k in range(len(heads) - 1, -1, -1):
        sym, low, high = heads[k]
        scopes[k].add(lp.For(sym, low, high, scopes[k + 1].stmts, parallel=True))


def _bounds(b: BlockLowerer, stage: Stage, binder: ir.Binder) -> dict[Any, tuple[Poly, Poly]]:
    group = b.piece[0] if b.piece is not None else None
    if group is not None and group.members.get(stage) is binder and group.low is not None and group.high is not None:
        return {(stage, binder): group.bounds}
    return {}


def _fill_place(b: BlockLowerer, array: ir.Abs, place: BufferPlace, prefix: tuple[Poly, ...], env: Any, scope: Scope) -> None:
    """Fill the part of a place below `prefix` with an array."""

    def level(k: int, index: tuple[Poly, ...], env: Any, scope: Scope) -> None:
        if k == len(array.binders):
            scope.add(lp.Store(place.buffer, place.index((*prefix, *index)), b.value(array.body, env, scope)))
            return
        binder = array.binders[k]
        sym = Sym(binder.name)
        inner = scope.child()
        level(k + 1, (*index, poly(sym)), {**env, binder: poly(sym)}, inner)
        scope.add(lp.For(sym, poly(0), b.translate(binder.extent, env, scope), inner.stmts, parallel=True))

    level(0, (), env, scope)


def _guarded(b: BlockLowerer, stage: Stage, scope: Scope, emit: Callable[[Scope], None]) -> None:
    """Emit under the stage's conditions."""
    if not stage.conds:
        emit(scope)
        return
    tests = b.tests(stage.conds, b.env(stage), scope)
    inner = scope.child(*tests)
    emit(inner)
    scope.close(tests, inner)


def main_code(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    """The statement of a stage at its innermost loop."""
    if stage.target is not None:
        _store_result(b, stage, scope)
        return
    prim = stage.prim
    if stage.contraction is not None:
        product_code(b, stage, scope)
        return
    if isinstance(prim, (ir.Op, ir.Cast, ir.Select, ir.Truth, ir.Extent)):
        _element(b, stage, scope)
        return
    code = _CODE[type(prim)]
    if isinstance(prim, (ir.Compress, ir.Loop, ir.While, ir.Check, ir.ArgReduce, ir.Fold)) and stage.conds:
        _conditional_results(b, stage, scope, code)
        return
    _guarded(b, stage, scope, lambda s: code(b, stage, s))


def _conditional_results(b: BlockLowerer, stage: Stage, scope: Scope, code: Any) -> None:
    """Scalars computed under a condition are variables declared outside it."""
    line = stage.line
    assert line is not None
    tests = b.tests(stage.conds, b.env(stage), scope)
    outer: dict[int, lp.Var] = {}
    for k, info in enumerate(line.results):
        if not info.axes and not isinstance(b.places.get((line, k)), (BufferPlace, AgainPlace)):
            var = b.fn.line_var(line, info.dtype, info.bound is not None)
            scope.add(lp.Declare(var, b.fn.zero(info.dtype)))
            outer[k] = var
    inner = scope.child(*tests)
    code(b, stage, inner)
    for k, var in outer.items():
        place = b.places.get((line, k))
        assert isinstance(place, VarPlace)
        inner.add(lp.Assign(var, place.expr))
        b.places[(line, k)] = VarPlace(lp.Use(var))
    scope.close(tests, inner)


def _element(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    """One scalar operation."""
    line = stage.line
    assert line is not None
    env = b.env(stage)
    place = b.places.get((line, 0))
    dtype = line.results[0].dtype
    if isinstance(place, BufferPlace):
        index = place.index(tuple(b.translate(poly(d), env, scope) for d in line.dims))
        if line.dims and is_read(line):
            note_copy(b, ir.Abs(line.dims, read_arg(line)), place.buffer, (), "{name} is read beside its update", (*line.origins, NOWHERE)[0], bool(stage.conds))

        def store(s: Scope) -> None:
            s.add(lp.Store(place.buffer, index, b.expression(line, env, s, 0)))

        _guarded(b, stage, scope, store)
        return
    var = b.fn.line_var(line, dtype, line.results[0].bound is not None)
    if not stage.conds:
        scope.add(lp.Let(var, b.expression(line, env, scope, 0)))
    else:
        scope.add(lp.Declare(var, b.fn.zero(dtype)))
        _guarded(b, stage, scope, lambda s: s.add(lp.Assign(var, b.expression(line, env, s, 0))))
    b.places[(line, 0)] = VarPlace(lp.Use(var))


def _store_result(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    sink = b.sinks[stage.position]
    assert stage.target is not None
    env = b.env(stage)
    if not isinstance(sink, BufferSink):
        scope.add(lp.Assign(sink.var, b.value(stage.target.body, env, scope)))
        return
    found = identity_of(stage.target, kept=b.is_kept)
    if found is not None and stage.target.binders:
        place = b.owner(found[0]).places.get(found) if not b.owner(found[0]).inlining.is_inlined(found[0]) else None
        if isinstance(place, BufferPlace) and place.buffer is sink.buffer:
            return
    note_copy(b, stage.target, sink.buffer, (), RETURNED if b.parent is None else None, b.loop_span)
    index = tuple(b.translate(poly(x), env, scope) for x in stage.target.binders)
    scope.add(lp.Store(sink.buffer, index, b.value(stage.target.body, env, scope)))


# -- accumulating stages


def _reduce(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    prim, line = stage.prim, stage.line
    assert line is not None
    env = b.env(stage)
    value = b.value(prim.arg, env, scope)
    if accumulates_in_memory(stage, b.fuser.orders[stage]):
        place = b.places[(line, 0)]
        assert isinstance(place, BufferPlace)
        index = place.index(tuple(b.translate(poly(d), env, scope) for d in line.dims))
        scope.add(lp.Update(place.buffer, index, MONOIDS[prim.monoid][0], value))
        b.fn.sums.add(place.buffer)
        return
    acc = b.accs[stage]
    scope.add(lp.Add(acc.var, acc.monoid, value))


def _scan(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    prim, line = stage.prim, stage.line
    assert line is not None
    env = b.env(stage)
    dtype = line.results[0].dtype
    var = b.scan_vars[stage]
    value = b.value(prim.arg, env, scope)
    step = lp.Assign(var, lp.Call(MONOIDS[prim.monoid][0], (lp.Use(var), value), dtype))
    place = b.places.get((line, 0))
    before = None
    if prim.exclusive:
        before = b.fn.line_var(line, dtype)
        scope.add(lp.Let(before, lp.Use(var)))
    scope.add(step)
    current = lp.Use(before if before is not None else var)
    if isinstance(place, BufferPlace):
        index = (*(b.translate(poly(d), env, scope) for d in line.dims), b.translate(poly(prim.binder), env, scope))
        scope.add(lp.Store(place.buffer, place.index(index), current))
    else:
        b.places[(line, 0)] = VarPlace(current)


def _scatter(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    prim, line = stage.prim, stage.line
    assert line is not None
    env = b.env(stage)
    place = b.places[(line, 0)]
    assert isinstance(place, BufferPlace)
    if prim.when:
        tests = b.tests(prim.when, env, scope)
        inner_scope = scope.child(*tests)
        _put(b, stage, place, inner_scope)
        scope.close(tests, inner_scope)
    else:
        _put(b, stage, place, scope)


def _put(b: BlockLowerer, stage: Stage, place: BufferPlace, scope: Scope) -> None:
    prim, line = stage.prim, stage.line
    assert line is not None
    env = b.env(stage)
    target = tuple(b.translate(p, env, scope) for p in prim.index)
    outer = tuple(b.translate(poly(d), env, scope) for d in line.dims)
    index = place.index((*outer, *target))
    tests: list[lp.Test] = []
    if prim.drop:
        for p, n in zip(target, line.results[0].axes, strict=True):
            tests += [lp.Test("ge", p), lp.Test("ge", b.translate(n, env, scope) - 1 - p)]
    inner = scope.child() if tests else scope
    value = b.value(prim.value, env, inner)
    if prim.monoid is None:
        inner.add(lp.Store(place.buffer, index, value))
    else:
        inner.add(lp.Update(place.buffer, index, MONOIDS[prim.monoid][0], value))
    if tests:
        scope.add(lp.If(tuple(tests), inner.stmts))


# -- stages with loops of their own


def _arg_reduce(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    """The first best: strictly better replaces, and a NaN beats what is not NaN."""
    prim, line = stage.prim, stage.line
    assert line is not None
    env = b.env(stage)
    dtype = ir.operand_dtype(prim.arg)
    at, best = b.fn.line_var(line, I64, True), b.fn.var("best", dtype)
    few = 1 <= (prim.binder.extent.const() or 0) <= FEW
    scope.add(lp.Declare(at, lp.Const(0, I64)))
    worst = b.neutral("minimum" if prim.which == "min" else "maximum", dtype)
    scope.add(lp.Declare(best, b.value(prim.arg, {**env, prim.binder: poly(0)}, scope) if few else worst))
    sym = Sym(prim.binder.name)
    inner = scope.child()
    value = b.fn.var("v", dtype)
    inner.add(lp.Let(value, b.value(prim.arg, {**env, prim.binder: poly(sym)}, inner)))
    taken: list[lp.Stmt] = [lp.Assign(best, lp.Use(value)), lp.Assign(at, lp.Index(poly(sym)))]
    inner.add(lp.If(_better(prim.which, lp.Use(value), lp.Use(best), few), taken))
    high = b.translate(prim.binder.extent, env, scope)
    scope.add(lp.For(sym, poly(int(few)), high, inner.stmts, parallel=False))
    settle(b, stage, 0, lp.Use(at), scope)


FEW = 9  # elements, a literal number of them: these are written out (choices.unroll), and each is compared once


def _better(which: str, value: lp.Expr, best: lp.Expr, few: bool) -> tuple[lp.Test, ...]:
    """Whether a value replaces the best so far. Of few floats: it is not below, nor the same, and the best is no NaN, which is asked only then."""
    if few and value.dtype.is_float:
        worse = lp.Call("ge" if which == "min" else "le", (value, best), BOOL)
        return lp.Test("false", None, worse), lp.Test("true", None, lp.Call("eq", (best, best), BOOL))
    better: lp.Expr = lp.Call("lt" if which == "min" else "gt", (value, best), BOOL)
    if value.dtype.is_float:
        nan = lp.Call("isnan", (value,), BOOL)
        was_number = lp.Call("not", (lp.Call("isnan", (best,), BOOL),), BOOL)
        better = lp.Call("or", (better, lp.Call("and", (nan, was_number), BOOL)), BOOL)
    return (lp.Test("true", None, better),)


def _display(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    line = stage.line
    assert line is not None
    env = b.env(stage)
    place = b.places[(line, 0)]
    assert isinstance(place, BufferPlace)
    outer = tuple(b.translate(poly(d), env, scope) for d in line.dims)
    for k, item in enumerate(stage.prim.items):
        scope.add(lp.Store(place.buffer, place.index((*outer, poly(k))), b.value(item, env, scope)))


def _argsort(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    prim, line = stage.prim, stage.line
    assert line is not None
    env = b.env(stage)
    place = b.places[(line, 0)]
    assert isinstance(place, BufferPlace)
    keys = b.whole_buffer(ir.Abs((prim.binder,), prim.key), env, scope, "keys", "the keys of a sort")
    n = b.translate(prim.binder.extent, env, scope)
    outer = tuple(b.translate(poly(d), env, scope) for d in line.dims)
    first = place.index((*outer, poly(0)))
    scope.add(lp.Helper("argsort", ((keys, (poly(0),) * len(keys.extents)), (place.buffer, first)), (n,), dtype=keys.dtype))


def _compress(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    """Keep the elements whose mask is true."""
    prim, line = stage.prim, stage.line
    assert line is not None
    env = b.env(stage)
    count = b.fn.line_var(line, I64, True)
    scope.add(lp.Declare(count, lp.Const(0, I64)))
    sym = Sym(prim.binder.name)
    inner_env = {**env, prim.binder: poly(sym)}
    inner = scope.child()
    mask = b.value(prim.mask, inner_env, inner)
    taken = inner.child()
    outer = tuple(b.translate(poly(d), env, scope) for d in line.dims)
    here = poly(count.atom)
    used = {ref.result for ref in b.all_refs_to(line)}
    stores: list[tuple[int, lp.Expr]] = [(1, lp.Index(poly(sym)))]
    stores += [(2 + k, b.value(v, inner_env, taken)) for k, v in enumerate(prim.values) if 2 + k in used]
    for k, value in stores:
        place = b.places.get((line, k))
        if k in used and isinstance(place, BufferPlace):
            taken.add(lp.Store(place.buffer, place.index((*outer, here)), value))
    taken.add(lp.Assign(count, lp.Index(here + 1)))
    inner.add(lp.If((lp.Test("true", None, mask),), taken.stmts))
    scope.add(lp.For(sym, poly(0), b.translate(prim.binder.extent, env, scope), inner.stmts, parallel=False))
    settle(b, stage, 0, lp.Use(count), scope)


def _check(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    prim, line = stage.prim, stage.line
    assert line is not None
    env = b.env(stage)
    args = tuple(b.value(a, env, scope) for a in prim.args)
    tests = b.tests(prim.conds, env, scope)
    if tests:
        scope.add(lp.Check(tests, prim.site, args))
    if prim.value is not None and not isinstance(b.places.get((line, 0)), AgainPlace):
        value = b.value(prim.value, env, scope)
        if not isinstance(value, (lp.Use, lp.Const, lp.Index)):
            var = b.fn.line_var(line, I64)
            scope.add(lp.Let(var, value))
            value = lp.Use(var)
        settle(b, stage, 0, value, scope)


def _check_unique(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    prim = stage.prim
    env = b.env(stage)
    n = b.translate(prim.size, env, scope)
    seen = b.fn.buffer("seen", U8, (n,), "temp", "which indices a scatter has met", stage.line.span if stage.line else prim.site.span)
    scope.add(lp.Alloc(seen))
    k = Sym("k")
    scope.add(lp.For(k, poly(0), n, [lp.Store(seen, (poly(k),), lp.Const(0, U8))], parallel=True))
    sym = Sym(prim.binder.name)
    inner = scope.child()
    value = b.value(prim.index, {**env, prim.binder: poly(sym)}, inner)
    at = b.as_index(value, inner)
    body: list[lp.Stmt] = [
        lp.Check((lp.Test("false", None, lp.Cast(lp.Load(seen, (at,)), BOOL)),), prim.site, (lp.Index(at),)),
        lp.Store(seen, (at,), lp.Const(1, U8)),
    ]
    if prim.drop:
        body = [lp.If((lp.Test("ge", at), lp.Test("ge", n - 1 - at)), body)]
    inner.stmts += body
    scope.add(lp.For(sym, poly(0), b.translate(prim.binder.extent, env, scope), inner.stmts, parallel=False))


def _print(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    prim = stage.prim
    env = b.env(stage)
    parts: list[Any] = []
    for part in prim.parts:
        if isinstance(part, str):
            parts.append(part)
        else:
            (t, arrays), spec = part
            shown: list[Any] = []
            for array in arrays:
                if array.binders:
                    buffer = b.whole_buffer(array, env, scope, "shown", "printed")
                    shown.append(buffer)
                else:
                    shown.append(b.value(array.body, env, scope))
            parts.append((t, shown, spec))
    scope.add(lp.Print(tuple(parts), prim.span))


from atoll.lower.fold_code import fold_code, scan_fold_code  # noqa: E402
from atoll.lower.loop_code import loop_code, scatter_fold_code, while_code  # noqa: E402

_CODE: dict[type, Callable[[Any, Stage, Scope], None]] = {
    ir.Reduce: _reduce,
    ir.Scan: _scan,
    ir.Scatter: _scatter,
    ir.ArgReduce: _arg_reduce,
    ir.Display: _display,
    ir.Argsort: _argsort,
    ir.Compress: _compress,
    ir.Check: _check,
    ir.CheckUnique: _check_unique,
    ir.Print: _print,
    ir.Loop: loop_code,
    ir.While: while_code,
    ir.Fold: fold_code,
    ir.ScanFold: scan_fold_code,
    ir.ScatterFold: scatter_fold_code,
}
