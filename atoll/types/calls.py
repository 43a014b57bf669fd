"""Applications: of built-ins, types, local functions and other Atoll functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from atoll.core import ir
from atoll.errors import Error, Span
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.declare import size_symbol
from atoll.surface import syntax as s
from atoll.surface.names import Liveness, free_names
from atoll.types import entities as en
from atoll.types import flexible, function_values
from atoll.types.annotations import type_expr, type_of_object
from atoll.types.coerce import coerce
from atoll.types.dtypes import I64
from atoll.types.elaborator import Elaborator, describe
from atoll.types.entities import Value
from atoll.types.lifting import lift
from atoll.types.records import record_of
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
    rank,
    shape_of,
    sizes_in,
    strong,
    subst_sizes,
    subst_types,
    type_vars,
)

_METHODS = ["sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax", "conj", "copy", "sort", "cumsum", "cumprod", "clip", "round", "transpose", "dot"]


@dataclass(frozen=True, slots=True)
class Args:
    """The arguments of a built-in, with errors that name it."""

    el: Elaborator
    name: str
    span: Span
    args: tuple[Any, ...]
    keywords: dict[str, Any]

    def take(self, *params: str, optional: tuple[str, ...] = ()) -> list[Any]:
        """Arguments by parameter name, positional first; missing optional ones are None."""
        everything = (*params, *optional)
        if len(self.args) > len(everything):
            self.el.fail("E0235", self.span, name=self.name, expected=_count(params, optional), found=len(self.args))
        given = dict(zip(everything, self.args, strict=False))
        for name, value in self.keywords.items():
            if name not in everything or name in given:
                self.el.fail("E0236", self.span, name=self.name, keyword=name)
            given[name] = value
        missing = [p for p in params if p not in given]
        if missing:
            self.el.fail("E0237", self.span, name=self.name, missing=missing[0])
        return [given.get(p) for p in everything]

    def array(self, entity: Any, which: str = "") -> Value:
        """An argument that must be an array."""
        value = self.value(entity)
        if not isinstance(value.type, Array):
            self.el.fail("E0238", self.span, name=self.name, found=self.el.show(value.type))
        return self.el.bind(value)

    def value(self, entity: Any) -> Value:
        from atoll.types.expressions import as_value

        return as_value(self.el, entity, s.NoneValue(span=self.span))

    def poly(self, entity: Any, what: str) -> Poly:
        return self.el.as_poly(entity, self.span, what)


def _count(params: tuple[str, ...], optional: tuple[str, ...]) -> str:
    low, high = len(params), len(params) + len(optional)
    return str(low) if low == high else f"{low} to {high}"


def call(el: Elaborator, node: s.Call) -> Any:
    """fn(args)"""
    from atoll.types.expressions import expr

    if isinstance(node.fn, s.Attr):
        base = expr(el, node.fn.value)
        if isinstance(base, Value):
            return _method(el, base, node)
    fn = expr(el, node.fn)
    declared = {p.name: p.type for p in fn.fn.signature.params} if isinstance(fn, en.FnRef) and not fn.fn.signature.sizes else {}
    args = [_argument(el, a, t) for a, t in zip(node.args, (*declared.values(), *(None for _ in node.args)), strict=False)]
    keywords = {name: _argument(el, value, declared.get(name)) for name, value in node.keywords}
    return apply(el, fn, args, node.span, keywords, node)


def _argument(el: Elaborator, node: s.Expr, declared: Type | None) -> Any:
    """An argument; a union it is passed as tells functions in it what they take. Functions themselves stay known."""
    from atoll.types.expected import expecting
    from atoll.types.expressions import expr

    return expecting(el, node, declared) if isinstance(declared, Union) else expr(el, node)


def _method(el: Elaborator, base: Value, node: s.Call) -> Any:
    from atoll.types.expressions import expr

    assert isinstance(node.fn, s.Attr)
    name = node.fn.name
    args = [expr(el, a) for a in node.args]
    keywords = {key: expr(el, value) for key, value in node.keywords}
    if name == "astype" and len(args) == 1 and isinstance(args[0], en.TypeRef):
        return apply(el, args[0], [base], node.span)
    if name in _METHODS:
        return apply(el, en.Builtin(name), [base, *args], node.span, keywords, node)
    if isinstance(base.type, (Record, Union)):
        from atoll.types.indexing import attribute

        return apply(el, attribute(el, base, name, node.fn.span), args, node.span, keywords)
    el.fail("E0230", node.span, name=name, found=el.show(base.type))


def apply(
    el: Elaborator, fn: Any, args: Sequence[Any], span: Span, keywords: dict[str, Any] | None = None, node: s.Call | None = None
) -> Any:
    """Apply any entity that is a function. `node` is the application in the text, when that is what it is."""
    keywords = keywords or {}
    if isinstance(fn, en.Builtin):
        from atoll.types.builtins.table import apply_builtin

        if fn.name in flexible.WATCHED:
            return flexible.apply_watched(Args(el, fn.name, span, tuple(args), keywords), node)
        return apply_builtin(Args(el, fn.name, span, tuple(args), keywords))
    if isinstance(fn, en.TypeRef):
        return _construct(el, fn.type, args, keywords, span)
    if isinstance(fn, en.Closure):
        return _call_closure(el, fn, list(args), keywords, span, node)
    if isinstance(fn, en.FnRef):
        return _call_fn(el, fn, list(args), keywords, span, node)
    if isinstance(fn, en.Derived):
        from atoll.types.builtins.derive import apply_derived

        return apply_derived(el, fn, args, keywords, span)
    if isinstance(fn, en.Lifted):
        return flexible.apply_lifted(el, fn, args, span)
    if isinstance(fn, en.Choice):
        return function_values.apply_choice(el, fn, args, keywords, span)
    if isinstance(fn, en.Pick):
        return function_values.apply_pick(el, fn, args, keywords, span)
    if function_values.is_value(fn):
        if keywords:
            el.fail("E0236", span, name="the function", keyword=next(iter(keywords)))
        return function_values.apply_value(el, fn, args, span)
    el.fail("E0239", span, found=el.show(fn.type) if isinstance(fn, Value) else describe(fn))


def is_function(entity: Any) -> bool:
    return function_values.is_known(entity) or function_values.is_value(entity)


# -- types as functions


def _construct(el: Elaborator, t: Any, args: Sequence[Any], keywords: dict[str, Any], span: Span) -> Value:
    """f32(x), c128(re, im), P(x=1.0)"""
    from atoll.types.arithmetic import cast_call, nary_math

    if isinstance(t, Scalar):
        a = Args(el, t.dtype.name, span, tuple(args), keywords)
        if t.dtype.is_complex and len(args) == 2:
            parts = [cast_call(el, t.dtype.part(), a.value(x), span) for x in args]
            return nary_math(el, "complex", list(parts), span, t.dtype.name)
        (x,) = a.take("x")
        return cast_call(el, t.dtype, a.value(x), span)
    if record_of(t) is not None:
        return _make_record(el, t, args, keywords, span)
    el.fail("E0220", span, text=span.text())


def _make_record(el: Elaborator, cls: Any, args: Sequence[Any], keywords: dict[str, Any], span: Span) -> Value:
    from atoll.types.data import construct

    return construct(el, cls, args, keywords, span)


# -- local functions


def make_closure(
    el: Elaborator, name: str, params: tuple[s.Param, ...], body: Any, span: Span, result: s.Expr | None = None
) -> en.Closure:
    captured = {}
    for free in free_names(params, body):
        found = el.scope.lookup(free)
        if found is not None:
            captured[free] = found
    return en.Closure(name, params, body, el.scope, captured, span, result)


def _call_closure(
    el: Elaborator, fn: en.Closure, args: list[Any], keywords: dict[str, Any], span: Span, node: s.Call | None = None
) -> Any:
    _check_captures(el, fn, span)
    if el.calling.count(f"{id(fn)}") >= 1:
        el.fail("E0120", span, name=fn.name)
    name = "the lambda" if fn.name == "<lambda>" else fn.name
    given = _match_params(el, name, [(p.name, p.default is not None) for p in fn.params], args, keywords, span)
    scope = en.Scope(None, dict(fn.captured))
    annotations = [None if p.annotation is None else _closure_type(el, p.annotation, scope) for p in fn.params]
    values: list[Any] = []
    for p, entity in zip(fn.params, given, strict=True):
        if entity is None:
            assert p.default is not None
            entity = _in_scope(el, scope, lambda p=p: _expr(el, p.default))
        if isinstance(entity, (en.Iterable, en.Generator)):
            entity = _as_value(el, entity, span)
        values.append(entity)
    if function_values.calls_itself(fn):
        return function_values.call_local(el, fn, values, scope, span)
    ranks = [None if t is None else rank(t) for t in annotations]
    if None in ranks:
        found = flexible.wanted_ranks(el, fn, values, node)
        ranks = [found[k] if r is None else r for k, r in enumerate(ranks)]

    def run(xs: list[Any]) -> Any:
        inner = scope.child()
        for p, t, x in zip(fn.params, annotations, xs, strict=True):
            if t is not None:
                x = coerce(el, _as_value(el, x, span), t, span, f"argument {p.name} of {name}")
            inner.names[p.name] = el.bind(x, p.name) if isinstance(x, Value) else x
        return _in_scope(el, inner, lambda: _closure_body(el, fn, span))

    saved = el.calling
    el.calling = (*saved, f"{id(fn)}")
    try:
        return flexible.lifted(el, node, given, values, ranks, run, span, name)
    finally:
        el.calling = saved


def closure_annotations(el: Elaborator, fn: en.Closure) -> list[Type | None]:
    """The declared types of a local function's parameters."""
    scope = en.Scope(None, dict(fn.captured))
    return [None if p.annotation is None else _closure_type(el, p.annotation, scope) for p in fn.params]


