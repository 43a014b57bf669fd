"""Which of the arrays that branches give become state of a loop.

    if c: b = [x + 1 for x in b]          b is state: where c holds, all of it is put into its memory (versions.py, `replaced`)
    row = b if c else a                   row is only read: an element of it is one of b or one of a, and nothing is put anywhere
    s += row[i]

So translation is told where a choice goes: a walk over the core expression of a loop's round, backwards from what it makes of the state, through names, tuples,
branches, updates and loops. What is only looked at element by element goes nowhere; of what is not understood, as calls, everything does. Nothing
is wrong where the answer is: it decides whether a choice is a version of the state's array or a formula of elements.
"""

from __future__ import annotations

from atoll.core import ir as core
from atoll.core.rewrite import children
from atoll.sizes import Sym
from atoll.types.types import Index, Scalar

Part = bool | dict[int, "Part"]  # what of a value: all, nothing, or parts of a tuple

_ELEMENTS = (core.Build, core.Map, core.MakeArray, core.Reduce, core.Scan, core.Hist, core.Argsort, core.Filter, core.ArgReduce)  # made of elements


def part_of(of: Part, k: int) -> Part:
    return of if isinstance(of, bool) else of.get(k, False)


def both(x: Part, y: Part) -> Part:
    if isinstance(x, bool) or isinstance(y, bool):
        return x is True or y is True or x or y
    return {k: both(part_of(x, k), part_of(y, k)) for k in {**x, **y}}


class IntoState:
    """What is known of the branches in loops met so far. Nodes are kept, so that none is taken for another one."""

    def __init__(self) -> None:
        self.branches: dict[int, tuple[core.If, Part]] = {}
        self.loops: dict[int, core.For | core.While] = {}
        self.names: dict[Sym, Part] = {}

    def goes(self, e: core.If) -> Part:
        """What of the value of branches becomes state: everything, for all that is known of those outside of loops."""
        return self.branches[id(e)][1] if id(e) in self.branches else True

    def same(self, new: core.If, old: core.If) -> None:
        """Branches that are made of others go where those went."""
        if id(old) in self.branches:
            self.branches[id(new)] = new, self.branches[id(old)][1]

    def look(self, e: core.For | core.While) -> None:
        """Walk over a loop, if one around it has not been walked over."""
        if id(e) not in self.loops:
            self.walk(e, True)

    def walk(self, e: core.Expr, goes: Part) -> None:
        match e:
            case core.Var(sym):
                self.names[sym] = both(self.names.get(sym, False), goes)
            case core.Block(stmts, result):
                self.walk(result, goes)
                for stmt in reversed(stmts):
                    if isinstance(stmt, (core.Bind, core.Open)):
                        self.walk(stmt.value, self.names.get(stmt.sym, False))
                    else:
                        self.all_of(stmt, isinstance(stmt, core.Fix))
            case core.MakeTuple(items):
                for k, item in enumerate(items):
                    self.walk(item, part_of(goes, k))
            case core.Proj(value, index):
                self.walk(value, {index: goes} if goes else False)
            case core.If(cond, then, orelse):
                known = self.branches.get(id(e))
                self.branches[id(e)] = e, both(known[1], goes) if known else goes
                self.walk(cond, False)
                self.walk(then, goes)
                self.walk(orelse, goes)
            case core.Update(array) | core.Scatter(array):
                self.walk(array, goes)
                for child in children(e):
                    if child is not array:
                        self.walk(child, False)
            case core.For() | core.While():
                self.loops[id(e)] = e
                self.walk(e.body, True)
                if isinstance(e, core.While):
                    self.walk(e.cond, False)
                for k, (_, first) in enumerate(e.state):
                    self.walk(first, part_of(goes, k))
            case core.Closure():
                self.all_of(e, True)
            case _ if isinstance(e, _ELEMENTS) or isinstance(e.type, (Scalar, Index)):
                self.all_of(e, False)
            case core.At() | core.Slice() | core.View():
                self.all_of(e, bool(goes))
            case _:
                self.all_of(e, True)

    def all_of(self, node: object, goes: bool) -> None:
        for child in children(node):
            self.walk(child, goes)
