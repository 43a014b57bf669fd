"""Forward mode: a tangent for every line that depends on the active ones, in the order of the program (Schenck 2.1).

Loops carry their tangents beside their state: the loop gets more state and its block more lines, so the primal is computed once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from atoll.ad import lines as help_
from atoll.ad.algebra import LineAlgebra, LineParts, refuse
from atoll.ad.indicator import guarded, sum_over, zero
from atoll.ad.loop_forward import forward_loop
from atoll.ad.loop_state import abs_reader, line_reader, new_param
from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.guards import guard_operand
from atoll.ainf.replay import Replay
from atoll.core.slopes import AHEAD, BITWISE, VIEWS, rule_of, takes_apart
from atoll.errors import NOWHERE, fail
from atoll.sizes import Poly, poly

Reader = Callable[[tuple[Poly, ...]], ir.Operand]


def _terms(line: ir.Line, tangent: ir.Operand) -> tuple[ir.Operand, ...]:
    """What is summed for the tangent of a sum. Where the sum is a product of matrices, each of its two terms by itself: these are products again."""
    prim = line.prim
    assert isinstance(prim, ir.Reduce)
    factors, terms = _parts(prim.arg, "mul"), _parts(tangent, "add")
    if prim.monoid != "add" or factors is None or terms is None or any(_parts(t, "mul") is None for t in terms):
        return (tangent,)
    left, right = (x.leaves() if isinstance(x, ir.Ref) else set() for x in factors)
    rows, columns = ([d for d in line.dims if d in one and d not in other] for one, other in ((left, right), (right, left)))
    return terms if rows and columns else (tangent,)


def _parts(x: ir.Operand, name: str) -> tuple[ir.Operand, ...] | None:
    """The arguments of an operation of two, if that is what stands there."""
    if not isinstance(x, ir.Ref) or not isinstance(x.line.prim, ir.Op) or x.line.prim.name != name or x.line.conds or len(x.line.prim.args) != 2:
        return None
    env = dict(zip(x.line.dims, x.index, strict=False))
    return tuple(ir.subst_operand(a, env) for a in x.line.prim.args)


class Forward:
    """Tangents of lines. `tangents` maps (line, result) to a function from an index to the tangent there."""

    def __init__(self, b: Builder) -> None:
        self.b = b
        self.tangents: dict[tuple[ir.Line, int], Reader] = {}

    def give(self, line: ir.Line, result: int, reader: Reader) -> None:
        self.tangents[(line, result)] = reader

    def operand(self, x: ir.Operand) -> ir.Operand | None:
        """The tangent of an operand, None when it is zero."""
        if not isinstance(x, ir.Ref):
            return None
        reader = self.tangents.get((x.line, x.result))
        return None if reader is None else guard_operand(self.b, reader(x.index))

    def run(self, lines: list[ir.Line]) -> None:
        for line in lines:
            if help_.is_active(line, self.tangents.keys()):
                self.line(line)

    # -- one line

    def line(self, line: ir.Line) -> None:
        b = self.b
        with b.about(line.span), b.binding(*line.dims), b.under(*line.conds):
            rule = _RULES.get(type(line.prim))
            if rule is None:
                refuse(line)
            rule(self, line)

    def scalar(self, line: ir.Line, result: int, value: ir.Operand | None) -> None:
        """A tangent over the line's own indices."""
        if value is None:
            return
        dims = line.dims

        def read(index: tuple[Poly, ...]) -> ir.Operand:
            return ir.subst_operand(value, dict(zip(dims, index, strict=True)))

        self.give(line, result, read)

    def op(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Op)
        dtype = line.results[0].dtype
        if not self.b.has_slope(dtype):
            return
        y = help_.own_ref(line, 0)
        if takes_apart(prim.name, ir.operand_dtype(prim.args[0]).is_complex):
            tangents = [self.operand(a) for a in prim.args]
            self.scalar(line, 0, AHEAD[prim.name](LineParts(self.b, dtype), *prim.args, y, *tangents))
            return
        if prim.name in VIEWS and self.b.integers:
            tangent = self.operand(prim.args[0])
            self.scalar(line, 0, None if tangent is None else scalars.op(self.b, prim.name, (tangent,), dtype, NOWHERE))
            return
        rule = rule_of(prim.name, dtype.kind)
        if rule is None:
            refuse(line)
        c = LineAlgebra(self.b, dtype, line.span)
        partials = rule(c, *prim.args, y)
        total: ir.Operand | None = None
        for partial, arg in zip(partials, prim.args, strict=True):
            tangent = self.operand(arg)
            if partial is None or tangent is None:
                continue
            term = c.op("mul", partial, tangent)
            total = term if total is None else c.op("add", total, term)
        self.scalar(line, 0, total)

    def cast(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Cast)
        dtype = line.results[0].dtype
        tangent = self.operand(prim.arg)
        source = ir.operand_dtype(prim.arg)
        if source.is_storage and isinstance(prim.arg, ir.Ref) and not isinstance(prim.arg.line.prim, (ir.Input, ir.Param)):
            fail("E1001", line.span, what=f"a value kept as {source.name} inside a function")
        if self.b.has_slope(dtype) and tangent is not None:
            self.scalar(line, 0, scalars.cast(self.b, tangent, dtype, NOWHERE))

    def select(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Select)
        dtype = line.results[0].dtype
        if not self.b.has_slope(dtype):
            return
        b = self.b
        with b.under(*prim.conds):
            then = self.operand(prim.then)
        negated = prim.conds[0].negated() if len(prim.conds) == 1 else None
        with b.under(*((negated,) if negated is not None else ())):
            orelse = self.operand(prim.orelse)
        if then is None and orelse is None:
            return
        if orelse is None:
            assert then is not None
            self.scalar(line, 0, guarded(b, list(prim.conds), then, dtype))
            return
        self.scalar(line, 0, scalars.select(b, prim.conds, then or zero(dtype), orelse, NOWHERE))

    def reduce(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Reduce)
        dtype = line.results[0].dtype
        if not self.b.has_slope(dtype) or prim.monoid in BITWISE:
            return
        b = self.b
        with b.binding(prim.binder):
            tangent = self.operand(prim.arg)
            if tangent is None:
                return
            if prim.monoid == "mul":
                tangent = LineAlgebra(b, dtype).op("mul", help_.product_of_others(b, line), tangent)
            elif prim.monoid in ("minimum", "maximum"):
                where = help_.arg_of(b, line)
                tangent = guarded(b, [ir.Cond("eq", poly(prim.binder) - where)], tangent, dtype)
        total: ir.Operand | None = None
        for term in _terms(line, tangent):
            part = sum_over(b, prim.binder, term, dtype)
            total = part if total is None else LineAlgebra(b, dtype).op("add", total, part)
        self.scalar(line, 0, total)

    def scan(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Scan)
        if not self.b.has_slope(line.results[0].dtype):
            return
        assert prim.monoid == "add", "see folds.py"
        b = self.b
        dtype = line.results[0].dtype
        with b.binding(prim.binder):
            tangent = self.operand(prim.arg)
        start = self.operand(prim.start)
        if tangent is None and start is None:
            return
        new = ir.Scan("add", prim.binder, tangent or zero(dtype), start or zero(dtype), prim.exclusive)
        made, at = b.emit(new, line.results, hint="s")
        made.order = line.order
        self.array(line, 0, made, 0, at)

    def array(self, line: ir.Line, result: int, made: ir.Line, k: int, at: tuple[Poly, ...]) -> None:
        """A tangent that is a result of another line with the same indices and axes."""
        dims = line.dims

        def read(index: tuple[Poly, ...]) -> ir.Operand:
            env = dict(zip(dims, index[: len(dims)], strict=True))
            return ir.Ref(made, k, tuple(p.subst(env) for p in at) + index[len(dims) :])

        self.give(line, result, read)

    def display(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Display)
        dtype = line.results[0].dtype
        tangents = [self.operand(i) for i in prim.items]
        if not self.b.has_slope(dtype) or all(t is None for t in tangents):
            return
        made, at = self.b.emit(ir.Display(tuple(t or zero(dtype) for t in tangents)), line.results, hint="d")
        made.order = line.order
        self.array(line, 0, made, 0, at)

    def abs_tangent(self, array: ir.Abs) -> ir.Abs | None:
        with self.b.binding(*array.binders):
            tangent = self.operand(array.body)
        return None if tangent is None else ir.Abs(array.binders, tangent)

    def scatter(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Scatter)
        dtype = line.results[0].dtype
        if not self.b.has_slope(dtype):
            return
        assert prim.monoid in (None, "add"), "see folds.py"
        b = self.b
        base = self.abs_tangent(prim.base)
        with b.binding(*prim.binders):
            value = self.operand(prim.value)
        if base is None and value is None:
            return
        base = base if base is not None else ir.Abs(prim.base.binders, zero(dtype))
        new = ir.Scatter(base, prim.binders, prim.index, value or zero(dtype), prim.monoid, prim.drop, prim.when)
        made, at = b.emit(new, line.results, hint="g")
        made.order = line.order
        self.array(line, 0, made, 0, at)

    def compress(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Compress)
        for k, value in enumerate(prim.values):
            with self.b.binding(prim.binder):
                tangent = self.operand(value)
            if tangent is None:
                continue
            dims, binder = line.dims, prim.binder

            def read(index: tuple[Poly, ...], tangent: ir.Operand = tangent) -> ir.Operand:
                env = dict(zip(dims, index[: len(dims)], strict=True))
                where = ir.Ref(line, 1, index)
                return ir.subst_operand(tangent, {**env, binder: poly(ir.ref_atom(where))})

            self.give(line, 2 + k, read)

    def fold(self, line: ir.Line) -> None:
        """The operator on pairs of values and tangents, which is associative where the operator is (ad/folds.py: where it may be regrouped)."""
        b, prim = self.b, line.prim
        assert isinstance(prim, (ir.Fold, ir.ScanFold))
        floats = [k for k, r in enumerate(line.results) if b.has_slope(r.dtype)]
        along = [[self.abs_tangent(arrays[k]) for k in floats] for arrays in (prim.start, prim.elements)]
        zeros = [[ir.Abs(arrays[k].binders, zero(line.results[k].dtype)) for k in floats] for arrays in (prim.start, prim.elements)]
        if not floats:
            return
        starts, elements = ([x or o for x, o in zip(xs, os, strict=True)] for xs, os in zip(along, zeros, strict=True))
        half = len(prim.start)
        block = b.new_block()
        with b.inside(block):
            replay, inner = Replay(b, {}), Forward(b)
            inner.tangents = dict(self.tangents)
            for own in (prim.block.params[:half], prim.block.params[half:]):  # values, then their tangents: of the state, then of the element
                made = [new_param(b, block, _name(p), p.results[0].dtype, p.results[0].axes) for p in own]
                for param, new in zip(own, made, strict=True):
                    replay.give(param, 0, line_reader(new))
                for k in floats:
                    info = own[k].results[0]
                    inner.give(made[k], 0, line_reader(new_param(b, block, f"d{_name(own[k])}", info.dtype, info.axes)))
            first = b._count
            for x in replay.lines(prim.block):
                replay.line(x)
            results = [replay.any(a, {}) for a in prim.results]
            inner.run([x for x in help_.lines_since(b, first) if x.block is block])
            moved = [inner.abs_tangent(results[k]) for k in floats]
        tangents = [x or ir.Abs(results[k].binders, zero(line.results[k].dtype)) for k, x in zip(floats, moved, strict=True)]
        before = len(line.results)
        line.prim = dataclasses.replace(prim, start=(*prim.start, *starts), elements=(*prim.elements, *elements), block=block, results=(*results, *tangents))
        line.results += tuple(line.results[k] for k in floats)
        for place, k in enumerate(floats):
            self.array(line, k, line, before + place, tuple(poly(d) for d in line.dims))

    def loop(self, line: ir.Line) -> None:
        forward_loop(self, line)

    def custom(self, line: ir.Line) -> None:
        """A derivative its author supplied, applied to the tangents of the arguments; of a value read again from a tape, the tangent of that value."""
        prim = line.prim
        assert isinstance(prim, ir.Custom)
        along = [self.abs_tangent(array) for array in prim.args]
        if prim.rule.tangents is None:
            made = [self.abs_tangent(array) for array in prim.values]
        elif any(x is not None for x in along):
            zeros = [ir.Abs(a.binders, zero(ir.operand_dtype(a.body))) for a in prim.args]
            made = prim.rule.tangents(prim.sizes, list(prim.args), [x or o for x, o in zip(along, zeros, strict=True)])
        else:
            return
        for k, (info, tangent) in enumerate(zip(line.results, made, strict=True)):
            if tangent is not None and self.b.has_slope(info.dtype):
                self.give(line, k, abs_reader(ir.Abs((*line.dims, *tangent.binders), tangent.body), {}))

    def active(self, line: ir.Line) -> None:
        """What a derivative inside this one is taken with respect to."""
        prim = line.prim
        assert isinstance(prim, ir.Active)
        self.scalar(line, 0, self.operand(prim.arg))

    def ignore(self, line: ir.Line) -> None:
        return


def _name(param: ir.Line) -> str:
    assert isinstance(param.prim, ir.Param)
    return param.prim.name


_RULES: dict[type, Callable[[Forward, ir.Line], None]] = {
    ir.Op: Forward.op,
    ir.Cast: Forward.cast,
    ir.Select: Forward.select,
    ir.Reduce: Forward.reduce,
    ir.Scan: Forward.scan,
    ir.Display: Forward.display,
    ir.Scatter: Forward.scatter,
    ir.Compress: Forward.compress,
    ir.Fold: Forward.fold,
    ir.ScanFold: Forward.fold,
    ir.Loop: Forward.loop,
    ir.While: Forward.loop,
    ir.ArgReduce: Forward.ignore,
    ir.Argsort: Forward.ignore,
    ir.Truth: Forward.ignore,
    ir.Extent: Forward.ignore,
    ir.Check: Forward.ignore,
    ir.CheckUnique: Forward.ignore,
    ir.Print: Forward.ignore,
    ir.Active: Forward.active,
    ir.Custom: Forward.custom,
}
