"""Comprehensions, generators and what they iterate over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import exact
from atoll.elaborate.builtins.reshape import flatten
from atoll.elaborate.builtins.structure import unzip
from atoll.elaborate.coerce import array_of, element_value, make_tuple, project, project_all, zero
from atoll.elaborate.decay import leaving
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.errors import Span
from atoll.sizes import Poly, Sym, cdiv, poly
from atoll.surface import syntax as s
from atoll.types.types import BOOL_T, I64_T, Array, Index, Tuple, strong


def iterable(el: Elaborator, entity: Any, node: s.Node) -> en.Iterable:
    """Something that can be iterated over, as rounds and elements."""
    if isinstance(entity, en.Iterable):
        return entity
    if isinstance(entity, en.Generator):
        entity = build(el, entity.node)
    if isinstance(entity, en.FnArray):
        fns = entity.items
        return en.Iterable(poly(len(fns)), lambda el, index: en.Pick(index, fns, node.span))
    if isinstance(entity, Value) and isinstance(entity.type, Tuple):
        entity = array_of(el, project_all(el, entity), node.span)
    if isinstance(entity, Value) and isinstance(entity.type, Array):
        return over(el, el.bind(entity))
    found = el.show(entity.type) if isinstance(entity, Value) else describe(entity)
    is_integer = isinstance(entity, Value) and entity.poly is not None
    el.fail("E0234", node.span, found=found, help=f"write range({node.span.text()})" if is_integer else None)


def over(el: Elaborator, array: Value) -> en.Iterable:
    """The elements of an array."""
    assert isinstance(array.type, Array)

    def element(el: Elaborator, index: Value) -> Value:
        from atoll.elaborate.indexing import element_at

        return element_at(el, array, index, array.expr.span)

    return en.Iterable(array.type.size, element, array)


def materialise(el: Elaborator, it: en.Iterable, span: Span) -> Value:
    """The array of everything an iterable gives."""
    if it.array is not None:
        return it.array
    el.require(it.size, span.text() or "the range", span)
    return build_array(el, it.size, "i", lambda index: _value(el, it.element(el, index), span), span)


def _value(el: Elaborator, entity: Any, span: Span) -> Value:
    from atoll.elaborate.expressions import as_value

    return as_value(el, entity, s.NoneValue(span=span))


def build_array(el: Elaborator, size: Poly, name: str, body: Callable[[Value], Value], span: Span) -> Value:
    """[body(i) for i in range(size)]"""
    el.level += 1
    index = el.fresh_index(name, size)
    assert isinstance(index.expr, ir.Var)
    el.session.bounded.add(index.expr.sym)
    with el.block(), el.hypotheses(*el.index_facts(index, size), lazy=False):
        result = leaving(el, body(index), [index.expr.sym])
        inner = el.close(result.expr, index.expr.sym)
    el.level -= 1
    expr = ir.Build(index.expr.sym, size, inner, type=Array(result.expr.type, size), span=span)
    return Value(expr, Array(result.type, size))


@contextmanager
def comprehension_scope(el: Elaborator) -> Iterator[None]:
    """A comprehension has names of its own, as in Python."""
    saved = el.scope
    el.scope = saved.child()
    try:
        yield
    finally:
        el.scope = saved


def build(el: Elaborator, node: s.Comprehension) -> Value:
    """[element for ... if ...]"""
    from atoll.elaborate.expressions import expr, value

    conditions = [c for clause in node.clauses for c in clause.conditions]
    if conditions:
        return _filtered(el, node)

    def nest(clauses: tuple[s.Clause, ...]) -> Value:
        clause, *rest = clauses
        it = iterable(el, expr(el, clause.iter), clause.iter)
        el.require(it.size, clause.iter.span.text() or "the range", clause.iter.span)
        return each(el, it, clause.target, lambda: nest(tuple(rest)) if rest else value(el, node.element), node.span)

    with comprehension_scope(el):
        result = nest(node.clauses)
    for _ in node.clauses[1:]:
        result = _flat(el, result, node.span)
    return result


def _flat(el: Elaborator, value: Value, span: Span) -> Value:
    return flatten(el, value, span)


def each(el: Elaborator, it: en.Iterable, target: s.Target, body: Callable[[], Value], span: Span) -> Value:
    """[body() for target in it] with the target's names bound."""
    from atoll.elaborate.indexing import assign

    if it.array is not None and isinstance(target, s.Name):
        return _map_one(el, it.array, target, body, span)
    name = target.id if isinstance(target, s.Name) else "i"

    def inner(index: Value) -> Value:
        assign(el, target, it.element(el, index), span)
        return body()

    return build_array(el, it.size, name, inner, span)


def _map_one(el: Elaborator, array: Value, target: s.Name, body: Callable[[], Value], span: Span) -> Value:
    assert isinstance(array.type, Array) and isinstance(array.expr.type, Array)
    sym = Sym(target.id)
    param = element_value(el, sym, array.expr.type.elem, array.type.elem)
    facts: tuple[Poly, ...] = ()
    if isinstance(param.type, Index) and param.poly is not None:
        facts = el.index_facts(param, param.type.size)
    el.level += 1
    with el.block(), el.hypotheses(*facts, lazy=False):
        el.scope.names[target.id] = param
        result = leaving(el, body(), [sym])
        inner = el.close(result.expr, sym)
    el.level -= 1
    size = array.type.size
    expr = ir.Map((sym,), (array.expr,), inner, type=Array(result.expr.type, size), span=span)
    return Value(expr, Array(result.type, size))


