"""Reverse mode through loops: a tape is added to the loop, and a second loop runs backwards.

A backward round replays the forward round from the tape and follows its lines backwards. Adjoints of state are its state; those of arrays that
are updated at places are added to in place.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from atoll.ad import lines as help_
from atoll.ad.added import added
from atoll.ad.backward import Backward, _after_update, _replayed_place
from atoll.ad.brought_back import Restored, brought_back, declare_restored, made_updates, overwritten, popped, undo_between
from atoll.ad.checkpoint import strip_mine
from atoll.ad.indicator import zero
from atoll.ad.loop_forward import varied
from atoll.ad.loop_outside import Sum, declare_sums, outer_keys, pinned_of, shaped, sum_sink, useful
from atoll.ad.loop_state import HandedOn, Version, line_reader, new_param, put, read, state_reader, whole
from atoll.ad.reverse import Reverse as ReverseMode
from atoll.ad.running import Running
from atoll.ad.tape import make_tape
from atoll.ad.undo_stack import nest
from atoll.ad.while_rounds import counted
from atoll.ainf import ir, scalars
from atoll.ainf.accessible import begins_if
from atoll.ainf.builder import Builder
from atoll.ainf.identity import identity_of
from atoll.ainf.replay import Reader, Replay, in_order
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import I64

if TYPE_CHECKING:
    from atoll.ad.reverse import Key, Reverse


def reverse_loop(rev: Reverse, line: ir.Line) -> None:
    """Add a tape to the loop and emit the loop that runs it backwards."""
    b = rev.b
    was = line
    if isinstance(line.prim, ir.While):
        line = counted(rev, line)
    prim = line.prim
    assert isinstance(prim, ir.Loop)
    if prim.when:  # what rounds record has as many slots as there are rounds, also if there are none
        with b.binding(*line.dims), b.under(*line.conds):
            size = scalars.as_poly(b, scalars.select(b, prim.when, scalars.from_poly(prim.size), ir.Const(0, I64), line.span))
        assert size is not None
        b.index_facts[prim.index] = (*b.index_facts[prim.index], size - 1 - poly(prim.index))
        prim = line.prim = dataclasses.replace(prim, size=size)
    in_blocks = bool(prim.checkpoint and prim.checkpoint > 1)
    if in_blocks:
        assert prim.checkpoint is not None
        strip_mine(b, line, prim.checkpoint)
        prim = line.prim
        assert isinstance(prim, ir.Loop)
    states = len(prim.state)
    varying = varied(rev.b, prim, rev.active)
    adjoints = {k: reader for k in varying if (reader := rev.adjoint((line, k))) is not None}
    reached, lines = useful(prim, set(adjoints))
    active = [k for k in varying if k in reached]
    original = list(in_order([x for x in prim.block.lines if x not in prim.block.params]))
    body_results = prim.results
    outer = outer_keys(rev, prim, active, lines)
    apart = [d for d in line.dims if d not in rev.fixed]
    in_order_of_instances = bool(apart) and _one_after_the_other(rev, line, apart, outer)
    within = _within(rev, line, apart if in_order_of_instances else None, outer)
    branch = tuple(c for c in line.conds if c not in within)
    threaded = {} if branch else rev.running
    pinnable = set(rev.fixed) if in_order_of_instances else set(rev.fixed) | set(line.dims)
    if apart and not in_order_of_instances:
        threaded = {}
    sums = [shaped(b, prim, key, pinnable, threaded.get(key)) for key in outer]
    alone = not (line.dims or line.conds or prim.when)
    firsts = [_first(rev, s, threaded.get(s.key), alone) for s in sums]
    tape = make_tape(b, line, {k for k in range(states) if (was, k) in rev.restored}, in_blocks)
    restored: dict[int, Restored] = {}

    def sweep(env: dict[Atom, Poly], started: list[ir.Abs]) -> tuple[ir.Line, tuple[Poly, ...], dict[Key, Sum]]:
        """The backward loop of one instance, or of all of them at once."""
        back = Backward(rev, line, states, tape, env)
        own = tuple(c.subst(env) for c in within)
        begin = len(b.path)
        with b.under(*(own if env else ()), lazy=False):  # an instance's lines stand in a block of their own
            _declare_adjoints(back, active, adjoints)
            declare_restored(back, tape, was, restored)
            declared = declare_sums(back, sums, started)
            given = b.path[begin:]
            with b.reenter(back.block):
                b.path += given
                _round(back, active, restored, declared, original, body_results)
        done = [x if x is not None else whole(b, p) for x, p in zip(back.nexts, back.block.params, strict=True)]
        when = (*own, *(c.subst(env) for c in prim.when))
        loop = ir.Loop(back.index, back.size, tuple(back.firsts), back.block, tuple(done), when=when)
        made, where = b.emit(loop, tuple(back.types), line.span, "b")
        return made, where, declared

    if in_order_of_instances:
        with b.under(*branch):
            adjoint_of, found = _instances(rev, line, apart, active, sums, firsts, within, sweep)
    else:
        with b.binding(*line.dims), b.under(*branch):
            made, where, _ = sweep({}, firsts)
        adjoint_of = [Version(made, position, where) for position in range(len(active))]
        found = [Version(made, s.state, where) for s in sums]
        if not line.dims and not line.conds:
            for k, r in restored.items():
                if (start := identity_of(prim.state[k])) is not None:
                    rev.versions[start] = Version(made, r.state)
    _hand_on(rev, line, active, adjoint_of, list(zip(sums, found, strict=True)), threaded, in_order_of_instances, branch, {s.key: first for s, first in zip(sums, firsts, strict=True)})


def _first(rev: Reverse, s: Sum, parent: Sum | None, alone: bool) -> ir.Abs:
    """What a sum starts from: the sum of the loop around; of a loop that stands `alone` what flowed into all of an array from elsewhere, which is added to in place; or nothing."""
    b = rev.b
    if parent is not None:
        return parent.current.whole(b) if isinstance(parent.current, Version) else ir.Abs((), parent.current)
    binders = tuple(b.fresh_binder("i", a) for a in s.axes)
    reader = rev.taken(s.key) if alone and s.axes and not s.pinned and not s.uneven else None
    if reader is None:
        return ir.Abs(binders, zero(s.info.dtype))
    with b.binding(*binders):
        return ir.Abs(binders, reader(tuple(poly(x) for x in binders)))


def _within(rev: Reverse, line: ir.Line, apart: list[ir.Binder] | None, outer: list[Key]) -> tuple[ir.Cond, ...]:
    """The conditions of a loop's branches that its backward loop asks itself, having no rounds where they do not hold, so that it is there in any case and adds to the arrays of the
    loop around in place. Under the others it has arrays of its own, which are as long as those: that is an order too many where the loop reads a few elements of them.
    `apart` are the indices of instances that run one after the other."""
    lengths = [key[0].extents(key[1]) for key in outer]
    carried = any(lengths) and all(key in rev.running for key, axes in zip(outer, lengths, strict=True) if axes)
    few = not line.dims if apart is None else all(d.extent.const() is not None for d in apart)  # what there is for each instance is there in any case, too
    if carried and few:
        return line.conds
    return tuple(c for c in line.conds if c.leaves() & set(apart)) if apart else ()


_SMALL = 16


def _one_after_the_other(rev: Reverse, line: ir.Line, apart: list[ir.Binder], outer: list[Key]) -> bool:
    """Whether instances of a loop share the sums for outside arrays, and so come in order, instead of having one each.

    One each is for values read at the instance's own indices, and for small ones; whole arrays per instance would be the work and the memory of a dense
    matrix where the loop reads a few elements (docs/sources.md N4: in order is also the cheapest deterministic way).
    """
    prim = line.prim
    assert isinstance(prim, ir.Loop)
    own = set(apart)
    ranges = [p for d in apart for p in (d.extent, *d.facts)] + [a for r in line.results for a in r.axes]
    if any(p.leaves() & own for p in ranges):
        return False
    every = set(rev.fixed) | set(line.dims)
    for key in outer:
        pinned = pinned_of(prim, key, every)
        sizes = [a.const() for c, a in enumerate(key[0].extents(key[1])) if c not in pinned]
        if sizes and (any(c is None for c in sizes) or math.prod(c for c in sizes if c is not None) > _SMALL):
            return True
    return False


def _instances(
    rev: Reverse, line: ir.Line, apart: list[ir.Binder], active: list[int], sums: list[Sum], firsts: list[ir.Abs], within: tuple[ir.Cond, ...], sweep: Any
) -> tuple[list[Version], list[Version]]:
    """Loops over the instances, in order, which carry the sums of arrays and collect the adjoints of each instance's first state, and the sums of numbers of each instance: where
    each adds to arrays at places of its own, nothing goes on from one to the next, and they run in pieces."""
    b = rev.b
    prim = line.prim
    assert isinstance(prim, ir.Loop)
    sizes = tuple(d.extent for d in apart)
    carried, own = [s for s in sums if s.axes], [s for s in sums if not s.axes]
    kept = [ir.Result(r.dtype, sizes + r.axes) for r in (prim.block.params[k].results[0] for k in active)] + [ir.Result(s.info.dtype, sizes) for s in own]
    types = [s.info for s in carried] + kept
    start = [first for s, first in zip(sums, firsts, strict=True) if s.axes] + [ir.Abs(tuple(b.fresh_binder("i", a) for a in r.axes), zero(r.dtype)) for r in kept]

    def level(left: list[ir.Binder], env: dict[Atom, Poly], given: list[ir.Abs]) -> list[Version]:
        if not left:
            begun = iter(given[: len(carried)])
            made, where, _ = sweep(env, [next(begun) if s.axes else ir.Abs((), zero(s.info.dtype)) for s in sums])
            done = [Version(made, s.state, where) for s in carried]
            at = tuple(env[d] for d in apart)
            of_instance = [*range(len(active)), *(s.state for s in own)]
            when = tuple(c.subst(env) for c in within)
            for position, base, info in zip(of_instance, given[len(carried) :], kept, strict=True):
                done.append(Version(put(b, base, info, at, Version(made, position, where).whole(b), when)))
            return done
        d = left[0]
        sym = Sym(d.name)
        block = b.new_block((sym,))
        b.index_facts[sym] = (poly(sym), d.extent - 1 - poly(sym))
        with b.inside(block):
            params = [Version(new_param(b, block, "bar", r.dtype, r.axes)) for r in types]
            after = level(left[1:], {**env, d: poly(sym)}, [p.whole(b) for p in params])
            results = tuple(v.whole(b) for v in after)
        made, where = b.emit(ir.Loop(sym, d.extent, tuple(given), block, results), tuple(types), line.span, "b")
        return [Version(made, k, where) for k in range(len(types))]

    found = level(apart, {}, start)
    adjoints = found[len(carried) : len(carried) + len(active)]
    arrays, numbers = iter(found[: len(carried)]), iter(found[len(carried) + len(active) :])
    return adjoints, [next(arrays) if s.axes else _over_instances(b, apart, next(numbers), first) for s, first in zip(sums, firsts, strict=True)]


def _over_instances(b: Builder, apart: list[ir.Binder], each: Version, first: ir.Abs) -> Version:
    """The sum of a number over the instances, which each have their own, and what it starts from."""
    fresh = [b.fresh_binder(d.name, d.extent) for d in apart]
    with b.binding(*fresh):
        total = each.read(b, tuple(map(poly, fresh)))
    dtype = each.info.dtype
    for k in reversed(range(len(fresh))):
        with b.binding(*fresh[:k]):
            total = b.ref(ir.Reduce("add", fresh[k], total), ir.Result(dtype), hint="s")
    if first.body != zero(dtype):
        total = b.ref(ir.Op("add", (first.body, total)), ir.Result(dtype), hint="s")
    assert isinstance(total, ir.Ref)
    return Version(total.line, total.result, total.index)


def _declare_adjoints(back: Backward, active: list[int], adjoints: dict[int, Reader]) -> None:
    """State 0, 1, ...: the adjoints of the active states, starting from those of the loop's results."""
    b = back.b
    for k in active:
        param = back.prim.block.params[k]
        info = param.results[0]
        binders = tuple(b.fresh_binder("ijk"[n % 3], a) for n, a in enumerate(info.axes))
        reader = adjoints.get(k)
        with b.binding(*binders):
            body = zero(info.dtype) if reader is None else reader((*back.at, *(poly(x) for x in binders)))
        back.state(f"{param.prim.name}_bar", info.dtype, info.axes, ir.Abs(binders, body))  # type: ignore[union-attr]


