"""What is known at a position of a term: hypotheses on its unknowns, shapes and definitions of its arrays, and how it is stored.

Going down adds the range of a loop, the conditions of a guard, and in the body of a let its definition. `folding` says that the term
there is folded into a place (term.py, F), and `monoid` by which operator; a bound term, an operand and the top are values (V).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from atoll.schedule import term as tm
from atoll.sizes import Poly, poly
from atoll.sizes.prover import Facts, facts


@dataclass(frozen=True, slots=True)
class Context:
    facts: Facts
    shapes: dict[tm.Tensor, tuple[Poly, ...]]
    defs: dict[tm.Tensor, tm.Term]
    closed: Facts  # what is known of sizes, also where no round of the loops around runs and no guard holds: shapes rest on it
    folding: str | None = None  # the monoid, where the term is folded into a place
    parts: dict[tm.Tensor, tm.Nest] = field(default_factory=dict)  # what an opaque part made

    def know(self, *more: Poly) -> Context:
        return replace(self, facts=self.facts.add(more))

    def down(self, t: tm.Term, k: int) -> Context:
        """The context of child k of t, itself in this context."""
        match t:
            case tm.Gen():
                return self.know(poly(t.sym) - t.low, t.high - 1 - poly(t.sym))
            case tm.Sum():
                inner = self.know(poly(t.sym) - t.low, t.high - 1 - poly(t.sym))
                return replace(inner, folding=t.monoid)
            case tm.Guard():
                return self.know(*t.conds)
            case tm.Let():
                if k == 0:
                    return replace(self, folding=None)
                shapes = {**self.shapes, t.name: tm.shape(t.bound, self.shapes)}
                return replace(self, shapes=shapes, defs={**self.defs, t.name: t.bound})
            case tm.Nest():
                shapes = {**self.shapes, **dict(zip(t.names, t.shapes, strict=True))}
                parts = {**self.parts, **dict.fromkeys(t.names, t)}
                return replace(self.know(*t.facts), shapes=shapes, closed=self.closed.add(t.facts), parts=parts)
            case tm.Plus():
                if k == 1:
                    return replace(self, folding=t.monoid)
                return self if self.folding in (None, t.monoid) else replace(self, folding=None)
            case tm.Op() | tm.Look() | tm.Cast():
                return replace(self, folding=None)
            case tm.Choose():
                if k >= 2:
                    return replace(self, folding=None)
                return self.know(*test_facts(t.tests, k == 0))
        return self


def test_facts(tests: tuple[tm.Test, ...], hold: bool) -> tuple[Poly, ...]:
    """What follows when all tests hold, or when not all do (known only for a single comparison)."""
    found: list[Poly] = []
    if not hold:
        if len(tests) == 1 and tests[0].kind == "ge" and tests[0].poly is not None:
            found.append(-tests[0].poly - 1)
        return tuple(found)
    for test in tests:
        if test.poly is not None and test.kind in ("ge", "eq"):
            found.append(test.poly)
            if test.kind == "eq":
                found.append(-test.poly)
    return tuple(found)


def top(known: tuple[Poly, ...], shapes: dict[tm.Tensor, tuple[Poly, ...]]) -> Context:
    return Context(facts().add(known), dict(shapes), {}, facts().add(known))


def locate(context: Context, t: tm.Term, path: tm.Path) -> tuple[Context, tm.Term]:
    """The context and the term at a position."""
    for k in path:
        context, t = context.down(t, k), tm.kids(t)[k]
    return context, t
