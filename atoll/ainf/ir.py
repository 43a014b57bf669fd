"""Indexed administrative normal form: every line is one primitive under a context of indices and conditions.

    program ::= inputs, block, results
    block   ::= line...                                   in an order that respects uses
    line    ::= for i < n, ... if cond, ... :  x = prim    x has the dims i, ... and, after them, the result's own axes
    ref     ::= x[index, ...]                             index: a polynomial of indices, sizes and integer values
    operand ::= ref | constant | {polynomial}
    array   ::= λ i < n, ... . operand                     an array given by its elements
    prim    ::= op operand...                             scalar primitives, cast, select, extent
             |  input k | const array | param k           where values come from
             |  reduce r < n. operand                     by a known operator; also argmin, argmax
             |  fold r < n. (block)                       by any operator: state, elements, block
             |  scan r < n. ... | argsort r < n. operand | compress r < n. operand | display operand...
             |  scatter array, r < n. [index, ...] operand
             |  loop t < n (array, ...) block | while (array, ...) block
             |  check | print                             kept although nobody uses a value of theirs

A line's dims are *exactly the indices free in it*, in the order their binders were made (source nesting), except those of loops the
line's block already stands in. Lines are hash-consed, so equal computations are one line (CSE) and nothing is computed inside a
loop it does not depend on (LICM); dead lines are those the results do not reach (docs/sources.md N1). Arrays never
exist as values: a read is a reference with an index map, and whether a line is stored is the plan's decision.

Conditions make a line *conditional*: it has a value only where they hold. A pure line that cannot fail drops conditions it does not
need; lines that check, print or loop keep them. An extent may be such a value: it is asked for only under the conditions. `select c x y` looks at x only where c holds, at y only where it does not.
Index conditions are polynomials (ge, eq, ne); conditions on data are references (true, false).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np

from atoll.ainf.operands import (
    Abs,
    Binder,
    Cond,
    Const,
    IndexValue,
    Operand,
    Ref,
    RefAtom,
    operand_dtype,
    operand_leaves,
    operand_refs,
    poly_refs,
    ref_atom,
    subst_operand,
)
from atoll.errors import NOWHERE, Span
from atoll.sizes import Atom, Poly, Sym
from atoll.types.dtypes import DType

__all__ = ["Abs", "Binder", "Cond", "Const", "IndexValue", "Operand", "Ref", "RefAtom", "operand_dtype", "operand_leaves", "operand_refs", "poly_refs", "ref_atom", "subst_operand"]  # of operands.py, given on


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a line: its scalar type and the extents of its own axes. `bound` says 0 <= value < bound."""

    dtype: DType
    axes: tuple[Poly, ...] = ()
    bound: Poly | None = None


# -- primitives


@dataclass(frozen=True, slots=True)
class Op:
    name: str
    args: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Cast:
    """Conversion to the result's dtype; a float to an integer can fail."""

    arg: Operand


@dataclass(frozen=True, slots=True)
class Select:
    """`then` where all conditions hold, `orelse` elsewhere."""

    conds: tuple[Cond, ...]
    then: Operand
    orelse: Operand


@dataclass(frozen=True, slots=True)
class Truth:
    """The value of a condition as a bool."""

    cond: Cond


@dataclass(frozen=True, slots=True)
class Extent:
    """max(high - low, 0) without overflow: the number of rounds of range(low, high)."""

    low: Operand
    high: Operand


@dataclass(frozen=True, slots=True)
class Input:
    """Leaf `leaf` of parameter `param`."""

    param: int
    leaf: int
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ConstArray:
    value: np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Param:
    """A value a block is given: loop state, the arguments of an operator."""

    position: int
    name: str


@dataclass(frozen=True, slots=True)
class Reduce:
    """A known operator (core.prims.MONOIDS) over one index, starting from the neutral element, then combined with `start`."""

    monoid: str
    binder: Binder
    arg: Operand


@dataclass(frozen=True, slots=True)
class ArgReduce:
    """The first index of the least or greatest value; the range is not empty by a check before it."""

    which: str
    binder: Binder
    arg: Operand


