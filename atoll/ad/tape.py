"""What a loop records for its reverse sweep, as further state (Schenck 3.3.2, corrected: docs/sources.md, Schenck E4, E9).

    scalar state        one slot per round
    an array that rounds only update at some places   the overwritten elements and where they were (an undo log); the backward
                        loop starts from the final array and undoes round by round, so nothing is copied
    an array that loops inside a round update so   the same as a stack (ad/undo_stack.py)
    the same, and no round overwrites what was read and is needed   nothing: the final array is what every round read (ad/final_state.py)
    any other array     the whole array per round (at.loop(n, checkpoint=k) trades that for time)

What of a tape nobody needs disappears with dead state (ainf/dead.py).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from atoll.ad.added import determined
from atoll.ad.final_state import without_log
from atoll.ad.indicator import guarded, zero
from atoll.ad.loop_state import new_param, put, read, whole
from atoll.ad.undo_stack import Stack, is_sparse, nest, push
from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.identity import identity_of
from atoll.ainf.replay import Before, in_order
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.core.prims import PRIMS
from atoll.errors import NOWHERE
from atoll.sizes import Atom, Poly, poly
from atoll.types.dtypes import BOOL, I64, DType


@dataclass
class Update:
    """One scatter of an array that rounds only update at places, and where its undo log is on the tape."""

    line: ir.Line
    old: int = -1  # result of the loop: overwritten elements
    places: dict[int, int] = field(default_factory=dict)  # index component -> result of the loop
    flag: int = -1  # result of the loop: whether the update happened

    @property
    def is_logged(self) -> bool:
        return self.old >= 0


@dataclass
class Tape:
    """What the forward loop records: results of the loop, one slot per round."""

    whole: dict[int, int] = field(default_factory=dict)  # state -> result
    updates: dict[int, list[Update]] = field(default_factory=dict)  # state -> its updates, first to last
    stacks: dict[int, Stack] = field(default_factory=dict)  # states that loops inside rounds update -> what they overwrote
    before: dict[ir.Line, Before] = field(default_factory=dict)  # those loops as they were without stacks
    final: set[int] = field(default_factory=set)  # updated states of which the final contents are all that is needed
    sums: dict[tuple[ir.Line, int], int] = field(default_factory=dict)  # values kept because computing them again costs more, as that of a sum costs a loop


def _chain(b: Builder, prim: ir.Loop, k: int) -> list[ir.Line] | None:
    """The scatters a round applies to an array of state, in order; None when it does anything else to it."""
    block = prim.block
    found: list[ir.Line] = []
    at = identity_of(prim.results[k])
    while at is not None:
        line, result = at
        if line is block.params[k]:
            return found[::-1]
        p = line.prim
        if line.block is not block or line.dims or line.conds or result or not isinstance(p, ir.Scatter):
            return None
        if p.monoid not in (None, "add") or (p.monoid == "add" and p.binders) or p.drop:
            return None
        axes = line.results[0].axes
        if any(c.leaves() & set(p.binders) for c in p.when) or not determined(b, p, axes) or _slots(prim, p, axes) is None:
            return None
        found.append(line)
        at = identity_of(p.base)
    return None


def _read_by_loops(prim: ir.Loop, chain: list[ir.Line]) -> bool:
    """Whether loops inside the round read the array after some of its updates: they add to its adjoint in place where the array is there as it was then."""
    made = set(chain)
    return any(ref.line in made for line in prim.block.lines if blocks(line.prim) for ref in line_refs(line))


def _slots(prim: ir.Loop, p: ir.Scatter, axes: tuple[Poly, ...]) -> tuple[Poly, ...] | None:
    """How many elements an update writes at most, by its binders: a range with the round's number is at most the axis it writes along.

    None when the range is a value that the round computes.
    """
    found = []
    for x in p.binders:
        inside = x.extent.leaves()
        if any(isinstance(a, ir.RefAtom) and a.ref.line.block.depth >= prim.block.depth for a in inside):
            return None
        if inside & prim.block.owned or any(isinstance(a, ir.Binder) for a in inside):
            along = [axes[c] for c, q in enumerate(p.index) if x in q.leaves()]
            if not along:
                return None
            found.append(along[0])
        else:
            found.append(x.extent)
    return tuple(found)


def _record(
    b: Builder, line: ir.Line, prim: ir.Loop, name: str, dtype: DType, value: ir.Abs, slot: tuple[Poly, ...] | None = None
) -> tuple[int, ir.Abs, ir.Abs]:
    """A new array of state with a slot per round, this round's slot filled with value. Returns its number, start and result."""
    block = prim.block
    axes = (prim.size, *((x.extent for x in value.binders) if slot is None else slot))
    param = new_param(b, block, name, dtype, axes)
    made = put(b, whole(b, param), param.results[0], (poly(prim.index),), value)
    start = ir.Abs(tuple(b.fresh_binder("i", a) for a in axes), zero(dtype))
    number = len(line.results)
    line.results = (*line.results, ir.Result(dtype, axes))
    return number, start, whole(b, made)