def _closure_body(el: Elaborator, fn: en.Closure, span: Span) -> Any:
    from atoll.types.statements import body

    if not isinstance(fn.body, tuple):
        return _expr(el, fn.body)
    result = body(el, fn.body, Liveness(fn.body))
    if result is None:
        el.fail("E0121", fn.span, name=fn.name)
    if fn.result is not None and isinstance(result, Value):
        t = _closure_type(el, fn.result, el.scope)
        result = coerce(el, result, t, span, f"the result of {fn.name}")
    return result


def _in_scope(el: Elaborator, scope: en.Scope, f: Any) -> Any:
    saved = el.scope, el.hidden, el.returns
    el.scope, el.hidden, el.returns = scope, None, None
    try:
        return f()
    finally:
        el.scope, el.hidden, el.returns = saved


def _expr(el: Elaborator, node: Any) -> Any:
    from atoll.types.expressions import expr

    return expr(el, node)


def _as_value(el: Elaborator, entity: Any, span: Span) -> Value:
    from atoll.types.expressions import as_value

    return as_value(el, entity, s.NoneValue(span=span))


def _check_captures(el: Elaborator, fn: en.Closure, span: Span) -> None:
    """A captured name must still mean what it meant at the `def`."""
    scope: en.Scope | None = el.scope
    while scope is not None and scope.parent is not fn.scope.parent:
        scope = scope.parent
    if scope is None:
        return
    for name, then in fn.captured.items():
        now = scope.names.get(name)
        if now is not None and now is not then and now is not fn:
            el.fail("E0122", span, name=fn.name, captured=name)


