"""What a function can do beyond one machine, and within less memory than it would take: methods of at.Function."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any

from atoll.distribute.arguments import bytes_of, is_xarray, leaves, library, refuse_late_integers, stand_ins
from atoll.distribute.on_dask import cut_of, lazy
from atoll.errors import fail
from atoll.errors.plain import all_plain
from atoll.runtime.arguments import from_python
from atoll.types.types import Record, Tuple, Type, flatten, shape_of

if TYPE_CHECKING:
    from atoll.distribute.budget import Within
    from atoll.distribute.graph import Graph
    from atoll.distribute.show import Plan
    from atoll.function import Function

LEAST = 1 << 20  # bytes that are worth a task
_WORDS = ("over", "parts", "memory")


@all_plain
class Beyond:
    """Mixed into at.Function."""

    def distribute(self: Any, *args: Any, over: str | None = None, parts: int | dict[str, int] | None = None, memory: Any = None, **keywords: Any) -> Any:
        """Dask arrays in, lazy Dask arrays out: the same bits as f(x) for every chunking and number of workers. NumPy arrays go to every worker.

        `over` names the size that is to be cut, `parts` into how many, or {"n": 4, "m": 3} for several sizes at once; `memory` is what one task may have at hand. What cannot be distributed is refused here."""
        da = library("dask.array", "dask", "distribute")
        if any(is_xarray(x) for x in (*args, *keywords.values())):
            from atoll.distribute.on_xarray import distribute

            return distribute(self, args, keywords, over, parts, memory)
        fn, given, graph = prepared(self, args, keywords, over, parts, memory, "distribute")
        return structure(fn.core.result, iter(lazy(graph, leaves(fn, given), da)))

    def plan_distribution(self: Any, *args: Any, over: str | None = None, parts: int | dict[str, int] | None = None, memory: Any = None, **keywords: Any) -> Plan:
        """What distribute would do, before anything runs: print it. Arrays may be Dask arrays, or anything with a shape and a dtype."""
        from atoll.distribute.show import Plan

        args = tuple(x.data if is_xarray(x) else x for x in args)
        _, _, graph = prepared(self, args, keywords, over, parts, memory, "plan_distribution")
        return Plan(graph, len(graph.tasks))

    def fits(self: Any, memory: Any, **sizes: int) -> int:
        """The largest size with which a call takes no more than `memory` ("8GB", or bytes): arguments, results and everything it allocates.

        A function of several sizes is solved for the one that is not given: f.fits("8GB", m=1000)."""
        from atoll.distribute.budget import fits

        return fits(self, memory, sizes)

    def within(self: Any, *, memory: Any) -> Within:
        """The function in slabs, so that beside arguments and results no more than `memory` ("2GB", or bytes) is allocated. The same bits.

        A call that cannot keep to it is refused before it begins."""
        from atoll.distribute.budget import Within

        return Within(self, memory)

    def _grad_within(self: Any, wrt: Any, has_aux: bool, memory: Any) -> Any:
        """at.grad(f, memory=...)."""
        from atoll.distribute.gradients import Budgeted

        return Budgeted(self, wrt, has_aux, memory)

    def stream(self: Any, *inputs: Any, out: str | os.PathLike[str], memory: Any = "2GB", progress: Any = False) -> Any:
        """Through zarr stores larger than memory: arrays or paths in, a store at `out` (written anew; `out`/0, /1, ... for several results).

        Slabs are so large that no more than `memory` is taken. After a kill the same call goes on where it ended. progress=True shows a bar; a
        function is told how many blocks of how many are written."""
        from atoll.distribute.on_zarr import stream

        return stream(self, inputs, out, memory, progress)


def prepared(f: Function, args: tuple[Any, ...], keywords: dict[str, Any], over: str | None, parts: int | dict[str, int] | None, memory: Any, where: str) -> tuple[Function, tuple[Any, ...], Graph]:
    """The function that is meant (a lifted one for arrays of more axes), its arguments in order, and its graph."""
    from atoll.distribute.make import leaves_of, make_graph
    from atoll.distribute.trace import Settings

    f._freeze()
    given = f._arguments(args, keywords)
    shapes = stand_ins(f, given)
    other = f._lifted(shapes)
    f = f if other is None else other
    values = from_python(f.core, shapes)
    flat = leaves(f, given)
    grid = _grid(f, flat, over, parts, where)
    wanted = parts if isinstance(parts, int) else prod(count for _, count in grid) if parts else cut_of(flat)
    limit = None if memory is None else bytes_of(memory, where)
    settings = Settings(wanted, memory=limit, gathers=(1 << 26) if limit is None else limit, least=4096 if parts is not None else LEAST, over=over, grid=grid)
    late = refuse_late_integers(f, flat, [name for name, _, _ in leaves_of(f)])
    return f, given, make_graph(f, values, settings, late)


def _grid(f: Function, flat: list[Any], over: str | None, parts: int | dict[str, int] | None, where: str) -> tuple[tuple[str, int], ...]:
    """Which sizes are cut into how many parts: as it is said, or as the chunks of the arguments are."""
    if isinstance(parts, dict):
        for name, count in parts.items():
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                fail("E0610", name=where, text=f"{name} is cut into a number of parts, not {count!r}", help=f'write {where}(..., parts={{"{name}": 4}})')
        return tuple(parts.items())
    if parts is not None and (isinstance(parts, bool) or not isinstance(parts, int) or parts < 1):
        fail("E0610", name=where, text=f"parts is a number of parts, or one for each size, not {parts!r}", help=f'write {where}(..., parts=4), or parts={{"n": 4, "m": 2}}')
    if over is not None:
        return ((over, parts if parts is not None else cut_of(flat)),)
    found: dict[str, int] = {}
    types = [t for _, p in f.core.params for _, t in flatten(p)]
    for x, t in zip(flat, types, strict=True):
        for size, count in zip(shape_of(t)[0], getattr(x, "numblocks", ()), strict=False):
            for leaf in size.leaves():
                name = str(getattr(leaf, "name", leaf))
                found[name] = max(found.get(name, 1), int(count))
    return tuple(found.items()) if parts is None and sum(count > 1 for count in found.values()) > 1 else ()


def structure(t: Type, found: Iterator[Any]) -> Any:
    """Leaves as a value of a type."""
    elem = shape_of(t)[1]
    if isinstance(elem, Tuple):
        return tuple(structure(item, found) for item in elem.items)
    if isinstance(elem, Record):
        parts = [structure(item, found) for item in elem.items]
        return tuple(parts) if elem.decl.cls is None else elem.decl.cls(**dict(zip(elem.decl.fields, parts, strict=True)))
    return next(found)
