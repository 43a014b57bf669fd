"""Applications: of built-ins, types and local functions; of other Atoll functions in function_calls.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atoll.core import ir
from atoll.elaborate import as_given, flexible, function_values, shared_memory
from atoll.elaborate import entities as en
from atoll.elaborate.annotations import type_expr
from atoll.elaborate.arithmetic import cast_call, nary_math
from atoll.elaborate.builtins.names import BUILTINS, meaning
from atoll.elaborate.coerce import coerce
from atoll.elaborate.declared import apply_declared, hold
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.expansion import check_captures, expanding
from atoll.elaborate.namespace import _MISSING
from atoll.elaborate.numpy_names.names import NAMES, STATEMENTS
from atoll.elaborate.parameters import Place, assign, places
from atoll.elaborate.signature import type_name
from atoll.errors import Span
from atoll.sizes import Atom, Poly, Sym
from atoll.sizes.declare import size_symbol
from atoll.surface import syntax as s
from atoll.surface.names import Liveness, binds, changed_array, free_names
from atoll.types.objects import type_of_object
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
    rank,
    shape_of,
    sizes_in,
    strong,
    subst_sizes,
    subst_types,
)

_INSTEAD_OF_METHODS = {
    **dict.fromkeys(("append", "extend", "insert"), "an array has a fixed size; build it at once, [e for i in range(n)], or join parts with concat(a, [x])"),
    **dict.fromkeys(("pop", "remove"), "an array has a fixed size; take a slice such as a[:-1], or filter(p, a)"),
    "reverse": "take it backwards: a = a[::-1]",
    "index": "the first place is argmax(a == v); test v in a before",
    "count": "write np.count_nonzero(a == v)",
}


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
        wanted = [*(Place(p, False) for p in params), *(Place(p, True) for p in optional)]
        return assign(self.el, self.name, wanted, self.args, self.keywords, self.span)

    def array(self, entity: Any, which: str = "") -> Value:
        """An argument that must be an array."""
        value = self.value(entity)
        if not isinstance(value.type, Array):
            self.el.fail("E0238", self.span, name=self.name, found=self.el.show(value.type))
        return self.el.bind(value)

    def value(self, entity: Any) -> Value:
        from atoll.elaborate.expressions import as_value

        return as_value(self.el, entity, s.NoneValue(span=self.span))

    def poly(self, entity: Any, what: str) -> Poly:
        return self.el.as_poly(entity, self.span, what)


def call(el: Elaborator, node: s.Call) -> Any:
    """fn(args)"""
    from atoll.elaborate.expressions import before_the_dot, expr

    base = None
    if isinstance(node.fn, s.Attr):
        base = before_the_dot(el, node.fn)
        if isinstance(base, Value):
            return _method(el, base, node)
    found = _called(el, expr(el, node.fn), node)
    numpys = isinstance(base, en.Module) and getattr(base.module, "__name__", "").partition(".")[0] == "numpy"
    return _of_numpy(found) if numpys else found


def _of_numpy(found: Any) -> Any:
    """What NumPy makes of Python's numbers is NumPy's, no longer something that takes the type of what it meets: np.sqrt(2) is a float64, np.where(b, 200, 100) of int64."""
    if isinstance(found, Value) and _of_literals(found.type):
        return replace(found, type=strong(found.type))
    return found


def _of_literals(t: Type) -> bool:
    if isinstance(t, Tuple):
        return any(map(_of_literals, t.items))
    while isinstance(t, Array):
        t = t.elem
    return isinstance(t, Scalar) and t.weak == 1


def _called(el: Elaborator, fn: Any, node: s.Call) -> Any:
    if isinstance(fn, en.Word):
        return apply(el, fn, [displayed(el, a) for a in node.args], node.span, {k: displayed(el, v) for k, v in node.keywords}, node)
    declared = {p.name: p.type for p in fn.fn.signature.params} if isinstance(fn, en.FnRef) and not fn.fn.signature.sizes else {}
    args = [_argument(el, a, t) for a, t in zip(node.args, (*declared.values(), *(None for _ in node.args)), strict=False)]
    keywords = {name: _argument(el, value, declared.get(name)) for name, value in node.keywords}
    return apply(el, fn, args, node.span, keywords, node)


def in_place(el: Elaborator, node: s.Call) -> bool:
    """A statement that NumPy does in place: np.put(x, i, v), x.sort(). The first argument gets a new value."""
    from atoll.elaborate.indexing import assign

    if not isinstance(node.fn, s.Attr):
        return False
    names = {key.rpartition(".")[2] for key in STATEMENTS} | {"sort", "fill", "partition"}
    if node.fn.name not in names:
        return False
    from atoll.elaborate.expressions import before_the_dot, expr
    from atoll.elaborate.numpy_names.table import METHODS, apply_word, works_in_place

    base = before_the_dot(el, node.fn)
    if isinstance(base, Value) and isinstance(shape_of(base.type)[1], (Scalar, Index)) and node.fn.name in METHODS:
        word, target = en.Word(f".{node.fn.name}", METHODS[node.fn.name]), node.fn.value
        args = [base, *(displayed(el, a) for a in node.args)]
    else:
        found, changed = expr(el, node.fn), changed_array(node.args, node.keywords)
        if not isinstance(found, en.Word) or changed is None:
            return False
        word, target = found, changed
        args = [displayed(el, a) for a in node.args]
    if not works_in_place(word) or not isinstance(target, (s.Name, s.Subscript, s.Attr)):
        return False
    keywords = {key: displayed(el, value) for key, value in node.keywords}
    assign(el, target, apply_word(el, word, tuple(args), keywords, node.span, alone=True), node.span, part=f"{word.name} in")
    return True


def displayed(el: Elaborator, node: s.Expr) -> Any:
    """An argument of one of NumPy's names: a display stays a list until it is known what it is for."""
    from atoll.elaborate.expressions import expr

    if isinstance(node, s.ListDisplay) and not node.is_spread:
        return en.Display(tuple(displayed(el, item) for item in node.items if not isinstance(item, s.Spread)), node)
    if isinstance(node, s.TupleDisplay) and any(isinstance(item, (s.ListDisplay, s.TupleDisplay)) for item in node.items):
        return en.TupleEntity(tuple(displayed(el, item) for item in node.items))
    return expr(el, node)


