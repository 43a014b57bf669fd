"""`at.own[t]` inside Atoll: a value given to a parameter that may overwrite it is not read later.

Nothing would go wrong if it were: a copy would be made. That copy is what the annotation says nobody wants, so it must be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from atoll.errors import fail
from atoll.surface import syntax as s
from atoll.surface.names import Liveness, binds, binds_target
from atoll.surface.show import children
from atoll.types.objects import is_function


def check_owned(fn: Any) -> None:
    """Every call in the body of a function that gives a name away."""
    _block(fn, fn.surface.body, binds(fn.surface.body) | {p.name for p in fn.surface.params})


def _block(fn: Any, stmts: tuple[s.Stmt, ...], local: frozenset[str]) -> None:
    for stmt in stmts:
        expressions: list[Any] = []
        inner: tuple[tuple[s.Stmt, ...], ...] = ()
        bound: frozenset[str] = frozenset()
        match stmt:
            case s.Assign(targets, value):
                expressions = [value]
                bound = frozenset().union(*map(binds_target, targets))
            case s.AugAssign(target, _, value):
                expressions = [target, value]
            case s.Return(value) if value is not None:
                expressions = [value]
            case s.ExprStmt(value) | s.Assert(value):
                expressions = [value]
            case s.If(test, then, orelse):
                expressions, inner = [test], (then, orelse)
            case s.While(test, body):
                expressions, inner = [test], (body,)
            case s.For(_, iter_, body):
                expressions, inner = [iter_], (body,)
            case s.Match(subject, cases):
                expressions, inner = [subject], tuple(case.body for case in cases)
        after: frozenset[str] = frozenset() if isinstance(stmt, s.Return) else fn.liveness.after[id(stmt)] - bound
        alive = after.union(*(Liveness(body).before_all for body in inner))
        for expression in expressions:
            _expression(fn, expression, expression, alive, local)
        for body in inner:
            _block(fn, body, local)


def _expression(fn: Any, whole: Any, e: Any, alive: frozenset[str], local: frozenset[str]) -> None:
    for call, repeated in _calls(e, False):
        for name, span, callee in _given_away(fn, call, local):
            if name in alive or repeated or sum(n == name for n in _names(whole)) > 1:
                fail("E0401", span, name=name, fn=callee, where=fn.name)


def _calls(e: Any, repeated: bool) -> Iterator[tuple[s.Call, bool]]:
    """Calls in an expression, and whether they are made more than once."""
    if isinstance(e, s.Call):
        yield e, repeated
    if isinstance(e, s.Comprehension):
        yield from _calls(e.clauses[0].iter, repeated)
        for part in children(e):
            if part is not e.clauses[0].iter:
                yield from _calls(part, True)
        return
    for part in children(e):
        yield from _calls(part, repeated or isinstance(e, s.Lambda))


def _given_away(fn: Any, call: s.Call, local: frozenset[str]) -> Iterator[tuple[str, Any, str]]:
    if not isinstance(call.fn, s.Name) or call.fn.id in local:
        return
    callee = fn.namespace.python_value(call.fn.id)
    if not is_function(callee):
        return
    params = callee.signature.params
    given = [*zip(params, call.args, strict=False), *((p, value) for key, value in call.keywords for p in params if p.name == key)]
    for param, value in given:
        if param.owned and isinstance(value, s.Name) and value.id in local:
            yield value.id, value.span, callee.name


def _names(e: Any) -> Iterator[str]:
    if isinstance(e, s.Name):
        yield e.id
    for part in children(e):
        yield from _names(part)
