"""What one round stores and the next one reads stays in a variable (scalar replacement across rounds, predictive commoning).

    for in order j:  x = a[j] + 1;  a[j + 1] = x           becomes           c = a[0];  for in order j:  x = c + 1;  a[j + 1] = x;  c = x

    carried(loop)     the loop with such elements in variables, and the arrays they are of

Right where the store is the only one into its array and made in every round, where the element read is the one stored in the round before, and where it is read in every round: it is
now read before the first. A read that stands after the store sees what this round stored if that is the same element (a[j // 2] after a store to a[(j + 1) // 2]): it must be seen to be another one.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.dependence import Place, never_meet
from atoll.loops.questions import always_read, loads, told
from atoll.loops.transform.copier import copyable, fresh_like
from atoll.loops.transform.forward import Forwarded
from atoll.loops.transform.refused import Refused
from atoll.sizes import Atom, Poly, poly

_STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.If)
Index = tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class Carried:
    """The statements in the loop's place, and the arrays of which an element is kept for the next round."""

    stmts: lp.Stmts
    arrays: tuple[lp.Buffer, ...]


def carried(loop: lp.For) -> Carried | Refused:
    """Every element that can be kept is; refused where none can."""
    if loop.parallel or loop.vector or loop.unroll:
        return Refused("its rounds are not in order, or it is scheduled as it stands")
    if not copyable(loop.body) or not all(isinstance(s, _STRAIGHT) for s in lp.walk(loop.body)):
        return Refused("a round does more than compute, store and choose")
    stores = [(k, s) for k, s in enumerate(loop.body) if isinstance(s, lp.Store)]
    found = {s.buffer: next_read for k, s in stores if not isinstance(next_read := _next_read(loop, k, s), Refused)}
    if not found:
        return next((why for k, s in stores if isinstance(why := _next_read(loop, k, s), Refused)), Refused("no round stores anything"))
    return Carried(_in_variables(loop, found), tuple(found))


def _next_read(loop: lp.For, place: int, store: lp.Store) -> Index | Refused:
    """The index at which the next round reads what this statement of a round stores."""
    if sum(isinstance(s, lp.Store) and s.buffer is store.buffer for s in lp.walk(loop.body)) != 1 or store.buffer.rows is not None:
        return Refused("there is another store into the array, or only some rows of it are kept")
    before = tuple(p.subst({loop.sym: poly(loop.sym) - 1}) for p in store.index)
    made: set[Atom] = {s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare, lp.Assign))}
    if any(not made.isdisjoint(p.leaves()) for p in before) or all(loop.sym not in p.leaves() for p in before):
        return Refused("the element stored is chosen by a variable of the round, or the same in all rounds")
    read = lp.Load(store.buffer, before)
    if not any(read in always_read(s.value) for s in loop.body if not isinstance(s, lp.If)):  # type: ignore[union-attr]
        return Refused("the next round does not read it in any case")
    if read in loads(loop.body[place + 1 :]) and not _moves_on(loop, store, before):
        return Refused("what is read after the store may be what this round stored")
    return before


def _moves_on(loop: lp.For, store: lp.Store, before: Index) -> bool:
    """Two rounds after each other store to different elements."""
    steps = ((now - last).const() for now, last in zip(store.index, before, strict=True))
    if any(step not in (None, 0) for step in steps):
        return True
    now, last = (Place(store.buffer, index, (), True) for index in (store.index, before))
    return never_meet(now, last, told(loop))


class _Kept(Forwarded):
    """A copy that reads what the round before left in variables, and leaves there what it stores."""

    def __init__(self, kept: dict[lp.Buffer, tuple[Index, lp.Var]]) -> None:
        super().__init__({}, {lp.Load(buffer, index): var for buffer, (index, var) in kept.items()})
        self.kept = kept
        self.after: list[lp.Stmt] = []

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        if isinstance(s, lp.Store) and s.buffer in self.kept:
            value = fresh_like("next", s.buffer.dtype)
            self.after.append(lp.Assign(self.kept[s.buffer][1], lp.Use(value)))
            return [lp.Let(value, self.expr(s.value)), lp.Store(s.buffer, self.index(s.index), lp.Use(value))]
        return super().stmt(s)


def _in_variables(loop: lp.For, found: dict[lp.Buffer, Index]) -> list[lp.Stmt]:
    kept = {buffer: (index, fresh_like("kept", buffer.dtype)) for buffer, index in found.items()}
    first = {loop.sym: loop.low}
    out: list[lp.Stmt] = [lp.Declare(var, None) for _, var in kept.values()]
    reads: list[lp.Stmt] = [lp.Assign(var, lp.Load(b, tuple(p.subst(first) for p in index))) for b, (index, var) in kept.items()]
    out.append(lp.If((lp.Test("ge", loop.high - loop.low - 1),), reads))
    copier = _Kept(kept)
    body = copier.stmts(loop.body) + copier.after
    return [*out, lp.For(loop.sym, loop.low, loop.high, body, False)]
