"""Derivatives: the function is evaluated on active lines, and the lines it made are followed (ad/)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from atoll.ad.at_once import updates_at_once
from atoll.ad.folds import folds_as_loops, folds_regrouped
from atoll.ad.forward import Forward
from atoll.ad.indicator import zero
from atoll.ad.lines import lines_since
from atoll.ad.reverse import Reverse
from atoll.ainf import ir
from atoll.ainf.translate.context import Env, index_name
from atoll.ainf.translate.loops import Loops
from atoll.ainf.values import Scalar, Value, VTuple, rows
from atoll.core import ir as core
from atoll.core.slopes import only_one
from atoll.errors import Span, fail
from atoll.sizes import Poly, poly
from atoll.types.dtypes import BOOL, DType
from atoll.types.types import Record, Tuple, Type, dtype_of, flatten, shape_of


class Leaf:
    """An array a derivative is about: its indices and, when it is of floats, the active line that stands for it."""

    def __init__(self, binders: tuple[ir.Binder, ...], dtype: DType) -> None:
        self.binders, self.dtype = binders, dtype
        self.line: ir.Line | None = None

    def where(self, index: tuple[Poly, ...]) -> tuple[Poly, ...]:
        """The index of the line at an index of the array."""
        assert self.line is not None
        env = dict(zip(self.binders, index, strict=True))
        return tuple(poly(d).subst(env) for d in self.line.dims)

    def at(self, index: tuple[Poly, ...]) -> Value:
        assert self.line is not None
        return Scalar(ir.Ref(self.line, 0, self.where(index)))


def _plain(element: Callable[[tuple[Poly, ...]], ir.Operand]) -> Callable[[tuple[Poly, ...]], Value]:
    return lambda index: Scalar(element(index))


def _active(leaves: list[list[Leaf]]) -> set[tuple[ir.Line, int]]:
    return {(leaf.line, 0) for own in leaves for leaf in own if leaf.line is not None}


class CustomRule:
    """The derivatives of a function as its author supplied them: in the mode that is asked for, or none."""

    def __init__(self, translator: Derivatives, fn: core.Function, span: Span) -> None:
        self.translator, self.fn, self.span = translator, fn, span

    def adjoints(self, sizes: tuple[ir.Operand, ...], args: list[ir.Abs], seeds: list[ir.Abs]) -> list[ir.Abs]:
        """One array per leaf of the arguments."""
        return self._applied(self.fn.vjp, sizes, [*args, *seeds])

    def tangents(self, sizes: tuple[ir.Operand, ...], args: list[ir.Abs], along: list[ir.Abs]) -> list[ir.Abs]:
        """One array per leaf of the result."""
        return self._applied(self.fn.jvp, sizes, [*args, *along])

    def _applied(self, rule: core.Function | None, sizes: tuple[ir.Operand, ...], arrays: list[ir.Abs]) -> list[ir.Abs]:
        if rule is None:
            only_one(self.fn, self.span)
        assert rule.body is not None
        env = Env()
        for sym, x in zip(rule.sizes, sizes, strict=True):
            env[sym] = Scalar(x)
        rest = iter(arrays)
        for sym, t in rule.params:
            env[sym] = self.translator.from_arrays(t, [next(rest) for _ in flatten(t)])
        value = self.translator.eval(rule.body, env)
        return [self.translator.result_abs(value, path) for path, _ in flatten(rule.result)]


class Derivatives(Loops):
    deriving = 0  # how many derivatives are being taken

    def stop(self, e: core.Stop, env: Env) -> Value:
        """A line that nothing is followed through; outside derivatives, the value itself."""
        value = self.eval(e.value, env)
        return self.stopped(value, e.type, env, e.span) if self.deriving else value

    def stopped(self, value: Value, t: Type, env: Env, span: Span) -> Value:
        """The same value, a constant for derivatives."""

        def leaf(element: Callable[[tuple[Poly, ...]], ir.Operand], dtype: DType) -> Callable[[tuple[Poly, ...]], Value]:
            if not self.b.has_slope(dtype):
                return lambda index: Scalar(element(index))
            return lambda index: Scalar(self.b.ref(ir.Op("stop", (element(index),)), ir.Result(dtype), span))

        return self.from_leaves(t, [leaf(element, dtype) for _, element, dtype in self.leaves_of(value, t, env)], env)

    def activated(self, value: Value, t: Type, env: Env) -> tuple[Value, list[Leaf]]:
        """The same value, its float leaves active."""
        b = self.b
        leaves: list[Leaf] = []
        readers: list[Callable[[tuple[Poly, ...]], Value]] = []
        for extents, element, dtype in self.leaves_of(value, t, env):
            leaf = Leaf(tuple(b.fresh_binder(index_name(k), e) for k, e in enumerate(extents)), dtype)
            leaves.append(leaf)
            if not b.has_slope(dtype):
                readers.append(_plain(element))
                continue
            with b.binding(*leaf.binders):
                at = tuple(poly(x) for x in leaf.binders)
                leaf.line, _ = b.emit(ir.Active(object(), element(at), at), (ir.Result(dtype),), hint="v")
            readers.append(leaf.at)
        return self.from_leaves(t, readers, env), leaves

    def customised(self, fn: core.Function, env: Env, span: Span) -> Value:
        """The result of a call whose derivative its author supplied: nothing is followed through its body."""
        assert fn.body is not None
        inner = Env(env)
        for sym, t in fn.params:
            inner[sym] = self.stopped(env[sym], t, env, span)
        value = self.eval(fn.body, inner)
        sizes = tuple(self.operand(env[sym]) for sym in fn.sizes)
        args = tuple(array for sym, t in fn.params for array in self.abs_of(env[sym], t, env))
        values = tuple(self.result_abs(value, path) for path, _ in flatten(fn.result))
        results = tuple(ir.Result(ir.operand_dtype(a.body), tuple(x.extent for x in a.binders)) for a in values)
        line, index = self.b.emit(ir.Custom(CustomRule(self, fn, span), sizes, args, values), results, span, "v")
        binders = [tuple(self.b.fresh_binder(x.name, x.extent) for x in a.binders) for a in values]
        arrays = [ir.Abs(bs, ir.Ref(line, k, index + tuple(poly(x) for x in bs))) for k, bs in enumerate(binders)]
        return self.from_arrays(fn.result, arrays)

    def applied(self, e: core.Jvp | core.Vjp, env: Env) -> tuple[list[list[Leaf]], list[ir.Abs], list[ir.Line]]:
        """The function's result at active arguments, and the lines that computed it."""
        if e.integers and any(dtype_of(shape_of(leaf)[1]) is BOOL for t in e.fn.types for _, leaf in flatten(t)):
            fail("E1408", e.span, what="a compiled derivative with respect to truth values (the interpreter has it: .interpret(...))")
        values = [self.eval(arg, env) for arg in e.args]
        start = self.b._count
        inner = Env(env)
        leaves = []
        for sym, t, value in zip(e.fn.params, e.fn.types, values, strict=True):
            inner[sym], own = self.activated(value, t, env)
            leaves.append(own)
        self.deriving += 1
        result = self.eval(e.fn.body, inner)
        self.deriving -= 1
        arrays = [self.result_abs(result, path) for path, _ in flatten(e.fn.body.type)]
        return leaves, arrays, lines_since(self.b, start)

    @contextmanager
    def about(self, e: core.Jvp | core.Vjp) -> Iterator[None]:
        """Which numbers have slopes in this derivative."""
        b = self.b
        before = b.integers, b.spelled
        b.integers, b.spelled = e.integers, b.spelled or e.integers
        try:
            yield
        finally:
            b.integers, b.spelled = before

    def jvp(self, e: core.Jvp, env: Env) -> Value:
        tangents = [self.eval(x, env) for x in e.tangents]
        with self.about(e):
            return self._jvp(e, tangents, env)

    def _jvp(self, e: core.Jvp, tangents: list[Value], env: Env) -> Value:
        start = self.b._count
        leaves, arrays, lines = self.applied(e, env)
        lines = folds_as_loops(self.b, start, lines, _active(leaves))
        forward = Forward(self.b)
        for own, t, tangent in zip(leaves, e.fn.types, tangents, strict=True):
            for leaf, (_, element, _) in zip(own, self.leaves_of(tangent, t, env), strict=True):
                if leaf.line is not None:
                    with self.b.binding(*leaf.binders):
                        forward.scalar(leaf.line, 0, element(tuple(poly(x) for x in leaf.binders)))
        forward.run(lines)
        found = []
        for array in arrays:
            with self.b.binding(*array.binders):
                moved = forward.operand(array.body)
            found.append(ir.Abs(array.binders, moved if moved is not None else zero(ir.operand_dtype(array.body))))
        made = self.from_arrays(e.fn.body.type, found)
        return VTuple((self.from_arrays(e.fn.body.type, arrays), made)) if e.value else made

    def vjp(self, e: core.Vjp, env: Env) -> Value:
        with self.about(e):
            return self._vjp(e, env)

    def _vjp(self, e: core.Vjp, env: Env) -> Value:
        start = self.b._count
        leaves, arrays, lines = self.applied(e, env)
        lines = updates_at_once(self.b, start, lines)
        lines, regrouped = folds_regrouped(self.b, start, lines, _active(leaves))
        seed = self.eval(e.seed, env)
        b = self.b
        reverse = Reverse(b, frozenset(b.binders))
        reverse.active = _active(leaves)
        reverse.spread(lines)
        for fold in regrouped:
            reverse.sinks.update(fold.sinks(reverse))
        for array, (path, _) in zip(arrays, flatten(e.fn.body.type), strict=True):
            with b.binding(*array.binders):
                value = self.operand(self.element(seed, tuple(poly(x) for x in array.binders), path))
            reverse.push(array.body, value, (), list(array.binders))
        swept, b.reverse = b.reverse, True
        reverse.run(lines)
        b.reverse = swept
        for fold in regrouped:
            fold.done()
        results = []
        for own, t in zip(leaves, e.fn.types, strict=True):
            results.append(self.from_leaves(t, [self._adjoint(reverse, leaf) for leaf in own], env))
        adjoints = VTuple(tuple(results))
        return VTuple((self.from_arrays(e.fn.body.type, arrays), adjoints)) if e.value else adjoints

    def _adjoint(self, reverse: Reverse, leaf: Leaf) -> Callable[[tuple[Poly, ...]], Value]:
        reader = None if leaf.line is None else reverse.adjoint((leaf.line, 0))
        if reader is None:
            return lambda index: Scalar(zero(leaf.dtype))
        return lambda index: self.guard(Scalar(reader(leaf.where(index))))

    def from_arrays(self, t: Type, arrays: list[ir.Abs]) -> Value:
        """The value of this type whose leaves are these arrays, with the extents they have."""
        rest = iter(arrays)

        def build(t: Type, depth: int) -> Value:
            sizes, elem = shape_of(t)
            depth += len(sizes)
            if isinstance(elem, (Tuple, Record)):
                return self.push_in(VTuple(tuple(build(item, depth) for item in elem.items)), depth)
            array = next(rest)

            def at(index: tuple[Poly, ...]) -> Value:
                return self.guard(Scalar(ir.subst_operand(array.body, dict(zip(array.binders, index, strict=True)))))

            return rows(at, tuple(x.extent for x in array.binders))

        return build(t, 0)
