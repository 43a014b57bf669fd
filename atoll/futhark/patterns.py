"""Patterns: what they bind, and the types they ask for."""

from __future__ import annotations

from typing import Any

from atoll.errors import fail
from atoll.futhark import syntax as s
from atoll.futhark.env import Binding, Env, substitute
from atoll.futhark.ftypes import FLOATS, NUMBERS, Con, DVar, Fun, Prim, Rec, TVar, Type, map_type, prune
from atoll.futhark.type_exps import Diet, TypeExps


class Patterns(TypeExps):
    def pattern(self, p: Any, scope: Env, given: Type | None, diet: list[Diet] | None = None, seen: set[str] | None = None) -> Type:
        """The type of a pattern; its names are bound in `scope`. `given` is the type of what it is matched with, where known."""
        seen = set() if seen is None else seen
        made = self._pattern(p, scope, given, diet, seen)
        p.ty = made
        return made

    def _pattern(self, p: Any, scope: Env, given: Type | None, diet: list[Diet] | None, seen: set[str]) -> Type:
        match p:
            case s.PName(name):
                if name in seen:
                    fail("E1406", p.span, what=f"Name {name} is bound twice in this pattern")
                seen.add(name)
                t = given if given is not None else self.of_any_size(p)
                p.info = scope.values[name] = Binding(name, t, "local", level=self.level)
                return t
            case s.PWild():
                return given if given is not None else self.of_any_size(p)
            case s.PLit(value):
                assert isinstance(value, s.Lit)
                t = self.literal(value)
                if given is not None:
                    self.equal(t, given, p.span)
                return t
            case s.PAttr(inner):
                return self.pattern(inner, scope, given, diet, seen)
            case s.PTyped(inner, type_):
                before, self.exists = self.exists, []
                t = self.type_exp(type_, scope, lambda: DVar(self.level), diet)
                t = substitute(t, {}, {id(b): DVar(self.level) for b in self.exists})  # of a parameter, ?[n]. is as open as []
                self.exists = before
                if given is not None:
                    self.equal(given, t, p.span)
                self.pattern(inner, scope, t, None, seen)
                return t
            case s.PRecord(fields):
                known = prune(given) if given is not None else None
                made: dict[str, Type] = {}
                diets: dict[str, Diet] = {}
                for name, sub in fields:
                    if name in made:
                        fail("E1406", p.span, what=f"Duplicate field {name!r} in record pattern")
                    inner_given = known.fields.get(name) if isinstance(known, Rec) else None
                    part: list[Diet] = []
                    made[name] = self.pattern(sub, scope, inner_given, part, seen)
                    if part:
                        diets[name] = part[0]
                if diets and diet is not None:
                    diet.append(diets)
                t = Rec(made)
                if given is not None:
                    self.equal(t, given, p.span)
                return t
            case s.PCase(name, items):
                var: Type = given if given is not None else TVar(self.level, span=p.span)
                parts = tuple(TVar(self.level) for _ in items)
                self.equal(TVar(self.level, cases={name: parts}), var, p.span)
                for part_type, sub in zip(parts, items, strict=True):
                    self.pattern(sub, scope, prune(part_type), None, seen)
                return var
        raise AssertionError(p)

    known: dict[int, Type] = {}  # what the uses of local functions say of parameters that have no types of their own, by the identity of the pattern

    def of_any_size(self, p: Any) -> Type:
        """The type of a parameter that says none: what its uses say where that was found out, each in sizes of its own."""
        if id(p) not in self.known:
            return TVar(self.level, span=p.span)

        def part(x: Type) -> Type | None:
            if isinstance(x, TVar) or (isinstance(x, Con) and not x.args):
                return TVar(self.level, span=p.span)
            return Fun(again(x.param), again(x.result)) if isinstance(x, Fun) else None

        def again(t: Type) -> Type:
            return map_type(t, part, lambda d: DVar(self.level))

        return again(self.known[id(p)])

    def literal(self, e: s.Lit) -> Type:
        if e.suffix is not None:
            e.ty = Prim(e.suffix)
            self.literals.append(e)
        else:
            e.ty = TVar(self.level, kinds=FLOATS if e.kind == "float" else NUMBERS, span=e.span)
            self.literals.append(e)
        return e.ty  # type: ignore[no-any-return]

    literals: list[Any]


def bound(p: Any) -> list[Binding]:
    """The variables of a pattern, checked before."""
    match p:
        case s.PName():
            return [p.info]
        case s.PTyped(inner) | s.PAttr(inner):
            return bound(inner)
        case s.PRecord(fields):
            return [b for _, sub in fields for b in bound(sub)]
        case s.PCase(_, items):
            return [b for sub in items for b in bound(sub)]
    return []


def single_name(p: Any) -> Binding | None:
    """The variable, where the pattern is one."""
    while isinstance(p, (s.PTyped, s.PAttr)):
        p = p.inner
    return p.info if isinstance(p, s.PName) else None
