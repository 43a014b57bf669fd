"""What leaving maps out is worth and what it costs: examples/ranks, as in the AUTOMAP thesis' section 4.9.

    .venv/bin/python -m bench.automap

For each program: maps in either version and reps added; then, reading the definition as a whole, its applications, how many of them
are in local functions that are settled on their own, the constraints of the others, and the rows of the integer programs that remain
(0: none). Times are of checking either version, and of checking the second with every definition read as a whole, which Atoll does
only where it must; `ranks` is the share of checking the second that deciding ranks really takes.
The thesis reports 54% of maps removed, a median of 18 constraints and a mean slowdown of 2.50.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Any

ROUNDS = 5


@dataclass(frozen=True)
class Written:
    """How often a text says map (calls and comprehensions) and rep."""

    maps: int
    reps: int


@dataclass(frozen=True)
class Whole:
    """A definition read as a whole."""

    applications: int
    settled: int
    constraints: int
    rows: int


@dataclass(frozen=True)
class Row:
    name: str
    explicit: Written
    implicit: Written
    whole: Whole
    with_maps: float
    without_maps: float
    always: float  # checking without maps when every definition is read as a whole
    share: float  # of checking without maps that goes into ranks


def written(module: Any, which: str) -> Written:
    """Count in the part of a module's text that a comment opens."""
    text = inspect.getsource(module)
    start = text.index(f"# {which}\n")
    end = text.find("\n# ", start + 1) if which == "with maps" else text.index("\ndef arguments")
    tree = ast.parse(text[start:end])
    calls = [n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    clauses = sum(len(n.generators) for n in ast.walk(tree) if isinstance(n, (ast.ListComp, ast.GeneratorExp)))
    return Written(calls.count("map") + clauses, calls.count("rep"))


def check(fn: Any) -> None:
    """Elaborate a function and everything it calls, from its parsed text."""
    from atoll.elaborate.session import Session

    Session().instance(fn, {}, None, fn.surface.span)


def functions(module: Any) -> list[Any]:
    """The functions of the version without maps."""
    text = inspect.getsource(module)
    tree = ast.parse(text[text.index("# without maps\n") : text.index("\ndef arguments")])
    return [getattr(module, node.name) for node in tree.body if isinstance(node, ast.FunctionDef)]


def read(fns: list[Any]) -> Whole:
    """Each function's ranks, by the constraints of its whole definition."""
    from atoll.elaborate.ranks.analysis import read_definition
    from atoll.elaborate.session import Session

    found = [read_definition(Session(), fn) for fn in fns]
    settled = sum(len(d.gen.settled) for d in found)
    left = sum(len(d.outcome.system.applications) for d in found)
    return Whole(settled + left, settled, sum(d.outcome.system.rows for d in found), sum(d.outcome.rows for d in found))


def timed(f: Any, *args: Any) -> float:
    """The median of a few runs, in seconds."""
    f(*args)
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        f(*args)
        rounds.append(time.perf_counter() - start)
    return statistics.median(rounds)


def share_of_ranks(fn: Any) -> float:
    """How much of checking is spent deciding ranks."""
    from atoll.elaborate import flexible

    names = ("_decide", "read_alone", "_fits")
    before = {name: getattr(flexible, name) for name in names}
    spent = [0.0]

    def clocked(f: Any) -> Any:
        def run(*args: Any, **keywords: Any) -> Any:
            start = time.perf_counter()
            try:
                return f(*args, **keywords)
            finally:
                spent[0] += time.perf_counter() - start

        return run

    shares = []
    try:
        for name in names:
            setattr(flexible, name, clocked(before[name]))
        for _ in range(ROUNDS):
            spent[0], start = 0.0, time.perf_counter()
            check(fn)
            shares.append(spent[0] / (time.perf_counter() - start))
    finally:
        for name in names:
            setattr(flexible, name, before[name])
    return statistics.median(shares)


def measure(name: str) -> Row:
    module = importlib.import_module(f"examples.ranks.{name}")
    fns = functions(module)
    plain = timed(check, module.without_maps)
    always = plain + timed(read, fns)
    counts = written(module, "with maps"), written(module, "without maps")
    return Row(name, *counts, read(fns), timed(check, module.with_maps), plain, always, share_of_ranks(module.without_maps))


def main(names: list[str]) -> None:
    import examples.ranks

    names = names or sorted(m.name for m in pkgutil.iter_modules(examples.ranks.__path__))
    rows = [measure(name) for name in names]
    print(f"{'':18} {'maps':>5} {'left':>5} {'reps':>5} {'applications':>13} {'settled':>8} {'constraints':>12} {'ILP rows':>9} {'ms with':>8} {'without':>8} {'always':>7} {'ranks':>6}")
    for r in rows:
        w = r.whole
        print(
            f"{r.name:18} {r.explicit.maps:5} {r.implicit.maps:5} {r.implicit.reps:5} {w.applications:13} {w.settled:8} {w.constraints:12}"
            f" {w.rows:9} {1000 * r.with_maps:8.2f} {1000 * r.without_maps:8.2f} {1000 * r.always:7.2f} {r.share:6.0%}"
        )
    maps, left = sum(r.explicit.maps for r in rows), sum(r.implicit.maps for r in rows)
    print(f"\n{len(rows)} programs; {maps} maps written, {left} left: {1 - left / maps:.0%} removed, {sum(r.implicit.reps for r in rows)} reps added")
    constraints = [r.whole.constraints for r in rows]
    solved = [r.whole.rows for r in rows if r.whole.rows]
    print(f"constraints: median {statistics.median(constraints):.0f}, largest {max(constraints)}; integer programs: {len(solved)} of {len(rows)}, rows {solved}")
    ratios = [r.without_maps / r.with_maps for r in rows]
    slower = [r.always / r.without_maps for r in rows]
    print(f"checking without maps / with maps: mean {statistics.mean(ratios):.2f}, median {statistics.median(ratios):.2f}")
    shares = [r.share for r in rows]
    print(f"share of checking spent on ranks: mean {statistics.mean(shares):.0%}, median {statistics.median(shares):.0%}")
    print(f"slowdown if every definition were read as a whole: mean {statistics.mean(slower):.2f}, median {statistics.median(slower):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
