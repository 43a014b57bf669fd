"""Checked Futhark to core, by evaluation: functions are applied where they are called, so what is left is first-order code.

Function values are always known (Futhark allows none in arrays, branches and loops), types of type parameters and sizes are those of the call.
"""

from __future__ import annotations

import re
from typing import Any

from atoll.core import ir
from atoll.errors import Span, fail
from atoll.futhark import scalars
from atoll.futhark import syntax as s
from atoll.futhark.build import Build, fresh_sizes
from atoll.futhark.env import Binding, Use, feature
from atoll.futhark.ftypes import (
    Arr,
    Con,
    Dim,
    DOp,
    DRef,
    DVar,
    Fun,
    Prim,
    Rec,
    Sum,
    TVar,
    Type,
    has_function,
    map_type,
    prune,
    prune_dim,
)
from atoll.futhark.values import Code, DKnown, Fn, Frame, Record, V, case_number, names_of, sum_order
from atoll.sizes import Poly, Sym, cdiv, poly
from atoll.types import types as core
from atoll.types.types import BOOL_T, I64_T, SCALARS, sizes_in


class Later:
    """A size that the use of a name says, computed when it is asked for."""

    def __init__(self, dim: Dim, frame: Frame) -> None:
        self.dim, self.frame = dim, frame


