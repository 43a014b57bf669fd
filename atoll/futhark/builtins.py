"""What the prelude's built-in functions do: second-order array functions, reshapes, derivatives."""

from __future__ import annotations

import math
from typing import Any

from atoll.core import ir
from atoll.futhark import scalars
from atoll.futhark.elaborate import Elaborate
from atoll.futhark.env import Use, feature
from atoll.futhark.ftypes import Arr, Prim, Rec, Sum, Type, prune
from atoll.futhark.loops import leaves, like, split
from atoll.futhark.regular import captured, escaping
from atoll.futhark.values import Code, Fn, Frame, Record, V, names_of, sum_order
from atoll.sizes import Sym, poly
from atoll.types import types as core
from atoll.types.dtypes import BOOL, DType
from atoll.types.types import BOOL_T, I64_T, SCALARS, sizes_in

_ARITY = {
    "map": 2, "map2": 3, "map3": 4, "map4": 5, "map5": 6, "reduce": 3, "scan": 3, "filter": 2, "scatter": 3, "reduce_by_index": 5, "tabulate": 2, "iota": 1,
    "replicate": 2, "copy": 1, "manifest": 1, "zip": 2, "unzip": 1, "transpose": 1, "builtin_concat": 2, "builtin_flatten": 1, "builtin_unflatten": 3,
    "builtin_scatter_stream": 3, "builtin_hist_stream": 5, "builtin_acc_write": 3, "jvp2": 3, "vjp2": 3, "with_vjp": 3,
}  # fmt: skip
_SUMS = {"sum": ("+", 0), "product": ("*", 1), "maximum": ("max", "lowest"), "minimum": ("min", "highest")}