def _round(
    back: Backward,
    active: list[int],
    restored: dict[int, Restored],
    sums: dict[Key, Sum],
    original: list[ir.Line],
    body_results: tuple[ir.Abs, ...],
) -> None:
    """One backward round: replay the forward round, follow its lines backwards."""
    b, prim, tape = back.b, back.prim, back.tape
    back.replay = Replay(b, {prim.index: back.round, **back.env})
    replay = back.replay
    replay.checked, replay.before = True, tape.before
    readers = _states_before(back, restored)
    starts: dict[int, ir.Line] = {}
    for k in active:
        starts[k] = _activate(b, prim.block.params[k], readers[k], back.index)
    for k in range(back.states):
        replay.give(prim.block.params[k], 0, line_reader(starts[k]) if k in starts else readers[k])
    first = b._count
    stacked = {k: nest(prim, k) or [] for k in tape.stacks}
    recalled, olds = _replayed(back, original, stacked)
    made = [x for x in help_.lines_since(b, first) if x.block.depth <= back.block.depth]  # those that do not depend on the round stand outside it
    inner = ReverseMode(b, frozenset(back.block.ambient))
    inner.active = {(line, 0) for line in starts.values()} | set(back.rev.active)
    inner.spread(made)
    inner.replayed = True
    inner.recalled = recalled
    for s in sums.values():
        inner.sinks[s.key] = sum_sink(back, s)
        inner.running[s.key] = s
    undo_between(back, inner, stacked, olds)
    running, later = _seeded(back, inner, active, starts, body_results)
    _gather(back, inner, active, starts, made, stacked)
    inner.through_reads = True  # from here on: updates of the round took the adjoints of what they overwrote
    for flow in later:
        inner.push(*flow)
    inner.run(made)
    inner.run_outside(back.block, made)
    for position, k in enumerate(active):
        if k in running:
            back.nexts[position] = running[k].current.whole(b)
        else:
            back.nexts[position] = _final(b, inner, starts[k])
    for k, r in restored.items():
        back.nexts[r.state] = brought_back(back, inner, r, tape.stacks[k], stacked[k], starts.get(k)) if k in tape.stacks else back.undone(k, r.param)
        if r.top >= 0:
            back.nexts[r.top] = ir.Abs((), back.taped(tape.stacks[k].tops))
    for s in sums.values():
        back.nexts[s.state] = s.current.whole(b) if isinstance(s.current, Version) else ir.Abs((), s.current)


