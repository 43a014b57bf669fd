"""Reverse mode through loops: a tape is added to the loop, and a second loop runs backwards.

A backward round replays the forward round from the tape and follows its lines backwards. Adjoints of state are its state; those of arrays that
are updated at places are added to in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atoll.ad import lines as help_
from atoll.ad.backward import Backward, _after_update, _replayed_place
from atoll.ad.checkpoint import strip_mine
from atoll.ad.indicator import zero
from atoll.ad.loop_forward import varied
from atoll.ad.loop_outside import Sum, add_at, declare_sums, outer_keys, sum_sink
from atoll.ad.loop_state import line_reader, read, state_reader, whole
from atoll.ad.tape import Tape, make_tape
from atoll.ad.while_rounds import counted
from atoll.ainf import ir
from atoll.ainf.builder import Builder
from atoll.ainf.replay import Reader, Replay, in_order
from atoll.sizes import Poly, poly

if TYPE_CHECKING:
    from atoll.ad.reverse import Key, Reverse


def reverse_loop(rev: Reverse, line: ir.Line) -> None:
    """Add a tape to the loop and emit the loop that runs it backwards."""
    b = rev.b
    if isinstance(line.prim, ir.While):
        line = counted(rev, line)
    prim = line.prim
    assert isinstance(prim, ir.Loop)
    if prim.checkpoint and prim.checkpoint > 1:
        strip_mine(b, line, prim.checkpoint)
        prim = line.prim
        assert isinstance(prim, ir.Loop)
    states = len(prim.state)
    active = varied(prim, rev.active)
    original = list(in_order([x for x in prim.block.lines if x not in prim.block.params]))
    body_results = prim.results
    adjoints = {k: rev.adjoint((line, k)) for k in active}
    outer = outer_keys(rev, prim, original)
    tape = make_tape(b, line)
    with b.binding(*line.dims), b.under(*line.conds):
        back = Backward(rev, line, states, tape)
        _declare_adjoints(back, active, adjoints)
        restored = _declare_restored(back, tape)
        sums = declare_sums(back, outer)
        with b.reenter(back.block):
            _round(back, active, restored, sums, original, body_results)
        done = [x if x is not None else whole(b, p) for x, p in zip(back.nexts, back.block.params, strict=True)]
        loop = ir.Loop(back.index, back.prim.size, tuple(back.firsts), back.block, tuple(done))
        made, where = b.emit(loop, tuple(back.types), line.span, "b")
    _hand_on(rev, line, made, where, active, back, sums)


def _declare_adjoints(back: Backward, active: list[int], adjoints: dict[int, Reader | None]) -> None:
    """State 0, 1, ...: the adjoints of the active states, starting from those of the loop's results."""
    b = back.b
    for k in active:
        param = back.prim.block.params[k]
        info = param.results[0]
        binders = tuple(b.fresh_binder("ijk"[n % 3], a) for n, a in enumerate(info.axes))
        reader = adjoints[k]
        with b.binding(*binders):
            body = zero(info.dtype) if reader is None else reader((*back.at, *(poly(x) for x in binders)))
        back.state(f"{param.prim.name}_bar", info.dtype, info.axes, ir.Abs(binders, body))  # type: ignore[union-attr]


def _declare_restored(back: Backward, tape: Tape) -> dict[int, tuple[int, ir.Line]]:
    """State: arrays with an undo log, as they were after the round."""
    found = {}
    for k, updates in tape.updates.items():
        if back.prim.no_false_deps:
            continue
        del updates
        info = back.prim.block.params[k].results[0]
        found[k] = back.state("x", info.dtype, info.axes, whole(back.b, back.line, k, back.at))
    return found


def _round(
    back: Backward,
    active: list[int],
    restored: dict[int, tuple[int, ir.Line]],
    sums: dict[Key, Sum],
    original: list[ir.Line],
    body_results: tuple[ir.Abs, ...],
) -> None:
    """One backward round: replay the forward round, follow its lines backwards."""
    from atoll.ad.reverse import Reverse as ReverseMode

    b, prim, tape = back.b, back.prim, back.tape
    back.replay = Replay(b, {prim.index: back.round})
    replay = back.replay
    readers: dict[int, Reader] = {}
    for k in range(back.states):
        if k in tape.whole:
            readers[k] = state_reader(b, back.line, tape.whole[k], (*back.at, back.round))
        elif prim.no_false_deps:
            readers[k] = state_reader(b, back.line, k, back.at)
        else:
            readers[k] = back.undo_view(k, restored[k][1])
    starts: dict[int, ir.Line] = {}
    for k in active:
        starts[k] = _activate(b, prim.block.params[k], readers[k])
    for k in range(back.states):
        replay.give(prim.block.params[k], 0, line_reader(starts[k]) if k in starts else readers[k])
    first = b._count
    chains = {k: [u.line for u in updates] for k, updates in tape.updates.items()}
    in_chain = {line: k for k, lines in chains.items() for line in lines}
    for line in original:
        if isinstance(line.prim, ir.Print) or (isinstance(line.prim, ir.EFFECTS) and not line.results):
            continue
        if line in in_chain:
            replay.give(line, 0, _after_update(back, line))
            continue
        replay.line(line)
    made = [x for x in help_.lines_since(b, first) if x.block is back.block]
    inner = ReverseMode(b, frozenset(back.block.ambient))
    inner.active = {(line, 0) for line in starts.values()} | set(back.rev.active)
    inner.spread(made)
    for s in sums.values():
        inner.sinks[s.key] = sum_sink(back, s)
    running: dict[int, Any] = {}
    for position, k in enumerate(active):
        bar = back.block.params[position]
        if k in tape.updates:
            running[k] = bar
            inner.sinks[(starts[k], 0)] = _running_sink(back, running, k)
            _through_updates(back, inner, running, k)
        else:
            array = replay.any(body_results[k], {})
            with b.binding(*array.binders):
                value = read(b, bar, 0, tuple(poly(x) for x in array.binders))
            inner.push(array.body, value, (), list(array.binders))
    inner.run(made)
    for position, k in enumerate(active):
        if k in running:
            back.nexts[position] = whole(b, running[k])
        else:
            back.nexts[position] = _final(b, inner, starts[k])
    for k, (state, param) in restored.items():
        back.nexts[state] = back.undone(k, param)
    for s in sums.values():
        back.nexts[s.state] = whole(b, s.current) if isinstance(s.current, ir.Line) else ir.Abs((), s.current)


