"""Expressions: what has a value. `values` gives one wire per value; a scalar expression, however deep, is one operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.errors import Span, fail
from atoll.madl import graph as g
from atoll.madl import helps, instances, iterate, patterns, state, structure
from atoll.madl import syntax as s
from atoll.madl.elaborate import Bound, Elaborator
from atoll.madl.environment import Env
from atoll.madl.levels import rank
from atoll.madl.scalars import FUNCTIONS, SCALAR_OPS, SHORT
from atoll.madl.typing import NAMES, Unknown, prune
from atoll.sizes import Poly, poly
from atoll.types.types import Array, Index, Tuple, Type
from atoll.views.functor import ONE, Functor, functor, prim


def value(el: Elaborator, e: s.Expr, env: Env) -> g.Wire:
    """The one value of an expression."""
    found = values(el, e, env)
    if len(found) != 1:
        help_ = f"take one of them: a{', _' * (len(found) - 1)} = {s.text(e)}" if found else "it gives nothing; write a value"
        fail("E0905", e.span, what=s.text(e), given=f"{len(found)} values", wanted="1", help=help_, where=el.operator.name)
    return found[0]


def values(el: Elaborator, e: s.Expr, env: Env) -> list[g.Wire]:
    """The values of an expression, in order."""
    return _CASES[type(e)](el, e, env)


def places(e: s.Expr, wires: list[g.Wire]) -> list[Span]:
    """Where the values of an expression are written, for messages: a variable's own place is its definition."""
    items = s.items(e)
    return [item.span for item in items] if len(items) == len(wires) else [e.span for _ in wires]


def _variable(el: Elaborator, e: s.Variable, env: Env) -> list[g.Wire]:
    if env.variable(e.name) is None and not env.placing and env.size(e.name) is not None:
        return [_scalar(el, e, env)]
    return [el.variable(e.name, env, e.span)]


def _group(el: Elaborator, e: s.Group, env: Env) -> list[g.Wire]:
    return [wire for item in e.items for wire in values(el, item, env)]


def _hole(el: Elaborator, e: s.Hole, env: Env) -> list[g.Wire]:
    if not env.placing:
        fail("E0908", e.span, what="`_` has no value; it", where=el.operator.name, help="`_` stands in patterns and places only")
    return [el.wire(env, e)]


def _meta(el: Elaborator, e: s.Meta, env: Env) -> list[g.Wire]:
    if not env.placing:
        fail("E0908", e.span, what=f"'{e.name} is a place, not a value; it", where=el.operator.name, help="places stand behind `at`")
    if e.name not in env.metas.places:
        env.metas.places[e.name] = el.wire(env, e, name=f"'{e.name}", role="place")
    return [env.metas.places[e.name]]


def _typed(el: Elaborator, e: s.Typed, env: Env) -> list[g.Wire]:
    found = values(el, e.arg, env)
    for wire in found:
        at = el.defined.get(wire) if isinstance(e.arg, s.Variable) else None  # a result is wrong where it is defined
        el.typer.unify(wire.type, el.type(e.type, env), at or e.arg.span, text=None if at is None else "..")
    return found


def _located(el: Elaborator, e: s.Located, env: Env) -> list[g.Wire]:
    found = values(el, e.arg, env)
    put_at(el, found, e, env)
    return found


def put_at(el: Elaborator, wires: list[g.Wire], e: s.Located, env: Env) -> None:
    """`wires at place`."""
    if el.dry:
        return
    saved, el.interface = el.interface, None
    where = Env(env.scope, env.level, env, env.metas, placing=True, path=env.path)
    found = values(el, e.place, where)
    el.interface = saved
    if len(found) != len(wires):
        help_ = "write a place for each value: (a at 'l), (b at 'm)"
        fail("E0905", e.span, what=f"at {s.text(e.place)}", given=f"{len(found)} places", wanted=f"{len(wires)}", help=help_, where=el.operator.name)
    for wire, there in zip(wires, found, strict=True):
        el.same_place(there, wire, f"at {s.text(e.place)}", e.span)


def _alias(el: Elaborator, e: s.Alias, env: Env) -> list[g.Wire]:
    if el.interface is not None and rank(e.arg) > 0:
        return [iterate.built(el, e, env)]
    found = values(el, e.arg, env)
    patterns.define(el, e.pattern, found, env)
    return found


