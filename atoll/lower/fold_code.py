"""Reductions and scans by any operator: from left to right, or in pieces for threads where the operator is associative.

    state = first; for r in 0..n: state = op(state, element r)
becomes, L elements at a time and 64 such pieces together,
    pieces of the range: total = element 0 of the piece; for its other elements: total = op(total, element)
    state = op(state, total), piece by piece
A scan keeps what a piece has on the way, and a second pass over the pieces combines it with what was before the piece. How the range is cut depends on its
length only, so the bits of results do not depend on threads. The first element starts a piece: what the user calls neutral is used once, as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from atoll.ainf import ir
from atoll.ainf.associative import is_associative
from atoll.loops import ir as lp
from atoll.lower.loop_code import State, elements_at, finish, lower_inside, make_state, one_round
from atoll.lower.places import BufferPlace, Place, Scope, VarPlace
from atoll.plan.stages import Stage
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64

if TYPE_CHECKING:
    from atoll.lower.block import BlockLowerer

PIECES = 64  # at a time: what they keep is a fixed amount of memory
NUMBERS, LEAST, UNKNOWN = 1024, 16, 64  # elements of a piece: so many numbers, so many arrays at least, so many arrays of unknown size


def fold_code(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    _fold(b, stage, scope, None)


def scan_fold_code(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    _fold(b, stage, scope, stage.prim.exclusive)


def _fold(b: BlockLowerer, stage: Stage, scope: Scope, exclusive: bool | None) -> None:
    """`exclusive` is None for a reduction."""
    prim: ir.Fold | ir.ScanFold = stage.prim
    env = b.env(stage)
    states = make_state(b, stage, prim.start, prim.block, scope) if exclusive is None else _scan_state(b, prim, env, scope)
    first = poly(0)
    if _goes_in_pieces(b, stage):
        pieces = _Pieces(b, stage, states, scope, exclusive)
        pieces.emit()
        first, states = pieces.rest, [_again(b, s) for s in states]
    sym = Sym(prim.binder.name)
    here = {**env, prim.binder: poly(sym)}
    body = scope.child()
    elements = elements_at(b, prim, here, body)
    if exclusive:
        _record(b, stage, states, here, body)
    _rounds(b, stage, states, elements, here, scope, body)
    if exclusive is False:
        _record(b, stage, states, here, body)
    scope.add(lp.For(sym, first, b.translate(prim.binder.extent, env, scope), body.stmts, parallel=False))
    if exclusive is None:
        finish(b, stage, states, scope)


def _rounds(b: BlockLowerer, stage: Stage, states: list[State], elements: dict[Any, Place], env: Any, outside: Scope, body: Scope, pieces: bool = True) -> None:
    """The operator, once: the state becomes the state combined with the element."""
    prim = stage.prim
    inner = lower_inside(b, stage, prim.block, prim.results, states, elements, env, outside, pieces)
    one_round(inner, states, body)


def _goes_in_pieces(b: BlockLowerer, stage: Stage) -> bool:
    """A fold of the program itself, or of a loop of it, over many elements, by an operator that may be regrouped."""
    prim = stage.prim
    if not (b.pieces and b.fn.reassociate) or b.piece is not None or b.strip is not None or stage.dims:
        return False
    for k in range(len(prim.start) if isinstance(prim, ir.ScanFold) else 0):
        place = b.places.get((stage.line, k))  # type: ignore[arg-type]
        if isinstance(place, BufferPlace) and (place.offsets or place.positions != tuple(range(len(place.positions)))):
            return False
    count = prim.binder.extent.const()
    return (count is None or count >= 2 * _length(prim)) and is_associative(prim)


def _length(prim: ir.Fold | ir.ScanFold) -> int:
    """How many elements a piece has, by a formula of what the program says."""
    extents = [x.extent.const() for a in prim.start for x in a.binders]
    known = [n for n in extents if n is not None]
    return UNKNOWN if len(known) < len(extents) else max(LEAST, NUMBERS // max(1, math.prod(known)))


def _again(b: BlockLowerer, state: State) -> State:
    """The same state in another loop."""
    return State(state.place, state.spare, state.var, None if state.next_var is None else b.fn.var(state.next_var.name, state.next_var.dtype))


class _Pieces:
    """The whole pieces of a range, and the state after them."""

    def __init__(self, b: BlockLowerer, stage: Stage, states: list[State], scope: Scope, exclusive: bool | None) -> None:
        self.b, self.stage, self.states, self.scope, self.exclusive = b, stage, states, scope, exclusive
        self.prim: ir.Fold | ir.ScanFold = stage.prim
        self.env: dict[Atom, Poly] = b.env(stage)
        self.length = _length(self.prim)
        self.extent = b.translate(self.prim.binder.extent, self.env, scope)
        self.whole = self.extent // self.length
        self.rest = self.whole * self.length
        self.block = Sym("block")
        self.parts = range(len(states))
        self.axes = [tuple(b.translate(x.extent, self.env, scope) for x in a.binders) for a in self.prim.start]
        self.dtypes = [p.results[0].dtype for p in self.prim.block.params[: len(self.prim.start)]]
        self.totals = self._buffers("total", (poly(PIECES),), "what the pieces of a reduction or scan amount to")
        self.kept: dict[int, lp.Buffer] = {}
        if exclusive is not None:  # parts of the value that nobody reads are needed until their pieces are combined
            assert stage.line is not None
            unread = [k for k in range(len(states)) if (stage.line, k) not in b.places]
            self.kept = {k: self._buffer(k, "kept", (poly(PIECES * self.length),), "the running value of a scan in its pieces") for k in unread}

    def _buffer(self, k: int, name: str, first: tuple[Poly, ...], reason: str) -> lp.Buffer:
        buffer = self.b.fn.buffer(f"{self._name(k)}_{name}", self.dtypes[k], (*first, *self.axes[k]), "temp", reason)
        buffer.label = self._name(k)
        self.scope.add(lp.Alloc(buffer))
        return buffer

    def _buffers(self, name: str, first: tuple[Poly, ...], reason: str) -> list[lp.Buffer]:
        return [self._buffer(k, name, first, reason) for k in self.parts]

    def _name(self, k: int) -> str:
        prim = self.prim.block.params[k].prim
        assert isinstance(prim, ir.Param)
        return prim.name

    def emit(self) -> None:
        together = self.scope.child()
        count = self.b.fn.var("pieces", I64, True)
        left = lp.Index(self.whole - PIECES * poly(self.block))
        together.add(lp.Let(count, lp.Call("min", (lp.Index(poly(PIECES)), left), I64)))
        self._each(together, poly(count.atom), self._first_pass)
        self._combine(together, poly(count.atom))
        if self.exclusive is not None:
            self._each(together, poly(count.atom), self._second_pass)
        blocks = (self.whole + (PIECES - 1)) // PIECES
        self.scope.add(lp.For(self.block, poly(0), blocks, together.stmts, parallel=False))

    def _each(self, scope: Scope, count: Poly, code: Callable[[Sym, Scope], None]) -> None:
        """Code for each of the pieces, by threads."""
        low, high, piece = Sym("piece_lo"), Sym("piece_hi"), Sym("piece")
        chunk = scope.child()
        body = chunk.child()
        code(piece, body)
        chunk.add(lp.For(piece, poly(low), poly(high), body.stmts, parallel=True))
        for s in lp.walk(chunk.stmts):
            if isinstance(s, lp.Alloc):
                s.buffer.private = True
        scope.add(lp.Chunks(low, high, count, self.b.translate(self._work(), {}, scope), chunk.stmts))

    def _work(self) -> Poly:
        """Operations of a piece, about."""
        total = poly(1)
        for line in self.prim.block.lines:
            extents = [d.extent for d in line.dims] + ([line.prim.binder.extent] if isinstance(line.prim, ir.Reduce) else [])
            total = total + product(self.b.estimate(n) for n in extents)
        return total * (2 * self.length)

    def _at(self, piece: Sym, r: Poly) -> Poly:
        return (PIECES * poly(self.block) + poly(piece)) * self.length + r

    def _first_pass(self, piece: Sym, scope: Scope) -> None:
        """The value of a piece from its first element on."""
        b, prim = self.b, self.prim
        states = [self._first_element(k, piece, scope) for k in self.parts]
        if self.exclusive is False:
            self._keep(states, piece, poly(0), scope)
        t = Sym(prim.binder.name)
        body = scope.child()
        here = self._here(piece, poly(t))
        elements = elements_at(b, prim, here, body)
        if self.exclusive:
            self._keep(states, piece, poly(t), body)
        _rounds(b, self.stage, states, elements, here, scope, body, False)
        if self.exclusive is False:
            self._keep(states, piece, poly(t), body)
        scope.add(lp.For(t, poly(1), poly(self.length), body.stmts, parallel=False))
        for k, state in enumerate(states):
            _store(self.totals[k], (poly(piece),), state, scope)

    def _here(self, piece: Sym, r: Poly) -> dict[Atom, Poly]:
        return {**self.env, self.prim.binder: self._at(piece, r)}

    def _first_element(self, k: int, piece: Sym, scope: Scope) -> State:
        """State that starts with the first element of a piece."""
        here, element = self._here(piece, poly(0)), self.prim.elements[k]
        state = self._own(k, scope)
        if state.var is not None:
            scope.add(lp.Declare(state.var, self.b.value(element.body, here, scope)))
        elif isinstance(state.place, BufferPlace):
            self.b.fill(element, state.place.buffer, (), here, scope)
        return state

    def _before(self, k: int, piece: tuple[Poly, ...], scope: Scope) -> State:
        """State that starts with what was before a piece."""
        state = self._own(k, scope)
        if state.var is not None:
            scope.add(lp.Declare(state.var, lp.Load(self.totals[k], piece)))
        elif isinstance(state.place, BufferPlace):
            _copy(state.place.buffer, (), self.totals[k], piece, scope)
        return state

    def _own(self, k: int, scope: Scope) -> State:
        """State of a piece, without a value yet."""
        b, name = self.b, self._name(k)
        if not self.axes[k]:
            var = b.fn.var(name, self.dtypes[k])
            return State(VarPlace(lp.Use(var)), None, var, b.fn.var(f"{name}_next", self.dtypes[k]))
        buffers = [b.fn.buffer(f"{name}_{x}", self.dtypes[k], self.axes[k], "temp", "the running value of a piece") for x in ("piece", "next")]
        for buffer in buffers:
            scope.add(lp.Alloc(buffer))
        return State(BufferPlace(buffers[0], tuple(range(len(self.axes[k])))), buffers[1], None, None)

    def _slot(self, k: int, piece: Sym, r: Poly) -> tuple[lp.Buffer, tuple[Poly, ...]]:
        """Where the running value is kept: in the scan's result, or beside it."""
        if k in self.kept:
            return self.kept[k], (poly(piece) * self.length + r,)
        assert self.stage.line is not None
        place = self.b.places[(self.stage.line, k)]
        assert isinstance(place, BufferPlace)
        return place.buffer, (self._at(piece, r),)

    def _keep(self, states: list[State], piece: Sym, r: Poly, scope: Scope) -> None:
        for k, state in enumerate(states):
            buffer, prefix = self._slot(k, piece, r)
            _store(buffer, prefix, state, scope)

    def _combine(self, scope: Scope, count: Poly) -> None:
        """The state after each piece; of a scan, what is before a piece takes the place of what the piece amounts to."""
        b, prim = self.b, self.prim
        c = Sym("piece")
        body = scope.child()
        states = [_again(b, s) for s in self.states]
        elements = {(param, 0): self._read(k, self.totals[k], (poly(c),), body) for k, param in enumerate(prim.block.params[len(states) :])}
        if self.exclusive is not None:
            for k, state in enumerate(states):
                _store(self.totals[k], (poly(c),), state, body)
        _rounds(b, self.stage, states, elements, self.env, self.scope, body)
        for mine, theirs in zip(self.states, states, strict=True):
            mine.spare = theirs.spare
        scope.add(lp.For(c, poly(0), count, body.stmts, parallel=False))

    def _read(self, k: int, buffer: lp.Buffer, prefix: tuple[Poly, ...], scope: Scope) -> Place:
        """An element of a buffer of values, by itself."""
        b = self.b
        if not self.axes[k]:
            var = b.fn.var(self._name(k), self.dtypes[k])
            scope.add(lp.Let(var, lp.Load(buffer, prefix)))
            return VarPlace(lp.Use(var))
        own = b.fn.buffer(f"{self._name(k)}_one", self.dtypes[k], self.axes[k], "temp", "an element of a reduction")
        scope.add(lp.Alloc(own))
        _copy(own, (), buffer, prefix, scope)
        return BufferPlace(own, tuple(range(len(self.axes[k]))))

    def _second_pass(self, piece: Sym, scope: Scope) -> None:
        """What was before a piece, combined with each running value of the piece."""
        numbers = not any(self.axes)
        t = Sym(self.prim.binder.name)
        body = scope.child()
        before = (poly(piece),)
        states = [self._before(k, before, body) for k in self.parts]
        read = [k for k in self.parts if k not in self.kept]
        if self.exclusive:
            for k in read:
                _copy(*self._slot(k, piece, poly(0)), self.totals[k], before, scope)
        elements = {(param, 0): self._read(k, *self._slot(k, piece, poly(t)), body) for k, param in enumerate(self.prim.block.params[len(states) :])}
        _rounds(self.b, self.stage, states, elements, self.env, body, body, False)
        for k in read:
            buffer, prefix = self._slot(k, piece, poly(t))
            _store(buffer, prefix, states[k], body)
        scope.add(lp.For(t, poly(1 if self.exclusive else 0), poly(self.length), body.stmts, parallel=numbers))


