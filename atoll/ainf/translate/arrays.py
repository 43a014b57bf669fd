"""Tuples, arrays, indexing, slices, updates and views: all of them index maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from atoll.ainf import ir, scalars
from atoll.ainf.identity import source_of
from atoll.ainf.translate.conditions import Conditions
from atoll.ainf.translate.context import Env, component, extent_of, index_name
from atoll.ainf.values import Formula, Scalar, Value, VArray, VTuple, abstraction, index_poly, rows
from atoll.core import ir as core
from atoll.errors import Span
from atoll.sizes import Poly, poly
from atoll.types.types import Array, Index, Record, Tuple, Type, components, elem_of, flatten, shape_of
from atoll.types.types import Scalar as ScalarType
from atoll.views.catalogue import VIEWS


class Arrays(Conditions):
    def const_array(self, e: core.ConstArray, env: Env) -> Value:
        sizes, elem = shape_of(e.type)
        assert isinstance(elem, ScalarType)
        line, _ = self.b.emit(ir.ConstArray(e.value), (ir.Result(elem.dtype, sizes),), e.span, "k")
        value = e.value

        def element(index: tuple[Poly, ...]) -> Value:
            numbers = [p.const() for p in index]
            if all(n is not None for n in numbers) and value.size:
                return Scalar(scalars.constant(value[tuple(numbers)], elem.dtype))
            return Scalar(self.read(line, 0, index))

        return rows(element, tuple(sizes))

    def make_tuple(self, e: core.MakeTuple, env: Env) -> Value:
        return VTuple(tuple(self.eval(item, env) for item in e.items))

    def proj(self, e: core.Proj, env: Env) -> Value:
        value = self.eval(e.value, env)
        assert isinstance(value, VTuple)
        item: Value = value.items[e.index]
        return item

    def make_array(self, e: core.MakeArray, env: Env) -> Value:
        items = [self.eval(item, env) for item in e.items]
        assert isinstance(e.type, Array)
        return VArray(poly(len(items)), lambda p: self.pick(items, p, elem_of(e.type), env, e.span))

    def pick(self, items: list[Value], p: Poly, t: Type, env: Env, span: Span) -> Value:
        """Item p of a display."""
        const = p.const()
        if const is not None and 0 <= const < len(items):
            return items[const]
        if isinstance(t, (Tuple, Record)):
            parts = [[item.items[k] for item in items] for k in range(len(t.items))]  # type: ignore[union-attr]
            return VTuple(tuple(self.pick(part, p, item, env, span) for part, item in zip(parts, t.items, strict=True)))
        if isinstance(t, Array):
            first = items[0] if items else VArray(self.poly(t.size, env), lambda q: self.pick([], q, t.elem, env, span))
            assert isinstance(first, VArray)
            return VArray(first.extent, lambda q: self.pick([self.get(i, q) for i in items], p, t.elem, env, span))
        if not items:  # an element that nobody can ask for
            assert isinstance(t, (ScalarType, Index))
            return Scalar(scalars.constant(t.dtype.numpy.type(0), t.dtype))
        operands = [self.operand(i) for i in items]
        if all(o == operands[0] for o in operands):
            return Scalar(operands[0])
        dtype = ir.operand_dtype(operands[0])
        if all(isinstance(o, ir.Const) for o in operands):
            values = np.array([o.value for o in operands], dtype.numpy)  # type: ignore[union-attr]
            line, _ = self.b.emit(ir.ConstArray(values), (ir.Result(dtype, (poly(len(items)),)),), span, "k")
            return Scalar(self.read(line, 0, (p,)))
        inner = len(
            {leaf for o in operands for leaf in ir.operand_leaves(o) if isinstance(leaf, ir.Binder)} - set(self.b.binders)
        )
        line, index = self.b.emit(ir.Display(tuple(operands)), (ir.Result(dtype, (poly(len(items)),)),), span, "d", inner)
        return Scalar(self.read(line, 0, (*index, p)))

    def build(self, e: core.Build, env: Env) -> Value:
        size = self.poly(e.size, env)
        binder = self.binder(e.sym.name, size, e.span)
        inner = Env(env)
        inner[e.sym] = Scalar(ir.IndexValue(poly(binder)))
        with self.b.binding(binder):
            body = self.eval(e.body, inner)
            body = self.reify(body, e.sym.name)
        return abstraction(binder, body)

    def map(self, e: core.Map, env: Env) -> Value:
        arrays = [self.eval(a, env) for a in e.arrays]
        first = arrays[0]
        if _puts_together(e):
            return first
        assert isinstance(first, VArray)
        binder = self.b.fresh_binder(index_name(len(self.b.binders)), first.extent)
        with self.b.binding(binder):
            inner = Env(env)
            for sym, a in zip(e.params, arrays, strict=True):
                inner[sym] = self.get(a, poly(binder))
            body = self.reify(self.eval(e.body, inner), "x")
        return abstraction(binder, body)

    def at(self, e: core.At, env: Env) -> Value:
        array = self.eval(e.array, env)
        index = index_poly(self.eval(e.index, env))
        extent = extent_of(array)
        p = self.b.check_index(index, extent, self.site("E0701", e.span, args=("index", "size"), unsigned=core.from_u64(e.index)))
        return self.get(array, p)

    def axis_items(self, items: tuple[core.Item, ...], t: Type, env: Env, span: Span) -> list[Any]:
        """Per axis: a checked index, or (low, step, size)."""
        result: list[Any] = []
        extents = self.extents(t, env)
        for item, extent in zip(items, extents, strict=False):
            if isinstance(item, core.Range):
                result.append((self.poly(item.low, env), item.step, self.poly(item.size, env)))
            else:
                p = index_poly(self.eval(item, env))  # type: ignore[arg-type]
                result.append(self.b.check_index(p, extent, self.site("E0701", span, args=("index", "size"), unsigned=core.from_u64(item))))
        return result

    def slice(self, e: core.Slice, env: Env) -> Value:
        array = self.eval(e.array, env)
        axes = self.axis_items(e.items, e.array.type, env, e.span)

        def level(value: Value, rest: list[Any]) -> Value:
            if not rest:
                return value
            item = rest[0]
            if isinstance(item, Poly):
                return level(self.get(value, item), rest[1:])
            low, step, size = item
            return VArray(size, lambda p: level(self.get(value, low + p * step), rest[1:]))

        return level(array, axes)

    def update(self, e: core.Update, env: Env) -> Value:
        """A copy with some elements replaced: one scatter per leaf, its indices the items."""
        array, new = self.eval(e.array, env), self.eval(e.value, env)
        axes = self.axis_items(e.items, e.array.type, env, e.span)
        return self.update_value(array, axes, new, e.type, env, e.span)

    def update_value(self, array: Value, axes: list[Any], new: Value, t: Type, env: Env, span: Span) -> Value:
        if _nearly_all(axes, self.extents(t, env)):
            return self.replace_region(array, axes, new, self.extents(t, env)[: len(axes)], span)
        b = self.b
        olds = self.leaves_of(array, t, env)
        results = []
        for (path, _), (extents, old, dtype) in zip(flatten(t), olds, strict=True):
            base = self.leaf_abs((extents, old, dtype))
            binders: list[ir.Binder] = []
            target: list[Poly] = []
            inner: list[Poly] = []
            for k, extent in enumerate(extents):
                item = axes[k] if k < len(axes) else (poly(0), 1, extent)
                if isinstance(item, Poly):
                    target.append(item)
                else:
                    low, step, size = item
                    binder = b.fresh_binder(index_name(k), size)
                    binders.append(binder)
                    target.append(low + poly(binder) * step)
                    inner.append(poly(binder))
            with b.binding(*binders):
                value = self.operand(self.element(new, tuple(inner), path))
            prim = ir.Scatter(base, tuple(binders), tuple(target), value)
            results.append(self.put(prim, (ir.Result(dtype, extents),), span, "u"))
        return self.from_emitted(t, results, env)

    def replace_region(self, array: Value, axes: list[Any], new: Value, extents: tuple[Poly, ...], span: Span) -> Value:
        """An update of nearly everything, element by element: the new value inside the region, the old one outside."""

        def element(index: tuple[Poly, ...]) -> Value:
            def inside(value: Value, shift: bool) -> Value:
                for p, (low, _, _) in zip(index, axes, strict=True):
                    value = self.get(value, p - low if shift else p)
                return value

            conds: list[ir.Cond] = []
            for p, (low, _, size) in zip(index, axes, strict=True):
                for side in (p - low, low + size - 1 - p):
                    found = scalars.simplify_cond(self.b, ir.Cond("ge", side))
                    if isinstance(found, ir.Cond):
                        conds.append(found)
                    elif not found.value:
                        return inside(array, False)
            if not conds:
                return inside(new, True)
            test = Formula("all", tuple(Formula("is", (c,)) for c in conds)) if len(conds) > 1 else Formula("is", (conds[0],))
            with self.b.under(*conds):
                then = inside(new, True)
            return self.select(test, then, inside(array, False), span)

        return rows(element, tuple(extents))

    def view(self, e: core.View, env: Env) -> Value:
        info = VIEWS[e.op]
        args = [self.eval(a, env) for a in e.args]
        params = tuple(self._param(p, env) for p in e.params)
        arrays = args[:-1] if info.fills else args
        axes = info.axes if info.axes >= 0 else len(params)
        shapes = tuple(self.extents(a.type, env)[:axes] for a in e.args[: len(arrays)])
        extents = info.shape(shapes, params)
        fill = self.fill_of(e.args[0].type, axes, args[-1], env) if info.fills else None

        def element(index: tuple[Poly, ...]) -> Value:
            pieces = info.pull(shapes, params, index)
            return self.piecewise(list(pieces), arrays, fill, e.span)

        return rows(element, tuple(extents))

    def piecewise(self, pieces: list[Any], arrays: list[Value], fill: Value | None, span: Span) -> Value:
        """The first piece whose conditions hold."""
        if not pieces:
            assert fill is not None
            return fill
        piece = pieces[0]
        conds: list[ir.Cond] = []
        for p in piece.conditions:
            found = scalars.simplify_cond(self.b, ir.Cond("ge", p))
            if isinstance(found, ir.Const):
                if not found.value:
                    return self.piecewise(pieces[1:], arrays, fill, span)
            else:
                conds.append(found)
        value: Value = arrays[piece.arg]

        def inside() -> Value:
            result = value
            for p in piece.index:
                result = self.get(result, p)
            return result

        if not conds:
            return inside()
        test = Formula("all", tuple(Formula("is", (c,)) for c in conds)) if len(conds) > 1 else Formula("is", (conds[0],))
        with self.b.under(*conds):
            then = inside()
        with self.b.under(*self.path_conds(test.negated())):
            orelse = self.piecewise(pieces[1:], arrays, fill, span)
        return self.select(test, then, orelse, span)

    def fill_of(self, t: Type, axes: int, fill: Value, env: Env) -> Value:
        """The fill in the shape of the elements of a padded array."""
        if isinstance(t, (Tuple, Record)):
            return VTuple(tuple(self.fill_of(item, axes, fill, env) for item in t.items))
        if not isinstance(t, Array):
            return fill
        inner = self.fill_of(t.elem, max(axes - 1, 0), fill, env)
        return inner if axes else VArray(self.poly(t.size, env), lambda _: inner)

    def _param(self, p: Any, env: Env) -> Any:
        if isinstance(p, Poly):
            return self.poly(p, env)
        return tuple(self._param(x, env) for x in p) if isinstance(p, tuple) else p

    def zip(self, e: core.Zip, env: Env) -> Value:
        return self.push_in(VTuple(tuple(self.eval(item, env) for item in e.items)), 1)

    def unzip(self, e: core.Unzip, env: Env) -> Value:
        value = self.eval(e.value, env)
        return VTuple(tuple(component(value, k) for k in range(len(components(e.type)))))

    def copy(self, e: core.Copy, env: Env) -> Value:
        """The value itself: a copy is made where one is needed. What it is a copy of is remembered (runtime/memory.py)."""
        value = self.eval(e.value, env)
        for array in self.abs_of(value, e.type, env):
            found = source_of(array)
            if found is not None:
                found[0].copied += 1
        return value


def _puts_together(e: core.Map) -> bool:
    """True when every element is taken apart and put together again."""
    body = e.body
    if not isinstance(body, core.MakeTuple) or len(e.params) != 1 or not body.items:
        return False
    source = e.arrays[0].type
    if not isinstance(source, Array) or not isinstance(source.elem, (Tuple, Record)) or len(source.elem.items) != len(body.items):
        return False
    return all(isinstance(x, core.Proj) and x.index == k and isinstance(x.value, core.Var) and x.value.sym is e.params[0] for k, x in enumerate(body.items))


def _nearly_all(axes: list[Any], extents: tuple[Poly, ...]) -> bool:
    """True when an update leaves only a border of constant width untouched."""
    if any(isinstance(item, Poly) for item in axes):
        return False
    left = [(extent - size).const() for (_, step, size), extent in zip(axes, extents, strict=False) if step == 1]
    return len(left) == len(axes) and all(border is not None and border <= 16 for border in left)
