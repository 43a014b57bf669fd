"""at.tree in bodies: `at.tree.map(f, a, b)` applies f to the parts of tuples and records, however deeply they are nested."""

from __future__ import annotations

from typing import Any

from atoll.elaborate.builtins.derive import known_function
from atoll.elaborate.calls import Args, apply
from atoll.elaborate.coerce import make_tuple, project_all
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.errors import Span
from atoll.types.types import Record, Tuple


def _tree_map(args: Args) -> Value:
    if len(args.args) < 2 or args.keywords:
        args.el.fail("E1032", args.span, what="at.tree.map takes a function and one value or more", help="write at.tree.map(f, a, b)")
    f = known_function(args, args.args[0])
    return _over(args.el, f, [args.value(x) for x in args.args[1:]], args.span)


def _over(el: Elaborator, f: Any, values: list[Value], span: Span) -> Value:
    first = values[0].type
    if not isinstance(first, (Tuple, Record)):
        return Args(el, "at.tree.map", span, (), {}).value(apply(el, f, values, span))
    for other in values[1:]:
        t = other.type
        same = isinstance(t, Tuple) and len(t.items) == len(first.items) if isinstance(first, Tuple) else isinstance(t, Record) and t.decl == first.decl
        if not same:
            el.fail("E1032", span, what=f"{el.show(first)} and {el.show(t)} are not built alike", help="give values of the same tuples and records")
    parts = zip(*(project_all(el, v) for v in values), strict=True)
    return make_tuple([_over(el, f, list(items), span) for items in parts], first, span)


HANDLERS = {"tree_map": _tree_map}