def _match_params(
    el: Elaborator, name: str, params: list[tuple[str, bool]], args: list[Any], keywords: dict[str, Any], span: Span
) -> list[Any]:
    """Arguments in parameter order; None where a default applies."""
    if len(args) > len(params):
        el.fail("E0235", span, name=name, expected=len(params), found=len(args))
    given: dict[str, Any] = {p: a for (p, _), a in zip(params, args, strict=False)}
    for key, value in keywords.items():
        if key not in (p for p, _ in params) or key in given:
            el.fail("E0236", span, name=name, keyword=key)
        given[key] = value
    for p, has_default in params:
        if p not in given and not has_default:
            el.fail("E0237", span, name=name, missing=p)
    return [given.get(p) for p, _ in params]


def local_type(el: Elaborator, node: s.Expr) -> Type:
    """An annotation inside a body: local integers can be sizes, and a size nobody has bound yet is a new unknown."""
    return _closure_type(el, node, el.scope)


def _closure_type(el: Elaborator, node: s.Expr, scope: en.Scope) -> Type:
    from atoll.types.namespace import _MISSING
    from atoll.types.signature import type_name

    fresh: dict[str, Poly] = {}

    def look(name: str, span: Span) -> Any:
        if name == "_":
            return el.fresh_size("_")
        entity = scope.lookup(name)
        if isinstance(entity, Value) and entity.poly is not None:
            return entity.poly
        if isinstance(entity, en.TypeRef):
            return entity.type
        value = el.namespace.python_value(name)
        if isinstance(value, Poly):
            known = value.subst(el.globals_to_local)
            missing = [leaf for leaf in value.leaves() if leaf not in el.globals_to_local]
            env = {leaf: fresh.setdefault(repr(leaf), el.solver.fresh(repr(leaf), el.level)) for leaf in missing}
            return known.subst(env)
        if value is not _MISSING:
            return value
        for leaf, here in el.globals_to_local.items():  # a size of the function around, which Python did not capture for an annotation
            if repr(leaf) == name:
                return here
        found = type_name(name)
        if found is not None:
            return found
        el.fail("E0119", span, name=name)

    t = type_expr(node, look, el.name)
    declared = {leaf for size in sizes_in(t) for leaf in size.leaves() if isinstance(leaf, Sym) and size_symbol(leaf.name) is leaf}
    here: dict[Atom, Poly] = {leaf: el.globals_to_local[leaf] if leaf in el.globals_to_local else el.solver.fresh(leaf.name, el.level) for leaf in declared}
    return subst_types(subst_sizes(t, here), el.type_env)


