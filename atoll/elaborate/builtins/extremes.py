"""min(xs, key=f), max(xs, key=f), and both of tuples: the first element that has the least or the greatest key, as in Python.

A key of several numbers is compared one number after the other: those that are not the best by the first are left out when the second is looked at.
So it takes as many passes as the key has numbers.
"""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import scalar_binary
from atoll.elaborate.builtins.reductions import need_nonempty, positive, reduction
from atoll.elaborate.builtins.select import masked_arg
from atoll.elaborate.builtins.sorting import key_parts
from atoll.elaborate.calls import Args, apply
from atoll.elaborate.coerce import map_arrays
from atoll.elaborate.comprehension import build_array
from atoll.elaborate.entities import Value
from atoll.elaborate.expressions import choose, expr
from atoll.elaborate.indexing import element_at
from atoll.surface import syntax as s
from atoll.types.types import BOOL_T, Array, Index, Record, Tuple


def _extreme(args: Args) -> Value:
    if len(args.args) != 1:
        return reduction(args)
    given = args.args[0]
    if isinstance(given, en.Generator):
        if "key" not in args.keywords and not isinstance(given.node.element, s.TupleDisplay):
            return reduction(args)
        node = given.node
        given = expr(args.el, s.Comprehension(node.element, node.clauses, True, span=node.span))
    elif "key" not in args.keywords and not (isinstance(given, Value) and isinstance(given.type, Array) and isinstance(given.type.elem, (Tuple, Record))):
        return reduction(args)
    _, key, default = args.take("xs", optional=("key", "default"))
    xs = args.array(given)
    assert isinstance(xs.type, Array)
    if default is None:
        need_nonempty(args.el, xs.type.size, args.name, args.span)
        return _best(args, xs, key)
    found: Value = choose(args.el, positive(args.el, xs.type.size, args.span), lambda: _best(args, xs, key), lambda: args.value(default), s.NoneValue(span=args.span))
    return found


def _best(args: Args, xs: Value, key: Any) -> Value:
    el, span = args.el, args.span
    keyed = key is not None and not isinstance(key, en.NoneEntity)
    keys = el.bind(map_arrays(el, [xs], lambda v: args.value(apply(el, key, v, span)))) if keyed else xs
    left: Value | None = None  # which are the best by the parts before
    *parts, last = key_parts(args, keys, keyed)
    for part in parts:
        best = el.bind(element_at(el, part, el.bind(_place(args, part, left)), span))
        left = el.bind(_left(args, part, best, left))
    return element_at(el, xs, el.bind(_place(args, last, left)), span)


def _place(args: Args, part: Value, left: Value | None) -> Value:
    """Where the first best of those that are left is."""
    assert isinstance(part.type, Array)
    if left is not None:
        return masked_arg(args, left, part, args.name)
    t = Index(part.type.size)
    return Value(ir.ArgReduce(args.name, part.expr, type=t, span=args.span), t)


def _left(args: Args, part: Value, best: Value, left: Value | None) -> Value:
    el, span = args.el, args.span
    assert isinstance(part.type, Array)

    def stays(i: Value) -> Value:
        same = scalar_binary(el, "==", element_at(el, part, i, span), best, span)
        if left is None:
            return same
        before = element_at(el, left, i, span)
        return Value(ir.Prim("and", (before.expr, same.expr), type=BOOL_T, span=span), BOOL_T)

    return build_array(el, part.type.size, "i", stays, span)


HANDLERS = {"min": _extreme, "max": _extreme}

__all__ = ["HANDLERS"]
