"""A loop whose rounds do nothing is run under the test that they do something (a zero-trip guard of the loops inside).

    for i in 0..n:  for j in 0..m:  a[i, j] = e          becomes          if m >= 1:  (the same)

    guarded(stmt, sizes)     a loop, or a product, under such a test; `sizes` are those of the function

Right where everything that a round does stands in loops inside of it that need a size to be 1 or more to have rounds at all: where that size is not, nothing would be done. What is tested
is known before the loop: made of no index and no variable that a round binds. Of an extent a size that makes it 0 may be tested instead, as sizes are 0 or more; an index or a variable may be less.
Memory that a round has for itself is not seen from outside; what else a round may do, to print, to end the loop, to swap, is no such thing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from atoll.loops import ir as lp
from atoll.loops.transform.refused import Refused
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import quotients

Needs = dict[Poly, None]  # each must be at least 1, or nothing is done
_SORTS = ("sort", "argsort")  # of the elements of a row


def guarded(stmt: lp.For | lp.Chunks | lp.Product, sizes: Collection[Sym]) -> lp.If | Refused:
    if isinstance(stmt, lp.Product):
        needs = [] if stmt.after or stmt.columns.const() is not None else [stmt.columns]
    else:
        needs = _needs(stmt, frozenset(sizes))
    return lp.If(tuple(lp.Test("ge", p - 1) for p in needs), [stmt]) if needs else Refused("its rounds may do something whatever the sizes are")


def _needs(loop: lp.For | lp.Chunks, sizes: frozenset[Sym]) -> list[Poly]:
    """What must be at least 1 for any round to do something, of what is known before the loop."""
    rounds = _Rounds(sizes)
    if not rounds.collect([loop], frozenset(), {}) or not rounds.found:
        return []
    shared = [p for p in rounds.found[0] if all(p in needs for needs in rounds.found)]
    return [p for p in shared if p.single() is not None] or shared[:1]


@dataclass(frozen=True, slots=True)
class _Rounds:
    """What is looked for in the rounds of a loop."""

    sizes: frozenset[Sym]
    found: list[Needs] = field(default_factory=list)  # for each statement that does something, what the loops around it need to have rounds

    def collect(self, stmts: lp.Stmts, bound: frozenset[Atom], around: Needs) -> bool:
        """False where something is done that is not seen. `bound` is what the loops around bind, from the outermost on."""
        for stmt in stmts:
            match stmt:
                case lp.Alloc() | lp.Free() | lp.Note() | lp.Helper(buffers=(), result=None):
                    continue
                case lp.Let(var, _) | lp.Declare(var, _):
                    bound |= {var.atom}
                case lp.Helper() if stmt.name in _SORTS:
                    if not (needs := {**around, **self.has_rounds(stmt.sizes[0], bound)}):
                        return False
                    self.found.append(needs)
                case lp.If(_, then, orelse):
                    if not (self.collect(then, bound, around) and self.collect(orelse, bound, around)):
                        return False
                case lp.For(sym, low, high, body):
                    if not self.collect(body, bound | {sym}, {**around, **(self.has_rounds(high - low, bound) if bound else {})}):
                        return False
                case lp.Chunks(accs=(), buffers=()):
                    needs = {**around, **(self.has_rounds(stmt.extent, bound) if bound else {})}
                    if not self.collect(stmt.body, bound | {stmt.low, stmt.high}, needs):
                        return False
                case lp.Store() | lp.Update() | lp.Helper() | lp.Accumulate() | lp.Check() | lp.Assign() if around:
                    self.found.append(around)
                case _:
                    return False
        return True

    def has_rounds(self, extent: Poly, bound: frozenset[Atom]) -> Needs:
        """What is at least 1 where a loop of this extent has rounds: the extent, and the sizes without which it is 0."""
        if extent.const() is not None or not bound.isdisjoint(extent.leaves()):
            return {}
        divisors = {a for quot in quotients(extent) for a in quot.den.leaves()}  # never 0
        without = {a: extent.subst({a: poly(0)}).const() for a in extent.leaves() if a in self.sizes and a not in divisors}
        return {extent: None, **{poly(a): None for a, left in without.items() if left is not None and left <= 0}}
