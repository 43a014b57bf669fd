"""Functions that are expanded where they are called: an end to it, and what a closure captured is still what it was.

A local function or a second-order function is elaborated anew at each of its calls. Nothing in the text bounds how often: each of twenty functions
that call the one before twice makes a million calls. So expansions are counted and their nesting is limited (docs/reference.md, "Limits");
a function that is applied to the same functions while it is being expanded for them would never end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.errors import Span
from atoll.types.records import field_types
from atoll.types.types import Fn, Type, Union, strong
from atoll.types.unions import parts, type_key

DEEPEST = 400
MOST = 10_000


@contextmanager
def expanding(el: Elaborator, fn: Any, name: str, args: Sequence[Any], span: Span) -> Iterator[None]:
    """fn's body is read for these arguments."""
    shown = "the lambda" if name == "<lambda>" else name
    key = (_identity(fn), *(_identity(x) for x in args if not isinstance(x, Value)))
    if len(key) > 1 and key in el.expansions:
        el.fail("E0120", span, name=shown)
    el.session.expanded += 1
    if len(el.expansions) >= DEEPEST:
        el.fail("E0127", span, name=shown, limit=f"{DEEPEST} calls deep")
    if el.session.expanded > MOST:
        el.fail("E0127", span, name=shown, limit=f"{MOST:,} times")
    saved = el.expansions
    el.expansions = (*saved, key)
    try:
        yield
    finally:
        el.expansions = saved


def _identity(entity: Any) -> int:
    """The same for a closure and for a copy of it that a parameter's type was noted on."""
    entity = en.undeclared(entity)
    return id(entity.captured) if isinstance(entity, en.Closure) else id(entity.fn) if isinstance(entity, en.FnRef) else id(entity)


# -- names that were bound anew


def check_captures(el: Elaborator, fn: en.Closure, span: Span) -> None:
    """A captured name must still mean what it meant when the function was made."""
    for name, then in fn.captured.items():
        scope = latest(el, fn.owners[name])
        now = scope.names.get(name) if scope is not None else then
        if now is not None and not _continues(el, now, then):
            el.fail("E0122", span, name="the lambda" if fn.name == "<lambda>" else fn.name, captured=name)


def _continues(el: Elaborator, now: Any, then: Any) -> bool:
    """The name was not bound anew: it is what it was, or what the branch that the function was made in left it as."""
    if now is then or (isinstance(now, en.Unbound) and isinstance(then, en.Unbound)):
        return True
    _, ends = el.came_from.get(id(now), (None, ()))
    return any(_continues(el, end, then) for end in ends)


def after_branches(el: Elaborator, name: str, before: Any, ends: Sequence[Any]) -> None:
    """A name was bound by branches and means something new after them; on the way through a branch it is what that branch made it."""
    now = el.scope.names[name]
    el.came_from[id(now)] = (now, tuple(end for end in ends if end is not None and end is not before))


def check_leaving(el: Elaborator, entity: Any, span: Span) -> None:
    """What a function returns is called when its own names are gone: this is the last time they can be compared."""
    for fn in closures_in(entity):
        check_captures(el, fn, span)


def closures_in(entity: Any) -> list[en.Closure]:
    """The local functions that something is made of, those they captured included."""
    seen: set[int] = set()
    found: list[en.Closure] = []
    todo = [entity]
    while todo:
        part = todo.pop()
        match part:
            case en.Closure() if id(part.captured) not in seen:
                seen.add(id(part.captured))
                found.append(part)
                todo += part.captured.values()
                todo += part.defaults.values()
            case en.TupleEntity(items) | en.FnArray(items):
                todo += items
            case en.Pick():
                todo += part.items
            case en.Choice():
                todo += [part.then, part.orelse]
            case en.Lifted() | en.Derived() | en.Declared():
                todo.append(part.fn)
    return found


def check_value(el: Elaborator, value: Value, span: Span) -> None:
    """The same for closures that exist at run time, before a value that may be one of them or hold them is called or handed on."""
    if isinstance(value.expr, ir.Closure):
        check_leaving(el, next((entity for expr, entity in el.made if expr is value.expr), None), span)
    elif isinstance(value.expr, ir.Var) and value.expr.sym in el.made_of:
        check_leaving(el, el.made_of[value.expr.sym], span)
    elif el.made and holds_functions(value.type):
        wanted = type_key(strong(value.type)) if isinstance(value.type, Fn) else None
        for made, entity in el.made:
            if wanted is None or type_key(strong(made.type)) == wanted:
                check_leaving(el, entity, span)


def check_round(el: Elaborator, state: Sequence[Type], made: Sequence[tuple[ir.Expr, Any]], assigned: frozenset[str], span: Span) -> None:
    """A closure that the next round sees must not use what the next round binds anew."""
    if not any(map(holds_functions, state)):
        return
    for _, entity in made:
        for fn in closures_in(entity):
            for name in fn.captured:
                if name in assigned and fn.owners[name] is el.scope.frame:
                    el.fail("E0122", span, name="the lambda" if fn.name == "<lambda>" else fn.name, captured=name)


def holds_functions(t: Type) -> bool:
    """Values of this type are or contain functions."""
    seen: set[Any] = set()

    def walk(t: Type) -> bool:
        if isinstance(t, Union):
            if t.decl in seen:
                return False
            seen.add(t.decl)
            return any(map(walk, t.types or ())) or any(walk(f) for m in t.decl.members if m is not None for f in field_types(m))
        return isinstance(t, Fn) or any(map(walk, parts(t)))

    return walk(t)


def latest(el: Elaborator, frame: en.Frame) -> en.Scope | None:
    """The scope a frame has now, if it is still being read."""
    for scope in (el.scope, *reversed(el.callers)):
        here: en.Scope | None = scope
        while here is not None:
            if here.frame is frame:
                return here
            here = here.parent
    return None
