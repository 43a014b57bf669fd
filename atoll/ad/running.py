"""The adjoint of an array that rounds update in place, followed back through the updates of a round.

An element that was put takes the adjoint of its place, which is then cleared: what the place held before the put had no part in the result. Often the place gets something at once, as in `u[i] = c * u[i] + ...`.
So a place waits to be cleared until something flows to it, which is put there instead of added to a zero, or until the array is looked at, or something flows where the same place may be.
"""

from __future__ import annotations

from atoll.ad.indicator import zero
from atoll.ad.kronecker import guarded_value
from atoll.ad.loop_outside import Sum
from atoll.ad.loop_state import Version, added_at
from atoll.ainf import ir
from atoll.ainf.builder import Builder
from atoll.sizes import Poly


class Running(Sum):
    """The newest version of such an adjoint; whoever asks for it gets one in which nothing waits."""

    def __init__(self, b: Builder, key: tuple[ir.Line, int], bar: ir.Line) -> None:
        axes = bar.results[0].axes
        self._b = b
        self._waits: tuple[tuple[Poly, ...], tuple[ir.Cond, ...]] | None = None
        self._context = (b.block, list(b.path), list(b.binders))
        super().__init__(key, {}, list(range(len(axes))), axes, current=Version(bar))

    @property
    def current(self) -> Version:
        if self._waits is not None:
            where, when = self._waits
            self._waits = None
            b = self._b
            here = (b.block, b.path, b.binders)
            b.block, b.path, b.binders = self._context
            try:
                self._put((), where, zero(self._newest.info.dtype), when)
            finally:
                b.block, b.path, b.binders = here
        return self._newest

    @current.setter
    def current(self, version: Version) -> None:
        assert self._waits is None
        self._newest = version

    def clear(self, binders: tuple[ir.Binder, ...], where: tuple[Poly, ...], when: tuple[ir.Cond, ...]) -> None:
        """The places hold nothing from here on."""
        if binders:
            self._put(binders, where, zero(self.current.info.dtype), when)
        else:
            assert self._waits is None
            self._context = (self._b.block, list(self._b.path), list(self._b.binders))
            self._waits = where, when

    def add(self, index: tuple[Poly, ...], value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder]) -> None:
        """current[index] += value for all binders, in place."""
        if self._waits is not None and not binders and index == self._waits[0]:
            given, plain = conds, value
            while (found := guarded_value(plain)) is not None:
                given, plain = (*given, *(c for c in found[0] if c not in given)), found[1]
            if set(given) == set(self._waits[1]):
                self._waits = None
                self._put((), index, plain, given)
                return
        newest = self._newest if self._is_elsewhere(index) else self.current
        self._newest = added_at(self._b, newest.whole(self._b), newest.info, index, value, conds, binders)

    def _is_elsewhere(self, index: tuple[Poly, ...]) -> bool:
        """Whether no place of these is the one that waits."""
        return self._waits is None or any((p - q).const() not in (None, 0) for p, q in zip(index, self._waits[0], strict=True))

    def _put(self, binders: tuple[ir.Binder, ...], where: tuple[Poly, ...], value: ir.Operand, when: tuple[ir.Cond, ...]) -> None:
        b = self._b
        info = ir.Result(self._newest.info.dtype, self._newest.info.axes)
        made, _ = b.emit(ir.Scatter(self._newest.whole(b), binders, where, value, None, False, when), (info,), hint="g")
        self._newest = Version(made)
