"""Derivatives of loops, and folds by any operator as loops (Schenck 2.4, corrected: notes/schenck.md E4, E9).

Forward mode adds tangents to the loop's state. Reverse mode adds a *tape* to it, what each round starts from, and runs a second
loop backwards: a round is replayed from the tape and its lines are followed backwards.

    scalar state        one slot per round
    an array that rounds only update at some places   the overwritten elements and where they were (an undo log); the backward
                        loop starts from the final array and undoes round by round, so nothing is copied
    any other array     the whole array per round (at.loop(n, checkpoint=k) trades that for time)

Adjoints of arrays from outside the loop, and of arrays updated at places, are state of the backward loop that is added to in place.
What of a tape nobody needs disappears with dead state (ainf/dead.py).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from atoll.ad import lines as help_
from atoll.ad.indicator import guarded, solve, sum_over, zero
from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.identity import identity_of
from atoll.ainf.replay import Reader, Replay, in_order, make_param
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.core.prims import MONOIDS
from atoll.errors import NOWHERE
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import BOOL, F64, I64, DType

if TYPE_CHECKING:
    from atoll.ad.forward import Forward
    from atoll.ad.reverse import Key, Reverse

# -- folds as loops


def to_loop(b: Builder, line: ir.Line) -> None:
    """Turn a fold, a scan or a combining scatter into the loop that computes the same, in place; its results keep their numbers."""
    prim = line.prim
    if isinstance(prim, (ir.Loop, ir.While)):
        return
    index = Sym("t")
    block = ir.Block(line.block, frozenset(line.block.ambient | set(line.dims)), frozenset((index,)))
    b.owner[index] = block
    first = prim.binders[0] if isinstance(prim, ir.Scatter) else prim.binder  # type: ignore[union-attr]
    size = first.extent
    b.index_facts[index] = (poly(index), size - 1 - poly(index), *(f.subst({first: poly(index)}) for f in first.facts))
    maker = {ir.Fold: _fold, ir.ScanFold: _scan_fold, ir.Scan: _scan, ir.Scatter: _scatter, ir.ScatterFold: _scatter_fold}[type(prim)]
    with b.reenter(block):
        state, results, extra = maker(b, line, block, index)
    line.prim = ir.Loop(index, size, tuple(state), block, tuple(results))
    line.results = line.results + tuple(extra)


def _param(b: Builder, block: ir.Block, name: str, dtype: DType, axes: tuple[Poly, ...]) -> ir.Line:
    return make_param(b, block, ir.Param(len(block.params), name), ir.Result(dtype, axes))


def read(b: Builder, line: ir.Line, result: int, index: tuple[Poly, ...]) -> ir.Operand:
    """An element of an array that may be updated in place: a line, so that a plan can move it."""
    ref = ir.Ref(line, result, index)
    info = line.results[result]
    return b.ref(ir.Op("read", (ref,)), ir.Result(ref.dtype, (), info.bound), hint="r") if info.axes else ref


def _identity(b: Builder, line: ir.Line, result: int = 0, prefix: tuple[Poly, ...] = ()) -> ir.Abs:
    """The whole array a line is."""
    binders = tuple(b.fresh_binder("ijk"[n % 3], a) for n, a in enumerate(line.results[result].axes))
    with b.binding(*binders):
        body = read(b, line, result, (*prefix, *(poly(x) for x in binders)))
    return ir.Abs(binders, body)


def _operator(b: Builder, prim: Any, state: list[Reader], elements: list[Reader]) -> list[ir.Abs]:
    """The operator's block replayed on these values."""
    replay = Replay(b, {})
    for param, reader in zip(prim.block.params, [*state, *elements], strict=True):
        replay.give(param, 0, reader)
    for line in replay.lines(prim.block):
        replay.line(line)
    return [replay.any(a, {}) for a in prim.results]


def _abs_reader(array: ir.Abs, env: dict[Any, Poly]) -> Reader:
    def at(index: tuple[Poly, ...]) -> ir.Operand:
        return ir.subst_operand(array.body, {**env, **dict(zip(array.binders, index, strict=True))})

    return at


def _state_reader(b: Builder, param: ir.Line) -> Reader:
    return lambda index: read(b, param, 0, index)


def _fold(b: Builder, line: ir.Line, block: ir.Block, index: Sym) -> tuple[list[ir.Abs], list[ir.Abs], list[ir.Result]]:
    prim = line.prim
    assert isinstance(prim, ir.Fold)
    params = [_param(b, block, "acc", p.results[0].dtype, p.results[0].axes) for p in prim.block.params[: len(prim.start)]]
    env = {prim.binder: poly(index)}
    results = _operator(b, prim, [_state_reader(b, p) for p in params], [_abs_reader(e, env) for e in prim.elements])
    return list(prim.start), results, []


def _history(b: Builder, block: ir.Block, line: ir.Line) -> tuple[list[ir.Line], list[ir.Abs]]:
    """State for the results of a scan: arrays filled round by round."""
    params = [_param(b, block, "ys", r.dtype, r.axes) for r in line.results]
    starts = [ir.Abs(tuple(b.fresh_binder("i", a) for a in r.axes), zero(r.dtype)) for r in line.results]
    return params, starts


