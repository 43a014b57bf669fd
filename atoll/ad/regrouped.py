"""Reductions and scans by any operator, followed backwards in parallel (Schenck 3.4.1 and 3.4.3, corrected: docs/sources.md, Schenck E6 to E8).

With l(i) the state before element i and y(i) = l(i) . a(i) the state after it, let r(i) be the adjoint of y(i). Once r is known, the adjoints of elements, of
what the operator captures and of the first state are those of one map over i, whose lines are followed like any others. r itself is found

    of numbers          by the recurrence r(i) = s(i) + J(i + 1)ᵀ r(i + 1), J the Jacobian of y by l and s the adjoint from outside: a scan from the right
    of arrays whose elements stay by themselves, by that recurrence for each element (the thesis exchanges such a scan with a map)
    of a reduction of anything else   as that of y(i) in y(i) . (a(i + 1) . ... . a(n - 1)): a scan of the elements from the right

All are scans and maps, which run in pieces. Elsewhere the loop's rule is better (ad/folds.py; tests/ad/test_regrouped.py counts it):

    where the recurrence costs more than a few times the operator: a full matrix per element, for products of d x d matrices d**4 numbers instead of d**2
    for hist, which goes in order itself: the thesis' rule (3.4.2) sorts all elements first and scans them by bins, with twice the loop's operations beside the sort
    inside maps, whose rows go in pieces and in order within, forwards and back
    inside loops, where the fold itself goes in pieces: this would need the rule in the block of a round, beside its tape, and is not done
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atoll.ad.forward import Forward
from atoll.ad.indicator import guarded, zero
from atoll.ad.lines import lines_since
from atoll.ad.loop_state import HandedOn, abs_reader, whole
from atoll.ad.reverse import Reverse as ReverseMode
from atoll.ainf import ir, scalars
from atoll.ainf.associative import is_associative
from atoll.ainf.builder import Builder
from atoll.ainf.replay import Reader, Replay, in_order, make_param
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.core.prims import MONOIDS
from atoll.core.slopes import is_constant
from atoll.errors import NOWHERE
from atoll.sizes import Poly, poly
from atoll.types.dtypes import DType

if TYPE_CHECKING:
    from atoll.ad.reverse import Key, Reverse

MANY = 2048  # elements, where it is known how many there are
DEAR = 3  # how many times the operator's operations the recurrence may cost


class Regrouped:
    """A fold or scan of the program itself, ready to be followed.

    It moves to a line of its own; the line it was hands the value on, with a rule of its own while it is followed."""

    def __init__(self, b: Builder, line: ir.Line) -> None:
        self.b, self.line, self.prim = b, line, line.prim
        prim: Any = line.prim
        self.extent: Poly = prim.binder.extent
        self.reduces = isinstance(prim, ir.Fold)
        self.starts: tuple[ir.Abs, ...] = (ir.Abs((), prim.start),) if isinstance(prim, ir.Scan) else prim.start
        self.elements: tuple[ir.Abs, ...] = (ir.Abs((), prim.arg),) if isinstance(prim, ir.Scan) else prim.elements
        self.dtypes = [r.dtype for r in line.results]
        self.floats = [k for k, d in enumerate(self.dtypes) if b.has_slope(d)]
        self.kept: ir.Line | None = None  # the states before the elements of a reduction, where they are a line of their own
        shared, b.share = b.share, False
        self.value, _ = b.emit(prim, line.results, line.span, line.hint)
        b.share = shared
        self.i = b.fresh_binder("i", self.extent)
        self.before = self._left()
        first = b._count
        at_i = {prim.binder: poly(self.i)}
        with b.binding(self.i):
            left: list[Reader] = [_at(x, (poly(self.i),)) for x in self.before]
            self.after = self.applied(left, [abs_reader(e, at_i) for e in self.elements])
        self.lines = lines_since(b, first)

    # -- making

    def _left(self) -> list[ir.Line]:
        """The state before each element, as values that adjoints do not go back through: what reaches the first is handed to the first state."""
        b, prim = self.b, self.prim
        read: list[Reader]
        if isinstance(prim, (ir.Fold, ir.ScanFold)) and not (isinstance(prim, ir.ScanFold) and not prim.exclusive):
            line = self.value
            if isinstance(prim, ir.Fold):
                copy: Any = Replay(b, {}).prim(line, {})
                results = tuple(ir.Result(r.dtype, (copy.binder.extent, *r.axes)) for r in line.results)
                line, _ = self.kept, _ = b.emit(ir.ScanFold(copy.binder, copy.start, copy.elements, copy.block, copy.results, True), results, line.span, "l")
            read = [_at(line, (), k) for k in range(len(self.starts))]
        elif isinstance(prim, ir.Scan) and prim.exclusive:
            read = [_at(self.value, ())]
        else:
            read = [self._shifted(k) for k in range(len(self.starts))]
        made = []
        for k, start in enumerate(self.starts):
            axes = tuple(b.fresh_binder(x.name, x.extent) for x in start.binders)
            at = (poly(self.i), *(poly(x) for x in axes))
            with b.binding(self.i, *axes):
                active, _ = b.emit(ir.Active(object(), read[k](at), at), (ir.Result(self.dtypes[k]),), hint="l")
            made.append(active)
        return made

    def _shifted(self, k: int) -> Reader:
        """The state before an element of a scan that keeps the states after them."""
        b, line, start = self.b, self.value, self.starts[k]

        def at(index: tuple[Poly, ...]) -> ir.Operand:
            cond = ir.Cond("ge", index[0] - 1)
            first = ir.subst_operand(start.body, dict(zip(start.binders, index[1:], strict=True)))
            with b.under(cond):
                earlier = ir.Ref(line, k, (index[0] - 1, *index[1:]))
            return scalars.select(b, (cond,), earlier, first, NOWHERE)

        return at

    def applied(self, left: list[Reader], right: list[Reader]) -> list[ir.Abs]:
        """The operator's lines made again, on these values."""
        b, prim = self.b, self.prim
        if isinstance(prim, ir.Scan):
            return [ir.Abs((), scalars.op(b, MONOIDS[prim.monoid][0], (left[0](()), right[0](())), self.dtypes[0], self.line.span))]
        assert isinstance(prim, (ir.Fold, ir.ScanFold))
        replay = Replay(b, {})
        for param, reader in zip(prim.block.params, [*left, *right], strict=True):
            replay.give(param, 0, reader)
        for x in replay.lines(prim.block):
            replay.line(x)
        return [replay.any(a, {}) for a in prim.results]

    def mark(self) -> None:
        """The line gets the rule: what it gives flows to the states after each element, and to the first state."""
        args = [ir.Abs((self.i, *self.after[k].binders), self.after[k].body) for k in self.floats]
        args += [self.starts[k] for k in self.floats]
        self.line.prim = ir.Custom(self, (), tuple(args), self._values())

    def _values(self) -> tuple[ir.Abs, ...]:
        return tuple(whole(self.b, self.value, k) for k in range(len(self.line.results)))

    def done(self) -> None:
        """For a derivative of this derivative the line is the value's, read."""
        self.line.prim = ir.Custom(HandedOn(), (), self._values(), self._values())
        around = self.line.block.lines
        around[:] = in_order(around)

    def sinks(self, rev: Reverse) -> dict[Key, Any]:
        """What flows into the state before the first element flows into the first state; into others, nowhere: r has it already."""
        found: dict[Key, Any] = {}
        for x, start in zip(self.before, self.starts, strict=True):

            def sink(index: tuple[Poly, ...], value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder], start: ir.Abs = start) -> None:
                body = ir.subst_operand(start.body, dict(zip(start.binders, index[1:], strict=True)))
                rev.push(body, value, (*conds, ir.Cond("eq", index[0])), binders)

            found[(x, 0)] = sink
        return found

    # -- following

    tangents = None

    def adjoints(self, sizes: tuple[ir.Operand, ...], args: list[ir.Abs], seeds: list[ir.Abs]) -> list[ir.Abs]:
        """r for each part of the state, then what goes straight to the first state."""
        one_number = len(self.floats) == 1 and not any(a.binders for a in self.starts)
        return [*(self._by_recurrence(seeds) if one_number or not self.reduces else self._by_others(seeds)), *(self._straight(k, seeds[k]) for k in self.floats)]

    def _straight(self, k: int, seed: ir.Abs) -> ir.Abs:
        """Of no elements the result is the first state; an exclusive scan gives it for its first element."""
        b, dtype, n = self.b, self.dtypes[k], self.extent
        binders = tuple(b.fresh_binder(x.name, x.extent) for x in self.starts[k].binders)
        at = tuple(poly(x) for x in binders)
        if not self.reduces and not getattr(self.prim, "exclusive", False):
            return ir.Abs(binders, zero(dtype))
        cond = ir.Cond("ge", -n) if self.reduces else ir.Cond("ge", n - 1)
        with b.binding(*binders), b.under(cond):
            value = guarded(b, [cond], abs_reader(seed, {})(at if self.reduces else (poly(0), *at)), dtype)
        return ir.Abs(binders, value)

    def _given(self, k: int, seed: ir.Abs, at: Poly, inside: tuple[Poly, ...]) -> ir.Operand:
        """s: what flows from outside into the state after an element of a scan."""
        if not getattr(self.prim, "exclusive", False):
            return abs_reader(seed, {})((at, *inside))
        cond = ir.Cond("ge", self.extent - 2 - at)
        with self.b.under(cond):
            return guarded(self.b, [cond], abs_reader(seed, {})((at + 1, *inside)), self.dtypes[k])

    def axes(self) -> tuple[ir.Binder, ...]:
        """Binders for the elements of the state: where there is a recurrence, all parts that have slopes are arrays of one shape."""
        return tuple(self.b.fresh_binder(x.name, x.extent) for x in self.starts[self.floats[0]].binders)

    def jacobian(self, axes: tuple[ir.Binder, ...]) -> dict[tuple[int, int], ir.Operand]:
        """The derivative of y(i) by l(i), where it is not 0 everywhere: (p, q) is that of part p by part q, over i and the elements of arrays, which stay by themselves."""
        found: dict[tuple[int, int], ir.Operand] = {}
        for q in self.floats:
            forward = Forward(self.b)
            one = scalars.constant(self.dtypes[q].numpy.type(1), self.dtypes[q])
            forward.give(self.before[q], 0, lambda index, one=one: one)  # type: ignore[misc]
            with self.b.binding(self.i):
                forward.run(self.lines)
                for p in self.floats:
                    with self.b.binding(*axes):
                        slope = forward.operand(ir.subst_operand(self.after[p].body, dict(zip(self.after[p].binders, map(poly, axes), strict=True))))
                    if slope is not None and not (isinstance(slope, ir.Const) and slope.value == 0):
                        found[(p, q)] = slope
        return found

    def _by_recurrence(self, seeds: list[ir.Abs]) -> list[ir.Abs]:
        """With u(i) = J(i)ᵀ r(i), the adjoint of l(i): r(i) = s(i) + u(i + 1) and u(i) = J(i)ᵀ s(i) + J(i)ᵀ u(i + 1), scanned from the right."""
        b, n = self.b, self.extent
        axes = self.axes()
        inside = tuple(map(poly, axes))
        slopes = self.jacobian(axes)
        i, q = b.fresh_binder("i", n), b.fresh_binder("q", n)
        turned = n - 1 - poly(q)
        with b.binding(q, *axes):
            back = {(y, x): ir.subst_operand(slope, {self.i: turned}) for (x, y), slope in slopes.items()}  # transposed
        if self.reduces:  # s is 0 but for the last element: what is left are products
            (k,) = self.floats
            dtype, seed = self.dtypes[k], seeds[k].body
            factor = back.get((k, k), zero(dtype))
            made, where = b.emit(ir.Scan("mul", q, factor, seed, True), (ir.Result(dtype, (n,)),), hint="r")
            return [ir.Abs((i,), ir.Ref(made, 0, (*where, n - 1 - poly(i))))]
        with b.binding(i, *axes):
            given = {k: self._given(k, seeds[k], poly(i), inside) for k in self.floats}
        if not back:
            return [self._over(axes, given[k], i) for k in self.floats]
        with b.binding(q, *axes):
            there = {k: ir.subst_operand(x, {i: turned}) for k, x in given.items()}
            firsts = [_total(b, None, [(back[p, t], there[t]) for t in self.floats if (p, t) in back], self.dtypes[p]) for p in self.floats]
        made, where = self._recurrence(q, axes, firsts, back)
        found = []
        with b.binding(i, *axes):
            for place, k in enumerate(self.floats):
                later = ir.Ref(made, place, (*where, n - 1 - poly(i), *inside))
                found.append(self._over(axes, scalars.op(b, "add", (given[k], later), self.dtypes[k], NOWHERE), i))
        return found

    def _over(self, axes: tuple[ir.Binder, ...], body: ir.Operand, *first: ir.Binder) -> ir.Abs:
        """An array with binders of its own for the elements of the state."""
        own = tuple(self.b.fresh_binder(x.name, x.extent) for x in axes)
        return ir.Abs((*first, *own), ir.subst_operand(body, dict(zip(axes, map(poly, own), strict=True))))

    def _recurrence(self, q: ir.Binder, axes: tuple[ir.Binder, ...], given: list[ir.Operand], back: dict[tuple[int, int], ir.Operand]) -> tuple[ir.Line, tuple[Poly, ...]]:
        """(u, A) . (u', A') = (u' + A' u, A' A), scanned, from the right; of an element, what was before it."""
        b = self.b
        keys = _closed(set(back))
        types = [self.dtypes[k] for k in self.floats] + [self.dtypes[x] for x, _ in keys]
        extents = tuple(x.extent for x in axes)
        block = b.new_block()
        with b.inside(block):
            names = [f"r{k}" for k in self.floats] + [f"m{x}{y}" for x, y in keys]
            params = [make_param(b, block, ir.Param(at, name), ir.Result(t, extents)) for at, (name, t) in enumerate(zip(names * 2, types * 2, strict=True))]
            here = self.axes()
            with b.binding(*here):
                values = [ir.Ref(p, 0, tuple(map(poly, here))) for p in params]
                half = len(types)
                count = len(self.floats)
                r = dict(zip(self.floats, values[:count], strict=True))
                m = dict(zip(keys, values[count:half], strict=True))
                s = dict(zip(self.floats, values[half : half + count], strict=True))
                a = {key: v for key, v in zip(keys, values[half + count :], strict=True) if key in back}
                results: list[ir.Operand] = [_total(b, s[p], [(a[p, t], r[t]) for t in self.floats if (p, t) in a], self.dtypes[p]) for p in self.floats]
                results += [_total(b, None, [(a[x, t], m[t, y]) for t in self.floats if (x, t) in a and (t, y) in m], self.dtypes[x]) for x, y in keys]
        starts = [zero(self.dtypes[k]) for k in self.floats] + [scalars.constant(self.dtypes[x].numpy.type(x == y), self.dtypes[x]) for x, y in keys]
        elements = [*given, *(back.get(key, zero(self.dtypes[key[0]])) for key in keys)]
        scan = ir.ScanFold(q, tuple(self._over(axes, x) for x in starts), tuple(self._over(axes, x) for x in elements), block, tuple(self._over(here, x) for x in results), True)
        return b.emit(scan, tuple(ir.Result(t, (self.extent, *extents)) for t in types), hint="r")

    def _by_others(self, seeds: list[ir.Abs]) -> list[ir.Abs]:
        """r(i) by the elements after i, taken together: the operator's declaration at work."""
        b, n = self.b, self.extent
        rest = self._suffixes()
        i = self.i
        inside = ir.Cond("ge", n - 2 - poly(i))
        with b.binding(i):
            left = []
            for k in range(len(self.starts)):
                axes = tuple(b.fresh_binder(x.name, x.extent) for x in self.after[k].binders)
                at = tuple(poly(x) for x in axes)
                with b.binding(*axes):
                    value = abs_reader(self.after[k], {})(at)
                    active, _ = b.emit(ir.Active(object(), value, (poly(i), *at)), (ir.Result(self.dtypes[k]),), hint="y")
                left.append(active)

            def right(k: int) -> Reader:
                def at(index: tuple[Poly, ...]) -> ir.Operand:
                    with b.under(inside):
                        return guarded(b, [inside], ir.Ref(rest, k, (n - 2 - poly(i), *index)), self.dtypes[k])

                return at

            first = b._count
            results = self.applied([_at(x, (poly(i),)) for x in left], [right(k) for k in range(len(self.starts))])
            lines = lines_since(b, first)
            reverse = ReverseMode(b, frozenset(b.binders))
            reverse.active = {(left[k], 0) for k in self.floats}
            reverse.spread(lines)
            for k in self.floats:
                with b.binding(*results[k].binders):
                    value = abs_reader(seeds[k], {})(tuple(poly(x) for x in results[k].binders))
                reverse.push(results[k].body, value, (), list(results[k].binders))
            reverse.run(lines)
            found = []
            for k in self.floats:
                axes = tuple(b.fresh_binder(x.name, x.extent) for x in self.after[k].binders)
                at = tuple(poly(x) for x in axes)
                reader = reverse.adjoint((left[k], 0))
                with b.binding(*axes):
                    with b.under(inside):
                        through = zero(self.dtypes[k]) if reader is None else reader((poly(i), *at))
                    value = scalars.select(b, (inside,), through, abs_reader(seeds[k], {})(at), NOWHERE)
                found.append(ir.Abs((i, *axes), value))
        return found

    def _suffixes(self) -> ir.Line:
        """a(n - 1 - q) . ... . a(n - 1) for q < n - 1; what comes after the first element is started with the last."""
        b, n = self.b, self.extent
        prim = self.prim
        assert isinstance(prim, ir.Fold)
        q = b.fresh_binder("q", n)
        some, earlier = ir.Cond("ge", n - 1), ir.Cond("ge", n - 2 - poly(q))

        def element(k: int, at: Poly, cond: ir.Cond) -> ir.Abs:
            array = self.elements[k]
            binders = tuple(b.fresh_binder(x.name, x.extent.subst({prim.binder: poly(0)})) for x in array.binders)
            with b.binding(*binders), b.under(cond):
                value = abs_reader(array, {prim.binder: at})(tuple(poly(x) for x in binders))
                return ir.Abs(binders, guarded(b, [cond], value, self.dtypes[k]))

        starts = tuple(element(k, n - 1, some) for k in range(len(self.starts)))
        with b.binding(q):
            elements = tuple(element(k, n - 2 - poly(q), earlier) for k in range(len(self.starts)))
        block = b.new_block()
        with b.inside(block):
            params = [make_param(b, block, ir.Param(at, p.prim.name), p.results[0]) for at, p in enumerate(prim.block.params)]  # type: ignore[union-attr]
            half = len(self.starts)
            results = self.applied([_at(p, ()) for p in params[half:]], [_at(p, ()) for p in params[:half]])
        types = tuple(ir.Result(r.dtype, (n, *r.axes)) for r in self.line.results)
        line, _ = b.emit(ir.ScanFold(q, starts, elements, block, tuple(results), True), types, hint="t")
        return line


