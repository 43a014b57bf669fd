"""Formulas of what a function costs (atoll/cost.py) beside counts of it at concrete sizes (loops/count.py).

    python -m tests.cost.formulas [NAME ...]   every program of the tables of tests/cost, its gradient too
    python -m tests.cost.formulas bench        the kernels of bench/ on random data of several sizes, 0 and 1 among them
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

import atoll as at
from atoll.command_data import random_arguments
from atoll.core import values as v
from atoll.core.binding import bind_call
from atoll.errors.misuse import Misuse
from atoll.loops import ir as lp
from atoll.loops.cost import Tally, formulas
from atoll.loops.count import counted
from atoll.lower.make import compiled_loops
from atoll.runtime.arguments import from_python


@dataclass(frozen=True)
class Difference:
    what: str
    formula: int
    count: int


def differences(f: at.Function, points: list[tuple[Any, ...]]) -> list[Difference]:
    """Where formulas and counts differ. Unknowns take the numbers that were counted."""
    loops = apart(compiled_loops(f.core))
    found = formulas(loops, [need.poly for need in f.core.requires])
    wrong: list[Difference] = []
    for args in points:
        values = from_python(f.core, args)
        leaves = [leaf for x in values for leaf in v.leaves(x)]
        sizes = dict(bind_call(f.core, values))
        counts = counted(loops, leaves, sizes)
        named = {s.name: k for s, k in sizes.items()} | {p.name: int(x) for p, x in zip(loops.inputs, leaves, strict=True) if isinstance(p, lp.Var) and p.dtype.kind in "iu"}
        env = {s: named[s.name] for s in found.names} | {u.sym: counts.times[u.kind, id(u.of)] for u in found.unknowns}
        for item in fields(Tally):
            r = getattr(found.whole, item.name)
            formula, count = Fraction(r.num.evaluate(env), r.den), getattr(counts, item.name)
            if formula != count:
                wrong.append(Difference(f"{f.name} at {[k for s, k in sizes.items()]}: {item.name} {r}", int(formula), count))
    return wrong


def apart(fn: lp.Function) -> lp.Function:
    """The same loops with no expression or test in two places, so that each is counted for itself."""
    return replace(fn, body=_stmts(fn.body))


def _stmts(stmts: list[lp.Stmt]) -> list[lp.Stmt]:
    return [replace(s, **{f.name: _part(getattr(s, f.name)) for f in fields(s)}) for s in stmts]


def _part(x: Any) -> Any:
    if isinstance(x, list) and x and isinstance(x[0], lp.Stmt.__args__):  # type: ignore[attr-defined]
        return _stmts(x)
    if isinstance(x, tuple):
        return tuple(_part(item) for item in x)
    if isinstance(x, (lp.Call, lp.Cast, lp.Choose, lp.Truth, lp.Test, lp.Load)):
        return replace(x, **{f.name: _part(getattr(x, f.name)) for f in fields(x)})
    return x


def at_sizes(f: at.Function, sizes: tuple[int, ...]) -> tuple[int, list[Difference]]:
    """The same on random arguments with every size the same; how many of the sizes the function takes."""
    points = []
    for k in sizes:
        try:
            args = tuple(random_arguments(f, {s.name: k for s in f.core.sizes}))
            with np.errstate(all="ignore"):
                f.interpret(*args)
            points.append(args)
        except (at.Error, Misuse, OverflowError):
            continue  # no such arguments
    return len(points), differences(f, points)


def bench(names: list[str]) -> None:
    from bench.kernels import all_kernels

    for kernel in all_kernels():
        if isinstance(kernel.atoll, at.Function) and (not names or kernel.name in names):
            try:
                taken, wrong = at_sizes(kernel.atoll, (0, 1, 2, 5))
                print(f"{kernel.name:28s} {taken} sizes {'same' if not wrong else wrong[:2]}", flush=True)
            except Exception as error:  # noqa: BLE001  a table goes on
                print(f"{kernel.name:28s} {type(error).__name__} {str(error)[:300]}", flush=True)


def main(names: list[str]) -> None:
    if names[:1] == ["bench"]:
        return bench(names[1:])
    from tests.cost.programs import PROGRAMS

    for program in PROGRAMS:
        if names and program.name not in names:
            continue
        for kind, f in (("", program.function), ("gradient of ", program.gradient)):
            try:
                wrong = differences(f, program.points()[:2])
                print(f"{kind}{program.name:28s} {'same' if not wrong else wrong[:2]}", flush=True)
            except Exception as error:  # noqa: BLE001  a table goes on
                print(f"{kind}{program.name:28s} {type(error).__name__} {str(error)[:300]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
