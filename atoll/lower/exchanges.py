"""Which arrays of a loop's state change places, in it or in a loop inside it: `for i: if c: a, b = b, a`.

Their memory does. So the outermost loop has it: what is exchanged inside is exchanged by name, and nothing is copied around loops inside.
"""

from __future__ import annotations

from atoll.ainf import ir
from atoll.ainf.identity import identity_of, updates


def change_places(prim: ir.Loop | ir.While) -> set[int]:
    """The numbers of such states: more than really do where plans decide otherwise."""
    found: set[int | None] = set()
    for position, array in enumerate(prim.results):
        root = _root(identity_of(array), prim.block)
        if root is not None and root != position:
            found |= {position, root}
    for line in prim.block.lines:
        if isinstance(line.prim, (ir.Loop, ir.While)) and not line.dims:
            found |= {_root(identity_of(line.prim.state[k]), prim.block) for k in change_places(line.prim)}
    return {k for k in found if k is not None}


def _root(key: tuple[ir.Line, int] | None, block: ir.Block) -> int | None:
    """The number of the state that an array is a version of."""
    if key is None:
        return None
    first = updates(key)[-1][0]
    return first.prim.position if isinstance(first.prim, ir.Param) and first.block is block else None
