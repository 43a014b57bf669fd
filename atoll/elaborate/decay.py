"""An index is an ordinary integer wherever its range means nothing.

`idx[n]` is kept as long as its size makes sense: an array of indices reads another array without checks. It decays to i64 where the
size is known only inside (the elements of `[i % (i + 1) for i in range(n)]`), and where something else than an index is put beside it
(`c[0] = 5`). In the core both are the same integer, so this changes types and no code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from atoll.core import ir
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.sizes import Atom, Poly
from atoll.types.types import I64_T, Array, Index, Record, Scalar, Tuple, Type, Union, shape_of, with_components


def plain_type(t: Type, drop: Callable[[Poly], bool] = lambda size: True) -> Type:
    """The type with i64 for every idx[n] whose size is to be dropped."""
    if isinstance(t, Index):
        return I64_T if drop(t.size) else t
    if isinstance(t, Array):
        elem = plain_type(t.elem, drop)
        return t if elem is t.elem else Array(elem, t.size)
    if isinstance(t, (Tuple, Record)):
        items = [plain_type(item, drop) for item in t.items]
        return t if all(a is b for a, b in zip(items, t.items, strict=True)) else with_components(t, items)
    return t


def plain(value: Value, drop: Callable[[Poly], bool] = lambda size: True) -> Value:
    """The value with ordinary integers for those indices."""
    t = plain_type(value.type, drop)
    if t is value.type:
        return value
    expr = dataclasses.replace(value.expr, type=plain_type(value.expr.type, drop))
    return Value(expr, t, value.poly, value.holds, value.fails)


def leaving(el: Elaborator, value: Value, inside: Iterable[Atom] = ()) -> Value:
    """The value as it leaves the block under construction: no index ranges over a size that is made inside."""
    return leaving_code(value, el.frames[-1], inside)


def leaving_code(value: Value, stmts: list[ir.Stmt], inside: Iterable[Atom] = ()) -> Value:
    local = {*inside}
    local |= {stmt.sym for stmt in stmts if isinstance(stmt, ir.Bind)}
    local |= {sym for stmt in stmts if isinstance(stmt, ir.Open) for sym in stmt.sizes}
    return plain(value, lambda size: not local.isdisjoint(size.leaves())) if local else value


def beside(el: Elaborator, base: Value, new: Value) -> Value:
    """An array of indices that is to hold `new` as well: still indices if that is one of them, else plain integers."""
    _, elem = shape_of(base.type)
    _, other = shape_of(new.type)
    if not isinstance(elem, Index) or isinstance(other, (Tuple, Record, Union)):
        return base
    if isinstance(other, Index) and other.size == elem.size:
        return base
    if isinstance(new.type, (Scalar, Index)) and new.poly is not None and el.facts.proves_range(new.poly, elem.size):
        return base
    return plain(base)
