"""Uniqueness of variables, and in loops: what a round consumes is given anew by the round before."""

from __future__ import annotations

from typing import Any

from atoll.errors import Span, fail
from atoll.futhark import syntax as s
from atoll.futhark.aliases import (
    NONE,
    Alias,
    Key,
    declared_unique,
    flat,
    joined,
    of_type,
    parts_of,
    variables,
    without,
)
from atoll.futhark.env import Binding
from atoll.futhark.patterns import bound


class LoopConsumption:
    def __init__(self) -> None:
        self.holds: dict[int, Alias] = {}  # of variables
        self.aliases: dict[Key, Alias] = {}  # of their parts
        self.names: dict[Key, str] = {}
        self.own: set[Key] = set()  # what may be consumed
        self.consumed: dict[Key, Span] = {}
        self.barrier: dict[Key, str] = {}  # what may not be consumed here although it may where it was made, and why
        self.kept: list[Any] = []
        self.globals: set[Key] = set()
        self.outer: set[Key] = set()  # what is bound outside of the innermost loop

    def exp(self, e: Any) -> Alias:
        raise NotImplementedError

    def define(self, b: Binding, alias: Alias, own: Any = True) -> None:
        self.kept.append(b)
        self.holds[id(b)] = self.put((id(b),), b.name, of_type(alias, b.type), own)

    def put(self, key: Key, name: str, alias: Alias, own: Any) -> Alias:
        """Names for the parts of a variable; what they alias, themselves with it."""
        if isinstance(alias, dict):
            return {f: self.put((*key, f), name, x, own.get(f) if isinstance(own, dict) else own) for f, x in alias.items()}
        self.names[key] = name
        self.aliases[key] = alias
        if own:
            self.own.add(key)
        return alias | {key}

    def reach(self, keys: frozenset[Key]) -> frozenset[Key]:
        found = set(keys)
        todo = list(keys)
        while todo:
            for other in flat(self.aliases.get(todo.pop(), NONE)):
                if other not in found:
                    found.add(other)
                    todo.append(other)
        return frozenset(found)

    def value(self, b: Binding, fields: tuple[str, ...], span: Span) -> Alias:
        """What a variable, or a part of it, aliases; it must not have been consumed."""
        a = self.holds.get(id(b), NONE)
        for f in fields:
            a = a[f] if isinstance(a, dict) and f in a else flat(a)
        for key in self.reach(flat(a)):
            if key in self.consumed:
                fail("E1405", span, what=f'Using variable "{b.name}", but this was consumed at line {self.consumed[key].line}' + (f' (through "{self.names[key]}")' if self.names.get(key) not in (None, b.name) else ""))
        return a

    def consume(self, a: Alias, span: Span) -> None:
        for key in sorted(self.reach(flat(a)), key=repr):
            name = self.names.get(key, "?")
            if key in self.consumed:
                fail("E1405", span, what=f'Consuming "{name}", but this was consumed at line {self.consumed[key].line}')
            if key in self.barrier:
                fail("E1405", span, what=f'Consuming variable "{name}", but {self.barrier[key]}')
            if key not in self.own:
                fail("E1405", span, what=f'Consuming variable "{name}", but this is not consumable: it is not unique')
            self.consumed[key] = span

    def bind(self, p: Any, alias: Alias) -> None:
        match p:
            case s.PName():
                self.define(p.info, alias)
            case s.PTyped(inner) | s.PAttr(inner):
                self.bind(inner, alias)
            case s.PRecord(fields):
                for f, sub in fields:
                    self.bind(sub, alias[f] if isinstance(alias, dict) and f in alias else flat(alias))
            case s.PCase(_, items):
                for sub in items:
                    self.bind(sub, flat(alias))

    def inside(self, why: str) -> dict[Key, str]:
        """From here on, what exists already is not to be consumed."""
        before = dict(self.barrier)
        for key in self.names:
            self.barrier.setdefault(key, why)
        return before

    def parameter(self, p: Any, diet: Any) -> None:
        match p:
            case s.PName():
                self.define(p.info, NONE, diet)
            case s.PTyped(inner) | s.PAttr(inner):
                self.parameter(inner, diet)
            case s.PRecord(fields):
                for f, sub in fields:
                    self.parameter(sub, diet.get(f) if isinstance(diet, dict) else diet)
            case s.PCase(_, items):
                for sub in items:
                    self.parameter(sub, diet)

    def exp_Loop(self, e: s.Loop) -> Alias:
        start = self.exp(e.init)
        if e.kind != "while":
            around = self.exp(e.high)
        before = self.inside("it is bound outside of the loop that consumes it")
        outside, self.outer = self.outer, set(self.names)
        names = bound(e.pat)
        self.loop_variables(e.pat)
        if e.kind == "while":
            self.exp(e.high)
        elif e.var is not None:
            self.bind(e.var, flat(around) if e.kind == "in" else NONE)
        result = self.exp(e.body)
        self.barrier = before
        mine = {key for key in self.names if key[0] in {id(b) for b in names}}
        taken = {key for key in mine if key in self.consumed}
        unique = {key for key in mine if key[0] in declared_unique(e.pat)}
        known = set(self.consumed)
        self.give(e.pat, start, taken | unique, e.span)
        given = set(self.consumed) - known
        for b in variables([e.body, e.high if e.kind == "while" else None]):
            lost = self.reach(flat(self.holds.get(id(b), NONE))) & given
            if lost and not any(key[0] == id(b) for key in mine):
                fail("E1405", e.span, what=f'Using variable "{b.name}" inside the loop, but this was consumed as its first state')
        if taken | unique:
            self.next_round(e.pat, result, taken | unique, mine, e.body.span)
        self.outer = outside
        for key in taken:
            self.consumed.setdefault(key, e.span)
        return self.after(e.pat, without(joined(start, result), mine), taken | unique)

    def loop_variables(self, p: Any) -> None:
        """A variable of a loop may be consumed by a round, unless its type says that it is not unique."""
        match p:
            case s.PTyped(inner, t) if not any(isinstance(x, s.TUnique) for x in parts_of(t)):
                self.parameter(inner, False)
            case s.PAttr(inner):
                self.loop_variables(inner)
            case s.PRecord(fields):
                for _, sub in fields:
                    self.loop_variables(sub)
            case _:
                self.parameter(p, True)

    def after(self, p: Any, a: Alias, taken: set[Key]) -> Alias:
        """What the loop's result aliases: parts it consumes are its own."""
        match p:
            case s.PName():
                return NONE if any(key[0] == id(p.info) for key in taken) else a
            case s.PTyped(inner) | s.PAttr(inner):
                return self.after(inner, a, taken)
            case s.PRecord(fields):
                return {f: self.after(sub, a[f] if isinstance(a, dict) and f in a else flat(a), taken) for f, sub in fields}
        return a

    def next_round(self, p: Any, result: Alias, taken: set[Key], mine: set[Key], span: Span) -> None:
        """What a round consumes must be given anew by the round before: not a value from around the loop, nor one value twice."""
        seen: set[Key] = set()

        def go(p: Any, a: Alias) -> None:
            match p:
                case s.PName():
                    here = self.reach(flat(a))
                    if any(key[0] == id(p.info) for key in taken):
                        for key in sorted(here, key=repr):
                            if key not in mine and (key not in self.own or key in self.outer):
                                fail("E1405", span, what=f'The loop consumes "{p.name}", but its next value "{p.name}" aliases "{self.names.get(key, "?")}", which is not consumable')
                            if key in mine and key[0] != id(p.info) and key in self.consumed:
                                fail("E1405", span, what=f'The next value of "{p.name}" aliases other consumed loop parameter "{self.names[key]}"')
                        if seen & here:
                            fail("E1405", span, what=f'The loop consumes "{p.name}", whose next value aliases previously returned value')
                    seen.update(here)
                case s.PTyped(inner) | s.PAttr(inner):
                    go(inner, a)
                case s.PRecord(fields):
                    for f, sub in fields:
                        go(sub, a[f] if isinstance(a, dict) and f in a else flat(a))

        go(p, result)

    def give(self, p: Any, a: Alias, taken: set[Key], span: Span) -> None:
        """The first values of a loop's variables that the loop consumes are consumed."""
        match p:
            case s.PName():
                if any(key[0] == id(p.info) for key in taken):
                    self.consume(a, span)
            case s.PTyped(inner) | s.PAttr(inner):
                self.give(inner, a, taken, span)
            case s.PRecord(fields):
                for f, sub in fields:
                    self.give(sub, a[f] if isinstance(a, dict) and f in a else flat(a), taken, span)
