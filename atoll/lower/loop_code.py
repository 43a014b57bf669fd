"""Sequential loops, combining scatters, and their state.

State that is a scalar is a variable. An array of state lives in one buffer when every round updates it in place or makes it anew element by element
from the elements that are there (own_elements.py), and in two that are exchanged after each round otherwise. The first value is copied in unless the loop may take over its memory.
"""

from __future__ import annotations

from typing import Any

from atoll.ainf import ir
from atoll.ainf.accessible import begins_if
from atoll.ainf.identity import identity_of
from atoll.ainf.scan_prim import line_refs
from atoll.errors import NOWHERE
from atoll.loops import ir as lp
from atoll.lower.block import BlockLowerer, BufferSink, Sink, VarSink
from atoll.lower.copies import note_copy, note_first, note_state
from atoll.lower.exchanges import change_places
from atoll.lower.own_elements import made_in_place
from atoll.lower.places import BufferPlace, Place, Scope, VarPlace
from atoll.plan.stages import Stage
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import I64


class State:
    """One leaf of a loop's state."""

    def __init__(self, place: Place, spare: lp.Buffer | None, var: lp.Var | None, next_var: lp.Var | None) -> None:
        self.place, self.spare, self.var, self.next_var = place, spare, var, next_var
        self.comes_from: lp.Buffer | None = None  # the array of another state that its next value is, whole
        self.is_own = False  # an array of this loop, which nobody else knows
        self.home: lp.Buffer | None = None  # where an array was, and is to be after the loop, whose rounds have it in memory of the loop's own
        self.unfilled: ir.Abs | None = None  # the first value of an array that rounds write before anyone reads it


def _axes(b: BlockLowerer, info: ir.Result, env: dict[Atom, Poly], scope: Scope) -> tuple[Poly, ...]:
    return tuple(b.translate(a, env, scope) for a in info.axes)


def make_state(
    b: BlockLowerer, stage: Stage, firsts: tuple[ir.Abs, ...], block: ir.Block, scope: Scope, outer: Scope | None = None
) -> list[State]:
    """The places of the state, with its first values. What exists although the loop may have no rounds is made in the scope around."""
    line = stage.line
    assert line is not None
    env = b.env(stage)
    states = []
    for k, first in enumerate(firsts):
        info = line.results[k] if k < len(line.results) else ir.Result(ir.operand_dtype(first.body))
        param = block.params[k]
        if not first.binders:
            name = param.prim.name  # type: ignore[union-attr]
            var = b.fn.var(name, param.results[0].dtype)
            var.origin = lp.Origin(line.origins)
            scope.add(lp.Declare(var, b.value(first.body, env, scope)))
            states.append(State(VarPlace(lp.Use(var)), None, var, b.fn.var(f"{name}_next", var.dtype)))
            continue
        extents = _axes(b, info, env, outer or scope)
        place = b.places.get((line, k))
        taken = (line, k) in b.inplace.takes
        whole = isinstance(place, BufferPlace) and len(place.positions) == len(extents) and not place.offsets
        if whole and isinstance(place, BufferPlace):
            buffer = place.buffer
        else:
            buffer = b.fn.buffer(f"{param.prim.name}_state", info.dtype, extents, "temp", "loop state", line.span)  # type: ignore[union-attr]
            buffer.label = param.prim.name  # type: ignore[union-attr]
            (outer or scope).add(lp.Alloc(buffer))
        state = State(BufferPlace(buffer, tuple(range(len(extents)))), None, None, None)
        state.is_own = not whole
        if not taken and isinstance(line.prim, ir.Loop) and not line.prim.when and _written_whole(line.prim, k):
            state.unfilled = first
        elif not taken:
            note_copy(b, first, buffer, line.dims, b.inplace.copies.get((line, k)), line.span, bool(stage.conds))
            tests = b.tests(begins_if(line, k), env, outer or scope)
            around = (outer or scope).child(*tests) if tests else outer or scope
            b.fill(first, buffer, (), env, around)
            if tests:
                (outer or scope).close(tests, around)
        states.append(state)
    return states