def make_tape(b: Builder, line: ir.Line, restored: set[int], in_blocks: bool) -> Tape:
    """Add the tape to a loop. Of `restored` states the sweep must have every version; `in_blocks`: its rounds are blocks of rounds, which are done again to save memory."""
    prim = line.prim
    assert isinstance(prim, ir.Loop)
    tape = Tape()
    starts: list[ir.Abs] = []
    results: list[ir.Abs] = []

    def record(name: str, dtype: DType, value: ir.Abs, slot: tuple[Poly, ...] | None = None) -> int:
        number, start, result = _record(b, line, prim, name, dtype, value, slot)
        starts.append(start)
        results.append(result)
        return number

    def stacked(k: int) -> bool:
        chain = nest(prim, k)
        if chain is None or not (k in restored or is_sparse(prim, chain, prim.block.params[k].results[0].axes)):
            return False
        sweep, b.reverse = b.reverse, False  # filling the stack is no part of the reverse sweep
        made = push(b, line, k, {**tape.before, line: first}, state, done)
        b.reverse = sweep
        if made is None:
            return False
        tape.stacks[k], before = made
        tape.before = {**before, **tape.before}
        return True

    def state(name: str, info: ir.Result) -> tuple[int, ir.Line]:
        param = new_param(b, prim.block, name, info.dtype, info.axes)
        starts.append(ir.Abs(tuple(b.fresh_binder("i", a) for a in info.axes), zero(info.dtype)))
        results.append(starts[-1])
        line.results = (*line.results, info)
        return len(line.results) - 1, param

    def done(number: int, value: ir.Abs) -> None:
        results[number - states] = value

    states = len(prim.state)
    first = Before(prim, line.results, tuple(prim.block.lines))
    users = _users(prim)
    kept = [(_kept_as(x, users), 0) for x in prim.block.lines if _is_kept(x, prim)]
    kept += [(x, k) for x in prim.block.lines for k in _made_by_rounds(x, prim)]
    if line.block.depth and not prim.checkpoint:
        follows = _following(prim)
        kept += [(x, 0) for x in prim.block.lines if x in follows and _is_costly(x) and _has_slot(x, prim)]
    with b.reenter(prim.block):
        for k in range(states):
            param = prim.block.params[k]
            info = param.results[0]
            chain = _chain(b, prim, k) if info.axes else None
            if (chain is None or _read_by_loops(prim, chain)) and info.axes and not in_blocks and stacked(k):
                continue
            if chain is None:
                tape.whole[k] = record("tape", info.dtype, whole(b, param))
                continue
            free = [k not in restored and proved for proved in without_log(b, line, k, chain)]
            if all(free):
                tape.final.add(k)
            tape.updates[k] = [Update(scatter) if proved else _log(b, prim, scatter, record) for scatter, proved in zip(chain, free, strict=True)]
        for inner, k in dict.fromkeys(kept):
            fresh, env = _renamed(b, inner.dims)
            at = tuple(poly(d).subst(env) for d in inner.dims)
            tape.sums[inner, k] = record("tape", inner.results[k].dtype, ir.Abs(fresh, ir.Ref(inner, k, at)))
    line.prim = dataclasses.replace(prim, state=(*prim.state, *starts), results=(*prim.results, *results))
    return tape


def _is_kept(line: ir.Line, prim: ir.Loop) -> bool:
    """A sum over many elements, whose shape no round changes: a slot costs less than the loop that makes it."""
    p = line.prim
    if not isinstance(p, ir.Reduce) or p.monoid != "add" or line.conds or not line.results[0].dtype.is_float:
        return False
    count = p.binder.extent.const()
    return (count is None or count >= _FEW) and _has_slot(line, prim)


