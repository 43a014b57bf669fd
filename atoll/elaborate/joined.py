"""A name that is a function on every path, another one on each: which it is, is a number that is joined like any other value.

The functions stay known, so they need no type. One that uses what only its own branch computes cannot be called after the branch; it becomes a
closure there, if its type is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.elaborate.function_values import as_function, is_known, is_value
from atoll.errors import Span
from atoll.types.dtypes import I64
from atoll.types.types import Fn, Scalar, type_vars

_NUMBER = Scalar(I64)


def join_functions(el: Elaborator, found: Sequence[Any], codes: Sequence[list[ir.Stmt]], span: Span) -> tuple[list[Value], tuple[Any, ...]] | None:
    """What each branch hands on, and the functions its number chooses from (none when closures are handed on); None if they are no functions.

    Called after the branches, with the scope around them; `codes` are their statements, which may grow."""
    if not all(is_known(f) or is_value(f) for f in found) or all(is_value(f) for f in found):
        return None
    options = [_options(f) for f in found]
    if all(items is not None and all(_outlives(el, item) for item in items) for items in options):
        values: list[Value] = []
        functions: list[Any] = []
        for f, items, code in zip(found, options, codes, strict=True):
            assert items is not None
            el.frames.append(code)
            values.append(_number(f, len(functions), span))
            el.frames.pop()
            functions += items
        return values, tuple(functions)
    closures = []
    wanted = next((t for f in found if (t := _known_type(f)) is not None), None)
    for f, code in zip(found, codes, strict=True):
        el.frames.append(code)
        closures.append(el.bind(as_function(el, f, wanted, span)))
        el.frames.pop()
    return closures, ()


def chosen(el: Elaborator, value: Value, functions: tuple[Any, ...], span: Span) -> Any:
    """The joined value as what the name means from here on."""
    return en.Pick(value, functions, span, joined=True) if functions else value


def _options(entity: Any) -> tuple[Any, ...] | None:
    """The functions it can be."""
    match entity:
        case en.Pick():
            return entity.items if entity.joined else None
        case en.Choice():
            return entity.then, entity.orelse
    return None if is_value(entity) else (entity,)


def _known_type(entity: Any) -> Fn | None:
    """The type of a function where it is known: a value's, a declared one's, that of one of several."""
    match entity:
        case Value(type=Fn() as own) | en.Declared(type=own):
            return None if type_vars(own) else own
        case en.Pick(items=items):
            return next((t for x in items if (t := _known_type(x)) is not None), None)
        case en.Choice(then=then, orelse=orelse):
            return _known_type(then) or _known_type(orelse)
    return None


def _number(entity: Any, offset: int, span: Span) -> Value:
    """Which of them it is, counted from `offset`."""

    def literal(k: int) -> ir.Expr:
        return ir.Lit(k, type=_NUMBER, span=span)

    match entity:
        case en.Pick():
            return Value(ir.Prim("add", (entity.index.expr, literal(offset)), type=_NUMBER, span=span), _NUMBER)
        case en.Choice():
            return Value(ir.If(entity.test.expr, literal(offset), literal(offset + 1), type=_NUMBER, span=span), _NUMBER)
    return Value(literal(offset), _NUMBER)


def _outlives(el: Elaborator, entity: Any) -> bool:
    """Whether a function uses nothing that was computed in a branch: what it captured is what the scope around has."""
    if any(entity is before for before in el.scope.names.values()):
        return True
    match entity:
        case en.Closure():
            if entity.home is not el.home or entity.defaults:
                return False
            return all(_same(el, name, then) for name, then in entity.captured.items())
        case en.Declared():
            return _outlives(el, entity.fn)
        case en.Builtin() | en.FnRef() | en.TypeRef():
            return True
    return False


def _same(el: Elaborator, name: str, then: Any) -> bool:
    return el.scope.lookup(name) is then or (not isinstance(then, Value) and is_known(then) and _outlives(el, then))