def put(b: Builder, base: ir.Abs, result: ir.Result, where: tuple[Poly, ...], value: ir.Abs) -> ir.Line:
    """base with base[where, ...] = value."""
    target = (*where, *(poly(x) for x in value.binders))
    line, _ = b.emit(ir.Scatter(base, value.binders, target, value.body), (result,), hint="u")
    return line


def _scan_fold(b: Builder, line: ir.Line, block: ir.Block, index: Sym) -> tuple[list[ir.Abs], list[ir.Abs], list[ir.Result]]:
    prim = line.prim
    assert isinstance(prim, ir.ScanFold)
    ys, starts = _history(b, block, line)
    accs = [_param(b, block, "acc", p.results[0].dtype, p.results[0].axes) for p in prim.block.params[: len(prim.start)]]
    env = {prim.binder: poly(index)}
    after = _operator(b, prim, [_state_reader(b, p) for p in accs], [_abs_reader(e, env) for e in prim.elements])
    results = []
    for y, acc, new in zip(ys, accs, after, strict=True):
        stored = _identity(b, acc) if prim.exclusive else new
        results.append(_identity(b, put(b, _identity(b, y), y.results[0], (poly(index),), stored)))
    return [*starts, *prim.start], [*results, *after], [acc.results[0] for acc in accs]


def _scan(b: Builder, line: ir.Line, block: ir.Block, index: Sym) -> tuple[list[ir.Abs], list[ir.Abs], list[ir.Result]]:
    prim = line.prim
    assert isinstance(prim, ir.Scan)
    dtype = line.results[0].dtype
    (y,), starts = _history(b, block, line)
    acc = _param(b, block, "acc", dtype, ())
    before = ir.Ref(acc, 0, ())
    arg = ir.subst_operand(prim.arg, {prim.binder: poly(index)})
    after = scalars.op(b, MONOIDS[prim.monoid][0], (before, arg), dtype, line.span)
    stored = ir.Abs((), before if prim.exclusive else after)
    new = _identity(b, put(b, _identity(b, y), y.results[0], (poly(index),), stored))
    return [*starts, ir.Abs((), prim.start)], [new, ir.Abs((), after)], [ir.Result(dtype)]


def _scatter(b: Builder, line: ir.Line, block: ir.Block, index: Sym) -> tuple[list[ir.Abs], list[ir.Abs], list[ir.Result]]:
    """One round per value of the first binder: the old element combined with the new one."""
    prim = line.prim
    assert isinstance(prim, ir.Scatter) and prim.monoid is not None
    info = line.results[0]
    h = _param(b, block, "h", info.dtype, info.axes)
    env: dict[Any, Poly] = {prim.binders[0]: poly(index)}
    row = tuple(b.fresh_binder(x.name, x.extent) for x in prim.binders[1:])
    env.update({x: poly(y) for x, y in zip(prim.binders[1:], row, strict=True)})
    where = tuple(p.subst(env) for p in prim.index)
    guards = _in_range(where, info.axes) if prim.drop else ()
    when = tuple(c.subst(env) for c in prim.when)
    with b.binding(*row), b.under(*when, *guards):
        old = read(b, h, 0, where)
        value = scalars.op(b, MONOIDS[prim.monoid][0], (old, ir.subst_operand(prim.value, env)), info.dtype, line.span)
    new, _ = b.emit(ir.Scatter(_identity(b, h), row, where, value, None, prim.drop, when), (info,), hint="u")
    return [prim.base], [_identity(b, new)], []


def _in_range(where: tuple[Poly, ...], axes: tuple[Poly, ...]) -> tuple[ir.Cond, ...]:
    return tuple(ir.Cond("ge", q) for p, n in zip(where, axes, strict=True) for q in (p, n - 1 - p))


def _scatter_fold(b: Builder, line: ir.Line, block: ir.Block, index: Sym) -> tuple[list[ir.Abs], list[ir.Abs], list[ir.Result]]:
    prim = line.prim
    assert isinstance(prim, ir.ScatterFold)
    hs = [_param(b, block, "h", r.dtype, r.axes) for r in line.results]
    env: dict[Any, Poly] = {prim.binder: poly(index)}
    at = prim.index.subst(env)
    guards = _in_range((at,), line.results[0].axes[:1]) if prim.drop else ()
    with b.under(*guards):
        olds: list[Reader] = [lambda i, h=h: read(b, h, 0, (at, *i)) for h in hs]
        after = _operator(b, prim, olds, [_abs_reader(e, env) for e in prim.elements])
    results = []
    for h, value in zip(hs, after, strict=True):
        scatter = ir.Scatter(_identity(b, h), value.binders, (at, *(poly(x) for x in value.binders)), value.body, None, prim.drop)
        made, _ = b.emit(scatter, (h.results[0],), hint="u")
        results.append(_identity(b, made))
    return list(prim.base), results, []


