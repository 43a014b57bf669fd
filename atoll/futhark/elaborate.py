"""Checked Futhark to core, by evaluation: functions are applied where they are called, so what is left is first-order code.

Function values are always known (Futhark allows none in arrays, branches and loops), types of type parameters and sizes are those of the call.
"""

from __future__ import annotations

import re
from typing import Any

from atoll.core import ir
from atoll.errors import Span
from atoll.futhark import scalars
from atoll.futhark import syntax as s
from atoll.futhark.branches import together
from atoll.futhark.build import fresh_sizes
from atoll.futhark.causality import unknown_in
from atoll.futhark.env import Use, feature
from atoll.futhark.ftypes import (
    BOOL,
    Arr,
    DExp,
    DOp,
    DVar,
    Fun,
    Prim,
    Rec,
    Sum,
    Type,
    map_type,
    prune,
    prune_dim,
)
from atoll.futhark.indexing import Indexing
from atoll.futhark.loops import loop
from atoll.futhark.recursion import called
from atoll.futhark.representation import Later, _Unbound
from atoll.futhark.values import Code, Fn, Frame, Record, V, case_number, sum_order
from atoll.sizes import Poly, Sym, poly
from atoll.types import types as core
from atoll.types.types import BOOL_T, I64_T, SCALARS, sizes_in


class Elaborate(Indexing):
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

    # -- expressions

    def eval(self, e: Any, frame: Frame) -> V:
        before, self.span = self.span, e.span
        try:
            return getattr(self, "eval_" + type(e).__name__)(e, frame)  # type: ignore[no-any-return]
        finally:
            self.span = before

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
        if not _makes_sizes(e.arg):
            fn = self.eval(e.fn, frame)
            arg = self.eval(e.arg, frame)
            return self.apply(fn, self.named(arg) if not isinstance(arg, Fn) else arg)
        arg = self.eval(e.arg, frame)
        if not isinstance(arg, Fn):
            arg = self.named(arg)
        return self.apply(self.eval(e.fn, self.knowing(e.arg, arg, frame)), arg)

    def knowing(self, e: Any, v: V, frame: Frame) -> Frame:
        """Where the sizes that an expression made are known, by its value: what is evaluated after it may need them."""
        inner = Frame(frame)
        self.bind_sizes(e.ty, v, inner)
        return inner

    def eval_BinOp(self, e: s.BinOp, frame: Frame) -> V:
        b = e.fn.info.binding
        if b.kind == "builtin" and e.op in (("&&",), ("||",)):
            return self.short(e.op[0], self.code(e.left, frame), lambda: self.eval(e.right, frame))
        if not _makes_sizes(e.left) and not _makes_sizes(e.right):
            fn = self.eval(e.fn, frame)
            return self.apply(fn, self.eval(e.left, frame), self.eval(e.right, frame))
        left = self.eval(e.left, frame)
        left = left if isinstance(left, Fn) else self.named(left)
        inner = self.knowing(e.left, left, frame)
        right = self.eval(e.right, inner)
        right = right if isinstance(right, Fn) else self.named(right)
        return self.apply(self.eval(e.fn, self.knowing(e.right, right, inner)), left, right)

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

    # -- control

    def eval_If(self, e: s.If, frame: Frame) -> V:
        cond = self.code(e.cond, frame)
        return self.choice(cond, lambda: self.eval(e.then, frame), lambda: self.eval(e.orelse, frame), e.ty, frame)

    def choice(self, cond: ir.Expr, then: Any, orelse: Any, t: Type | None = None, frame: Frame | None = None) -> V:
        """One of two values, of the type t."""
        if isinstance(cond, ir.Lit):
            return then() if cond.value else orelse()  # type: ignore[no-any-return]
        a, b = self.closed(then), self.closed(orelse)
        if sizes_in(a.type) != sizes_in(b.type) and t is not None and frame is not None:  # sizes that are the same expression in both are computed before
            wanted = self.resolve(map_type(t, lambda x: None, lambda d: d if isinstance(prune_dim(d), DExp | DOp) and not unknown_in(Arr(d, BOOL)) else DVar(0)), frame)
            known = self.with_sizes(a.type, wanted)
            if sizes_in(known) == sizes_in(self.with_sizes(b.type, wanted)):
                a, b = self.with_size(a, known), self.with_size(b, known)
        if sizes_in(a.type) == sizes_in(b.type):
            return Code(ir.If(cond, a, b, type=a.type, span=self.span))
        if self.derived and (whole := together(self, cond, a, b)) is not None:
            return Code(whole)
        made, opened = fresh_sizes(a.type, b.type)
        hidden = [ir.Hide(x, type=made, span=self.span) for x in (a, b)]
        return Code(self.opened(ir.If(cond, hidden[0], hidden[1], type=made, span=self.span), made, opened))

    def with_size(self, e: ir.Expr, t: core.Type) -> ir.Expr:
        """A branch that gives its value with the sizes of a type."""

        def again() -> V:
            if not isinstance(e, ir.Block):
                return Code(self.resized(e, t, "the size that its type says"))
            self.stmts.extend(e.stmts)
            return Code(self.resized(e.result, t, "the size that its type says"))

        return self.closed(again)

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

            return chosen() if test is None else self.choice(test, chosen, lambda: arm(k + 1), e.ty, frame)

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
        return loop(self, e, frame)


def _makes_sizes(e: Any) -> bool:
    return e.made is not None and e.made[0] < e.made[1]


def place(span: Span) -> str:
    return f"line {span.line}"
