"""Sorting by merging: runs of 1, 2, 4, ... elements that are in order become runs twice as long, which keeps equal elements in their order.

On the device an element finds its place in the merged run by counting, with a binary search in the other half: for n elements log n launches of n threads,
each log n steps. One thread merges run by run. What is sorted are places, so that keys of any type are moved once. NaN comes last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from atoll.loops import ir as lp
from atoll.sizes import Poly, poly
from atoll.types.dtypes import BOOL, I64, DType

if TYPE_CHECKING:
    from atoll.backends.cuda.threads import Names


def less(a: lp.Expr, b: lp.Expr, dtype: DType) -> lp.Expr:
    """a stands before b. NaN is after every number."""
    found: lp.Expr = lp.Call("lt", (a, b), BOOL)
    if dtype.is_float:
        last = lp.Call("and", (lp.Call("isnan", (b,), BOOL), lp.Call("not", (lp.Call("isnan", (a,), BOOL),), BOOL)), BOOL)
        found = lp.Call("or", (found, last), BOOL)
    return found


def minimum(p: Poly, q: Poly) -> lp.Expr:
    return lp.Call("min", (lp.Index(p), lp.Index(q)), I64)


class Sorting:
    """The parts of a sort of keys[first], keys[first + 1], ..., of which there are n."""

    def __init__(self, names: Names, keys: lp.Buffer, first: tuple[Poly, ...], n: Poly) -> None:
        self.names, self.keys, self.first, self.n = names, keys, first, n
        self.order = names.buffer("order", I64, (n,), "temp", "the order of a sort")
        self.merged = names.buffer("merged", I64, (n,), "temp", "the order of a sort, merged")

    def key(self, place: Poly) -> lp.Load:
        return lp.Load(self.keys, (*self.first[:-1], self.first[-1] + place))

    def key_of(self, p: Poly, out: list[lp.Stmt]) -> lp.Use:
        """The key of the p-th place in the order so far."""
        at, key = self.names.var("at", I64, True), self.names.var("key", self.keys.dtype)
        out += [lp.Let(at, lp.Load(self.order, (p,))), lp.Let(key, self.key(poly(at.atom)))]
        return lp.Use(key)

    def bounds(self, low: Poly, width: Poly, out: list[lp.Stmt]) -> tuple[Poly, Poly]:
        """Where the second of two runs begins and ends."""
        middle, high = self.names.var("middle", I64, True), self.names.var("high", I64, True)
        out += [lp.Let(middle, minimum(low + width, self.n)), lp.Let(high, minimum(low + 2 * width, self.n))]
        return poly(middle.atom), poly(high.atom)

    def place(self, p: Poly, width: Poly) -> list[lp.Stmt]:
        """One element into its place in the run that its run and the one beside it make."""
        out: list[lp.Stmt] = []
        start = self.names.var("start", I64, True)
        out.append(lp.Let(start, lp.Index(p // (2 * width) * (2 * width))))
        low = poly(start.atom)
        middle, high = self.bounds(low, width, out)
        mine = self.names.var("mine", I64, True)
        out.append(lp.Let(mine, lp.Load(self.order, (p,))))
        key = self.names.var("key", self.keys.dtype)
        out.append(lp.Let(key, self.key(poly(mine.atom))))
        first = lp.Test("ge", middle - p - 1)  # in the first of the two runs
        a, b = self.names.var("a", I64, True), self.names.var("b", I64, True)
        out.append(lp.Declare(a, lp.Choose((first,), lp.Index(middle), lp.Index(low))))
        out.append(lp.Declare(b, lp.Choose((first,), lp.Index(high), lp.Index(middle))))
        lo, hi = poly(a.atom), poly(b.atom)
        step: list[lp.Stmt] = [lp.BreakUnless((lp.Test("ge", hi - lo - 1),))]
        half = self.names.var("half", I64, True)
        step.append(lp.Let(half, lp.Index((lo + hi) // 2)))
        other = self.key_of(poly(half.atom), step)
        mine_key = lp.Use(key)
        before = lp.Choose((first,), less(other, mine_key, key.dtype), lp.Call("not", (less(mine_key, other, key.dtype),), BOOL))
        step.append(lp.If((lp.Test("true", None, before),), [lp.Assign(a, lp.Index(poly(half.atom) + 1))], [lp.Assign(b, lp.Index(poly(half.atom)))]))
        out.append(lp.Forever(step))
        to = self.names.var("to", I64, True)  # its place in its own run, and how many of the other come before it
        out.append(lp.Let(to, lp.Choose((first,), lp.Index(p + lo - middle), lp.Index(p - middle + lo))))
        out.append(lp.Store(self.merged, (poly(to.atom),), lp.Use(mine)))
        return out

    def result(self, name: str, p: Poly, out: lp.Buffer, at: tuple[Poly, ...]) -> list[lp.Stmt]:
        """The p-th element of what is asked for: its place, or itself."""
        place = self.names.var("place", I64, True)
        value: lp.Expr = lp.Use(place) if name == "argsort" else self.key(poly(place.atom))
        return [lp.Let(place, lp.Load(self.order, (p,))), lp.Store(out, (*at[:-1], at[-1] + p), value)]


def sort_in_thread(names: Names, name: str, keys: lp.Buffer, first: tuple[Poly, ...], out: lp.Buffer, at: tuple[Poly, ...], n: Poly) -> list[lp.Stmt]:
    """A sort by one thread."""
    s = Sorting(names, keys, first, n)
    p = names.sym("p")
    width, low = names.var("width", I64, True), names.var("low", I64, True)
    w, lo = poly(width.atom), poly(low.atom)
    run: list[lp.Stmt] = [lp.BreakUnless((lp.Test("ge", n - lo - 1),))]
    middle, high = s.bounds(lo, w, run)
    i, j = names.var("i", I64, True), names.var("j", I64, True)
    left, right = poly(i.atom), poly(j.atom)
    run += [lp.Declare(i, lp.Index(lo)), lp.Declare(j, lp.Index(middle))]
    take = names.var("second", BOOL)
    compare: list[lp.Stmt] = []
    one, two = s.key_of(left, compare), s.key_of(right, compare)
    compare.append(lp.Assign(take, less(two, one, keys.dtype)))
    each: list[lp.Stmt] = [lp.Declare(take, lp.Truth((lp.Test("ge", left - middle),)))]
    each.append(lp.If((lp.Test("ge", middle - left - 1), lp.Test("ge", high - right - 1)), compare))
    moved = (lp.Store(s.merged, (poly(p),), lp.Load(s.order, (right,))), lp.Assign(j, lp.Index(right + 1)))
    kept = (lp.Store(s.merged, (poly(p),), lp.Load(s.order, (left,))), lp.Assign(i, lp.Index(left + 1)))
    each.append(lp.If((lp.Test("true", None, lp.Use(take)),), [*moved], [*kept]))
    run += [lp.For(p, lo, high, each, parallel=False), lp.Assign(low, lp.Index(high))]
    q, r = names.sym("p"), names.sym("p")
    rounds: list[lp.Stmt] = [lp.BreakUnless((lp.Test("ge", n - w - 1),)), lp.Declare(low, lp.Const(0, I64)), lp.Forever(run)]
    rounds += [lp.Swap(s.order, s.merged), lp.Assign(width, lp.Index(2 * w))]
    return [
        lp.Alloc(s.order),
        lp.Alloc(s.merged),
        lp.For(q, poly(0), n, [lp.Store(s.order, (poly(q),), lp.Index(poly(q)))], parallel=False),
        lp.Declare(width, lp.Const(1, I64)),
        lp.Forever(rounds),
        lp.For(r, poly(0), n, s.result(name, poly(r), out, at), parallel=False),
    ]
