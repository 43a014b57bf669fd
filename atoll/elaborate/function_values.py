"""Functions as values: chosen, indexed, stored, returned, passed to recursive functions; and local functions that call themselves.

A function known at compile time is expanded where it is called and needs no type. `f if c else g` and `fs[i]` over a display of functions
stay known too: applying one tests the condition and expands each (a tagged dispatch), so array code keeps no function. Only where
the place it goes to exists at run time (a field, an element, a parameter of a recursive function, an annotated name) does a
function become a closure, by eta-expansion at that type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import binary
from atoll.elaborate.coerce import coerce
from atoll.elaborate.decay import plain_type
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.expansion import check_value
from atoll.elaborate.lifting import lift
from atoll.elaborate.namespace import is_module, stands_for
from atoll.elaborate.parameters import arguments
from atoll.errors import Span
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.surface import syntax as s
from atoll.surface.names import free_names
from atoll.types.dtypes import I64
from atoll.types.objects import is_function
from atoll.types.types import I64_T, Array, Fn, Index, Scalar, Type, rank, strong, subst_sizes, subst_types, type_vars


def is_known(entity: Any) -> bool:
    """A function whose text is known here."""
    return isinstance(entity, (en.Builtin, en.TypeRef, en.Closure, en.FnRef, en.Choice, en.Pick, en.Lifted, en.Derived, en.Declared))


def is_value(entity: Any) -> bool:
    """A function that exists at run time."""
    return isinstance(entity, Value) and isinstance(entity.type, Fn)


# -- applying


def apply_choice(el: Elaborator, fn: en.Choice, args: Sequence[Any], keywords: dict[str, Any], span: Span) -> Any:
    from atoll.elaborate.calls import apply
    from atoll.elaborate.expressions import choose

    given = [el.bind(a) if isinstance(a, Value) else a for a in args]
    at = s.NoneValue(span=span)
    return choose(el, fn.test, lambda: apply(el, fn.then, given, span, keywords), lambda: apply(el, fn.orelse, given, span, keywords), at)


def apply_pick(el: Elaborator, fn: en.Pick, args: Sequence[Any], keywords: dict[str, Any], span: Span) -> Any:
    """The functions one after the other; the index is checked like any other."""
    from atoll.elaborate.indexing import element_at

    count = len(fn.items)
    if fn.joined:
        return _dispatch(el, fn, el.bind(fn.index), args, keywords, span)
    numbers = ir.ConstArray(np.arange(count, dtype=np.int64), type=Array(I64_T, poly(count)), span=span)
    index = el.bind(element_at(el, Value(numbers, numbers.type), fn.index, fn.span))
    return _dispatch(el, fn, index, args, keywords, span)


def _dispatch(el: Elaborator, fn: en.Pick, index: Value, args: Sequence[Any], keywords: dict[str, Any], span: Span) -> Any:
    """The function at an index that is in range."""
    from atoll.elaborate.calls import apply
    from atoll.elaborate.expressions import choose

    count = len(fn.items)
    given = [el.bind(a) if isinstance(a, Value) else a for a in args]
    at = s.NoneValue(span=span)

    def go(k: int) -> Any:
        if k == count - 1:
            return apply(el, fn.items[k], given, span, keywords)
        test = binary(el, "==", index, el.size_value(poly(k)), span)
        return choose(el, test, lambda: apply(el, fn.items[k], given, span, keywords), lambda: go(k + 1), at)

    return go(0)


def apply_value(el: Elaborator, fn: Value, args: Sequence[Any], span: Span, name: str = "the function") -> Value:
    """A call of a function that exists at run time."""
    t = fn.type
    assert isinstance(t, Fn)
    if len(args) != len(t.params):
        el.fail("E0235", span, name=name, expected=arguments(len(t.params)), found=len(args))
    fn = el.bind(fn)
    check_value(el, fn, span)
    values = [as_argument(el, a, p, span) for a, p in zip(args, t.params, strict=True)]

    def run(xs: list[Any]) -> Value:
        given = [coerce(el, x, p, span, f"argument {k + 1} of {name}") for k, (x, p) in enumerate(zip(xs, t.params, strict=True))]
        return Value(ir.Apply(fn.expr, tuple(g.expr for g in given), type=t.result, span=span), t.result)

    return lift(el, values, [None if isinstance(p, Fn) else rank(p) for p in t.params], run, span, name)


def as_argument(el: Elaborator, entity: Any, t: Type, span: Span) -> Value:
    from atoll.elaborate.expressions import as_value

    if isinstance(t, Fn):
        return as_function(el, entity, t, span)
    return as_value(el, entity, s.NoneValue(span=span))


# -- becoming a value


def as_function(el: Elaborator, entity: Any, wanted: Fn | None, span: Span) -> Value:
    """A function as a value of this type; of its own type when none is wanted."""
    if is_value(entity):
        return coerce(el, entity, wanted, span, "the function") if wanted is not None else entity
    if not is_known(entity):
        found = el.show(entity.type) if isinstance(entity, Value) else describe(entity)
        el.fail("E0201", span, what="the value", expected=repr(wanted) if wanted is not None else "a function", found=found)
    if wanted is None and isinstance(entity, en.Declared) and not type_vars(entity.type):
        wanted = entity.type
    params = wanted.params if wanted is not None else _parameter_types(el, entity, span)
    return closure(el, entity, params, wanted.result if wanted is not None else None, span)


def _parameter_types(el: Elaborator, entity: Any, span: Span) -> tuple[Type, ...]:
    from atoll.elaborate.calls import closure_annotations

    if isinstance(entity, en.FnRef) and not entity.fn.signature.is_generic and not entity.fn.signature.sizes:
        return tuple(p.type for p in entity.fn.signature.params)
    if isinstance(entity, en.Closure) and all(p.annotation is not None for p in entity.params):
        return tuple(t for t in closure_annotations(el, entity) if t is not None)
    if isinstance(entity, en.Declared):
        return entity.type.params if not any(map(type_vars, entity.type.params)) else _parameter_types(el, entity.fn, span)
    if isinstance(entity, en.Choice):
        return _parameter_types(el, entity.then, span)
    if isinstance(entity, en.Pick):
        return _parameter_types(el, entity.items[0], span)
    el.fail("E1110", span, what=describe(entity))


def closure(el: Elaborator, entity: Any, params: tuple[Type, ...], result: Type | None, span: Span) -> Value:
    """The function eta-expanded at these types."""
    from atoll.elaborate.calls import apply
    from atoll.elaborate.expressions import as_value

    syms = [Sym(n) for n in _parameter_names(entity, len(params))]
    with el.block(), el.hypotheses():
        given = [parameter(el, sym, t) for sym, t in zip(syms, params, strict=True)]
        out = apply(el, entity, given, span)
        value = as_function(el, out, result if isinstance(result, Fn) else None, span) if _is_fn(out) else as_value(el, out, s.NoneValue(span=span))
        value = coerce(el, value, result if result is not None else plain_type(strong(value.type)), span, f"the result of {describe(entity)}")
        body = el.close(value.expr)
    t = Fn(params, plain_type(strong(value.type)) if result is None else result)
    plain = en.undeclared(entity)
    name = getattr(plain, "name", None) or getattr(getattr(plain, "fn", None), "name", None) or "function"
    made = ir.Closure(ir.Lam(tuple(syms), params, body), name, type=t, span=span)
    el.made.append((made, entity))
    return Value(made, t)


def _is_fn(entity: Any) -> bool:
    return is_known(entity) or is_value(entity)


def _parameter_names(entity: Any, count: int) -> list[str]:
    entity = en.undeclared(entity)
    if isinstance(entity, en.Closure):
        return [p.name for p in entity.params][:count]
    if isinstance(entity, en.FnRef):
        return [p.name for p in entity.fn.signature.params][:count]
    return [f"x{k}" for k in range(count)]


def parameter(el: Elaborator, sym: Sym, t: Type) -> Value:
    """The value of a parameter; an integer can be a size."""
    is_int = isinstance(t, Index) or (isinstance(t, Scalar) and t.dtype is I64)
    if is_int:
        el.solver.rigid[sym] = el.level
    if isinstance(t, Index):
        el.assume(poly(sym), t.size - 1 - poly(sym))
    return Value(ir.Var(sym, type=t), t, poly(sym) if is_int else None)


# -- calls of recursive functions that take functions


def call_recursive(el: Elaborator, fn: Any, xs: list[Any], span: Span) -> Value:
    """Functions given to a recursive function are values; their types follow from the other arguments."""
    from atoll.elaborate.data import match_types
    from atoll.elaborate.function_calls import call_instance

    found: dict[str, Type] = {}
    sizes: dict[Atom, Poly] = {}
    params = fn.signature.params
    for p, x in zip(params, xs, strict=True):
        if isinstance(x, Value):
            match_types(el, p.type, x.type, found, sizes, span)
    values: list[Any] = []
    for p, x in zip(params, xs, strict=True):
        if isinstance(p.type, Fn) and not is_value(x):
            known = {n: plain_type(strong(t)) for n, t in found.items()}
            takes = tuple(subst_sizes(subst_types(t, known), sizes) for t in p.type.params)
            gives = subst_sizes(subst_types(p.type.result, known), sizes)
            if any(map(type_vars, takes)):
                takes = _parameter_types(el, x, span)
            x = closure(el, x, takes, None if type_vars(gives) else gives, span)
            match_types(el, p.type, x.type, found, sizes, span)
        values.append(x)
    return call_instance(el, fn, values, span)


def reaches_itself(fn: Any) -> bool:
    """Whether an Atoll function can call itself, by the names in its text and in those it calls."""
    known: bool | None = fn.__dict__.get("_reaches_itself")
    if known is None:
        known = fn.__dict__["_reaches_itself"] = any(fn in _reachable(g) for g in _mentioned(fn))
    return known


def _reachable(fn: Any) -> set[Any]:
    seen = {fn}
    todo = [fn]
    while todo:
        for g in _mentioned(todo.pop()):
            if g not in seen:
                seen.add(g)
                todo.append(g)
    return seen


def _mentioned(fn: Any) -> list[Any]:
    """The Atoll functions a function's text names, plainly or through a module; names of its own are none of them."""
    import dataclasses

    free = free_names(fn.surface.params, fn.surface.body)
    found: dict[int, Any] = {}

    def see(value: Any) -> None:
        value = stands_for(value)
        if is_function(value):
            found[id(value)] = value

    for name in sorted(free):
        see(fn.namespace.python_value(name))
    todo: list[Any] = list(fn.surface.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (tuple, list)):
            todo.extend(node)
        elif isinstance(node, s.Attr) and isinstance(node.value, s.Name) and node.value.id in free:
            module = fn.namespace.python_value(node.value.id)
            if is_module(module):
                see(getattr(module, node.name, None))
        elif dataclasses.is_dataclass(node):
            todo.extend(getattr(node, f.name) for f in dataclasses.fields(node) if f.name != "span")
    return list(found.values())