def _states_before(back: Backward, restored: dict[int, Restored]) -> dict[int, Reader]:
    """How the states are read that the forward round began with."""
    b, tape = back.b, back.tape
    readers: dict[int, Reader] = {}
    for k in range(back.states):
        if k in tape.whole:
            readers[k] = state_reader(b, back.line, tape.whole[k], (*back.at, back.round))
        elif k in tape.final:
            readers[k] = state_reader(b, back.line, k, back.at)
        elif k in tape.stacks:
            restored[k].first = taken = popped(back, restored[k], tape.stacks[k], Version(restored[k].param))
            readers[k] = state_reader(b, taken)
        else:
            readers[k] = back.undo_view(k, restored[k].param)
    return readers


def _replayed(back: Backward, original: list[ir.Line], stacked: dict[int, Any]) -> tuple[dict[ir.Line, Reader], dict[ir.Line, Any]]:
    """The forward round made again: what the tape recalls of it, and what its updates overwrote."""
    tape, replay = back.tape, back.replay
    recalled: dict[ir.Line, Reader] = {}
    chains = {k: [u.line for u in updates] for k, updates in tape.updates.items()}
    in_chain = {line: k for k, lines in chains.items() for line in lines}
    updated = {line for chain in stacked.values() for line, _ in chain if isinstance(line.prim, ir.Scatter)}
    olds: dict[ir.Line, Any] = {}
    for line in original:
        if line in updated:
            olds[line] = overwritten(back, line)
        if line in in_chain:
            replay.give(line, 0, _after_update(back, line))
            continue
        replay.line(line)
        for result in range(len(line.results)):
            if (line, result) in tape.sums:
                recalled |= _recall(back, line, result)
    return recalled, olds