# -- forward mode


def varied(prim: ir.Loop | ir.While, active: set[Any]) -> list[int]:
    """Float states that depend on something active, from outside or from each other."""
    block = prim.block
    found: set[int] = set()
    lines = list(in_order(block.lines))
    while True:
        keys = set(active) | {(block.params[k], 0) for k in found}
        for line in lines:
            if any((r.line, r.result) in keys for r in line_refs(line)):
                keys |= {(line, k) for k in range(len(line.results))}
        new = set(found)
        for k, (first, result) in enumerate(zip(prim.state, prim.results, strict=True)):
            if not block.params[k].results[0].dtype.is_float:
                continue
            if any((r.line, r.result) in keys for a in (first, result) for r in ir.operand_refs(a.body)):
                new.add(k)
        if new == found:
            return sorted(found)
        found = new


def forward_loop(fwd: Forward, line: ir.Line) -> None:
    """The loop carries tangents beside its state; a loop that stands outside what its tangents depend on is copied to them."""
    prim = line.prim
    assert isinstance(prim, (ir.Loop, ir.While))
    seeds, deeper = _foreign(fwd, line)
    if deeper:
        _forward_copy(fwd, line)
        return
    states = varied(prim, set(fwd.tangents))
    before = len(line.results)
    _release(prim.block, frozenset(seeds))
    line.prim = _with_tangents(fwd, prim, states, seeds)
    axes = tuple(x.extent for x in seeds)
    line.results += tuple(ir.Result(line.results[k].dtype, axes + line.results[k].axes) for k in states)
    dims = len(line.dims)
    at_seed = tuple(poly(x) for x in seeds)
    for position, k in enumerate(states):

        def read_tangent(index: tuple[Poly, ...], result: int = before + position) -> ir.Operand:
            return read(fwd.b, line, result, index[:dims] + at_seed + index[dims:])

        fwd.give(line, k, read_tangent)


def _foreign(fwd: Forward, line: ir.Line) -> tuple[tuple[ir.Binder, ...], bool]:
    """Indices of a mapped derivative that tangents depend on and the loop does not; whether they depend on an inner loop."""
    b = fwd.b
    here = set(line.block.ambient) | set(line.dims)  # not the block's: that also has indices it was only written under
    extra: set[ir.Binder] = set()
    for key in {(r.line, r.result) for r in line_refs(line)} & set(fwd.tangents):
        fresh = tuple(b.fresh_binder("i", n) for n in key[0].extents(key[1]))
        with b.binding(*fresh):
            tangent = fwd.tangents[key](tuple(poly(x) for x in fresh))
        if any(not r.line.block.encloses(line.block) for r in ir.operand_refs(tangent)):
            return (), True
        queue = list(ir.operand_leaves(tangent))
        while queue:
            x = queue.pop()
            if x in b.owner and not b.owner[x].encloses(line.block):
                return (), True
            if isinstance(x, ir.Binder) and x not in here and x not in fresh and x not in extra:
                extra.add(x)
                queue += x.extent.leaves()
    return tuple(sorted(extra, key=lambda x: x.uid)), False


def _release(block: ir.Block, seeds: frozenset[ir.Binder]) -> None:
    """The block no longer stands under these indices: lines in it have them as dims."""
    block.ambient -= seeds
    for line in block.lines:
        for inner in blocks(line.prim):
            _release(inner, seeds)


def _with_tangents(fwd: Forward, prim: ir.Loop | ir.While, states: list[int], seeds: tuple[ir.Binder, ...]) -> ir.Loop | ir.While:
    """The loop with tangents of some of its states as further state, one per seed."""
    from atoll.ad.forward import Forward as ForwardMode

    b = fwd.b
    block = prim.block
    own = list(in_order([x for x in block.lines if x not in block.params]))
    sizes = tuple(x.extent for x in seeds)
    at_seed = tuple(poly(x) for x in seeds)

    def per_seed(array: ir.Abs) -> ir.Abs:
        """An array that mentions the seeds as one that has them as axes."""
        if not seeds:
            return array
        fresh = []
        env: dict[Atom, Poly] = {}
        for x in seeds:
            new = b.fresh_binder(x.name, x.extent.subst(env))
            env[x] = poly(new)
            fresh.append(new)
        return ir.Abs((*fresh, *array.binders), ir.subst_operand(array.body, env))

    with b.reenter(block):
        inner = ForwardMode(b)
        inner.tangents = dict(fwd.tangents)
        for k in states:
            info = block.params[k].results[0]
            param = _param(b, block, f"d{block.params[k].prim.name}", info.dtype, sizes + info.axes)  # type: ignore[union-attr]
            inner.give(block.params[k], 0, lambda index, param=param: read(b, param, 0, at_seed + index))
        inner.run(own)
        results = []
        for k in states:
            array = prim.results[k]
            with b.binding(*array.binders):
                tangent = inner.operand(array.body)
            results.append(per_seed(ir.Abs(array.binders, tangent if tangent is not None else zero(block.params[k].results[0].dtype))))
    firsts = []
    for k in states:
        array = prim.state[k]
        made = fwd.abs_tangent(array, None)
        firsts.append(per_seed(made if made is not None else ir.Abs(array.binders, zero(block.params[k].results[0].dtype))))
    return dataclasses.replace(prim, state=(*prim.state, *firsts), results=(*prim.results, *results))