def _initial(el: Elaborator, e: s.Initial, env: Env) -> list[g.Wire]:
    found = values(el, e.arg, env)
    state.initialise(el, found, e, env)
    return found


def _equation(el: Elaborator, e: s.Equation, env: Env) -> list[g.Wire]:
    patterns.define(el, e.pattern, values(el, e.value, env), env)
    return []


def _copy(el: Elaborator, e: s.Copy, env: Env) -> list[g.Wire]:
    _no_place(el, e, env)
    source = value(el, e.arg, env)
    target = el.wire(env, e, source.type)
    el.node(env.scope, g.Copy(source, target, e.span))
    return [target]


def _no_place(el: Elaborator, e: Any, env: Env) -> None:
    if env.placing:
        fail("E0908", e.span, what=f"{s.text(e)} computes, so it is no place; it", where=el.operator.name)


def _array_of(el: Elaborator, e: s.ArrayOf, env: Env) -> list[g.Wire]:
    parts = values(el, e.arg, env)
    elem = Unknown()
    for part, at in zip(parts, places(e.arg, parts), strict=True):
        el.typer.unify(part.type, elem, at)
    whole = el.wire(env, e, Array(elem, poly(len(parts))))
    el.relate(env, whole, [(functor(prim("index", k, len(parts))), p) for k, p in enumerate(parts)], "build", "array", e.span)
    return [whole]


def _tuple_of(el: Elaborator, e: s.TupleOf, env: Env) -> list[g.Wire]:
    parts = values(el, e.arg, env)
    whole = el.wire(env, e, Tuple(tuple(p.type for p in parts)))
    el.relate(env, whole, components(parts), "build", "tuple", e.span)
    return [whole]


def components(parts: list[g.Wire]) -> list[tuple[Functor, g.Wire]]:
    return [(functor(prim("component", k, len(parts))), p) for k, p in enumerate(parts)]


def _constant(el: Elaborator, e: s.Constant, env: Env) -> list[g.Wire]:
    """[s]e is a loop that computes e for every element."""
    name = s.Variable(f"{s.text(e.arg)}#", span=e.arg.span)
    level = s.Level(e.size, results=(s.Clause(None, s.Aggregate(name, span=e.span), span=e.span),), span=e.span)
    body = (s.Equation(name, e.arg, span=e.span),)
    return values(el, s.Forward((level,), body, s.Reset("restart", span=e.span), span=e.span), env)


def _apply(el: Elaborator, e: s.Apply, env: Env) -> list[g.Wire]:
    known = el.find(e.name)
    if known is None and e.name in FUNCTIONS:
        return [_scalar(el, e, env)]
    if known is None and e.name in structure.BUILTINS:
        args = values(el, e.arg, env)
        if len(args) != structure.arity(e.name):
            wanted = structure.arity(e.name)
            fail("E0905", e.span, what=e.name, given=f"{len(args)} arguments", wanted=f"{wanted}", help=helps.takes(e.name, helps.LETTERS[:wanted]), where=el.operator.name)
        result = el.wire(env, e)
        structure.connect(el, e, env, args, result, in_pattern=False)
        return [result]
    return instances.use(el, e, env, values(el, e.arg, env))


def _aggregate(el: Elaborator, e: s.Aggregate, env: Env) -> list[g.Wire]:
    inner = _brackets(el, e, env)
    element = _inside(el, e.arg, inner)
    scope = inner.scope
    size = el.partial if el.partial is not None else scope.extent
    whole = el.wire(env, e, Array(element.type, size))
    if not el.dry:
        assert scope.index is not None
        view = functor(prim("index", poly(scope.index), scope.extent))
        el.graph.relations.append(g.Relation(whole, ((view, element),), None, "[.]", e.span))
        scope.aggregates.append((element, whole))
        el.aggregated_at.setdefault(element, e.span)
    return [whole]


def _accumulate(el: Elaborator, e: s.Accumulate, env: Env) -> list[g.Wire]:
    inner = _brackets(el, e, env)
    if inner.scope.each:
        fail("E0972", e.span, what=f"{s.text(e)} would be the last value of one element", help="every element has state of its own; take them all: [..], or use forward", where=el.operator.name)
    last_value = _inside(el, e.arg, inner)
    whole = el.wire(env, e, last_value.type)
    if not el.dry:
        el.graph.relations.append(g.Relation(whole, ((ONE, last_value),), None, "{.}", e.span))
        inner.scope.accumulates.append((last_value, whole))
    return [whole]


