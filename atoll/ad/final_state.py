"""Updates that overwrite nothing the reverse sweep reads: nothing that their round or an earlier one read and the sweep needs again (ad/needed.py).

Where all updates of an array are such, every value a round read still stands where it was when the loop has ended, and nothing is logged (Schenck 3.5.2; the sweep reads
the final array, docs/sources.md, Schenck E9). Where some are, the others alone are logged and undone. It is proved from the indices: a place read in round t differs, in some component, from every place written in round
t + d. What cannot be proved is logged, and refused where the program promises it (`at.loop(n, no_false_deps=True)`).
"""

from __future__ import annotations

from collections.abc import Iterator

from atoll.ad.needed import needed_refs
from atoll.ainf import ir
from atoll.ainf.builder import Builder
from atoll.ainf.identity import is_read, read_arg
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.errors import fail
from atoll.sizes import Atom, Poly, poly
from atoll.sizes.meeting import differ


def without_log(b: Builder, loop: ir.Line, k: int, chain: list[ir.Line]) -> list[bool]:
    """Of each update of state k in the chain of scatters, whether no round reads, before it, what it overwrites and the sweep needs."""
    prim = loop.prim
    assert isinstance(prim, ir.Loop)
    reads = list(reads_of(prim, k, chain, needed_refs(prim)))
    proved = [all(_apart(b, prim, *read, n, line) for read in reads) for n, line in enumerate(chain)]
    if prim.no_false_deps and not all(proved):
        fail("E1013", loop.span, name=prim.block.params[k].prim.name)  # type: ignore[union-attr]
    return proved


Read = tuple[tuple[Poly, ...], int, tuple[ir.Cond, ...]]


def reads_of(prim: ir.Loop, k: int, chain: list[ir.Line], needed: dict[ir.Line, set[ir.Ref]] | None = None) -> Iterator[Read]:
    """The indices at which rounds read the array, after how many of the round's updates, and under which conditions; of what is `needed` alone where that is given."""
    versions = {prim.block.params[k]: 0, **{line: n + 1 for n, line in enumerate(chain)}}
    lines = list(prim.block.lines)
    for line in lines:  # grows
        for inner in blocks(line.prim):
            lines += inner.lines
    for line in lines:
        if is_read(line, True) and isinstance(read_arg(line), ir.Ref) and read_arg(line).line in versions:  # type: ignore[union-attr]
            continue  # who reads it counts
        passed_on: set[ir.Ref] = set()
        if line in versions and isinstance(line.prim, ir.Scatter):
            passed_on = set(ir.operand_refs(line.prim.base.body))
        for ref in line_refs(line):
            if needed is not None and ref not in needed[line]:
                continue
            if ref not in passed_on and (found := _place(ref, versions)) is not None:
                yield (*found, line.conds)
    for n, array in enumerate(prim.results):
        for ref in ir.operand_refs(array.body):
            if needed is None and n != k and (found := _place(ref, versions)) is not None:
                yield (*found, ())


def _place(ref: ir.Ref, versions: dict[ir.Line, int]) -> tuple[tuple[Poly, ...], int] | None:
    """The place of the array a reference reads, also through lines that only read it."""
    at: ir.Operand = ref
    while isinstance(at, ir.Ref) and at.line not in versions and is_read(at.line, True):
        at = ir.subst_operand(read_arg(at.line), dict(zip(at.line.dims, at.index, strict=False)))
    return (at.index, versions[at.line]) if isinstance(at, ir.Ref) and at.line in versions else None


def _apart(b: Builder, prim: ir.Loop, read: tuple[Poly, ...], version: int, conds: tuple[ir.Cond, ...], n: int, line: ir.Line) -> bool:
    """True when what is read in a round is not written by the n-th update then (after the read) or later."""
    given = [c.poly for c in conds if c.kind == "ge" and c.poly is not None]
    t = poly(prim.index)
    p = line.prim
    assert isinstance(p, ir.Scatter)
    if _varies(p, prim.block):
        return False
    later = b.fresh_binder("d", prim.size - t)
    # what the round itself put there before is computed again: only later rounds matter
    seen = n < version and p.monoid is None
    env: dict[Atom, Poly] = {prim.index: t + poly(later) + (1 if seen else 0)}
    for x in p.binders:
        new = b.fresh_binder(x.name, x.extent.subst(env))
        new.facts = tuple(f.subst({**env, x: poly(new)}) for f in x.facts)
        env[x] = poly(new)
    written = [q.subst(env) for q in p.index]
    return any(_differ(b, w, r, given) for w, r in zip(written, read, strict=True))


def _varies(p: ir.Scatter, block: ir.Block) -> bool:
    """True when the place depends on values a round computes, which are others in another round."""
    return any(isinstance(x, ir.RefAtom) and x.ref.line.block.depth >= block.depth for q in p.index for x in q.leaves())


def _differ(b: Builder, x: Poly, y: Poly, given: list[Poly]) -> bool:
    return differ(x, y, b.context((x, y), path=False).add(given))
