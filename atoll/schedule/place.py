"""Where a value goes: a buffer or variable, and the way there through reshapes and halves of concatenations (ATL figure 3's reindexers)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.schedule import term as tm
from atoll.schedule.cover import Cover
from atoll.schedule.reshapes import RESHAPES, Pairs, amount_or_zero, drop_conditions
from atoll.sizes import Poly


class NotLowered(Exception):
    """The term has a form that has no loops; the text says what to do first."""


@dataclass(frozen=True, slots=True)
class Reach:
    """From pairs at a node to pairs at its place, and the conditions met on the way."""

    push: Callable[[Pairs], tuple[Pairs, list[Poly]]]

    def enter(self, pair: tuple[Poly, Poly]) -> Reach:
        return Reach(lambda pairs: self.push([pair, *pairs]))

    def through(self, t: tm.Reshape) -> Reach:
        row, k = RESHAPES[t.op], amount_or_zero(t.amount)
        if row.push is None:
            raise NotLowered(f"{t.op} can only be read through")
        push = row.push

        def go(pairs: Pairs) -> tuple[Pairs, list[Poly]]:
            mine = pairs[t.axis : t.axis + row.takes]
            drops = drop_conditions(row, tuple(d for _, d in mine), k, tuple(i for i, _ in mine))
            moved = [*pairs[: t.axis], *push(mine, k), *pairs[t.axis + row.takes :]]
            found, more = self.push(moved)
            return found, [*drops, *more]

        return Reach(go)

    def beside(self, axis: int, shift: Poly, more: Poly) -> Reach:
        """One half of a concatenation."""

        def go(pairs: Pairs) -> tuple[Pairs, list[Poly]]:
            i, d = pairs[axis]
            return self.push([*pairs[:axis], (i + shift, d + more), *pairs[axis + 1 :]])

        return Reach(go)


HERE = Reach(lambda pairs: (pairs, []))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value goes, how (`=` or the monoid it is added by), and, when it is added to, how the cells were first written."""

    target: lp.Buffer | lp.Var
    reach: Reach
    mode: str = "="
    first: Cover | None = None
    local: Reach = HERE  # from here to the node `first` speaks of
    arms: tuple[tuple[int, int], ...] = ()  # which half of which concatenation

    def moved(self, reach: Reach, local: Reach, arm: tuple[int, int] | None = None) -> Place:
        arms = self.arms if arm is None else (*self.arms, arm)
        return Place(self.target, reach, self.mode, self.first, local, arms)

    def adding(self, monoid: str, first: Cover | None) -> Place:
        """The same place, to be added to; `first` is set where the adding starts."""
        if self.mode != "=":
            return self
        return Place(self.target, self.reach, monoid, first, HERE, self.arms)