def _brackets(el: Elaborator, e: Any, env: Env) -> Env:
    if el.interface is None:
        fail("E0909", e.span, what=s.text(e), help=helps.outside_forward(e), where=el.operator.name)
    return el.interface


def _inside(el: Elaborator, e: s.Expr, inner: Env) -> g.Wire:
    saved, el.interface = el.interface, None
    try:
        return value(el, e, inner)
    finally:
        el.interface = saved


# -- parts


def accessor_functor(el: Elaborator, whole: g.Wire, accessors: tuple[s.Accessor, ...], env: Env) -> tuple[Functor, Type]:
    """Where a part lies in the whole, and its type."""
    found, t = [], whole.type
    for accessor in accessors:
        if isinstance(accessor, s.Field):
            record, k = el.library.field(accessor.name, prune(t), accessor.span)
            el.typer.unify(t, record, accessor.span)
            found.append(prim("component", k, len(record.items)))
            t = record.items[k]
            continue
        index, extent, elem = el.size(accessor.index, env, as_index=True), el.typer.fresh_size(env.level, "n"), Unknown()
        el.typer.unify(t, Array(elem, extent), accessor.span)
        if not el.dry:
            el.bounds.append(Bound(index, extent, whole, s.text(accessor.index), accessor.span, env.scope))
        found.append(prim("index", index, extent))
        t = elem
    return functor(*found), t


def _project(el: Elaborator, e: s.Project, env: Env) -> list[g.Wire]:
    whole = value(el, e.arg, env)
    view, t = accessor_functor(el, whole, (e.accessor,), env)
    part = el.wire(env, e, t)
    el.relate(env, whole, [(view, part)], "access", "projection", e.span)
    return [part]


def _update(el: Elaborator, e: s.Update, env: Env) -> list[g.Wire]:
    _no_place(el, e, env)
    old = value(el, e.arg, env)
    view, t = accessor_functor(el, old, e.accessors, env)
    new = value(el, e.value, env)
    el.typer.unify(new.type, t, e.value.span)
    whole = el.wire(env, e, old.type)
    el.relate(env, whole, [(ONE, old), (view, new)], "build", "with", e.span)
    return [whole]


# -- scalar operations

_DEEPEST = 200  # operations inside one another in one expression


def _scalar(el: Elaborator, e: s.Expr, env: Env) -> g.Wire:
    """One operation for the whole scalar expression; what is no operation is an input of it."""
    _no_place(el, e, env)
    inputs: list[g.Wire] = []
    tree = _tree(el, e, env, inputs)
    if _depth(tree) > _DEEPEST:
        fail("E0901", e.span, what="this is nested too deeply", help="give its parts names", where=el.operator.name)
    output = el.wire(env, e)
    if isinstance(tree, g.Operate) and SCALAR_OPS[tree.op].gives in ("idx", "fixed"):
        output.type = tree.type
    made = g.Op(tree, tuple(inputs), output, e.span)
    el.node(env.scope, made)
    if not el.dry:
        el.operations.append(made)
    return output


def _depth(tree: g.Tree) -> int:
    return 1 + max((_depth(a) for a in tree.args), default=0) if isinstance(tree, g.Operate) else 1


def _tree(el: Elaborator, e: s.Expr, env: Env, inputs: list[g.Wire]) -> g.Tree:
    match e:
        case s.Number(bool() as constant):
            return g.Literal(constant, NAMES["bool"], e.span)
        case s.EnumValue(t, number):
            return g.Literal(number, t, e.span)
        case s.Number(constant):
            return g.Literal(constant, Unknown("real" if isinstance(constant, float) else "number"), e.span)
        case s.Operation("neg", (s.Number(int() | float() as constant),)) if not isinstance(constant, bool):
            return _tree(el, s.Number(-constant, span=e.span), env, inputs)
        case s.Operation(op, args):
            return _operate(el, op, args, (), e, env, inputs)
        case s.Apply(name, sizes, arg) if el.find(name) is None and name in SHORT:
            return _written_out(el, e, SHORT[name], s.items(arg), env, inputs)
        case s.Apply(name, sizes, arg) if el.find(name) is None and name in FUNCTIONS:
            return _operate(el, name, s.items(arg), sizes or (), e, env, inputs)
        case s.Variable(name) if env.variable(name) is None and (size := env.size(name)) is not None:
            return g.SizeValue(size, Unknown("number"))
    inputs.append(value(el, e, env))
    return g.Input(len(inputs) - 1, e.span)


