"""What an expression denotes where its type is known from outside: an annotation, a declared result, a parameter.

Types are found from the inside out, and almost everything says its own. A function without annotations does not: `Cons(lambda x: x + 1, Nil())`
as a List[at.Fn[[i64], i64]] is told here what it takes, through the records and tuples around it.
"""

from __future__ import annotations

from typing import Any

from atoll.elaborate import entities as en
from atoll.elaborate.coerce import coerce
from atoll.elaborate.data import construct
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.elaborate.expressions import as_value, choose, expr, truth
from atoll.elaborate.function_values import as_function, is_known
from atoll.surface import syntax as s
from atoll.types.records import field_types, record_of
from atoll.types.types import Fn, Record, Tuple, Type, Union, type_vars
from atoll.types.unions import has_data, normal


def expecting(el: Elaborator, node: s.Expr, wanted: Type | None) -> Any:
    """The entity of an expression that will be brought to this type."""
    if wanted is None or type_vars(wanted) or not has_data(wanted):
        return expr(el, node)
    if isinstance(wanted, Fn):
        entity = expr(el, node)
        return as_function(el, entity, wanted, node.span) if is_known(entity) else entity
    if isinstance(node, s.Call) and isinstance(wanted, (Union, Record)):
        return _constructor(el, node, wanted)
    if isinstance(node, s.IfExp) and not isinstance(wanted, Fn):
        return _conditional(el, node, wanted)
    if isinstance(node, s.TupleDisplay) and isinstance(wanted, Tuple) and len(node.items) == len(wanted.items):
        return en.TupleEntity(tuple(expecting(el, item, t) for item, t in zip(node.items, wanted.items, strict=True)))
    return expr(el, node)


def _conditional(el: Elaborator, node: s.IfExp, wanted: Type) -> Any:
    """Both branches are expected to have the type."""
    def branch(part: s.Expr) -> Value:
        return coerce(el, as_value(el, expecting(el, part, wanted), part), wanted, part.span, "the branch")

    test = truth(el, node.test, "the condition")
    return choose(el, test, lambda: branch(node.then), lambda: branch(node.orelse), node)


def _constructor(el: Elaborator, node: s.Call, wanted: Union | Record) -> Any:
    fn = expr(el, node.fn) if isinstance(node.fn, s.Name) else None
    decl = record_of(fn.type) if isinstance(fn, en.TypeRef) else None
    if not isinstance(fn, en.TypeRef) or decl is None:
        return expr(el, node)
    if isinstance(wanted, Union):
        position = wanted.decl.position(decl)
        items = wanted.decl.member(wanted, position).items if position is not None else tuple(map(normal, field_types(fn.type)))
    else:
        items = wanted.items if wanted.decl == decl else tuple(map(normal, field_types(fn.type)))
    of_field = dict(zip(decl.fields, items, strict=True))
    places = [*decl.fields, *(None for _ in node.args)]
    args = [expecting(el, a, of_field.get(name) if name is not None else None) for name, a in zip(places, node.args, strict=False)]
    keywords = {name: expecting(el, a, of_field.get(name)) for name, a in node.keywords}
    found = construct(el, fn.type, args, keywords, node.span)
    if el.session.recorder is not None:
        el.session.recorder.saw(el, node, found)
    return found
