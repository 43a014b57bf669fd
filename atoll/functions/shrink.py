"""Shrink: make the program smaller in every step, until no step is left. Linear in practice, by occurrence counts.

    x = C(y...); z = x.i           z is y_i                     (a known constructor's field)
    x = C(y...); case x of C -> b  b                            (a known constructor's branch; the others go)
    x = 1; y = 2; z = x + y        z = 3
    x = e                          nothing, when x is not used and e is pure
    fun f(p...) = b; x = f(y...)   b with p = y, x its result, when this is f's only use and not inside f
    join j(p...) = b; jump j(y...) b with p = y, likewise, or when b is only a `ret` or another `jump`
    x... = f(y...); ret x...       f(y...)
    functions nothing reaches      nothing (also when they call each other)

A round: functions nothing reaches go; uses are counted; one walk forward rewrites and one walk backward drops what has become
unused. A function called once is moved, not copied: its body becomes a *frame* on a stack of places to go on with. When the body
ends in `ret`, its value takes the place of the result and the frame is popped. When it ends otherwise, or defines a join of its own, the waiting
frames become joins first (`flush`), outermost first. What waits is a view (block, position), never a slice: slices made this
quadratic in a trial.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.functions import ir
from atoll.functions.deep import Deep, run
from atoll.functions.names import Resolved, occurrences, rename, rename_term
from atoll.functions.walk import with_functions
from atoll.types.dtypes import DTYPES


def shrink(program: ir.Program) -> ir.Program:
    """The program with every shrinking step done."""
    block = program.block
    while True:
        step = _Round(block)
        block = step.run()
        if not step.steps:
            return program.with_block(block)


class _Frame:
    """Where to go on: a block from a position; `results` are what the block's value is called by the frame below."""

    __slots__ = ("block", "position", "results")

    def __init__(self, block: ir.Block, position: int, results: ir.Vars) -> None:
        self.block, self.position, self.results = block, position, results


@dataclass(slots=True)
class _Waiting:
    """A join whose body is looked at on the way back. Its own returns go to `k` (None: to the function's caller)."""

    name: ir.Var
    params: ir.Vars
    body: ir.Block
    start: int
    k: ir.Var | None


