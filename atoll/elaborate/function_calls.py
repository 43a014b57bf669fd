"""Calls of other Atoll functions: an instance for its types, its sizes as unknowns, its preconditions as ours.

A second-order function is expanded where it is called, with its function arguments known.
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Iterable
from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate import flexible, function_values, shared_memory
from atoll.elaborate.calls import _as_value, _expr, is_function
from atoll.elaborate.captures import MISSING
from atoll.elaborate.coerce import coerce
from atoll.elaborate.declared import hold, loose_sizes
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.expansion import check_value, expanding
from atoll.elaborate.lifting import lift
from atoll.elaborate.namespace import entity_of
from atoll.elaborate.parameters import assign, places
from atoll.elaborate.storage import loaded
from atoll.errors import Error, Span
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.declare import size_symbol
from atoll.surface import syntax as s
from atoll.types.dtypes import I64
from atoll.types.types import (
    Array,
    Fn,
    Index,
    Record,
    Scalar,
    Tuple,
    Type,
    Union,
    Var,
    flatten,
    part_text,
    rank,
    shape_of,
    strong,
    subst_sizes,
    subst_types,
    type_vars,
)


def call_fn(
    el: Elaborator, ref: en.FnRef, args: list[Any], keywords: dict[str, Any], span: Span, node: s.Call | None = None
) -> Any:
    fn = ref.fn
    signature = fn.signature
    given = assign(el, fn.name, places(signature.params), args, keywords, span, written=node is not None)
    shared_memory.passed(el, fn.name, fn.surface.params, fn.surface.body, node)
    values: list[Any] = []
    for p, entity in zip(signature.params, given, strict=True):
        if entity is None:
            entity = _default(el, fn, p)
        if isinstance(entity, (en.Iterable, en.Generator)):
            entity = _as_value(el, entity, span)
        if isinstance(shape_of(p.type)[1], Fn):
            if not is_function(entity) and not isinstance(entity, en.FnArray) and not isinstance(p.type, Array):
                el.fail("E0240", span, name=p.name, fn=fn.name, found=describe(entity))
        else:
            entity = _as_value(el, entity, span)
        values.append(entity)
    ranks = [None if type_vars(p.type) or isinstance(p.type, Fn) else rank(p.type) for p in signature.params]
    if signature.type_vars:
        ranks = flexible.generic_ranks(el, fn)
    second_order = any(isinstance(shape_of(p.type)[1], Fn) for p in signature.params)
    if second_order and function_values.reaches_itself(fn):
        return lift(el, values, ranks, lambda xs: function_values.call_recursive(el, fn, xs, span), span, fn.name)
    if second_order and node is not None:
        flexible.check_functions(el, fn, values, span)
    if (second_order or fn.returns_function) and not function_values.reaches_itself(fn):
        return flexible.lifted(el, node, given, values, ranks, lambda xs: inline_fn(el, fn, xs, span), span, fn.name)

    def run(xs: list[Any]) -> Any:
        try:
            return call_instance(el, fn, xs, span)
        except Error as error:
            if error.code != "E0244" or fn.returns_function or function_values.reaches_itself(fn):
                raise
        fn.returns_function = True  # its result is a function, so it is expanded here
        return inline_fn(el, fn, xs, span)

    return flexible.lifted(el, node, given, values, ranks, run, span, fn.name)


def _default(el: Elaborator, fn: Any, p: Any) -> Any:
    """A default is what Python computed at the `def`; a function, or that of a text that never ran, is read from the text."""
    value = fn.namespace.defaults.get(p.name, MISSING)
    if value is not MISSING and not isinstance(value, pytypes.FunctionType):
        return entity_of(el, value, p.name, p.default.span)
    with el.inside(en.Home(fn.namespace, {}, {}, fn), en.Scope()):
        return _expr(el, p.default)


def call_instance(el: Elaborator, fn: Any, xs: list[Value], span: Span, called: str = "") -> Value:
    """The call; errors speak of `called` where the function has another name for the user."""
    named = called or fn.name
    types = match_type_vars(el, fn, xs, span)
    instance = el.session.instance(fn, types, el, span)
    env: dict[Atom, Poly] = {sym: el.fresh_size(f"{fn.name}.{sym.name}") for sym in instance.sizes}
    args = []
    as_sizes = el.session.size_params(instance)
    for (sym, t), p, x in zip(instance.params, fn.signature.params, xs, strict=True):
        what = f"argument {p.name} of {named}" if not called else f"the arguments of {named}"
        x = coerce(el, x, subst_sizes(t, env), span, what)
        check_value(el, x, span)
        if sym in as_sizes:
            env[sym] = el.as_poly(x, span)
        args.append(el.bind(x) if isinstance(t, (Array, Tuple, Record)) else x)
    require_sizes(el, [env[sym] for sym in instance.sizes], named, span)
    for need in instance.requires:
        p2 = el.solver.resolve(need.poly.subst(env))
        el.require(p2, f"{span.text() or named}: {need.text} in {named}" if not called else span.text() or named, span)
    opened: dict[Atom, Poly] = {sym: poly(Sym(sym.name)) for sym in instance.open_sizes}
    result = subst_sizes(instance.result, {**env, **opened})
    expr = ir.Call(instance, tuple(env[sym] for sym in instance.sizes), tuple(a.expr for a in args), type=result, span=span)
    if not opened:
        return loaded(el, Value(expr, result), span)
    _label_opened(el, result, span)
    return loaded(el, open_value(el, expr, result, [own for p in opened.values() if isinstance(own := p.single(), Sym)], span), span)


def require_sizes(el: Elaborator, sizes: Iterable[Poly], name: str, span: Span) -> None:
    """The sizes a function is called with are not negative, which its body takes for granted."""
    for size in sizes:
        size = el.solver.resolve(size)
        if size not in el.facts.known:
            el.require(size, span.text() or name, span)


def _label_opened(el: Elaborator, t: Type, span: Span) -> None:
    """Sizes a call decides are called after the call: len(f(x)), f(x)[0].shape[1]."""
    for path, leaf_type in flatten(t):
        text = span.text() + part_text(t, path)
        for axis, size in enumerate(shape_of(leaf_type)[0]):
            sym = size.single()
            if sym is not None and sym not in el.labels and sym not in el.entry_sizes and span.text():
                el.labels[sym] = f"len({text})" if axis == 0 else f"{text}.shape[{axis}]"
                el.origins[sym] = span


def open_value(el: Elaborator, expr: ir.Expr, t: Type, syms: list[Sym], span: Span) -> Value:
    """Bind a value whose type has sizes only the value knows."""
    name = Sym("opened")
    el.emit(ir.Open(tuple(syms), name, expr))
    for sym in syms:
        el.solver.rigid[sym] = el.level
        el.session.bounded.add(sym)
        el.assume(poly(sym))
    return Value(ir.Var(name, type=t, span=span), t)


def match_type_vars(el: Elaborator, fn: Any, xs: list[Value], span: Span) -> dict[str, Type]:
    """What each type variable of a generic function stands for at this call."""
    found: dict[str, Type] = {}

    def go(declared: Type, given: Type, p: Any) -> None:
        if isinstance(declared, Var):
            given = strong(given)
            if isinstance(given, Index):
                given = Scalar(I64)
            known = found.setdefault(declared.name, given)
            if known != given and not _same_but_sizes(known, given):
                el.fail("E0241", span, name=declared.name, fn=fn.name, first=el.show(known), second=el.show(given))
        elif isinstance(declared, (Union, Fn)):
            from atoll.elaborate.data import match_types

            part: dict[str, Type] = {}
            match_types(el, declared, given, part, {}, span)
            for name, t in part.items():
                go(Var(name), t, p)
        elif isinstance(declared, Array) and isinstance(given, Array):
            go(declared.elem, given.elem, p)
        elif isinstance(declared, (Tuple, Record)) and isinstance(given, (Tuple, Record)):
            if len(declared.items) == len(given.items):
                for a, b in zip(declared.items, given.items, strict=True):
                    go(a, b, p)
        elif type_vars(declared):
            el.fail("E0201", span, what=f"argument {p.name} of {fn.name}", expected=repr(declared), found=el.show(given))

    for p, x in zip(fn.signature.params, xs, strict=True):
        if isinstance(x, Value):
            go(p.type, x.type, p)
    for name in fn.signature.type_vars:
        if name not in found and not any(function_values.is_known(x) for x in xs):
            el.fail("E1109", span, name=name, union=fn.name)
    return found


def _same_but_sizes(a: Type, b: Type) -> bool:
    return rank(a) == rank(b) and shape_of(a)[1] == shape_of(b)[1]


def inline_fn(el: Elaborator, fn: Any, xs: list[Any], span: Span) -> Any:
    """A call of a second-order function: its body is elaborated here with the function arguments known."""
    types = match_type_vars(el, fn, xs, span)
    env: dict[Atom, Poly] = {sym: el.fresh_size(f"{fn.name}.{sym.name}") for sym in fn.signature.sizes}
    loose = loose_sizes(fn.signature, env)
    scope = en.Scope(frame=en.Frame(fn.local_names, fn.surface.span))
    for p, x in zip(fn.signature.params, xs, strict=True):
        if isinstance(x, Value):
            wanted = subst_sizes(subst_types(p.type, types), env)
            x = el.bind(coerce(el, x, wanted, span, f"argument {p.name} of {fn.name}"), p.name)
            if x.poly is not None:
                env[size_symbol(p.name)] = x.poly
        else:
            x = hold(flexible.declared(x, subst_types(p.type, types)), subst_sizes(p.type, env), span, f"argument {p.name} of {fn.name}", loose)
        scope.names[p.name] = x
    from atoll.elaborate.statements import body

    with expanding(el, fn, fn.name, xs, span), el.inside(en.Home(fn.namespace, env, types, fn), scope):
        result = body(el, fn.surface.body, fn.liveness)
    if result is None:
        el.fail("E0121", fn.surface.span, name=fn.name)
    if fn.signature.result is not None and isinstance(result, Value):
        wanted = subst_sizes(subst_types(fn.signature.result, types), env)
        if not type_vars(wanted):
            result = coerce(el, result, wanted, span, f"the result of {fn.name}")
    elif fn.signature.result is not None:
        result = hold(result, subst_sizes(subst_types(fn.signature.result, types), env), span, f"the result of {fn.name}", loose)
    return result
