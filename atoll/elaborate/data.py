"""Records and unions in bodies: making them, joining them, bringing a record to the union that is expected.

`Cons(1, Nil())` is a record whose fields have the types of what was given: it has not met a union yet. Where `List[f64]` is expected it
becomes one, its fields with it. So an empty list needs no type of its own, and a literal in a list takes the list's type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from atoll.core import ir
from atoll.elaborate.calls import Args, is_function
from atoll.elaborate.coerce import coerce, join_types, make_tuple, project_all
from atoll.elaborate.decay import plain_type
from atoll.elaborate.elaborator import Elaborator, Mismatch
from atoll.elaborate.entities import Value
from atoll.elaborate.function_calls import open_value
from atoll.elaborate.function_values import as_function
from atoll.elaborate.namespace import entity_of
from atoll.elaborate.parameters import Place, assign
from atoll.errors import Span
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.declare import is_some
from atoll.types.records import default_fields, field_types, record_of, record_type
from atoll.types.types import (
    I64_T,
    Array,
    Fn,
    Index,
    Record,
    Scalar,
    Tuple,
    Type,
    Union,
    Var,
    sizes_in,
    strong,
    subst_sizes,
    told_apart,
    type_vars,
)
from atoll.types.unions import NONE, UnionDecl, normal, own_sizes, type_key, unions_of


def none(span: Span) -> Value:
    """None as a value: a record without fields, until a union is expected."""
    t = Record(NONE, ())
    return Value(ir.MakeTuple((), type=t, span=span), t)


def construct(el: Elaborator, cls: Any, args: Sequence[Any], keywords: dict[str, Any], span: Span) -> Value:
    """P(x=1.0, ...)"""
    decl = record_of(cls)
    assert decl is not None
    defaults = default_fields(cls)
    given = assign(el, decl.name, [Place(name, name in defaults) for name in decl.fields], args, keywords, span)
    given = [_default(el, defaults[name], name, span) if x is None else x for name, x in zip(decl.fields, given, strict=True)]
    env: dict[Atom, Poly] = {}
    parts = []
    known: dict[str, Type] = {}  # what the other fields say about the types of functions
    if any(is_function(entity) for entity in given):
        for written, entity in zip(field_types(cls), given, strict=True):
            if isinstance(entity, Value) and type_vars(normal(written)):
                match_types(el, normal(written), entity.type, known, {}, span)
    for name, written, entity in zip(decl.fields, field_types(cls), given, strict=True):
        declared = normal(written)
        if isinstance(declared, Var) and isinstance(known.get(declared.name), Fn) and is_function(entity):
            declared = known[declared.name]
        for leaf in sorted({x for size in sizes_in(declared) for x in size.leaves()}, key=lambda a: a.uid):
            if leaf not in env and not is_some(leaf):
                env[leaf] = el.solver.fresh(repr(leaf), el.level)
        what = f"field {name} of {decl.name}"
        if isinstance(declared, Fn) and (is_function(entity) or type_vars(declared)):
            wanted = subst_sizes(declared, env)
            value = as_function(el, entity, wanted if isinstance(wanted, Fn) and not type_vars(wanted) else None, span)
        else:
            value = Args(el, decl.name, span, (), {}).value(entity)
            if not type_vars(declared):
                value = coerce(el, value, with_sizes_of(subst_sizes(declared, env), value.type), span, what)
        parts.append(el.bind(value))
    made = make_tuple(parts, Record(decl, tuple(p.type for p in parts)), span)
    whole = record_type(cls)
    if unions_of(decl):
        return made  # the union that is expected gives its sizes a place
    return coerce(el, made, normal(whole), span, decl.name) if isinstance(whole, Union) and not type_vars(normal(whole)) else made


def _default(el: Elaborator, value: Any, name: str, span: Span) -> Any:
    """What a field holds that is not given, as Python made it when the record was declared."""
    decl = record_of(type(value))
    if decl is None:
        return entity_of(el, value, name, span)
    parts = [_default(el, getattr(value, f), f"{name}.{f}", span) for f in decl.fields]
    return construct(el, type(value), parts, {}, span)


def with_sizes_of(declared: Type, given: Type, own: Callable[[Atom], bool] = is_some) -> Type:
    """Sizes of the value's own in a declared type are what the value has there."""
    env: dict[Atom, Poly] = {}

    def go(d: Type, g: Type) -> None:
        if isinstance(d, Array) and isinstance(g, Array):
            sym = d.size.single()
            if sym is not None and own(sym):
                env.setdefault(sym, g.size)
            go(d.elem, g.elem)
        else:
            for a, b in zip(getattr(d, "items", ()), getattr(g, "items", ()), strict=False):
                go(a, b)

    go(declared, given)
    return subst_sizes(declared, env)


