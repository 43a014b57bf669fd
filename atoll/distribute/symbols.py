"""Halos as formulas of the sizes: how far beyond its own indices a loop reads, from the indices themselves.

    a[i + r] with r in 0..k + 1      i + k is the last that is read: a halo of k after
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.sizes import Poly, Sym, poly

Value = Callable[[Poly], int | None]


def halo_formulas(body: lp.Stmts, b: lp.Buffer, axis: int, stride: int, before: int, after: int, value: Value) -> tuple[str, str]:
    """The two halos in symbols where they depend on sizes, else as numbers. `value` evaluates: a formula stands only where it gives the number that was found."""
    rounds = {s.sym: (s.low, s.high - 1) for s in lp.walk(body) if isinstance(s, (lp.For, lp.Accumulate))}
    found = [(-low, high + 1 - stride) for load in loads(body) if load.buffer is b for low, high in _reach(load.index[axis], stride, rounds)]
    return _shown([x for x, _ in found], before, value), _shown([x for _, x in found], after, value)


def _shown(formulas: list[Poly], number: int, value: Value) -> str:
    symbolic = sorted({lp.in_words(p) for p in formulas if p.const() is None and value(p) == number}, key=lambda text: (len(text), text))
    return f"{symbolic[0]} ({number})" if symbolic else str(number)


def _reach(p: Poly, stride: int, rounds: dict[Sym, tuple[Poly, Poly]]) -> Iterator[tuple[Poly, Poly]]:
    """Least and greatest distance from an index of which the read is a multiple, for each index that may be the one that is cut."""
    for own in p.leaves():
        if isinstance(own, Sym) and own in rounds and p.slope(own) == poly(stride):
            low = high = p - poly(own) * stride
            for sym, (first, last) in rounds.items():
                slope = low.slope(sym)
                factor = 0 if slope is None else slope.const() or 0
                if factor and sym is not own:
                    low = low.subst({sym: first if factor > 0 else last})
                    high = high.subst({sym: last if factor > 0 else first})
            if not any(isinstance(leaf, lp.VarAtom) or leaf in rounds for leaf in (*low.leaves(), *high.leaves())):
                yield low, high
