"""Arrays that loops inside a round update: everything that is overwritten goes on one stack, in the order it is overwritten.

    for i in range(n):                                 old, at: what was there and where, one slot for every place that is written
        for j in range(c[i]): a[j] = f(a[i], a[j])     tops: how many slots there were when a round began

The reverse sweep takes a round's slots off the stack again, last first, and so has the array as it was when the round began; nothing is copied whole. Where it is in a
round does not matter: an update in a branch, in loops inside loops, in a `while`. A slot of an update that did not happen has the place -1.

How many slots there are is known before: a formula where every round writes as many places, else the loop runs once for their number alone. Loops that write as
much in a round as the array has elements keep the array (ad/tape.py): that is the same order, and less.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from atoll.ad.indicator import guarded
from atoll.ad.loop_state import Version, new_param, read, whole
from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.identity import identity_of
from atoll.ainf.replay import Before, Replay, in_order
from atoll.ainf.scan_prim import blocks
from atoll.errors import NOWHERE
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64

Chain = list[tuple[ir.Line, int]]
Rounds = ir.Loop | ir.While


@dataclass
class Stack:
    """Results of the taped loop: what was overwritten, its place by components, and the slots that were taken when each round began."""

    old: int
    places: list[int]
    each: Poly | None  # slots of every round, where all have as many
    certain: bool = False  # every slot has a place: no update is under a condition
    tops: int = -1
    end: int = -1  # all slots that were taken


def nest(prim: Rounds, k: int) -> Chain | None:
    """The updates and loops that a round applies to an array of state, in order; None when it does anything else to it."""
    found: Chain = []
    at = identity_of(prim.results[k])
    while at is not None:
        line, result = at
        if line is prim.block.params[k]:
            return found[::-1]
        p = line.prim
        if line.block is not prim.block or line.dims or line.conds:
            return None
        if isinstance(p, ir.Scatter):
            if p.monoid not in (None, "add") or p.drop or any(x.extent.leaves() & set(p.binders) for x in p.binders):
                return None
            at = identity_of(p.base)
        elif isinstance(p, (ir.Loop, ir.While)):
            if nest(p, result) is None:
                return None
            at = identity_of(p.state[result])
        else:
            return None
        found.append((line, result))
    return None


def is_sparse(prim: Rounds, chain: Chain, axes: tuple[Poly, ...]) -> bool:
    """Whether a round may write fewer places, in order of growth, than the array has."""
    return _surely(chain, prim) < _order(math.prod(axes, start=poly(1)))


def _surely(chain: Chain, prim: Rounds) -> int:
    """The order of growth of the places that every round writes, a loop's index as large as its range. What is under a condition or has a length that is data counts for nothing."""
    most = 0
    for line, k in chain:
        p = line.prim
        if isinstance(p, ir.Scatter):
            here = 0 if p.when or any(_is_data(x.extent, prim.block) for x in p.binders) else sum(_order(x.extent) for x in p.binders)
        elif isinstance(p, ir.Loop) and not p.when and not _is_data(p.size, prim.block):
            here = _surely(nest(p, k) or [], p) + _order(p.size)
        else:
            here = 0
        most = max(most, here)
    return most


def _is_data(p: Poly, block: ir.Block) -> bool:
    return any(isinstance(x, ir.RefAtom) and x.ref.line.block.depth >= block.depth for x in p.leaves())


def _order(p: Poly) -> int:
    return max((len(term) for term in p.terms), default=0)


# -- slots


def _slots(b: Builder, outside: ir.Block, p: ir.Scatter) -> Poly:
    return math.prod((_rounds(b, outside, x.extent) for x in p.binders), start=poly(1))


def _asked(p: ir.Scatter) -> tuple[ir.Cond, ...]:
    """The conditions without which an update of many places takes no slots. One place has its slot in any case."""
    return tuple(c for c in p.when if not c.leaves() & set(p.binders)) if p.binders else ()


def each_round(b: Builder, line: ir.Line, chain: Chain) -> Poly | None:
    """The slots of a round of a loop, where all rounds have as many."""
    return _each(b, line.block, [line.prim.block], chain)  # type: ignore[union-attr]


def _each(b: Builder, outside: ir.Block, inside: list[ir.Block], chain: Chain) -> Poly | None:
    total = poly(0)
    for line, k in chain:
        p = line.prim
        if isinstance(p, ir.Scatter):
            if _asked(p) or any(_varies(x.extent, inside) for x in p.binders):
                return None
            here = _slots(b, outside, p)
        else:
            each = _each(b, outside, [*inside, p.block], nest(p, k) or []) if isinstance(p, ir.Loop) and not p.when else None
            if each is None or _varies(p.size, inside):  # type: ignore[union-attr]
                return None
            here = _rounds(b, outside, p.size) * each  # type: ignore[union-attr]
        total = total + here
    return total