def _written_whole(prim: ir.Loop, k: int) -> bool:
    """True when every round t puts all of x[t] and nothing else is done with the array: its first contents are never seen."""
    found = identity_of(prim.results[k])
    param = prim.block.params[k]
    if found is None or not isinstance(found[0].prim, ir.Scatter) or found[0].dims or found[0].conds:
        return False
    line, p, axes = found[0], found[0].prim, param.results[0].axes
    base = identity_of(p.base)
    if p.monoid is not None or p.drop or p.when or base is None or base[0] is not param:
        return False
    if axes[0] != prim.size or p.index != (poly(prim.index), *(poly(x) for x in p.binders)) or axes[1:] != tuple(x.extent for x in p.binders):
        return False
    inside = set(ir.operand_refs(p.base.body)) | set(ir.operand_refs(prim.results[k].body))
    passing = {ref.line for ref in inside} - {param, line}  # lines that hand the whole array on
    readers = {x for x in prim.block.lines for ref in line_refs(x) if ref.line in (param, line, *passing)}
    others = {ref.line for n, a in enumerate(prim.results) if n != k for ref in ir.operand_refs(a.body)}
    return readers <= passing | {line} and others.isdisjoint((param, line, *passing)) and _read_once(p, inside)


def _read_once(p: ir.Scatter, inside: set[ir.Ref]) -> bool:
    """True when the update reads the array only to hand it on."""
    used = [*ir.operand_refs(p.value), *(ref for q in p.index for ref in ir.poly_refs(q))]
    return not any(ref.line in {x.line for x in inside} for ref in used)


def _stays(inner: BlockLowerer, k: int) -> bool:
    """True when the result is the parameter's own array, unchanged or updated in place by all that change it."""
    return _array_of(inner, k) is inner.block.params[k]


def _array_of(inner: BlockLowerer, k: int) -> ir.Line | None:
    """The parameter whose array the result is at the end of a round, unchanged or updated in place by all that change it."""
    found = identity_of(inner.results[k])
    if found in inner.inplace.taken:  # somebody else changes it
        return None
    while found is not None:
        line, result = found
        if line in inner.block.params:
            return line
        if found not in inner.inplace.takes:
            return None
        bases: tuple[ir.Abs, ...] = line.prim.base if isinstance(line.prim, ir.ScatterFold) else ()
        if isinstance(line.prim, (ir.Loop, ir.While)):
            bases = line.prim.state
        found = identity_of(line.prim.base if isinstance(line.prim, ir.Scatter) else bases[result])
    return None


def _exchange(b: BlockLowerer, stage: Stage, inner: BlockLowerer, states: list[State], scope: Scope) -> None:
    """a, b = b, a: states whose next value is the whole array of another one, which goes on with something else. Their memory is exchanged, nothing is copied.

    A result must be in its own memory after the loop (swaps.py), and what is there then is overwritten: so at most one of the states that exchange memory
    is a result, and nobody reads the others after the loop. Otherwise what is exchanged is the loop's own: copied once before the first round and once after the
    last. That is settled by the outermost loop, also for what loops inside it exchange (exchanges.py): they go on with its memory."""
    line = stage.line
    if line is None:
        return
    moving = [k for k, state in enumerate(states) if isinstance(state.place, BufferPlace) and not _stays(inner, k)]
    sources: dict[int, int] = {}
    for k in moving:
        found = _array_of(inner, k)
        source = inner.block.params.index(found) if found is not None else -1
        if source in moving and source not in sources.values() and _alike(states[k], states[source]):
            sources[k] = source
    inside = {k for k in change_places(stage.prim) if isinstance(states[k].place, BufferPlace)}
    linked = sorted({*sources, *sources.values(), *inside})
    results = [k for k in linked if _buffer(states[k]).kind == "out"]
    copied: list[int] = []
    if b.parent is not None or line.dims:
        copied = [k for k in linked if not states[k].is_own and _buffer(states[k]) not in b.exchangeable]
    elif len(results) > 1 or (results and any(ref.result in linked and ref.result not in results for ref in b.all_refs_to(line))):
        copied = results
    if copied and _has_few_rounds(line):
        return
    _make_own(b, stage, inner, states, copied, scope)
    for k, source in sources.items():
        states[k].comes_from = _buffer(states[source])
    inner.exchangeable = b.exchangeable | {_buffer(states[k]) for k in linked}


def _has_few_rounds(line: ir.Line) -> bool:
    """A loop that is over before exchanging pays for what is copied around it."""
    rounds = line.prim.size.const() if isinstance(line.prim, ir.Loop) else None
    return rounds is not None and rounds <= 2


def _make_own(b: BlockLowerer, stage: Stage, inner: BlockLowerer, states: list[State], which: list[int], scope: Scope) -> None:
    """Memory of its own for some of the state, with what is there at first."""
    assert stage.line is not None
    for k in which:
        param, before = inner.block.params[k], _buffer(states[k])
        buffer = b.fn.buffer(f"{param.prim.name}_state", before.dtype, before.extents, "temp", "loop state that is exchanged", stage.line.span)  # type: ignore[union-attr]
        buffer.label = param.prim.name  # type: ignore[union-attr]
        scope.add(lp.Alloc(buffer))
        if states[k].unfilled is None:
            scope.add(lp.CopyBuffer(buffer, before))
            note_first(b, stage.line, k, before, buffer)
        states[k].place = inner.places[(param, 0)] = BufferPlace(buffer, tuple(range(len(before.extents))))
        states[k].home = before