def _forward_copy(fwd: Forward, line: ir.Line) -> None:
    """A loop of its own, primal state included, where the tangents are known."""
    b = fwd.b
    replay = Replay(b, {})
    fresh, env = replay.binders(line.dims, {})
    conds = tuple(replay.cond(c, env) for c in line.conds)
    with b.binding(*fresh), b.under(*conds):
        prim = replay.prim(line, env)
        states = varied(prim, set(fwd.tangents))
        moved = _with_tangents(fwd, prim, states, ())
        results = tuple(replay.result(r, env) for r in line.results)
        made, at = b.emit(moved, results + tuple(results[k] for k in states), line.span, line.hint)
    dims = len(fresh)
    for position, k in enumerate(states):

        def read_tangent(index: tuple[Poly, ...], result: int = len(results) + position) -> ir.Operand:
            here = dict(zip(fresh, index[:dims], strict=True))
            return read(b, made, result, tuple(p.subst(here) for p in at) + index[dims:])

        fwd.give(line, k, read_tangent)


# -- reverse mode


@dataclass
class Update:
    """One scatter of an array that rounds only update at places, and where its undo log is on the tape."""

    line: ir.Line
    old: int = -1  # result of the loop: overwritten elements
    places: dict[int, int] = field(default_factory=dict)  # index component -> result of the loop
    flag: int = -1  # result of the loop: whether the update happened


@dataclass
class Tape:
    """What the forward loop records: results of the loop, one slot per round."""

    whole: dict[int, int] = field(default_factory=dict)  # state -> result
    updates: dict[int, list[Update]] = field(default_factory=dict)  # state -> its updates, first to last


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
        if any(c.leaves() & set(p.binders) for c in p.when) or not _reversible(b, p, line.results[0].axes):
            return None
        found.append(line)
        at = identity_of(p.base)
    return None


def _reversible(b: Builder, p: ir.Scatter, axes: tuple[Poly, ...]) -> bool:
    """True when the place tells which element of the update it got: indices that are not data determine all binders."""
    plain = [c for c, q in enumerate(p.index) if not any(isinstance(leaf, ir.RefAtom) for leaf in q.leaves())]
    target = tuple(b.fresh_binder("e", axes[c]) for c in plain)
    solved = solve(b, target, tuple(p.index[c] for c in plain), list(p.binders))
    return not solved.open and not solved.left


def _record(b: Builder, line: ir.Line, prim: ir.Loop, name: str, dtype: DType, value: ir.Abs) -> tuple[int, ir.Abs, ir.Abs]:
    """A new array of state with a slot per round, this round's slot filled with value. Returns its number, start and result."""
    block = prim.block
    axes = (prim.size, *(x.extent for x in value.binders))
    param = _param(b, block, name, dtype, axes)
    made = put(b, _identity(b, param), param.results[0], (poly(prim.index),), value)
    start = ir.Abs(tuple(b.fresh_binder("i", a) for a in axes), zero(dtype))
    number = len(line.results)
    line.results = (*line.results, ir.Result(dtype, axes))
    return number, start, _identity(b, made)


def _make_tape(b: Builder, line: ir.Line) -> Tape:
    """Add the tape to a loop."""
    prim = line.prim
    assert isinstance(prim, ir.Loop)
    tape = Tape()
    starts: list[ir.Abs] = []
    results: list[ir.Abs] = []

    def record(name: str, dtype: DType, value: ir.Abs) -> int:
        number, start, result = _record(b, line, prim, name, dtype, value)
        starts.append(start)
        results.append(result)
        return number

    states = len(prim.state)
    with b.reenter(prim.block):
        for k in range(states):
            param = prim.block.params[k]
            info = param.results[0]
            chain = _chain(b, prim, k) if info.axes else None
            if chain is None:
                tape.whole[k] = record("tape", info.dtype, _identity(b, param))
                continue
            logs = []
            for scatter in chain:
                logs.append(_log(b, scatter, record) if not prim.no_false_deps else Update(scatter))
            tape.updates[k] = logs
    line.prim = dataclasses.replace(prim, state=(*prim.state, *starts), results=(*prim.results, *results))
    return tape


