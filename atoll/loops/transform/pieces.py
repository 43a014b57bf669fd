"""Rounds in any order, and in pieces, which threads take (a parallel loop, strip-mined at run time).

    for i in low..high:  f(i)
becomes
    pieces i_lo..i_hi of high - low:  for i in low + i_lo..low + i_hi:  f(i)

    pieces(loop, work)                         of a loop whose rounds are marked as independent
    seen_pieces(loop, work, known, program)    of a loop in order, where they are seen to be
    marked(loop, known, most)                  the mark alone, where they are seen to be

Right where no round touches what another one writes: then pieces may be made in any order, and where they are cut is no part of what is computed. An array that nothing else in the program
mentions, that every round fills before it reads it and whose size is known before the loop does not count: a piece has it for itself. `work` is how much a round does, about; `align` keeps
blocks of rounds whole. Where it is so only if integers do not wrap around in an index, the mark stands under tests that they are no further than `most` from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops.dependence import rounds_apart, small_for_apart
from atoll.loops.questions import loads, mentions
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.refused import Made, Refused
from atoll.sizes import Atom, Poly, Sym, poly

_STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store)


@dataclass(frozen=True, slots=True)
class SeenPieces:
    """The pieces, and the arrays that they have for themselves now."""

    chunk: lp.Chunks
    own: list[lp.Buffer]


def pieces(loop: lp.For, work: Poly, align: int = 1, own: Sequence[lp.Buffer] = ()) -> lp.Chunks:
    """The pieces of a loop whose rounds are independent, by the mark of who made it."""
    assert loop.parallel and not loop.vector and not loop.unroll
    low, high = Sym(f"{loop.sym.name}_lo"), Sym(f"{loop.sym.name}_hi")
    rounds = replace(loop, low=loop.low + low, high=loop.low + high)
    return lp.Chunks(low, high, loop.high - loop.low, work, [*map(lp.Alloc, own), rounds, *map(lp.Free, own)], align=align)


def seen_pieces(loop: lp.For, work: Callable[[], Poly], known: tuple[Poly, ...], program: lp.Stmts, align: int = 1) -> SeenPieces | Refused:
    """`known`: what is not negative where it stands; `work` is asked only where pieces may be made."""
    if loop.vector or loop.unroll or loop.scan:
        return Refused("it is scheduled as it stands")
    own = filled_first(loop, program)
    if not rounds_apart(loop, known, frozenset(own)):
        return Refused("two rounds may touch the same element")
    return SeenPieces(pieces(replace(loop, parallel=True), work(), align, own), own)


def marked(loop: lp.For, known: tuple[Poly, ...], most: int) -> Made:
    """A loop without others in it."""
    if loop.vector or loop.unroll:
        return Refused("it is scheduled as it stands")
    if not all(isinstance(s, _STRAIGHT) for s in loop.body):
        return Refused("it does more than compute and store")
    small = small_for_apart(loop, known)
    if small is None:
        return Refused("two rounds may touch the same element")
    if not small:
        return [replace(loop, parallel=True)]
    tests = [t for a in sorted(small, key=lambda a: a.uid) for t in (lp.Test("ge", poly(a) + most), lp.Test("ge", most - poly(a)))]
    return [lp.If(tuple(tests), [lp.For(loop.sym, loop.low, loop.high, Copier({}).stmts(loop.body), True)], [loop])]


def filled_first(loop: lp.For, program: lp.Stmts) -> list[lp.Buffer]:
    """Arrays that nothing else mentions and every round fills before it reads them; their size is known before the loop."""
    candidates = dict.fromkeys(s.buffer for s in lp.walk(loop.body) if isinstance(s, lp.Store) and s.buffer.kind == "temp")
    found = [b for b in candidates if not b.local and b.rows is None and _filled(b, loop.body)]
    if not found:
        return []
    here, everywhere = mentions(loop.body), mentions(program)
    made: set[Atom] = {loop.sym, *(s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare, lp.Assign)))}
    return [b for b in found if here[b] == everywhere[b] and not any(made & p.leaves() for p in b.extents)]


def _filled(buffer: lp.Buffer, body: lp.Stmts) -> bool:
    """The first statement that mentions an array writes all of it."""
    first = next(s for s in body if mentions([s])[buffer])
    index: list[Poly] = []
    while isinstance(first, lp.For) and first.low == poly(0):
        if len(index) == len(buffer.extents) or first.high != buffer.extents[len(index)]:
            return False
        index.append(poly(first.sym))
        inner = [s for s in first.body if not isinstance(s, lp.Let)]
        if len(inner) != 1 or any(x.buffer is buffer for x in loads(first.body)):
            return False
        first = inner[0]
    return isinstance(first, lp.Store) and first.buffer is buffer and first.index == tuple(index)
