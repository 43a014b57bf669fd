"""The types of functions: their parameters, the sizes their bodies make, and what may not depend on what comes later."""

from __future__ import annotations

from typing import Any

from atoll.errors import fail
from atoll.futhark.env import Binding, Env, substitute
from atoll.futhark.ftypes import (
    I64,
    Dim,
    DRef,
    DVar,
    Fun,
    Type,
    free_vars,
    map_dim,
    map_type,
    show,
)
from atoll.futhark.inference import Inference, mentions
from atoll.futhark.patterns import bound, single_name
from atoll.futhark.unify import BOTTOM


class FunctionTypes(Inference):
    given: list[DVar]  # sizes that a declared result leaves to the value

    def function(self, params: list[Any], result: Any, body: Any, scope: Env, itself: Binding | None = None) -> Type:
        """The type of a function, by its parameters and body. Sizes its body makes are existential. `itself` is its name in its body, whose type is set here."""
        self.level += 1
        seen: set[str] = set()
        start = self.clock
        typed = []
        for p in params:
            diet: list[Any] = []
            typed.append((p, self.pattern(p, scope, None, diet, seen), diet))
        made: list[Binding] = []
        fresh_result: Any = False
        if result is not None:
            before, self.exists = self.exists, []

            def anonymous() -> Dim:
                made.append(self.unknown(""))
                return DRef(made[-1])

            result_diet: list[Any] = []
            declared = self.type_exp(result, scope, anonymous, result_diet)
            self.of_whole_parameters(declared, typed, result.span)
            fresh_result = result_diet[0] if result_diet else False
            made += self.exists
            explicit_sizes = list(self.exists)
            self.exists = before
            if itself is not None:
                itself.type = self.arrow_of(typed, declared, made)
            found = self.exp(body, scope)
            explicit = {id(b) for b in explicit_sizes}
            free = {id(b): DVar(self.level) for b in made}
            self.equal(found, substitute(declared, {}, {**free}), body.span)
            self.given.extend(free.values())
            anonymous_ones = {key: d for key, d in free.items() if key not in explicit}
            t = substitute(declared, {}, {**anonymous_ones})  # what [] stands for is found out
            made = [b for b in made if id(b) not in anonymous_ones]
        else:
            given = self.var(span=body.span)
            if itself is not None:
                itself.type = self.arrow_of(typed, given, [])
            t = self.exp(body, scope)
            if itself is not None:
                self.equal(t, given, body.span)
        self.level -= 1
        self.have_sizes(typed)
        names = [single_name(p) for p, _, _ in typed]
        self.causal(typed, start)
        inner = [b for p in params for b in bound(p)]
        t = self.existential(t, made, [b for b in inner if b not in names])
        for (p, pt, diet), name in reversed(list(zip(typed, names, strict=True))):
            t = Fun(pt, t, name, tuple(made) if p is params[-1] else (), diet[0] if diet else None, fresh_result if p is params[-1] else False)
        if params:
            self.lower(t)
            for b in (*(n for n in names if n is not None), *made):
                b.level = BOTTOM  # outside, they are names of the type only
        return t

    def have_sizes(self, typed: list[Any]) -> None:
        """The sizes of parameters are those of values that the body has: none that only calls of another function make."""
        open_: list[DVar] = []
        for _, t, _ in typed:
            free_vars(t, [], open_)
        for d in open_:
            d.of_use = False

    def of_whole_parameters(self, declared: Type, typed: list[Any], span: Any) -> None:
        """A declared result has no size that is a part of a parameter: outside, the part has no name."""
        inner = [b for p, _, _ in typed for b in bound(p) if b is not single_name(p)]

        def dim(d: Dim) -> Dim:
            for b in inner:
                if mentions(d, {id(b)}):
                    fail("E1404", span, found=show(declared), expected="sizes that are known outside", why=f'The return type annotation refers to the name "{b.name}", which is bound to an inner component of a function parameter')
            return d

        map_type(declared, lambda x: None, dim)

    def causal(self, typed: list[Any], start: int) -> None:
        """A parameter has no size that is only known later: of a later parameter, or made in the body."""
        later = {id(b): b for p, _, _ in typed for b in bound(p)}
        for p, pt, _ in typed:
            for b in bound(p):
                later.pop(id(b), None)

            def leaf(d: Dim, pt: Type = pt, p: Any = p) -> Dim:
                if isinstance(d, DRef) and id(d.binding) in later:
                    fail("E1404", p.span, found=show(pt), expected="sizes that are known before", why=f'scope-violation: the size "{d.binding.name}" is a later parameter')
                if isinstance(d, DRef) and d.binding.kind == "size" and not d.binding.declared and start < d.binding.born and d.binding.level < BOTTOM:
                    fail("E1404", p.span, found=show(pt), expected="sizes that are known before", why="Causality check: the size of this parameter is only computed in the body of the function")
                return d

            map_type(pt, lambda x: x if isinstance(x, Fun) else None, lambda d, leaf=leaf: map_dim(d, leaf))  # type: ignore[misc]

    def arrow_of(self, typed: list[Any], t: Type, made: list[Binding]) -> Type:
        """The type of a function as far as it is known before its body."""
        exists = [Binding(b.name, I64, "size", level=BOTTOM) for b in made]
        t = substitute(t, {}, {id(b): DRef(new) for b, new in zip(made, exists, strict=True)})
        for p, pt, diet in reversed(typed):
            own = single_name(p)
            name = None if own is None else Binding(own.name, own.type, "local", level=BOTTOM)
            if own is not None:
                t = substitute(t, {}, {id(own): DRef(name)})
            t = Fun(pt, t, name, tuple(exists) if p is typed[-1][0] else (), diet[0] if diet else None, False)
        return t

    def existential(self, t: Type, made: list[Binding], hidden: list[Binding]) -> Type:
        """A result's sizes that exist inside the function only."""
        self.level += 1
        t = self.hide(t, hidden, made)
        self.level -= 1
        known = {id(b) for b in made}

        def leaf(d: Dim) -> Dim:
            if isinstance(d, DRef) and d.binding.kind == "size" and d.binding.level > self.level and id(d.binding) not in known and not d.binding.declared:
                known.add(id(d.binding))
                made.append(d.binding)
            return d

        return map_type(t, lambda x: None, lambda d: map_dim(d, leaf))
