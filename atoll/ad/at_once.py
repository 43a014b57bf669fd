"""Loops that fill places of an array one after the other, as one update of all these places, so that their derivatives are done in one piece too.

    for i in range(k): a[e(i)] = v(i, a)     becomes     a = scatter a, i: a[e(i)] put v(i, a)

No round may read what an earlier one wrote, and no two may write the same place: then every round reads the array as it was before the loop. The
reverse sweep of a loop keeps or restores its state round by round; of an update it is sums and rows. Loops inside loops come first.
"""

from __future__ import annotations

from atoll.ad.final_state import Read, reads_of
from atoll.ad.indicator import reach, unchecked
from atoll.ad.lines import lines_since
from atoll.ad.loop_state import abs_reader, state_reader
from atoll.ainf import ir
from atoll.ainf.builder import Builder
from atoll.ainf.guards import extents_at
from atoll.ainf.identity import identity_of, is_read, read_arg
from atoll.ainf.replay import Reader, Replay, in_order
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.sizes import Atom, Poly, poly
from atoll.sizes.meeting import differ


def updates_at_once(b: Builder, start: int, lines: list[ir.Line]) -> list[ir.Line]:
    """Turn what loops of these lines can be updates into such; the lines since `start` that there are then."""
    before = b._count
    for line in lines:
        _visit(b, line)
    return lines if b._count == before else lines_since(b, start)


def _visit(b: Builder, line: ir.Line) -> None:
    for block in blocks(line.prim):
        for inner in list(block.lines):
            _visit(b, inner)
    if isinstance(line.prim, ir.Loop) and (scatter := _only_update(b, line.prim)) is not None and _rounds_apart(b, line.prim, scatter):
        _replace(b, line, line.prim, scatter)


def _only_update(b: Builder, prim: ir.Loop) -> ir.Line | None:
    """The scatter that is all a round does to the loop's only state, where the rest is values without arrays of their own."""
    if len(prim.state) != 1 or prim.checkpoint or prim.no_false_deps:
        return None
    found = identity_of(prim.results[0])
    if found is None or found[1]:
        return None
    line = found[0]
    p = line.prim
    if line.block is not prim.block or line.dims or line.conds or not isinstance(p, ir.Scatter) or p.monoid is not None or p.drop:
        return None
    if identity_of(p.base) != (prim.block.params[0], 0):
        return None
    for other in prim.block.lines:
        if other is line or other in prim.block.params:
            continue
        if (isinstance(other.prim, ir.EFFECTS) and not _holds(b, prim, other)) or blocks(other.prim) or any(r.axes for r in other.results):
            return None
    return line


def _holds(b: Builder, loop: ir.Loop, line: ir.Line) -> bool:
    """A check that holds in every round, whatever the arguments are."""
    prim = line.prim
    if not isinstance(prim, ir.Check) or any(c.kind != "ge" or c.poly is None for c in prim.conds):
        return False
    goals = [c.poly for c in prim.conds if c.poly is not None]
    known = b.context((*goals, poly(loop.index)), path=False)
    return all(map(known.proves, goals))


def _rounds_apart(b: Builder, prim: ir.Loop, scatter: ir.Line) -> bool:
    """True when no round reads or writes a place that an earlier one wrote."""
    p = scatter.prim
    assert isinstance(p, ir.Scatter)
    if any(isinstance(x, ir.RefAtom) and x.ref.line.block.depth >= prim.block.depth for q in p.index for x in q.leaves()):
        return False
    t = poly(prim.index)
    earlier = b.fresh_binder("d", t)
    env: dict[Atom, Poly] = {prim.index: t - 1 - poly(earlier)}
    for x in p.binders:
        new = b.fresh_binder(x.name, x.extent.subst(env))
        new.facts = tuple(f.subst({**env, x: poly(new)}) for f in x.facts)
        env[x] = poly(new)
    written = tuple(q.subst(env) for q in p.index)

    def apart(place: tuple[Poly, ...], given: list[Poly]) -> bool:
        return any(differ(x, y, b.context((x, y), path=False).add(given)) for x, y in zip(written, place, strict=True))

    def read_apart(read: Read) -> bool:
        place, version, conds = read
        return version == 0 and apart(tuple(map(unchecked, place)), [c.poly for c in conds if c.kind == "ge" and c.poly is not None])

    return apart(p.index, []) and all(map(read_apart, reads_of(prim, 0, [scatter]))) and _readable_before(b, prim)


def _readable_before(b: Builder, prim: ir.Loop) -> bool:
    """True when what a round reads at places that are the same in every round is there without rounds too: it is read once, before."""
    for line in prim.block.lines:
        given = [c.poly for c in line.conds if c.kind == "ge" and c.poly is not None]
        for ref in line_refs(line):
            index = tuple(map(unchecked, ref.index))
            if any(prim.index in (p.leaves() | {a for x in p.leaves() if isinstance(x, ir.Binder) for a in reach(x)}) for p in index):
                continue  # read in rounds alone
            extents = extents_at(ref.line, ref.result, index)
            known = b.context((*index, *extents), path=False).add(given)
            if not all(known.proves(p) and known.proves(n - 1 - p) for p, n in zip(index, extents, strict=True)):
                return False
    return True


def _replace(b: Builder, line: ir.Line, prim: ir.Loop, scatter: ir.Line) -> None:
    """The update in place of the loop: the line keeps its result."""
    p = scatter.prim
    assert isinstance(p, ir.Scatter)
    array = prim.state[0]
    with b.reenter(line.block), b.binding(*line.dims), b.under(*line.conds, *prim.when):
        x = b.fresh_binder(prim.index.name, prim.size)
        x.facts = tuple(f.subst({prim.index: poly(x)}) for f in b.index_facts[prim.index] if f not in (poly(prim.index), prim.size - 1 - poly(prim.index)))
        replay = Replay(b, {prim.index: poly(x)})
        whole = identity_of(array)
        replay.give(prim.block.params[0], 0, abs_reader(array, {}) if whole is None else state_reader(b, *whole))
        with b.binding(x):
            for other in replay.lines(prim.block):
                if isinstance(other.prim, ir.Check):  # an index that is known to be one in a round
                    if other.prim.value is not None:
                        replay.give(other, 0, _reader(replay, other, other.prim.value))
                elif is_read(other):
                    replay.give(other, 0, _reader(replay, other, read_arg(other)))
                elif other is not scatter:
                    replay.line(other)
            fresh, env = replay.binders(p.binders, {})
            with b.binding(*fresh):
                index = tuple(replay.poly(q, env) for q in p.index)
                when = tuple(replay.cond(c, env) for c in p.when)
                with b.under(*when):
                    value = replay.operand(p.value, env)
    line.prim = ir.Scatter(array, (x, *fresh), index, value, None, False, (*prim.when, *when))
    block: ir.Block | None = line.block
    while block is not None:  # the update reads lines made just now, here or around
        block.lines[:] = in_order(block.lines)
        block = block.parent


def _reader(replay: Replay, line: ir.Line, value: ir.Operand) -> Reader:
    """What a line that only reads reads."""
    return lambda index: replay.operand(value, dict(zip(line.dims, index, strict=True)))
