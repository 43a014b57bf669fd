"""A schedule under construction: a theorem, what was asked of its loops, and the means to take one rule after another.

Primitives (loop_steps.py, value_steps.py) are functions on a `Work`. They name loops by binder and look up positions before every rule,
because every rule moves things.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from atoll.schedule import kernel, names
from atoll.schedule import term as tm
from atoll.schedule.context import Context
from atoll.schedule.formulas import formula
from atoll.schedule.kernel import Misused, Refused, Theorem
from atoll.schedule.to_loops import Notes
from atoll.sizes import Atom, Poly, PolyLike, Sym, poly

from atoll.schedule import rules_blocks, rules_lets, rules_loops, simplify  # isort: skip  (they enter the rules into the table)

_ = (rules_blocks, rules_lets, rules_loops, simplify)


def copy_notes(notes: Notes) -> Notes:
    return Notes(dict(notes.vector), set(notes.unroll), set(notes.parallel), set(notes.register))


@dataclass
class Work:
    """`base` is the theorem before the first assumption: what runs where the assumptions do not hold."""

    theorem: Theorem
    notes: Notes = field(default_factory=Notes)
    base: Theorem | None = None
    step: str = ""  # the user's step, for messages

    def copy(self, step: str) -> Work:
        return replace(self, notes=copy_notes(self.notes), step=step)

    @property
    def term(self) -> tm.Term:
        return self.theorem.term

    @property
    def sizes(self) -> frozenset[Atom]:
        return self.theorem.sizes

    def do(self, path: tm.Path, rule: str, **args: Any) -> None:
        """Take one rule at a position."""
        self.theorem, copied = kernel.apply(self.theorem, path, rule, args)
        self.follow(copied)

    def follow(self, copied: dict[Any, Any]) -> None:
        """What was asked of a loop is asked of its copies."""
        for new, old in copied.items():
            if old in self.notes.vector:
                self.notes.vector[new] = self.notes.vector[old]
            for marked in (self.notes.unroll, self.notes.parallel, self.notes.register):
                if old in marked:
                    marked.add(new)

    def attempt(self, path: tm.Path, rule: str, **args: Any) -> bool:
        """Take a rule if it applies."""
        try:
            self.do(path, rule, **args)
        except Refused:
            return False
        return True

    def simplify(self, path: tm.Path = ()) -> None:
        self.do(path, "simplify")

    def assume(self, *facts: Poly) -> None:
        if self.base is None:
            self.base = self.theorem
        self.theorem = kernel.assume(self.theorem, *facts)

    def size_names(self) -> dict[str, Poly]:
        return {sym.name: poly(sym) for sym in self.sizes if isinstance(sym, Sym)}

    def size(self, value: PolyLike | str, path: tm.Path = ()) -> Poly:
        """A number, size or formula the user gave, in the program's own unknowns: sizes are known by name, and so are the loops
        around a position."""
        if isinstance(value, str):
            around = [tm.at(self.term, path[:n]) for n in range(len(path) + 1)]
            loops = {t.sym.name: poly(t.sym) for t in around if isinstance(t, (tm.Gen, tm.Sum))}
            return formula(value, {**self.size_names(), **loops})
        if isinstance(value, bool) or not isinstance(value, (int, Atom, Poly)):
            raise Misused(f"{value!r} is not a size")
        p = poly(value)
        own = {sym.name: sym for sym in self.sizes if isinstance(sym, Sym)}
        env: dict[Atom, Poly] = {}
        for leaf in p.leaves() - self.sizes:
            if not isinstance(leaf, Sym) or leaf.name not in own:
                raise Refused(f"{leaf} is not a size of this function")
            env[leaf] = poly(own[leaf.name])
        return p.subst(env)

    # -- positions

    def loop(self, selector: str | Sym) -> Sym:
        """The loop a selector means."""
        if isinstance(selector, Sym):
            return selector
        if not isinstance(selector, str):
            raise Misused(f"{selector!r} is not the name of a loop")
        _, t = names.find(self.term, selector, loops=True)
        assert isinstance(t, (tm.Gen, tm.Sum))
        return t.sym

    def value(self, selector: str | tm.Tensor) -> tm.Tensor:
        """The value a name means: a let, an opaque part's result, or an input."""
        if isinstance(selector, tm.Tensor):
            return selector
        if not isinstance(selector, str):
            raise Misused(f"{selector!r} is not the name of a value")
        for x in self.theorem.inputs:
            if x.name == selector:
                return x
        for _, t in tm.walk(self.term):
            if isinstance(t, tm.Nest):
                for x in t.names:
                    if x.name == selector:
                        return x
        _, t = names.find(self.term, selector, loops=False)
        assert isinstance(t, tm.Let)
        return t.name

    def path(self, binder: Sym | tm.Tensor) -> tm.Path:
        found = names.path_of(self.term, binder)
        if found is None:
            raise Refused(f"{binder} is gone")
        return found

    def at(self, binder: Sym | tm.Tensor) -> tm.Term:
        return tm.at(self.term, self.path(binder))

    def at_loop(self, sym: Sym) -> tm.Gen | tm.Sum:
        t = self.at(sym)
        assert isinstance(t, (tm.Gen, tm.Sum))
        return t

    def context(self, path: tm.Path) -> Context:
        return self.theorem.locate(path)[0]

    def closed(self, p: Poly) -> bool:
        return p.leaves() <= self.sizes

    def uses(self, x: tm.Tensor, root: tm.Path = ()) -> list[tm.Path]:
        """Where elements of x are read below a position."""
        return [(*root, *path) for path, u in tm.walk(tm.at(self.term, root)) if isinstance(u, tm.Get) and u.name is x]

    def looked_up(self, x: tm.Tensor, root: tm.Path = ()) -> bool:
        """Whether elements of x are read below a position at numbers that are data."""
        return any(isinstance(u, tm.Look) and u.name is x for _, u in tm.walk(tm.at(self.term, root)))