class Program(Elaborate):
    def builtin(self, name: str, use: Use, frame: Frame) -> V:
        if name in _ARITY:
            run = getattr(self, f"do_{name}")
            return Fn(_ARITY[name], lambda args: run(*args))
        if name == "builtin_blank":
            return Code(self.zero(self.core_type(self.resolve(next(iter(use.types.values())), frame), 0)))
        if "." in name and name.split(".", 1)[0] in (*SCALARS, "f16"):
            module, member = name.split(".", 1)
            return self.scalar_member(module, member)
        if name in ("&&", "||"):
            return Fn(2, lambda args: self.short(name, self.reify(args[0]), lambda: args[1]), op=name)
        if name in ("==", "!="):
            t = self.resolve(next(iter(use.types.values())), frame)

            def equal(args: list[V]) -> V:
                same = self.same(args[0], args[1], t)
                return Code(same) if name == "==" else self.prim("not", same)

            return Fn(2, equal, op=name)
        return self.overloaded(name, use, frame)

    def overloaded(self, name: str, use: Use, frame: Frame) -> V:
        """An operator on numbers."""
        half = any(prune(self.resolve(t, frame)) == Prim("f16") for t in use.types.values())

        def run(args: list[V]) -> V:
            made = scalars.binary(self, name, self.reify(args[0]), self.reify(args[1]))
            return scalars.rounded_code(self, made) if half and made.e.type == SCALARS["f32"] else made

        return Fn(2, run, op=None if half else name)

    def scalar_member(self, module: str, member: str) -> V:
        if member in _SUMS:
            op, start = _SUMS[member]
            value: Any = scalars.constant(start, module) if isinstance(start, str) else start
            neutral = self.lit(float(value) if module[0] == "f" else value, "f32" if module == "f16" else module)
            fn = Fn(2, lambda args: scalars.call(self, module, op, [self.reify(a) for a in args]), op=None if module == "f16" else op)
            return Fn(1, lambda args: self.do_reduce(fn, neutral, args[0]))
        if member == "iota":
            return Fn(1, lambda args: self.iota(args[0], module))
        if member == "replicate":
            return Fn(2, lambda args: self.do_replicate(Code(self.cast(self.reify(args[0]), "i64")), args[1]))
        count = scalars.arity(member)
        if count == 0:
            return scalars.call(self, module, member, [])
        return Fn(count, lambda args: scalars.call(self, module, member, [self.reify(a) for a in args]), op=None if module == "f16" else member)

    # -- equality

    def same(self, a: V, b: V, t: Type) -> ir.Expr:
        t = prune(t)
        if isinstance(t, Prim):
            return self.prim("eq", self.reify(a), self.reify(b), bool_=True).e
        if isinstance(t, Arr):
            return self.same_arrays(self.name(self.reify(a)), self.name(self.reify(b)), t)
        a, b = self.named(a), self.named(b)
        tests: list[ir.Expr] = []
        if isinstance(t, Rec):
            tests = [self.same(self.field(a, f, t), self.field(b, f, t), t.fields[f]) for f in names_of(t)]
        else:
            assert isinstance(t, Sum)
            for name, part in sum_order(t):
                tests.append(self.same(self.field(a, name, t), self.field(b, name, t), part if part is not None else Prim("i8")))
        result: ir.Expr = ir.Lit(True, type=BOOL_T, span=self.span)
        for k, test in enumerate(tests):
            result = test if k == 0 else self.prim("and", result, test).e
        return result

    def same_arrays(self, a: ir.Expr, b: ir.Expr, t: Arr) -> ir.Expr:
        assert isinstance(a.type, core.Array) and isinstance(b.type, core.Array)
        have, other = sizes_in(a.type), sizes_in(b.type)

        def elements() -> V:
            right = ir.Slice(b, (ir.Range(poly(0), 1, a.type.size),), type=core.Array(b.type.elem, a.type.size)) if a.type.size != b.type.size else b  # type: ignore[attr-defined]
            x, y = Sym("x"), Sym("y")
            assert isinstance(a.type, core.Array) and isinstance(b.type, core.Array)
            body = self.closed(lambda: Code(self.same(Code(ir.Var(x, type=a.type.elem)), Code(ir.Var(y, type=b.type.elem)), t.elem)))  # type: ignore[attr-defined]
            mask = ir.Map((x, y), (a, right), body, type=core.Array(BOOL_T, a.type.size), span=self.span)
            return self.do_reduce(Fn(2, lambda args: self.prim("and", *map(self.reify, args)), op="&&"), self.lit(True, "bool"), Code(mask))

        if have[: 1] == other[: 1]:
            return self.reify(elements())
        size = self.prim("eq", self.size(a.type.size).e, self.size(b.type.size).e, bool_=True).e
        return ir.If(size, self.closed(elements), ir.Lit(False, type=BOOL_T), type=BOOL_T, span=self.span)

    # -- maps

    def array(self, v: V) -> ir.Expr:
        e = self.name(self.reify(v))
        assert isinstance(e.type, core.Array), e.type
        return e

    def do_map(self, f: V, *arrays: V) -> V:
        given = [self.array(a) for a in arrays]
        size = given[0].type.size  # type: ignore[attr-defined]
        given = [given[0], *(self.outer(a, size) for a in given[1:])]
        syms = [Sym("x") for _ in given]
        body = self.closed(lambda: self.apply(f, *(Code(ir.Var(sym, type=a.type.elem, span=self.span)) for sym, a in zip(syms, given, strict=True))))  # type: ignore[attr-defined]
        body = self.regular(body, tuple(syms))
        return Code(ir.Map(tuple(syms), tuple(given), body, type=core.Array(body.type, size), span=self.span))

    do_map2 = do_map3 = do_map4 = do_map5 = do_map

    def outer(self, e: ir.Expr, size: Any) -> ir.Expr:
        """The array with this outer size, checked."""
        assert isinstance(e.type, core.Array)
        if e.type.size == size:
            return e
        self.same_size(e.type.size, size, "arrays have one size")
        return ir.Slice(e, (ir.Range(poly(0), 1, size),), type=core.Array(e.type.elem, size), span=self.span)

    def regular(self, body: ir.Expr, params: tuple[Sym, ...]) -> ir.Expr:
        """A function's body whose results are all of one size: what computes their sizes is done before."""
        found = escaping(body, params)
        if found is None:
            feature(self.span, "an array of arrays whose sizes are only known when they are computed")
        self.stmts.extend(found[0])
        return found[1]

    def do_tabulate(self, n: V, f: V) -> V:
        size = self.poly(self.reify(n))
        self.require(size, "a size is not negative")
        i = Sym("i")
        body = self.closed(lambda: self.apply(f, Code(ir.Var(i, type=I64_T, span=self.span))))
        body = self.regular(body, (i,))
        return Code(ir.Build(i, size, body, type=core.Array(body.type, size), span=self.span))

    def do_iota(self, n: V) -> V:
        return self.iota(n, "i64")

    def iota(self, n: V, dtype: str) -> V:
        size = self.poly(self.cast(self.reify(n), "i64"))
        self.require(size, "a size is not negative")
        i = Sym("i")
        return Code(ir.Build(i, size, self.cast(ir.Var(i, type=I64_T), dtype), type=core.Array(SCALARS[dtype], size), span=self.span))

    def do_replicate(self, n: V, x: V) -> V:
        size = self.poly(self.reify(n))
        self.require(size, "a size is not negative")
        e = self.name(self.reify(x))
        return Code(ir.Build(Sym("i"), size, e, type=core.Array(e.type, size), span=self.span))

    def do_copy(self, x: V) -> V:
        return x

    do_manifest = do_copy

    # -- reductions

    def operator(self, f: V, t: core.Type) -> tuple[ir.Lam, str | None]:
        a, b = Sym("a"), Sym("b")

        def body() -> V:
            e = self.reify(self.apply(f, Code(ir.Var(a, type=t)), Code(ir.Var(b, type=t))))
            return Code(self.resized(e, t, "an operator keeps sizes"))

        lam = ir.Lam((a, b), (t, t), self.closed(body))
        op = f.op if isinstance(f, Fn) and not f.args else None
        monoid = scalars.MONOIDS.get(op) if op is not None and isinstance(t, core.Scalar) else None
        return lam, monoid

    def do_reduce(self, f: V, ne: V, xs: V) -> V:
        array, neutral = self.array(xs), self.name(self.reify(ne))
        assert isinstance(array.type, core.Array)
        t = neutral.type
        if sizes_in(array.type.elem) != sizes_in(t):
            array = self.name(self.resized(array, core.Array(t, array.type.size), "elements have the size of the neutral element"))
        lam, monoid = self.operator(f, t)
        array, monoid = self.without_nan(array, neutral, monoid)
        return Code(ir.Reduce(lam, neutral, array, monoid, type=t, span=self.span))

    def without_nan(self, array: ir.Expr, neutral: ir.Expr, monoid: str | None) -> tuple[ir.Expr, str | None]:
        """Operands of a monoid that mean what they mean to Futhark's function: in its max and min of floats what is no number loses, in core's it wins."""
        t = neutral.type
        if monoid not in ("maximum", "minimum") or not isinstance(t, core.Scalar) or not t.dtype.is_float:
            return array, monoid
        if not isinstance(neutral, ir.Lit) or math.isnan(neutral.value.real):
            return array, None
        x = Sym("x")
        var = ir.Var(x, type=t, span=self.span)
        body = self.prim("select", self.prim("isnan", var, bool_=True).e, neutral, var).e
        return self.name(ir.Map((x,), (array,), body, type=array.type, span=self.span)), monoid

    def do_scan(self, f: V, ne: V, xs: V) -> V:
        array, neutral = self.array(xs), self.name(self.reify(ne))
        assert isinstance(array.type, core.Array)
        t = array.type.elem
        neutral = self.resized(neutral, t, "elements have the size of the neutral element")
        lam, monoid = self.operator(f, t)
        array, monoid = self.without_nan(array, neutral, monoid)
        return Code(ir.Scan(lam, neutral, array, False, monoid, type=array.type, span=self.span))

    def do_filter(self, f: V, xs: V) -> V:
        array = self.array(xs)
        mask = self.name(self.reify(self.do_map(f, Code(array))), "mask")
        k = Sym("k")
        assert isinstance(array.type, core.Array)
        t = core.Array(array.type.elem, poly(k))
        return Code(self.opened(ir.Filter(array, mask, type=t, span=self.span), t, (k,), "chosen"))

    def do_scatter(self, dest: V, indices: V, values: V) -> V:
        array, at, new = self.array(dest), self.array(indices), self.array(values)
        assert isinstance(array.type, core.Array) and isinstance(at.type, core.Array) and isinstance(new.type, core.Array)
        new = self.outer(new, at.type.size)
        want = core.Array(array.type.elem, at.type.size)
        new = self.resized(new, want, "what is written has the size of where it is written")
        lam, _ = self.operator(Fn(2, lambda args: args[1]), array.type.elem)  # of several values for one place the last is kept
        return Code(ir.Scatter(array, at, new, lam, None, drop=True, type=array.type, span=self.span))

    def do_reduce_by_index(self, dest: V, f: V, ne: V, indices: V, values: V) -> V:
        array, at, new = self.array(dest), self.array(indices), self.array(values)
        assert isinstance(array.type, core.Array) and isinstance(at.type, core.Array)
        new = self.resized(self.outer(new, at.type.size), core.Array(array.type.elem, at.type.size), "elements have one size")
        lam, monoid = self.operator(f, array.type.elem)
        if monoid in ("maximum", "minimum") and isinstance(array.type.elem, core.Scalar) and array.type.elem.dtype.is_float:
            monoid = None  # what is no number loses, also where it is a bin's first value
        return Code(ir.Scatter(array, at, new, lam, monoid, drop=True, type=array.type, span=self.span))

    # -- accumulators: an accumulator is the array itself, and its operator is known where the stream is

    def stream(self, dest: V, f: V, values: V, operator: Any) -> V:
        array, given = self.array(dest), self.array(values)
        assert isinstance(given.type, core.Array)
        acc, i = Sym("acc"), Sym("i")
        self.operators.append(operator)

        def body() -> V:
            x = Code(ir.At(given, ir.Var(i, type=I64_T), type=given.type.elem, span=self.span))  # type: ignore[attr-defined]
            made = self.reify(self.apply(f, Code(ir.Var(acc, type=array.type)), self.named(x)))
            return Record({"0": Code(self.resized(made, array.type))})

        code = self.closed(body)
        self.operators.pop()
        t = core.Tuple((array.type,))
        made = self.name(ir.For(i, given.type.size, ((acc, array),), code, type=t, span=self.span))
        return Code(ir.Proj(made, 0, type=array.type, span=self.span))

    def do_builtin_scatter_stream(self, dest: V, f: V, values: V) -> V:
        return self.stream(dest, f, values, None)

    def do_builtin_hist_stream(self, dest: V, op: V, ne: V, f: V, values: V) -> V:
        return self.stream(dest, f, values, op)

    def do_builtin_acc_write(self, acc: V, index: V, value: V) -> V:
        array, at, new = self.array(acc), self.name(self.reify(index)), self.named(value)
        assert isinstance(array.type, core.Array)
        size = self.size(array.type.size).e
        inside = self.prim("and", self.prim("ge", at, ir.Lit(0, type=I64_T), bool_=True).e, self.prim("lt", at, size, bool_=True).e).e

        def written() -> V:
            v = new
            if self.operators[-1] is not None:
                v = self.apply(self.operators[-1], self.named(Code(ir.At(array, at, type=array.type.elem, span=self.span))), new)  # type: ignore[attr-defined]
            e = self.resized(self.reify(v), array.type.elem)  # type: ignore[attr-defined]
            return Code(ir.Update(array, (at,), e, type=array.type, span=self.span))

        return Code(ir.If(inside, self.closed(written), array, type=array.type, span=self.span))

    # -- reshapes

    def do_zip(self, xs: V, ys: V) -> V:
        a = self.array(xs)
        assert isinstance(a.type, core.Array)
        b = self.outer(self.array(ys), a.type.size)
        assert isinstance(b.type, core.Array)
        t = core.Array(core.Tuple((a.type.elem, b.type.elem)), a.type.size)
        return Code(ir.Zip((a, b), type=t, span=self.span))

    def do_unzip(self, xs: V) -> V:
        a = self.array(xs)
        assert isinstance(a.type, core.Array) and isinstance(a.type.elem, core.Tuple)
        parts = tuple(core.Array(item, a.type.size) for item in a.type.elem.items)
        e = self.name(ir.Unzip(a, type=core.Tuple(parts), span=self.span))
        return Record({str(k): Code(ir.Proj(e, k, type=t, span=self.span)) for k, t in enumerate(parts)})

    def do_transpose(self, xs: V) -> V:
        a = self.array(xs)
        assert isinstance(a.type, core.Array) and isinstance(a.type.elem, core.Array)
        inner = a.type.elem
        t = core.Array(core.Array(inner.elem, a.type.size), inner.size)
        return Code(ir.View("transpose", (1, 0), (a,), type=t, span=self.span))

    def do_builtin_concat(self, xs: V, ys: V) -> V:
        a, b = self.array(xs), self.array(ys)
        assert isinstance(a.type, core.Array) and isinstance(b.type, core.Array)
        b = self.resized(b, core.Array(a.type.elem, b.type.size), "rows have one size")
        assert isinstance(b.type, core.Array)
        t = core.Array(a.type.elem, a.type.size + b.type.size)
        return Code(ir.View("concat", (), (a, b), type=t, span=self.span))

    def do_builtin_flatten(self, xs: V) -> V:
        a = self.array(xs)
        assert isinstance(a.type, core.Array) and isinstance(a.type.elem, core.Array)
        t = core.Array(a.type.elem.elem, a.type.size * a.type.elem.size)
        return Code(ir.View("flatten", (), (a,), type=t, span=self.span))

    def do_builtin_unflatten(self, n: V, m: V, xs: V) -> V:
        a = self.array(xs)
        assert isinstance(a.type, core.Array)
        rows, columns = self.poly(self.reify(n)), self.poly(self.reify(m))
        self.same_size(a.type.size, rows * columns, "the elements fill the new shape")
        self.require(rows, "a size is not negative")
        self.require(columns, "a size is not negative")
        t = core.Array(core.Array(a.type.elem, columns), rows)
        a = self.outer(a, rows * columns)
        return Code(ir.View("split", (columns, rows), (a,), type=t, span=self.span))

    # -- derivatives

    def lambda_of(self, f: V, x: V) -> tuple[ir.Lam, V]:
        """The function on the leaves of its argument, and the form of its result."""
        given = leaves(x)
        syms = tuple(Sym("x") for _ in given)
        form: list[V] = []

        def body() -> V:
            v = self.apply(f, like(x, [ir.Var(sym, type=e.type) for sym, e in zip(syms, given, strict=True)]))
            form.append(v)
            return v

        self.derived += 1
        try:
            code = self.regular(self.closed(body), syms)
        finally:
            self.derived -= 1
        return ir.Lam(syms, tuple(e.type for e in given), code), form[0]

    def on_integers(self, lam: ir.Lam) -> bool:
        """Whether integers are among what is differentiated, or it gives nothing but integers and truth values."""

        def dtypes(t: core.Type) -> list[DType]:
            return [core.dtype_of(core.shape_of(leaf)[1]) for _, leaf in core.flatten(t)]

        given = dtypes(lam.body.type)
        return any(d.is_integer for t in lam.types for d in dtypes(t)) or (bool(given) and all(d.is_integer or d is BOOL for d in given))

    def do_jvp2(self, f: V, x: V, dx: V) -> V:
        x = self.named(x)
        lam, _ = self.lambda_of(f, x)
        tangents = tuple(self.resized(d, e.type, "a tangent is like its argument") for d, e in zip(split(self, dx, x), leaves(x), strict=True))
        t = lam.body.type
        e = self.name(ir.Jvp(lam, tuple(leaves(x)), tangents, True, self.on_integers(lam), type=core.Tuple((t, t)), span=self.span))
        return Record({str(k): Code(ir.Proj(e, k, type=t, span=self.span)) for k in range(2)})

    def do_vjp2(self, f: V, x: V, dy: V) -> V:
        x = self.named(x)
        lam, _ = self.lambda_of(f, x)
        seed = self.resized(self.reify(dy), lam.body.type, "a seed is like the result")
        adjoints = core.Tuple(lam.types)
        e = self.name(ir.Vjp(lam, tuple(leaves(x)), seed, True, self.on_integers(lam), type=core.Tuple((lam.body.type, adjoints)), span=self.span))
        value = Code(ir.Proj(e, 0, type=lam.body.type, span=self.span))
        parts = self.name(ir.Proj(e, 1, type=adjoints, span=self.span))
        back = like(x, [ir.Proj(parts, k, type=t, span=self.span) for k, t in enumerate(lam.types)])
        return Record({"0": value, "1": back})

    def do_with_vjp(self, f: V, g: V, x: V) -> V:
        """A call of a core function that has its author's derivative. What both functions use of their surroundings are arguments, constants for derivatives."""
        x = self.named(x)
        lam, form = self.lambda_of(f, x)
        again, result = self.lambda_of(f, x)
        seed = Sym("seed")
        t = lam.body.type

        def back() -> V:
            value = self.name(self.resized(again.body, t))
            adjoint = self.reify(self.apply(g, like(result, split(self, Code(value), result)), like(form, split(self, Code(ir.Var(seed, type=t)), form))))
            parts = split(self, Code(adjoint), x)
            return Record({str(k): Code(self.resized(part, have)) for k, (part, have) in enumerate(zip(parts, again.types, strict=True))})

        code = self.closed(back)
        values, sizes = captured(lam, ir.Lam((*again.params, seed), (*again.types, t), code))
        own = tuple(values.items())
        fn = ir.Function("custom", tuple(sizes), (*zip(lam.params, lam.types, strict=True), *own), t, lam.body, span=self.span)
        made = ir.Var(Sym("adjoints"), type=code.type, span=self.span)
        adjoints = tuple(ir.Proj(made, k, type=u, span=self.span) for k, u in enumerate(again.types)) + tuple(self.zero(u) for _, u in own)
        parts = adjoints[0] if len(adjoints) == 1 else ir.MakeTuple(adjoints, type=core.Tuple(tuple(e.type for e in adjoints)), span=self.span)
        whole = ir.Block((ir.Bind(made.sym, code),), parts, type=parts.type, span=self.span)
        fn.vjp = ir.Function("custom_vjp", tuple(sizes), (*zip(again.params, again.types, strict=True), *own, (seed, t)), whole.type, whole, span=self.span)
        fn.believed = ("def_vjp",)
        args = (*leaves(x), *(ir.Var(sym, type=u, span=self.span) for sym, u in own))
        e = self.name(ir.Call(fn, tuple(poly(size) for size in sizes), args, type=t, span=self.span))
        return like(form, split(self, Code(e), form))
