"""Elements of an argument that are read again behind a write elsewhere are read once, into a variable.

The memories of one call do not overlap, but C compilers do not know it (MISRA C forbids `restrict`): behind `n[0][0] = ..` they read every `m[i][j]` again. By hand one writes
`const float a = m[0][0]` first, and so does this: for elements at places that are numbers, of arrays the function only reads, in a run of statements without loops and calls.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.transform.walk import replaced

_MOST = 24  # variables at a time: more than any processor has registers for


def loaded(body: list[Any], params: Container[lp.Buffer], written: Container[lp.Buffer]) -> list[Any]:
    """The body with such elements in variables."""
    found: list[Any] = []
    run: list[Any] = []
    for stmt in [*body, None]:
        if isinstance(stmt, (lp.Store, lp.Let)):
            run.append(stmt)
            continue
        found += _in_variables(run, params, written)
        run = []
        if stmt is not None:
            found.append(stmt)
    return found


def _in_variables(run: list[Any], params: Container[lp.Buffer], written: Container[lp.Buffer]) -> list[Any]:
    first: dict[lp.Load, int] = {}
    again: dict[lp.Load, None] = {}
    stored: list[tuple[int, lp.Buffer]] = []
    for number, stmt in enumerate(run):
        for load in dict.fromkeys(_elements(stmt, params, written)):
            if any(first.get(load, number) <= k and b.dtype is load.dtype for k, b in stored):
                again[load] = None
            first.setdefault(load, number)
        if isinstance(stmt, lp.Store) and stmt.buffer in params:
            stored.append((number, stmt.buffer))
    if not again or len(again) > _MOST:
        return run
    names = {load: lp.Var("_".join([load.buffer.name, *(str(p.const()) for p in load.index)]), load.dtype) for load in again}
    lets: list[Any] = [lp.Let(var, load) for load, var in names.items()]
    return [*lets, *(replaced(stmt, lambda x: lp.Use(names[x]) if isinstance(x, lp.Load) and x in names else x) for stmt in run)]


def _elements(stmt: Any, params: Container[lp.Buffer], written: Container[lp.Buffer]) -> Iterator[lp.Load]:
    for e in lp.subexprs(stmt.value):
        if isinstance(e, lp.Load) and e.buffer in params and e.buffer not in written and e.buffer.extents and all(p.const() is not None for p in e.index):
            yield e
