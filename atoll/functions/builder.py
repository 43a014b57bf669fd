"""λANF under construction: values spread over variables like their types, and blocks that go on after a join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atoll.errors import NOWHERE, Span
from atoll.functions import ir
from atoll.functions.kernels import leaf_rep
from atoll.sizes import Poly, Sym
from atoll.types.types import Array, Record, Tuple, Type, shape_of

Val = Any  # a variable, or a tuple of values
Env = dict[Sym, Val]


def leaves(value: Val) -> tuple[ir.Var, ...]:
    return (value,) if isinstance(value, ir.Var) else tuple(x for part in value for x in leaves(part))


def variables(t: Type, name: str) -> Val:
    """Fresh variables for a value of this type."""
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        return tuple(variables(_array(item, sizes), name) for item in elem.items)
    return ir.Var(name, leaf_rep(t))


def _array(t: Type, sizes: Sequence[Poly]) -> Type:
    for n in reversed(sizes):
        t = Array(t, n)
    return t


def rebuild(t: Type, found: Any) -> Val:
    """A value of this type from an iterator over its leaves."""
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        return tuple(rebuild(_array(item, sizes), found) for item in elem.items)
    return next(found)


class Builder:
    """A block under construction. After a join, what is added goes into the join's body."""

    def __init__(self) -> None:
        self.binds: list[ir.Bind] = []
        self.outer: list[tuple[list[ir.Bind], ir.Var, ir.Vars, list[ir.Bind], ir.Term]] = []
        self.near = NOWHERE  # what is being translated: where binds come from

    def add(self, bind: ir.Bind) -> None:
        for x in ir.bound(bind):
            if not x.span.line:
                x.span = self.near
        self.binds.append(bind)

    def op(self, op: Any, *args: ir.Var, name: str = "v", span: Span = NOWHERE) -> ir.Var:
        """A bind with one result."""
        (rep,) = op.results
        x = ir.Var(name, rep)
        self.add(ir.Op((x,), op, args, span))
        return x

    def integer(self, value: int) -> ir.Var:
        x = ir.Var("k", ir.INT)
        self.add(ir.Literal(x, value))
        return x

    def go_on(self, join: ir.Var, params: ir.Vars, more: list[ir.Bind], term: ir.Term) -> None:
        """End the block with `term`; what follows is the join's body. `more` stands between."""
        self.outer.append((self.binds, join, params, more, term))
        self.binds = []

    def close(self, term: ir.Term) -> ir.Block:
        block = ir.Block(tuple(self.binds), term)
        for binds, join, params, more, end in reversed(self.outer):
            block = ir.Block((*binds, ir.Join(join, params, block), *more), end)
        return block
