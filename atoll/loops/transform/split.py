"""How a range of rounds is cut into blocks: the one place that divides the length of a loop.

    for i in low..high:  f(i)
becomes
    if high - low >= 1:  for b in 0..(high - low) // 4:  f(low + 4b); ...; f(low + 4b + 3)        for i in low + 4 * ((high - low) // 4)..high:  f(i)

`high` may be less than `low`: such a loop has no rounds, but the quotient of its length would be less than none, and what is left would begin before `low`.
So blocks are made only where there are rounds, unless the length is seen not to be negative. A rewrite that never divides a length cannot get this wrong.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.transform.copier import fresh_like
from atoll.sizes import Atom, Poly, Quot, Sym, poly
from atoll.sizes.prover import facts
from atoll.types.dtypes import I64

Rounds = lp.For | lp.Accumulate
Known = tuple[Poly, ...]


class Aligned:
    """Pieces whose loop was cut into blocks are cut at whole blocks. Right because where pieces are cut is no part of what is computed."""

    def __init__(self) -> None:
        self.by_low: dict[Atom, list[int]] = {}

    def from_its_low(self, loop: Rounds, size: int) -> None:
        """This loop begins where a piece does, and is in blocks now."""
        for leaf in loop.low.leaves():
            self.by_low.setdefault(leaf, []).append(size)

    def pieces(self, chunk: lp.Chunks) -> lp.Chunks:
        """The pieces, as the blocks made in them want them."""
        align = chunk.align
        for size in self.by_low.get(chunk.low, ()):
            align = -(-align // size) * size
        return chunk if align == chunk.align else replace(chunk, align=align)


def may_be_negative(extent: Poly, known: Known = ()) -> bool:
    """Sizes and indices are not negative, nor are their sums; what else is not can be seen from what is known here."""
    return not _plainly_not_negative(extent) and not (known and facts(known).proves(extent))


def _plainly_not_negative(p: Poly) -> bool:
    if any(c < 0 for c in p.terms.values()):
        return False
    return all(isinstance(a, Sym) or (isinstance(a, Quot) and _plainly_not_negative(a.num) and _plainly_not_negative(a.den)) for a in p.atoms())


def length(loop: Rounds) -> Poly:
    """Rounds of a loop; negative for none, where it may be."""
    return loop.high - loop.low


def first_of(loop: Rounds, size: int, block: Sym) -> Poly:
    """The first round of a block."""
    return loop.low + size * poly(block)


def begun(count: Poly, size: int) -> Poly:
    """Blocks of so many rounds of which at least one is there; none (or less) where there are no rounds."""
    return (count + (size - 1)) // size


def started_blocks(loop: Rounds, size: int) -> Poly:
    return begun(length(loop), size)


def whole_blocks(count: Poly, size: int) -> Poly:
    """Whole blocks of so many rounds. For those who have seen to it that there are not less than none."""
    return count // size


def block_end(name: str, first: Poly, size: Poly | int, high: Poly, small: bool = False) -> tuple[lp.Let, Poly]:
    """A variable: where a block ends that begins there, which is where the range ends if that comes first."""
    end = fresh_like(name, I64)
    end.small = small
    return lp.Let(end, lp.Call("min", (lp.Index(first + size), lp.Index(high)), I64)), poly(end.atom)


def part_of(loop: Rounds, parts: int, part: Poly) -> tuple[list[lp.Stmt], Poly, Poly]:
    """Variables: where a part of so many begins and ends. Parts are of one length, but that the last end where the range does; some may have no rounds."""
    step = started_blocks(loop, parts)
    first, last = fresh_like("first", I64), fresh_like("last", I64)
    bounds = [lp.Let(var, lp.Call("min", (lp.Index(loop.low + k * step), lp.Index(loop.high)), I64)) for var, k in ((first, part), (last, part + 1))]
    return [*bounds], poly(first.atom), poly(last.atom)


def is_wide(p: Poly) -> bool:
    """Made of integers that may be as large as any: what is added to it may be an overflow."""
    return any(isinstance(a, lp.VarAtom) and not a.var.small for a in p.leaves())


def where_any(loop: Rounds, made: lp.Stmts, known: Known = ()) -> lp.Stmts:
    """Statements that are right only where the loop's length is not negative."""
    return [lp.If((lp.Test("ge", length(loop) - 1),), made)] if may_be_negative(length(loop), known) else made


def left_over(loop: Rounds, size: int, blocks: Poly) -> lp.For:
    """The rounds that so many blocks leave, one by one."""
    return lp.For(loop.sym, loop.low + size * blocks, loop.high, loop.body, isinstance(loop, lp.For) and loop.parallel)


def over_blocks(loop: Rounds, size: int, block: Sym, body: lp.Stmts, parallel: bool = False, first: int = 0) -> lp.For:
    """`body` for every block of which a round is there, the first ones but for those already made; it ends where `block_end` says."""
    return lp.For(block, poly(first), started_blocks(loop, size), body, parallel)


def in_blocks(loop: lp.For, size: int, block: Sym, body: lp.Stmts, known: Known = ()) -> lp.Stmts:
    """`body` for every whole block, then the rounds that are left."""
    return where_any(loop, blocks_and_rest(loop, size, block, body, whole_blocks(length(loop), size)), known)


def blocks_and_rest(loop: lp.For, size: int, block: Sym, body: lp.Stmts, blocks: Poly) -> lp.Stmts:
    """`body` for so many blocks, then the rounds that are left: as many as `counted` says, or all of a range that is seen not to be negative."""
    return [lp.For(block, poly(0), blocks, body, loop.parallel), left_over(loop, size, blocks)]


def summed_in_blocks(loop: lp.Accumulate, size: int, block: Sym, work: lp.Stmts, blocks: Poly | None = None) -> lp.Accumulate:
    """A sum of which every block adds `work`; a last one adds the rounds that are left. Of a range without rounds there is no block."""
    whole = whole_blocks(length(loop), size) if blocks is None else blocks
    rest = left_over(loop, size, whole)
    return lp.Accumulate(block, poly(0), whole + 1, [lp.If((lp.Test("ge", whole - poly(block) - 1),), work, [rest])], loop.accs, loop.exact)


def counted(name: str, loop: Rounds, size: int, ways: list[tuple[lp.Test, ...]], known: Known = ()) -> tuple[lp.Let, Poly]:
    """A variable: how many whole blocks are made, where all tests of one of the ways hold, else none."""
    var, whole = fresh_like(name, I64), lp.Index(whole_blocks(length(loop), size))
    count: lp.Expr = lp.Index(poly(0))
    for tests in reversed(ways):
        count = lp.Choose(tests, whole, count)
    enough = lp.Test("ge", length(loop) - size)  # which says more than that there are rounds
    if not all(enough in tests for tests in ways) and may_be_negative(length(loop), known):
        count = lp.Choose((lp.Test("ge", length(loop) - 1),), count, lp.Index(poly(0)))
    return lp.Let(var, count), poly(var.atom)
