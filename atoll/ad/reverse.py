"""Reverse mode: adjoints, line by line, backwards (Schenck 2.2 to 2.9 on normal forms).

For every line with an adjoint, each active operand y[e(I)] gets the contribution of its partial derivative; the sum over I of the indicator
[J = e(I)] is solved where it can be (ad/indicator.py). Because a line is a perfect nest nothing is executed again: what a rule reads
are the lines of the primal, and the plan decides whether they are kept or computed anew. Loops are in ad/loop_reverse.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.ad import lines as help_
from atoll.ad.added import added
from atoll.ad.algebra import LineAlgebra, LineParts, added_up, refuse
from atoll.ad.indicator import accumulate, guarded, reach, zero
from atoll.ad.kronecker import is_padded_operand, is_window_operand, times
from atoll.ad.loop_state import abs_reader, added_at, read
from atoll.ad.vanishing import Vanishing
from atoll.ainf import ir, scalars
from atoll.ainf.accessible import ranges_exist_if
from atoll.ainf.builder import Builder
from atoll.ainf.identity import is_read, read_arg
from atoll.ainf.replay import Reader
from atoll.core.slopes import BACK, BITWISE, VIEWS, rule_of, takes_apart
from atoll.errors import NOWHERE, fail
from atoll.sizes import Poly, poly

Key = tuple[ir.Line, int]


class Reverse:
    """Adjoints of lines. A key's contributions are operands over `target(key)`: the line's dims, then binders for its axes."""

    def __init__(self, b: Builder, fixed: frozenset[ir.Binder]) -> None:
        self.b = b
        self.fixed = fixed  # indices of the context: the same for everyone, never summed over
        self.vanishing = Vanishing(b)
        self.active: set[Key] = set()
        self.targets: dict[Key, tuple[ir.Binder, ...]] = {}
        self.contributions: dict[Key, list[ir.Operand]] = {}
        self.running: dict[Key, Any] = {}  # sums of the loop around, which loops inside it go on with
        self.replayed = False  # lines are those of a round that is done again, for their derivatives
        self.recalled: dict[ir.Line, Reader] = {}  # values of lines that are read from a tape instead
        self.versions: dict[Key, Any] = {}  # arrays as they were after a line of the round, which sweeps of later lines brought back: Versions
        self.restored: set[Key] = set()  # arrays whose sweep must bring back how they were before
        self.undone: dict[ir.Line, Callable[[], None]] = {}  # brings back how an array was before an update of the round
        self.gathered: dict[Key, list[Any]] = {}  # what flows into parts of arrays that are added to in place, in the end
        self.through_reads = False  # what flows into a line that only reads goes to the sink of what it reads
        self.sinks: dict[Key, Callable[[tuple[Poly, ...], ir.Operand, tuple[ir.Cond, ...], list[ir.Binder]], None]] = {}

    # -- keys

    def spread(self, lines: list[ir.Line]) -> None:
        """Everything that depends on something active is active."""
        help_.spread(self.b, lines, self.active)

    def target(self, key: Key) -> tuple[ir.Binder, ...]:
        """Indices the adjoint of a result is a function of."""
        if key not in self.targets:
            line, k = key
            own, env = self.instance(line)
            axes = [self.b.fresh_binder("ijk"[n % 3], a.subst(env)) for n, a in enumerate(line.results[k].axes)]
            self.targets[key] = (*own, *axes)
        return self.targets[key]

    def adjoint(self, key: Key) -> Reader | None:
        """The whole adjoint of a result as a function of its index; None when nothing reached it."""
        if self.gathered.get(key):
            return self._joined(key)
        found = self.contributions.get(key)
        if not found:
            return None
        target = self.target(key)
        dtype = key[0].results[key[1]].dtype
        with self.b.binding(*target):
            total = added_up(self.b, found, dtype)
        self.contributions[key] = [total]

        def read(index: tuple[Poly, ...]) -> ir.Operand:
            return ir.subst_operand(total, dict(zip(target, index, strict=True)))

        return read

    def taken(self, key: Key) -> Reader | None:
        """What has reached all of a result so far, which who asks goes on with: it flows there once more when they are done."""
        if key in self.sinks or self.fixed & set(key[0].dims):
            return None
        found = self.adjoint(key)
        self.contributions.pop(key, None)
        return found

    def seed(self, key: Key, value: Callable[[tuple[Poly, ...]], ir.Operand]) -> None:
        """An adjoint that comes from outside."""
        target = self.target(key)
        with self.b.binding(*target):
            self.contributions.setdefault(key, []).append(value(tuple(poly(x) for x in target)))

    def push(self, operand: ir.Operand, value: ir.Operand | None, conds: tuple[ir.Cond, ...], binders: list[ir.Binder]) -> None:
        """value flows into operand, for all values of the binders where conds hold."""
        if not isinstance(operand, ir.Ref) or value is None or (operand.line, operand.result) not in self.active:
            return
        if isinstance(value, ir.Const) and value.value == 0:
            return
        summed = [x for x in binders if x not in self.fixed]
        there = ranges_exist_if(summed, self.b.block)
        conds = (*there, *(c for c in conds if c not in there))
        if self.through_reads:
            operand = self._read_by(operand, binders)
            if self._is_view(operand, binders):
                self._through_view(operand, value, conds, binders)
                return
        key = (operand.line, operand.result)
        if key in self.gathered and self._at_places(operand, summed):
            self.gathered[key].append((operand.index, value, conds, summed))
            return
        sink = self.sinks.get(key)
        if sink is not None:
            sink(operand.index, value, conds, summed)
            return
        target = self.target(key)
        fixed = [k for k, d in enumerate(operand.line.dims) if d in self.fixed]
        free = [k for k in range(len(target)) if k not in fixed]
        dtype = operand.dtype
        made = accumulate(
            self.b, dtype, tuple(target[k] for k in free), tuple(operand.index[k] for k in free), value, conds, summed
        )
        if not (isinstance(made, ir.Const) and made.value == 0):
            self.contributions.setdefault(key, []).append(made)

    def _at_places(self, operand: ir.Ref, summed: list[ir.Binder]) -> bool:
        """A part of an array: a place of some axis, or a range that this round has."""
        here = self.b.block.owned
        return any(not p.leaves() & set(summed) for p in operand.index) or any(reach(x) & here for x in summed)

    def _joined(self, key: Key) -> Reader:
        """What flows into all of an array, with what flows into parts of it added there."""
        b, (line, k) = self.b, key
        parts, self.gathered[key] = self.gathered[key], []
        rest = self.adjoint(key)
        info = ir.Result(line.results[k].dtype, line.extents(k))
        binders = tuple(b.fresh_binder("ijk"[n % 3], a) for n, a in enumerate(info.axes))
        with b.binding(*binders):
            total = ir.Abs(binders, zero(info.dtype) if rest is None else rest(tuple(poly(x) for x in binders)))
        for where, value, conds, summed in parts:
            made = added_at(b, total, info, where, value, conds, summed)
            total = made.whole(b)
        self.vanishing.sparse.add(made.line)
        target = self.target(key)
        with b.binding(*target):
            self.contributions[key] = [made.read(b, tuple(poly(x) for x in target))]
        return lambda index: made.read(b, index)

    def _read_by(self, operand: ir.Ref, binders: list[ir.Binder]) -> ir.Ref:
        """The element of an array that is added to in place, where lines only read it: its place is known here, and lost in the sum over a line."""
        at: ir.Operand = operand
        while isinstance(at, ir.Ref) and (at.line, at.result) not in self.sinks and (at.line, at.result) not in self.gathered and not self._is_view(at, binders):
            if not is_read(at.line) or (at.line, 0) not in self.active:
                return operand
            at = ir.subst_operand(read_arg(at.line), dict(zip(at.line.dims, at.index, strict=True)))
        return at if isinstance(at, ir.Ref) else operand

    def _is_view(self, operand: ir.Ref, binders: list[ir.Binder]) -> bool:
        """Places of an array as it was after some updates of a round: a choice, by the place, between what was put and what was there."""
        line = operand.line
        if not isinstance(line.prim, ir.Select) or (line, operand.result) in self.sinks:
            return False
        free = [p for d, p in zip(line.dims, operand.index, strict=True) if d not in self.fixed]
        summed = [x for x in binders if x not in self.fixed]
        return bool(free) and (not any(p.leaves() & set(summed) for p in free) or any(reach(x) & self.b.block.owned for x in summed))

    def _through_view(self, operand: ir.Ref, value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder]) -> None:
        """Both sides of the choice at this place: the sum over the line would be an array, for the sake of one element."""
        prim = operand.line.prim
        assert isinstance(prim, ir.Select)
        env = dict(zip(operand.line.dims, operand.index, strict=True))
        outer = (*conds, *(c.subst(env) for c in operand.line.conds))
        tests = tuple(c.subst(env) for c in prim.conds)
        b = self.b
        self.push(ir.subst_operand(prim.then, env), value, (*outer, *tests), binders)
        if len(tests) == 1:
            self.push(ir.subst_operand(prim.orelse, env), value, (*outer, tests[0].negated()), binders)
            return
        with b.binding(*binders), b.under(*outer):
            rest = scalars.select(b, tests, zero(operand.dtype), value, NOWHERE)
        self.push(ir.subst_operand(prim.orelse, env), rest, outer, binders)

    # -- lines

    def run(self, lines: list[ir.Line]) -> None:
        for line in reversed(lines):
            if line in self.undone:
                self.undone[line]()
            if any(self.contributions.get((line, k)) or self.gathered.get((line, k)) for k in range(len(line.results))):
                self.line(line)

    def run_outside(self, block: ir.Block, made: list[ir.Line]) -> None:
        """Follow lines that stood outside the round before it was replayed: without its checks, a line of the round may be one of them."""
        done = set(made)
        while waiting := {line for line, _ in self.contributions if line.block.depth < block.depth and line not in done}:
            line = max(waiting, key=lambda x: x.id)
            done.add(line)
            assert not isinstance(line.prim, (ir.Input, ir.Param)), "an adjoint that no round carries"
            self.line(line)

    def line(self, line: ir.Line) -> None:
        rule = _RULES.get(type(line.prim))
        if isinstance(line.prim, (ir.Input, ir.Param)):
            return
        if rule is None:
            refuse(line)
        if not help_.is_active(line, self.active):
            return
        with self.b.about(line.span):
            rule(self, line)

    def instance(self, line: ir.Line) -> tuple[list[ir.Binder], dict[ir.Binder, Poly]]:
        """Fresh indices for one instance of a line."""
        env: dict[ir.Binder, Poly] = {}
        fresh = []
        for d in line.dims:
            if d in self.fixed:
                fresh.append(d)
                continue
            x = self.b.fresh_binder(d.name, d.extent.subst(env))
            x.facts = tuple(f.subst({**env, d: poly(x)}) for f in d.facts)
            env[d] = poly(x)
            fresh.append(x)
        return fresh, env

    def _op(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Op)
        dtype = line.results[0].dtype
        apart = takes_apart(prim.name, ir.operand_dtype(prim.args[0]).is_complex)
        rule = rule_of(prim.name, dtype.kind)
        if not self.b.has_slope(dtype):
            return
        if prim.name in VIEWS and self.b.integers:
            fail("E1408", line.span, what=f"the adjoint of {prim.name} in a compiled derivative of integers (the interpreter has it: .interpret(...))")
        if rule is None and not apart:
            refuse(line)
        b = self.b
        fresh, env = self.instance(line)
        adjoint = self.adjoint((line, 0))
        assert adjoint is not None
        conds = tuple(c.subst(env) for c in line.conds)
        args = tuple(ir.subst_operand(a, env) for a in prim.args)
        index = tuple(poly(x) for x in fresh)
        with b.binding(*fresh), b.under(*conds):
            bar = self.vanishing.safe(prim.name, args, adjoint(index), dtype)
            c = LineAlgebra(b, dtype, line.span)
            result: ir.Operand = self.recalled[line](index) if line in self.recalled else ir.Ref(line, 0, index)
            if self.replayed and prim.name == "div":  # the slope divides once; the value was likely to be made for it alone
                result = c.op("mul", args[0], c.op("div", c.const(1.0), args[1]))
            if apart:
                values: list[ir.Operand | None] = list(BACK[prim.name](LineParts(b, dtype), *args, result, bar))
            else:
                assert rule is not None
                values = _quotient(c, bar, args[0], args[1], result) if prim.name == "div" else [None if p is None else _slope_times(c, bar, p) for p in rule(c, *args, result)]
        for arg, value in zip(args, values, strict=True):
            self.push(arg, value, conds, fresh)

    def _cast(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Cast)
        source = ir.operand_dtype(prim.arg)
        if source.is_storage and isinstance(prim.arg, ir.Ref) and not isinstance(prim.arg.line.prim, (ir.Input, ir.Param)):
            fail("E1001", line.span, what=f"a value kept as {source.name} inside a function")
        if not self.b.has_slope(source):
            return
        fresh, env = self.instance(line)
        adjoint = self.adjoint((line, 0))
        assert adjoint is not None
        with self.b.binding(*fresh):
            bar = adjoint(tuple(poly(x) for x in fresh))
            if source.is_float and line.results[0].dtype.is_complex:
                bar = LineParts(self.b, source).of("real", bar)
            value = scalars.cast(self.b, bar, source, NOWHERE)
        self.push(ir.subst_operand(prim.arg, env), value, tuple(c.subst(env) for c in line.conds), fresh)

    def _select(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Select)
        b = self.b
        fresh, env = self.instance(line)
        adjoint = self.adjoint((line, 0))
        assert adjoint is not None
        outer = tuple(c.subst(env) for c in line.conds)
        conds = tuple(c.subst(env) for c in prim.conds)
        dtype = line.results[0].dtype
        with b.binding(*fresh), b.under(*outer):
            bar = adjoint(tuple(poly(x) for x in fresh))
        self.push(ir.subst_operand(prim.then, env), bar, (*outer, *conds), fresh)
        orelse = ir.subst_operand(prim.orelse, env)
        if len(conds) == 1:
            self.push(orelse, bar, (*outer, conds[0].negated()), fresh)
        else:
            with b.binding(*fresh), b.under(*outer):
                rest = scalars.select(b, conds, zero(dtype), bar, NOWHERE)
            self.push(orelse, rest, outer, fresh)

    def _reduce(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Reduce)
        dtype = line.results[0].dtype
        if not self.b.has_slope(dtype) or prim.monoid in BITWISE:
            return
        b = self.b
        fresh, env = self.instance(line)
        adjoint = self.adjoint((line, 0))
        assert adjoint is not None
        r = b.fresh_binder(prim.binder.name, prim.binder.extent.subst(env))
        r.facts = tuple(f.subst({**env, prim.binder: poly(r)}) for f in prim.binder.facts)
        conds = tuple(c.subst(env) for c in line.conds)
        inner = {**env, prim.binder: poly(r)}
        extra: tuple[ir.Cond, ...] = ()
        others: ir.Operand | None = None
        with b.binding(*line.dims, prim.binder), b.under(*line.conds):  # at the line's own indices, like the line
            if prim.monoid in ("minimum", "maximum"):
                extra = (ir.Cond("eq", poly(r) - help_.arg_of(b, line).subst(env)),)
            elif prim.monoid == "mul":
                others = ir.subst_operand(help_.product_of_others(b, line), inner)
        with b.binding(*fresh), b.under(*conds):
            bar = adjoint(tuple(poly(x) for x in fresh))
            if others is not None:
                bar = LineAlgebra(b, dtype).op("mul", bar, others)
        self.push(ir.subst_operand(prim.arg, inner), bar, (*conds, *extra), [*fresh, r])

    def _scan(self, line: ir.Line) -> None:
        """A sum scanned forwards sends its adjoints backwards: x_bar[i] = sum of y_bar[k] for k >= i (k > i when exclusive)."""
        prim = line.prim
        assert isinstance(prim, ir.Scan)
        assert prim.monoid == "add", "see folds.py"
        b = self.b
        dtype = line.results[0].dtype
        fresh, env = self.instance(line)
        adjoint = self.adjoint((line, 0))
        assert adjoint is not None
        conds = tuple(c.subst(env) for c in line.conds)
        n = prim.binder.extent.subst(env)
        at = tuple(poly(x) for x in fresh)
        q = b.fresh_binder("q", n)
        with b.binding(*fresh, q), b.under(*conds):
            bar = adjoint((*at, n - 1 - poly(q)))
        with b.binding(*fresh), b.under(*conds):
            made, where = b.emit(ir.Scan("add", q, bar, zero(dtype), prim.exclusive), (ir.Result(dtype, (n,)),), hint="s")
        r = b.fresh_binder(prim.binder.name, n)
        value = ir.Ref(made, 0, (*where, n - 1 - poly(r)))
        self.push(ir.subst_operand(prim.arg, {**env, prim.binder: poly(r)}), value, conds, [*fresh, r])
        first = b.fresh_binder("q", n)
        with b.binding(*fresh), b.under(*conds):
            total = b.ref(ir.Reduce("add", first, adjoint((*at, poly(first)))), ir.Result(dtype), hint="s")
        self.push(ir.subst_operand(prim.start, env), total, conds, fresh)

    def _display(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Display)
        fresh, env = self.instance(line)
        adjoint = self.adjoint((line, 0))
        assert adjoint is not None
        conds = tuple(c.subst(env) for c in line.conds)
        at = tuple(poly(x) for x in fresh)
        for k, item in enumerate(prim.items):
            with self.b.binding(*fresh), self.b.under(*conds):
                value = adjoint((*at, poly(k)))
            self.push(ir.subst_operand(item, env), value, conds, fresh)

    def _scatter(self, line: ir.Line) -> None:
        """A put takes the adjoint of what it overwrites away from the base; an addition does not (Schenck 2.8), nor a put that adds (ad/added.py)."""
        prim = line.prim
        assert isinstance(prim, ir.Scatter)
        assert prim.monoid in (None, "add"), "see folds.py"
        b = self.b
        dtype = line.results[0].dtype
        fresh, env = self.instance(line)
        adjoint = self.adjoint((line, 0))
        assert adjoint is not None
        conds = tuple(c.subst(env) for c in line.conds)
        at = tuple(poly(x) for x in fresh)
        inner = dict(env)
        own = []
        for x in prim.binders:
            new = b.fresh_binder(x.name, x.extent.subst(inner))
            new.facts = tuple(f.subst({**inner, x: poly(new)}) for f in x.facts)
            inner[x] = poly(new)
            own.append(new)
        index = tuple(p.subst(inner) for p in prim.index)
        when = tuple(c.subst(inner) for c in prim.when)
        extra = when
        if prim.drop:
            axes = [a.subst(env) for a in line.results[0].axes]
            extra += tuple(ir.Cond("ge", q) for p, a in zip(index, axes, strict=True) for q in (p, a - 1 - p))
        with b.binding(*fresh, *own), b.under(*conds, *extra):
            bar = self._only_here(adjoint((*at, *index)))
            adds = added(b, prim, line.results[0].axes)
            if adds is not None:
                bar = adds.adjoint(b, bar)
        put = prim.value if adds is None else adds.value
        self.push(ir.subst_operand(put, inner), bar, (*conds, *extra), [*fresh, *own])
        axes_b = tuple(b.fresh_binder(x.name, x.extent.subst(env)) for x in prim.base.binders)
        base_env = {**env, **{x: poly(y) for x, y in zip(prim.base.binders, axes_b, strict=True)}}
        where = tuple(poly(x) for x in axes_b)
        body = ir.subst_operand(prim.base.body, base_env)
        if not isinstance(body, ir.Ref) or (body.line, body.result) not in self.active:
            return
        with b.binding(*fresh), b.under(*conds):
            if prim.monoid is None and adds is None:
                fill = tuple(b.fresh_binder(x.name, x.extent.subst(env)) for x in prim.base.binders)
                with b.binding(*fill):
                    kept = ir.Abs(fill, adjoint((*at, *(poly(x) for x in fill))))
                cleared = ir.Scatter(kept, tuple(own), index, zero(dtype), None, prim.drop, when)
                axes2 = tuple(a.subst(env) for a in line.results[0].axes)
                made, place = b.emit(cleared, (ir.Result(dtype, axes2),), hint="g")
                with b.binding(*axes_b):
                    value: ir.Operand = ir.Ref(made, 0, (*place, *where))
            else:
                with b.binding(*axes_b):
                    value = adjoint((*at, *where))
        self.push(body, value, conds, [*fresh, *axes_b])

    def _only_here(self, value: ir.Operand) -> ir.Operand:
        """An element of an array that is changed in place, read by itself: a line that reads all of it would be a copy of it."""
        at = value
        while isinstance(at, ir.Ref) and is_read(at.line, True):
            at = ir.subst_operand(read_arg(at.line), dict(zip(at.line.dims, at.index, strict=True)))
        return read(self.b, at.line, at.result, at.index) if isinstance(at, ir.Ref) and at is not value else value

    def _compress(self, line: ir.Line) -> None:
        prim = line.prim
        assert isinstance(prim, ir.Compress)
        b = self.b
        fresh, env = self.instance(line)
        conds = tuple(c.subst(env) for c in line.conds)
        at = tuple(poly(x) for x in fresh)
        for k, value in enumerate(prim.values):
            adjoint = self.adjoint((line, 2 + k))
            if adjoint is None:
                continue
            count = poly(ir.ref_atom(ir.Ref(line, 0, at)))
            kept = b.fresh_binder("k", count)
            with b.binding(*fresh, kept), b.under(*conds):
                bar = adjoint((*at, poly(kept)))
            position = poly(ir.ref_atom(ir.Ref(line, 1, (*at, poly(kept)))))
            self.push(ir.subst_operand(value, {**env, prim.binder: position}), bar, conds, [*fresh, kept])

    def _loop(self, line: ir.Line) -> None:
        from atoll.ad.loop_reverse import reverse_loop

        reverse_loop(self, line)

    def _custom(self, line: ir.Line) -> None:
        """A derivative its author supplied, applied to the adjoints of the results."""
        prim = line.prim
        assert isinstance(prim, ir.Custom)
        b = self.b
        fresh, env = self.instance(line)
        conds = tuple(c.subst(env) for c in line.conds)
        at = tuple(poly(x) for x in fresh)

        def moved(array: ir.Abs, body: Reader) -> ir.Abs:
            binders = tuple(b.fresh_binder(x.name, x.extent.subst(env)) for x in array.binders)
            with b.binding(*binders):
                return ir.Abs(binders, body(tuple(poly(x) for x in binders)))

        def seed(k: int) -> Reader:
            reader = self.adjoint((line, k))
            return lambda index: zero(line.results[k].dtype) if reader is None else reader((*at, *index))

        with b.binding(*fresh), b.under(*conds):
            sizes = tuple(ir.subst_operand(x, env) for x in prim.sizes)
            args = [moved(a, abs_reader(a, dict(env))) for a in prim.args]
            seeds = [moved(array, seed(k)) for k, array in enumerate(prim.values)]
            found = prim.rule.adjoints(sizes, args, seeds)
        for arg, bar in zip(args, found, strict=True):
            value = ir.subst_operand(bar.body, {x: poly(y) for x, y in zip(bar.binders, arg.binders, strict=True)})
            self.push(arg.body, value, conds, [*fresh, *arg.binders])

    def _active(self, line: ir.Line) -> None:
        """What a derivative inside this one is taken with respect to."""
        prim = line.prim
        assert isinstance(prim, ir.Active)
        fresh, env = self.instance(line)
        adjoint = self.adjoint((line, 0))
        assert adjoint is not None
        value = adjoint(tuple(poly(x) for x in fresh))
        self.push(ir.subst_operand(prim.arg, env), value, tuple(c.subst(env) for c in line.conds), fresh)

    def _nothing(self, line: ir.Line) -> None:
        return


def _slope_times(c: LineAlgebra, bar: ir.Operand, slope: ir.Operand) -> ir.Operand:
    if is_window_operand(bar, slope):
        return times(c.b, bar, c.b.ref(ir.Op("read", (slope,)), ir.Result(c.dtype), hint="r"), c.dtype)
    return times(c.b, bar, slope, c.dtype) if is_padded_operand(bar, slope) else c.op("mul", bar, slope)


def _quotient(c: LineAlgebra, bar: ir.Operand, a: ir.Operand, b: ir.Operand, y: ir.Operand) -> list[ir.Operand | None]:
    """What flows into a and b of y = a / b: the second is minus the first times y, a multiplication less than with the slopes by themselves."""
    first = c.op("mul", bar, c.op("div", c.const(1.0), b))
    return [first, c.op("neg", c.op("mul", first, y))]


_RULES: dict[type, Callable[[Reverse, ir.Line], None]] = {
    ir.Op: Reverse._op,
    ir.Cast: Reverse._cast,
    ir.Select: Reverse._select,
    ir.Reduce: Reverse._reduce,
    ir.Scan: Reverse._scan,
    ir.Display: Reverse._display,
    ir.Scatter: Reverse._scatter,
    ir.Compress: Reverse._compress,
    ir.Loop: Reverse._loop,
    ir.While: Reverse._loop,
    ir.ArgReduce: Reverse._nothing,
    ir.Argsort: Reverse._nothing,
    ir.Truth: Reverse._nothing,
    ir.Extent: Reverse._nothing,
    ir.Check: Reverse._nothing,
    ir.Active: Reverse._active,
    ir.Custom: Reverse._custom,
}

__all__ = ["Reverse", "guarded"]