def _activate(b: Builder, param: ir.Line, reader: Reader) -> ir.Line:
    """A line of its own for a state at the start of the round."""
    info = param.results[0]
    binders = tuple(b.fresh_binder("ijk"[n % 3], a) for n, a in enumerate(info.axes))
    with b.binding(*binders):
        at = tuple(poly(x) for x in binders)
        line, _ = b.emit(ir.Active(object(), reader(at), at), (ir.Result(info.dtype),), hint="v")
    return line


def _through_updates(back: Backward, inner: Reverse, running: dict[int, Any], k: int) -> None:
    """Adjoints of an updated array: the element put takes the adjoint of its place, which is then cleared."""
    b = back.b
    for update in reversed(back.tape.updates[k]):
        p = update.line.prim
        assert isinstance(p, ir.Scatter)
        dtype = update.line.results[0].dtype
        if back.prim.no_false_deps:
            fresh, where = _replayed_place(back, update)
        else:
            fresh, where = back.place(update)
        env = {x: poly(f) for x, f in zip(p.binders, fresh, strict=True)}
        when = tuple(back.replay.cond(c, {}) for c in p.when)
        bar = running[k]
        with b.binding(*fresh), b.under(*when):
            value = read(b, bar, 0, where)
        inner.push(back.replay.operand(ir.subst_operand(p.value, env), {}), value, when, list(fresh))
        if p.monoid is None:
            info = ir.Result(dtype, bar.results[0].axes)
            cleared, _ = b.emit(ir.Scatter(whole(b, bar), fresh, where, zero(dtype), None, False, when), (info,), hint="g")
            running[k] = cleared


def _running_sink(back: Backward, running: dict[int, Any], k: int) -> Any:
    def sink(index: tuple[Poly, ...], value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder]) -> None:
        running[k] = add_at(back, running[k], index, value, conds, binders)

    return sink


def _final(b: Builder, inner: Reverse, start: ir.Line) -> ir.Abs:
    """The adjoint of a state at the start of the round."""
    reader = inner.adjoint((start, 0))
    binders = tuple(b.fresh_binder(d.name, d.extent) for d in start.dims)
    with b.binding(*binders):
        body = zero(start.results[0].dtype) if reader is None else reader(tuple(poly(x) for x in binders))
    return ir.Abs(binders, body)


def _hand_on(
    rev: Reverse, line: ir.Line, made: ir.Line, where: tuple[Poly, ...], active: list[int], back: Backward, sums: dict[Key, Sum]
) -> None:
    """Adjoints that come out of the backward loop flow into the first values and into what rounds read from outside."""
    b = rev.b
    dims = [d for d in line.dims if d not in rev.fixed]
    for position, k in enumerate(active):
        array = back.prim.state[k]
        fresh = tuple(b.fresh_binder(x.name, x.extent) for x in array.binders)
        env = {x: poly(f) for x, f in zip(array.binders, fresh, strict=True)}
        with b.binding(*line.dims, *fresh):
            value = read(b, made, position, (*where, *(poly(x) for x in fresh)))
        rev.push(ir.subst_operand(array.body, env), value, line.conds, [*dims, *fresh])
    for s in sums.values():
        y, result = s.key
        axes = made.results[s.state].axes
        fresh = tuple(b.fresh_binder("ijk"[n % 3], a) for n, a in enumerate(axes))
        index: list[Poly] = []
        rest = iter(poly(x) for x in fresh)
        for c in range(len(y.extents(result))):
            index.append(s.pinned[c] if c in s.pinned else next(rest))
        with b.binding(*line.dims, *fresh):
            value = read(b, made, s.state, (*where, *(poly(x) for x in fresh)))
        rev.push(ir.Ref(y, result, tuple(index)), value, line.conds, [*dims, *fresh])