def _argument(el: Elaborator, node: s.Expr, declared: Type | None) -> Any:
    """An argument; a union it is passed as tells functions in it what they take. Functions themselves stay known."""
    from atoll.elaborate.expected import expecting
    from atoll.elaborate.expressions import expr

    return expecting(el, node, declared) if isinstance(declared, Union) else expr(el, node)


def _method(el: Elaborator, base: Value, node: s.Call) -> Any:
    from atoll.elaborate.expressions import expr

    assert isinstance(node.fn, s.Attr)
    name = node.fn.name
    keywords = {key: expr(el, value) for key, value in node.keywords}
    if isinstance(shape_of(base.type)[1], (Scalar, Index)):
        from atoll.elaborate.numpy_names.table import METHODS

        if name in METHODS:
            args = [displayed(el, a) for a in node.args]
            return apply(el, en.Word(f".{name}", METHODS[name]), [base, *args], node.span, keywords, node)
    args = [expr(el, a) for a in node.args]
    if isinstance(base.type, (Record, Union)):
        from atoll.elaborate.indexing import attribute

        return apply(el, attribute(el, base, name, node.fn.span), args, node.span, keywords)
    el.fail("E0230", node.span, name=name, found=el.show(base.type), help=_INSTEAD_OF_METHODS.get(name) or _as_function(name, node.fn.value))


def _as_function(name: str, base: s.Expr) -> str | None:
    """`x.median()` is no method of NumPy's arrays; np.median(x) is there."""
    if name not in NAMES and meaning("numpy", name) is None:
        return None
    text = base.span.text()
    return f"write np.{name}({text if text.isidentifier() else 'x'})"


