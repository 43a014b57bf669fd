"""The loop that runs a loop backwards: its state, its rounds, and arrays as they were before a round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atoll.ad.indicator import solve
from atoll.ad.loop_state import new_param, read, whole
from atoll.ad.tape import Tape, Update
from atoll.ainf import ir, scalars
from atoll.ainf.replay import Reader, Replay
from atoll.errors import NOWHERE
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import DType

if TYPE_CHECKING:
    from atoll.ad.reverse import Reverse


class Backward:
    """The backward loop of one loop line."""

    def __init__(self, rev: Reverse, line: ir.Line, states: int, tape: Tape, env: dict[Atom, Poly] | None = None) -> None:
        self.rev, self.b, self.line, self.tape, self.states = rev, rev.b, line, tape, states
        prim = line.prim
        assert isinstance(prim, ir.Loop)
        self.prim = prim
        self.env = env or {}  # what the loop's own indices are here, when its instances run one after the other
        self.at = tuple(poly(d).subst(self.env) for d in line.dims)
        self.size = prim.size.subst(self.env)
        self.index = Sym("u")
        b = rev.b
        outside = line.block if not self.env else b.block
        left = frozenset(d for d in line.dims if d not in self.env)
        self.block = ir.Block(outside, frozenset(line.block.ambient | left), frozenset((self.index,)))
        b.owner[self.index] = self.block
        b.index_facts[self.index] = (poly(self.index), self.size - 1 - poly(self.index))
        self.round = self.size - 1 - poly(self.index)
        self.firsts: list[ir.Abs] = []
        self.nexts: list[ir.Abs | None] = []
        self.types: list[ir.Result] = []

    def state(self, name: str, dtype: DType, axes: tuple[Poly, ...], first: ir.Abs) -> tuple[int, ir.Line]:
        """A new state of the backward loop."""
        param = new_param(self.b, self.block, name, dtype, axes)
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
                hit = self.hit(update, index) if update.is_logged else None
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
        current = whole(b, array)
        info = ir.Result(array.results[0].dtype, array.results[0].axes)
        for update in reversed(self.tape.updates[k]):
            if not update.is_logged:
                continue
            fresh, where = self.place(update)
            with b.binding(*fresh):
                old = self.taped(update.old, tuple(poly(x) for x in fresh))
            when: tuple[ir.Cond, ...] = ()
            if update.flag >= 0:
                flag = self.taped(update.flag)
                assert isinstance(flag, ir.Ref)
                when = (ir.Cond("true", None, flag),)
            made, _ = b.emit(ir.Scatter(current, fresh, where, old, None, False, when), (info,), hint="u")
            current = whole(b, made)
        return current

    replay: Replay


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