def _copy(to: lp.Buffer, there: tuple[Poly, ...], source: lp.Buffer, here: tuple[Poly, ...], scope: Scope) -> None:
    """to[there, ...] = source[here, ...]"""
    extents = source.extents[len(here) :]
    syms = [Sym("jklmni"[n % 6]) for n in range(len(extents))]
    index = tuple(poly(s) for s in syms)
    body: list[lp.Stmt] = [lp.Store(to, (*there, *index), lp.Load(source, (*here, *index)))]
    for sym, extent in zip(reversed(syms), reversed(extents), strict=True):
        body = [lp.For(sym, poly(0), extent, body, parallel=True)]
    scope.stmts += body


def _store(to: lp.Buffer, there: tuple[Poly, ...], state: State, scope: Scope) -> None:
    """to[there, ...] = the state."""
    if state.var is not None:
        scope.add(lp.Store(to, there, lp.Use(state.var)))
        return
    assert isinstance(state.place, BufferPlace)
    _copy(to, there, state.place.buffer, (), scope)


def _scan_state(b: BlockLowerer, prim: Any, env: dict[Atom, Poly], scope: Scope) -> list[State]:
    """The running value of a scan: like a fold's, but its history is what the stage stores."""
    states = []
    for first, param in zip(prim.start, prim.block.params, strict=False):
        name, dtype = param.prim.name, param.results[0].dtype
        if not first.binders:
            var = b.fn.var(name, dtype)
            scope.add(lp.Declare(var, b.value(first.body, env, scope)))
            states.append(State(VarPlace(lp.Use(var)), None, var, b.fn.var(f"{name}_next", dtype)))
            continue
        extents = tuple(b.translate(x.extent, env, scope) for x in first.binders)
        buffer = b.fn.buffer(f"{name}_state", dtype, extents, "temp", "the running value of a scan")
        spare = b.fn.buffer(f"{name}_next", dtype, extents, "temp", "the running value of a scan")
        scope.add(lp.Alloc(buffer))
        scope.add(lp.Alloc(spare))
        b.fill(first, buffer, (), env, scope)
        states.append(State(BufferPlace(buffer, tuple(range(len(extents)))), spare, None, None))
    return states


def _record(b: BlockLowerer, stage: Stage, states: list[State], env: Any, scope: Scope) -> None:
    """Store the running value at this round's place."""
    line, prim = stage.line, stage.prim
    assert line is not None
    outer = tuple(b.translate(poly(d), env, scope) for d in line.dims)
    at = b.translate(poly(prim.binder), env, scope)
    for k, state in enumerate(states):
        place = b.places.get((line, k))
        if place is None:  # nobody reads this part of the value
            continue
        assert isinstance(place, BufferPlace)
        if state.var is not None:
            scope.add(lp.Store(place.buffer, place.index((*outer, at)), lp.Use(state.var)))
            continue
        assert isinstance(state.place, BufferPlace)
        source = state.place.buffer
        syms = [Sym("jklmni"[n % 6]) for n in range(len(source.extents))]
        index = tuple(poly(s) for s in syms)
        body: list[lp.Stmt] = [lp.Store(place.buffer, place.index((*outer, at, *index)), lp.Load(source, index))]
        for sym, extent in zip(reversed(syms), reversed(source.extents), strict=True):
            body = [lp.For(sym, poly(0), extent, body, parallel=True)]
        scope.stmts += body
