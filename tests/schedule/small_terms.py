"""Schedules of terms written by hand: what lowering and the obligations say of forms no function gives directly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import atoll as at
from atoll import f32
from atoll.loops import ir as lp
from atoll.loops.execute import Executor
from atoll.schedule import term as tm
from atoll.schedule.api import Schedule
from atoll.schedule.denote import evaluate
from atoll.schedule.kernel import start
from atoll.schedule.work import Work
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import F32

n, m = at.sizes("n m")


@at.fn
def arguments(v: f32[n], a: f32[n, m]) -> f32[n]:
    return [v[i] + sum(a[i, j] for j in range(m)) for i in range(n)]


class Small:
    """A term over v[n] and a[n, m], with `get`, `gen` and the like to build it, lowered and run."""

    def __init__(self, build: Callable[[Small], tm.Term]) -> None:
        whole = at.schedule(arguments)
        self.arrays = {x.name: x for x in whole.source.inputs}
        self.sizes = {sym.name: poly(sym) for sym in whole.source.program.sizes}
        term = build(self)
        source = replace(whole.source, term=term)
        theorem = start("small", term, source.facts, source.inputs)
        self.schedule = Schedule(whole.function, source, Work(theorem), (), None)

    @property
    def n(self) -> Poly:
        return self.sizes["n"]

    @property
    def m(self) -> Poly:
        return self.sizes["m"]

    def v(self, *index: Any) -> tm.Term:
        return tm.Get(self.arrays["v"], tuple(poly(p) for p in index))

    def a(self, *index: Any) -> tm.Term:
        return tm.Get(self.arrays["a"], tuple(poly(p) for p in index))

    def gen(self, name: str, size: Any, body: Callable[[Poly], tm.Term], low: Any = 0) -> tm.Term:
        sym = Sym(name)
        return tm.Gen(sym, poly(low), poly(size), body(poly(sym)))

    def sum(self, name: str, size: Any, body: Callable[[Poly], tm.Term]) -> tm.Term:
        sym = Sym(name)
        return tm.Sum(sym, poly(0), poly(size), body(poly(sym)))

    def value(self, v: Any = None, a: Any = None) -> Any:
        """By the meaning of terms."""
        arrays, sizes = self._given(v, a)
        return evaluate(self.schedule.program, arrays, sizes)

    def run(self, v: Any = None, a: Any = None) -> tuple[Any, int]:
        """(result, number of stores that are not fillings) of the checked loops."""
        arrays, sizes = self._given(v, a)
        run = _Counting(self.schedule.lowered.function, [arrays[self.arrays["v"]], arrays[self.arrays["a"]]], sizes)
        return run.run()[0], run.stores

    def _given(self, v: Any, a: Any) -> tuple[dict[Any, Any], dict[Any, int]]:
        if a is None:
            a = np.zeros((0 if v is None else len(v), 3), np.float32)
        v = np.zeros(len(a), np.float32) if v is None else v
        sizes = {s: dict(n=len(v), m=a.shape[1])[s.name] for s in self.schedule.source.program.sizes}
        return {self.arrays["v"]: v, self.arrays["a"]: a}, sizes


class _Counting(Executor):
    stores = 0

    def stmt(self, stmt: lp.Stmt) -> None:
        if isinstance(stmt, (lp.Store, lp.Update)) and not isinstance(stmt.value, lp.Const):
            self.stores += 1
        super().stmt(stmt)


def ramp(*shape: int) -> Any:
    """1, 2, 3, ...: floats whose sums are exact."""
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def view(op: str, t: tm.Term, amount: Any = None, axis: int = 0) -> tm.Term:
    return tm.Reshape(op, axis, None if amount is None else poly(amount), t)


def where(t: tm.Term, *conds: Any) -> tm.Term:
    return tm.guard(tuple(poly(c) for c in conds), t)


def one(value: float = 1.0) -> tm.Term:
    return tm.Lit(value, F32)