class _Round:
    def __init__(self, block: ir.Block) -> None:
        self.steps = 0
        self.block = self.reachable(block)
        self.count: Counter[ir.Var] = occurrences(self.block)
        self.same = Resolved()
        self.made: dict[ir.Var, ir.Make] = {}
        self.branch: dict[ir.Var, ir.Constructor] = {}  # what the branches we are in say about their values
        self.literal: dict[ir.Var, Any] = {}
        self.funs: dict[ir.Var, ir.Fun] = {}
        self.joins: dict[ir.Var, _Waiting] = {}
        self.gone: set[ir.Var] = set()
        self.inside: set[ir.Var] = set()

    def run(self) -> ir.Block:
        block = run(self.forward(self.block, 0, None))
        return rename(block, self.same) if self.same else block

    # -- functions nothing reaches

    def reachable(self, block: ir.Block) -> ir.Block:
        defined: dict[ir.Var, ir.Fun] = {}
        wanted: set[ir.Var] = set()
        todo: list[ir.Block] = [block]
        live: set[ir.Var] = set()

        def want(xs: ir.Vars) -> None:
            for x in xs:
                if x not in wanted:
                    wanted.add(x)
                    if x in defined:
                        visit(x)

        def visit(f: ir.Var) -> None:
            if f not in live:
                live.add(f)
                todo.append(defined[f].body)

        while todo:
            each = todo.pop()
            for bind in each.binds:
                if isinstance(bind, ir.Funs):
                    for f in bind.bundle:
                        defined[f.name] = f
                    for f in bind.bundle:
                        if f.name in wanted:
                            visit(f.name)
                elif isinstance(bind, ir.Join):
                    todo.append(bind.body)
                else:
                    want(ir.uses(bind))
            want(ir.term_uses(each.term))
            if isinstance(each.term, ir.Case):
                todo.extend(inner for _, inner in each.term.branches)
        dead = defined.keys() - live
        dead |= {f.name for each in ir.blocks(block) for b in each.binds if isinstance(b, ir.Funs) for f in b.bundle} - live
        self.steps += len(dead)
        return run(_without(block, dead)) if dead else block

    # -- counts

    def stand_for(self, x: ir.Var, y: ir.Var) -> None:
        """x is y from now on: y is used wherever x was."""
        y = self.same.get(y)
        self.count[y] += self.count[x]
        self.same[x] = y

    def unuse(self, xs: ir.Vars) -> None:
        for x in xs:
            self.count[self.same.get(x)] -= 1

    def discard(self, block: ir.Block, start: int = 0) -> None:
        """A block that will never run uses nothing any more."""
        todo: list[tuple[ir.Block, int]] = [(block, start)]
        while todo:
            each, start = todo.pop()
            for bind in each.binds[start:] if start else each.binds:
                match bind:
                    case ir.Funs(bundle):
                        todo.extend((f.body, 0) for f in bundle if f.name not in self.gone)
                    case ir.Join(name, _, body):
                        if name not in self.gone:
                            todo.append((body, 0))
                    case _:
                        self.unuse(ir.uses(bind))
            self.unuse(ir.term_uses(each.term))
            if isinstance(each.term, ir.Case):
                todo.extend((inner, 0) for _, inner in each.term.branches)

    def all(self, xs: ir.Vars) -> ir.Vars:
        return tuple(self.same.get(x) for x in xs)

    # -- forward

    def forward(self, block: ir.Block, start: int, k: ir.Var | None) -> Deep[ir.Block]:
        """The block from `start`, rewritten; its returns go to the join k, or to the caller."""
        out: list[ir.Bind | _Waiting] = []
        frames = [_Frame(block, start, ())]
        while True:
            frame = frames[-1]
            if frame.position < len(frame.block.binds):
                bind = frame.block.binds[frame.position]
                frame.position += 1
                match bind:
                    case ir.Join(name, params, body):
                        if len(frames) > 1:
                            k = self.flush(frames, out, k)
                        self.joins[name] = waiting = _Waiting(name, params, body, 0, k)
                        out.append(waiting)
                    case ir.Call(results, fn, args):
                        fn, args = self.same.get(fn), self.all(args)
                        if self.only_use(fn, args):
                            frames.append(_Frame(self.open(fn, args), 0, results))
                        else:
                            out.append(ir.Call(results, fn, args))
                    case _:
                        self.rewrite(bind, out)
                continue
            term = frame.block.term
            if isinstance(term, ir.Ret) and len(frames) > 1:
                self.unuse(term.values)
                for x, y in zip(frame.results, self.all(term.values), strict=True):
                    self.stand_for(x, y)
                frames.pop()
                continue
            following = self.follow(term, len(frames))
            if following is not None:
                frame.block, frame.position = following
                continue
            if len(frames) > 1:
                k = self.flush(frames, out, k)
                continue
            last, end = yield self.finish(term, k, out)
            out.extend(last)
            break
        binds = yield self.backward(out)
        return ir.Block(tuple(binds), end)

    def rewrite(self, bind: ir.Bind, out: list[ir.Bind | _Waiting]) -> None:
        match bind:
            case ir.Literal(x, value):
                self.literal[x] = value
                out.append(bind)
            case ir.Make(x, con, args):
                made = ir.Make(x, con, self.all(args))
                self.made[x] = made
                out.append(made)
            case ir.Take(x, value, con, index):
                value = self.same.get(value)
                known = self.made.get(value)
                if known is not None and known.con is con:
                    self.count[value] -= 1
                    self.stand_for(x, known.args[index])
                    self.steps += 1
                else:
                    out.append(ir.Take(x, value, con, index))
            case ir.Op(results, op, args, span):
                args = self.all(args)
                folded = self.fold(results, op, args)
                if folded is not None:
                    self.unuse(args)
                    self.steps += 1
                    self.rewrite(folded, out)
                else:
                    out.append(ir.Op(results, op, args, span))
            case ir.Funs(bundle):
                for f in bundle:
                    self.funs[f.name] = f
                out.append(bind)

    def value_of(self, x: ir.Var) -> Any:
        if x in self.literal:
            return DTYPES[x.rep].numpy.type(self.literal[x]) if x.rep in DTYPES else None
        known = self.made.get(x)
        return np.bool_(known.con is ir.TRUE) if known is not None and known.con.data is ir.BOOL else None

    def fold(self, results: ir.Vars, op: Any, args: ir.Vars) -> ir.Bind | None:
        """The literal a pure operator on literals makes."""
        if not op.pure or len(results) != 1 or results[0].rep not in DTYPES or not args:
            return None
        values = [self.value_of(x) for x in args]
        if any(v is None for v in values):
            return None
        try:
            value = op.means(*values)
        except Exception:  # noqa: BLE001  whatever it is, it is for run time: a check before it will have stopped
            return None
        if results[0].rep == ir.BOOL_REP:
            return ir.Make(results[0], ir.TRUE if value else ir.FALSE, ())
        return ir.Literal(results[0], value.item() if isinstance(value, np.generic) else value)

    # -- functions and joins used once

    def only_use(self, fn: ir.Var, args: ir.Vars) -> bool:
        f = self.funs.get(fn)
        return f is not None and self.count[fn] == 1 and fn not in self.inside and fn not in self.gone and len(args) == len(f.params)

    def open(self, fn: ir.Var, args: ir.Vars) -> ir.Block:
        """The body of a function at its only call."""
        f = self.funs[fn]
        self.gone.add(fn)
        self.count[fn] = 0
        self.steps += 1
        self.pass_on(f.params, args)
        return f.body

    def pass_on(self, params: ir.Vars, args: ir.Vars) -> None:
        for p, y in zip(params, args, strict=True):
            self.count[y] -= 1
            self.stand_for(p, y)

    def follow(self, term: ir.Term, depth: int) -> tuple[ir.Block, int] | None:
        """Where control certainly goes, when nobody else goes there."""
        match term:
            case ir.Case(value, branches):
                value = self.same.get(value)
                made = self.made.get(value)
                known = made.con if made is not None else self.branch.get(value)
                if known is None:
                    return None
                self.count[value] -= 1
                self.steps += 1
                taken = None
                for con, inner in branches:
                    if con is known:
                        taken = inner
                    else:
                        self.discard(inner)
                assert taken is not None, f"no branch for {known}"
                return taken, 0
            case ir.Tail(fn, args):
                fn, args = self.same.get(fn), self.all(args)
                return (self.open(fn, args), 0) if self.only_use(fn, args) else None
            case ir.Jump(name, args) if depth == 1:
                join = self.joins.get(name)
                if join is None or name in self.inside or name in self.gone:
                    return None
                if len(join.body.binds) == join.start and isinstance(join.body.term, (ir.Ret, ir.Jump)) and self.count[name] > 1:
                    return self.straight_on(join, self.all(args)), 0
                if self.count[name] != 1:
                    return None
                self.gone.add(name)
                self.count[name] = 0
                self.steps += 1
                self.pass_on(join.params, self.all(args))
                return join.body, join.start
        return None

    def straight_on(self, join: _Waiting, args: ir.Vars) -> ir.Block:
        """A jump to a join that only goes on goes on itself."""
        self.count[join.name] -= 1
        self.steps += 1
        self.unuse(args)
        term = rename_term(join.body.term, dict(zip(join.params, args, strict=True)))
        for x in ir.term_uses(term):
            self.count[self.same.get(x)] += 1
        return ir.Block((), term)

    def flush(self, frames: list[_Frame], out: list[ir.Bind | _Waiting], k: ir.Var | None) -> ir.Var:
        """What waits becomes joins, outermost first; the topmost frame goes on alone."""
        for below, above in itertools.pairwise(frames):
            name = ir.Var("next", ir.CODE)
            self.joins[name] = waiting = _Waiting(name, above.results, below.block, below.position, k)
            out.append(waiting)
            k = name
        frames[:] = [_Frame(frames[-1].block, frames[-1].position, ())]
        assert k is not None
        return k

    def finish(self, term: ir.Term, k: ir.Var | None, out: list[ir.Bind | _Waiting]) -> Deep[tuple[list[ir.Bind], ir.Term]]:
        match term:
            case ir.Ret(values):
                if k is None:
                    values = self.all(values)
                    if out and isinstance(out[-1], ir.Call) and out[-1].results == values and values:
                        last = out.pop()
                        assert isinstance(last, ir.Call)
                        self.unuse(values)
                        self.steps += 1
                        return [], ir.Tail(last.fn, last.args)
                    return [], ir.Ret(values)
                self.count[k] += 1
                return [], ir.Jump(k, self.all(values))
            case ir.Tail(fn, args):
                fn, args = self.same.get(fn), self.all(args)
                if k is None:
                    return [], ir.Tail(fn, args)
                results = tuple(p.again() for p in self.joins[k].params)
                self.count.update(results)
                self.count[k] += 1
                return [ir.Call(results, fn, args)], ir.Jump(k, results)
            case ir.Jump(name, args):
                return [], ir.Jump(name, self.all(args))
            case ir.Case(value, branches):
                done = []
                value = self.same.get(value)
                for con, inner in branches:
                    self.branch[value] = con
                    done.append((con, (yield self.forward(inner, 0, k))))
                del self.branch[value]
                return [], ir.Case(value, tuple(done))

    # -- backward

    def backward(self, out: list[ir.Bind | _Waiting]) -> Deep[list[ir.Bind]]:
        """What is still used, the bodies of functions and joins among it rewritten."""
        kept: list[ir.Bind] = []
        for bind in reversed(out):
            match bind:
                case ir.Funs(bundle):
                    bundle = yield self.bundle(bundle)
                    if bundle:
                        kept.append(ir.Funs(bundle))
                case _Waiting(name, params, body, start, k):
                    if name in self.gone:
                        continue
                    if self.count[name] == 0:
                        self.gone.add(name)
                        self.discard(body, start)
                        self.steps += 1
                        continue
                    self.inside.add(name)
                    inner = yield self.forward(body, start, k)
                    self.inside.discard(name)
                    kept.append(ir.Join(name, params, inner))
                case ir.Call():
                    kept.append(bind)
                case ir.Op(results, op) if not op.pure or any(self.count[x] for x in results):
                    kept.append(bind)
                case _:
                    if any(self.count[x] for x in ir.bound(bind)):
                        kept.append(bind)
                    else:
                        self.unuse(ir.uses(bind))
                        self.steps += 1
        kept.reverse()
        return kept

    def bundle(self, bundle: tuple[ir.Fun, ...]) -> Deep[tuple[ir.Fun, ...]]:
        for f in bundle:
            if f.name not in self.gone and self.count[f.name] == 0:
                self.gone.add(f.name)
                self.discard(f.body)
                self.steps += 1
        for f in bundle:
            if f.name not in self.gone:
                self.inside.add(f.name)
                body = yield self.forward(f.body, 0, None)
                self.inside.discard(f.name)
                self.funs[f.name] = ir.with_body(f, body)
        return tuple(self.funs[f.name] for f in bundle if f.name not in self.gone)


def _without(block: ir.Block, dead: set[ir.Var]) -> Deep[ir.Block]:
    """The block without these functions."""

    def alive(bundle: tuple[ir.Fun, ...]) -> Deep[list[ir.Fun]]:
        kept = []
        for f in bundle:
            if f.name not in dead:
                kept.append(ir.with_body(f, (yield with_functions(f.body, alive))))
        return kept

    return with_functions(block, alive)