def _buffer(state: State) -> lp.Buffer:
    assert isinstance(state.place, BufferPlace)
    return state.place.buffer


def _alike(one: State, other: State) -> bool:
    a, b = _buffer(one), _buffer(other)
    return a.dtype is b.dtype and a.extents == b.extents


def lower_inside(
    b: BlockLowerer, stage: Stage, block: ir.Block, results: tuple[ir.Abs, ...], states: list[State], more: dict[Any, Place], env: Any, scope: Scope, pieces: bool = True,
    exchange: bool = False,
) -> BlockLowerer:
    """The lowerer of a body: parameters in their places, results to the next state."""
    places: dict[tuple[ir.Line, int], Place] = dict(more)
    sinks: list[Sink] = []
    writable: set[ir.Line] = set()
    for param, state in zip(block.params, states, strict=False):
        places[(param, 0)] = state.place
        if isinstance(state.place, BufferPlace):
            writable.add(param)
            sinks.append(BufferSink(state.place.buffer))
        else:
            assert state.next_var is not None
            sinks.append(VarSink(state.next_var))
    pieces = pieces and b.pieces and b.piece is None and b.block.depth < 1
    head = ((stage.prim.cond,), stage.prim.head) if isinstance(stage.prim, ir.While) else ((), ())
    inner = BlockLowerer(b.fn, b, block, list(results), sinks, places, env, pieces, writable, head)
    inner.loop_span = stage.line.span if stage.line is not None else NOWHERE
    if exchange:
        _exchange(b, stage, inner, states, scope)
        sinks[:] = [BufferSink(_buffer(state)) if state.home is not None else sink for sink, state in zip(sinks, states, strict=False)]
    for k, state in enumerate(states):
        if isinstance(state.place, BufferPlace) and not _stays(inner, k):
            if exchange and _replaces_its_elements(inner, states, k):
                continue
            if state.comes_from is not None:
                sinks[k] = BufferSink(state.comes_from)
            else:
                if state.spare is None:
                    _make_spare(b, stage, block.params[k], state, scope)
                assert state.spare is not None
                sinks[k] = BufferSink(state.spare)
            if state.unfilled is not None:
                note_copy(b, state.unfilled, state.place.buffer, stage.dims, None, stage.line.span if stage.line is not None else NOWHERE)
                b.fill(state.unfilled, state.place.buffer, (), b.env(stage), scope)
    return inner


def _replaces_its_elements(inner: BlockLowerer, states: list[State], k: int) -> bool:
    """Whether the next value of an array is made in its own memory, which no other state takes."""
    state, buffer = states[k], _buffer(states[k])
    if state.comes_from is not None or state.home is not None or state.unfilled is not None or inner.fn.is_open(buffer):
        return False
    return not any(other.comes_from is buffer for other in states) and made_in_place(inner, k)


def _make_spare(b: BlockLowerer, stage: Stage, param: ir.Line, state: State, scope: Scope) -> None:
    assert isinstance(state.place, BufferPlace) and stage.line is not None and isinstance(param.prim, ir.Param)
    reason = "the next value of loop state that is not updated in place"
    buffer = state.place.buffer
    state.spare = b.fn.buffer(f"{param.prim.name}_next", buffer.dtype, buffer.extents, "temp", reason, stage.line.span)
    state.spare.label = param.prim.name
    scope.add(lp.Alloc(state.spare))


def one_round(inner: BlockLowerer, states: list[State], scope: Scope) -> None:
    """One round: compute the next state, then make it the state."""
    for state in states:
        if state.next_var is not None:
            scope.add(lp.Declare(state.next_var, inner.fn.zero(state.next_var.dtype)))
    inner.lower(scope)
    _advance(states, scope)


def _advance(states: list[State], scope: Scope) -> None:
    holds: dict[lp.Buffer, lp.Buffer] = {}  # what the name of a buffer stands for, once some are exchanged, by what it stood for
    for state in states:
        if state.next_var is not None and state.var is not None:
            scope.add(lp.Assign(state.var, lp.Use(state.next_var)))
            continue
        wanted = state.comes_from or state.spare
        if wanted is None:
            continue
        own = _buffer(state)
        there = holds.get(wanted, wanted)
        if there is not own:
            scope.add(lp.Swap(own, there))
            before = next((x for x, y in holds.items() if y is own), own)
            holds[wanted], holds[before] = own, there


