"""Rank polymorphism at one application whose ranks are all known (AUTOMAP, Schenck, fig. 4.12).

A call is a spine of one-argument applications; argument j has `excess` axes more than its parameter. The map nest has as many
levels as the largest excess; argument j varies in the innermost `excess` levels (so `A + v` adds v to each row, as NumPy's trailing
axes do) and is simply used as it is in the others (an induced rep, which costs nothing). An argument with too few axes is
repeated: a `rep` of a size the rest of the program decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from atoll.core import ir
from atoll.elaborate.broadcasting import broadcast, has_ones
from atoll.elaborate.coerce import make_tuple, map_arrays, project_all
from atoll.elaborate.elaborator import Elaborator, Mismatch
from atoll.elaborate.entities import Value
from atoll.errors import Span
from atoll.types.types import Array, Tuple, rank


def lift(
    el: Elaborator,
    args: Sequence[Any],
    ranks: Sequence[int | None],
    apply: Callable[[list[Any]], Value],
    span: Span,
    what: str,
) -> Value:
    """apply(args), mapped over every argument with more axes than its parameter's rank. None: takes any rank."""
    if all(wanted is None or wanted == 0 for wanted in ranks):
        if has_ones(args):
            return _tuple_of_arrays(el, broadcast(el, args, ranks, apply, span, what), _depth(args, ranks), span)
    excess, reps = [], []
    for arg, wanted in zip(args, ranks, strict=True):
        extra = rank(arg.type) - wanted if isinstance(arg, Value) and wanted is not None else 0
        excess.append(max(extra, 0))
        reps.append(max(-extra, 0))
    el.repeated += sum(reps)
    return lift_by(el, args, excess, reps, apply, span, what)


def _depth(args: Sequence[Any], ranks: Sequence[int | None]) -> int:
    return max((rank(a.type) for a, wanted in zip(args, ranks, strict=True) if wanted is not None), default=0)


def lift_by(
    el: Elaborator,
    args: Sequence[Any],
    excess: Sequence[int],
    reps: Sequence[int],
    apply: Callable[[list[Any]], Value],
    span: Span,
    what: str,
) -> Value:
    """apply(args), each argument first repeated `reps` times, then mapped over its `excess` outermost axes."""
    args = list(args)
    depth = max(excess, default=0)
    if depth or any(reps):
        el.inserted.append((span, what, tuple(excess), tuple(reps)))
    for k, count in enumerate(reps):
        for _ in range(count):
            args[k] = rep(el, args[k], span)
    if depth == 0:
        return apply(args)
    return _tuple_of_arrays(el, _nest(el, args, list(excess), depth, apply, span, what), depth, span)


def _tuple_of_arrays(el: Elaborator, value: Value, depth: int, span: Span) -> Value:
    """A lifted call with a tuple result gives a tuple of arrays."""
    inner = value.type
    for _ in range(depth):
        assert isinstance(inner, Array)
        inner = inner.elem
    if not isinstance(inner, Tuple):
        return value
    from atoll.elaborate.builtins.structure import unzip

    def outwards(v: Value, levels: int) -> Value:
        if levels > 1:
            v = el.bind(map_arrays(el, [v], lambda x: outwards(x[0], levels - 1)))
        return unzip(el, v, span)

    parts = project_all(el, outwards(el.bind(value), depth))
    return make_tuple([_tuple_of_arrays(el, part, depth, span) for part in parts], None, span)


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


def _text(el: Elaborator, value: Value) -> str:
    """What a value is called in the text."""
    if isinstance(value.expr, ir.Var):
        named = el.scope.lookup(value.expr.sym.name)
        if isinstance(named, Value) and isinstance(named.expr, ir.Var) and named.expr.sym is value.expr.sym:
            return value.expr.sym.name
    return value.expr.span.text() or "..."


def rep(el: Elaborator, value: Value, span: Span) -> Value:
    """The value repeated along a new outermost axis whose size the rest of the program decides."""
    text = span.text()
    size = el.fresh_size(f"len({text})" if text.startswith("rep(") else f"len(rep({_text(el, value)}))")
    expr = ir.View("repeat", (size,), (value.expr,), type=Array(value.expr.type, size), span=span)
    return Value(expr, Array(value.type, size))
