"""Rank polymorphism at one application whose ranks are all known (AUTOMAP, notes/schenck.md 5.7).

A call is a spine of one-argument applications; argument j has `excess` axes more than its parameter. The map nest has as many
levels as the largest excess; argument j varies in the innermost `excess` levels (so `A + v` adds v to each row, as NumPy's trailing
axes do) and is simply used as it is in the others (an induced rep, which costs nothing). An argument with too few axes is
repeated: a `rep` of a size the rest of the program decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from atoll.core import ir
from atoll.errors import Span
from atoll.types.coerce import map_arrays
from atoll.types.elaborator import Elaborator, Mismatch
from atoll.types.entities import Value
from atoll.types.types import Array, rank


def lift(
    el: Elaborator,
    args: Sequence[Any],
    ranks: Sequence[int | None],
    apply: Callable[[list[Any]], Value],
    span: Span,
    what: str,
) -> Value:
    """apply(args), mapped over every argument with more axes than its parameter's rank. None: takes any rank."""
    args = list(args)
    excess = []
    for k, (arg, wanted) in enumerate(zip(args, ranks, strict=True)):
        extra = rank(arg.type) - wanted if isinstance(arg, Value) and wanted is not None else 0
        while extra < 0:
            args[k] = rep(el, args[k], span)
            extra += 1
        excess.append(extra)
    depth = max(excess, default=0)
    if depth == 0:
        return apply(args)
    el.inserted.append((span, f"{what} is mapped over {depth} {'axis' if depth == 1 else 'axes'}"))
    return _nest(el, args, excess, depth, apply, span, what)


def _nest(
    el: Elaborator,
    args: list[Any],
    excess: list[int],
    depth: int,
    apply: Callable[[list[Any]], Value],
    span: Span,
    what: str,
) -> Value:
    if depth == 0:
        return apply(args)
    varying = [k for k, extra in enumerate(excess) if extra >= depth]
    for k in varying:
        if not isinstance(args[k].expr, (ir.Var, ir.ConstArray)):
            args[k] = el.bind(args[k])
    first = args[varying[0]]
    for k in varying[1:]:
        mine, other = first.type.size, args[k].type.size
        el.equate(mine, other, Mismatch(span, first.type, args[k].type, what, el.facts))
    inner = [extra - 1 if k in varying else extra for k, extra in enumerate(excess)]

    def body(elements: list[Value]) -> Value:
        replaced = list(args)
        for k, element in zip(varying, elements, strict=True):
            replaced[k] = element
        return _nest(el, replaced, inner, depth - 1, apply, span, what)

    return map_arrays(el, [args[k] for k in varying], body, [_name(args[k]) for k in varying])


def _name(value: Value) -> str:
    return value.expr.sym.name if isinstance(value.expr, ir.Var) else "x"


def rep(el: Elaborator, value: Value, span: Span) -> Value:
    """The value repeated along a new outermost axis whose size the rest of the program decides."""
    size = el.solver.fresh("rep", el.level)
    expr = ir.View("repeat", (size,), (value.expr,), type=Array(value.expr.type, size), span=span)
    return Value(expr, Array(value.type, size))