def _begin(b: BlockLowerer, stage: Stage, outer: Scope) -> tuple[tuple[lp.Test, ...], Scope]:
    """The conditions without which a loop has no rounds, and the scope its rounds are in."""
    tests = b.tests(stage.prim.when, b.env(stage), outer)
    return tests, outer.child(*tests) if stage.prim.when else outer


def finish(b: BlockLowerer, stage: Stage, states: list[State], scope: Scope, outer: Scope | None = None, tests: tuple[lp.Test, ...] = ()) -> None:
    """After the loop the state is the result."""
    from atoll.lower.stage_code import settle

    line = stage.line
    assert line is not None
    env = b.env(stage)
    kept: dict[int, lp.Var] = {}
    if outer is not None and outer is not scope:
        for k, state in enumerate(states):
            if state.var is not None:
                kept[k] = b.fn.line_var(line, state.var.dtype, True)
                outer.add(lp.Declare(kept[k], b.fn.zero(state.var.dtype)))
                scope.add(lp.Assign(kept[k], lp.Use(state.var)))
            elif state.home is not None:  # without rounds the first value is there
                _back(b, stage, k, state, env, scope)
        outer.close(tests, scope)
        scope = outer
    for k, state in enumerate(states):
        if state.var is not None:
            settle(b, stage, k, lp.Use(kept.get(k, state.var)), scope)
            continue
        place = b.places.get((line, k))
        assert isinstance(state.place, BufferPlace)
        if place is None:
            b.places[(line, k)] = state.place
        elif isinstance(place, BufferPlace) and place.buffer is not state.place.buffer:
            _back(b, stage, k, state, env, scope)


def _back(b: BlockLowerer, stage: Stage, k: int, state: State, env: Any, scope: Scope) -> None:
    """The last state of a loop is put where its result is to be."""
    line = stage.line
    assert line is not None and isinstance(state.place, BufferPlace)
    place = b.places[(line, k)]
    assert isinstance(place, BufferPlace)
    note_state(b, line, k, state.place.buffer, place.buffer, not line.dims and not state.is_own)
    _copy_into(b, stage, state.place.buffer, place, env, scope)
    state.place = BufferPlace(place.buffer, tuple(range(len(state.place.buffer.extents))))


def _copy_into(b: BlockLowerer, stage: Stage, source: lp.Buffer, place: BufferPlace, env: Any, scope: Scope) -> None:
    line = stage.line
    assert line is not None
    prefix = tuple(b.translate(poly(d), env, scope) for d in line.dims)
    syms = [Sym("ijklmn"[n % 6]) for n in range(len(source.extents))]
    index = tuple(poly(s) for s in syms)
    body: list[lp.Stmt] = [lp.Store(place.buffer, place.index((*prefix, *index)), lp.Load(source, index))]
    for sym, extent in zip(reversed(syms), reversed(source.extents), strict=True):
        body = [lp.For(sym, poly(0), extent, body, parallel=True)]
    scope.stmts += body


def loop_code(b: BlockLowerer, stage: Stage, outer: Scope) -> None:
    prim: ir.Loop = stage.prim
    env = b.env(stage)
    tests, scope = _begin(b, stage, outer)
    size = b.translate(prim.size, env, scope)
    states = make_state(b, stage, prim.state, prim.block, scope, outer)
    sym = Sym(prim.index.name)
    b.fn.rounds[prim.index] = prim.size
    inner = lower_inside(b, stage, prim.block, prim.results, states, {}, {**env, prim.index: poly(sym)}, scope, exchange=True)
    body = scope.child()
    one_round(inner, states, body)
    scope.add(lp.For(sym, poly(0), size, body.stmts, parallel=False))
    finish(b, stage, states, scope, outer, tests)


