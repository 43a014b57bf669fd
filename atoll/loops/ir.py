"""The loop language: buffers, scalar variables, loops and stores. What is here is what is printed as C.

    function ::= sizes, buffers in and out, scalar parameters, stmt...
    stmt ::= x = e (let) | declare x = e | x := e | b[i, ...] = e | b[i, ...] op= e | alloc b | free b
          |  for i in low..high: stmt...                      parallel (rounds independent) or sequential; maybe vector, unrolled
          |  product: stmt...                                 a nest of loops that a matrix kernel may compute instead
          |  section "label": stmt...                         an opaque part of a scheduled program
          |  accumulate i in low..high: stmt... (x op= e)       a sum or other known operator into scalars
          |  chunks lo..hi of n: stmt...                       the range cut into pieces that depend on sizes only; may run in parallel
          |  if test: stmt... else: stmt... | forever: stmt... | break if test
          |  check test else site | call helper | print
    e ::= x | constant | {poly} | b[i, ...] | op(e, ...) | ...                            expressions.py

Every name is unique. A buffer is allocated before it is written and written before it is read; the checker (check/) proves what can be proved and the executor
checks the rest at concrete sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from atoll.ainf.ir import Site
from atoll.errors import NOWHERE, Span
from atoll.loops.expressions import (
    MADE,
    Buffer,
    Call,
    Cast,
    Choose,
    Const,
    Expr,
    Index,
    Load,
    Origin,
    Test,
    Truth,
    Use,
    Var,
    VarAtom,
    in_words,
    subexprs,
)
from atoll.sizes import Poly, Sym
from atoll.types.dtypes import DType

__all__ = ["MADE", "Buffer", "Call", "Cast", "Choose", "Const", "Expr", "Index", "Load", "Origin", "Test", "Truth", "Use", "Var", "VarAtom", "in_words", "subexprs"]  # from there, too


class Instance:
    """Which statement of the program before a rewrite this one is, and its round there: for each index around it, a polynomial of indices here.

    Set on all statements before a rewrite that is to be validated (check/watched.py), handed on by the copier; None where nobody asked, or a rewrite made
    the statement itself."""

    __slots__ = ("number", "round")

    def __init__(self, number: int, round: dict[Sym, Poly]) -> None:
        self.number, self.round = number, round

    def subst(self, env: Any) -> Instance:
        return Instance(self.number, {s: p.subst(env) for s, p in self.round.items()}) if env else self


@dataclass(frozen=True, slots=True)
class Statement:
    """What every statement has, beside what it is."""

    instance: Instance | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Let(Statement):
    var: Var
    value: Expr


@dataclass(frozen=True, slots=True)
class Declare(Statement):
    var: Var
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    var: Var
    value: Expr


@dataclass(frozen=True, slots=True)
class Store(Statement):
    buffer: Buffer
    index: tuple[Poly, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Update(Statement):
    """buffer[index] = op(buffer[index], value)"""

    buffer: Buffer
    index: tuple[Poly, ...]
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Alloc(Statement):
    buffer: Buffer


@dataclass(frozen=True, slots=True)
class Free(Statement):
    buffer: Buffer


@dataclass(frozen=True, slots=True)
class For(Statement):
    sym: Sym
    low: Poly
    high: Poly
    body: Stmts
    parallel: bool  # rounds are independent of each other
    vector: int = 0  # rounds run this many at a time; they are independent
    unroll: bool = False  # the body is repeated instead of looping; literal bounds
    scan: bool = False  # all that rounds leave to the next is the variable assigned, by a known operator, which may be regrouped


@dataclass(frozen=True, slots=True)
class Acc:
    """A scalar that a loop accumulates into by a known operator, starting from its neutral element."""

    var: Var
    monoid: str


@dataclass(frozen=True, slots=True)
class Accumulate(Statement):
    """A loop whose `add` statements combine into scalars. The order is fixed by the sizes, not by the machine."""

    sym: Sym
    low: Poly
    high: Poly
    body: Stmts
    accs: Sequence[Acc]
    exact: bool = False  # left to right


@dataclass(frozen=True, slots=True)
class Add(Statement):
    """acc = op(acc, value), inside the Accumulate that has the acc."""

    var: Var
    monoid: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Chunks(Statement):
    """low..high run through pieces of 0..extent. `work` is an estimate of operations per index; `partials` are combined
    over pieces in a fixed tree: scalars of `accs`, or whole private buffers added into shared ones. With `rows`, pieces have at
    least so many indices once there are sixteen."""

    low: Sym
    high: Sym
    extent: Poly
    work: Poly
    body: Stmts
    accs: Sequence[Acc] = ()
    buffers: Sequence[tuple[Buffer, Buffer, str]] = ()  # private, shared, monoid
    align: int = 1
    most: int = 256
    grain: int = 32768  # operations in a piece, at least
    rows: int = 0


@dataclass(frozen=True, slots=True)
class If(Statement):
    tests: tuple[Test, ...]
    then: Stmts
    orelse: Stmts = ()


@dataclass(frozen=True, slots=True)
class Forever(Statement):
    body: Stmts


@dataclass(frozen=True, slots=True)
class BreakUnless(Statement):
    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Check(Statement):
    tests: tuple[Test, ...]
    site: Site
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Helper(Statement):
    """A call of a library routine on whole buffers: sort, compress, unique."""

    name: str
    buffers: tuple[tuple[Buffer, tuple[Poly, ...]], ...]  # each with the index of its first element
    sizes: tuple[Poly, ...]
    result: Var | None = None
    site: Site | None = None
    dtype: DType | None = None


@dataclass(frozen=True, slots=True)
class CopyBuffer(Statement):
    target: Buffer
    source: Buffer


@dataclass(frozen=True, slots=True)
class Swap(Statement):
    """Exchange the memory of two buffers."""

    first: Buffer
    second: Buffer


@dataclass(frozen=True, slots=True)
class Print(Statement):
    parts: tuple[Any, ...]  # text, or (type, [buffer or expression], format)
    span: Span


@dataclass(frozen=True, slots=True)
class Section(Statement):
    """Statements that belong to one opaque part; nothing is checked inside."""

    label: str
    body: Stmts


@dataclass(frozen=True, slots=True)
class Product(Statement):
    """target[i, j] = sum over k of left[i, k] * right[k, j]: `body` says it in loops, the rest how a matrix kernel finds its elements.

    `left`, `right` and `target` are the elements at index 0 of everything; steps are in elements. The last step of the target is 1.
    `after`: pieces over its rows, done when these are finished (loops/transform/after_product.py). `adds`: to what the target holds."""

    rows: Poly
    columns: Poly
    sums: tuple[Poly, ...]  # outermost first
    left: Load
    left_row: Poly
    left_sums: tuple[Poly, ...]
    right: Load
    right_column: Poly
    right_sums: tuple[Poly, ...]
    target: Load
    target_row: Poly
    body: Stmts
    after: Stmts = ()
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Note(Statement):
    """A comment for the reader of the C."""

    text: str


Stmt = Union[
    Let,
    Declare,
    Assign,
    Store,
    Update,
    Alloc,
    Free,
    For,
    Accumulate,
    Add,
    Chunks,
    If,
    Forever,
    BreakUnless,
    Check,
    Helper,
    CopyBuffer,
    Swap,
    Print,
    Section,
    Product,
    Note,
]
Stmts = Sequence[Stmt]
"""Statements in order, to be read: what a rewrite makes of them is made anew."""


@dataclass(slots=True)
class Function:
    """A compiled function: sizes first, then one pointer or scalar per leaf of the parameters, one pointer per result leaf."""

    name: str
    sizes: tuple[Sym, ...]
    inputs: list[Buffer | Var]
    outputs: list[Output]
    body: Stmts
    consts: list[Buffer]
    sites: list[Site] = field(default_factory=list)
    copied: list[Copied] = field(default_factory=list)
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy of a whole array, or of its rows, that the loops make: for .memory() and copies="explicit". `allowed` is how many copies of
    that `array` the user wrote; `each` says what it is done again for."""

    target: Buffer
    source: Buffer
    array: object
    allowed: int
    bytes: Poly
    reason: str
    each: str
    span: Span
    settled: bool = False  # only if the last round of a loop left a result elsewhere
    name: str = ""  # what the user calls the array that is copied