class Elaborate(Build):
    def __init__(self) -> None:
        super().__init__()
        self.root = Frame()
        self.constants: dict[Any, V] = {}
        self.top: list[ir.Stmt] = []
        self.unsafe = False  # under #[unsafe] assertions are not made
        self.operators: list[Any] = []  # what accumulators combine with, innermost last
        self.tuning: dict[str, int] = {}
        self.instances: list[Any] = []  # recursive functions whose bodies are being made, innermost last

    # -- types

    def resolve(self, t: Type, frame: Frame) -> Type:
        """The type at this call: no parameters, sizes as polynomials where they are known."""

        def on_type(x: Type) -> Type | None:
            if isinstance(x, Con):
                found = frame.type(x)
                if found is not None:
                    return found  # type: ignore[no-any-return]
                if x.real is not None:
                    return map_type(x.real(x.args), on_type, on_dim)
                return None
            if isinstance(x, TVar):
                if x.kinds is not None:
                    return Prim("i32" if "i32" in x.kinds else "f64" if "f64" in x.kinds else x.kinds[0])
                return Rec({})
            return None

        def on_dim(d: Dim) -> Dim:
            if isinstance(d, DKnown):
                return d
            found = self.dim(d, frame)
            return DVar(0) if found is None else DKnown(found)  # type: ignore[return-value]

        return map_type(t, on_type, on_dim)

    def dim(self, d: Any, frame: Frame) -> Poly | None:
        if isinstance(d, DKnown):
            return d.poly
        d = prune_dim(d)
        match d:
            case int(n):
                return poly(n)
            case DKnown(p):
                return p
            case DRef(binding):
                return self.size_named(binding, frame)
            case DOp(op, left, right):
                a, b = self.dim(left, frame), self.dim(right, frame)
                if a is None or b is None:
                    return None
                if op in ("+", "-", "*"):
                    return a + b if op == "+" else a - b if op == "-" else a * b
                return self.poly(scalars.binary(self, op, self.size(a).e, self.size(b).e).e)
            case DVar():
                return None
        inner = Frame(frame)
        for b, given in d.given:
            leaf = prune_dim(given)
            value = frame.find(leaf.binding) if isinstance(leaf, DRef) else None
            if value is None and (size := self.dim(given, frame)) is not None:
                value = self.size(size)
            if value is not None and not isinstance(value, Frame):  # a local function is not what a size is made of
                inner.bind(b, value)
        try:
            v = self.eval(d.exp, inner)
        except _Unbound:
            return None
        return self.poly(v.e) if isinstance(v, Code) else None

    def size_named(self, binding: Binding, frame: Frame) -> Poly | None:
        found = frame.find(binding)
        if isinstance(found, Later):
            return self.dim(found.dim, found.frame)
        if isinstance(found, Code) and isinstance(found.e.type, (core.Scalar, core.Index)):
            return self.poly(found.e)
        if found is None and binding.kind in ("def", "alias", "builtin"):
            try:
                v = self.used(Use(binding, {}, {}, binding.type), frame)
            except _Unbound:
                return None
            return self.poly(v.e) if isinstance(v, Code) else None
        return None

    def core_type(self, t: Type, unknown: int | None = None) -> core.Type:
        """A resolved type in core's terms."""
        t = prune(t)
        match t:
            case Prim(name):
                return SCALARS["f32" if name == "f16" else name]
            case Arr(dim, elem):
                if isinstance(dim, DKnown):
                    return core.Array(self.core_type(elem, unknown), dim.poly)
                if unknown is None:
                    fail("E1404", self.span, found="[]", expected="a size", why="the size of an array is ambiguous: nothing says it")
                return core.Array(self.core_type(elem, unknown), poly(unknown))
            case Rec():
                return core.Tuple(tuple(self.core_type(t.fields[f], unknown) for f in names_of(t)))
            case Sum():
                return core.Tuple(tuple(SCALARS["i8"] if x is None else self.core_type(x, unknown) for _, x in sum_order(t)))
        feature(self.span, "a function where a value is needed")

    def zero(self, t: core.Type) -> ir.Expr:
        """Some value of a type."""
        match t:
            case core.Array(elem, size):
                return ir.Build(Sym("i"), size, self.zero(elem), type=t, span=self.span)
            case core.Tuple(items):
                return ir.MakeTuple(tuple(map(self.zero, items)), type=t, span=self.span)
        assert isinstance(t, core.Scalar)
        return ir.Lit(False if t == BOOL_T else 0.0 if t.dtype.is_float else 0, type=t, span=self.span)

    # -- records and sums

    def blank(self, t: Type) -> V:
        """Some value of a type, for what is never looked at; functions too."""
        t = prune(t)
        if isinstance(t, Fun):
            return Fn(1, lambda args: self.blank(t.result))
        if isinstance(t, Rec) and has_function(t):
            return Record({f: self.blank(x) for f, x in t.fields.items()})
        return Code(self.name(self.zero(self.core_type(t, 0)), "none"))

    def field(self, v: V, name: str, t: Type) -> V:
        if isinstance(v, Record):
            return v.fields[name]
        assert isinstance(v, Code), v
        index = names_of(prune(t)).index(name)
        assert isinstance(v.e.type, core.Tuple), v.e.type
        if isinstance(v.e, ir.MakeTuple):
            return Code(v.e.items[index])
        return Code(ir.Proj(v.e, index, type=v.e.type.items[index], span=self.span))

    def fields(self, v: V, t: Type) -> Record:
        """The value as a record whose fields are values of their own."""
        return Record({f: self.field(v, f, t) for f in names_of(prune(t))})

    # -- functions

    def apply(self, fn: V, *args: V) -> V:
        v = fn
        for arg in args:
            assert isinstance(v, Fn), v
            given = [*v.args, arg]
            v = v.run(given) if len(given) == v.arity else Fn(v.arity, v.run, given, v.op)
        return v

    def closure(self, params: list[Any], body: Any, frame: Frame, result: Any = None) -> V:
        if not params:
            return self.eval(body, frame)

        def run(args: list[V]) -> V:
            inner = Frame(frame)
            for p, arg in zip(params, args, strict=True):
                self.bind_sizes(p.ty, arg, inner)
                self.bind(p, arg, inner)
            return self.eval(body, inner)

        return Fn(len(params), run)

    def bind_sizes(self, t: Type, v: V, frame: Frame) -> None:
        """Sizes that a pattern's type names, from the value."""
        t = prune(t)
        if isinstance(t, Con) and frame.type(t) is None and t.real is not None:
            t = prune(t.real(t.args))
        if isinstance(v, Code):
            self.bind_core_sizes(t, v.e.type, frame)
        elif isinstance(v, Record) and isinstance(t, Rec):
            for f, x in t.fields.items():
                self.bind_sizes(x, v.fields[f], frame)
        elif isinstance(v, Record) and isinstance(t, Sum):
            for name, part in sum_order(t):
                if part is not None:
                    self.bind_sizes(part, v.fields[name], frame)

    def bind_core_sizes(self, t: Type, have: core.Type, frame: Frame) -> None:
        t = prune(t)
        if isinstance(t, Con) and frame.type(t) is None and t.real is not None:
            t = prune(t.real(t.args))
        if isinstance(t, Arr) and isinstance(have, core.Array):
            d = prune_dim(t.dim)
            if isinstance(d, DRef) and d.binding.kind == "size" and id(d.binding) not in frame.values:
                frame.bind(d.binding, Code(ir.SizeOf(have.size, type=I64_T, span=self.span)))
            self.bind_core_sizes(t.elem, have.elem, frame)
        elif isinstance(have, core.Tuple) and isinstance(t, Rec):
            for f, item in zip(names_of(t), have.items, strict=True):
                self.bind_core_sizes(t.fields[f], item, frame)
        elif isinstance(have, core.Tuple) and isinstance(t, Sum):
            for (_, part), item in zip(sum_order(t), have.items, strict=True):
                if part is not None:
                    self.bind_core_sizes(part, item, frame)

    def conform(self, v: V, t: Type, frame: Frame) -> V:
        """The value with the sizes that a type says, as far as they are known: what differs is checked when the program runs."""
        wanted = self.resolve(t, frame)

        def go(v: V, t: Type) -> V:
            t = prune(t)
            if isinstance(v, Record) and isinstance(t, Rec):
                return Record({f: go(x, t.fields[f]) for f, x in v.fields.items()})
            if isinstance(v, Code):
                have = v.e.type
                want = self.with_sizes(have, t)
                if sizes_in(have) != sizes_in(want):
                    return Code(self.resized(v.e, want, "the size that its type says"))
            return v

        return go(v, wanted)

    def with_sizes(self, have: core.Type, t: Type) -> core.Type:
        t = prune(t)
        if isinstance(have, core.Array) and isinstance(t, Arr):
            size = t.dim.poly if isinstance(t.dim, DKnown) else have.size
            return core.Array(self.with_sizes(have.elem, t.elem), size)
        if isinstance(have, core.Tuple) and isinstance(t, Rec):
            return core.Tuple(tuple(self.with_sizes(h, t.fields[f]) for f, h in zip(names_of(t), have.items, strict=True)))
        return have

    # -- patterns

    def bind(self, p: Any, v: V, frame: Frame) -> None:
        match p:
            case s.PName(name):
                frame.bind(p.info, self.named(v, name))
            case s.PTyped(inner):
                self.bind_sizes(p.ty, v, frame)
                if not isinstance(v, Fn):
                    v = self.conform(v, p.ty, frame)
                self.bind(inner, v, frame)
            case s.PAttr(inner):
                self.bind(inner, v, frame)
            case s.PRecord(fields):
                t = self.shape(p.ty, frame)
                if isinstance(v, Code):
                    v = Code(self.name(v.e))
                for f, sub in fields:
                    self.bind(sub, self.field(v, f, t), frame)
            case s.PCase(name, items):
                t = self.shape(p.ty, frame)
                for k, sub in enumerate(items):
                    self.bind(sub, self.field(v, f"{name}/{k}", t), frame)

    def shape(self, t: Type, frame: Frame) -> Type:
        """A type as far as its outermost form: what its fields are called."""
        t = prune(t)
        while isinstance(t, Con):
            found = frame.type(t)
            if found is None and t.real is not None:
                found = t.real(t.args)
            if found is None:
                break
            t = prune(found)
        return t

    def test(self, p: Any, v: V, frame: Frame) -> ir.Expr | None:
        """Whether a pattern matches, as code; None when it always does."""
        match p:
            case s.PTyped(inner) | s.PAttr(inner):
                return self.test(inner, v, frame)
            case s.PLit(value):
                lit = self.eval(value, frame)
                assert isinstance(lit, Code) and isinstance(v, Code)
                return self.prim("eq", v.e, lit.e, bool_=True).e
            case s.PRecord(fields):
                t = self.shape(p.ty, frame)
                return self.all_of([self.test(sub, self.field(v, f, t), frame) for f, sub in fields])
            case s.PCase(name, items):
                t = self.shape(p.ty, frame)
                assert isinstance(t, Sum), t
                found: list[ir.Expr | None] = []
                if len(t.cases) > 1:
                    tag = self.reify(self.field(v, "#", t))
                    found.append(self.prim("eq", tag, ir.Lit(case_number(t, name), type=SCALARS["i8"]), bool_=True).e)
                found += [self.test(sub, self.field(v, f"{name}/{k}", t), frame) for k, sub in enumerate(items)]
                return self.all_of(found)
        return None

    def all_of(self, tests: list[ir.Expr | None]) -> ir.Expr | None:
        found = [t for t in tests if t is not None]
        if not found:
            return None
        result = found[0]
        for t in found[1:]:
            result = self.prim("and", result, t).e
        return result

    # -- expressions

    def eval(self, e: Any, frame: Frame) -> V:
        before, self.span = self.span, e.span
        try:
            return getattr(self, "eval_" + type(e).__name__)(e, frame)  # type: ignore[no-any-return]
        finally:
            self.span = before

    def code(self, e: Any, frame: Frame) -> ir.Expr:
        return self.reify(self.eval(e, frame))

    def eval_Lit(self, e: s.Lit, frame: Frame) -> V:
        t = prune(self.resolve(e.ty, frame))
        assert isinstance(t, Prim), t
        value: Any = e.value
        if t.name == "f16":  # f16 is computed in f32, rounded after every operation
            return self.lit(scalars.rounded(float(value)), "f32")
        if t.name[0] == "f":
            value = float(value)
        elif t.name[0] in "iu":
            bits = int(t.name[1:])
            value &= (1 << bits) - 1
            if t.name[0] == "i" and value >> (bits - 1):
                value -= 1 << bits
        return self.lit(value, t.name)

    def eval_String(self, e: s.String, frame: Frame) -> V:
        import numpy as np

        array = np.frombuffer(e.value, np.uint8)
        return Code(ir.ConstArray(array, type=core.Array(SCALARS["u8"], poly(len(array))), span=e.span))

    def eval_Hole(self, e: s.Hole, frame: Frame) -> V:
        """A hole is an error when it is reached."""

        def made(t: Type) -> V:
            t = prune(t)
            if isinstance(t, Fun):
                return Fn(1, lambda args: made(t.result))
            self.stmts.append(ir.Assert(ir.Lit(False, type=BOOL_T), "a hole (???) is filled", e.span))
            return Code(self.zero(self.core_type(t, 0)))

        return made(self.resolve(e.ty, frame))

    def eval_Var(self, e: s.Var, frame: Frame) -> V:
        v = self.used(e.info, frame)
        t = e.info.type
        for f in getattr(e.info, "fields", ()):
            shape = self.shape(t, frame)
            v = self.field(v, f, shape)
            assert isinstance(shape, Rec)
            t = shape.fields[f]
        return v

    def used(self, use: Use, frame: Frame) -> V:
        """The value of a name."""
        b = use.binding
        if b.kind in ("local", "size"):
            found = frame.find(b)
            if isinstance(found, Later):
                p = self.dim(found.dim, found.frame)
                if p is None:
                    raise _Unbound(b.name)
                return self.size(p)
            if found is None:
                raise _Unbound(b.name)
            return found  # type: ignore[no-any-return]
        if b.kind == "alias":
            inner = Frame(self.root)
            types, sizes = b.attrs
            for out, con in types:
                inner.types[id(con)] = self.resolve(use.types[id(out)], frame)
            for out, size in sizes:
                inner.bind(size, Later(use.sizes[id(out)], frame))
            return self.used(b.target, inner)
        if b.kind == "builtin":
            return self.builtin(b.name, use, frame)
        if b.kind == "abstract":
            feature(self.span, f"{b.name} of a module that is not known")
        return self.defined(use, frame)

    def builtin(self, name: str, use: Use, frame: Frame) -> V:
        raise NotImplementedError

    def defined(self, use: Use, frame: Frame) -> V:
        """A definition at these types: a function closes over where it was defined, a constant is computed once."""
        b = use.binding
        node = b.node
        if isinstance(node, s.Def) and node.recursive:
            from atoll.futhark.recursion import called

            return called(self, use, frame)
        outer = self.root if b.kind == "def" else frame.find(b)
        if outer is None:
            raise _Unbound(b.name)
        inner = Frame(outer)
        for con in b.types:
            inner.types[id(con)] = self.resolve(use.types[id(con)], frame)
        for size in b.sizes:
            inner.bind(size, Later(use.sizes[id(size)], frame))
        body = node.value if isinstance(node, s.LetFun) else node.body
        if node.params:
            return self.function(node, body, inner, frame, use)
        if b.types or b.sizes or isinstance(prune(b.type), Fun):
            return self.finished(self.eval(body, inner), node, inner)
        if b not in self.constants:
            before, self.stmts = self.stmts, self.top
            span, self.span = self.span, node.span
            self.constants[b] = self.named(self.finished(self.eval(body, inner), node, inner), b.name)
            self.stmts, self.span = before, span
        return self.constants[b]

    def finished(self, v: V, node: Any, frame: Frame) -> V:
        """A result as its declaration says."""
        return v

    def function(self, node: Any, body: Any, inner: Frame, frame: Frame, use: Use) -> V:
        sizes = dict(inner.values)

        def run(args: list[V]) -> V:
            call = Frame(inner)
            call.types = inner.types
            for p, arg in zip(node.params, args, strict=True):
                self.bind_sizes(p.ty, arg, call)
                self.bind(p, arg, call)
            return self.finished(self.eval(body, call), node, call)

        del sizes
        return Fn(len(node.params), run)

    # -- data

    def eval_RecordLit(self, e: s.RecordLit, frame: Frame) -> V:
        return Record({f: self.eval(x, frame) for f, x in e.fields})

    def eval_ArrayLit(self, e: s.ArrayLit, frame: Frame) -> V:
        if not e.items:
            t = self.resolve(e.ty, frame)
            assert isinstance(t, Arr)
            elem = self.core_type(t.elem, 0)
            return Code(ir.MakeArray((), type=core.Array(elem, poly(0)), span=e.span))
        items = [self.code(x, frame) for x in e.items]
        first = items[0].type
        items = [items[0], *(self.resized(x, first, "elements of an array have one shape") for x in items[1:])]
        return Code(ir.MakeArray(tuple(items), type=core.Array(first, poly(len(items))), span=e.span))

    def eval_Project(self, e: s.Project, frame: Frame) -> V:
        return self.field(self.eval(e.value, frame), e.field_, self.shape(e.value.ty, frame))

    def eval_OpenIn(self, e: s.OpenIn, frame: Frame) -> V:
        return self.eval(e.value, frame)

    def eval_Case(self, e: s.Case, frame: Frame) -> V:
        t = self.resolve(e.ty, frame)
        assert isinstance(t, Sum), t
        given = {f"{e.name}/{k}": self.named(self.eval(x, frame)) for k, x in enumerate(e.items)}
        made: dict[str, V] = {}
        for name, part in sum_order(t):
            if part is None:
                made[name] = self.lit(case_number(t, e.name), "i8")
            elif name in given:
                made[name] = given[name]
            else:
                made[name] = self.blank(part)
        return Record(made)

    # -- functions

    def eval_Apply(self, e: s.Apply, frame: Frame) -> V:
        fn = self.eval(e.fn, frame)
        arg = self.eval(e.arg, frame)
        return self.apply(fn, self.named(arg) if not isinstance(arg, Fn) else arg)

    def eval_BinOp(self, e: s.BinOp, frame: Frame) -> V:
        b = e.fn.info.binding
        if b.kind == "builtin" and e.op in (("&&",), ("||",)):
            return self.short(e.op[0], self.code(e.left, frame), lambda: self.eval(e.right, frame))
        fn = self.eval(e.fn, frame)
        return self.apply(fn, self.eval(e.left, frame), self.eval(e.right, frame))

    def short(self, op: str, left: ir.Expr, right: Any) -> V:
        other = self.closed(right)
        fixed = ir.Lit(op == "||", type=BOOL_T, span=self.span)
        then, orelse = (other, fixed) if op == "&&" else (fixed, other)
        return Code(ir.If(left, then, orelse, type=BOOL_T, span=self.span))

    def eval_Neg(self, e: s.Neg, frame: Frame) -> V:
        return scalars.negated(self, self.code(e.value, frame))

    def eval_Not(self, e: s.Not, frame: Frame) -> V:
        return self.prim("not", self.code(e.value, frame))

    def eval_Section(self, e: s.Section, frame: Frame) -> V:
        fn = self.eval(e.fn, frame)
        if e.left is not None:
            return self.apply(fn, self.named(self.eval(e.left, frame)))
        if e.right is not None:
            right = self.named(self.eval(e.right, frame))
            return Fn(1, lambda args: self.apply(fn, args[0], right))
        return fn

    def eval_PathSection(self, e: s.PathSection, frame: Frame) -> V:
        start = e.ty

        def run(args: list[V]) -> V:
            v, t = args[0], prune(start).param  # type: ignore[union-attr]
            for kind, what in e.steps:
                if kind == "field":
                    shape = self.shape(t, frame)
                    v = self.field(v, what, shape)
                    assert isinstance(shape, Rec)
                    t = shape.fields[what]
                else:
                    v = self.index(v, what, frame)
                    for _ in what:
                        inner = self.shape(t, frame)
                        assert isinstance(inner, Arr)
                        t = inner.elem
            return v

        return Fn(1, run)

    def eval_Lambda(self, e: s.Lambda, frame: Frame) -> V:
        return self.closure(e.params, e.body, frame, e.result)

    def eval_Let(self, e: s.Let, frame: Frame) -> V:
        inner = Frame(frame)
        v = self.eval(e.value, frame)
        self.bind_sizes(e.pat.ty, v, inner)
        self.bind(e.pat, v, inner)
        return self.eval(e.body, inner)

    def eval_LetFun(self, e: s.LetFun, frame: Frame) -> V:
        inner = Frame(frame)
        inner.bind(e.info, frame)
        return self.eval(e.body, inner)

    def eval_LetWith(self, e: s.LetWith, frame: Frame) -> V:
        use, binding = e.info
        old = self.used(use, frame)
        new = self.updated(old, use.type, e.steps, self.named(self.eval(e.value, frame)), frame)
        inner = Frame(frame)
        inner.bind(binding, self.named(new, e.name))
        return self.eval(e.body, inner)

    def eval_Update(self, e: s.Update, frame: Frame) -> V:
        old = self.named(self.eval(e.value, frame))
        return self.updated(old, e.value.ty, e.steps, self.named(self.eval(e.new, frame)), frame)

    def updated(self, v: V, t: Type, steps: list[s.Step], new: V, frame: Frame) -> V:
        if not steps:
            return new
        kind, what = steps[0]
        if kind == "field":
            shape = self.shape(t, frame)
            assert isinstance(shape, Rec)
            fields = self.fields(v, shape).fields
            fields[what] = self.updated(fields[what], shape.fields[what], steps[1:], new, frame)
            return Record(fields)
        array = self.name(self.reify(v))
        if len(what) == 1 and len(steps) == 1 and what[0].step is not None:
            step = self.poly(self.name(self.code(what[0].step, frame), "step"))
            if step.const() is None:
                return self.put_strided(array, what[0], step, new, frame)
        items = self.items(array.type, what, frame)
        if len(steps) > 1:
            inner_type = self.shape(t, frame)
            for _ in what:
                assert isinstance(inner_type, Arr)
                inner_type = self.shape(inner_type.elem, frame)
            part = self.named(self.taken(array, items))
            new = self.updated(part, inner_type, steps[1:], new, frame)
        from atoll.types.indexing import slice_type

        wanted = slice_type(array.type, list(items))
        value = self.resized(self.reify(new), wanted, "what is written has the size of where it is written")
        return Code(ir.Update(array, tuple(items), value, type=array.type, span=self.span))

    # -- indexing

    def eval_Index(self, e: s.Index, frame: Frame) -> V:
        return self.index(self.eval(e.value, frame), e.dims, frame)

    def index(self, v: V, dims: list[s.Dim], frame: Frame) -> V:
        array = self.reify(v)
        if len(dims) == 1 and dims[0].step is not None:
            step = self.name(self.code(dims[0].step, frame), "step")
            if self.poly(step).const() is None:
                return self.strided(self.name(array), dims[0], self.poly(step), frame)
        if any(d.slice for d in dims):
            array = self.name(array)
        return self.taken(array, self.items(array.type, dims, frame))

    def strided(self, array: ir.Expr, d: s.Dim, step: Poly, frame: Frame) -> V:
        """A slice whose step is only known when the program runs."""
        assert isinstance(array.type, core.Array)
        low, count = self.stride(array.type.size, d, step, frame)
        i = Sym("i")
        at = ir.At(array, self.size(low + step * poly(i)).e, type=array.type.elem, span=self.span)
        return Code(ir.Build(i, count, at, type=core.Array(array.type.elem, count), span=self.span))

    def stride(self, n: Poly, d: s.Dim, step: Poly, frame: Frame) -> tuple[Poly, Poly]:
        """Where such a slice begins, and how many elements it has."""
        up = self.prim("gt", self.size(step).e, ir.Lit(0, type=I64_T), bool_=True).e

        def end(e: Any, for_up: Poly, for_down: Poly) -> Poly:
            if e is not None:
                return self.poly(self.code(e, frame))
            return self.poly(self.name(self.prim("select", up, self.size(for_up).e, self.size(for_down).e).e, "end"))

        low, high = end(d.low, poly(0), n - 1), end(d.high, n, poly(-1))
        count = self.poly(self.name(ir.Prim("rounds", (self.size(low).e, self.size(high).e, self.size(step).e), type=I64_T, span=self.span), "count"))
        self.stmts.append(ir.Assert(self.prim("ne", self.size(step).e, ir.Lit(0, type=I64_T), bool_=True).e, "the step of a slice is not 0", self.span))
        return low, count

    def put_strided(self, array: ir.Expr, d: s.Dim, step: Poly, new: V, frame: Frame) -> V:
        """An update of such a slice: its elements one by one, each in range."""
        assert isinstance(array.type, core.Array)
        low, count = self.stride(array.type.size, d, step, frame)
        i, acc = Sym("i"), Sym("array")
        value = self.name(self.resized(self.reify(new), core.Array(array.type.elem, count), "what is written has the size of where it is written"))
        x = ir.At(value, ir.Var(i, type=I64_T), type=array.type.elem, span=self.span)
        done = ir.Update(ir.Var(acc, type=array.type, span=self.span), (self.size(low + step * poly(i)).e,), x, type=array.type, span=self.span)
        t = core.Tuple((array.type,))
        made = self.name(ir.For(i, count, ((acc, array),), ir.MakeTuple((done,), type=t, span=self.span), type=t, span=self.span))
        return Code(ir.Proj(made, 0, type=array.type, span=self.span))

    def items(self, t: core.Type, dims: list[s.Dim], frame: Frame) -> list[Any]:
        made: list[Any] = []
        for d in dims:
            assert isinstance(t, core.Array), t
            made.append(self.range(t.size, d, frame) if d.slice else self.cast(self.code(d.low, frame), "i64"))
            t = t.elem
        return made

    def range(self, n: Poly, d: s.Dim, frame: Frame) -> Any:
        low, high = (None if x is None else self.poly(self.code(x, frame)) for x in (d.low, d.high))
        step = 1
        if d.step is not None:
            found = self.poly(self.code(d.step, frame)).const()
            if found is None:
                feature(self.span, "a slice whose step is not a constant, as the target of an update or beside other slices")
            step = int(found)
        if step == 0:
            fail("E1406", self.span, what="the step of a slice is 0")
        text = "the slice lies in the array"
        if step > 0:
            low, high = poly(0) if low is None else low, n if high is None else high
            self.require(low, text)
            self.require(high - low, text)
            self.require(n - high, text)
            return ir.Range(low, step, high - low if step == 1 else cdiv(high - low, step))
        low, high = n - 1 if low is None else low, poly(-1) if high is None else high
        count = low - high if step == -1 else cdiv(low - high, -step)
        self.require(low - high, text)
        self.require(n - 1 - low, text)
        self.require(high + 1, text)
        return ir.Range(low, step, count)

    def taken(self, array: ir.Expr, items: list[Any]) -> V:
        if any(isinstance(i, ir.Range) for i in items):
            from atoll.types.indexing import slice_type

            return Code(ir.Slice(array, tuple(items), type=slice_type(array.type, list(items)), span=self.span))
        e = array
        for i in items:
            assert isinstance(e.type, core.Array)
            e = ir.At(e, i, type=e.type.elem, span=self.span)
        return Code(e)

    # -- control

    def eval_If(self, e: s.If, frame: Frame) -> V:
        cond = self.code(e.cond, frame)
        return self.choice(cond, lambda: self.eval(e.then, frame), lambda: self.eval(e.orelse, frame))

    def choice(self, cond: ir.Expr, then: Any, orelse: Any) -> V:
        if isinstance(cond, ir.Lit):
            return then() if cond.value else orelse()  # type: ignore[no-any-return]
        a, b = self.closed(then), self.closed(orelse)
        if sizes_in(a.type) == sizes_in(b.type):
            return Code(ir.If(cond, a, b, type=a.type, span=self.span))
        t, opened = fresh_sizes(a.type, b.type)
        hidden = [ir.Hide(x, type=t, span=self.span) for x in (a, b)]
        return Code(self.opened(ir.If(cond, hidden[0], hidden[1], type=t, span=self.span), t, opened))

    def eval_Match(self, e: s.Match, frame: Frame) -> V:
        v = self.named(self.eval(e.value, frame))

        def arm(k: int) -> V:
            pat, body = e.cases[k]
            test = self.test(pat, v, frame) if k < len(e.cases) - 1 else None

            def chosen() -> V:
                inner = Frame(frame)
                self.bind_sizes(pat.ty, v, inner)
                self.bind(pat, v, inner)
                return self.eval(body, inner)

            return chosen() if test is None else self.choice(test, chosen, lambda: arm(k + 1))

        return arm(0)

    def eval_Assert(self, e: s.Assert, frame: Frame) -> V:
        if self.unsafe:
            return self.eval(e.value, frame)
        cond = self.code(e.cond, frame)
        self.stmts.append(ir.Assert(cond, e.cond.span.text(), e.span))
        return self.eval(e.value, frame)

    def eval_Attr(self, e: s.Attr, frame: Frame) -> V:
        if (param := re.fullmatch(r"param\((\w+)\)", e.text.strip())) and param[1] in self.tuning:
            v = self.eval(e.value, frame)
            return self.lit(self.tuning[param[1]], scalars.dtype(self.reify(v)).name)
        before, self.unsafe = self.unsafe, self.unsafe or e.text.strip() == "unsafe"
        try:
            return self.eval(e.value, frame)
        finally:
            self.unsafe = before

    def eval_Ascribe(self, e: s.Ascribe, frame: Frame) -> V:
        return self.conform_known(self.eval(e.value, frame), e.ty, frame)

    def eval_Coerce(self, e: s.Coerce, frame: Frame) -> V:
        return self.conform_known(self.eval(e.value, frame), e.ty, frame)

    def conform_known(self, v: V, t: Type, frame: Frame) -> V:
        return v if isinstance(v, Fn) else self.conform(v, t, frame)

    def eval_Range(self, e: s.Range, frame: Frame) -> V:
        low = self.name(self.code(e.low, frame))
        second = None if e.second is None else self.name(self.code(e.second, frame))
        high = self.name(self.code(e.high, frame))
        dtype = scalars.dtype(low).name
        first, last = self.poly(self.cast(low, "i64")), self.poly(self.cast(high, "i64"))
        if second is None:
            step: Poly = poly(-1 if e.kind == "..>" else 1)
        else:
            step = self.poly(self.cast(second, "i64")) - first
        span_ = {"..<": last - first, "...": last - first + 1, "..>": first - last}[e.kind]
        known = step.const()
        if known in (1, -1):
            size = span_ if e.kind != "..." or known == 1 else first - last + 1
            self.require(size, "a range goes from its start to its end")
        else:
            self.steps(step, first, last, e.kind)
            one = {"..<": last - first - 1, "...": last - first, "..>": last - first + 1}[e.kind]
            count = scalars.binary(self, "/", self.size(one).e, self.size(step).e).e
            size = self.poly(count) + 1
        i = Sym("i")
        at = self.prim("add", low, self.cast(self.prim("mul", ir.Var(i, type=I64_T), self.size(step).e).e, dtype)) if known != 1 else self.prim("add", low, self.cast(ir.Var(i, type=I64_T), dtype))
        return Code(ir.Build(i, size, at.e, type=core.Array(SCALARS[dtype], size), span=e.span))

    def steps(self, step: Poly, first: Poly, last: Poly, kind: str) -> None:
        """A range goes in the direction of its end."""
        zero = ir.Lit(0, type=I64_T)
        s_, span_ = self.size(step).e, self.size(last - first).e
        ok: ir.Expr
        up = self.prim("gt", s_, zero, bool_=True).e
        down = self.prim("lt", s_, zero, bool_=True).e
        if kind == "..<":
            ok = self.prim("and", up, self.prim("ge", span_, zero, bool_=True).e).e
        elif kind == "..>":
            ok = self.prim("and", down, self.prim("le", span_, zero, bool_=True).e).e
        else:
            one = self.prim("and", up, self.prim("ge", span_, zero, bool_=True).e).e
            other = self.prim("and", down, self.prim("le", span_, zero, bool_=True).e).e
            ok = self.prim("or", one, other).e
        self.stmts.append(ir.Assert(ok, "a range goes from its start to its end", self.span))

    def eval_Loop(self, e: s.Loop, frame: Frame) -> V:
        from atoll.futhark.loops import loop

        return loop(self, e, frame)


class _Unbound(Exception):
    """A name that has no value here: a size that is not known."""


def place(span: Span) -> str:
    return f"line {span.line}"
