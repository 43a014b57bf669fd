"""Adjoints of values from outside a loop: state of the backward loop that every round adds to in place, in order.

A value over indices the loop itself stands under has only the part that one instance of the loop can reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from atoll.ad.backward import Backward
from atoll.ad.indicator import guarded, longest, sum_over
from atoll.ad.kronecker import plus
from atoll.ad.loop_state import Version, added_at
from atoll.ainf import ir
from atoll.ainf.builder import Builder
from atoll.ainf.scan_prim import line_refs
from atoll.sizes import Atom, Poly, poly
from atoll.types.dtypes import DType

if TYPE_CHECKING:
    from atoll.ad.reverse import Key, Reverse


def outer_keys(rev: Reverse, prim: ir.Loop, states: list[int], lines: list[ir.Line]) -> list[Key]:
    """Active values from outside that these lines of a round read, and the next values of these states."""
    inside = set(prim.block.params)
    stack = list(prim.block.lines)
    while stack:
        line = stack.pop()
        inside.add(line)
        inner = getattr(line.prim, "block", None)
        if isinstance(inner, ir.Block):
            stack += inner.lines
    found: dict[Key, None] = {}
    for line in lines:
        for ref in line_refs(line):
            key = (ref.line, ref.result)
            if ref.line not in inside and key in rev.active:
                found[key] = None
    for k in states:
        for ref in ir.operand_refs(prim.results[k].body):
            if ref.line not in inside and (ref.line, ref.result) in rev.active:
                found[(ref.line, ref.result)] = None
    return list(found)


def useful(prim: ir.Loop | ir.While, wanted: set[int]) -> tuple[set[int], list[ir.Line]]:
    """States whose adjoint can be other than 0, given the results that have one, and the lines on the way to them."""
    params = {line: k for k, line in enumerate(prim.block.params)}
    found: set[int] = set()
    seen: set[Key] = set()
    waiting = set(wanted)
    while waiting:
        k = waiting.pop()
        found.add(k)
        stack = list(ir.operand_refs(prim.results[k].body))
        while stack:
            ref = stack.pop()
            key = (ref.line, ref.result)
            if key in seen:
                continue
            seen.add(key)
            if ref.line in params:
                waiting |= {params[ref.line]} - found
            elif ref.line.block is prim.block:
                stack += _needs(*key)
    passed = {line for line, _ in seen}
    return found, [line for line in prim.block.lines if line in passed and line not in params]


def _needs(line: ir.Line, result: int) -> list[ir.Ref]:
    """What one result of a line is computed from; of a loop inside, only what that result needs."""
    prim = line.prim
    if not isinstance(prim, (ir.Loop, ir.While)):
        return list(line_refs(line))
    states, lines = useful(prim, {result})
    refs = [ref for k in states for a in (prim.state[k], prim.results[k]) for ref in ir.operand_refs(a.body)]
    return refs + [ref for inner in lines for ref in line_refs(inner)]


@dataclass
class Sum:
    """The adjoint of a value from outside, added up over rounds: a state over the components of its index that vary.

    Where rows of the value have lengths of their own, the state has room for the longest one in each.
    """

    key: Key
    pinned: dict[int, Poly]  # components that are always this index of the context
    free: list[int]
    axes: tuple[Poly, ...]
    state: int = -1
    current: Any = None  # a Version; an operand for a scalar that was added to

    @property
    def uneven(self) -> bool:
        """Whether some of the state is room that no element of the value has."""
        own = {d for c, d in enumerate(self.key[0].dims) if c in self.free}
        return any(n.leaves() & own for n in self.key[0].extents(self.key[1]))

    def elements(self, b: Builder) -> tuple[ir.Binder, ...]:
        """Fresh indices for all elements that the part of the value has."""
        y, result = self.key
        env: dict[Atom, Poly] = {}
        fresh: list[ir.Binder] = []
        for c, n in enumerate(y.extents(result)):
            if c in self.pinned:
                at = self.pinned[c]
            else:
                fresh.append(b.fresh_binder("ijk"[len(fresh) % 3], n.subst(env)))
                at = poly(fresh[-1])
            if c < len(y.dims):
                env[y.dims[c]] = at
        return tuple(fresh)

    @property
    def info(self) -> ir.Result:
        return ir.Result(self.key[0].results[self.key[1]].dtype, self.axes)

    def index(self, at: tuple[Poly, ...]) -> tuple[Poly, ...]:
        """The whole index of the value, from the part that varies."""
        rest = iter(at)
        return tuple(self.pinned[c] if c in self.pinned else next(rest) for c in range(len(self.pinned) + len(self.free)))


def shaped(b: Builder, prim: ir.Loop, key: Key, fixed: set[ir.Binder], parent: Sum | None) -> Sum:
    """The sum for a value, shaped like the part of it that rounds can reach; inside another loop, like that loop's."""
    if parent is not None:
        return Sum(key, parent.pinned, parent.free, parent.axes)
    pinned = pinned_of(prim, key, fixed)
    line, extents = key[0], key[0].extents(key[1])
    env: dict[Atom, Poly] = {d: pinned[c] for c, d in enumerate(line.dims) if c in pinned}
    free = [c for c in range(len(extents)) if c not in pinned]
    others = [d for c, d in enumerate(line.dims) if c not in pinned]
    return Sum(key, pinned, free, tuple(longest(b, extents[c].subst(env), others, env) for c in free))


