"""The semantic domain of normalisation: what a core expression means while it is translated (normalisation by evaluation).

    value ::= Scalar operand | Formula | VTuple value... | VArray n (index -> value)

Arrays are functions from an index to a value, so indexing is substitution and maps fuse; a `Formula` is a bool kept as a condition
(with `and`, `or` and `not`) until someone needs it as data. `reify` turns an array function into lines once, when it is bound to a
name, so that nothing is evaluated twice however often the name is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from atoll.ainf import ir
from atoll.sizes import Atom, Poly, poly


@dataclass(frozen=True, slots=True)
class Scalar:
    operand: ir.Operand


@dataclass(frozen=True, slots=True)
class Formula:
    """A bool as a condition: `all` of the parts hold, or (any) one of them does. Parts are conditions or formulas."""

    op: str  # "is" (one condition), "all", "any"
    parts: tuple[Any, ...]

    def negated(self) -> Formula:
        if self.op == "is":
            return Formula("is", (self.parts[0].negated(),))
        return Formula("any" if self.op == "all" else "all", tuple(p.negated() for p in self.parts))

    def conds(self) -> tuple[ir.Cond, ...] | None:
        """The conditions, when the formula is just several of them holding together."""
        if self.op == "is":
            return self.parts
        if self.op == "all":
            found: list[ir.Cond] = []
            for part in self.parts:
                inner = part.conds()
                if inner is None:
                    return None
                found += inner
            return tuple(found)
        return None


@dataclass(frozen=True, slots=True)
class VTuple:
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class VArray:
    """`source` is the line (result, and index of its dims) an array is, element for element, when it is one. An array of tuples may have
    `parts`, the arrays it is made of, and `depth` is how many of their axes it has before the tuples."""

    extent: Poly
    get: Callable[[Poly], Any]
    source: tuple[ir.Line, int, tuple[Poly, ...]] | None = None
    parts: VTuple | None = None
    depth: int = 1


Value = Scalar | Formula | VTuple | VArray


def subst(value: Value, env: Mapping[Atom, Poly]) -> Value:
    """The value with indices replaced."""
    if isinstance(value, Scalar):
        return Scalar(ir.subst_operand(value.operand, env))
    if isinstance(value, Formula):
        return Formula(value.op, tuple(p.subst(env) if isinstance(p, ir.Cond) else subst(p, env) for p in value.parts))
    if isinstance(value, VTuple):
        return VTuple(tuple(subst(item, env) for item in value.items))
    get, source = value.get, value.source
    if source is not None:
        source = (source[0], source[1], tuple(p.subst(env) for p in source[2]))
    return VArray(value.extent.subst(env), lambda p: subst(get(p), env), source)


def abstraction(binder: ir.Binder, body: Value) -> VArray:
    """λ binder. body as an array."""
    return VArray(binder.extent, lambda p: subst(body, {binder: p}) if p.single() is not binder else body)


def rows(ref: Callable[[tuple[Poly, ...]], Value], extents: tuple[Poly, ...]) -> Value:
    """A nested array whose element at an index tuple is ref(index)."""

    def level(prefix: tuple[Poly, ...], rest: tuple[Poly, ...]) -> Value:
        if not rest:
            return ref(prefix)
        return VArray(rest[0], lambda p: level((*prefix, p), rest[1:]))

    return level((), extents)


def index_poly(value: Value) -> Poly:
    """An integer value as a polynomial."""
    assert isinstance(value, Scalar), value
    operand = value.operand
    if isinstance(operand, ir.IndexValue):
        return operand.poly
    if isinstance(operand, ir.Const):
        return poly(int(operand.value))
    return poly(ir.ref_atom(operand))
