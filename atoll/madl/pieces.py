"""Leaves and addresses: how a chunk lies in memory.

A chunk is stored as one row-major buffer per scalar leaf of its type (structure of arrays, as everywhere in Atoll). A place is *in one piece*
when its elements lie in memory exactly as an array of its own would: then one address says all (thesis 7.2).
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.madl.typing import prune
from atoll.sizes import Atom, Poly, poly
from atoll.sizes.poly import ONE, ZERO
from atoll.types.types import Array, Record, Tuple, Type
from atoll.views.index_map import At, Component, IndexMap, view_index


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar leaf of a type: the components on the way, the array sizes on the way, its type, a name for its buffer."""

    components: tuple[int, ...]
    extents: tuple[Poly, ...]
    type: Type
    label: str


def leaves_of(t: Type) -> list[Leaf]:
    """The leaves in order; a scalar or array of scalars has one."""
    t = prune(t)
    if isinstance(t, Array):
        return [Leaf(x.components, (t.size, *x.extents), x.type, x.label) for x in leaves_of(t.elem)]
    if isinstance(t, (Tuple, Record)):
        names = t.decl.fields if isinstance(t, Record) else [str(k + 1) for k in range(len(t.items))]
        return [
            Leaf((k, *x.components), x.extents, x.type, f"_{name}{x.label}")
            for k, (name, item) in enumerate(zip(names, t.items, strict=True))
            for x in leaves_of(item)
        ]
    return [Leaf((), (), t, "")]


def split_path(m: IndexMap) -> tuple[tuple[int, ...], tuple[Poly, ...]]:
    """The components and the indices of a map's path."""
    return (
        tuple(s.number for s in m.path if isinstance(s, Component)),
        tuple(s.index for s in m.path if isinstance(s, At)),
    )


def leaf_index(m: IndexMap, leaf: Leaf, view: tuple[Poly, ...]) -> tuple[tuple[int, ...], tuple[Poly, ...]]:
    """Where element `view` of a leaf of the viewed type lies: the components of the chunk's leaf, and the index there."""
    components, indices = split_path(m)
    env: dict[Atom, Poly] = {view_index(k): view[k] for k in range(len(m.dims))}
    return (*components, *leaf.components), (*(i.subst(env) for i in indices), *view[len(m.dims) :])


def row_major(index: tuple[Poly, ...], extents: tuple[Poly, ...]) -> Poly:
    total = ZERO
    for i, n in zip(index, extents, strict=True):
        total = total * n + i
    return total


def count(extents: tuple[Poly, ...]) -> Poly:
    total = ONE
    for n in extents:
        total = total * n
    return total


def chunk_leaf(chunk_type: Type, components: tuple[int, ...]) -> Leaf:
    return next(x for x in leaves_of(chunk_type) if x.components == components)


def is_one_piece(m: IndexMap, viewed: Type, chunk_type: Type) -> bool:
    """True when every leaf of the view is contiguous, in order, in the chunk's memory."""
    for leaf in leaves_of(viewed):
        view = tuple(poly(view_index(k)) for k in range(len(leaf.extents)))
        components, index = leaf_index(m, leaf, view)
        address = row_major(index, chunk_leaf(chunk_type, components).extents)
        zeros: dict[Atom, Poly] = {view_index(k): ZERO for k in range(len(view))}
        unary: dict[Atom, Poly] = {view_index(k): ZERO for k, n in enumerate(leaf.extents) if n.const() == 1}
        own = row_major(view, leaf.extents)
        if (address - address.subst(zeros)).subst(unary) != own.subst(unary):
            return False
    return True
