"""Rank types: what matters about a type for AUTOMAP. Element types and sizes are forgotten, axes are counted.

    t ::= axes number | axes variable | axes (t, ...) | axes (t, ... -> t)

`axes` is a linear form (a `Poly`) over rank variables: the M and R of applications and the unknown ranks of type variables. Axes around a
function distribute: `S (a -> b)` is `S a -> S b` (docs/sources.md, Schenck E12; without that, satisfiable programs are refused). Axes around
a tuple do not: an array of tuples is not a tuple of arrays.

The *skeleton* of a type is the type without its axes. Skeletons are unified as soon as an equation is known (base types and ranks do
not interact); ranks are compared later, leaf by leaf, once every skeleton is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

from atoll.sizes import ZERO, Poly, Sym, poly


class Clash(Exception):
    """Two skeletons that cannot be one."""


class RankVar(Sym):
    """A rank that is to be found: "M" and "R" of an application, "type" of a type variable, "slack" of a free choice."""

    __slots__ = ("kind",)

    def __init__(self, name: str, kind: str) -> None:
        super().__init__(name)
        self.kind = kind


class Skeleton:
    """A node of the union-find structure of skeletons. `form` is None while nothing is known."""

    __slots__ = ("_parent", "_form", "_parts")

    def __init__(self, form: object = None, parts: tuple[Skeleton, ...] = ()) -> None:
        self._parent: Skeleton | None = None
        self._form, self._parts = form, parts

    def root(self) -> Skeleton:
        node = self
        while node._parent is not None:
            node = node._parent
        if node is not self:
            self._parent = node
        return node

    @property
    def form(self) -> object:
        return self.root()._form

    @property
    def parts(self) -> tuple[Skeleton, ...]:
        return self.root()._parts

    @property
    def is_function(self) -> bool:
        return self.form == "function"

    @property
    def is_product(self) -> bool:
        return isinstance(self.form, tuple)

    def contains(self, other: Skeleton) -> bool:
        here = self.root()
        return here is other.root() or any(part.contains(other) for part in here._parts)

    def unify(self, other: Skeleton) -> None:
        """Make both one, or raise Clash."""
        a, b = self.root(), other.root()
        if a is b:
            return
        if a._form is None:
            if b.contains(a):
                raise Clash
            a._parent = b
        elif b._form is None:
            b.unify(a)
        else:
            if a._form != b._form or len(a._parts) != len(b._parts):
                raise Clash
            parts = a._parts
            a._parent = b
            for x, y in zip(parts, b._parts, strict=True):
                x.unify(y)


class Number:
    """Any scalar: a number, a bool, an index. Also whatever else has no parts (a union, a text)."""

    __slots__ = ()


class Variable:
    """An unknown type: an unknown skeleton and an unknown rank for each of its leaves."""

    __slots__ = ("skeleton", "name", "_rank", "_parts")

    def __init__(self, name: str = "a", skeleton: Skeleton | None = None) -> None:
        self.skeleton = skeleton or Skeleton()
        self.name = name
        self._rank: RankVar | None = None
        self._parts: list[Variable] | None = None

    @property
    def rank(self) -> RankVar:
        """The axes around it (of a function: none, they are in its parts)."""
        if self._rank is None:
            self._rank = RankVar(self.name, "type")
        return self._rank

    def parts(self) -> list[Variable]:
        if self._parts is None:
            self._parts = [Variable(f"{self.name}{k}", part) for k, part in enumerate(self.skeleton.parts)]
        return self._parts


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A tuple, or a record when `tag` is its declaration."""

    items: tuple[RankType, ...]
    tag: object = None


@dataclass(frozen=True, slots=True, eq=False)
class Arrow:
    params: tuple[RankType, ...]
    result: RankType


Body = Union[Number, Variable, Product, Arrow]
NUMBER = Number()


@dataclass(frozen=True, slots=True, eq=False)
class RankType:
    """`axes` around `body`."""

    axes: Poly
    body: Body

    def lift(self, more: Poly) -> RankType:
        """This type with more axes around it."""
        return RankType(self.axes + more, self.body) if more.terms else self

    @property
    def skeleton(self) -> Skeleton:
        return _skeleton(self.body)

    @property
    def is_function(self) -> bool:
        return isinstance(self.body, Arrow) or (isinstance(self.body, Variable) and self.body.skeleton.is_function)

    @property
    def is_product(self) -> bool:
        return isinstance(self.body, Product) or (isinstance(self.body, Variable) and self.body.skeleton.is_product)


SCALAR = RankType(ZERO, NUMBER)


def _skeleton(body: Body) -> Skeleton:
    if isinstance(body, Number):
        return Skeleton("number")
    if isinstance(body, Variable):
        return body.skeleton
    if isinstance(body, Product):
        return Skeleton(("product", body.tag), tuple(_skeleton(item.body) for item in body.items))
    return Skeleton("function", tuple(_skeleton(t.body) for t in (*body.params, body.result)))


def numbers(rank: int | Poly = 0) -> RankType:
    """An array of numbers of this rank."""
    return RankType(poly(rank), NUMBER)


def fresh(name: str = "a") -> RankType:
    """An unknown type."""
    return RankType(ZERO, Variable(name))


def product(*items: RankType, tag: object = None) -> RankType:
    return RankType(ZERO, Product(items, tag))


def arrow(params: tuple[RankType, ...], result: RankType) -> RankType:
    return RankType(ZERO, Arrow(params, result))


def parts(t: RankType) -> list[RankType]:
    """The components of a product, or the parameters and result of a function (with its axes distributed)."""
    outer = t.axes if t.is_function else ZERO
    body = t.body
    if isinstance(body, Product):
        return list(body.items)
    if isinstance(body, Arrow):
        return [part.lift(outer) for part in (*body.params, body.result)]
    assert isinstance(body, Variable)
    return [RankType(outer, part) for part in body.parts()]


def own_rank(t: RankType) -> Poly:
    """The axes around a number, a tuple or an unknown."""
    return t.axes + t.body.rank if isinstance(t.body, Variable) else t.axes


def leaves(t: RankType) -> Iterator[Poly]:
    """The rank of every leaf, in an order that depends on the skeleton only."""
    if t.is_function:
        for part in parts(t):
            yield from leaves(part)
        return
    yield own_rank(t)
    if t.is_product:
        for part in parts(t):
            yield from leaves(part)