def apply(
    el: Elaborator, fn: Any, args: Sequence[Any], span: Span, keywords: dict[str, Any] | None = None, node: s.Call | None = None
) -> Any:
    """Apply any entity that is a function. `node` is the application in the text, when that is what it is."""
    keywords = keywords or {}
    if isinstance(fn, en.Word):
        from atoll.elaborate.numpy_names.table import apply_word

        found = apply_word(el, fn, tuple(args), keywords, span)
        if node is not None and isinstance(found, Value):
            el.session.word_types[id(node)] = found.type
        return found
    if isinstance(fn, en.Builtin):
        from atoll.elaborate.builtins.table import apply_builtin

        if fn.name in flexible.WATCHED:
            return flexible.apply_watched(Args(el, fn.name, span, tuple(args), keywords), node)
        return apply_builtin(Args(el, fn.name, span, tuple(args), keywords))
    if isinstance(fn, en.TypeRef):
        return _construct(el, fn.type, args, keywords, span)
    if isinstance(fn, en.Closure):
        return _call_closure(el, fn, list(args), keywords, span, node)
    if isinstance(fn, en.FnRef):
        from atoll.elaborate.function_calls import call_fn

        return call_fn(el, fn, list(args), keywords, span, node)
    if isinstance(fn, en.Declared):
        return apply_declared(el, fn, args, keywords, span, node)
    if isinstance(fn, en.Derived):
        from atoll.elaborate.builtins.derive import apply_derived

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
    hidden = node.fn.id if node is not None and isinstance(node.fn, s.Name) and node.fn.id in BUILTINS else None
    help_ = f"{hidden} is a name of your own here and hides the function {hidden}: give it another name" if hidden else None
    el.fail("E0239", span, found=el.show(fn.type) if isinstance(fn, Value) else describe(fn), help=help_)


def is_function(entity: Any) -> bool:
    return function_values.is_known(entity) or function_values.is_value(entity)


# -- types as functions


def _construct(el: Elaborator, t: Any, args: Sequence[Any], keywords: dict[str, Any], span: Span) -> Value:
    """f32(x), c128(re, im), P(x=1.0)"""
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
    from atoll.elaborate.data import construct

    return construct(el, cls, args, keywords, span)


# -- local functions


def make_closure(
    el: Elaborator, name: str, params: tuple[s.Param, ...], body: Any, span: Span, result: s.Expr | None = None
) -> en.Closure:
    """A function as it is made: free names mean what they mean here and now, and defaults are computed."""
    found = {free: meant for free in sorted(free_names(params, body, result)) if (meant := el.scope.find(free)) is not None}
    captured, owners = {free: entity for free, (entity, _) in found.items()}, {free: frame for free, (_, frame) in found.items()}
    defaults = {p.name: _kept(el, _expr(el, p.default), p.default.span) for p in params if p.default is not None}
    return en.Closure(name, params, body, captured, owners, defaults, el.home, span, result)


def _kept(el: Elaborator, entity: Any, span: Span) -> Any:
    """A default is one computation, however often it is used."""
    if isinstance(entity, (en.Iterable, en.Generator)):
        entity = _as_value(el, entity, span)
    return el.bind(entity) if isinstance(entity, Value) else entity


def _call_closure(
    el: Elaborator, fn: en.Closure, args: list[Any], keywords: dict[str, Any], span: Span, node: s.Call | None = None
) -> Any:
    check_captures(el, fn, span)
    name = "the lambda" if fn.name == "<lambda>" else fn.name
    given = assign(el, name, places(fn.params), args, keywords, span, written=node is not None)
    shared_memory.passed(el, name, fn.params, fn.body, node)
    annotations = closure_annotations(el, fn)
    values: list[Any] = []
    for p, entity in zip(fn.params, given, strict=True):
        if entity is None:
            entity = fn.defaults[p.name]
        if isinstance(entity, (en.Iterable, en.Generator)):
            entity = _as_value(el, entity, span)
        values.append(entity)
    if function_values.calls_itself(fn):
        return function_values.call_local(el, fn, values, span)
    ranks = [None if t is None or isinstance(t, Fn) else rank(t) for t in annotations]
    given_as_are = None in annotations and as_given.takes_as_given(fn)
    if None in annotations:
        found = [None] * len(values) if given_as_are else flexible.wanted_ranks(el, fn, values, node)
        ranks = [found[k] if t is None else r for k, (t, r) in enumerate(zip(annotations, ranks, strict=True))]

    def run(xs: list[Any]) -> Any:
        inner = closure_scope(fn)
        for p, t, x in zip(fn.params, annotations, xs, strict=True):
            if t is not None and function_values.is_known(x):
                x = hold(flexible.declared(x, t), t, span, f"argument {p.name} of {name}")
            elif t is not None:
                x = coerce(el, _as_value(el, x, span), t, span, f"argument {p.name} of {name}")
            inner.names[p.name] = el.bind(x, p.name) if isinstance(x, Value) else x
        with expanding(el, fn, fn.name, xs, span), el.inside(fn.home, inner):
            return _closure_body(el, fn, span)

    return flexible.lifted(el, None if given_as_are else node, given, values, ranks, run, span, name)


