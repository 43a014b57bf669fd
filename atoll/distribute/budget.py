"""Memory as numbers: what a call takes at given sizes, the largest size that fits, and calls in slabs that keep to a budget.

What is counted are the arrays a program allocates while it runs, everything that is alive at the same time, for all threads; arguments and results are told
apart from it, since they are the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from atoll.core import values as v
from atoll.core.binding import bind_call
from atoll.distribute import ranges
from atoll.distribute.arguments import bytes_of, leaves, stand_ins, words_of
from atoll.distribute.footprint import UNKNOWN, touched
from atoll.distribute.graph import Graph
from atoll.distribute.local import Local, Walk
from atoll.distribute.make import loops_of, make_graph, sizes_of
from atoll.distribute.trace import Settings
from atoll.errors import fail
from atoll.errors.plain import all_plain
from atoll.loops import ir as lp
from atoll.runtime.arguments import from_python, to_python
from atoll.runtime.library import threads
from atoll.types.types import Record, Tuple, flatten, shape_of

if TYPE_CHECKING:
    from atoll.function import Function

MOST_PARTS = 4096


@dataclass(frozen=True, slots=True)
class Needs:
    """Bytes of one call: `f.memory(n=1000)`."""

    function: str
    sizes: dict[str, int]
    arguments: int
    results: int
    temporaries: int  # the most at the same time
    threads: int
    decided: tuple[str, ...] = ()  # arrays as large as only running decides: no number holds for them

    @property
    def total(self) -> int:
        return self.arguments + self.results + self.temporaries

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} = {n}" for name, n in self.sizes.items())
        rows = [f"{self.function} with {sizes or 'no sizes'}, {self.threads} thread{'s' if self.threads != 1 else ''}:"]
        if self.decided:
            rows += [f"  {name:<12} {n:>16,} bytes  ({words_of(n)})" for name, n in (("arguments", self.arguments), ("results", self.results)) if n < UNKNOWN]
            return "\n".join([*rows, f"  not known before it runs: the size of {', '.join(self.decided)}"])
        for name, n in (("arguments", self.arguments), ("results", self.results), ("temporaries", self.temporaries)):
            rows.append(f"  {name:<12} {n:>16,} bytes  ({words_of(n)})")
        return "\n".join([*rows, f"  {'all':<12} {self.total:>16,} bytes  ({words_of(self.total)})"])


def needs(f: Function, given: dict[str, Any], where: str = "memory") -> Needs:
    """What a call takes at these sizes."""
    env = _sizes(f, given, where)
    return _needs(f, env)


def _sizes(f: Function, given: dict[str, Any], where: str) -> dict[Any, int]:
    loops = loops_of(f)
    names = {s.name: s for s in loops.sizes}
    for name, value in given.items():
        if name not in names:
            fail("E0610", name=where, text=f"{f.name} has no size {name}", help=f"its sizes are {', '.join(names) or 'none'}")
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            fail("E0610", name=where, text=f"{name} is a number of elements, not {value!r}", help=f"write {where}({name}=1000)")
    missing = [name for name in names if name not in given]
    if missing:
        shown = ", ".join(f"{name}=..." for name in missing)
        fail("E0610", name=where, text=f"the size{'s' if len(missing) > 1 else ''} {', '.join(missing)} {'are' if len(missing) > 1 else 'is'} not given", help=f"add {shown}")
    return {names[name]: int(value) for name, value in given.items()}


def integers_of(f: Function, values: tuple[Any, ...]) -> dict[lp.Var, int]:
    """The integers among the arguments of a call, by the variables that have them."""
    leaves = [x for value in values for x in v.leaves(value)]
    return {leaf: int(x) for leaf, x in zip(loops_of(f).inputs, leaves, strict=True) if isinstance(leaf, lp.Var) and leaf.dtype.is_integer}


def _needs(f: Function, env: dict[Any, int], integers: Mapping[lp.Var, int] = MappingProxyType({})) -> Needs:
    """What a call takes at these sizes, and with these integers as arguments."""
    loops, count = loops_of(f), threads()
    intervals: dict[Any, Any] = {x: (n, n) for x, n in (*env.items(), *integers.items())}

    def shape(b: lp.Buffer) -> tuple[int, ...]:
        return tuple(UNKNOWN if (n := ranges.number(p, intervals)) is None else max(0, n) for p in b.extents)

    made = {s.buffer for s in lp.walk(loops.body) if isinstance(s, lp.Alloc)}
    given = [x for x in loops.inputs if isinstance(x, lp.Buffer)]
    results = [o.buffer for o in loops.outputs if o.buffer not in made]
    shapes = {b: shape(b) for b in (*given, *results, *made)}
    found = touched(loops.body, shapes, intervals, count)
    unknown = [*(b for b in (*given, *results) if UNKNOWN in shapes[b] and 0 not in shapes[b]), *found.undecided]
    decided = tuple(dict.fromkeys(f"{b.label or b.name} (line {b.span.told().line})" if b.span.line else b.label or b.name for b in unknown))
    taken, returned = (sum(prod(shapes[b]) * b.dtype.size for b in each) for each in (given, results))
    return Needs(f.name, {s.name: env[s] for s in loops.sizes}, taken, returned, found.bytes, count, decided)


def refuse_undecided(name: str, limit: int, decided: tuple[str, ...]) -> NoReturn:
    """No number of bytes holds for arrays whose size only running decides."""
    help_ = "let the loop go round a number of times that is known before: for i in range(n), without `while` and `break`"
    fail("E1206", name=name, memory=words_of(limit), reason=f"the size of {', '.join(decided)} is decided only when it runs", help=help_)


def fits(f: Function, memory: Any, given: dict[str, Any]) -> int:
    """The largest size with which a call takes no more than that, arguments and results included."""
    limit = bytes_of(memory, "fits")
    names = [s.name for s in loops_of(f).sizes]
    free = [name for name in names if name not in given]
    if len(free) != 1:
        help_ = "give the others: " + ", ".join(f"{name}=..." for name in free[1:]) if free else f"leave one out of {', '.join(names)}"
        fail("E0610", name="fits", text=f"{f.name} is solved for one size, not {len(free)}", help=help_)
    (name,) = free

    def takes(n: int) -> int:
        return _needs(f, _sizes(f, {**given, name: n}, "fits")).total

    if undecided := _needs(f, _sizes(f, {**given, name: 1}, "fits")).decided:
        refuse_undecided(f.name, limit, undecided)
    if takes(0) > limit:
        fail("E1206", name=f.name, memory=words_of(limit), reason=f"even with {name} = 0 it takes {words_of(takes(0))}")
    high = 1
    while takes(high) <= limit and high < 1 << 46:
        high *= 2
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if takes(middle) <= limit else (low, middle)
    return low


def graph_within(f: Function, values: tuple[Any, ...], limit: int, fetches: bool, threads: int, spills: int = UNKNOWN) -> tuple[Graph, int]:
    """The graph of fewest parts that keeps to a budget, and what it takes."""
    parts, before = 1, UNKNOWN
    while parts <= MOST_PARTS:
        graph = make_graph(f, values, Settings(parts, gathers=UNKNOWN, in_order=True, task=max(4096, limit // 4)))
        walk = Walk(graph, fetches, threads)
        if spills != UNKNOWN:
            walk = Spilling(graph, fetches, threads, spills)
        peak = walk.simulate()
        if peak <= limit:
            return graph, peak
        if parts > 32 and peak > 0.9 * before:  # more parts do not help
            break
        parts, before = max(2 * parts, min(MOST_PARTS, -(-peak // limit))), peak
    largest = max(graph.tasks, key=walk.at_work)
    most = walk.at_work(largest)
    what = next(s for s in graph.steps if s.number == largest.step).what
    fail("E1206", name=f.name, memory=words_of(limit), reason=f"{what} takes {words_of(most)} at once" if most > limit else f"{words_of(peak)} are held at the same time")


class Spilling(Walk):
    """What is held beyond some bytes lies on disk."""

    def __init__(self, graph: Graph, fetches: bool, threads: int, most: int) -> None:
        super().__init__(graph, fetches, threads)
        self.most = most

    def hold(self, task: Any, given: list[Any]) -> None:
        super().hold(task, [g if g.nbytes <= self.most else _Nothing() for g in given])

    def copied(self, r: Any) -> int:
        total: int = super().copied(r)
        return total + int(sum(prod(p.shape) * int(r.dtype.itemsize) for p in r.parts if p.source.kind == "task"))


@dataclass(frozen=True, slots=True)
class _Nothing:
    nbytes: int = 0


@all_plain
class Within:
    """`f.within(memory="2GB")`: f in slabs, which allocate no more than that beside arguments and results. The same bits as f."""

    def __init__(self, f: Function, memory: Any) -> None:
        self.function, self.limit = f, bytes_of(memory, "within")
        self._graphs: dict[Any, tuple[Graph | None, int]] = {}
        self.__name__ = self.__qualname__ = f.name

    def _plan(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Function, tuple[Any, ...], Graph | None, int]:
        f = self.function
        f._freeze()
        given = f._arguments(args, keywords)
        other = f._lifted(given)
        f = f if other is None else other
        values = from_python(f.core, given)
        numbers = tuple((np.shape(x), x if np.ndim(x) == 0 else None) for x in leaves(f, stand_ins(f, given)))
        key = (f.core, numbers, threads())
        if key not in self._graphs:
            plain = _needs(f, sizes_of(f, values)).temporaries
            self._graphs[key] = (None, plain) if plain <= self.limit else graph_within(f, values, self.limit, False, threads())
            while len(self._graphs) > 16:
                self._graphs.pop(next(iter(self._graphs)))
        return f, values, *self._graphs[key]

    def peak(self, *args: Any, **keywords: Any) -> int:
        """Bytes that the call allocates beside arguments and results, at most. Nothing runs."""
        return self._plan(args, keywords)[3]

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        f, values, graph, _ = self._plan(args, keywords)
        if graph is None:
            return f(*args, **keywords)
        bind_call(f.core, values)
        flat = [x for value in values for x in v.leaves(value)]
        found = Local(graph, lambda k, box: flat[k][box], threads()).results()
        out = [x[()] if not shape_of(t)[0] else x for (_, t), x in zip(flatten(f.core.result), found, strict=True)]
        return to_python(f.core.result, _nested(f.core.result, out))

    def __repr__(self) -> str:
        return f"<{self.function.name} within {words_of(self.limit)}>"


def _nested(t: Any, found: list[Any]) -> Any:
    """Leaves as a nest of tuples, as to_python takes them."""
    left = iter(found)

    def go(t: Any) -> Any:
        elem = shape_of(t)[1]
        return tuple(go(item) for item in elem.items) if isinstance(elem, (Tuple, Record)) else next(left)

    return go(t)