def _varies(p: Poly, inside: list[ir.Block]) -> bool:
    """Whether a number may differ between rounds."""
    leaves = p.leaves()
    return any(leaves & block.owned for block in inside) or _is_data(p, inside[0]) or any(isinstance(x, ir.Binder) for x in leaves)


def _rounds(b: Builder, outside: ir.Block, size: Poly) -> Poly:
    """How often a loop runs, and how many places an update has that was a loop: range(1, n - 1) has no round, not minus one, where n is 1."""
    with b.reenter(outside):
        found = scalars.as_poly(b, scalars.op(b, "max", (scalars.from_poly(size), ir.Const(0, I64)), I64, NOWHERE))
    assert found is not None
    return found


@dataclass
class _Walk:
    """Goes through the updates of rounds and gives each its slots; with arrays it fills them, without it only counts."""

    b: Builder
    arrays: list[Version]
    before: dict[ir.Line, Before] = field(default_factory=dict)

    def chain(self, chain: Chain, slot: Poly) -> Poly:
        """The next free slot after these updates."""
        for line, k in chain:
            slot = self.scatter(line, slot) if isinstance(line.prim, ir.Scatter) else self.loop(line, k, slot)
        return slot

    def scatter(self, line: ir.Line, slot: Poly) -> Poly:
        b, p = self.b, line.prim
        assert isinstance(p, ir.Scatter)
        if self.arrays:
            at = slot
            step = poly(1)
            for x in reversed(p.binders):
                at, step = at + step * poly(x), step * x.extent
            base = identity_of(p.base)
            assert base is not None
            asked = _asked(p)
            rest = tuple(c for c in p.when if c not in asked)
            with b.binding(*p.binders), b.under(*asked):
                with b.under(*rest):
                    old = read(b, *base, p.index)
                    places = [scalars.from_poly(q) for q in p.index]
                values = [guarded(b, list(rest), old, line.results[0].dtype)]
                values += [scalars.select(b, rest, place, ir.Const(-1, I64), NOWHERE) if rest else place for place in places]
            for n, value in enumerate(values):
                info = self.arrays[n].info
                made, _ = b.emit(ir.Scatter(self.arrays[n].whole(b), p.binders, (at,), value, when=asked), (ir.Result(info.dtype, info.axes),), hint="u")
                self.arrays[n] = Version(made)
        return self.chosen(_asked(p), slot + _slots(b, line.block, p), slot)

    def chosen(self, when: tuple[ir.Cond, ...], then: Poly, orelse: Poly) -> Poly:
        if not when:
            return then
        found = scalars.as_poly(self.b, scalars.select(self.b, when, scalars.from_poly(then), scalars.from_poly(orelse), NOWHERE))
        assert found is not None
        return found

    def loop(self, line: ir.Line, k: int, slot: Poly) -> Poly:
        b, prim = self.b, line.prim
        assert isinstance(prim, (ir.Loop, ir.While))
        chain = nest(prim, k)
        assert chain is not None
        each = each_round(b, line, chain) if isinstance(prim, ir.Loop) else None
        after = slot
        if each is not None:
            assert isinstance(prim, ir.Loop)
            after = self.chosen(prim.when, slot + each * _rounds(b, line.block, prim.size), slot)
            if not self.arrays:
                return after
        self.before.setdefault(line, Before(prim, line.results, tuple(prim.block.lines)))
        starts = [version.whole(b) for version in self.arrays]
        infos = [ir.Result(v.info.dtype, v.info.axes) for v in self.arrays]
        block = prim.block
        number = len(line.results)
        with b.reenter(block):
            self.arrays = [Version(new_param(b, block, "old" if n == 0 else "at", info.dtype, info.axes)) for n, info in enumerate(infos)]
            if each is not None:
                assert isinstance(prim, ir.Loop)
                self.chain(chain, slot + poly(prim.index) * each)
            else:
                top = new_param(b, block, "top", I64, ())
                end = self.chain(chain, poly(ir.ref_atom(ir.Ref(top, 0, ()))))
            results = [version.whole(b) for version in self.arrays]
            if each is None:
                starts.append(ir.Abs((), scalars.from_poly(slot)))
                results.append(ir.Abs((), scalars.from_poly(end)))
                infos.append(ir.Result(I64))
        line.prim = dataclasses.replace(prim, state=(*prim.state, *starts), results=(*prim.results, *results))
        line.results = (*line.results, *infos)
        self.arrays = [Version(line, number + n) for n in range(len(self.arrays))]
        if each is None:
            after = self.chosen(prim.when, poly(ir.ref_atom(ir.Ref(line, len(line.results) - 1, ()))), slot)
        return after


