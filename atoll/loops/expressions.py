"""What statements of the loop language (ir.py) are made of: arrays, variables, expressions and tests.

    e ::= x | constant | {poly} | b[i, ...] | op(e, ...) | cast e | e if test else e | test
    test ::= poly >= 0, poly == 0, poly != 0, e, not e       all of them together

Indices are 64-bit; polynomials mention loop indices, sizes and integer variables. Buffers are row-major. Every name is unique.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Union

from atoll.errors import NOWHERE, Span
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import BOOL, I64, DType


class Origin:
    """The places of the text that a value comes from. No dataclass: what walks over all parts of a statement does not look inside."""

    __slots__ = ("spans",)

    def __init__(self, spans: tuple[Span, ...]) -> None:
        self.spans = spans


MADE = Origin(())
"""Of what the compiler made for reasons of its own."""


class Buffer:
    """Memory for an array. kind: in, out, temp, const. `reason` says why a temp exists, for .memory().

    `local`: a small temp of literal extents in automatic storage. `rows`: only that many rows are kept, row i at i % rows; indices
    are those of the whole array.
    """

    __slots__ = ("name", "dtype", "extents", "kind", "value", "reason", "span", "copy_of", "private", "local", "rows", "label", "home", "within", "origin")

    def __init__(
        self,
        name: str,
        dtype: DType,
        extents: tuple[Poly, ...],
        kind: str,
        reason: str = "",
        span: Span = NOWHERE,
        value: Any = None,
    ) -> None:
        self.name, self.dtype, self.extents, self.kind = name, dtype, extents, kind
        self.reason, self.span, self.value = reason, span, value
        self.origin = Origin((span,)) if span.line else MADE
        self.copy_of: Buffer | None = None  # the memory that this is in another loop (loops/transform/indices.py)
        self.private = False
        self.local = False
        self.rows: int | None = None
        self.within: Poly | None = None  # an argument's elements are at least 0 and below
        self.home: Buffer | None = None  # where a row is made that had memory of its own (loops/recipes/in_rows.py, loops/transform/recurrences.py)
        self.label = ""  # what the user calls it

    def __repr__(self) -> str:
        return self.name

    @property
    def shown(self) -> str:
        """Its name in reports."""
        return self.label or self.name

    def sized(self, extents: tuple[Poly, ...]) -> Buffer:
        """The same memory by the index of another loop."""
        new = Buffer(self.name, self.dtype, extents, self.kind, self.reason, self.span, self.value)
        new.copy_of = self.copy_of or self
        for name in ("private", "local", "rows", "within", "home", "label", "origin"):
            setattr(new, name, getattr(self, name))
        return new

    def called(self, name: str) -> Buffer:
        """The buffer under another name in reports."""
        self.label = name
        return self


class Var:
    """A scalar variable. `small`: an integer that is as far from overflow as an index is."""

    __slots__ = ("name", "dtype", "atom", "small", "label", "origin", "copy_of")

    def __init__(self, name: str, dtype: DType, small: bool = False) -> None:
        self.name, self.dtype, self.small = name, dtype, small
        self.atom = VarAtom(self)
        self.label = ""  # what the user calls it
        self.origin = MADE
        self.copy_of: Var | None = None  # the variable of the statements that a rewrite copied

    def __repr__(self) -> str:
        return self.name

    @property
    def shown(self) -> str:
        """Its name in reports."""
        return self.label or self.name


class VarAtom(Atom):
    """An integer variable inside an index."""

    __slots__ = ("var",)

    def __init__(self, var: Var) -> None:
        super().__init__()
        self.var = var

    def __repr__(self) -> str:
        return self.var.name


def in_words(p: Poly) -> str:
    """A polynomial with variables called as in reports."""
    named: dict[Atom, Poly] = {}
    for leaf in p.leaves():
        if isinstance(leaf, VarAtom):
            name = leaf.var.shown
            named[leaf] = poly(Sym(name if name.replace("(", "").replace(")", "").isidentifier() else f"({name})"))
    return repr(p.subst(named) if named else p)


# -- expressions


@dataclass(frozen=True, slots=True)
class Use:
    var: Var

    @property
    def dtype(self) -> DType:
        return self.var.dtype


@dataclass(frozen=True, slots=True)
class Const:
    value: Any
    dtype: DType


@dataclass(frozen=True, slots=True)
class Index:
    poly: Poly

    @property
    def dtype(self) -> DType:
        return I64


@dataclass(frozen=True, slots=True)
class Load:
    buffer: Buffer
    index: tuple[Poly, ...]

    @property
    def dtype(self) -> DType:
        return self.buffer.dtype


@dataclass(frozen=True, slots=True)
class Call:
    op: str
    args: tuple[Expr, ...]
    dtype: DType
    origin: Origin = field(default=MADE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    arg: Expr
    dtype: DType
    origin: Origin = field(default=MADE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Choose:
    tests: tuple[Test, ...]
    then: Expr
    orelse: Expr
    origin: Origin = field(default=MADE, compare=False, repr=False)

    @property
    def dtype(self) -> DType:
        return self.then.dtype


@dataclass(frozen=True, slots=True)
class Truth:
    tests: tuple[Test, ...]

    @property
    def dtype(self) -> DType:
        return BOOL


Expr = Union[Use, Const, Index, Load, Call, Cast, Choose, Truth]


@dataclass(frozen=True, slots=True)
class Test:
    """kind: ge, eq, ne on a polynomial; true, false on an expression."""

    kind: str
    poly: Poly | None = None
    expr: Expr | None = None

    def negated(self) -> Test:
        if self.kind == "ge":
            assert self.poly is not None
            return Test("ge", -self.poly - 1)
        return Test({"eq": "ne", "ne": "eq", "true": "false", "false": "true"}[self.kind], self.poly, self.expr)


def subexprs(e: Expr) -> Iterator[Expr]:
    """An expression and the expressions inside it."""
    yield e
    inner: tuple[Any, ...] = ()
    if isinstance(e, Call):
        inner = e.args
    elif isinstance(e, Cast):
        inner = (e.arg,)
    elif isinstance(e, Choose):
        inner = (*(t.expr for t in e.tests if t.expr is not None), e.then, e.orelse)
    elif isinstance(e, Truth):
        inner = tuple(t.expr for t in e.tests if t.expr is not None)
    for x in inner:
        yield from subexprs(x)
