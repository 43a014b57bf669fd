"""`match` on numbers, tuples and records, as a chain of `if`: tests first, then the names the pattern binds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atoll.elaborate import entities as en
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.exhaustive import missing
from atoll.elaborate.expressions import expr, value
from atoll.surface import syntax as s
from atoll.surface.names import Liveness
from atoll.types.records import record_of
from atoll.types.types import Record, Tuple, Type


def subject_of(el: Elaborator, stmt: s.Match) -> Value:
    """What is matched, computed once."""
    return el.bind(value(el, stmt.subject))


def as_if(el: Elaborator, stmt: s.Match, live: Liveness, subject: Value) -> s.If:
    """The same statement written with `if`; the subject is bound to a name no program can spell."""
    el.matches += 1
    name = f"match#{el.matches}"
    el.scope.names[name] = subject
    after = live.after.get(id(stmt), frozenset())
    rest: tuple[s.Stmt, ...] = ()
    last = _last_needed(stmt, subject.type)
    for number, case in reversed(list(enumerate(stmt.cases))):
        tests: list[s.Expr] = []
        binds: list[s.Stmt] = []
        _pattern(el, case.pattern, s.Name(name, span=stmt.subject.span), subject.type, tests, binds)
        if case.guard is not None:
            guard = _with_names(case.guard, binds)
            tests.append(guard)
        test: s.Expr
        if not tests or number == last:
            test = s.Num(True, span=case.span)
        else:
            test = tests[0] if len(tests) == 1 else s.BoolOp("and", tuple(tests), span=case.span)
        made = s.If(test, (*binds, *case.body), rest, span=case.span)
        live.after[id(made)] = after
        rest = (made,)
    (result,) = rest
    assert isinstance(result, s.If)
    return result


def _last_needed(stmt: s.Match, t: Type) -> int | None:
    """The case after which nothing is left, so that it needs no test."""
    for k in range(len(stmt.cases)):
        if stmt.cases[k].guard is None and missing_case(stmt.cases[: k + 1], t) is None:
            return k
    return None


def missing_case(cases: Sequence[s.Case], t: Type) -> str | None:
    """A case that is not among these; guards do not count, since they may be false."""
    return missing([case.pattern for case in cases if case.guard is None], t)


def _with_names(guard: s.Expr, binds: list[s.Stmt]) -> s.Expr:
    """The guard, able to see what the pattern binds: a lambda applied to the parts."""
    if not binds:
        return guard
    params = []
    args = []
    for bind in binds:
        assert isinstance(bind, s.Assign) and isinstance(bind.targets[0], s.Name)
        params.append(s.Param(bind.targets[0].id, None, None, span=bind.span))
        args.append(bind.value)
    return s.Call(s.Lambda(tuple(params), guard, span=guard.span), tuple(args), span=guard.span)


def _pattern(el: Elaborator, p: s.Pattern, at: s.Expr, t: Type, tests: list[s.Expr], binds: list[s.Stmt]) -> None:
    match p:
        case s.Wildcard():
            return
        case s.Capture(name, inner):
            if inner is not None:
                _pattern(el, inner, at, t, tests, binds)
            binds.append(s.Assign((s.Name(name, span=p.span),), at, span=p.span))
        case s.ValuePattern(value):
            tests.append(s.Compare(at, (("==", value),), span=p.span))
        case s.TuplePattern(items):
            if not isinstance(t, Tuple) or len(t.items) != len(items):
                el.fail("E0242", p.span, found=el.show(t))
            for k, (item, inner_type) in enumerate(zip(items, t.items, strict=True)):
                part = s.Subscript(at, (s.Num(k, span=p.span),), span=p.span)
                _pattern(el, item, part, inner_type, tests, binds)
        case s.ClassPattern(cls, args, keywords):
            _record_pattern(el, p, cls, args, keywords, at, t, tests, binds)
        case s.OrPattern(options):
            alternatives: list[s.Expr] = []
            for option in options:
                inner_tests: list[s.Expr] = []
                _pattern(el, option, at, t, inner_tests, binds)
                if not inner_tests:
                    return
                one = inner_tests[0] if len(inner_tests) == 1 else s.BoolOp("and", tuple(inner_tests), span=p.span)
                alternatives.append(one)
            tests.append(s.BoolOp("or", tuple(alternatives), span=p.span))


def _record_pattern(
    el: Elaborator,
    p: s.ClassPattern,
    cls: s.Expr,
    args: tuple[s.Pattern, ...],
    keywords: tuple[tuple[str, s.Pattern], ...],
    at: s.Expr,
    t: Type,
    tests: list[s.Expr],
    binds: list[s.Stmt],
) -> None:
    entity: Any = expr(el, cls)
    decl = record_of(entity.type) if isinstance(entity, en.TypeRef) else None
    if decl is None:
        el.fail("E0242", p.span, found=describe(entity))
    if not isinstance(t, Record) or t.decl != decl:
        el.fail("E0242", p.span, found=el.show(t))
    pairs = list(zip(decl.fields, args, strict=False)) + list(keywords)
    for name, inner in pairs:
        if name not in decl.fields:
            el.fail("E0229", p.span, name=name, record=decl.name, fields=", ".join(decl.fields))
        _pattern(el, inner, s.Attr(at, name, span=p.span), t.items[decl.fields.index(name)], tests, binds)


__all__ = ["Value", "as_if", "missing_case"]