def _filtered(el: Elaborator, node: s.Comprehension) -> Value:
    """[element for ... if p]: elements where p is false are neither evaluated nor kept."""
    from atoll.elaborate.builtins.select import filter_by_mask

    pairs = with_conditions(el, node)
    for _ in node.clauses[1:]:
        pairs = _flat(el, pairs, node.span)
    pairs = el.bind(pairs)

    parts = unzip(el, pairs, node.span)

    return filter_by_mask(el, project(parts, 1), project(parts, 0), node.span)


def with_conditions(el: Elaborator, node: s.Comprehension) -> Value:
    """The array, one axis per clause, of (p, element or a value nobody looks at)."""
    from atoll.elaborate.expressions import value

    def leaf() -> Value:
        element = el.bind(value(el, node.element))
        yes = Value(ir.Lit(True, type=BOOL_T, span=node.span), BOOL_T)
        return make_tuple([yes, element], None, node.span)

    def nobodys(found: Value) -> Value:
        t = strong(found.type)
        return Value(zero(el, t, node.span), t)

    def ready(it: en.Iterable, clause: s.Clause) -> None:
        el.require(it.size, clause.iter.span.text() or "the range", clause.iter.span)

    return _clauses(el, node, leaf, nobodys, lambda array: array, ready)


def _unused(el: Elaborator, f: Callable[[], Value]) -> Value:
    """What f() would be: read for its type where a condition is known to be false, and thrown away."""
    with el.block(), el.hypotheses():
        result = f()
        el.frames.pop()
    return result


def reduce_clauses(
    el: Elaborator,
    node: s.Comprehension,
    leaf: Callable[[Value], Value],
    neutral: Callable[[Value], Value],
    combine: Callable[[Value], Value],
) -> Value:
    """A reduction over a generator: one `combine` per clause; where a condition fails the neutral element stands."""
    from atoll.elaborate.expressions import value

    return _clauses(el, node, lambda: leaf(value(el, node.element)), neutral, combine)


def _clauses(
    el: Elaborator,
    node: s.Comprehension,
    leaf: Callable[[], Value],
    otherwise: Callable[[Value], Value],
    combine: Callable[[Value], Value],
    ready: Callable[[en.Iterable, s.Clause], None] = lambda it, clause: None,
) -> Value:
    """One array per clause, given to `combine`; where a condition fails stands `otherwise` of what would have been there."""
    from atoll.elaborate.expressions import choose, expr, truth

    def guarded(conditions: list[s.Expr], inner: Callable[[], Value]) -> Value:
        if not conditions:
            return inner()
        test = el.bind(truth(el, conditions[0], "`if`"))
        found: list[Value] = []

        def then() -> Value:
            found.append(guarded(conditions[1:], inner))
            return found[0]

        def orelse() -> Value:
            return otherwise(found[0] if found else _unused(el, then))

        return choose(el, test, then, orelse, node)  # type: ignore[no-any-return]

    def nest(clauses: tuple[s.Clause, ...]) -> Value:
        clause, *rest = clauses
        it = iterable(el, expr(el, clause.iter), clause.iter)
        ready(it, clause)

        def body() -> Value:
            return guarded(list(clause.conditions), lambda: nest(tuple(rest)) if rest else leaf())

        return combine(each(el, it, clause.target, body, node.span))

    with comprehension_scope(el):
        return nest(node.clauses)


def count_of(el: Elaborator, low: Poly, high: Poly, step: int, span: Span) -> Poly:
    """How many rounds range(low, high, step) has; negative means none. Where the bounds may be so far apart that their distance has wrapped around, its
    quotient would be wrong: then the rounds are counted by an operation of their own."""
    distance = high - low if step > 0 else low - high
    grown = any(abs(c) > max(abs(low.terms.get(mono, 0)), abs(high.terms.get(mono, 0))) for mono, c in distance.terms.items() if mono)  # range(-a, a)
    if abs(step) == 1 and not grown:
        return distance  # which keeps the bounds apart
    if abs(step) <= 2**20 and exact(el, distance, alone=False):
        return cdiv(distance, abs(step))
    return counted_rounds(el, low, high, poly(step), span)


def counted_rounds(el: Elaborator, low: Poly, high: Poly, step: Poly, span: Span) -> Poly:
    """The rounds of a range as a value of its own."""
    ends = tuple(ir.SizeOf(p, type=I64_T, span=span) for p in (low, high, step))
    count = el.bind(Value(ir.Prim("rounds", ends, type=I64_T, span=span), I64_T), None, "rounds")
    assert count.poly is not None
    el.assume(count.poly)
    return count.poly


def range_of(el: Elaborator, low: Poly, high: Poly, step: int, span: Span) -> en.Iterable:
    size = count_of(el, low, high, step, span)

    def element(el: Elaborator, index: Value) -> Value:
        assert index.poly is not None
        if not low.terms and step == 1:
            return index
        p = low + index.poly * step
        return Value(ir.SizeOf(p, type=I64_T), I64_T, p)

    return en.Iterable(size, element)


__all__ = ["build", "build_array", "count_of", "counted_rounds", "iterable", "materialise", "over", "poly", "range_of", "reduce_clauses"]