def _written_out(el: Elaborator, e: s.Apply, meaning: Any, args: tuple[s.Expr, ...], env: Env, inputs: list[g.Wire]) -> g.Tree:
    """A function that is short for others, each argument used once."""
    _as_many(el, e, e.name, (len(args), len(e.sizes or ())), (3, 0))
    if isinstance(meaning, int):
        return _tree(el, args[meaning], env, inputs)
    op, *parts = meaning
    trees = tuple(_written_out(el, e, part, args, env, inputs) for part in parts)
    return g.Operate(op, trees, Unknown("any"), e.span, ())


def _operate(
    el: Elaborator, op: str, args: tuple[s.Expr, ...], sizes: tuple[s.Size, ...], e: Any, env: Env, inputs: list[g.Wire]
) -> g.Operate:
    row = SCALAR_OPS[op]
    _as_many(el, e, op, (len(args), len(sizes)), (row.arity, row.sizes))
    trees = tuple(_tree(el, a, env, inputs) for a in args)
    bounds: tuple[Poly, ...] = tuple(el.size(size, env) for size in sizes)
    result: Type = Unknown("any")
    if row.gives == "fixed":
        result = el.fixed(op == "q", bounds, e.span)
    if row.gives == "idx":
        result = Index(bounds[0])
        if not el.dry:
            el.graph.requirements.append((bounds[0] - 1, f"{op}<<{s.text(sizes[0])}>>", e.span))
    return g.Operate(op, trees, result, e.span, bounds)


def _as_many(el: Elaborator, e: Any, op: str, given: tuple[int, int], wanted: tuple[int, int]) -> None:
    """A function is given as many arguments and sizes as it takes."""
    for k, what in enumerate(("arguments", "sizes")):
        if given[k] != wanted[k]:
            sizes = f"<<{', '.join('nm'[: wanted[1]])}>>" if wanted[1] else ""
            help_ = helps.takes(op + sizes, helps.LETTERS[: wanted[0]])
            if op in ("min", "max") and given[0] > 2:
                help_ = f"two at a time: {op}({op}(a, b), c)"
            fail("E0905", e.span, what=op, given=f"{given[k]} {what}", wanted=f"{wanted[k]}", help=help_, where=el.operator.name)


def _scalar_values(el: Elaborator, e: s.Expr, env: Env) -> list[g.Wire]:
    return [_scalar(el, e, env)]


_CASES: dict[type[Any], Callable[[Elaborator, Any, Env], list[g.Wire]]] = {
    s.Variable: _variable,
    s.Number: _scalar_values,
    s.EnumValue: _scalar_values,
    s.Operation: _scalar_values,
    s.Hole: _hole,
    s.Meta: _meta,
    s.Group: _group,
    s.Apply: _apply,
    s.ApplyBlock: lambda el, e, env: iterate.block(el, e.block, env, values(el, e.arg, env)),
    s.ArrayOf: _array_of,
    s.TupleOf: _tuple_of,
    s.Constant: _constant,
    s.Typed: _typed,
    s.Located: _located,
    s.Initial: _initial,
    s.Alias: _alias,
    s.Equation: _equation,
    s.Copy: _copy,
    s.Last: lambda el, e, env: state.last(el, e, env),
    s.Aggregate: _aggregate,
    s.Accumulate: _accumulate,
    s.Project: _project,
    s.Update: _update,
    s.Contract: lambda el, e, env: iterate.contract(el, e, env),
    s.Forward: lambda el, e, env: iterate.forward(el, e, env),
    s.Block: lambda el, e, env: iterate.block(el, e, env, None),
    s.Branch: lambda el, e, env: iterate.branch(el, e, env),
    s.Match: lambda el, e, env: iterate.match(el, e, env),
}
