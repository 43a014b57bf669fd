"""Arrays that rounds update, brought back round by round while a loop is followed backwards.

A sweep has them as they were after the round, and hands on how they were before it. Where loops inside the round update them, the round is undone from a stack
(ad/undo_stack.py), done again, and followed backwards, all in the same memory: each inner sweep brings back what its loop began with, for the one before it. What no sweep
brings back is taken from the stack once more; that is the same from whichever of the round's versions it starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from atoll.ad.backward import Backward, _base_at, _replayed_place
from atoll.ad.indicator import guarded
from atoll.ad.loop_state import Version, read, whole
from atoll.ad.tape import Tape, Update
from atoll.ad.undo_stack import Chain, Stack, pop
from atoll.ainf import ir, scalars
from atoll.ainf.identity import identity_of
from atoll.sizes import Poly, poly
from atoll.types.dtypes import I64

if TYPE_CHECKING:
    from atoll.ad.reverse import Key, Reverse


@dataclass
class Restored:
    """State of a sweep: an array as it was after the round. Of a stack also the slots that were taken then, and the array as it was before the round."""

    state: int
    param: ir.Line
    top: int = -1
    first: ir.Line | None = None


def declare_restored(back: Backward, tape: Tape, line: ir.Line, found: dict[int, Restored]) -> None:
    """State: arrays with an undo log, as they were after the round. They start from what sweeps of later loops brought back."""
    b = back.b
    for k in range(back.states):
        if k not in tape.stacks and (k not in tape.updates or k in tape.final):
            continue
        info = back.prim.block.params[k].results[0]
        later = back.rev.versions.get((line, k))
        found[k] = Restored(*back.state("x", info.dtype, info.axes, whole(b, back.line, k, back.at) if later is None else later.whole(b)))
        if k in tape.stacks and tape.stacks[k].tops >= 0:
            end = read(b, back.line, tape.stacks[k].end, back.at)
            if back.prim.when:
                end = scalars.select(b, tuple(c.subst(back.env) for c in back.prim.when), end, ir.Const(0, I64), back.line.span)
            found[k].top, _ = back.state("top", I64, (), ir.Abs((), end))


def popped(back: Backward, r: Restored, stack: Stack, version: Version) -> ir.Line:
    """The array as it was before the round, from any version of it in the round."""
    b = back.b
    if stack.each is not None:
        each = stack.each.subst(back.env)
        first: Poly | None = back.round * each
        end = back.round * each + each
    else:
        first = scalars.as_poly(b, back.taped(stack.tops))
        end = poly(ir.ref_atom(ir.Ref(back.block.params[r.top], 0, ())))
    assert first is not None

    def slot(number: int) -> Callable[[Poly], ir.Operand]:
        return lambda p: read(b, back.line, number, (*back.at, p))

    return pop(b, version, first, end, stack.certain, slot(stack.old), [slot(number) for number in stack.places])


@dataclass(frozen=True)
class Overwritten:
    """What an update of the round overwrites, and where."""

    binders: tuple[ir.Binder, ...]
    place: tuple[Poly, ...]
    when: tuple[ir.Cond, ...]
    old: ir.Operand


def overwritten(back: Backward, line: ir.Line) -> Overwritten:
    b, p = back.b, line.prim
    assert isinstance(p, ir.Scatter)
    fresh, place = _replayed_place(back, Update(line))
    when = tuple(back.replay.cond(c, {x: poly(f) for x, f in zip(p.binders, fresh, strict=True)}) for c in p.when)
    base = _made(back, *_known(identity_of(p.base)))
    with b.binding(*fresh), b.under(*when):
        old = read(b, *base, place) if base is not None else back.replay.operand(_base_at(p, place), {})
    with b.binding(*fresh):
        old = guarded(b, list(when), old, line.results[0].dtype)
    return Overwritten(fresh, place, when, old)


def _known(found: Key | None) -> Key:
    assert found is not None
    return found


def _made(back: Backward, line: ir.Line, result: int) -> Key | None:
    """What an array of the round is in the round that is done again."""
    b = back.b
    binders = tuple(b.fresh_binder("i", a) for a in line.results[result].axes)
    with b.binding(*binders):
        array = ir.Abs(binders, back.replay.operand(ir.Ref(line, result, tuple(poly(x) for x in binders)), {}))
    return identity_of(array)


def undo_between(back: Backward, inner: Reverse, chains: dict[int, Chain], olds: dict[ir.Line, Overwritten]) -> None:
    """After the first loop of a round that updates an array, loops bring back what they began with and updates are undone, so that the loop before finds what it ended with."""
    for chain in chains.values():
        loops = [n for n, (line, _) in enumerate(chain) if not isinstance(line.prim, ir.Scatter)]
        for n, (line, result) in enumerate(chain):
            if not loops or n <= loops[0] or (key := _made(back, line, result)) is None:
                continue
            if not isinstance(line.prim, ir.Scatter):
                inner.restored.add(key)
            elif (before := _made(back, *chain[n - 1])) is not None:
                _undo_at(back, inner, key, before, olds[line])


def made_updates(back: Backward, chains: dict[int, Chain]) -> list[Key]:
    """The arrays that updates of the round make, in the round that is done again."""
    found = [_made(back, line, 0) for chain in chains.values() for line, _ in chain if isinstance(line.prim, ir.Scatter) and back.b.has_slope(line.results[0].dtype)]
    return [key for key in found if key is not None]


def _undo_at(back: Backward, inner: Reverse, key: Key, before: Key, what: Overwritten) -> None:
    def undo() -> None:
        b = back.b
        now = inner.versions.get(key, Version(*key))
        info = ir.Result(now.info.dtype, now.info.axes)
        made, _ = b.emit(ir.Scatter(now.whole(b), what.binders, what.place, what.old, None, False, what.when), (info,), hint="u")
        inner.versions[before] = Version(made)

    inner.undone[key[0]] = undo


def brought_back(back: Backward, inner: Reverse, r: Restored, stack: Stack, chain: Chain, start: ir.Line | None) -> ir.Abs:
    """The array as it was before the round, for the next round of the sweep."""
    b = back.b
    assert r.first is not None
    found = inner.versions.get((start or r.first, 0))
    if found is not None:
        return found.whole(b)  # type: ignore[no-any-return]
    keys = [key for line, result in chain if (key := _made(back, line, result)) is not None]
    latest = next((inner.versions[key] for key in keys if key in inner.versions), Version(*keys[-1]) if keys else Version(r.first))
    return whole(b, popped(back, r, stack, latest))