def _counted(b: Builder, line: ir.Line, k: int, before: dict[ir.Line, Before]) -> Poly | None:
    """The slots that all rounds take together: the loop once more, for their number alone."""
    prim = line.prim
    assert isinstance(prim, ir.Loop)
    if line.dims or line.conds or _prints(prim):
        return None
    with b.reenter(line.block):
        replay = Replay(b, {})
        replay.before = before
        replay.line(line)
        again = replay.operand(ir.Ref(line, k, tuple(poly(0) for _ in line.results[k].axes)), {})
        assert isinstance(again, ir.Ref)
        copy = again.line
        inner = copy.prim
        assert isinstance(inner, ir.Loop)
        chain = nest(inner, k)
        if chain is None:
            return None
        with b.reenter(inner.block):
            top = new_param(b, inner.block, "top", I64, ())
            end = _Walk(b, []).chain(chain, poly(ir.ref_atom(ir.Ref(top, 0, ()))))
        copy.prim = dataclasses.replace(inner, state=(*inner.state, ir.Abs((), ir.Const(0, I64))), results=(*inner.results, ir.Abs((), scalars.from_poly(end))))
        copy.results = (*copy.results, ir.Result(I64))
        found: ir.Operand = ir.Ref(copy, len(copy.results) - 1, ())
        if inner.when:
            found = scalars.select(b, inner.when, found, ir.Const(0, I64), NOWHERE)
        total = scalars.as_poly(b, found)
    return total


def _prints(prim: ir.Prim) -> bool:
    return any(isinstance(x.prim, ir.Print) or _prints(x.prim) for block in blocks(prim) for x in block.lines)


State = Callable[[str, ir.Result], tuple[int, ir.Line]]
Done = Callable[[int, ir.Abs], None]


def push(b: Builder, line: ir.Line, k: int, before: dict[ir.Line, Before], state: State, done: Done) -> tuple[Stack, dict[ir.Line, Before]] | None:
    """Add to a loop the stack of what its rounds overwrite of an array, and tell how loops inside were `before`. `state` makes a state that starts with zeros, `done`
    gives its next value."""
    prim = line.prim
    assert isinstance(prim, ir.Loop)
    chain = nest(prim, k)
    assert chain is not None
    each = each_round(b, line, chain)
    total = each * _rounds(b, line.block, prim.size) if each is not None else _counted(b, line, k, before)
    if total is None:
        return None
    info = prim.block.params[k].results[0]
    made = [state("old" if n == 0 else "at", ir.Result(info.dtype if n == 0 else I64, (total,))) for n in range(1 + len(info.axes))]
    stack = Stack(made[0][0], [number for number, _ in made[1:]], each, _certain(chain))
    with b.reenter(prim.block):
        walk = _Walk(b, [Version(param) for _, param in made])
        if each is not None:
            walk.chain(chain, poly(prim.index) * each)
        else:
            stack.end, top = state("top", ir.Result(I64))
            stack.tops, tops = state("tape", ir.Result(I64, (prim.size,)))
            now = ir.Ref(top, 0, ())
            end = walk.chain(chain, poly(ir.ref_atom(now)))
            done(stack.end, ir.Abs((), scalars.from_poly(end)))
            kept, _ = b.emit(ir.Scatter(whole(b, tops), (), (poly(prim.index),), now), (ir.Result(I64, (prim.size,)),), hint="u")
            done(stack.tops, whole(b, kept))
        for (number, _), version in zip(made, walk.arrays, strict=True):
            done(number, version.whole(b))
    _settle(line.block)
    return stack, walk.before


def _settle(block: ir.Block | None) -> None:
    """Lines made just now, which earlier ones read, in their places."""
    while block is not None:
        block.lines[:] = in_order(block.lines)
        block = block.parent


def _certain(chain: Chain) -> bool:
    """No update leaves its slot without a place."""
    for line, k in chain:
        p = line.prim
        if isinstance(p, ir.Scatter) and set(p.when) - set(_asked(p)):
            return False
        if isinstance(p, (ir.Loop, ir.While)) and not _certain(nest(p, k) or []):
            return False
    return True


def pop(b: Builder, array: Version, first: Poly, end: Poly, certain: bool, old: Callable[[Poly], ir.Operand], places: list[Callable[[Poly], ir.Operand]]) -> ir.Line:
    """The array with the slots from first to end taken off, the last one first."""
    index = Sym("q")
    size = end - first
    info = ir.Result(array.info.dtype, array.info.axes)
    start = array.whole(b)
    block = b.new_block((index,))
    b.index_facts[index] = (poly(index), size - 1 - poly(index))
    slot = end - 1 - poly(index)
    with b.inside(block):
        param = new_param(b, block, "x", info.dtype, info.axes)
        where = []
        for place in places:
            found = scalars.as_poly(b, place(slot))
            assert found is not None
            where.append(found)
        when = () if certain else (ir.Cond("ge", where[0]),)
        made, _ = b.emit(ir.Scatter(whole(b, param), (), tuple(where), old(slot), None, False, when), (info,), hint="u")
        result = whole(b, made)
    line, index_ = b.emit(ir.Loop(index, size, (start,), block, (result,)), (info,), hint="l")
    assert not index_
    return line