# -- local functions that call themselves


@dataclass(slots=True)
class Local:
    """A local recursive function that has been given its type: the variable it is, and the statements it is defined among."""

    fn: en.Closure
    value: Value
    frame: list[Any] | None  # None while its own body is elaborated


def calls_itself(fn: en.Closure) -> bool:
    """Whether a local function can call itself, through other local functions too."""
    seen: set[int] = set()
    todo: list[Any] = [fn]
    while todo:
        f = todo.pop()
        for name in free_names(f.params, f.body):
            other = f.captured.get(name)
            if other is fn:
                return True
            if isinstance(other, en.Closure) and id(other) not in seen:
                seen.add(id(other))
                todo.append(other)
    return False


def call_local(el: Elaborator, fn: en.Closure, given: list[Any], span: Span) -> Value:
    """A call of a local recursive function, which is defined where it is first called."""
    from atoll.elaborate.calls import annotated, closure_annotations, closure_scope

    annotations = closure_annotations(el, fn)
    types = [t if t is not None else own_type(el, x, span) for t, x in zip(annotations, given, strict=True)]
    for local in el.locals:
        if local.fn is fn and (local.frame is None or any(local.frame is f for f in el.frames)):
            known = local.value.type
            assert isinstance(known, Fn)
            if any(t is None and repr(a) != repr(b) and not _fits(a, b) for t, a, b in zip(annotations, known.params, types, strict=True)):
                el.fail("E1122", span, name=fn.name, expected=repr(known), found=", ".join(map(repr, types)))
            return apply_value(el, local.value, given, span, fn.name)
    if fn.result is None:
        el.fail("E0123", span, name=fn.name)
    with el.inside(fn.home, closure_scope(fn)):
        result = annotated(el, fn.result)
    return apply_value(el, _define(el, fn, types, result, span), given, span, fn.name)