def _log(b: Builder, scatter: ir.Line, record: Any) -> Update:
    """Record what a scatter overwrites, where, and whether it happens."""
    p = scatter.prim
    assert isinstance(p, ir.Scatter)
    update = Update(scatter)
    found = identity_of(p.base)
    assert found is not None
    base, result = found
    dtype = scatter.results[0].dtype
    with b.binding(*p.binders), b.under(*p.when):
        old = read(b, base, result, p.index)
        old = guarded(b, list(p.when), old, dtype)
    update.old = record("old", dtype, ir.Abs(p.binders, old))
    for c, q in enumerate(p.index):
        if any(isinstance(leaf, ir.RefAtom) for leaf in q.leaves()):
            with b.binding(*p.binders), b.under(*p.when):
                value = guarded(b, list(p.when), scalars.from_poly(q), I64)
            update.places[c] = record("at", I64, ir.Abs(p.binders, value))
    if p.when:
        flag: ir.Operand = scalars.select(b, p.when, ir.Const(True, BOOL), ir.Const(False, BOOL), NOWHERE)
        update.flag = record("when", BOOL, ir.Abs((), flag))
    return update


class Backward:
    """The backward loop of one loop line."""

    def __init__(self, rev: Reverse, line: ir.Line, states: int, tape: Tape) -> None:
        self.rev, self.b, self.line, self.tape, self.states = rev, rev.b, line, tape, states
        prim = line.prim
        assert isinstance(prim, ir.Loop)
        self.prim = prim
        self.at = tuple(poly(d) for d in line.dims)
        self.index = Sym("u")
        self.block = ir.Block(line.block, frozenset(line.block.ambient | set(line.dims)), frozenset((self.index,)))
        b = rev.b
        b.owner[self.index] = self.block
        b.index_facts[self.index] = (poly(self.index), prim.size - 1 - poly(self.index))
        self.round = prim.size - 1 - poly(self.index)
        self.firsts: list[ir.Abs] = []
        self.nexts: list[ir.Abs | None] = []
        self.types: list[ir.Result] = []

    def state(self, name: str, dtype: DType, axes: tuple[Poly, ...], first: ir.Abs) -> tuple[int, ir.Line]:
        """A new state of the backward loop."""
        param = _param(self.b, self.block, name, dtype, axes)
        self.firsts.append(first)
        self.nexts.append(None)
        self.types.append(ir.Result(dtype, axes))
        return len(self.firsts) - 1, param

    def taped(self, result: int, index: tuple[Poly, ...] = ()) -> ir.Operand:
        """This round's slot of a tape."""
        return read(self.b, self.line, result, (*self.at, self.round, *index))

    # -- arrays with an undo log

    def undo_view(self, k: int, array: ir.Line) -> Reader:
        """The array as it was at the start of the round, read from how it was at the end."""
        b = self.b

        def at_start(index: tuple[Poly, ...]) -> ir.Operand:
            value = read(b, array, 0, index)
            for update in reversed(self.tape.updates[k]):
                hit = self.hit(update, index)
                if hit is None:
                    continue
                conds, binders = hit
                with b.under(*conds):
                    old = self.taped(update.old, binders)
                value = scalars.select(b, conds, old, value, NOWHERE)
            return value

        return at_start

    def hit(self, update: Update, index: tuple[Poly, ...]) -> tuple[tuple[ir.Cond, ...], tuple[Poly, ...]] | None:
        """When an element was overwritten by an update: conditions, and the values of the update's binders."""
        b = self.b
        p = update.line.prim
        assert isinstance(p, ir.Scatter)
        fresh, where = self.place(update)
        target = tuple(b.fresh_binder("e", n) for n in update.line.results[0].axes)
        solved = solve(b, target, where, list(fresh))
        assert not solved.open and not solved.left  # see _chain
        env = dict(zip(target, index, strict=True))
        conds: list[ir.Cond] = []
        if update.flag >= 0:
            flag = self.taped(update.flag)
            assert isinstance(flag, ir.Ref)
            conds.append(ir.Cond("true", None, flag))
        for cond in solved.conds:
            found = scalars.simplify_cond(b, cond.subst(env))
            if isinstance(found, ir.Const):
                if not found.value:
                    return None
                continue
            conds.append(found)
        binders = tuple(poly(x).subst(solved.replace).subst(env) for x in fresh)
        return tuple(conds), binders

    def place(self, update: Update) -> tuple[tuple[ir.Binder, ...], tuple[Poly, ...]]:
        """Fresh binders of an update and the index it writes to in this round."""
        b = self.b
        p = update.line.prim
        assert isinstance(p, ir.Scatter)
        env: dict[Any, Poly] = {self.prim.index: self.round}
        fresh = []
        for x in p.binders:
            new = b.fresh_binder(x.name, self.replay.poly(x.extent, env))
            env[x] = poly(new)
            fresh.append(new)
        where = []
        inner = tuple(poly(x) for x in fresh)
        for c, q in enumerate(p.index):
            if c in update.places:
                value = scalars.as_poly(b, self.taped(update.places[c], inner))
                assert value is not None
                where.append(value)
            else:
                where.append(self.replay.poly(q, env))
        return tuple(fresh), tuple(where)

    def undone(self, k: int, array: ir.Line) -> ir.Abs:
        """The array with this round's updates undone, in place."""
        b = self.b
        current = _identity(b, array)
        info = ir.Result(array.results[0].dtype, array.results[0].axes)
        for update in reversed(self.tape.updates[k]):
            fresh, where = self.place(update)
            with b.binding(*fresh):
                old = self.taped(update.old, tuple(poly(x) for x in fresh))
            when: tuple[ir.Cond, ...] = ()
            if update.flag >= 0:
                flag = self.taped(update.flag)
                assert isinstance(flag, ir.Ref)
                when = (ir.Cond("true", None, flag),)
            made, _ = b.emit(ir.Scatter(current, fresh, where, old, None, False, when), (info,), hint="u")
            current = _identity(b, made)
        return current

    replay: Replay


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
    outer = _outer_keys(rev, prim, original)
    tape = _make_tape(b, line)
    with b.binding(*line.dims), b.under(*line.conds):
        back = Backward(rev, line, states, tape)
        _declare_adjoints(back, active, adjoints)
        restored = _declare_restored(back, tape)
        sums = _declare_sums(back, outer)
        with b.reenter(back.block):
            _round(back, active, restored, sums, original, body_results)
        done = [x if x is not None else _identity(b, p) for x, p in zip(back.nexts, back.block.params, strict=True)]
        loop = ir.Loop(back.index, back.prim.size, tuple(back.firsts), back.block, tuple(done))
        made, where = b.emit(loop, tuple(back.types), line.span, "b")
    _hand_on(rev, line, made, where, active, back, sums)


