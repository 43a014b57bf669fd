"""Loops that fill places of an array one after the other, as one update of all these places, so that their derivatives are done in one piece too.

    for i in range(k): a[e(i)] = v(i, a)     becomes     a = scatter a, i: a[e(i)] put v(i, a)

No round may read what an earlier one wrote, and no two may write the same place: then every round reads the array as it was before the loop. Of several updates in a
round each becomes one of all rounds, and what is read between them is read between those: elimination by loops is elimination by slices. The
reverse sweep of a loop keeps or restores its state round by round; of an update it is sums and rows. Loops inside loops come first.
"""

from __future__ import annotations

import dataclasses

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
    if isinstance(line.prim, ir.Loop) and (chain := _only_updates(b, line.prim)) is not None and _rounds_apart(b, line.prim, chain):
        _replace(b, line, line.prim, chain)


def _only_updates(b: Builder, prim: ir.Loop) -> list[ir.Line] | None:
    """The scatters that are all a round does to the loop's only state, first to last, where the rest is values without arrays of their own."""
    if len(prim.state) != 1 or prim.checkpoint or prim.no_false_deps:
        return None
    chain: list[ir.Line] = []
    found = identity_of(prim.results[0])
    while found is not None and found != (prim.block.params[0], 0):
        line, result = found
        p = line.prim
        if result or line.block is not prim.block or line.dims or line.conds or not isinstance(p, ir.Scatter) or p.monoid is not None or p.drop:
            return None
        chain.append(line)
        found = identity_of(p.base)
    if found is None or not chain:
        return None
    for other in prim.block.lines:
        if other in chain or other in prim.block.params:
            continue
        if (isinstance(other.prim, ir.EFFECTS) and not _holds(b, prim, other)) or blocks(other.prim) or any(r.axes for r in other.results):
            return None
    return chain[::-1]


def _holds(b: Builder, loop: ir.Loop, line: ir.Line) -> bool:
    """A check that holds in every round, whatever the arguments are."""
    prim = line.prim
    if not isinstance(prim, ir.Check) or any(c.kind != "ge" or c.poly is None for c in prim.conds):
        return False
    goals = [c.poly for c in prim.conds if c.poly is not None]
    known = b.context((*goals, poly(loop.index)), path=False)
    return all(map(known.proves, goals))


def _rounds_apart(b: Builder, prim: ir.Loop, chain: list[ir.Line]) -> bool:
    """True when no two rounds write the same place, and what a round reads after some of its updates is the array with these updates of all rounds: no earlier round
    wrote it by one of the others, no later one writes it by one of these."""
    t = poly(prim.index)
    updates = [line.prim for line in chain if isinstance(line.prim, ir.Scatter)]
    if any(isinstance(x, ir.RefAtom) and x.ref.line.block.depth >= prim.block.depth for p in updates for q in p.index for x in unchecked(q).leaves()):
        return False
    earlier = [_written(b, p, prim, t - 1 - poly(b.fresh_binder("d", t))) for p in updates]
    later = [_written(b, p, prim, t + 1 + poly(b.fresh_binder("d", prim.size - 1 - t))) for p in updates]

    def apart(written: Place, place: Place, given: list[Poly]) -> bool:
        return any(differ(x, y, b.context((x, y), path=False).add(given)) for x, y in zip(written, place, strict=True))

    def read_apart(read: Read) -> bool:
        place, version, conds = read
        given = [c.poly for c in conds if c.kind == "ge" and c.poly is not None]
        return all(apart(written, tuple(map(unchecked, place)), given) for written in (*later[:version], *earlier[version:]))

    alone = all(apart(written, tuple(map(unchecked, p.index)), []) for written in earlier for p in updates)
    return alone and all(map(read_apart, reads_of(prim, 0, chain))) and _readable_before(b, prim)


Place = tuple[Poly, ...]


def _written(b: Builder, p: ir.Scatter, prim: ir.Loop, round_: Poly) -> Place:
    """The place that an update writes in another round."""
    env: dict[Atom, Poly] = {prim.index: round_}
    for x in p.binders:
        new = b.fresh_binder(x.name, x.extent.subst(env))
        new.facts = tuple(f.subst({**env, x: poly(new)}) for f in x.facts)
        env[x] = poly(new)
    return tuple(unchecked(q).subst(env) for q in p.index)


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


def _replace(b: Builder, line: ir.Line, prim: ir.Loop, chain: list[ir.Line]) -> None:
    """The updates in place of the loop: the line keeps its result."""
    array = prim.state[0]
    with b.reenter(line.block), b.binding(*line.dims), b.under(*line.conds, *prim.when):
        x = b.fresh_binder(prim.index.name, prim.size)
        x.facts = tuple(f.subst({prim.index: poly(x)}) for f in b.index_facts[prim.index] if f not in (poly(prim.index), prim.size - 1 - poly(prim.index)))
        replay = Replay(b, {prim.index: poly(x)})
        whole = identity_of(array)
        replay.give(prim.block.params[0], 0, abs_reader(array, {}) if whole is None else state_reader(b, *whole))
        for other in replay.lines(prim.block):
            with b.binding(x):
                if isinstance(other.prim, ir.Check):  # an index that is known to be one in a round
                    if other.prim.value is not None:
                        replay.give(other, 0, _reader(replay, other, other.prim.value))
                elif is_read(other):
                    replay.give(other, 0, _reader(replay, other, read_arg(other)))
                elif other not in chain:
                    replay.line(other)
                else:
                    made = _of_all_rounds(b, replay, other, x, array)
            if other is chain[-1]:
                break
            if other in chain:
                with b.reenter(line.block), b.binding(*line.dims), b.under(*line.conds):  # the array is there also where the loop is not run
                    done, where = b.emit(dataclasses.replace(made, when=(*prim.when, *made.when)), other.results, other.span, "u")
                array = _whole(b, done, where)
                replay.give(other, 0, state_reader(b, done, 0, where))
    line.prim = dataclasses.replace(made, when=(*prim.when, *made.when))
    block: ir.Block | None = line.block
    while block is not None:  # the update reads lines made just now, here or around
        block.lines[:] = in_order(block.lines)
        block = block.parent


def _of_all_rounds(b: Builder, replay: Replay, scatter: ir.Line, x: ir.Binder, array: ir.Abs) -> ir.Scatter:
    """One update for that of every round."""
    p = scatter.prim
    assert isinstance(p, ir.Scatter)
    fresh, env = replay.binders(p.binders, {})
    with b.binding(*fresh):
        index = tuple(replay.poly(q, env) for q in p.index)
        when = tuple(replay.cond(c, env) for c in p.when)
        with b.under(*when):
            value = replay.operand(p.value, env)
    return ir.Scatter(array, (x, *fresh), index, value, None, False, when)


def _whole(b: Builder, line: ir.Line, where: Place) -> ir.Abs:
    binders = tuple(b.fresh_binder("i", a) for a in line.results[0].axes)
    return ir.Abs(binders, ir.Ref(line, 0, (*where, *(poly(y) for y in binders))))


def _reader(replay: Replay, line: ir.Line, value: ir.Operand) -> Reader:
    """What a line that only reads reads."""
    return lambda index: replay.operand(value, dict(zip(line.dims, index, strict=True)))