# -- other Atoll functions


def _call_fn(
    el: Elaborator, ref: en.FnRef, args: list[Any], keywords: dict[str, Any], span: Span, node: s.Call | None = None
) -> Any:
    fn = ref.fn
    signature = fn.signature
    given = _match_params(el, fn.name, [(p.name, p.default is not None) for p in signature.params], args, keywords, span)
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
        return flexible.lifted(el, node, given, values, ranks, lambda xs: _inline_fn(el, fn, xs, span), span, fn.name)

    def run(xs: list[Any]) -> Any:
        try:
            return _call_instance(el, fn, xs, span)
        except Error as error:
            if error.code != "E0244" or fn.returns_function or function_values.reaches_itself(fn):
                raise
        fn.returns_function = True  # its result is a function, so it is expanded here
        return _inline_fn(el, fn, xs, span)

    return flexible.lifted(el, node, given, values, ranks, run, span, fn.name)


def _default(el: Elaborator, fn: Any, p: Any) -> Any:
    saved = el.namespace
    el.namespace = fn.namespace
    try:
        return _in_scope(el, en.Scope(), lambda: _expr(el, p.default))
    finally:
        el.namespace = saved


def _call_instance(el: Elaborator, fn: Any, xs: list[Value], span: Span) -> Value:
    types = match_type_vars(el, fn, xs, span)
    instance = el.session.instance(fn, types, el, span)
    env: dict[Atom, Poly] = {sym: el.fresh_size(f"{fn.name}.{sym.name}") for sym in instance.sizes}
    args = []
    for (sym, t), p, x in zip(instance.params, fn.signature.params, xs, strict=True):
        what = f"argument {p.name} of {fn.name}"
        x = coerce(el, x, subst_sizes(t, env), span, what)
        if sym in el.session.size_params(instance):
            env[sym] = el.as_poly(x, span)
        args.append(el.bind(x) if isinstance(t, (Array, Tuple, Record)) else x)
    require_sizes(el, [env[sym] for sym in instance.sizes], fn.name, span)
    for need in instance.requires:
        p2 = el.solver.resolve(need.poly.subst(env))
        el.require(p2, f"{span.text() or fn.name}: {need.text} in {fn.name}", span)
    opened: dict[Atom, Poly] = {sym: poly(Sym(sym.name)) for sym in instance.open_sizes}
    result = subst_sizes(instance.result, {**env, **opened})
    expr = ir.Call(instance, tuple(env[sym] for sym in instance.sizes), tuple(a.expr for a in args), type=result, span=span)
    if not opened:
        return Value(expr, result)
    _label_opened(el, result, span)
    return open_value(el, expr, result, [own for p in opened.values() if isinstance(own := p.single(), Sym)], span)


