"""Arrays that are updated have one version after another, also where branches meet.

An update (`Scatter`, `Loop`, `While`) of an array that exists outside the branch it stands in has no conditions of its own: it carries the path to
it as `when`, and where that does not hold the new version *is* the old one. So

    if c: a[i] = 1                      v1 = scatter v0 [i] put 1 when c
    elif d: a[j] = 2                    v2 = scatter v1 [j] put 2 when not c, d

is one chain, and what the branches give is its last version, not a choice element by element. The second branch goes on from the last version
of the first (`now`): that has the same contents there, for nothing of the first has happened. An array that a branch makes
anew and that is to be state of a loop (into_state.py) is put into the state's memory, when that branch is taken (`replaced`).

Where branches give the same arrays in another order, as `if c: a, b = b, a` does, they are a loop of one round, when that branch is taken, whose state changes
places (`exchanged`): chains go on through it as through any loop, and it costs nothing, for the memory of a loop's state changes places by name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import count
from typing import Any

from atoll.ainf import ir
from atoll.ainf.accessible import needed_conds, tested_in_order, with_their_own
from atoll.ainf.builder import Builder
from atoll.ainf.identity import identity_of, updates, version_before
from atoll.ainf.known import Given
from atoll.ainf.translate.context import Context
from atoll.ainf.values import Formula, Scalar, Value, VArray, VTuple, rows
from atoll.errors import Span
from atoll.sizes import Poly, Sym, poly

Key = tuple[ir.Line, int]
Pair = tuple[VArray, VArray]


class Versions(Context):
    def merge_updates(self, test: Formula, then: VArray, orelse: VArray, span: Span, into_state: bool) -> VArray | None:
        """Branches of which one updates what the other gives: all updates happen only when their branch is taken, so the last one is
        the value of both. None when that is not what they do."""
        found = self.last_version(test, then, orelse)
        if found is not None or not into_state:
            return found
        return self.replaced(test, then, orelse, span) or self.replaced(test.negated(), orelse, then, span)

    def last_version(self, test: Formula, then: VArray, orelse: VArray) -> VArray | None:
        """What two branches give, where it is one array that they have updated."""
        if then.source is None or orelse.source is None:
            return None
        if then.source == orelse.source:
            return then
        if not then.source[2] and not orelse.source[2]:
            a, c = then.source[:2], orelse.source[:2]
            if a in self.changed_only(c, test.negated()):
                return orelse
            if c in self.changed_only(a, test):
                return then
        return None

    def exchanged(self, test: Formula, then: Value, orelse: Value, span: Span) -> tuple[Value, Value]:
        """What two branches give, where arrays of a loop's state that are in another order in one of them have changed places before."""
        b = self.b
        if b.block.parent is None or any(x not in b.block.ambient for x in b.binders):
            return then, orelse
        pairs: list[Pair] = []
        self.paired(then, orelse, lambda x, y: pairs.append((x, y)))
        moved = {k: (x, y) for k, (x, y) in enumerate(pairs) if self.last_version(test, x, y) is None and self.is_state(x) and self.is_state(y)}
        found: dict[int, VArray] = {}
        for ring in self.rings(test, moved) if len(moved) > 1 else ():
            found.update(self.change_places(test, ring, span))
        numbers = count()
        return self.paired(then, orelse, lambda x, y: found.get(next(numbers))) if found else (then, orelse)

    def paired(self, then: Value, orelse: Value, visit: Callable[[VArray, VArray], VArray | None]) -> tuple[Value, Value]:
        """Two values with the same array in the place of two, wherever `visit` has one."""
        if isinstance(then, VTuple) and isinstance(orelse, VTuple):
            items = [self.paired(x, y, visit) for x, y in zip(then.items, orelse.items, strict=True)]
            return VTuple(tuple(x for x, _ in items)), VTuple(tuple(y for _, y in items))
        if not isinstance(then, VArray) or not isinstance(orelse, VArray):
            return then, orelse
        if then.parts is not None and orelse.parts is not None:
            x, y = self.paired(then.parts, orelse.parts, visit)
            assert isinstance(x, VTuple) and isinstance(y, VTuple)
            return (then, orelse) if x == then.parts and y == orelse.parts else (self.push_in(x, then.depth), self.push_in(y, orelse.depth))
        found = visit(then, orelse)
        return (then, orelse) if found is None else (found, found)

    def rings(self, test: Formula, moved: dict[int, Pair]) -> list[dict[int, tuple[Pair, VArray, int]]]:
        """Places whose arrays in the two branches are the same in another order. Of each: both arrays, the last version of the second one, and the place
        where the second branch has what the first has here."""
        goes: dict[int, tuple[int, VArray]] = {}
        for k, (x, _) in moved.items():
            same = [(j, last) for j, (_, y) in moved.items() if (last := self.last_version(test, x, y)) is not None]
            if len(same) == 1:
                goes[k] = same[0]
        newest = dict(goes.values())
        found: list[dict[int, tuple[Pair, VArray, int]]] = []
        left = set(goes) if len(newest) == len(goes) else set()
        while left:
            ring = [min(left)]
            while (after := goes[ring[-1]][0]) in left and after not in ring:
                ring.append(after)
            left -= set(ring)
            if goes[ring[-1]][0] == ring[0]:
                found.append({k: (moved[k], newest[k], goes[k][0]) for k in sorted(ring)})
        return found

    def change_places(self, test: Formula, ring: dict[int, tuple[Pair, VArray, int]], span: Span) -> dict[int, VArray]:
        """What is at these places after the arrays there have changed places in a loop of one round, in the branch that has them in another order than the loop around."""
        b = self.b
        comes = {k: to for k, (_, _, to) in ring.items()}
        keys = {k: key_of(last) for k, (_, last, _) in ring.items()}
        if [position_of(x) for (x, _), _, _ in ring.values()] < [position_of(y) for (_, y), _, _ in ring.values()]:
            test, keys, comes = test.negated(), {k: keys[to] for k, to in comes.items()}, {to: k for k, to in comes.items()}
        infos = [line.results[k] for line, k in keys.values()]
        if any(info.axes != infos[0].axes or info.dtype is not infos[0].dtype for info in infos):
            return {}
        index = Sym("k")
        b.index_facts[index] = (poly(index), -poly(index))
        block = b.new_block((index,))
        params = {k: self.param(block, n, root_of(key).name, infos[n].dtype, infos[n].axes) for n, (k, key) in enumerate(keys.items())}
        with b.inside(block):
            results = tuple(self.leaf_abs(self.line_leaf((params[comes[k]], 0))) for k in keys)
        with b.under(*self.path_conds(test)):
            state = tuple(self.leaf_abs(self.line_leaf(key)) for key in keys.values())
            line, where = self.put(ir.Loop(index, poly(1), state, block, results), tuple(infos), span, "l")
        return {} if where or line.conds else {k: self.whole((line, n)) for n, k in enumerate(keys)}

    def is_state(self, array: VArray) -> bool:
        """True for a version of an array that the loop around is about."""
        if array.source is None or not _local(array, self.b) or array.source[0].conds:
            return False
        first = updates(array.source[:2])[-1][0]
        return isinstance(first.prim, ir.Param) and first.block is self.b.block

    def changed_only(self, key: Key, test: Formula) -> list[Key]:
        """The versions of an array before this one, as far back as it has changed only where the test holds."""
        if key[0] not in self.only_when:
            return []
        conds = frozenset(self.conditions(test))
        found: list[Key] = []
        while conds <= self.only_when.get(key[0], frozenset()) and (before := version_before(key)) is not None:
            found.append(before)
            key = before
        return found

    def versions(self, value: Value, test: Formula) -> dict[Key, Key]:
        """Arrays that a branch has updated, and what they are after it."""
        found: dict[Key, Key] = {}
        queue = [value]
        while queue:
            item = queue.pop()
            if isinstance(item, VTuple):
                queue += reversed(item.items)
            elif isinstance(item, VArray) and item.parts is not None:
                queue.append(item.parts)
            elif isinstance(item, VArray) and item.source is not None and not item.source[2]:
                key = item.source[:2]
                for before in self.changed_only(key, test):
                    found.setdefault(before, key)
        return found

    def latest(self, value: Value) -> Value:
        """A value where code of another branch, which is not taken, has updated arrays before."""
        if isinstance(value, VTuple):
            return VTuple(tuple(self.latest(item) for item in value.items))
        if isinstance(value, VArray) and value.parts is not None:
            return self.push_in(VTuple(tuple(self.latest(item) for item in value.parts.items)), value.depth)
        if isinstance(value, VArray) and value.source is not None and not value.source[2]:
            key = value.source[:2]
            while key in self.now:
                key = self.now[key]
            return value if key == value.source[:2] else self.whole(key)
        return value

    def replaced(self, test: Formula, then: VArray, orelse: VArray, span: Span) -> VArray | None:
        """State of a loop of which one branch makes another array: all of it is put there, when that branch is taken."""
        b = self.b
        if b.block.parent is None or orelse.source is None or any(x not in b.block.ambient for x in b.binders) or not self.is_state(orelse):
            return None
        key = orelse.source[:2]
        info = key[0].results[key[1]]
        binders = tuple(b.fresh_binder("ijklmn"[k % 6], n) for k, n in enumerate(info.axes))
        with b.under(*self.path_conds(test)):
            with b.binding(*binders):
                value: Value = then
                for k, x in enumerate(binders):
                    if not isinstance(value, VArray) or value.extent != info.axes[k]:
                        return None
                    value = self.get(value, poly(x))
                if not isinstance(value, (Scalar, Formula)):
                    return None
                new = self.operand(value)
            prim = ir.Scatter(self.leaf_abs(self.line_leaf(key)), binders, tuple(poly(x) for x in binders), new, replaces=True)
            made, index = self.put(prim, (info,), span, "u")
        return self.whole((made, 0)) if not index and not made.conds else None

    def put(self, prim: Any, results: tuple[ir.Result, ...], span: Span, hint: str) -> tuple[ir.Line, tuple[Poly, ...]]:
        """The line of an update. One in a branch, of an array that exists outside it, is an update that happens only when the branch is
        taken: so the array has one version after another, and the branches need not be put together element by element."""
        b = self.b
        given = self.branch(prim)
        if not given:
            return b.emit(prim, results, span, hint)
        conds = tested_in_order([g.cond for g in given], b.block)
        saved, b.path = b.path, [g for g in b.path if g not in given]
        try:
            line, where = b.emit(dataclasses.replace(prim, when=conds), results, span, hint)
        finally:
            b.path = saved
        if not line.conds and not line.dims:
            self.only_when[line] = frozenset(conds)
        return line, where

    def branch(self, prim: Any) -> list[Given]:
        """The conditions of the branch an update stands in, and those checked before that what it reads depends on, or that the branch's tests do; none when no array it
        updates exists without them."""
        b = self.b
        here = [g for g in b.path if g.block is b.block]
        if not here or not all(x in b.block.ambient for x in b.binders):
            return []
        arrays = (prim.base,) if isinstance(prim, ir.Scatter) else prim.state
        if not any(_exists(array, b) for array in arrays if array.binders):
            return []
        tests = dict.fromkeys(g.cond for g in here if g.lazy)
        needed = with_their_own({**needed_conds(prim, (), b.block), **tests}, b.block)
        return [g for g in here if g.lazy or g.made in needed]

    def line_leaf(self, key: Key) -> Any:
        line, k = key
        result = line.results[k]
        return result.axes, lambda index: self.read(line, k, index), result.dtype

    def whole(self, key: Key) -> VArray:
        line, k = key
        made = rows(lambda index: Scalar(self.read(line, k, index)), line.results[k].axes)
        assert isinstance(made, VArray)
        return VArray(made.extent, made.get, (line, k, ()))


def key_of(array: VArray) -> Key:
    assert array.source is not None
    return array.source[:2]


def root_of(key: Key) -> ir.Param:
    """The parameter that an array of the loop's state is a version of."""
    prim = updates(key)[-1][0].prim
    assert isinstance(prim, ir.Param)
    return prim


def position_of(array: VArray) -> int:
    return root_of(key_of(array)).position


def _exists(array: ir.Abs, b: Builder) -> bool:
    """True when an array is there whatever the conditions are."""
    found = identity_of(array)
    return found is not None and not found[0].dims and not found[0].conds and (found[0].block is b.block or not isinstance(found[0].prim, ir.Param))


def _local(array: VArray, b: Builder) -> bool:
    """A whole array of the block being translated."""
    assert array.source is not None
    line, _, index = array.source
    return not index and not line.dims and (line.block is b.block or not isinstance(line.prim, ir.Param))