# -- to a union


def to_union(el: Elaborator, value: Value, wanted: Union, span: Span, what: str) -> Value:
    """The value as this union: it is one already, or one of its cases."""
    t = value.type
    if isinstance(t, Union) and t.decl is wanted.decl:
        if t.types and type_key(strong(t)) != type_key(wanted):  # indices are integers where those are wanted
            t = Union(t.decl, tuple(map(plain_type, t.types)), t.sizes)
            value = Value(value.expr, t)
        if type_key(strong(t)) != type_key(wanted):
            el.fail("E0201", span, what=what, expected=el.show(wanted), found=el.show(t))
        why = Mismatch(span, wanted, t, what, el.facts)
        for a, b in zip(sizes_in(wanted), sizes_in(t), strict=True):
            el.equate(a, b, why)
        return value
    if isinstance(t, Record):
        k = wanted.decl.position(t.decl)
        if k is None:
            cases = ", ".join(d.name for d in wanted.decl.decls)
            el.fail("E1105", span, record=t.decl.name, union=repr(wanted.decl), cases=cases)
        member = wanted.decl.member(wanted, k)
        parts = []
        for name, part, item in zip(t.decl.fields, project_all(el, value), member.items, strict=True):
            parts.append(coerce(el, part, with_sizes_of(item, part.type), span, f"field {name} of {t.decl.name}"))
        return Value(ir.Inject(k, tuple(p.expr for p in parts), type=wanted, span=span), wanted)
    el.fail("E0201", span, what=what, expected=el.show(wanted), found=el.show(t))


# -- what a union is made of


def match_types(el: Elaborator, declared: Type, given: Type, found: dict[str, Type], sizes: dict[Atom, Poly], span: Span) -> None:
    """What the type variables and sizes of a declared type stand for in a given one, as far as it says."""
    if isinstance(declared, Var):
        if isinstance(given, Record) and given.decl.cls is None and given.decl == NONE:
            return
        known = found.get(declared.name)
        found[declared.name] = given if known is None else join_types(el, known, given, span, f"the type {declared.name}")
    elif isinstance(declared, Union):
        if isinstance(given, Union) and given.decl is declared.decl:
            for a, b in zip(declared.types or (), given.types or (), strict=True):
                match_types(el, a, b, found, sizes, span)
            for p, q in zip(declared.sizes or (), given.sizes or (), strict=True):
                if (sym := p.single()) is not None:
                    sizes.setdefault(sym, q)
        elif isinstance(given, Record) and (k := declared.decl.position(given.decl)) is not None:
            match_types(el, declared.decl.member(declared, k), given, found, sizes, span)
    elif isinstance(declared, Array) and isinstance(given, Array):
        if (sym := declared.size.single()) is not None:
            sizes.setdefault(sym, given.size)
        match_types(el, declared.elem, given.elem, found, sizes, span)
    elif isinstance(declared, Fn) and isinstance(given, Fn):
        for a, b in zip((*declared.params, declared.result), (*given.params, given.result), strict=False):
            match_types(el, a, b, found, sizes, span)
    elif isinstance(declared, (Tuple, Record)) and isinstance(given, (Tuple, Record)):
        for a, b in zip(declared.items, given.items, strict=False):
            match_types(el, a, b, found, sizes, span)


def _union_of(el: Elaborator, decl: UnionDecl, records: Sequence[Type], span: Span) -> Union:
    """The union type these records are cases of."""
    whole = normal(Union(decl))
    assert isinstance(whole, Union)
    found: dict[str, Type] = {}
    sizes: dict[Atom, Poly] = {}
    for r in records:
        match_types(el, whole, r, found, sizes, span)
    names, own = decl.params
    for name in names:
        if name not in found:
            el.fail("E1109", span, name=name, union=repr(decl))
    filled = tuple(sizes[s] if s in sizes else el.solver.fresh(s.name, el.level) for s in own)
    return Union(decl, tuple(_plain_number(strong(found[n])) for n in names), filled)


def _plain_number(t: Type) -> Type:
    return Scalar(t.dtype) if isinstance(t, Index) else t


