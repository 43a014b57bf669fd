"""Histograms, scatters, sorts and filters."""

from __future__ import annotations

from collections.abc import Callable

from atoll.ainf import ir, scalars
from atoll.ainf.associative import known_parts
from atoll.ainf.translate.context import Env, extent_of, index_name
from atoll.ainf.translate.reductions import Reductions
from atoll.ainf.values import Scalar, Value, VArray, index_poly
from atoll.core import ir as core
from atoll.errors import Span
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64
from atoll.types.types import Array, Type, flatten


class Scatters(Reductions):
    def index_at(self, indices: Value, binder: ir.Binder, size: Poly, drop: bool, span: Span) -> Poly:
        """The target index of a round; checked unless out-of-range ones are dropped."""
        p = index_poly(Scalar(self.operand(self.get(indices, poly(binder)))))
        if drop:
            return p
        return self.b.check_index(p, size, self.site("E0708", span, args=("index", "size")))

    def hist(self, e: core.Hist, env: Env) -> Value:
        indices, values, start = (self.eval(x, env) for x in (e.indices, e.values, e.neutral))
        size = self.poly(e.size, env)
        assert isinstance(e.type, Array)
        base = VArray(size, lambda p: start)
        return self.scatter_into(base, indices, values, e.op, e.monoid, e.drop, e.type, env, e.span)

    def scatter(self, e: core.Scatter, env: Env) -> Value:
        array, indices, values = (self.eval(x, env) for x in (e.array, e.indices, e.values))
        if e.op is None:
            n = extent_of(indices)
            binder = self.b.fresh_binder("r", n)
            with self.b.binding(binder):
                size = extent_of(array)
                target = self.operand(self.get(indices, poly(binder)))
                if not e.drop:
                    target = scalars.from_poly(self.index_at(indices, binder, size, e.drop, e.span))
            site = self.site("E0707", e.span, args=("index",))
            self.b.emit(ir.CheckUnique(binder, target, size, e.drop, site), (), e.span, "check")
        return self.scatter_into(array, indices, values, e.op, e.monoid, e.drop, e.type, env, e.span)

    def scatter_into(
        self,
        base: Value,
        indices: Value,
        values: Value,
        op: core.Lam | None,
        monoid: str | None,
        drop: bool,
        t: Type,
        env: Env,
        span: Span,
    ) -> Value:
        b = self.b
        n, size = extent_of(indices), extent_of(base)
        assert isinstance(t, Array)
        binder = b.fresh_binder("r", n)
        with b.binding(binder):
            target = self.index_at(indices, binder, size, drop, span)
        written = None if op is None or monoid is not None else self.operator_block(op, env)
        parts = None if written is None else known_parts(*written)
        if written is not None and parts is None:
            with b.binding(binder):
                elements = self.abs_of(self.get(values, poly(binder)), t.elem, env)
            bases = self.abs_of(base, t, env)
            prim = ir.ScatterFold(bases, binder, target, elements, *written, drop)
            line, index = b.emit(prim, self.result_types(t, env), span, "h")
            return self.from_results(t, line, index, env)
        emitted = []
        for k, ((path, _), (extents, old, dtype)) in enumerate(zip(flatten(t), self.leaves_of(base, t, env), strict=True)):
            row = tuple(b.fresh_binder(index_name(j), extent) for j, extent in enumerate(extents[1:]))
            whole = self.leaf_abs((extents, old, dtype))
            with b.binding(binder, *row):
                inner = tuple(poly(x) for x in (binder, *row))
                value = self.operand(self.element(values, inner, path))
            where = (target, *(poly(x) for x in row))
            scatter = ir.Scatter(whole, (binder, *row), where, value, monoid if parts is None else parts[k], drop)
            emitted.append(self.put(scatter, (ir.Result(dtype, extents),), span, "h"))
        return self.from_emitted(t, emitted, env)

    def argsort(self, e: core.Argsort, env: Env) -> Value:
        keys = self.eval(e.keys, env)
        b = self.b
        n = extent_of(keys)
        binder = b.fresh_binder("r", n)
        with b.binding(binder):
            key = self.operand(self.get(keys, poly(binder)))
        line, index = b.emit(ir.Argsort(binder, key), (ir.Result(I64, (n,), n),), e.span, "o")
        return VArray(n, lambda p: Scalar(self.read(line, 0, (*index, p))))

    def filter(self, e: core.Filter, env: Env) -> Value:
        """Results of compress: the count, the positions, and the values of scalar leaves."""
        array, mask = self.eval(e.array, env), self.eval(e.mask, env)
        b = self.b
        assert isinstance(e.type, Array)
        n = extent_of(array)
        binder = b.fresh_binder("r", n)
        leaf_types = flatten(e.type.elem)
        direct = [k for k, (_, t) in enumerate(leaf_types) if not isinstance(t, Array)]
        with b.binding(binder):
            keep = self.operand(self.get(mask, poly(binder)))
            element = self.get(array, poly(binder))
            values = tuple(self.operand(self.element(element, (), leaf_types[k][0])) for k in direct)
        results = [ir.Result(I64, (), n + 1), ir.Result(I64, (n,), n)]
        results += [ir.Result(ir.operand_dtype(value), (n,)) for value in values]
        line, index = b.emit(ir.Compress(binder, keep, values), tuple(results), e.span, "c")
        count = poly(ir.ref_atom(ir.Ref(line, 0, index)))

        def leaf(k: int) -> Callable[[tuple[Poly, ...]], Value]:
            if k in direct:
                return lambda i: Scalar(self.read(line, 2 + direct.index(k), index + i))

            def moved(i: tuple[Poly, ...]) -> Value:
                where = poly(ir.ref_atom(ir.Ref(line, 1, (*index, i[0]))))
                return Scalar(self.operand(self.element(array, (where, *i[1:]), leaf_types[k][0])))

            return moved

        size_env = Env(env)
        sym = e.type.size.single()
        assert isinstance(sym, Sym)
        size_env[sym] = Scalar(scalars.from_poly(count))
        return self.from_leaves(e.type, [leaf(k) for k in range(len(leaf_types))], size_env)
