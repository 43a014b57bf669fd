"""From a function and what it is called with to a graph: sizes from shapes, preconditions, leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.core import values as v
from atoll.core.binding import bind_shapes
from atoll.core.needs import needs_functions
from atoll.distribute.graph import Given, Graph
from atoll.distribute.trace import Settings, Tracer
from atoll.errors import fail
from atoll.loops import ir as lp
from atoll.lower.make import compiled_loops
from atoll.sizes.describe import requirement
from atoll.types.types import dtype_of, flatten, shape_of

if TYPE_CHECKING:
    from atoll.function import Function

_loops: dict[Any, lp.Function] = {}
_graphs: dict[Any, Graph] = {}  # those made last: a call at the same shapes has the same graph
MOST_TASKS = 20_000  # of all graphs that are kept


def loops_of(f: Function) -> lp.Function:
    """The loops that are compiled. A trace only reads them, so they are made once."""
    core = f.core
    if needs_functions(core):
        fail("E0801", name=f.name)
    if core not in _loops:
        _loops[core] = compiled_loops(core)
        while len(_loops) > 64:
            _loops.pop(next(iter(_loops)))
    return _loops[core]


def sizes_of(f: Function, args: tuple[Any, ...]) -> dict[Any, int]:
    """Sizes from shapes, with the preconditions of a call. Elements are not looked at."""
    core = f.core
    env = bind_shapes(core, args)
    for need in core.requires:
        if need.poly.evaluate(lambda atom: env[atom]) < 0:
            fail("E0709", name=f.name, what=need.text, line=need.span.line, need=requirement(need.poly, lambda atom: env[atom]))
    return {sym: env[sym] for sym in core.sizes}


def leaves_of(f: Function) -> list[tuple[str, Any, tuple[Any, ...]]]:
    """(name, dtype, sizes) of every leaf of the parameters; sizes () for numbers."""
    found = []
    for (_, t), p in zip(f.core.params, f.signature.params, strict=True):
        for path, leaf in flatten(t):
            sizes, elem = shape_of(leaf)
            name = p.name + "".join(f"[{x}]" if isinstance(x, int) else f".{x}" for x in (path if isinstance(path, tuple) else ()))
            found.append((name, dtype_of(elem).numpy, sizes))
    return found


def make_graph(f: Function, args: tuple[Any, ...], settings: Settings, late: frozenset[int] = frozenset()) -> Graph:
    """The graph of a call. Arrays may be stand-ins: only shapes count. `late` are leaves that are one number each, which is known when tasks run. The graph is kept: a call at
    the same shapes, with the same numbers, has the same."""
    loops = loops_of(f)
    key = (f.core, tuple(_seen(x) for value in args for x in v.leaves(value)), settings, late)
    found = _graphs.pop(key, None)
    if found is None:
        found = _traced(f, loops, args, settings, late)
    _graphs[key] = found
    while len(_graphs) > 1 and sum(len(g.tasks) for g in _graphs.values()) > MOST_TASKS:
        _graphs.pop(next(iter(_graphs)))
    return found


def _seen(x: Any) -> Any:
    """What a graph is made of, of an argument: shape and type of an array, all of a number."""
    array = np.asarray(x)
    return (array.shape, array.dtype.str) if array.ndim else (array.dtype.str, array.tobytes())


def _traced(f: Function, loops: lp.Function, args: tuple[Any, ...], settings: Settings, late: frozenset[int]) -> Graph:
    sizes = sizes_of(f, args)
    leaves = [x for value in args for x in v.leaves(value)]
    given, scalars = [], {}
    for k, ((name, dtype, axes), x) in enumerate(zip(leaves_of(f), leaves, strict=True)):
        given.append(Given(name, tuple(np.shape(x)), dtype, not axes))
        if not axes and k not in late:
            scalars[k] = x
    names = [sym.name for sym in loops.sizes]
    if settings.over is not None and settings.over not in names:
        fail("E1207", name=f.name, over=settings.over, reason="it has no such size", sizes=", ".join(names))
    for name, _ in settings.grid:
        if name not in names and settings.over is None:
            fail("E1207", name=f.name, over=name, reason="it has no such size", sizes=", ".join(names))
    tracer = Tracer(loops, tuple(given), scalars, settings, f._returned, dict(sizes))
    graph = tracer.graph()
    if settings.over is not None and settings.parts > 1 and not any(step.kind != "one" and step.kind != "sums" for step in graph.steps):
        fail("E1207", name=f.name, over=settings.over, reason="none of its loops is cut there", sizes=", ".join(x for x in names if x != settings.over))
    return graph