def require_sizes(el: Elaborator, sizes: Iterable[Poly], name: str, span: Span) -> None:
    """The sizes a function is called with are not negative, which its body takes for granted."""
    for size in sizes:
        size = el.solver.resolve(size)
        if size not in el.facts.known:
            el.require(size, span.text() or name, span)


def _label_opened(el: Elaborator, t: Type, span: Span) -> None:
    """Sizes a call decides are called after the call: len(f(x)), f(x)[0].shape[1]."""
    for path, leaf_type in flatten(t):
        text = span.text() + "".join(f"[{k}]" for k in path)
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
            from atoll.types.data import match_types

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


def _inline_fn(el: Elaborator, fn: Any, xs: list[Any], span: Span) -> Any:
    """A call of a second-order function: its body is elaborated here with the function arguments known."""
    marker = f"{id(fn)}"
    if el.calling.count(marker) >= 1:
        el.fail("E0120", span, name=fn.name)
    types = match_type_vars(el, fn, xs, span)
    env: dict[Atom, Poly] = {sym: el.fresh_size(f"{fn.name}.{sym.name}") for sym in fn.signature.sizes}
    scope = en.Scope(en.Scope())  # around it nothing, and not the nothing around another call
    for p, x in zip(fn.signature.params, xs, strict=True):
        if isinstance(x, Value):
            wanted = subst_sizes(subst_types(p.type, types), env)
            x = el.bind(coerce(el, x, wanted, span, f"argument {p.name} of {fn.name}"), p.name)
            if x.poly is not None:
                env[size_symbol(p.name)] = x.poly
        elif isinstance(p.type, Fn):
            x = flexible.declared(x, tuple(subst_types(t, types) for t in p.type.params))
        scope.names[p.name] = x
    saved = (el.namespace, el.globals_to_local, el.calling, el.type_env, el.definition)
    el.namespace, el.globals_to_local, el.calling, el.type_env = fn.namespace, env, (*el.calling, marker), types
    el.definition = fn
    try:
        from atoll.types.statements import body

        result = _in_scope(el, scope, lambda: body(el, fn.surface.body, fn.liveness))
        if result is None:
            el.fail("E0121", fn.surface.span, name=fn.name)
        if fn.signature.result is not None and isinstance(result, Value):
            wanted = subst_sizes(subst_types(fn.signature.result, types), env)
            if not type_vars(wanted):
                result = coerce(el, result, wanted, span, f"the result of {fn.name}")
        elif isinstance(fn.signature.result, Fn) and isinstance(result, en.Closure) and not function_values.calls_itself(result):
            result = dataclasses.replace(result, type=subst_sizes(subst_types(fn.signature.result, types), env))
        return result
    finally:
        el.namespace, el.globals_to_local, el.calling, el.type_env, el.definition = saved


# -- text and match


def text_parts(text: en.TextValue) -> tuple[str | tuple[ir.Expr, str], ...]:
    return tuple(p if isinstance(p, str) else (p[0].expr, p[1]) for p in text.parts)


__all__ = ["Args", "apply", "call", "is_function", "make_closure", "type_of_object"]