def _outer_keys(rev: Reverse, prim: ir.Loop, lines: list[ir.Line]) -> list[Key]:
    """Active values from outside that rounds read."""
    inside = set(prim.block.params)
    stack = list(lines)
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
    for array in prim.results:
        for ref in ir.operand_refs(array.body):
            if ref.line not in inside and (ref.line, ref.result) in rev.active:
                found[(ref.line, ref.result)] = None
    return list(found)


@dataclass
class Sum:
    """The adjoint of a value from outside, added up over rounds: a state over the components of its index that vary."""

    key: Key
    pinned: dict[int, Poly]  # components that are always this index of the context
    free: list[int]
    state: int = -1
    current: Any = None  # the newest version: a line, or an operand for a scalar


def _declare_sums(back: Backward, outer: list[Key]) -> dict[Key, Sum]:
    """State for the adjoints of outside values, shaped like the part of them that rounds can reach."""
    b, line = back.b, back.line
    dims = set(line.dims)
    found: dict[Key, Sum] = {}
    for key in outer:
        y, result = key
        refs = [r for x in back.prim.block.lines for r in line_refs(x) if (r.line, r.result) == key]
        refs += [r for a in back.prim.results for r in ir.operand_refs(a.body) if (r.line, r.result) == key]
        extents = y.extents(result)
        pinned: dict[int, Poly] = {}
        for c in range(len(extents)):
            used = {r.index[c] for r in refs}
            only = next(iter(used)).single() if len(used) == 1 else None
            if only is not None and (only in dims or only in back.rev.fixed):
                pinned[c] = poly(only)
        free = [c for c in range(len(extents)) if c not in pinned]
        env = {d: pinned[c] for c, d in enumerate(y.dims) if c in pinned}
        axes = tuple(extents[c].subst(env) for c in free)
        dtype = y.results[result].dtype
        first = ir.Abs(tuple(b.fresh_binder("i", a) for a in axes), zero(dtype))
        s = Sum(key, pinned, free)
        s.state, param = back.state("bar", dtype, axes, first)
        s.current = param
        found[key] = s
    return found


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
        found[k] = back.state("x", info.dtype, info.axes, _identity(back.b, back.line, k, back.at))
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
            readers[k] = lambda index, k=k: back.taped(tape.whole[k], index)
        elif prim.no_false_deps:
            readers[k] = lambda index, k=k: read(b, back.line, k, (*back.at, *index))
        else:
            readers[k] = back.undo_view(k, restored[k][1])
    starts: dict[int, ir.Line] = {}
    for k in active:
        starts[k] = _activate(b, prim.block.params[k], readers[k])
    for k in range(back.states):
        given = readers[k]
        if k in starts:
            line = starts[k]
            given = lambda index, line=line: ir.Ref(line, 0, index)  # noqa: E731
        replay.give(prim.block.params[k], 0, given)
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
        inner.sinks[s.key] = _sum_sink(back, s)
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
            back.nexts[position] = _identity(b, running[k])
        else:
            back.nexts[position] = _final(b, inner, starts[k])
    for k, (state, param) in restored.items():
        back.nexts[state] = back.undone(k, param)
    for s in sums.values():
        back.nexts[s.state] = _identity(b, s.current) if isinstance(s.current, ir.Line) else ir.Abs((), s.current)


def _activate(b: Builder, param: ir.Line, reader: Reader) -> ir.Line:
    """A line of its own for a state at the start of the round."""
    info = param.results[0]
    binders = tuple(b.fresh_binder("ijk"[n % 3], a) for n, a in enumerate(info.axes))
    with b.binding(*binders):
        at = tuple(poly(x) for x in binders)
        line, _ = b.emit(ir.Active(object(), reader(at), at), (ir.Result(info.dtype),), hint="v")
    return line


