"""How a cell comes to be written: an index pulled back to a store.

    tree ::= hit store (loop variable = polynomial, ...)        that store, in that round of its own loops, writes the cell
          |  if p >= 0 then tree else tree

A `Cover` answers for a cell (polynomials), under hypotheses, given the loop variables already bound on the way down; None when it cannot say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Union

from atoll.loops import ir as lp
from atoll.schedule.context import Context
from atoll.sizes import Poly, Sym


@dataclass(frozen=True, slots=True)
class Hit:
    store: lp.Store | lp.Update
    env: dict[Sym, Poly]


@dataclass(frozen=True, slots=True)
class Split:
    test: Poly
    then: Tree
    orelse: Tree


Tree = Union[Hit, Split]
Cover = Callable[[tuple[Poly, ...], Context, dict[Sym, Poly]], Tree | None]
Lowering = tuple[list[lp.Stmt], Cover]  # statements, and how the cells of their place come to be written


def nowhere(index: tuple[Poly, ...], context: Context, env: dict[Sym, Poly]) -> Tree | None:
    """No cell is known to be written."""
    return None


def under(test: Poly, context: Context, then: Callable[[Context], Tree | None], orelse: Callable[[Context], Tree | None]) -> Tree | None:
    """The tree for a test: one side when it is decided, both when it is not."""
    if context.facts.proves(test):
        return then(context)
    if context.facts.proves(-test - 1):
        return orelse(context)
    left = then(context.know(test))
    right = orelse(context.know(-test - 1))
    return None if left is None or right is None else Split(test, left, right)


def both(conds: tuple[Poly, ...], inner: Cover, beyond: Cover) -> Cover:
    """Covered by `inner` where all conditions hold and by `beyond` elsewhere."""

    def cover(index: tuple[Poly, ...], context: Context, env: dict[Sym, Poly]) -> Tree | None:
        def go(k: int, here: Context) -> Tree | None:
            if k == len(conds):
                return inner(index, here, env)
            return under(conds[k].subst(dict(env)), here, lambda c: go(k + 1, c), lambda c: beyond(index, c, env))

        return go(0, context)

    return cover
