"""`match` and `automaton`, on the text of an operator.

An automaton is equations: the state chosen for the next cycle is a variable with `last`, and its bodies are the cases of a match on the state of this
cycle. With `unless`, this cycle's state is first chosen among those of the state that was chosen before.

    automaton:                                  next init off = ..;  again init false = ..;
      state off: y = 0; until go then on;       match last next:
      state on:  y = 1; until stop then off       case off (restarted where last again): y = 0; next = if go then on else off; again = go
    end                                           case on  (restarted where last again): y = 1; next = if stop then off else on; again = stop
                                                end

`then s` restarts the memory inside s when it is entered, `resume s` keeps it. At most one `unless` and one `until` act in a cycle, each the first whose condition holds.
A state is entered when its body runs: one that `until` chose and that an `unless` of its own left at once has not been entered, and its memory is as it was (as in Lucid Synchrone and
SCADE). The conditions of its `unless` have memory of their own where they call nodes (`fresh`): it restarts with the first cycle in which they are looked at after `then s`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from typing import Any

from atoll.errors import Span, fail
from atoll.madl import syntax as s
from atoll.madl.represented import MOST, Enum
from atoll.madl.scalars import FUNCTIONS
from atoll.types.dtypes import U8


def without_automata(operator: s.Operator, enums: Mapping[str, Enum], operators: Container[str] = ()) -> s.Operator:
    """The operator with every automaton written as equations and a match. `operators` may have state; functions of numbers have none."""

    def remembers(e: s.Expr) -> bool:
        nodes = [node for node in s.walk(e) if isinstance(node, (s.Initial, s.Apply, s.ApplyBlock))]
        return any(not isinstance(node, s.Apply) or node.name in operators or node.name not in FUNCTIONS for node in nodes)

    numbers = itertools.count()

    def flat(body: tuple[s.Expr, ...]) -> tuple[s.Expr, ...]:
        return tuple(x for statement in body for x in (statement.items if isinstance(statement, _Equations) else (statement,)))

    def change(node: Any) -> Any:
        if isinstance(node, s.Automaton):
            return _Equations(_equations(node, operator, enums, remembers, next(numbers)), span=node.span)
        if isinstance(node, (s.Operator, s.Forward, s.Block, s.Case, s.State)):
            return _with(node, body=flat(node.body))
        if isinstance(node, s.Branch):
            return _with(node, then=flat(node.then), orelse=flat(node.orelse))
        return node

    if not any(isinstance(node, (s.Automaton, s.Transition)) for node in s.walk(operator)):
        return operator
    changed = s.rewrite(operator, change)
    for node in s.walk(changed):
        if isinstance(node, s.Transition):
            fail("E0971", node.span, what=f"`{node.when}` stands outside the states of an automaton", where=operator.name)
    assert isinstance(changed, s.Operator)
    return changed


class _Equations(s.Group):
    """What an automaton becomes, before it is put among the statements around it."""


def _with(node: Any, **bodies: Any) -> Any:
    return node if all(getattr(node, name) == body for name, body in bodies.items()) else replace(node, **bodies)


def _equations(a: s.Automaton, operator: s.Operator, enums: Mapping[str, Enum], remembers: Callable[[s.Expr], bool], number: int) -> tuple[s.Expr, ...]:
    kind = _type(a, operator, enums, number)
    numbers = {member: k for k, member in enumerate(kind.members)}

    def member(name: str, span: Span) -> s.EnumValue:
        if name not in numbers:
            fail("E0971", span, what=f"there is no state {name}", help=f"the states are {', '.join(numbers)}", where=operator.name)
        return s.EnumValue(kind, numbers[name], span=span)

    strong = {x.name: [t for t in x.body if isinstance(t, s.Transition) and t.when == "unless"] for x in a.states}
    memory = any(remembers(e) for x in a.states for e in x.body)  # something may restart
    guarded = any(remembers(t.condition) for found_ in strong.values() for t in found_)
    no = s.Number(False, span=a.span)
    chosen, again = f"state##{number}", f"again##{number}"
    first = a.states[0]
    found: list[s.Expr] = [
        s.Initial(s.Variable(chosen, span=a.span), member(first.name, first.span), span=first.span),
    ]
    if memory:
        found.append(s.Initial(s.Variable(again, span=a.span), no, span=first.span))
    fresh, struck = s.Variable(f"fresh##{number}", span=a.span), s.Variable(f"struck##{number}", span=a.span)
    if guarded:
        found.append(s.Initial(fresh, no, span=first.span))
    here: s.Expr = s.Last(s.Variable(chosen, span=a.span), span=a.span)
    restarts: s.Expr | None = s.Last(s.Variable(again, span=a.span), span=a.span) if memory else None
    if any(strong.values()):
        now, anew = s.Variable(f"now##{number}", span=a.span), s.Variable(f"anew##{number}", span=a.span)
        cases = []
        for k, x in enumerate(a.states):
            flags = [*([(anew, restarts)] if restarts is not None else []), *([(struck, no)] if guarded else [])]
            body = _decided(strong[x.name], now, flags, member(x.name, x.span), f"u{number}_{k}_", member, x.span)
            reset = s.Reset("reset", s.Last(fresh, span=x.span), span=x.span) if guarded else None
            cases.append(s.Case((member(x.name, x.span),), body, reset, span=x.span))
        found.append(s.Match(here, tuple(cases), span=a.span))
        here, restarts = now, anew if memory else None
    cases = []
    for k, x in enumerate(a.states):
        weak = [t for t in x.body if isinstance(t, s.Transition) and t.when == "until"]
        body = tuple(t for t in x.body if not isinstance(t, s.Transition))
        flags = [*([(s.Variable(again, span=x.span), no)] if memory else []), *([(fresh, struck)] if guarded else [])]
        following = _decided(weak, s.Variable(chosen, span=x.span), flags, member(x.name, x.span), f"w{number}_{k}_", member, x.span)
        reset = s.Reset("reset", restarts, span=x.span) if restarts is not None else None
        cases.append(s.Case((member(x.name, x.span),), (*body, *following), reset, span=x.span))
    found.append(s.Match(here, tuple(cases), span=a.span))
    if a.name is not None:
        found.append(s.Equation(s.Variable(a.name, span=a.span), s.Copy(here, span=a.span), span=a.span))
    return tuple(found)


def _type(a: s.Automaton, operator: s.Operator, enums: Mapping[str, Enum], number: int) -> Enum:
    names = [x.name for x in a.states]
    for k, x in enumerate(a.states):
        if x.name in names[:k]:
            fail("E0971", x.span, what=f"state {x.name} is there twice", help="give one of them another name", where=operator.name)
    if a.type is None:
        if len(names) > MOST:
            fail("E0971", a.span, what=f"it has {len(names)} states", help=f"at most {MOST} are possible", where=operator.name)
        return Enum(U8, name=f"{operator.name}_state{number or ''}", members=tuple(names))
    if a.type not in enums:
        fail("E0904", a.span, what="enumeration", name=a.type, help=f"declare it before: type {a.type} = {' | '.join(names)}", where=operator.name)
    kind = enums[a.type]
    for x in a.states:
        if x.name not in kind.members:
            fail("E0971", x.span, what=f"{x.name} is no member of {kind.name}", help=f"its members are {', '.join(kind.members)}", where=operator.name)
    missing = [m for m in kind.members if m not in names]
    if missing:
        fail("E0971", a.span, what=f"{kind.name} has a member {missing[0]} that is no state", help=f"add it: state {missing[0]}: ..", where=operator.name)
    return kind


def _decided(
    transitions: list[s.Transition], target: s.Variable, flags: list[tuple[s.Variable, s.Expr]], stay: s.Expr, stem: str, member: Any, span: Span
) -> tuple[s.Expr, ...]:
    """target = if c1 then s1 else if c2 then s2 else stay; each flag = whether that state is entered anew, with what it is where it stays."""
    conditions = [s.Variable(f"leave##{stem}{k}", span=t.condition.span) for k, t in enumerate(transitions)]
    found: list[s.Expr] = [s.Equation(c, t.condition, span=t.span) for c, t in zip(conditions, transitions, strict=True)]
    where: s.Expr = stay
    anew = [otherwise for _, otherwise in flags]
    for c, t in reversed(list(zip(conditions, transitions, strict=True))):
        where = s.Operation("select", (c, member(t.target, t.span), where), span=t.span)
        anew = [s.Operation("select", (c, s.Number(t.into == "then", span=t.span), e), span=t.span) for e in anew]
    found.append(s.Equation(target, _computed(where), span=span))
    return (*found, *(s.Equation(flag, _computed(e), span=span) for (flag, _), e in zip(flags, anew, strict=True)))


def _computed(e: s.Expr) -> s.Expr:
    return s.Copy(e, span=e.span) if isinstance(e, (s.Last, s.Variable)) else e


# -- matches


def check_matches(operator: s.Operator) -> None:
    """Labels are constants of one type, each once, and every value has a case."""
    for node in s.walk(operator):
        if isinstance(node, s.Match):
            _check(node, operator.name)


def _check(e: s.Match, where: str) -> None:
    seen: dict[Any, None] = {}
    kinds: dict[Any, s.Expr] = {}
    for label in (label for case in e.cases for label in case.labels):
        if not isinstance(label, (s.EnumValue, s.Number)) or isinstance(label.value, float):
            fail("E0970", label.span, what=f"{s.text(label)} is no constant", help="labels are members of an enumeration, whole numbers, true or false", where=where)
        kinds.setdefault(label.type if isinstance(label, s.EnumValue) else type(label.value), label)
        if label.value in seen:
            fail("E0970", label.span, what=f"{s.text(label)} has a case already", help="one of the two never runs: take it away", where=where)
        seen[label.value] = None
    if len(kinds) > 1:
        first, second = list(kinds.values())[:2]
        fail("E0970", second.span, what=f"{s.text(first)} and {s.text(second)} are of different types", help="all labels of a match have one type", where=where)
    (kind,) = kinds
    names = list(kind.members) if isinstance(kind, Enum) else ["false", "true"] if kind is bool else None
    missing = [name for k, name in enumerate(names or ()) if k not in seen]
    has_else = not e.cases[-1].labels
    if names is None and not has_else:
        fail("E0970", e.span, what="other numbers have no case", help="add `else ..` before `end`", where=where)
    if missing and not has_else:
        fail("E0970", e.span, what=f"{', '.join(missing)} has no case", help=f"add it: case {', '.join(missing)}: ..", where=where)
    if names is not None and not missing and has_else:
        fail("E0970", e.cases[-1].span, what="nothing is left for `else`", help="take it away: every value has a case", where=where)