def _fits(wanted: Type, found: Type) -> bool:
    return isinstance(wanted, Scalar) and isinstance(found, Scalar)


def own_type(el: Elaborator, entity: Any, span: Span) -> Type:
    """The type a parameter without annotation takes from an argument."""
    from atoll.elaborate.data import alone

    if is_known(entity):
        return as_function(el, entity, None, span).type
    t = strong(entity.type)
    return Scalar(t.dtype) if isinstance(t, Index) else alone(el, t, span)


def _define(el: Elaborator, fn: en.Closure, types: list[Type], result: Type, span: Span) -> Value:
    from atoll.elaborate.calls import _closure_body, closure_scope

    sym = Sym(fn.name)
    t = Fn(tuple(types), result)
    value = Value(ir.Var(sym, type=t, span=fn.span), t)
    el.made_of[sym] = fn
    local = Local(fn, value, None)
    el.locals.append(local)
    syms = [Sym(p.name) for p in fn.params]
    with el.block(), el.hypotheses():
        inner = closure_scope(fn)
        for p, s_, pt in zip(fn.params, syms, types, strict=True):
            inner.names[p.name] = parameter(el, s_, pt)
        with el.inside(fn.home, inner):
            el.returns = result
            out = _closure_body(el, fn, span)
        value_out = as_argument(el, out, result, span)
        body = el.close(coerce(el, value_out, result, span, f"the result of {fn.name}").expr)
    made = ir.Closure(ir.Lam(tuple(syms), tuple(types), body), fn.name, type=t, span=fn.span)
    el.emit(ir.Fix(((sym, made),)))
    el.made.append((made, fn))
    local.frame = el.frames[-1]
    return value
