"""Loops as C: rounds, sums in lanes and trees, and looks at whether the user wants to stop.

Sums are kept in lanes of a fixed number, so their order is part of the text and not of the compiler's mood.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from atoll.backends.c import looks, ops
from atoll.backends.c.prelude import folds
from atoll.backends.c.stretches import Stretch, stretch_of
from atoll.backends.c.strides import strides
from atoll.backends.c.text import safe
from atoll.backends.c.vector_text import BYTES, Vectors
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.questions import loads, may_fail, parts
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, DType

SHORT = 128  # elements of a sum whose length is data that are not worth a tree of blocks
MANY = 8  # sums in one loop
TOGETHER = 8  # statements of a round that is written out four times
LONG = 256  # rounds of them, before they are added to the totals
STRETCH = 4096  # units in a stretch of rounds that count, at most: one that is left early is not counted
FEW = 16  # elements of a sum that are fewer than the lanes of any block

_SCANNED = {"add": "+", "mul": "*", "min": "min", "max": "max"}  # operators of a scan in vectors


class Loops(Vectors):
    strides = 0  # variables that go up with an index, so far
    ends = 0  # places behind loops that are left from within a stretch, so far
    way_out = "break"  # of the loop that is printed

    def is_innermost(self, stmts: lp.Stmts) -> bool:
        return not any(isinstance(s, (lp.For, lp.Accumulate, lp.Chunks, lp.Forever)) for s in lp.walk(stmts))

    def loop(self, loop: lp.For) -> None:
        pragma = ""
        if loop.scan and self.dialect.gnu and (step := _step(loop)) is not None:
            self.scan(loop, step)
            return
        if loop.vector and self.dialect.gnu:
            pragma = f"#pragma omp simd simdlen({loop.vector})"
        elif loop.unroll and self.dialect.gnu and (rounds := (loop.high - loop.low).const()):
            pragma = f"#pragma GCC unroll {rounds}"
        elif loop.parallel and self.dialect.gnu and self.is_innermost(loop.body) and not may_fail(loop.body):
            pragma = "AT_INDEPENDENT"
        elif self.dialect.gnu and not loop.parallel and _moves_memory(loop.body):
            pragma = "AT_TOGETHER"
        self.long_loop(loop, pragma)

    def rounds(self, loop: lp.For | lp.Accumulate, low: str | None = None, high: str | None = None, tick: str = "", pragma: str = "") -> None:
        """The loop itself; `tick` is said first in every round."""
        low, high = low or self.poly(loop.low), high or self.poly(loop.high)
        body, moving = strides(loop.body, loop.sym, self.strides) if self.dialect.gnu and not pragma.startswith("#") else (loop.body, [])
        self.strides += len(moving)
        for var, step in moving:
            self.put(f"uint64_t {safe(var.name)} = (uint64_t)({low}) * {ops.literal(step, var.dtype)};")
        steps = "".join(f", {safe(var.name)} += {ops.literal(step, var.dtype)}" for var, step in moving)
        if pragma:
            self.put(pragma)
        name = self.names.enter(loop.sym)
        with self.in_loop(bool(tick)), self.braces(f"for (int64_t {name} = {low}; {name} < {high}; {name}++{steps})"):
            if tick:
                self.put(tick)
            elif not (isinstance(loop, lp.For) and (loop.parallel or loop.vector or loop.unroll)) and (_skewed(loop) or (not pragma and _masked(loop))):
                self.put("at_order();")
            self.stmts(body)
        self.names.leave(loop.sym)

    def scan(self, loop: lp.For, step: lp.Assign) -> None:
        """Rounds that leave nothing but a running value: what a round adds, then what it does with the value."""
        assert isinstance(step.value, lp.Call)
        place, name = loop.body.index(step), safe(step.var.name)
        before, after = loop.body[:place], loop.body[place + 1 :]
        with self.stretches(loop) as (low, high):
            self.put(f"#pragma omp simd reduction(inscan, {_SCANNED[step.value.op]} : {name})")
            index = self.names.enter(loop.sym)
            with self.in_loop(False), self.braces(f"for (int64_t {index} = {low}; {index} < {high}; {index}++)"):
                with self.braces(""):
                    self.stmts([*before, step])
                self.put(f"#pragma omp scan inclusive({name})")
                with self.braces(""):
                    self.stmts([*before, *after])
            self.names.leave(loop.sym)

    # -- loops that may take long look whether the user wants to stop (looks.py)

    def look(self, units: str) -> str:
        """Count so many units down."""
        self.uses_done = self.counts = True
        return f"AT_LOOK({units})"

    def long_loop(self, loop: lp.For | lp.Accumulate, pragma: str = "") -> None:
        """Rounds with loops inside count each, and those that a check may leave; others are cut into stretches, so that they stay tight."""
        whole = pragma.startswith("#pragma omp")  # its rounds must not be left
        if not self.has_looks(loop):
            self.rounds(loop, pragma=pragma)
        elif not whole and (looks.looks(loop.body) or _left(loop)):
            self.rounds(loop, tick=self.look(str(looks.units(loop.body))), pragma=pragma)
        else:
            with self.stretches(loop) as (low, high):
                self.quiet += whole
                self.rounds(loop, low, high, pragma=pragma)
                self.quiet -= whole

    def has_looks(self, loop: lp.For | lp.Accumulate) -> bool:
        """Not where there is no host, where nothing may leave, in few rounds, or for the indices of a piece that is done in parts."""
        if not self.dialect.hosted or self.quiet or looks.is_short(loop):
            return False
        bounds = (loop.low.single(), loop.high.single())
        return self.divided is None or bounds != self.divided or looks.looks(loop.body)

    @contextmanager
    def stretches(self, loop: lp.For | lp.Accumulate) -> Iterator[tuple[str, str]]:
        """The bounds of a stretch of rounds."""
        if not self.has_looks(loop):
            yield self.poly(loop.low), self.poly(loop.high)
            return
        units = looks.units(loop.body)
        rounds = max(16, looks.UNITS // units)
        with self.braces(f"for (int64_t at_i = {self.poly(loop.low)}, at_end, at_high = {self.poly(loop.high)}; at_i < at_high; at_i = at_end)"):
            self.put(f"at_end = at_high - at_i > {rounds} ? at_i + {rounds} : at_high;")
            self.put(self.look("at_end - at_i" if units == 1 else f"(at_end - at_i) * {units}"))
            yield "at_i", "at_end"

    def forever(self, body: lp.Stmts) -> None:
        """Rounds that end when they like; if they count, and nothing long stands in them, their tests and looks are made once for many of them."""
        saved, self.way_out = self.way_out, "break"
        counts = self.dialect.hosted and not self.quiet and not looks.looks(body)
        if counts and (found := stretch_of(body, self.fn.sizes)) is not None:
            self.in_stretches(found, looks.units(body))
        else:
            self.whenever(body)
        self.way_out = saved

    def in_stretches(self, loop: Stretch, units: int) -> None:
        self.ends += 1
        over = f"at_over_{self.ends}"
        most = max(16, STRETCH // units)
        var = safe(loop.var.name)
        with self.in_loop(True), self.braces("for (;;)"):
            self.stmts(loop.tests)
            self.put(f"uint64_t at_more = {most - 1};")
            for more in dict.fromkeys(loop.more):
                self.put(f"if ((uint64_t)({self.poly(more)}) < at_more) at_more = (uint64_t)({self.poly(more)});")
            self.put(f"const int64_t at_last = (int64_t)((uint64_t){var} {'+' if loop.step > 0 else '-'} at_more {'+' if loop.step > 0 else '-'} 1);")
            self.way_out = f"goto {over}"
            with self.braces(f"while ({var} != at_last)"):
                self.stmts(loop.rest)
            if loop.ends:
                self.put(f"if (at_more < {most - 1}) break;")
            self.put(self.look(f"{most * units}" if loop.ends else f"(at_more + 1) * {units}"))
        self.put(f"{over}:;")

    def whenever(self, body: lp.Stmts) -> None:
        with self.in_loop(True), self.braces("for (;;)"):
            if self.dialect.hosted and not self.quiet:
                self.put(self.look(str(looks.units(body))))
            self.stmts(body)

    def accumulate(self, loop: lp.Accumulate) -> None:
        """Known operators into scalars. Floats in lanes when the loop is innermost, as a tree of partial sums otherwise."""
        floats = [a for a in loop.accs if a.var.dtype.is_float or a.var.dtype.is_complex]
        for acc in loop.accs:
            self.declare(acc.var, self.neutral(acc), False)
        rounds = (loop.high - loop.low).const()
        if loop.exact or not floats or (rounds is not None and rounds < FEW):  # blocks of lanes are longer
            self.long_loop(loop)
        elif self.dialect.gnu and self.is_innermost(loop.body) and not may_fail(loop.body) and not any(a.var.dtype.is_complex for a in floats):
            with self.in_loop(False):
                self.lanes(loop)
        else:
            self.tree(loop)

    def neutral(self, acc: lp.Acc) -> str:
        value = MONOIDS[acc.monoid][1](acc.var.dtype)
        return ops.literal(value, acc.var.dtype)

    def lanes(self, loop: lp.Accumulate) -> None:
        """In vectors. A length that is data is often short: then a few lanes without the tree of blocks."""
        if len(loop.accs) > MANY and self.in_vectors(loop):
            self.many_lanes(loop)
            return
        if not any(isinstance(a, lp.VarAtom) for a in (loop.high - loop.low).leaves()):
            self.long_lanes(loop)
            return
        short = min(SHORT, 256 // max(a.var.dtype.size for a in loop.accs)) if _repeatable(loop) else SHORT
        with self.braces(f"if ({self.poly(loop.high - loop.low)} < {short})"):
            self.short_lanes(loop)
        with self.braces("else"):
            self.long_lanes(loop)

    def short_lanes(self, loop: lp.Accumulate) -> None:
        """32 bytes of lanes, then one by one."""
        lanes = 32 // max(a.var.dtype.size for a in loop.accs)
        low, high = self.poly(loop.low), self.poly(loop.high)
        outer = Sym(f"{loop.sym.name}0")
        first, index = self.names.enter(outer), self.names.enter(loop.sym)
        saved = dict(self.adders)
        self.put(f"int64_t {first} = {low};")

        def one_by_one() -> None:
            with self.braces(f"for (; {first} < {high}; {first}++)"):
                self.put(f"const int64_t {index} = {first};")
                self.stmts(loop.body)

        with self.braces(f"if ({first} + {lanes} <= {high})"):  # fewer have no lanes to add up
            for acc in loop.accs:
                self.put(f"{acc.var.dtype.c_name} {safe(acc.var.name)}_lane[{lanes}] = {{{', '.join([self.neutral(acc)] * lanes)}}};")
                self.adders[acc.var] = self._lane_adder(acc)
            with self.braces(f"for (; {first} + {lanes} <= {high}; {first} += {lanes})"):
                self.put("AT_SIMD")
                with self.braces(f"for (int at_l = 0; at_l < {lanes}; at_l++)"):
                    self.put(f"const int64_t {index} = {first} + at_l;")
                    self.stmts(loop.body)
            for acc in loop.accs:
                v = safe(acc.var.name)
                self.fold_lanes(acc, lanes)
                self.put(f"{v} = {v}_lane[0];")
                self.adders.pop(acc.var, None)
            one_by_one()
        with self.braces("else"):
            one_by_one()
        self.adders = saved
        self.names.leave(loop.sym)
        self.names.leave(outer)

    def many_lanes(self, loop: lp.Accumulate) -> None:
        """A vector for each of many sums: additions need not wait, and registers hold them all. Lanes are added up after a fixed number of rounds."""
        dtype = loop.accs[0].var.dtype
        lanes = BYTES // dtype.size
        low, high = self.poly(loop.low), self.poly(loop.high)
        outer = Sym(f"{loop.sym.name}0")
        first, index = self.names.enter(outer), self.names.enter(loop.sym)
        with self.braces(""):
            self.put(f"int64_t {first} = {low};")
            with self.braces(f"while ({first} + {lanes} <= {high})"):
                if self.has_looks(loop):
                    self.put(self.look(str(looks.units(loop.body) * LONG)))
                self.put(f"const int64_t at_end = {first} + {lanes * LONG} < {high} ? {first} + {lanes * LONG} : {high};")
                for acc in loop.accs:
                    self.put(f"at_vector_{dtype.name} {safe(acc.var.name)}_vector = {{{self.neutral(acc)}}};")
                with self.braces(f"for (; {first} + {lanes} <= at_end; {first} += {lanes})"):
                    self.put(f"const int64_t {index} = {first};")
                    self.vector_body(loop)
                for acc in loop.accs:
                    v = safe(acc.var.name)
                    self.put(f"{dtype.c_name} {v}_lane[{lanes}];")
                    self.put(f"memcpy({v}_lane, &{v}_vector, {BYTES});")
                    self.put(f"{folds('add', dtype, lanes)}({v}_lane);")
                    self.put(f"{v} = {v} + {v}_lane[0];")
            with self.braces(f"for (; {first} < {high}; {first}++)"):
                self.put(f"const int64_t {index} = {first};")
                self.stmts(loop.body)
        self.names.leave(loop.sym)
        self.names.leave(outer)

    def long_lanes(self, loop: lp.Accumulate) -> None:
        """Blocks of a fixed number of lanes, each lane adding up its own elements; the rest one by one.

        A block of lanes is added up in a tree after a fixed number of rounds, so that errors do not grow with the length.
        """
        width = max(a.var.dtype.size for a in loop.accs)
        lanes = (128 if any(a.monoid not in ("minimum", "maximum") for a in loop.accs) else 256) // width  # comparing takes longer than adding
        low, high = self.poly(loop.low), self.poly(loop.high)
        outer = Sym(f"{loop.sym.name}0")
        first = self.names.enter(outer)
        index = self.names.enter(loop.sym)
        saved = dict(self.adders)
        sums = _float_sums(loop)
        with self.braces(""):
            self.put(f"int64_t {first} = {low};")
            with self.braces(f"if ({first} + {lanes} <= {high})"):
                for acc in loop.accs:
                    v = safe(acc.var.name)
                    if acc in sums:
                        self.put(f"at_sum_{acc.var.dtype.name} {v}_sum;")
                        self.put(f"{v}_sum.low = 0, {v}_sum.count = 0, {v}_sum.top = 0;")
                again = _repeatable(loop)
                with self.braces(f"while ({first} < {high})" if again else f"while ({first} + {lanes} <= {high})"):
                    if self.has_looks(loop):
                        self.put(self.look(str(looks.units(loop.body) * lanes * 64)))
                    self.put(f"const int64_t at_end = {first} + {lanes * 64} < {high} ? {first} + {lanes * 64} : {high};")
                    for acc in loop.accs:
                        v, t = safe(acc.var.name), acc.var.dtype.c_name
                        self.put(f"{t} {v}_lane[{lanes}];")
                        self.put(f"for (int at_l = 0; at_l < {lanes}; at_l++) {v}_lane[at_l] = {self.neutral(acc)};")
                        if _keeps_nan(acc):
                            self.put(f"int{acc.var.dtype.bits}_t {v}_nan[{lanes}] = {{0}};")
                    with self.braces(f"for (; {first} < at_end; {first} += {lanes})" if again else f"for (; {first} + {lanes} <= at_end; {first} += {lanes})"):
                        if again:  # the last block overlaps the one before
                            self.put(f"if ({first} > at_end - {lanes}) {first} = at_end - {lanes};")
                        self.put("AT_SIMD")
                        with self.braces(f"for (int at_l = 0; at_l < {lanes}; at_l++)"):
                            self.put(f"const int64_t {index} = {first} + at_l;")
                            for acc in loop.accs:
                                self.adders[acc.var] = self._plain_adder(acc) if _keeps_nan(acc) else self._lane_adder(acc)
                            self.stmts(loop.body)
                    self._add_block(loop, lanes)
                for acc in sums:
                    v = safe(acc.var.name)
                    self.put(f"{v} = at_sum_total_{acc.var.dtype.name}(&{v}_sum);")
            with self.braces(f"for (; {first} < {high}; {first}++)"):
                self.put(f"const int64_t {index} = {first};")
                for acc in loop.accs:
                    self.adders.pop(acc.var, None)
                self.stmts(loop.body)
        self.adders = saved
        self.names.leave(loop.sym)
        self.names.leave(outer)

    def _add_block(self, loop: lp.Accumulate, lanes: int) -> None:
        """What the lanes of a block have is added to the totals."""
        sums = _float_sums(loop)
        for acc in loop.accs:
            v = safe(acc.var.name)
            self.fold_lanes(acc, lanes, _keeps_nan(acc))
            if acc in sums:
                self.put(f"at_sum_add_{acc.var.dtype.name}(&{v}_sum, {v}_lane[0]);")
            elif _keeps_nan(acc):
                self.put(f"int{acc.var.dtype.bits}_t {v}_lost = 0;")
                self.put(f"for (int at_l = 0; at_l < {lanes}; at_l++) {v}_lost |= {v}_nan[at_l];")
                self.put(f"{v} = {v}_lost ? NAN : {self._combine(acc, v, f'{v}_lane[0]')};")
            else:
                self.put(f"{v} = {self._combine(acc, v, f'{v}_lane[0]')};")

    def fold_lanes(self, acc: lp.Acc, lanes: int, plainly: bool = False) -> None:
        """Combine lanes, the upper half into the lower one until the first has all of them; `plainly`: numbers are compared, of which none is NaN."""
        v, dtype, half = safe(acc.var.name), acc.var.dtype, lanes // 2
        if plainly or (acc.monoid == "add" and dtype.is_float):
            self.put(f"{folds('add' if not plainly else 'least' if acc.monoid == 'minimum' else 'most', dtype, lanes)}({v}_lane);")
            return
        while half > 0:
            combined = self._combine(acc, f"{v}_lane[at_l]", f"{v}_lane[at_l + {half}]")
            self.put(f"for (int at_l = 0; at_l < {half}; at_l++) {v}_lane[at_l] = {combined};")
            half //= 2

    def _combine(self, acc: lp.Acc, a: str, b: str) -> str:
        return ops.call(MONOIDS[acc.monoid][0], [a, b], acc.var.dtype, acc.var.dtype, self.dialect.wrapping)

    def _lane_adder(self, acc: lp.Acc) -> Any:
        v = f"{safe(acc.var.name)}_lane[at_l]"
        return lambda value: f"{v} = {self._combine(acc, v, value)};"

    def _plain_adder(self, acc: lp.Acc) -> Any:
        """The least and greatest of floats: plain comparisons, which are one instruction, and beside them whether there was a NaN."""
        v, t = safe(acc.var.name), acc.var.dtype.c_name
        return lambda value: f"{{ const {t} at_x = {value}; {v}_nan[at_l] |= at_x != at_x; {v}_lane[at_l] = {_plainly(acc, f'{v}_lane[at_l]', 'at_x')}; }}"

    def tree(self, loop: lp.Accumulate) -> None:
        """A loop with loops inside: sums of floats as a tree of partial sums."""
        saved = dict(self.adders)
        sums = _float_sums(loop)
        for acc in sums:
            v, d = safe(acc.var.name), acc.var.dtype.name
            self.put(f"at_sum_{d} {v}_sum;")
            self.put(f"{v}_sum.low = 0, {v}_sum.count = 0, {v}_sum.top = 0;")
            self.adders[acc.var] = lambda value, v=v, d=d: f"at_sum_add_{d}(&{v}_sum, {value});"
        self.long_loop(loop)
        for acc in sums:
            v = safe(acc.var.name)
            self.put(f"{v} = at_sum_total_{acc.var.dtype.name}(&{v}_sum);")
        self.adders = saved

    # -- adding up

    def update(self, target: str, op: str, value: str, dtype: DType) -> None:
        simple = {"add": "+=", "mul": "*="}.get(op)
        if simple and (dtype.is_float or dtype.kind == "u" or (dtype.is_integer and self.dialect.wrapping)):
            self.put(f"{target} {simple} {value};")
        else:
            self.put(f"{target} = {ops.call(op, [target, value], dtype, dtype, self.dialect.wrapping)};")

    def add(self, var: lp.Var, monoid: str, value: str) -> None:
        how = self.adders.get(var)
        if how is not None:
            self.put(how(value))
        else:
            self.update(safe(var.name), MONOIDS[monoid][0], value, var.dtype)


def _masked(loop: lp.For | lp.Accumulate) -> bool:
    """Do several sums of integers read neighbours in one array, on a condition? gcc adds the same neighbour to all of them (runtime/native/probes/masked.c)."""
    inside = list(lp.walk(loop.body))
    inner = {s.sym for s in inside if isinstance(s, (lp.For, lp.Accumulate))}
    sums = [s for s in inside if isinstance(s, (lp.Add, lp.Assign, lp.Update, lp.Store)) and _kept(s, loop.sym)]
    if not sums or (len(sums) == 1 and not inner):
        return False
    places: dict[lp.Buffer, set[tuple[Poly, ...]]] = {}
    choices = [(s.then, s.orelse) for s in (*inside, *parts(loop.body, lp.Choose)) if isinstance(s, (lp.If, lp.Choose))]
    for choice in (*choices, *(c.args[1:] for c in parts(loop.body, lp.Call) if c.op in ("select", "and", "or"))):
        for load in loads(choice):
            if not (load.buffer.dtype.is_float or load.buffer.dtype.is_complex) and _strides_over(load.index, loop.sym):
                places.setdefault(load.buffer, set()).add(load.index)
    return any(len(found) > 1 or any(not inner.isdisjoint(p.leaves()) for index in found for p in index) for found in places.values())


def _kept(stmt: lp.Add | lp.Assign | lp.Update | lp.Store, sym: Sym) -> bool:
    """A statement that changes an integer from round to round."""
    if isinstance(stmt, (lp.Add, lp.Assign)):
        return not (stmt.var.dtype.is_float or stmt.var.dtype.is_complex)
    return not (stmt.buffer.dtype.is_float or stmt.buffer.dtype.is_complex or any(sym in p.leaves() for p in stmt.index))


def _strides_over(index: tuple[Poly, ...], sym: Sym) -> bool:
    """Is another place read in each round that is not the next one?"""
    return any(sym in p.leaves() for p in index[:-1]) or (bool(index) and sym in index[-1].leaves() and sym in (index[-1] - poly(sym)).leaves())


def _skewed(loop: lp.For | lp.Accumulate) -> bool:
    """Does a loop inside write at sums of its index and this one's, so that rounds of this one may write one place? gcc forgets that (runtime/native/probes/diagonal.c)."""
    inner = {s.sym for s in lp.walk(loop.body) if isinstance(s, (lp.For, lp.Accumulate))}

    def mixed(p: Poly) -> bool:
        leaves = p.leaves()
        return not inner.isdisjoint(leaves) and any(a is loop.sym or isinstance(a, lp.VarAtom) for a in leaves)

    return isinstance(loop, lp.For) and bool(inner) and any(isinstance(s, lp.Store) and any(map(mixed, s.index)) for s in lp.walk(loop.body))