def closure_scope(fn: en.Closure) -> en.Scope:
    """An activation of a local function: its own names in what it captured."""
    around = en.Scope(None, fn.captured)
    around.owners = fn.owners
    return around.child(en.Frame(binds(fn.body), fn.span) if isinstance(fn.body, tuple) else None)


def closure_annotations(el: Elaborator, fn: en.Closure) -> list[Type | None]:
    """The declared types of a local function's parameters."""
    if all(p.annotation is None for p in fn.params):
        return [None] * len(fn.params)
    with el.inside(fn.home, en.Scope(None, fn.captured)):
        return [None if p.annotation is None else annotated(el, p.annotation) for p in fn.params]


def _closure_body(el: Elaborator, fn: en.Closure, span: Span) -> Any:
    from atoll.elaborate.statements import body

    if not isinstance(fn.body, tuple):
        return _expr(el, fn.body)
    result = body(el, fn.body, Liveness(fn.body))
    if result is None:
        el.fail("E0121", fn.span, name=fn.name)
    if fn.result is not None:
        t = annotated(el, fn.result)
        what = f"the result of {fn.name}"
        result = coerce(el, result, t, span, what) if isinstance(result, Value) else hold(result, t, span, what)
    return result


def _expr(el: Elaborator, node: Any) -> Any:
    from atoll.elaborate.expressions import expr

    return expr(el, node)


def _as_value(el: Elaborator, entity: Any, span: Span) -> Value:
    from atoll.elaborate.expressions import as_value

    return as_value(el, entity, s.NoneValue(span=span))


def local_type(el: Elaborator, node: s.Expr) -> Type:
    """An annotation inside a body: local integers can be sizes, and a size nobody has bound yet is an unknown, the same one further on."""

    def unknown(leaf: Atom) -> Poly:
        key = f"size {leaf!r}"  # no name of the user's
        found = el.scope.lookup(key)
        if found is None:
            found = el.scope.names[key] = el.solver.fresh(repr(leaf), el.level)
        return found

    return annotated(el, node, unknown)


def annotated(el: Elaborator, node: s.Expr, unknown: Callable[[Atom], Poly] | None = None) -> Type:
    """The type an annotation spells here; a size that is not bound is a new unknown."""
    fresh: dict[Atom, Poly] = {}

    def new(leaf: Atom) -> Poly:
        if leaf not in fresh:
            fresh[leaf] = el.solver.fresh(repr(leaf), el.level)
        return fresh[leaf]

    unknown = unknown or new

    def look(name: str, span: Span) -> Any:
        if name == "_":
            return el.fresh_size("_")
        entity = el.scope.lookup(name)
        if isinstance(entity, Value) and entity.poly is not None:
            return entity.poly
        if isinstance(entity, en.TypeRef):
            return entity.type
        value = el.namespace.python_value(name)
        if isinstance(value, Poly):
            known = value.subst(el.home.sizes)
            missing = [leaf for leaf in value.leaves() if leaf not in el.home.sizes]
            env = {leaf: unknown(leaf) for leaf in missing}
            return known.subst(env)
        if value is not _MISSING:
            return value
        for leaf, here in el.home.sizes.items():  # a size of the function around, which Python did not capture for an annotation
            if repr(leaf) == name:
                return here
        found = type_name(name)
        if found is not None:
            return found
        el.fail("E0119", span, name=name)

    t = type_expr(node, look, el.name)
    declared = {leaf for size in sizes_in(t) for leaf in size.leaves() if isinstance(leaf, Sym) and size_symbol(leaf.name) is leaf}
    here: dict[Atom, Poly] = {leaf: el.home.sizes[leaf] if leaf in el.home.sizes else unknown(leaf) for leaf in declared}
    return subst_types(subst_sizes(t, here), el.home.types)


# -- text and match


def text_parts(text: en.TextValue) -> tuple[str | tuple[ir.Expr, str], ...]:
    return tuple(p if isinstance(p, str) else (p[0].expr, p[1]) for p in text.parts)


__all__ = ["Args", "apply", "call", "is_function", "make_closure", "type_of_object"]