def _seeded(back: Backward, inner: ReverseMode, active: list[int], starts: dict[int, ir.Line], body_results: tuple[ir.Abs, ...]) -> tuple[dict[int, Running], list[Any]]:
    """The adjoints of the round's results handed to what made them: those that go on through updates, and what is handed over later."""
    b, tape, replay = back.b, back.tape, back.replay
    running: dict[int, Running] = {}
    later: list[Any] = []
    for position, k in enumerate(active):
        bar = back.block.params[position]
        if k in tape.updates:
            key = (starts[k], 0)
            running[k] = inner.running[key] = Running(b, key, bar)
            inner.vanishing.sparse.add(bar)
            inner.sinks[key] = running[k].add
            later += _through_updates(back, running[k], k)
        else:
            array = replay.any(body_results[k], {})
            if back.rev.vanishing.vanishes(back.firsts[position].body, False):
                inner.vanishing.unread.add(bar)
            with b.binding(*array.binders):
                value = read(b, bar, 0, tuple(poly(x) for x in array.binders))
            inner.push(array.body, value, (), list(array.binders))
    return running, later


def _gather(back: Backward, inner: ReverseMode, active: list[int], starts: dict[int, ir.Line], made: list[ir.Line], stacked: dict[int, Any]) -> None:
    """Arrays whose adjoints are gathered first and added at once."""
    tape, prim = back.tape, back.prim
    for k in active:
        if k in tape.stacks or (k not in tape.updates and (_is_large(prim.block.params[k].results[0]) or _has_loop(prim, k))):
            inner.gathered[(starts[k], 0)] = []
    for x in made:
        if isinstance(x.prim, ir.Loop) and x.block is back.block and not x.dims and not x.conds:
            inner.gathered |= {(x, r): [] for r, info in enumerate(x.results) if info.axes and back.b.has_slope(info.dtype)}
        elif isinstance(x.prim, ir.Scatter) and x.block is back.block and not x.dims and not x.conds and back.b.has_slope(x.results[0].dtype):
            inner.gathered.setdefault((x, 0), [])
    inner.gathered |= {key: [] for key in made_updates(back, stacked)}