def _left(loop: lp.For | lp.Accumulate) -> bool:
    """Rounds in order that a check may leave: no vectors are made of them, and often there are few."""
    return isinstance(loop, lp.For) and not loop.parallel and any(isinstance(s, lp.Check) for s in lp.walk(loop.body))


def _moves_memory(body: lp.Stmts) -> bool:
    """A short round without branches that stores: counting rounds costs as much as it does, and compilers write out none that they have no vectors for."""
    stores = any(isinstance(s, (lp.Store, lp.Update)) for s in body)
    return stores and len(body) <= TOGETHER and all(isinstance(s, (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.Note)) for s in body)


def _step(loop: lp.For) -> lp.Assign | None:
    """The statement of a scan that goes from round to round, if the operator is one that OpenMP knows."""
    steps = [s for s in loop.body if isinstance(s, lp.Assign)]
    rest = [s for s in loop.body if not isinstance(s, lp.Assign)]
    if len(steps) != 1 or not all(isinstance(s, (lp.Let, lp.Store)) for s in rest) or not isinstance(steps[0].value, lp.Call):
        return None
    if any(steps[0].var in set(lp.used_vars(s)) or isinstance(s, lp.Store) for s in loop.body[: loop.body.index(steps[0])]):
        return None
    known = steps[0].value.op in _SCANNED and (steps[0].value.op in ("add", "mul") or steps[0].var.dtype.is_integer)
    return steps[0] if known else None


def _repeatable(loop: lp.Accumulate) -> bool:
    """An element that is added twice changes nothing."""
    return all(a.monoid in ("minimum", "maximum", "and", "or") for a in loop.accs) and all(isinstance(s, (lp.Let, lp.Add)) for s in loop.body)


def _keeps_nan(acc: lp.Acc) -> bool:
    """One whose comparisons would have to look for NaN."""
    return acc.monoid in ("minimum", "maximum") and acc.var.dtype.is_float


def _plainly(acc: lp.Acc, a: str, b: str) -> str:
    """The better of two numbers; of equals the second, as with at_min and at_max."""
    return f"{a} {'<' if acc.monoid == 'minimum' else '>'} {b} ? {a} : {b}"


def _float_sums(loop: lp.Accumulate) -> list[lp.Acc]:
    """Sums whose rounding depends on the order."""
    return [a for a in loop.accs if a.monoid == "add" and not a.var.dtype.is_integer and a.var.dtype is not BOOL]
