"""Histograms whose rounds add rows, where there are few rows to add to: every element is one thread's, which looks at the keys of a part of the rounds and takes those of its row.

    thread (b, j) of part p:  s = neutral; for r of the part, in order: if key(r) = b: s op= v(r, j);  parts[p, b, j] = s
    at the end                for every element what the parts have, in their order

Nobody waits for anybody and nothing is stored until the end: neighbouring threads read neighbouring elements of a row, and a key is read once for a warp. A round costs every element a comparison,
so there must be few rows. How long parts are is a formula of the number of rounds and elements, so the bits depend on nothing else (docs/sources.md G4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.jam import Renaming
from atoll.backends.cuda.points import Single
from atoll.backends.cuda.ranks import together
from atoll.backends.cuda.reduce import combine
from atoll.backends.cuda.threads import Names, neutral
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.transform.coalesce import places
from atoll.sizes import Atom, Poly, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64

if TYPE_CHECKING:
    from atoll.backends.cuda.histograms import Histogram

THREADS = 256
MOST_ROWS = 64
MOST_BLOCKS = 1056
LEAST = 32  # rounds of a part
STEPS = 8  # keys that are on their way at once

_MONOID = {op: name for name, (op, _) in MONOIDS.items()}


def own_axes(h: Histogram) -> list[int]:
    """The axes along which data choose."""
    syms = [x.sym for x in h.inner]
    return [a for a, q in enumerate(h.update.index) if q.single() not in syms]


def rows_of(h: Histogram) -> Poly:
    """How many rows there are."""
    return product(tuple(h.update.buffer.extents[a] for a in own_axes(h)))


def by_owners(lowering: Any, h: Histogram, n: Poly) -> list[k.Statement]:
    """The launches, for `n` rounds."""
    names: Names = lowering.names
    count, length, wide = (names.var(x, I64, True) for x in ("parts", "length", "wide"))
    lowering.host |= {count, length, wide}
    elements = product(h.update.buffer.extents)
    blocks = (elements + (THREADS - 1)) // THREADS
    fits = lp.Call("min", (lp.Index(poly(MOST_BLOCKS) // poly(wide.atom)), lp.Index(n // LEAST)), I64)
    many = poly(count.atom)
    out: list[k.Statement] = [lp.Let(wide, lp.Call("max", (lp.Index(blocks), lp.Const(1, I64)), I64))]
    out += [lp.Let(count, lp.Call("max", (fits, lp.Const(1, I64)), I64)), lp.Let(length, lp.Index((n + many - 1) // many))]
    parts = names.buffer("parts", h.update.buffer.dtype, (many, elements), "temp", "elements of a histogram, of parts of its rounds")
    out.append(lp.Alloc(parts))
    body = _Owner(names, h, n, elements, poly(length.atom), parts).code()
    out += lowering.launch("owners", [k.Region(tuple(body))], THREADS, blocks, note="a histogram of rows, a thread for every element", grid_y=many)
    out += lowering.parallel(together(names, h, many, parts))
    return [*out, lp.Free(parts)]


class _Owner:
    """The kernel."""

    def __init__(self, names: Names, h: Histogram, n: Poly, elements: Poly, length: Poly, parts: lp.Buffer) -> None:
        self.names, self.h, self.n, self.elements, self.length, self.parts = names, h, n, elements, length, parts
        self.acc = lp.Acc(names.var("sum", parts.dtype), _MONOID[h.update.op])
        self.element = poly(k.THREAD) + THREADS * poly(k.BLOCK)
        self.at: list[Poly] = []

    def code(self) -> list[Any]:
        names, begin, end = self.names, self.names.var("begin", I64, True), self.names.var("end", I64, True)
        digits: list[Any] = []

        def keep(axis: int | None, value: Poly) -> Poly:
            var = names.var("b", I64, True)
            digits.append(lp.Let(var, lp.Index(value)))
            return poly(var.atom)

        self.at = places(self.element, self.h.update.buffer.extents, keep)
        t, rest, whole = names.sym("t"), names.sym("t"), names.var("whole", I64, True)
        first, last = poly(begin.atom), poly(end.atom)
        out: list[Any] = [
            *digits,
            lp.Let(begin, lp.Call("min", (lp.Index(self.length * poly(k.BLOCK_Y)), lp.Index(self.n)), I64)),
            lp.Let(end, lp.Call("min", (lp.Index(first + self.length), lp.Index(self.n)), I64)),
            lp.Let(whole, lp.Index((last - first) // STEPS)),
            lp.Declare(self.acc.var, neutral(self.acc)),
            lp.For(t, poly(0), poly(whole.atom), self.rounds([first + STEPS * poly(t) + u for u in range(STEPS)]), parallel=False),
            lp.For(rest, STEPS * poly(whole.atom), last - first, self.rounds([first + poly(rest)]), parallel=False),
            lp.Store(self.parts, (poly(k.BLOCK_Y), self.element), lp.Use(self.acc.var)),
        ]
        return [lp.If((lp.Test("ge", self.elements - 1 - self.element),), out)]

    def rounds(self, at: list[Poly]) -> list[Any]:
        """Rounds one after the other; what decides whether they are of this row is read for all of them first."""
        u = self.h.update
        inner: dict[Atom, Poly] = {x.sym: self.at[a] for x in self.h.inner for a, q in enumerate(u.index) if q.single() is x.sym}
        reading: list[Any] = []
        adding: list[Any] = []
        for r in at:
            copy = Renaming(self.names, {self.h.loop.sym: self.h.loop.low + r, **inner})
            reading += copy.stmts(self.h.first)
            mine = tuple(lp.Test("eq", copy.poly(u.index[a]) - self.at[a]) for a in own_axes(self.h))
            value = [*copy.stmts(self.h.last)]
            value.append(lp.Assign(self.acc.var, combine(self.acc, lp.Use(self.acc.var), copy.expr(u.value))))
            step: lp.Stmt = lp.If(mine, value)
            tests = copy.tests(self.h.tests)  # None: none of them can hold
            if tests is not None:
                adding.append(lp.If(tests, [step]) if tests else step)
        return Single(self.names, {}, at[0]).stmts([*reading, *adding])
