"""Core code under construction: blocks, names for values, sizes as polynomials, and sizes that must agree."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from atoll.core import ir
from atoll.errors import NOWHERE, Span
from atoll.futhark.env import feature
from atoll.futhark.values import Code, Fn, Record, V, field_order
from atoll.sizes import Poly, Sym, poly
from atoll.types.types import BOOL_T, I64_T, SCALARS, UNIT, Array, Index, Scalar, Tuple, Type, map_sizes, sizes_in


class Build:
    def __init__(self) -> None:
        self.stmts: list[ir.Stmt] = []
        self.local: set[Sym] = set()
        self.polys: dict[Sym, Poly] = {}  # names of integers that are polynomials of others
        self.derived = 0  # inside how many derivatives
        self.may_be: dict[Sym, list[Poly]] = {}  # what sizes of branches are one of
        self.span: Span = NOWHERE

    # -- blocks

    @contextmanager
    def block(self) -> Iterator[list[ir.Stmt]]:
        outer, self.stmts = self.stmts, []
        try:
            yield self.stmts
        finally:
            self.stmts = outer

    def closed(self, make: Callable[[], V]) -> ir.Expr:
        """Code of its own block."""
        with self.block() as stmts:
            result = self.reify(make())
        if not stmts:
            return result
        return ir.Block(tuple(stmts), result, type=result.type, span=self.span)

    def name(self, e: ir.Expr, hint: str = "t") -> ir.Expr:
        """A name for a value, so that it is computed once."""
        if isinstance(e, (ir.Var, ir.Lit, ir.SizeOf)):
            return e
        sym = Sym(clean(hint))
        if e.type == I64_T and (known := self._poly(e, 12)) is not None:
            self.polys[sym] = known
        self.stmts.append(ir.Bind(sym, e))
        return ir.Var(sym, type=e.type, span=self.span)

    def named(self, v: V, hint: str = "t") -> V:
        if isinstance(v, Code):
            return Code(self.name(v.e, hint))
        if isinstance(v, Record):
            return Record({f: self.named(x, f"{hint}_{f}" if not f[0].isdigit() else hint) for f, x in v.fields.items()})
        return v

    # -- values

    def reify(self, v: V) -> ir.Expr:
        """The value as one piece of code."""
        if isinstance(v, Code):
            return v.e
        if isinstance(v, Record):
            items = tuple(self.reify(v.fields[f]) for f in record_order(v))
            t = Tuple(tuple(item.type for item in items)) if items else UNIT
            return ir.MakeTuple(items, type=t, span=self.span)
        feature(self.span, "a function that is only known when the program runs")

    def lit(self, value: Any, dtype: str) -> Code:
        return Code(ir.Lit(value, type=SCALARS[dtype], span=self.span))

    def prim(self, op: str, *args: ir.Expr, bool_: bool = False) -> Code:
        t = BOOL_T if bool_ else args[-1].type
        if isinstance(t, Index):
            t = I64_T
        return Code(ir.Prim(op, tuple(args), type=t, span=self.span))

    def cast(self, e: ir.Expr, dtype: str) -> ir.Expr:
        if isinstance(e.type, Scalar) and e.type.dtype.name == dtype:
            return e
        if isinstance(e, ir.Lit) and not isinstance(e.value, (float, complex)) and dtype[0] in "iu" and 0 <= int(e.value) < 128:
            return ir.Lit(int(e.value), type=SCALARS[dtype], span=self.span)
        return ir.Cast(e, type=SCALARS[dtype], span=self.span)

    def size(self, p: Poly) -> Code:
        return Code(ir.SizeOf(p, type=I64_T, span=self.span))

    # -- sizes

    def poly(self, e: ir.Expr) -> Poly:
        """An i64 as a polynomial."""
        found = self._poly(e, 12)
        if found is not None:
            return found
        e = self.name(e, "k")
        assert isinstance(e, ir.Var)
        return poly(e.sym)

    def _poly(self, e: ir.Expr, most: int) -> Poly | None:
        match e:
            case ir.SizeOf(p):
                return p
            case ir.Lit(value):
                return poly(int(value.real))
            case ir.Var(sym) if isinstance(e.type, (Scalar, Index)):
                return self.polys.get(sym, poly(sym))
            case ir.Prim(("add" | "sub" | "mul") as op, (a, b)) if most > 0 and e.type == I64_T:
                left, right = self._poly(a, most // 2), self._poly(b, most // 2)
                if left is None or right is None:
                    return None
                return left + right if op == "add" else left - right if op == "sub" else left * right
        return None

    def require(self, p: Poly, text: str) -> None:
        """p >= 0, when it is not plain."""
        known = p.const()
        if known is not None and known >= 0:
            return
        self.stmts.append(ir.Require(p, text, self.span))

    def same_size(self, a: Poly, b: Poly, text: str) -> None:
        if a != b:
            self.require(a - b, text)
            self.require(b - a, text)

    def resized(self, e: ir.Expr, want: Type, text: str = "sizes agree") -> ir.Expr:
        """The value with the sizes of another type of the same form, which is checked where it is not plain."""
        if sizes_in(e.type) == sizes_in(want):
            return e
        e = self.name(e)
        if isinstance(e.type, Tuple) and isinstance(want, Tuple):
            parts = tuple(self.resized(ir.Proj(e, k, type=t, span=self.span), w, text) for k, (t, w) in enumerate(zip(e.type.items, want.items, strict=True)))
            return ir.MakeTuple(parts, type=Tuple(tuple(p.type for p in parts)), span=self.span)
        if not (isinstance(e.type, Array) and isinstance(want, Array)):
            return e
        self.same_size(e.type.size, want.size, text)
        items = []
        have: Type = e.type
        wanted: Type = want
        while isinstance(have, Array) and isinstance(wanted, Array):
            self.same_size(have.size, wanted.size, text)
            items.append(ir.Range(poly(0), 1, wanted.size))
            have, wanted = have.elem, wanted.elem
        if sizes_in(have) == sizes_in(wanted):
            return ir.Slice(e, tuple(items), type=want, span=self.span)
        sym = Sym("x")  # an array of tuples of arrays
        with self.block() as stmts:
            body = self.resized(ir.Var(sym, type=e.type.elem, span=self.span), want.elem, text)
        if stmts:
            body = ir.Block(tuple(stmts), body, type=body.type, span=self.span)
        made = ir.Map((sym,), (e,), body, type=Array(body.type, e.type.size), span=self.span)
        return ir.Slice(self.name(made), (ir.Range(poly(0), 1, want.size),), type=want, span=self.span)

    def opened(self, e: ir.Expr, t: Type, sizes: tuple[Sym, ...], hint: str = "opened") -> ir.Expr:
        sym = Sym(clean(hint))
        self.stmts.append(ir.Open(sizes, sym, e))
        return ir.Var(sym, type=t, span=self.span)


def record_order(v: Record) -> list[str]:
    if "#" in v.fields:  # a sum
        return list(v.fields)
    return field_order(v.fields)


def fresh_sizes(a: Type, b: Type) -> tuple[Type, tuple[Sym, ...]]:
    """A type of the form of both, with names for the sizes in which they differ."""
    mine, theirs = sizes_in(a), sizes_in(b)
    made: list[Sym] = []
    at = iter(zip(mine, theirs, strict=True))

    def size(_: Poly) -> Poly:
        x, y = next(at)
        if x == y:
            return x
        made.append(Sym("k"))
        return poly(made[-1])

    return map_sizes(a, size), tuple(made)


def clean(name: str) -> str:
    text = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    if keyword.iskeyword(text):
        return text + "_"
    return text if text and (text[0].isalpha() or text[0] == "_") else f"t{text}"


__all__ = ["Build", "Fn", "clean", "fresh_sizes", "record_order"]