def _after_update(back: Backward, line: ir.Line) -> Reader:
    """Reading an array after an update of the same round: the new value where it was put."""
    b = back.b
    p = line.prim
    assert isinstance(p, ir.Scatter)

    def at(index: tuple[Poly, ...]) -> ir.Operand:
        env: dict[Any, Poly] = {}
        fresh = []
        for x in p.binders:
            new = b.fresh_binder(x.name, back.replay.poly(x.extent, env))
            env[x] = poly(new)
            fresh.append(new)
        where = tuple(back.replay.poly(q, env) for q in p.index)
        target = tuple(b.fresh_binder("e", n) for n in line.results[0].axes)
        solved = solve(b, target, where, fresh)
        here: dict[Atom, Poly] = dict(zip(target, index, strict=True))
        conds = [back.replay.cond(c, {}) for c in p.when]
        conds += [c.subst(here) for c in solved.conds]
        base = back.replay.operand(_base_at(p, index), {})
        kept: list[ir.Cond] = []
        for cond in conds:
            if cond.poly is None:
                kept.append(cond)
                continue
            found = scalars.simplify_cond(b, cond)
            if isinstance(found, ir.Const):
                if not found.value:
                    return base
            else:
                kept.append(found)
        put_env = {x: poly(f).subst(solved.replace).subst(here) for x, f in zip(p.binders, fresh, strict=True)}
        with b.under(*kept):
            value = back.replay.operand(ir.subst_operand(p.value, put_env), {})
        if p.monoid == "add":
            value = scalars.op(b, "add", (base, value), line.results[0].dtype, NOWHERE)
        return scalars.select(b, tuple(kept), value, base, NOWHERE) if kept else value

    return at


def _base_at(p: ir.Scatter, index: tuple[Poly, ...]) -> ir.Operand:
    return ir.subst_operand(p.base.body, dict(zip(p.base.binders, index, strict=True)))


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
            cleared, _ = b.emit(ir.Scatter(_identity(b, bar), fresh, where, zero(dtype), None, False, when), (info,), hint="g")
            running[k] = cleared


def _replayed_place(back: Backward, update: Update) -> tuple[tuple[ir.Binder, ...], tuple[Poly, ...]]:
    b = back.b
    p = update.line.prim
    assert isinstance(p, ir.Scatter)
    env: dict[Any, Poly] = {}
    fresh = []
    for x in p.binders:
        new = b.fresh_binder(x.name, back.replay.poly(x.extent, env))
        env[x] = poly(new)
        fresh.append(new)
    return tuple(fresh), tuple(back.replay.poly(q, env) for q in p.index)


def _add_at(back: Backward, current: ir.Line, where: tuple[Poly, ...], value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder]) -> ir.Line:
    """current[where] += value for all binders, in place. Binders the place does not mention are summed first."""
    b = back.b
    dtype = current.results[0].dtype
    mentioned = {leaf for p in where for leaf in p.leaves()}
    apart = [x for x in binders if x not in mentioned]
    kept = [x for x in binders if x in mentioned]
    inner = [c for c in conds if any(x in c.leaves() for x in apart)]
    outer = [c for c in conds if c not in inner]
    with b.binding(*kept), b.under(*outer):
        total = guarded(b, inner, value, dtype)
        for x in reversed(apart):
            total = sum_over(b, x, total, dtype)
    info = ir.Result(dtype, current.results[0].axes)
    made, _ = b.emit(ir.Scatter(_identity(b, current), tuple(kept), where, total, "add", False, tuple(outer)), (info,), hint="g")
    return made


def _sum_sink(back: Backward, s: Sum) -> Any:
    def sink(index: tuple[Poly, ...], value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder]) -> None:
        b = back.b
        dtype = s.key[0].results[s.key[1]].dtype
        where = tuple(index[c] for c in s.free)
        if where:
            s.current = _add_at(back, s.current, where, value, conds, binders)
            return
        with b.binding(*binders), b.under(*conds):
            total = value
        total = guarded(b, list(conds), total, dtype) if not binders else _guarded_sum(b, total, conds, binders, dtype)
        before = ir.Ref(s.current, 0, ()) if isinstance(s.current, ir.Line) else s.current
        s.current = scalars.op(b, "add", (before, total), dtype, NOWHERE)

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


def _running_sink(back: Backward, running: dict[int, Any], k: int) -> Any:
    def sink(index: tuple[Poly, ...], value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder]) -> None:
        running[k] = _add_at(back, running[k], index, value, conds, binders)

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


# -- while loops and checkpoints


