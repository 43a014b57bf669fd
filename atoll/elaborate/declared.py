"""Functions seen through a declared type: a parameter `f: at.Fn[[f64], f64]`, a function that is returned as one.

A function that is known stays known (it is expanded where it is called), but who calls it through the declared name relies on the declared
type: arguments become what it takes, the result becomes what it gives, as for a `def` with annotations. What cannot be converted is
refused: the arguments where the call stands, the result where the function was passed. Parts with type variables are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from atoll.elaborate import entities as en
from atoll.elaborate import flexible
from atoll.elaborate.coerce import coerce
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.function_values import is_known, is_value
from atoll.elaborate.parameters import arguments
from atoll.elaborate.signature import Signature
from atoll.errors import NOWHERE, Span
from atoll.sizes import Atom, Poly, Sym
from atoll.sizes.declare import size_symbol
from atoll.surface import syntax as s
from atoll.types.types import Array, Fn, Tuple, Type, Union, rank, sizes_in, subst_sizes, type_vars


def hold(entity: Any, t: Type, span: Span, what: str, loose: tuple[Sym, ...] = ()) -> Any:
    """Known functions in an entity as a declared type sees them; other parts stay. `what` is the place in the user's words."""

    def part(x: Any, u: Type) -> Any:
        return hold(x, u, span, what, loose)

    match entity:
        case en.TupleEntity(items) if isinstance(t, Tuple) and len(items) == len(t.items):
            return en.TupleEntity(tuple(map(part, items, t.items)))
        case en.FnArray(items) if isinstance(t, Array):
            return en.FnArray(tuple(part(x, t.elem) for x in items))
        case en.Choice() if isinstance(t, Fn):
            return replace(entity, then=part(entity.then, t), orelse=part(entity.orelse, t))
        case en.Pick() if isinstance(t, Fn):
            return replace(entity, items=tuple(part(x, t) for x in entity.items))
    if isinstance(t, Fn) and is_known(entity):
        return en.Declared(entity, t, span, what, loose)
    return entity


def loose_sizes(signature: Signature, env: dict[Atom, Poly]) -> tuple[Sym, ...]:
    """The unknowns of sizes that only types of functions name: nothing says that two calls of such a function agree on them."""
    fixed: set[Atom] = {size_symbol(p.name) for p in signature.params}
    for t in (*(p.type for p in signature.params), *([signature.result] if signature.result is not None else [])):
        fixed |= {leaf for size in _outside_functions(t) for leaf in size.leaves()}
    return tuple(own for sym in signature.sizes if sym not in fixed and isinstance(own := env[sym].single(), Sym))


def _outside_functions(t: Type) -> list[Poly]:
    if isinstance(t, Fn):
        return []
    if isinstance(t, Tuple):
        return [size for item in t.items for size in _outside_functions(item)]
    if isinstance(t, Array):
        return [t.size, *_outside_functions(t.elem)]
    return list(sizes_in(t))


def apply_declared(
    el: Elaborator, fn: en.Declared, args: Sequence[Any], keywords: dict[str, Any], span: Span, node: s.Call | None = None
) -> Any:
    """A call through the declared name."""
    from atoll.elaborate.calls import apply

    name = describe(fn).removeprefix("the function ")
    if keywords:
        el.fail("E0236", span, name=name, keyword=next(iter(keywords)))
    own: dict[Atom, Poly] = {sym: el.fresh_size(el.labels.get(sym, sym.name)) for sym in fn.loose}
    here = subst_sizes(fn.type, own)
    assert isinstance(here, Fn)
    takes, gives = here.params, here.result
    if len(args) != len(takes):
        el.fail("E0235", span, name=name, expected=arguments(len(takes)), found=len(args))
    values = [_given(el, x, t, span) for x, t in zip(args, takes, strict=True)]
    ranks = [None if type_vars(t) or isinstance(t, Fn) else rank(t) for t in takes]

    def run(xs: list[Any]) -> Any:
        given = [_as(el, x, t, span, f"argument {k + 1} of {name}") for k, (x, t) in enumerate(zip(xs, takes, strict=True))]
        found = apply(el, fn.fn, [el.bind(x) if isinstance(x, Value) else x for x in given], span)
        said = f"the result of {describe(fn.fn)}" + (f" ({fn.what})" if fn.what else "")
        return _as(el, _given(el, found, gives, span), gives, span if fn.span is NOWHERE else fn.span, said)

    return flexible.lifted(el, node, args, values, ranks, run, span, name)


def _given(el: Elaborator, entity: Any, t: Type, span: Span) -> Any:
    """Something iterated over is an array where a value is declared; functions stay known."""
    from atoll.elaborate.expressions import as_value

    if is_known(entity) or isinstance(entity, (Value, en.TupleEntity, en.FnArray)) or isinstance(t, Fn):
        return entity
    return as_value(el, entity, s.NoneValue(span=span))


def _as(el: Elaborator, entity: Any, t: Type, span: Span, what: str) -> Any:
    """The entity as the declared type, if that is known."""
    from atoll.elaborate.expressions import as_value

    if isinstance(entity, en.TupleEntity) and isinstance(t, Tuple) and len(entity.items) == len(t.items):
        return en.TupleEntity(tuple(_as(el, x, u, span, what) for x, u in zip(entity.items, t.items, strict=True)))
    if isinstance(t, Fn) or isinstance(entity, en.FnArray):
        if isinstance(t, Fn) and not is_known(entity) and not is_value(entity):
            found = el.show(entity.type) if isinstance(entity, Value) else describe(entity)
            el.fail("E0201", span, what=what, expected=repr(t), found=found)
        if not isinstance(entity, Value):
            return hold(entity, t, span, what)
    if type_vars(t):
        return entity
    if is_known(entity) and not isinstance(t, Union):
        el.fail("E0201", span, what=what, expected=repr(t), found=describe(entity))
    return coerce(el, as_value(el, entity, s.NoneValue(span=span)), t, span, what)