@dataclass(frozen=True, slots=True)
class Fold:
    """result = start; for r: result = op(result, element r). Associative; `block` has params (state..., element...)."""

    binder: Binder
    start: tuple[Abs, ...]
    elements: tuple[Abs, ...]
    block: Block
    results: tuple[Abs, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    monoid: str
    binder: Binder
    arg: Operand
    start: Operand
    exclusive: bool


@dataclass(frozen=True, slots=True)
class ScanFold:
    """A scan by any operator; see Fold."""

    binder: Binder
    start: tuple[Abs, ...]
    elements: tuple[Abs, ...]
    block: Block
    results: tuple[Abs, ...]
    exclusive: bool


@dataclass(frozen=True, slots=True)
class Argsort:
    binder: Binder
    key: Operand


@dataclass(frozen=True, slots=True)
class Compress:
    """Results: how many values of `mask` are true, then their positions, then for each of `values` those elements."""

    binder: Binder
    mask: Operand
    values: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Display:
    """An array of literal size; the one axis indexes the items."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Scatter:
    """A copy of base, then for every value of the binders in order: result[index] = value, or combined by monoid.

    `drop` ignores indices out of range; otherwise they have been checked or proved. Without a monoid the indices are distinct.
    Nothing is put, and neither index nor value is looked at, unless all of `when` hold, which may mention the binders.
    `replaces`: nobody wrote this update; branches meet, and one of them has another array (translate/versions.py).
    """

    base: Abs
    binders: tuple[Binder, ...]
    index: tuple[Poly, ...]
    value: Operand
    monoid: str | None = None
    drop: bool = False
    when: tuple[Cond, ...] = ()
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class ScatterFold:
    """A scatter combined by any operator, one binder, elements may be rows. `block` params: (old..., new...)."""

    base: tuple[Abs, ...]
    binder: Binder
    index: Poly
    elements: tuple[Abs, ...]
    block: Block
    results: tuple[Abs, ...]
    drop: bool


NO_SIZE = Poly({})


@dataclass(frozen=True, slots=True)
class Loop:
    """`size` rounds; the block has params for the state and its own index, and gives the next state.

    There is no round, and nothing but the arrays of the first state that exist anyway is looked at, unless all of `when` hold; then
    the arrays of the result are those of the first state, and what else it gives must not be used.
    """

    index: Sym
    size: Poly
    state: tuple[Abs, ...]
    block: Block
    results: tuple[Abs, ...]
    checkpoint: int | None = None
    no_false_deps: bool = False
    when: tuple[Cond, ...] = ()


@dataclass(frozen=True, slots=True)
class While:
    """While `cond` holds of the state: next state. Both are computed in the block; `head` are the effects of the condition. `when` as of Loop.

    With an `index` there are at most `size` rounds, and it is the round's number, as of Loop.
    """

    state: tuple[Abs, ...]
    cond: Operand
    head: tuple[Line, ...]
    block: Block
    results: tuple[Abs, ...]
    bound: Poly | None = None
    when: tuple[Cond, ...] = ()
    index: Sym | None = None
    size: Poly = NO_SIZE


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A place that can fail: the error's code, where, and what to put into its message."""

    code: str
    span: Span
    values: dict[str, Any] = field(default_factory=dict)
    where: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """Fail with the site's error unless the conditions hold; `args` are shown in the message. Gives `value` back."""

    conds: tuple[Cond, ...]
    site: Site
    args: tuple[Operand, ...] = ()
    value: Operand | None = None


@dataclass(frozen=True, slots=True)
class CheckUnique:
    """Fail when two values of the binder have the same index below `size`."""

    binder: Binder
    index: Operand
    size: Poly
    drop: bool
    site: Site


@dataclass(frozen=True, slots=True, eq=False)
class Print:
    """`parts` are texts and (array, format) pairs."""

    parts: tuple[str | tuple[Any, str], ...]
    span: Span


Prim = Union[
    Op,
    Cast,
    Select,
    Truth,
    Extent,
    Input,
    ConstArray,
    Param,
    Reduce,
    ArgReduce,
    Fold,
    Scan,
    ScanFold,
    Argsort,
    Compress,
    Display,
    Scatter,
    ScatterFold,
    Loop,
    While,
    Check,
    CheckUnique,
    Print,
    "Active",
    "Custom",
]

@dataclass(frozen=True, slots=True)
class Active:
    """A value a derivative is taken with respect to: arg itself, but never merged with anything else. `index` are its dims.

    Only while derivatives are made: `renormal` puts the arguments back."""

    key: object
    arg: Operand
    index: tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class Custom:
    """Values with a derivative of their own: results are `values`, followed backwards by `rule` from sizes and args.

    Only while derivatives are made, like Active."""

    rule: Any
    sizes: tuple[Operand, ...]
    args: tuple[Abs, ...]
    values: tuple[Abs, ...]


EFFECTS = (Check, CheckUnique, Print)


class Line:
    """x = prim under dims and conditions. `order` is how dims and axes are nested in storage, outermost first.

    `reverse`: it belongs to the reverse sweep of a derivative, so what it reads of the others must be kept for it.
    """

    __slots__ = ("id", "dims", "conds", "prim", "results", "block", "span", "atoms", "hint", "order", "reverse", "keep", "label", "copied", "also", "_scanned")

    def __init__(
        self,
        id: int,
        dims: tuple[Binder, ...],
        conds: tuple[Cond, ...],
        prim: Prim,
        results: tuple[Result, ...],
        block: Block,
        span: Span = NOWHERE,
        hint: str = "x",
    ) -> None:
        self.id, self.dims, self.conds, self.prim, self.results, self.block = id, dims, conds, prim, results, block
        self.span, self.hint = span, hint
        self.atoms: dict[Ref, RefAtom] = {}
        self.order: tuple[int, ...] | None = None
        self.reverse = False
        self.keep: tuple[str, str] | None = None  # what the user decided about it, and under which name (plan/override.py)
        self.label = ""  # the name the user bound it to
        self.copied = 0  # how often the user wrote at.copy of it
        self.also: tuple[Span, ...] = ()  # other places that say the same, or what it is made for
        self._scanned: tuple[Any, ...] | None = None  # what scan_prim.line_refs found, and of which parts

    @property
    def name(self) -> str:
        return f"{self.hint}{self.id}"

    def comes_from(self, span: Span) -> None:
        """Another place that it comes from, too."""
        if span.line and all(span.line != other.line or span.source is not other.source for other in self.origins):
            self.also += (span,)

    @property
    def origins(self) -> tuple[Span, ...]:
        """All places of the text it comes from."""
        return (self.span, *self.also) if self.span.line else self.also

    def __repr__(self) -> str:
        return self.name

    def extents(self, result: int = 0) -> tuple[Poly, ...]:
        """The extents of dims and axes, in index order."""
        return tuple(d.extent for d in self.dims) + self.results[result].axes


class Block:
    """Lines that run together: the program, or the body of a loop or operator.

    `ambient` are indices that are fixed inside; `owned` symbols (the loop's index) make a line belong here.
    """

    __slots__ = ("parent", "lines", "ambient", "owned", "params", "depth", "facts")

    def __init__(self, parent: Block | None, ambient: frozenset[Binder] = frozenset(), owned: frozenset[Sym] = frozenset()) -> None:
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.lines: list[Line] = []
        self.ambient = ambient
        self.owned = owned
        self.params: list[Line] = []
        self.facts: tuple[Poly, ...] = ()

    def encloses(self, other: Block) -> bool:
        block: Block | None = other
        while block is not None:
            if block is self:
                return True
            block = block.parent
        return False


@dataclass(eq=False)
class Program:
    """A function in normal form. `results` follow the leaves of the function's result type."""

    name: str
    sizes: tuple[Sym, ...]
    inputs: list[Line]
    block: Block
    results: list[Abs]
    facts: tuple[Poly, ...] = ()
    reassociate: bool = True
    index_facts: dict[Atom, tuple[Poly, ...]] = field(default_factory=dict)
    open: frozenset[int] = frozenset()  # results whose size the caller does not know, even where the body turned out to
    bound: Mapping[str, Span] = field(default_factory=dict)  # the names the body binds, and where; only when a plan names some
    span: Span = NOWHERE
    returned: Span = NOWHERE  # where its result is written
    portable: str = ""  # as of core.Function
