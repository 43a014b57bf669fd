"""Reductions and scans: known operators become reduce and scan lines, others fold over a block."""

from __future__ import annotations

from atoll.ainf import ir, scalars
from atoll.ainf.translate.arrays import Arrays
from atoll.ainf.translate.context import Env, component, extent_of
from atoll.ainf.values import Scalar, Value, VArray, VTuple, abstraction
from atoll.core import ir as core
from atoll.core.prims import MONOIDS
from atoll.errors import Span
from atoll.sizes import Poly, poly
from atoll.types.dtypes import I64
from atoll.types.types import Array, Record, Tuple, Type, dtype_of, flatten, shape_of


class Reductions(Arrays):
    def is_neutral(self, monoid: str, operand: ir.Operand) -> bool:
        if not isinstance(operand, ir.Const):
            return False
        return bool(operand.value == MONOIDS[monoid][1](operand.dtype))

    def reduce(self, e: core.Reduce, env: Env) -> Value:
        array = self.eval(e.array, env)
        start = self.eval(e.neutral, env)
        if e.monoid is not None:
            return self.reduce_known(e.monoid, array, start, e.type, env, e.span)
        return self.fold_general(e, array, start, env)

    def reduce_known(self, monoid: str, array: Value, start: Value, t: Type, env: Env, span: Span) -> Value:
        if isinstance(t, (Tuple, Record)):
            parts = [
                self.reduce_known(monoid, component(array, k), start.items[k], item, env, span)  # type: ignore[union-attr]
                for k, item in enumerate(t.items)
            ]
            return VTuple(tuple(parts))
        if isinstance(t, Array):
            n, elem = extent_of(array), t.elem

            def column(p: Poly) -> Value:
                part = VArray(n, lambda r: self.get(self.get(array, r), p))
                return self.reduce_known(monoid, part, self.get(start, p), elem, env, span)

            return VArray(self.poly(t.size, env), column)
        b = self.b
        binder = self.b.fresh_binder("r", extent_of(array))
        with b.binding(binder):
            arg = self.operand(self.get(array, poly(binder)))
        dtype = dtype_of(t)
        total: ir.Operand = b.ref(ir.Reduce(monoid, binder, arg), ir.Result(dtype), span, "s")
        first_value = self.operand(start)
        if not self.is_neutral(monoid, first_value):
            total = scalars.op(b, MONOIDS[monoid][0], (first_value, total), dtype, span)
        return Scalar(total)

    def operator_block(self, lam: core.Lam, env: Env) -> tuple[ir.Block, tuple[ir.Abs, ...]]:
        """An operator as a block: parameters are the leaves of both arguments, results the leaves of the outcome."""
        b = self.b
        block = b.new_block()
        inner = Env(env)
        position = 0
        with b.inside(block):
            for sym, t in zip(lam.params, lam.types, strict=True):
                lines = []
                for _, leaf_type in flatten(t):
                    sizes, elem = shape_of(leaf_type)
                    axes = tuple(self.poly(s, env) for s in sizes)
                    lines.append(self.param(block, position, sym.name, dtype_of(elem), axes))
                    position += 1
                inner[sym] = self.from_lines(t, lines, env)
            value = self.eval(lam.body, inner)
            results = self.abs_of(value, lam.types[0], env)
        return block, results

    def fold_general(self, e: core.Reduce, array: Value, start: Value, env: Env) -> Value:
        b = self.b
        binder = b.fresh_binder("r", extent_of(array))
        with b.binding(binder):
            elements = self.abs_of(self.get(array, poly(binder)), e.type, env)
        starts = self.abs_of(start, e.type, env)
        block, results = self.operator_block(e.op, env)
        types = self.result_types(e.type, env)
        line, index = b.emit(ir.Fold(binder, starts, elements, block, results), types, e.span, "f")
        return self.from_results(e.type, line, index, env)

    def scan(self, e: core.Scan, env: Env) -> Value:
        array, start = self.eval(e.array, env), self.eval(e.neutral, env)
        assert isinstance(e.type, Array)
        if e.monoid is not None:
            return self.scan_known(e, array, start, e.type.elem, env, len(self.b.binders))
        b = self.b
        binder = b.fresh_binder("r", extent_of(array))
        with b.binding(binder):
            elements = self.abs_of(self.get(array, poly(binder)), e.type.elem, env)
        starts = self.abs_of(start, e.type.elem, env)
        block, results = self.operator_block(e.op, env)
        types = tuple(ir.Result(r.dtype, (extent_of(array), *r.axes)) for r in self.result_types(e.type.elem, env))
        line, index = b.emit(ir.ScanFold(binder, starts, elements, block, results, e.exclusive), types, e.span, "f")
        return self.from_results(e.type, line, index, env)

    def scan_known(self, e: core.Scan, array: Value, start: Value, t: Type, env: Env, outer: int) -> Value:
        if isinstance(t, (Tuple, Record)):
            parts = [
                self.scan_known(e, component(array, k), start.items[k], item, env, outer)  # type: ignore[union-attr]
                for k, item in enumerate(t.items)
            ]
            return self.push_in(VTuple(tuple(parts)), 1)
        n = extent_of(array)
        if isinstance(t, Array):
            inner = self.poly(t.size, env)

            def column(p: Poly) -> Value:
                part = VArray(n, lambda r: self.get(self.get(array, r), p))
                return self.scan_known(e, part, self.get(start, p), t.elem, env, outer)

            binder = self.b.fresh_binder("j", inner)
            with self.b.binding(binder):
                columns = self.reify(column(poly(binder)), "c")
            whole = abstraction(binder, columns)
            return VArray(n, lambda r: VArray(inner, lambda p: self.get(self.get(whole, p), r)))
        b = self.b
        binder = b.fresh_binder("r", n)
        with b.binding(binder):
            arg = self.operand(self.get(array, poly(binder)))
        dtype = dtype_of(t)
        prim = ir.Scan(e.monoid or "add", binder, arg, self.operand(start), e.exclusive)
        line, index = b.emit(prim, (ir.Result(dtype, (n,)),), e.span, "s", len(b.binders) - outer)
        return VArray(n, lambda p: Scalar(self.read(line, 0, (*index, p))))

    def arg_reduce(self, e: core.ArgReduce, env: Env) -> Value:
        array = self.eval(e.array, env)
        b = self.b
        n = extent_of(array)
        binder = b.fresh_binder("r", n)
        with b.binding(binder):
            arg = self.operand(self.get(array, poly(binder)))
        return Scalar(b.ref(ir.ArgReduce(e.which, binder, arg), ir.Result(I64, (), n), e.span, "a"))
