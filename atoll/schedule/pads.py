"""Pad types: how many rows at the start and at the end of each axis are known to be padding (ATL section 2.2, simplified).

    axis  ::=  (left, right)          the first `left` and the last `right` rows are wholly padding, as polynomials
    all                               everything is

Inferred from guards and reshapes by a walk; what cannot be shown counts as no padding. A truncation is right when what it drops is padding;
`violations` lists those of which that is not known from the types. (Whether loops may run is decided by C4, on the loops.)
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.schedule import term as tm
from atoll.schedule.context import Context
from atoll.schedule.kernel import Theorem
from atoll.sizes import ZERO, Poly, cdiv, poly

Axis = tuple[Poly, Poly]


@dataclass(frozen=True, slots=True)
class Pads:
    axes: tuple[Axis, ...]
    everything: bool = False
    flat: tuple[int, Axis] | None = None  # an axis and the next one, read as one: a tile whose last row is padded in part

    def __str__(self) -> str:
        if self.everything:
            return "all padding"
        shown = [f"{left} | .. | {right}" if left.terms or right.terms else ".." for left, right in self.axes]
        return "[" + ", ".join(shown) + "]" if shown else "scalar"


@dataclass(frozen=True, slots=True)
class Violation:
    op: str
    amount: Poly
    axis: int
    known: Poly  # how much padding there is


class Inference:
    def __init__(self) -> None:
        self.violations: list[Violation] = []

    def infer(self, t: tm.Term, context: Context) -> Pads:
        match t:
            case tm.Zero():
                return Pads(tuple((n, ZERO) for n in t.shape), True)
            case tm.Gen():
                return self.gen(t, context)
            case tm.Guard():
                inner = self.infer(t.body, context.down(t, 0))
                return Pads(inner.axes, inner.everything or any(context.facts.proves(-c - 1) for c in t.conds))
            case tm.Sum():
                return self.infer(t.body, context.down(t, 0))
            case tm.Let() | tm.Nest():
                return self.infer(t.body, context.down(t, 1 if isinstance(t, tm.Let) else 0))
            case tm.Plus():
                return self.both(self.infer(t.left, context.down(t, 0)), self.infer(t.right, context.down(t, 1)), context)
            case tm.Cat():
                left, right = self.infer(t.left, context), self.infer(t.right, context)
                axes = list(self.both(left, right, context).axes)
                axes[t.axis] = (left.axes[t.axis][0], right.axes[t.axis][1])
                return Pads(tuple(axes), left.everything and right.everything)
            case tm.Reshape():
                return self.reshape(t, context)
        return Pads(())

    def gen(self, t: tm.Gen, context: Context) -> Pads:
        inside = context.down(t, 0)
        inner = self.infer(t.body, inside)
        left, right = ZERO, ZERO
        i = poly(t.sym)
        for c in _spine(t.body):
            coef = c.slope(t.sym)
            rest = c - i * (coef if coef is not None else 0)
            if coef is None or t.sym in rest.leaves():
                continue
            if coef == poly(1):  # i >= -rest
                left = self.larger(left, -rest - t.low, context)
            elif coef == poly(-1):  # i <= rest
                right = self.larger(right, t.high - 1 - rest, context)
        axes = [(p, q) if t.sym not in p.leaves() | q.leaves() else (ZERO, ZERO) for p, q in inner.axes]
        return Pads(((left, right), *axes), inner.everything)

    def reshape(self, t: tm.Reshape, context: Context) -> Pads:
        inner = self.infer(t.body, context)
        extents = tm.shape(t.body, context.shapes)
        axes, a = list(inner.axes), t.axis
        k = t.amount if t.amount is not None else ZERO
        left, right = axes[a]
        flat: tuple[int, Axis] | None = None
        match t.op:
            case "transpose":
                axes[a], axes[a + 1] = axes[a + 1], axes[a]
            case "pad_r":
                axes[a] = (left, right + k)
            case "pad_l":
                axes[a] = (left + k, right)
            case "trunc_r" | "trunc_l":
                have = right if t.op == "trunc_r" else left
                if not inner.everything and not context.facts.proves(have - k):
                    self.violations.append(Violation(t.op, k, a, have))
                rest = have - k if context.facts.proves(have - k) else ZERO
                axes[a] = (left, rest) if t.op == "trunc_r" else (rest, right)
            case "flatten":
                n = extents[a + 1]
                inner_left, inner_right = axes.pop(a + 1)
                if inner.flat is not None and inner.flat[0] == a:
                    axes[a] = inner.flat[1]
                else:
                    axes[a] = (left * n + (inner_left if not left.terms else ZERO), right * n + (inner_right if not right.terms else ZERO))
            case "split" | "tile":
                extra = cdiv(extents[a], k) * k - extents[a] if t.op == "tile" else ZERO
                axes[a : a + 1] = [(left // k, (right + extra) // k), (ZERO, ZERO)]
                flat = (a, (left, right + extra))
            case "reverse":
                axes[a] = (right, left)
            case "window" | "sample":
                axes[a : a + 1] = [(ZERO, ZERO)] * (2 if t.op == "window" else 1)
        return Pads(tuple(axes), inner.everything, flat)

    def larger(self, a: Poly, b: Poly, context: Context) -> Poly:
        return b if context.facts.proves(b - a) else a

    def both(self, a: Pads, b: Pads, context: Context) -> Pads:
        if a.everything:
            return b
        if b.everything:
            return a

        def least(p: Poly, q: Poly) -> Poly:
            return p if context.facts.proves(q - p) else q if context.facts.proves(p - q) else ZERO

        return Pads(tuple((least(p[0], q[0]), least(p[1], q[1])) for p, q in zip(a.axes, b.axes, strict=True)))


def _spine(t: tm.Term) -> list[Poly]:
    """Conditions everything below depends on."""
    if isinstance(t, tm.Guard):
        return [*t.conds, *_spine(t.body)]
    if isinstance(t, (tm.Gen, tm.Sum, tm.Let, tm.Reshape)):
        return _spine(t.body)
    return []


def infer(t: tm.Term, context: Context) -> tuple[Pads, list[Violation]]:
    """The pad type of a term and the truncations it does not justify."""
    run = Inference()
    return run.infer(t, context), run.violations


def show_pads(theorem: Theorem) -> str:
    """One line per value and result."""
    lines: list[str] = []

    def go(t: tm.Term, context: Context) -> None:
        if isinstance(t, tm.Let):
            lines.append(f"{t.name}: {infer(t.bound, context.down(t, 0))[0]}")
            go(t.bound, context.down(t, 0))
            go(t.body, context.down(t, 1))
            return
        for k, inner in enumerate(tm.kids(t)):
            go(inner, context.down(t, k))

    t, context = theorem.term, theorem.context
    go(t, context)
    while isinstance(t, (tm.Let, tm.Nest)):
        context, t = context.down(t, 1 if isinstance(t, tm.Let) else 0), t.body
    for k, item in enumerate(t.items if isinstance(t, tm.Many) else (t,)):
        lines.append(f"result{k if isinstance(t, tm.Many) else ''}: {infer(item, context)[0]}")
    return "\n".join(lines)