def join(el: Elaborator, a: Type, b: Type, span: Span, what: str) -> Type | None:
    """The type two records or unions meet in; None when this is not about unions."""
    if isinstance(a, Union) and isinstance(b, Union) and a.decl is b.decl:
        if type_key(strong(a)) != type_key(strong(b)):
            return None
        why = Mismatch(span, a, b, what, el.facts)
        for x, y in zip(sizes_in(a), sizes_in(b), strict=True):
            el.equate(x, y, why)
        return a
    if isinstance(a, Union) and isinstance(b, Record):
        return a if a.decl.position(b.decl) is not None else None
    if isinstance(b, Union) and isinstance(a, Record):
        return b if b.decl.position(a.decl) is not None else None
    if isinstance(a, Record) and isinstance(b, Record):
        if a.decl == b.decl and type_key(strong(a)) == type_key(strong(b)):
            return None
        shared = [u for u in unions_of(a.decl) if u.position(b.decl) is not None]
        if len(shared) > 1 and isinstance(el.returns, Union) and el.returns.decl in shared:
            shared = [el.returns.decl]
        if len(shared) == 1:
            return _union_of(el, shared[0], (a, b), span)
        if a.decl != b.decl or shared:
            first, second = told_apart(a, b)
            help_ = "declare the record once and use that class for both: two declarations are two types" if a.decl.name == b.decl.name else None
            el.fail("E1108", span, what=what, first=first, second=second, help=help_)
    return None


def alone(el: Elaborator, t: Type, span: Span) -> Type:
    """What a record that no union has asked for is stored as, where it may change: its only union, else itself."""
    if isinstance(t, Record):
        mine = unions_of(t.decl)
        if len(mine) == 1 and not mine[0].params[0]:
            return _union_of(el, mine[0], (t,), span)
    return t


def field(el: Elaborator, value: Value, name: str, span: Span) -> Value:
    """value.name for a union of one case. Sizes of the value's own are opened once, so that its fields agree on them."""
    t = value.type
    assert isinstance(t, Union)
    if len(t.decl.members) != 1 or name not in t.decl.decls[0].fields:
        el.fail("E1111", span, union=repr(t.decl), name=name)
    value = el.bind(value)
    sym = value.expr.sym if isinstance(value.expr, ir.Var) else None
    for known, frame, fields in el.opened:
        if known is sym and any(frame is f for f in el.frames):
            return fields[name]
    fields = dict(zip(t.decl.decls[0].fields, project_all(el, _opened(el, value, t, span)), strict=True))
    if sym is not None:
        el.opened.append((sym, el.frames[-1], fields))
    return fields[name]


def _opened(el: Elaborator, value: Value, t: Union, span: Span) -> Value:
    """The fields of a union of one case as a tuple."""
    member = t.decl.member(t, 0)
    own = own_sizes(member)
    inside: dict[Atom, Poly] = {s: poly(Sym(s.name)) for s in own}
    passed: dict[Atom, Poly] = {s: poly(Sym(s.name)) for s in own}
    outside: dict[Atom, Poly] = {s: poly(Sym(s.name)) for s in own}
    fields, params = ([Sym(f) for f in member.decl.fields] for _ in range(2))
    types = tuple(subst_sizes(item, inside) for item in member.items)
    given = tuple(subst_sizes(item, passed) for item in member.items)
    whole = Sym("subject")
    sizes = tuple(p.single() for p in inside.values())
    body = ir.MakeTuple(tuple(ir.Var(p, type=x, span=span) for p, x in zip(params, given, strict=True)), type=Tuple(given), span=span)
    arm = ir.Lam((*(p.single() for p in passed.values()), *params), (*(I64_T for _ in own), *given), body)  # type: ignore[arg-type]
    args: tuple[ir.Expr, ...] = (
        *(ir.SizeOf(p, type=I64_T) for p in inside.values()),
        *(ir.Var(f, type=x, span=span) for f, x in zip(fields, types, strict=True)),
    )
    tree = ir.Switch(whole, t, (ir.CaseOf(0, sizes, tuple(fields), types, ir.Leaf(0, args)),), None)  # type: ignore[arg-type]
    hidden = Tuple(tuple(subst_sizes(item, outside) for item in member.items))
    made = ir.Match(whole, value.expr, tree, (arm,), type=hidden, span=span)
    if not own:
        return el.bind(Value(made, hidden))
    return open_value(el, made, hidden, [p.single() for p in outside.values()], span)  # type: ignore[misc]