def while_code(b: BlockLowerer, stage: Stage, outer: Scope) -> None:
    """The lines the condition needs come first, then the test, then the rest of the round."""
    prim: ir.While = stage.prim
    env = b.env(stage)
    tests, scope = _begin(b, stage, outer)
    states = make_state(b, stage, prim.state, prim.block, scope, outer)
    body = scope.child()
    count: lp.Var | None = None
    if prim.index is not None:
        count = b.fn.var(prim.index.name, I64, True)
        scope.add(lp.Declare(count, lp.Const(0, I64)))
        rounds = b.translate(prim.size, env, scope)
        body.add(lp.BreakUnless((lp.Test("ge", rounds - 1 - poly(count.atom)),)))
        b.fn.rounds[prim.index] = prim.size
        env = {**env, prim.index: poly(count.atom)}
    inner = lower_inside(b, stage, prim.block, prim.results, states, {}, env, scope, exchange=True)
    for state in states:
        if state.next_var is not None:
            body.add(lp.Declare(state.next_var, inner.fn.zero(state.next_var.dtype)))
    first = inner.head()
    inner.lower(body, only=first)
    cond = inner.value(prim.cond, env, body)
    body.add(lp.BreakUnless((lp.Test("true", None, cond),)))
    inner.lower(body, only=None, done=first)
    _advance(states, body)
    if count is not None:
        body.add(lp.Assign(count, lp.Index(poly(count.atom) + 1)))
    scope.add(lp.Forever(body.stmts))
    finish(b, stage, states, scope, outer, tests)


def elements_at(b: BlockLowerer, prim: Any, env: Any, scope: Scope) -> dict[Any, Place]:
    """The element of this round, as the second half of the operator's parameters."""
    places: dict[Any, Place] = {}
    count = len(prim.elements)
    for param, array in zip(prim.block.params[count:], prim.elements, strict=True):
        places[(param, 0)] = b.abs_value(array, env, scope, param.prim.name)
    return places


def scatter_fold_code(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    """result[index] = op(result[index], element), in order."""
    prim: ir.ScatterFold = stage.prim
    line = stage.line
    assert line is not None
    env = b.env(stage)
    outer = tuple(b.translate(poly(d), env, scope) for d in line.dims)
    places: list[BufferPlace] = []
    for k, base in enumerate(prim.base):
        place = b.places[(line, k)]
        assert isinstance(place, BufferPlace)
        places.append(place)
        if (line, k) not in b.inplace.takes:
            from atoll.lower.stage_code import _fill_place

            note_copy(b, base, place.buffer, line.dims, b.inplace.copies.get((line, k)), line.span)
            _fill_place(b, base, place, outer, env, scope)
    sym = Sym(prim.binder.name)
    here = {**env, prim.binder: poly(sym)}
    body = scope.child()
    at = b.as_index(lp.Index(b.translate(prim.index, here, body)), body)
    work = body.child() if prim.drop else body
    params: dict[Any, Place] = elements_at(b, prim, here, work)
    sinks: list[Sink] = []
    after: list[lp.Stmt] = []
    for k, (place, param) in enumerate(zip(places, prim.block.params, strict=False)):
        info = line.results[k]
        if len(info.axes) == 1:
            old, new = b.fn.var("old", info.dtype), b.fn.var("new", info.dtype)
            work.add(lp.Let(old, lp.Load(place.buffer, place.index((*outer, at)))))
            work.add(lp.Declare(new, b.fn.zero(info.dtype)))
            params[(param, 0)] = VarPlace(lp.Use(old))
            sinks.append(VarSink(new))
            after.append(lp.Store(place.buffer, place.index((*outer, at)), lp.Use(new)))
            continue
        row = tuple(b.translate(a, env, scope) for a in info.axes[1:])
        old_row = b.fn.buffer("old", info.dtype, row, "temp", "a row being combined")
        new_row = b.fn.buffer("new", info.dtype, row, "temp", "a row being combined")
        work.add(lp.Alloc(old_row))
        work.add(lp.Alloc(new_row))
        syms = [Sym("jklmni"[n % 6]) for n in range(len(row))]
        index = tuple(poly(s) for s in syms)
        copy_in: list[lp.Stmt] = [lp.Store(old_row, index, lp.Load(place.buffer, place.index((*outer, at, *index))))]
        copy_out: list[lp.Stmt] = [lp.Store(place.buffer, place.index((*outer, at, *index)), lp.Load(new_row, index))]
        for s, extent in zip(reversed(syms), reversed(row), strict=True):
            copy_in = [lp.For(s, poly(0), extent, copy_in, parallel=True)]
            copy_out = [lp.For(s, poly(0), extent, copy_out, parallel=True)]
        work.stmts += copy_in
        params[(param, 0)] = BufferPlace(old_row, tuple(range(len(row))))
        sinks.append(BufferSink(new_row))
        after += copy_out
    inner = BlockLowerer(b.fn, b, prim.block, list(prim.results), sinks, params, here, False, set())
    inner.lower(work)
    work.stmts += after
    if prim.drop:
        n = b.translate(line.results[0].axes[0], env, scope)
        body.add(lp.If((lp.Test("ge", at), lp.Test("ge", n - 1 - at)), work.stmts))
    scope.add(lp.For(sym, poly(0), b.translate(prim.binder.extent, env, scope), body.stmts, parallel=False))