def counted(rev: Reverse, line: ir.Line) -> ir.Line:
    """A while loop as a loop with as many rounds as it had: the while loop counts them, a second loop has the tape."""
    b = rev.b
    prim = line.prim
    assert isinstance(prim, ir.While)
    states = len(prim.state)
    with b.reenter(prim.block):
        count = _param(b, prim.block, "count", I64, ())
        after = scalars.from_poly(poly(ir.ref_atom(ir.Ref(count, 0, ()))) + 1)
    number = len(line.results)
    line.prim = dataclasses.replace(prim, state=(*prim.state, ir.Abs((), ir.Const(0, I64))), results=(*prim.results, ir.Abs((), after)))
    line.results = (*line.results, ir.Result(I64))
    with b.binding(*line.dims), b.under(*line.conds):
        rounds = poly(ir.ref_atom(ir.Ref(line, number, tuple(poly(d) for d in line.dims))))
        index = Sym("t")
        block = ir.Block(line.block, frozenset(line.block.ambient | set(line.dims)), frozenset((index,)))
        b.owner[index] = block
        b.index_facts[index] = (poly(index), rounds - 1 - poly(index))
        with b.reenter(block):
            replay = Replay(b, {})
            for param in prim.block.params[:states]:
                info = param.results[0]
                new = _param(b, block, param.prim.name, info.dtype, info.axes)  # type: ignore[union-attr]
                replay.give(param, 0, _state_reader(b, new))
            for x in replay.lines(prim.block):
                if not (isinstance(x.prim, ir.EFFECTS) and not x.results):
                    replay.line(x)
            results = tuple(replay.any(a, {}) for a in prim.results)
        loop = ir.Loop(index, rounds, prim.state, block, results)
        made, where = b.emit(loop, line.results[:states], line.span, "l")
    del where
    rev.spread([made])
    for k in range(states):
        adjoint = rev.adjoint((line, k))
        if adjoint is not None:
            rev.seed((made, k), adjoint)
    return made


def strip_mine(b: Builder, line: ir.Line, depth: int) -> None:
    """n rounds as about n**(1/depth) blocks of rounds, to depth levels: the tape then has few slots per level."""
    prim = line.prim
    assert isinstance(prim, ir.Loop)
    dtype_f = F64
    with b.binding(*line.dims), b.under(*line.conds):
        n = scalars.from_poly(prim.size)
        size_f = scalars.cast(b, n, dtype_f, NOWHERE)
        root = scalars.op(b, "pow", (size_f, ir.Const((depth - 1) / depth, dtype_f)), dtype_f, NOWHERE)
        block_f = scalars.op(b, "max", (scalars.op(b, "ceil", (root,), dtype_f, NOWHERE), ir.Const(1.0, dtype_f)), dtype_f, NOWHERE)
        step = scalars.cast(b, block_f, I64, NOWHERE)
        up = scalars.op(b, "sub", (scalars.op(b, "add", (n, step), I64, NOWHERE), ir.Const(1, I64)), I64, NOWHERE)
        outer_size = b.ref(ir.Op("floordiv", (up, step)), ir.Result(I64), hint="n")
    outer, inner_index = Sym(f"{prim.index.name}_o"), Sym(f"{prim.index.name}_i")
    m, total = scalars.as_poly(b, step), prim.size
    assert m is not None
    block = ir.Block(line.block, frozenset(line.block.ambient | set(line.dims)), frozenset((outer,)))
    b.owner[outer] = block
    rounds = poly(ir.ref_atom(outer_size))
    b.index_facts[outer] = (poly(outer), rounds - 1 - poly(outer))
    with b.reenter(block):
        params = [
            _param(b, block, p.prim.name, p.results[0].dtype, p.results[0].axes)  # type: ignore[union-attr]
            for p in prim.block.params
        ]
        done = b.ref(ir.Op("mul", (scalars.from_poly(poly(outer)), step)), ir.Result(I64), hint="done")
        done_p = poly(ir.ref_atom(done))
        left = scalars.op(b, "min", (step, scalars.from_poly(total - done_p)), I64, NOWHERE)
        inner_size = scalars.as_poly(b, left)
        assert inner_size is not None
        inner_block = b.new_block((inner_index,))
        b.index_facts[inner_index] = (poly(inner_index), inner_size - 1 - poly(inner_index), total - 1 - done_p - poly(inner_index), done_p)
        with b.inside(inner_block):
            replay = Replay(b, {prim.index: done_p + poly(inner_index)})
            for p in prim.block.params:
                info = p.results[0]
                new = _param(b, inner_block, p.prim.name, info.dtype, info.axes)  # type: ignore[union-attr]
                replay.give(p, 0, _state_reader(b, new))
            for x in replay.lines(prim.block):
                replay.line(x)
            results = tuple(replay.any(a, {}) for a in prim.results)
        firsts = tuple(_identity(b, p) if p.results[0].axes else ir.Abs((), ir.Ref(p, 0, ())) for p in params)
        loop = ir.Loop(inner_index, inner_size, firsts, inner_block, results, depth - 1 if depth > 2 else None, prim.no_false_deps)
        made, where = b.emit(loop, tuple(p.results[0] for p in params), line.span, "l")
        outs = []
        for k, p in enumerate(params):
            outs.append(_identity(b, made, k, where) if p.results[0].axes else ir.Abs((), ir.Ref(made, k, where)))
    line.prim = ir.Loop(outer, rounds, prim.state, block, tuple(outs))

