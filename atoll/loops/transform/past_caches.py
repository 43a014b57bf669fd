"""Elements stored past the caches, a few lines of a cache at a time (non-temporal stores through a buffer of its own).

    for j in low..high:  y[.., j] = v(j)
becomes
    for blocks:  for k in 0..256:  line[k] = v(low + 256*block + k)
                 stream y[.., low + 256*block ..] from line
    and the rounds that are left, as they were

    in_lines(loop, count, known)    the statements above, of an innermost loop that stores into one array or several
    fenced(pieces, body)            the pieces with such loops in them

A block's elements are stored after all of its rounds. So it is right where rounds are independent and read nothing that they store, each stores an element of each array next to that of
the round before, and there are no fewer rounds than none. Another thread sees what is stored after a fence, with which a piece ends.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.split import Known, blocks_and_rest, first_of, length, may_be_negative, whole_blocks
from atoll.sizes import Atom, Sym, poly


def in_lines(loop: lp.For, count: int, known: Known = ()) -> Made:
    """`known`: what is not negative where it stands."""
    stores = [s for s in loop.body if isinstance(s, lp.Store)]
    if not loop.parallel or loop.vector or loop.unroll:
        return Refused("its rounds are not independent, or scheduled as they stand")
    if not stores or not all(isinstance(s, (lp.Let, lp.Store)) for s in loop.body) or len({s.buffer for s in stores}) < len(stores):
        return Refused("a round does more than compute and store one element of each array")
    own = {s.var.atom for s in loop.body if isinstance(s, lp.Let)}
    if not all(_in_order(s, loop.sym, own) for s in stores):
        return Refused("elements are not stored one next to the other")
    if not {x.buffer for x in loads(loop.body)}.isdisjoint(s.buffer for s in stores):
        return Refused("a round reads what is stored")
    if may_be_negative(length(loop), known):
        return Refused("rounds may be fewer than none")
    return _made(loop, stores, count)


def fenced(pieces: lp.Chunks, body: lp.Stmts) -> lp.Chunks:
    return replace(pieces, body=[*body, lp.Helper("fence", (), ())])


def _in_order(s: lp.Store, sym: Sym, own: Set[Atom]) -> bool:
    """The next element in the next round, of a result as it was made. `own`: what rounds declare."""
    if s.buffer.kind != "out" or any(isinstance(a, lp.VarAtom) for p in s.buffer.extents for a in p.leaves()):
        return False
    if not s.index or not all(own.isdisjoint(p.leaves()) for p in s.index):
        return False
    return s.index[-1].slope(sym) == poly(1) and not any(sym in p.leaves() for p in s.index[:-1])


def _made(loop: lp.For, stores: list[lp.Store], count: int) -> lp.Stmts:
    block, k = Sym(f"{loop.sym.name}_line"), Sym("k")
    first = first_of(loop, count, block)
    copier = Copier({loop.sym: first + poly(k)})
    start = Copier({loop.sym: first})
    lines: dict[lp.Buffer, lp.Buffer] = {}
    for s in stores:
        line = lp.Buffer(fresh_like(f"{s.buffer.name}_line", s.buffer.dtype).name, s.buffer.dtype, (poly(count),), "temp", "a line of a result")
        line.local = True
        lines[s.buffer] = line
    body = [replace(s, buffer=lines[s.buffer], index=(poly(k),)) if isinstance(s, lp.Store) else s for s in copier.stmts(loop.body)]
    work: list[lp.Stmt] = [lp.Alloc(b) for b in lines.values()]
    work.append(lp.For(k, poly(0), poly(count), body, True))
    work += [lp.Helper("stream", ((s.buffer, start.index(s.index)), (lines[s.buffer], (poly(0),))), (poly(count),)) for s in stores]
    work += [lp.Free(b) for b in lines.values()]
    (again,) = Copier({}).stmt(loop)  # the loop itself stays for those that want it as it is
    assert isinstance(again, lp.For)
    return blocks_and_rest(again, count, block, work, whole_blocks(length(loop), count))
