"""Patterns: what is defined by given values. The same constructs as in expressions, read from the whole to the parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.errors import fail
from atoll.madl import expressions, helps, instances, state, structure
from atoll.madl import graph as g
from atoll.madl import syntax as s
from atoll.madl.elaborate import Elaborator
from atoll.madl.environment import Env
from atoll.madl.levels import rank
from atoll.madl.scalars import FUNCTIONS
from atoll.madl.typing import Unknown
from atoll.sizes import poly
from atoll.types.types import Array, Tuple
from atoll.views.functor import ONE, functor, prim


def arity(el: Elaborator, pattern: s.Expr) -> int:
    """How many values a pattern takes."""
    match pattern:
        case s.Group(parts):
            return sum(arity(el, part) for part in parts)
        case s.Typed(arg) | s.Located(arg) | s.Initial(arg) | s.Alias(arg):
            return arity(el, arg)
        case s.Apply(name):
            return instances.results_of(el, name)
    return 1


def define(el: Elaborator, pattern: s.Expr, wires: list[g.Wire], env: Env) -> None:
    """Let the pattern's variables be the parts of the wires."""
    match pattern:
        case s.Group(parts):
            _group(el, pattern, parts, wires, env)
            return
        case s.Located(arg):
            define(el, arg, wires, env)
            expressions.put_at(el, wires, pattern, env)
            return
        case s.Initial(arg):
            define(el, arg, wires, env)
            state.initialise(el, wires, pattern, env)
            return
        case s.Alias(arg, other):
            if el.interface is not None and rank(arg) > 0:
                from atoll.madl import iterate

                iterate.traversed(el, pattern)
                return
            define(el, arg, wires, env)
            define(el, other, wires, env)
            return
        case s.Apply(name) if el.find(name) is not None:
            define(el, pattern.arg, instances.undo(el, pattern, env, wires), env)
            return
    if len(wires) != 1:
        fail("E0905", pattern.span, what=s.text(pattern), given=f"{len(wires)} values", wanted="1", help=helps.as_many(s.text(pattern), len(wires), 1), where=el.operator.name)
    case = _CASES.get(type(pattern))
    if case is None:
        help_ = None
        if isinstance(pattern, s.Project):
            part = f".{pattern.accessor.name}" if isinstance(pattern.accessor, s.Field) else f"[{s.text(pattern.accessor.index)}]"
            help_ = f"a value with one part replaced has a name of its own: new = {s.text(pattern.arg)} with {part} = .."
        fail("E0908", pattern.span, what=s.text(pattern), help=help_, where=el.operator.name)
    case(el, pattern, wires[0], env)


def _group(el: Elaborator, pattern: s.Group, parts: tuple[s.Expr, ...], wires: list[g.Wire], env: Env) -> None:
    wanted = sum(arity(el, part) for part in parts)
    if wanted != len(wires):
        help_ = helps.as_many(s.text(pattern), len(wires), wanted)
        fail("E0905", pattern.span, what=s.text(pattern), given=f"{len(wires)} values", wanted=f"{wanted}", help=help_, where=el.operator.name)
    at = 0
    for part in parts:
        count = arity(el, part)
        define(el, part, wires[at : at + count], env)
        at += count


def _variable(el: Elaborator, pattern: s.Variable, wire: g.Wire, env: Env) -> None:
    target = el.variable(pattern.name, env, pattern.span)
    el.define(target, pattern.span)
    el.typer.unify(wire.type, target.type, *((wire.span,) if wire.name is None else (pattern.span, "", wire.name)))
    el.relate(env, wire, [(ONE, target)], "access", "=", pattern.span)


def _typed(el: Elaborator, pattern: s.Typed, wire: g.Wire, env: Env) -> None:
    el.typer.unify(wire.type, el.type(pattern.type, env), pattern.span)
    define(el, pattern.arg, [wire], env)


def _array_of(el: Elaborator, pattern: s.ArrayOf, wire: g.Wire, env: Env) -> None:
    parts = s.items(pattern.arg)
    elem = Unknown()
    el.typer.unify(wire.type, Array(elem, poly(len(parts))), pattern.span)
    inner = [el.wire(env, part, elem) for part in parts]
    el.relate(env, wire, [(functor(prim("index", k, len(parts))), w) for k, w in enumerate(inner)], "access", "array", pattern.span)
    for part, w in zip(parts, inner, strict=True):
        define(el, part, [w], env)


def _tuple_of(el: Elaborator, pattern: s.TupleOf, wire: g.Wire, env: Env) -> None:
    parts = s.items(pattern.arg)
    inner = [el.wire(env, part) for part in parts]
    el.typer.unify(wire.type, Tuple(tuple(w.type for w in inner)), pattern.span)
    el.relate(env, wire, expressions.components(inner), "access", "tuple", pattern.span)
    for part, w in zip(parts, inner, strict=True):
        define(el, part, [w], env)


def _apply(el: Elaborator, pattern: s.Apply, wire: g.Wire, env: Env) -> None:
    if pattern.name not in structure.BUILTINS:
        if pattern.name in FUNCTIONS:
            fail("E0908", pattern.span, what=s.text(pattern), where=el.operator.name)
        fail("E0903", pattern.span, name=pattern.name, help=helps.operator(el, pattern.name), where=el.operator.name)
    parts = s.items(pattern.arg)
    inner = [el.wire(env, part) for part in parts[: structure.arity(pattern.name)]]
    if len(parts) != len(inner) or len(inner) != structure.arity(pattern.name):
        wanted = structure.arity(pattern.name)
        help_ = helps.takes(pattern.name, helps.LETTERS[:wanted])
        fail("E0905", pattern.span, what=pattern.name, given=f"{len(parts)} arguments", wanted=f"{wanted}", help=help_, where=el.operator.name)
    structure.connect(el, pattern, env, inner, wire, in_pattern=True)
    for part, w in zip(parts, inner, strict=True):
        define(el, part, [w], env)


def _aggregate(el: Elaborator, pattern: s.Aggregate, wire: g.Wire, env: Env) -> None:
    inner = el.interface
    if inner is None:
        fail("E0909", pattern.span, what=s.text(pattern), where=el.operator.name)
    scope = inner.scope
    assert scope.index is not None
    elem = Unknown()
    size = el.partial if el.partial is not None else scope.extent
    el.typer.unify(wire.type, Array(elem, size), pattern.span)
    element = el.wire(inner, pattern.arg, elem)
    el.relate(inner, wire, [(functor(prim("index", poly(scope.index), scope.extent)), element)], "access", "[.]", pattern.span)
    el.interface = None
    define(el, pattern.arg, [element], inner)
    el.interface = inner


_CASES: dict[type[Any], Callable[[Elaborator, Any, g.Wire, Env], None]] = {
    s.Hole: lambda el, pattern, wire, env: None,
    s.Variable: _variable,
    s.Typed: _typed,
    s.ArrayOf: _array_of,
    s.TupleOf: _tuple_of,
    s.Apply: _apply,
    s.Aggregate: _aggregate,
}