def can_regroup(b: Builder, line: ir.Line) -> bool:
    """A fold or scan of the program itself, over many elements, by an associative operator of plain lines."""
    prim = line.prim
    if not isinstance(prim, (ir.Fold, ir.ScanFold, ir.Scan)) or line.block.depth or line.dims or line.conds or b.block.depth:
        return False
    count = prim.binder.extent.const()
    if count is not None and count < MANY:
        return False
    if isinstance(prim, ir.Scan):
        return True
    if any(blocks(x.prim) or x.conds or isinstance(x.prim, (ir.Scan, ir.Compress, ir.Scatter, ir.Argsort)) for x in prim.block.lines):
        return False
    if any(x.extent.leaves() & {prim.binder} for a in prim.elements for x in a.binders) or not any(b.has_slope(r.dtype) for r in line.results):
        return False
    return is_associative(prim)


def pays(fold: Regrouped) -> bool:
    """Whether the recurrence costs no more than a few times the operator."""
    if fold.reduces:
        return True
    if not stays_by_itself(fold):
        return False
    if len(fold.floats) == 1:
        return True
    slopes = {(y, x) for x, y in fold.jacobian(fold.axes())}
    keys = _closed(slopes)
    products = sum((x, t) in slopes and (t, y) in keys for x, y in keys for t in fold.floats)
    own = sum(isinstance(x.prim, (ir.Op, ir.Reduce)) for x in fold.prim.block.lines)  # type: ignore[union-attr]
    return 2 * products + 2 * len(slopes) <= DEAR * own