def _recall(back: Backward, line: ir.Line, result: int) -> dict[ir.Line, Reader]:
    """Who reads this value reads the tape; the replayed line is there for its adjoint only, and dead. Gives the line and what its rule reads."""
    b = back.b
    number = back.tape.sums[line, result]
    binders = tuple(b.fresh_binder(d.name, back.replay.poly(d.extent, {})) for d in line.dims)
    at = tuple(poly(x) for x in binders)
    with b.binding(*binders):
        again = back.replay.operand(ir.Ref(line, result, at), {})
        taped = back.taped(number, at)
    if not isinstance(again, ir.Ref):
        return {}
    prim = ir.Custom(HandedOn(), (), (ir.Abs(binders, again),), (ir.Abs(binders, taped),))
    made, where = b.emit(prim, (ir.Result(line.results[result].dtype, tuple(x.extent for x in binders)),), line.span, "v")
    back.replay.give(line, result, lambda index: ir.Ref(made, 0, where + index))
    return {again.line: lambda index: back.taped(number, index)} if again.index == at else {}


def _is_large(info: ir.Result) -> bool:
    """An array of which a row or a single place is little: what flows there is added there, not to all of it with a test for each element."""
    return bool(info.axes) and all(a.const() is None for a in info.axes)


def _has_loop(prim: ir.Loop, k: int) -> bool:
    """True when loops inside the round make the next value of an array of state."""
    if not prim.block.params[k].results[0].axes:
        return False
    found = identity_of(prim.results[k])
    while found is not None and isinstance(found[0].prim, (ir.Scatter, ir.Loop)) and found[0].block is prim.block:
        if isinstance(found[0].prim, ir.Loop):
            return True
        found = identity_of(found[0].prim.base)
    return False


