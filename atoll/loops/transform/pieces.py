"""Rounds in pieces, which threads take (a parallel loop, strip-mined at run time).

    for i in low..high:  f(i)
becomes
    pieces i_lo..i_hi of high - low:  for i in low + i_lo..low + i_hi:  f(i)

    pieces(loop, work)                       of a loop whose rounds are marked as independent
    seen_pieces(loop, work, known, own)      of a loop in order, where they are seen to be

Right where no round touches what another one writes: then pieces may be made in any order, and where they are cut is no part of what is computed. Arrays that every round fills before it
reads them (`own`) do not count: a piece has them for itself. `work` is how much a round does, about; `align` keeps blocks of rounds whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.dependence import rounds_apart
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly, Sym


def pieces(loop: lp.For, work: Poly, align: int = 1, own: Sequence[lp.Buffer] = ()) -> lp.Chunks:
    """The pieces of a loop whose rounds are independent, by the mark of who made it."""
    assert loop.parallel and not loop.vector and not loop.unroll
    low, high = Sym(f"{loop.sym.name}_lo"), Sym(f"{loop.sym.name}_hi")
    rounds = replace(loop, low=loop.low + low, high=loop.low + high)
    return lp.Chunks(low, high, loop.high - loop.low, work, [*map(lp.Alloc, own), rounds, *map(lp.Free, own)], align=align)


def seen_pieces(loop: lp.For, work: Callable[[], Poly], known: tuple[Poly, ...], own: Sequence[lp.Buffer] = (), align: int = 1) -> lp.Chunks | Refused:
    """The pieces of a loop in order, if its rounds are seen to be independent. `known`: what is not negative where it stands; `work` is asked only then."""
    if loop.vector or loop.unroll or loop.scan:
        return Refused("it is scheduled as it stands")
    if not rounds_apart(loop, known, frozenset(own)):
        return Refused("two rounds may touch the same element")
    return pieces(replace(loop, parallel=True), work(), align, own)
