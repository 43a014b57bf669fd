"""What every round of a loop would compute again: values from outside the loop that its rounds read alike (loop-invariant code motion, of whole arrays).

    b = [f(x[i]) ...];  for s in range(k): p = [p[i] + b[i] ...]        b's elements are computed once, not k times

An element counts where each index is one of the loops inside a round, each of another one: then a round reads about as many elements as there are. What a round looks up
(`b[j]` with j of its state, as a search does) may be few elements of many, and stays where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator

from atoll.ainf import ir
from atoll.ainf.scan_prim import blocks, line_refs, refs
from atoll.sizes import Atom


def read_every_round(line: ir.Line) -> Iterator[ir.Line]:
    """Lines from outside a loop or operator that each of its rounds reads."""
    for block in blocks(line.prim):
        handed_on = [ref for array in line.prim.results for ref in ir.operand_refs(array.body)] if isinstance(line.prim, (ir.Loop, ir.While)) else []
        for ref, rounds in (*((ref, frozenset(block.owned)) for ref in handed_on), *_read_in(block, frozenset(block.owned))):
            if not block.encloses(ref.line.block) and _sweeps(ref, rounds):
                yield ref.line


def _read_in(block: ir.Block, rounds: frozenset[Atom]) -> Iterator[tuple[ir.Ref, frozenset[Atom]]]:
    for inner in block.lines:
        for within in blocks(inner.prim):
            yield from _read_in(within, rounds | within.owned)
        for ref in refs(inner.prim, inside=False) if blocks(inner.prim) else line_refs(inner):
            yield ref, rounds


def _sweeps(ref: ir.Ref, rounds: frozenset[Atom]) -> bool:
    """True when the loops of one round read a share of the elements that does not depend on how many there are."""
    seen: set[Atom] = set()
    for p in ref.index:
        leaves = p.leaves()
        loops = [leaf for leaf in leaves if isinstance(leaf, ir.Binder)]
        if len(loops) != 1 or loops[0] in seen or leaves & rounds or any(isinstance(leaf, ir.RefAtom) for leaf in leaves):
            return False
        seen.add(loops[0])
    return True