def pinned_of(prim: ir.Loop, key: Key, fixed: set[ir.Binder]) -> dict[int, Poly]:
    """Components of a value's index that are the same index of the context wherever the loop reads it."""
    refs = [r for x in prim.block.lines for r in line_refs(x) if (r.line, r.result) == key]
    refs += [r for a in prim.results for r in ir.operand_refs(a.body) if (r.line, r.result) == key]
    pinned: dict[int, Poly] = {}
    for c in range(len(key[0].extents(key[1]))):
        used = {r.index[c] for r in refs}
        only = next(iter(used)).single() if len(used) == 1 else None
        if only is not None and only in fixed:
            pinned[c] = poly(only)
    return pinned


def declare_sums(back: Backward, sums: list[Sum], firsts: list[ir.Abs]) -> dict[Key, Sum]:
    """State for the adjoints of outside values, starting from what is there."""
    found: dict[Key, Sum] = {}
    for s, first in zip(sums, firsts, strict=True):
        s.state, param = back.state("bar", s.info.dtype, s.axes, first)
        s.current = Version(param)
        found[s.key] = s
    return found


def add_at(
    back: Backward, current: Version, where: tuple[Poly, ...], value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder]
) -> Version:
    """current[where] += value for all binders, in place."""
    return added_at(back.b, current.whole(back.b), current.info, where, value, conds, binders)


def sum_sink(back: Backward, s: Sum) -> Any:
    def sink(index: tuple[Poly, ...], value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder]) -> None:
        b = back.b
        dtype = s.key[0].results[s.key[1]].dtype
        where = tuple(index[c] for c in s.free)
        if where:
            s.current = add_at(back, s.current, where, value, conds, binders)
            return
        with b.binding(*binders), b.under(*conds):
            total = value
        total = guarded(b, list(conds), total, dtype) if not binders else _guarded_sum(b, total, conds, binders, dtype)
        before = s.current.read(b) if isinstance(s.current, Version) else s.current
        s.current = plus(b, before, total, dtype)

    return sink


def _guarded_sum(b: Builder, value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder], dtype: DType) -> ir.Operand:
    inner = [c for c in conds if any(x in c.leaves() for x in binders)]
    outer = [c for c in conds if c not in inner]
    with b.under(*outer):
        with b.binding(*binders):
            total = guarded(b, inner, value, dtype)
        for x in reversed(binders):
            total = sum_over(b, x, total, dtype)
    return guarded(b, outer, total, dtype)