def _made_by_rounds(line: ir.Line, prim: ir.Loop) -> list[int]:
    """Scalars that a loop inside the round ends with: a slot costs less than that loop, which is often not done again then."""
    if not isinstance(line.prim, (ir.Loop, ir.While)) or line.conds or line.prim.when or not _has_slot(line, prim):
        return []
    return [k for k, r in enumerate(line.results[: len(line.prim.state)]) if not r.axes and r.dtype.is_float]


def _following(prim: ir.Loop) -> set[ir.Line]:
    """The lines of a round that depend on its state."""
    found: set[ir.Line] = set(prim.block.params)
    for line in in_order(prim.block.lines):
        if any(ref.line in found for ref in line_refs(line)):
            found.add(line)
    return found


def _is_costly(line: ir.Line) -> bool:
    """A function like exp. Of a loop inside another it is kept, if it depends on state and thus on rounds that are done again anyway: the tape
    lives as long as a round of the other loop, and is in the cache."""
    p = line.prim
    return isinstance(p, ir.Op) and p.name in PRIMS and PRIMS[p.name].cost >= _COSTLY and not line.conds and line.results[0].dtype.is_float


def _has_slot(line: ir.Line, prim: ir.Loop) -> bool:
    """True when all rounds make as many elements of a line."""
    inside = {x for d in line.dims for x in d.extent.leaves()}
    return not inside & prim.block.owned and not any(isinstance(x, (ir.RefAtom, ir.Binder)) for x in inside)


_FEW = 8
_COSTLY = 12
_SLOPE_IS_CONSTANT = frozenset(("add", "sub", "neg"))
_SLOPE_BY_VALUE = frozenset(("exp", "exp2", "expm1", "tanh", "sqrt"))


def _users(prim: ir.Loop) -> dict[ir.Line, list[tuple[ir.Line | None, ir.Ref]]]:
    """Who reads each line of a round; None for the state of the next round."""
    found: dict[ir.Line, list[tuple[ir.Line | None, ir.Ref]]] = {}
    for line in prim.block.lines:
        for ref in line_refs(line):
            found.setdefault(ref.line, []).append((line, ref))
    for array in prim.results:
        for ref in ir.operand_refs(array.body):
            found.setdefault(ref.line, []).append((None, ref))
    return found


def _kept_as(line: ir.Line, users: dict[ir.Line, list[tuple[ir.Line | None, ir.Ref]]]) -> ir.Line:
    """The value to keep instead of a sum, one for several where they only add up: the last whose way back needs no other value."""
    while len(found := users.get(line, [])) == 1:
        user, ref = found[0]
        if user is None or user.block is not line.block or user.conds or not isinstance(user.prim, ir.Op):
            break
        if user.prim.name not in _SLOPE_IS_CONSTANT | _SLOPE_BY_VALUE or ref not in user.prim.args:
            break
        if len(user.dims) != len(line.dims) or ref.index != tuple(poly(d) for d in user.dims):
            break
        line = user
        if user.prim.name in _SLOPE_BY_VALUE:
            break
    return line


def _renamed(b: Builder, dims: tuple[ir.Binder, ...]) -> tuple[tuple[ir.Binder, ...], dict[Atom, Poly]]:
    fresh = tuple(b.fresh_binder(d.name, d.extent) for d in dims)
    return fresh, {d: poly(f) for d, f in zip(dims, fresh, strict=True)}


def _log(b: Builder, prim: ir.Loop, scatter: ir.Line, record: Any) -> Update:
    """Record what a scatter overwrites, where, and whether it happens."""
    p = scatter.prim
    assert isinstance(p, ir.Scatter)
    update = Update(scatter)
    found = identity_of(p.base)
    assert found is not None
    base, result = found
    dtype = scatter.results[0].dtype
    slot = _slots(prim, p, scatter.results[0].axes)
    with b.binding(*p.binders), b.under(*p.when):
        old = read(b, base, result, p.index)
        old = guarded(b, list(p.when), old, dtype)
    update.old = record("old", dtype, ir.Abs(p.binders, old), slot)
    for c, q in enumerate(p.index):
        if any(isinstance(leaf, ir.RefAtom) for leaf in q.leaves()):
            with b.binding(*p.binders), b.under(*p.when):
                value = guarded(b, list(p.when), scalars.from_poly(q), I64)
            update.places[c] = record("at", I64, ir.Abs(p.binders, value), slot)
    if p.when:
        flag: ir.Operand = scalars.select(b, p.when, ir.Const(True, BOOL), ir.Const(False, BOOL), NOWHERE)
        update.flag = record("when", BOOL, ir.Abs((), flag))
    return update