def stays_by_itself(fold: Regrouped) -> bool:
    """Whether an element of the state after has slopes by that element of the state before alone: of numbers always."""
    if not any(fold.starts[k].binders for k in fold.floats):
        return True
    prim = fold.prim
    assert isinstance(prim, ir.ScanFold)
    shapes = [tuple(x.extent for x in fold.starts[k].binders) for k in fold.floats]
    if any(shape != shapes[0] for shape in shapes):
        return False
    left = {prim.block.params[k] for k in fold.floats}
    reads: dict[ir.Line, tuple[Poly, ...]] = {}  # of a line, over its dims: the element of the state before that it has slopes by

    def read_by(x: ir.Operand) -> tuple[Poly, ...] | None:
        if not isinstance(x, ir.Ref) or not (x.line in left or x.line in reads):
            return None
        return x.index if x.line in left else tuple(p.subst(dict(zip(x.line.dims, x.index, strict=True))) for p in reads[x.line])

    for line in in_order([x for x in prim.block.lines if x not in prim.block.params]):
        if not any(ref.line in left or ref.line in reads for ref in line_refs(line)) or not any(fold.b.has_slope(r.dtype) for r in line.results):
            continue
        if not isinstance(line.prim, (ir.Op, ir.Cast, ir.Select)):
            return False
        if isinstance(line.prim, ir.Op) and is_constant(line.prim.name, line.results[0].dtype.kind):
            continue
        values = line.prim.args if isinstance(line.prim, ir.Op) else (line.prim.arg,) if isinstance(line.prim, ir.Cast) else (line.prim.then, line.prim.orelse)
        found = {read_by(x) for x in values} - {None}
        if len(found) > 1:
            return False
        if found:
            reads[line] = found.pop()  # type: ignore[assignment]
    return all(read_by(prim.results[k].body) in (None, tuple(map(poly, prim.results[k].binders))) for k in fold.floats)


def _closed(entries: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Entries that products of such matrices can have."""
    found = set(entries)
    while more := {(x, y) for x, t in entries for u, y in found if t == u} - found:
        found |= more
    return sorted(found)


def _at(line: ir.Line, before: tuple[Poly, ...], result: int = 0) -> Reader:
    return lambda index: ir.Ref(line, result, before + index)


def _total(b: Builder, first: ir.Operand | None, products: list[tuple[ir.Operand, ir.Operand]], dtype: DType) -> ir.Operand:
    total = first
    for x, y in products:
        term = scalars.op(b, "mul", (x, y), dtype, NOWHERE)
        total = term if total is None else scalars.op(b, "add", (total, term), dtype, NOWHERE)
    return zero(dtype) if total is None else total