@dataclass(slots=True)
class Output:
    """A result leaf. Scalars are one-element buffers. `open_size` is set when the extent is known only after running."""

    buffer: Buffer
    rank: int
    open_sizes: tuple[Var | None, ...] = ()


_PLAIN = frozenset("site span dtype origin op kind monoid parallel vector unroll scan exact align most grain label text instance".split())

FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind.__dataclass_fields__ if name not in _PLAIN)
    for kind in (Use, Const, Index, Load, Call, Cast, Choose, Truth, Test, Acc, *Stmt.__args__)  # type: ignore[attr-defined]
}
"""Of statements and expressions, the fields in which others, polynomials, variables or arrays can stand: for those who visit everything."""


def bodies(stmt: Stmt) -> Iterator[Stmts]:
    """Statement lists directly inside a statement."""
    if isinstance(stmt, (For, Accumulate, Chunks, Forever, Section, Product)):
        yield stmt.body
    elif isinstance(stmt, If):
        yield stmt.then
        yield stmt.orelse
    if isinstance(stmt, Product):
        yield stmt.after


BODIES: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((For, Accumulate, Chunks, Forever, Section), ("body",)),
    If: ("orelse", "then"),
    Product: ("after", "body"),
}
"""Fields that hold statements, the last first."""


def walk(stmts: Iterable[Stmt]) -> Iterator[Stmt]:
    """Statements and those inside them, in the order of the text. One generator for all depths: every pass walks all of a program, some for each loop."""
    stack = [iter(stmts)]
    while stack:
        for stmt in stack[-1]:
            yield stmt
            inside = BODIES.get(type(stmt))
            if inside is not None:
                stack += [iter(getattr(stmt, name)) for name in inside]
                break
        else:
            stack.pop()


def used_vars(x: Any) -> Iterator[Var]:
    """Variables a statement, expression or polynomial reads (not those it sets)."""
    if isinstance(x, Use):
        yield x.var
    elif isinstance(x, Poly):
        for leaf in x.leaves():
            if isinstance(leaf, VarAtom):
                yield leaf.var
    elif isinstance(x, Buffer):
        for p in x.extents:
            yield from used_vars(p)
    elif isinstance(x, (tuple, list)):
        for item in x:
            yield from used_vars(item)
    else:
        setting = isinstance(x, (Let, Declare, Assign))
        for name in FIELDS.get(type(x), ()):
            if not (setting and name == "var"):
                yield from used_vars(getattr(x, name))
