"""State whose next value is made element by element where the old one is: `x = 0.5 * x + 1` in a loop needs one array, not two.

An element may be replaced once nobody needs the old one. So all that makes an element of the next value reads, of the old value, that very
element; everything else that reads the old value does so before: in loops of its own that come earlier, or earlier in a round of loops that it shares
with what makes the elements, when it reads what that round replaces and nothing else.
"""

from __future__ import annotations

from typing import Union

from atoll.ainf import ir
from atoll.ainf.identity import identity_of
from atoll.lower.block import BlockLowerer
from atoll.plan.fuse import Group, Nest, Node
from atoll.plan.stages import Stage, computed_again
from atoll.sizes import Poly, poly

_ELEMENTWISE = (ir.Op, ir.Cast, ir.Select, ir.Truth, ir.Extent)
_Path = tuple[Union[Group, Nest], ...]


def made_in_place(inner: BlockLowerer, position: int) -> bool:
    """Whether the result of a round at this position may be stored in the memory of the parameter there."""
    param, target = inner.block.params[position], inner.results[position]
    if (param, 0) in inner.inplace.taken or any(identity_of(array) == (param, 0) for array in inner.results) or any(g.strip is not None for g in inner.groups):
        return False
    makers = _makers(inner, position, target)
    if makers is None or not inner.inplace.head.isdisjoint(makers) or any(_reads_another_whole(inner, maker) for maker in makers):
        return False
    paths = _paths(inner)
    for reader in inner.stages:
        read = [ref.index for ref in reader.refs if ref.line is param]
        if not read:
            continue
        if reader in makers:
            if any(index != _elements(reader) for index in read):
                return False
        elif (reader.line is not None and computed_again(reader.line)) or not all(_before(inner, reader, read, maker, paths) for maker in makers):
            return False
    return True


def _makers(inner: BlockLowerer, position: int, target: ir.Abs) -> list[Stage] | None:
    """What stores elements of a result: its own stage and the line that it is; None where that does not go element by element."""
    makers = [stage for stage in inner.stages if stage.target is not None and stage.position == position]
    found = identity_of(target)
    line = found[0] if found is not None else None
    if found is None or line not in inner.by_line:
        return makers
    assert line is not None
    if not isinstance(line.prim, _ELEMENTWISE) or line.conds or line.results[found[1]].axes or found in inner.inplace.taken:
        return None
    return [*makers, inner.by_line[line]]


def _reads_another_whole(inner: BlockLowerer, maker: Stage) -> bool:
    """Elements made of those of an array that an earlier loop of the round makes, as of a product: that one is made where the next value is to be, and
    what is left is done there while its rows are at hand (loops/recipes/follow.py)."""
    kept = {found[0] for array in inner.results if (found := identity_of(array)) is not None}
    for ref in maker.refs:
        made = inner.by_line.get(ref.line)
        if made is not None and ref.line not in kept and inner.group_number[made] < inner.group_number[maker] and ref.index == _elements(maker):
            return True
    return False


def _elements(maker: Stage) -> tuple[Poly, ...]:
    return tuple(poly(d) for d in maker.dims)


def _before(inner: BlockLowerer, reader: Stage, read: list[tuple[Poly, ...]], maker: Stage, paths: dict[Stage, tuple[_Path, int]]) -> bool:
    """Whether a stage has read what it reads of an array when another one replaces elements of it."""
    (mine, at), (theirs, its) = paths[reader], paths[maker]
    if inner.group_number[reader] != inner.group_number[maker]:
        return inner.group_number[reader] < inner.group_number[maker]
    shared = [(a.members[reader], a.members[maker]) for a, b in zip(mine, theirs, strict=False) if a is b]
    return at < its and all(index[maker.dims.index(own)] == poly(binder) for binder, own in shared for index in read)


def _paths(inner: BlockLowerer) -> dict[Stage, tuple[_Path, int]]:
    """The loops around every stage, and a number that is smaller for what comes earlier in their bodies."""
    found: dict[Stage, tuple[_Path, int]] = {}

    def walk(nodes: list[Node], path: _Path) -> None:
        for node in nodes:
            if isinstance(node, Nest):
                walk(node.body, (*path, node))
            elif not node.start:
                found[node.stage] = (path, len(found))

    for group in inner.groups:
        walk(group.body, (group,) if group.is_cut else ())
    return found