def _activate(b: Builder, param: ir.Line, reader: Reader, round_: Sym) -> ir.Line:
    """A line of its own for a state at the start of the round; it belongs to the round even where all rounds read the same."""
    info = param.results[0]
    binders = tuple(b.fresh_binder("ijk"[n % 3], a) for n, a in enumerate(info.axes))
    with b.binding(*binders):
        at = tuple(poly(x) for x in binders)
        line, _ = b.emit(ir.Active(object(), reader(at), (*at, poly(round_))), (ir.Result(info.dtype),), hint="v")
    return line


def _through_updates(back: Backward, running: Running, k: int) -> list[Any]:
    """Adjoints of an updated array: the element put takes the adjoint of its place, which is then cleared, unless it adds to what was there. What flows where, once all are."""
    b = back.b
    flows: list[Any] = []
    for update in reversed(back.tape.updates[k]):
        p = update.line.prim
        assert isinstance(p, ir.Scatter)
        fresh, where = back.place(update) if update.is_logged else _replayed_place(back, update)
        env = {x: poly(f) for x, f in zip(p.binders, fresh, strict=True)}
        when = tuple(back.replay.cond(c, {}) for c in p.when)
        bar = running.current
        adds = added(b, p, bar.info.axes)
        with b.binding(*fresh), b.under(*when):
            value = bar.read(b, where)
            if adds is not None:
                value = adds.adjoint(b, value)
        put = p.value if adds is None else adds.value
        flows.append((back.replay.operand(ir.subst_operand(put, env), {}), value, when, list(fresh)))
        if p.monoid is None and adds is None:
            running.clear(fresh, where, when)
    return flows


def _final(b: Builder, inner: Reverse, start: ir.Line) -> ir.Abs:
    """The adjoint of a state at the start of the round."""
    reader = inner.adjoint((start, 0))
    binders = tuple(b.fresh_binder(d.name, d.extent) for d in start.dims)
    with b.binding(*binders):
        body = zero(start.results[0].dtype) if reader is None else reader(tuple(poly(x) for x in binders))
    return ir.Abs(binders, body)


def _chosen(b: Builder, line: ir.Line, when: tuple[ir.Cond, ...], version: Version, first: ir.Abs) -> ir.Operand:
    """A scalar that a loop which may not run adds to: of a loop that does not there are only the arrays."""
    with b.under(*when):
        value = version.read(b)
    return scalars.select(b, when, value, first.body, line.span)


def _hand_on(
    rev: Reverse,
    line: ir.Line,
    active: list[int],
    adjoint_of: list[Version],
    sums: list[tuple[Sum, Version]],
    threaded: dict[Key, Sum],
    in_order_of_instances: bool,
    branch: tuple[ir.Cond, ...],
    firsts: dict[Key, ir.Abs],
) -> None:
    """Adjoints that come out of the backward loop flow into the first values and into what rounds read from outside."""
    b = rev.b
    prim = line.prim
    assert isinstance(prim, ir.Loop)
    dims = [d for d in line.dims if d not in rev.fixed]
    instance = tuple(poly(d) for d in dims) if in_order_of_instances else ()
    when = prim.when if in_order_of_instances else (*line.conds, *prim.when)
    for s, version in sums:  # before anything else is added to them
        if s.key in threaded:
            threaded[s.key].current = version if s.axes or not when else _chosen(b, line, when, version, firsts[s.key])
    for version, k in zip(adjoint_of, active, strict=True):
        array = prim.state[k]
        fresh = tuple(b.fresh_binder(x.name, x.extent) for x in array.binders)
        env = {x: poly(f) for x, f in zip(array.binders, fresh, strict=True)}
        with b.binding(*line.dims, *fresh):
            value = version.read(b, (*instance, *(poly(x) for x in fresh)))
        rev.push(ir.subst_operand(array.body, env), value, (*line.conds, *(begins_if(line, k) if array.binders else prim.when)), [*dims, *fresh])
    for s, version in sums:
        if s.key in threaded:
            continue
        fresh = s.elements(b)
        around, conds = ([], branch) if in_order_of_instances else (dims, line.conds)
        with b.binding(*line.dims, *fresh):
            value = version.read(b, tuple(poly(x) for x in fresh))
        rev.push(ir.Ref(s.key[0], s.key[1], s.index(tuple(poly(x) for x in fresh))), value, (*conds, *prim.when), [*around, *fresh])
