"""How Futhark's types and values are in core: sizes, records, sums, what a pattern binds and asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.core import ir
from atoll.errors import fail
from atoll.futhark import scalars
from atoll.futhark import syntax as s
from atoll.futhark.build import Build
from atoll.futhark.env import Binding, Use, feature
from atoll.futhark.ftypes import (
    Arr,
    Con,
    DExp,
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
from atoll.sizes import Poly, Sym, poly
from atoll.types import types as core
from atoll.types.types import BOOL_T, I64_T, SCALARS, sizes_in


class Representation(Build):
    def __init__(self) -> None:
        super().__init__()
        self.root = Frame()
        self.constants: dict[Any, V] = {}
        self.top: list[ir.Stmt] = []
        self.unsafe = False  # under #[unsafe] assertions are not made
        self.operators: list[Any] = []  # what accumulators combine with, innermost last
        self.tuning: dict[str, int] = {}
        self.instances: list[Any] = []  # recursive functions whose bodies are being made, innermost last

    def eval(self, e: Any, frame: Frame) -> V:
        raise NotImplementedError

    def used(self, use: Use, frame: Frame) -> V:
        raise NotImplementedError

    def code(self, e: Any, frame: Frame) -> ir.Expr:
        return self.reify(self.eval(e, frame))

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
        v = self.computed(d, frame)
        return self.poly(v.e) if isinstance(v, Code) else None

    def computed(self, d: DExp, frame: Frame) -> Any:
        """The value of an expression in a size, where it is known."""
        inner = Frame(frame)
        for b, given in d.given:
            value = self.stands_for(given, frame)
            if value is not None and not isinstance(value, Frame):  # a local function is not what a size is made of
                inner.bind(b, value)
        try:
            return self.eval(d.exp, inner)
        except _Unbound:
            return None

    def stands_for(self, d: Dim, frame: Frame) -> Any:
        """What a variable of such an expression stands for: a value of any type, or a size."""
        d = prune_dim(d)
        value = frame.find(d.binding) if isinstance(d, DRef) else self.computed(d, frame) if isinstance(d, DExp) else None
        if value is None and (size := self.dim(d, frame)) is not None:
            value = self.size(size)
        return value

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

    def core_type(self, t: Type, unknown: int | Callable[[], Poly] | None = None) -> core.Type:
        """A resolved type in core's terms; `unknown` is what sizes are that nothing says."""
        t = prune(t)
        match t:
            case Prim(name):
                return SCALARS["f32" if name == "f16" else name]
            case Arr(dim, elem):
                if isinstance(dim, DKnown):
                    return core.Array(self.core_type(elem, unknown), dim.poly)
                if unknown is None:
                    fail("E1404", self.span, found="[]", expected="a size", why="the size of an array is ambiguous: nothing says it")
                return core.Array(self.core_type(elem, unknown), unknown() if callable(unknown) else poly(unknown))
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
            elif isinstance(d, DOp):
                self.bind_part(d, have.size, frame)
            self.bind_core_sizes(t.elem, have.elem, frame)
        elif isinstance(have, core.Tuple) and isinstance(t, Rec):
            for f, item in zip(names_of(t), have.items, strict=True):
                self.bind_core_sizes(t.fields[f], item, frame)
        elif isinstance(have, core.Tuple) and isinstance(t, Sum):
            for (_, part), item in zip(sum_order(t), have.items, strict=True):
                if part is not None:
                    self.bind_core_sizes(part, item, frame)

    def bind_part(self, d: Dim, size: Poly, frame: Frame) -> None:
        """The one size that is not known yet of a sum or difference of sizes, by what the whole is."""
        d = prune_dim(d)
        if isinstance(d, DRef) and d.binding.kind == "size" and frame.find(d.binding) is None:
            frame.bind(d.binding, Code(ir.SizeOf(size, type=I64_T, span=self.span)))
        if not isinstance(d, DOp) or d.op not in ("+", "-"):
            return
        left, right = self.known_part(d.left, frame), self.known_part(d.right, frame)
        if left is None and right is not None:
            self.bind_part(d.left, size - right if d.op == "+" else size + right, frame)
        elif left is not None and right is None:
            self.bind_part(d.right, size - left if d.op == "+" else left - size, frame)

    def known_part(self, d: Dim, frame: Frame) -> Poly | None:
        """A size that is made of known ones by additions; nothing is computed for it."""
        d = prune_dim(d)
        if isinstance(d, int):
            return poly(d)
        if isinstance(d, DRef):
            return self.size_named(d.binding, frame) if d.binding.kind in ("local", "size") else None
        if isinstance(d, DOp) and d.op in ("+", "-"):
            left, right = self.known_part(d.left, frame), self.known_part(d.right, frame)
            if left is not None and right is not None:
                return left + right if d.op == "+" else left - right
        return None

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


class Later:
    """A size that the use of a name says, computed when it is asked for."""

    def __init__(self, dim: Dim, frame: Frame) -> None:
        self.dim, self.frame = dim, frame


class _Unbound(Exception):
    """A name that has no value here: a size that is not known."""
