"""Index maps: where each part of a view lies in the data it is a view of.

    map   ::=  dims, path          view index k (written $k) runs over 0..dims[k]-1; the path leads into the data
    step  ::=  [e < n]             element e of an array of n; e is a polynomial in $0, $1, ... and other symbols
            |  (k/m)               component k of a tuple of m (numbered from 0 here, printed from 1)

A view of type [d0][d1]...t is read as: its element [$0][$1]... is the part of the data that the path leads to. What the path does
not consume follows unchanged, so the identity is the empty map and a map that only permutes two outer axes says nothing about the
inner ones. This is the normal form of MADL's projection functors (Pauget, chapter 3; docs/sources.md M2): abstractions are
the dims, applications the path, and positional names make equal maps structurally equal. Two rules keep it normal:

    unary arrays     a dim of 1 has only the index 0
    identity tails   a last dim whose index is exactly the last step, and nowhere else, is dropped

Equality is complete for maps whose indices are linear, which all of the catalogue's are; `$0 * $0 < 2` over 2 is the identity and is
not recognised as such (B13).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from atoll.sizes import Atom, Poly, PolyLike, Sym, poly
from atoll.sizes.poly import ZERO, show


@dataclass(frozen=True, slots=True)
class At:
    """Element `index` of an array of `extent`."""

    index: Poly
    extent: Poly

    def __repr__(self) -> str:
        return f"[{show(self.index)}<{show(self.extent)}]"


@dataclass(frozen=True, slots=True)
class Component:
    """Component `number` (from 0) of a tuple of `count`."""

    number: int
    count: int

    def __repr__(self) -> str:
        return f"({self.number + 1}/{self.count})"


Step = At | Component


@cache
def view_index(k: int) -> Sym:
    """The symbol of the k-th index of a view."""
    return Sym(f"${k}")


@cache
def _position(sym: Atom) -> int | None:
    name = getattr(sym, "name", "")
    if name.startswith("$") and name[1:].isdigit() and view_index(int(name[1:])) is sym:
        return int(name[1:])
    return None


def is_view_index(sym: Atom) -> bool:
    return _position(sym) is not None


def position(sym: Atom) -> int:
    """Which index of a view this symbol is."""
    k = _position(sym)
    assert k is not None
    return k


@dataclass(frozen=True, slots=True)
class IndexMap:
    """A map in normal form; make one with `index_map`."""

    dims: tuple[Poly, ...]
    path: tuple[Step, ...]

    def __repr__(self) -> str:
        if not self.dims and not self.path:
            return "1"
        bound = "".join(f"\\[${k}<{show(d)}]." for k, d in enumerate(self.dims))
        return bound + "".join(map(repr, self.path))

    def subst(self, env: Mapping[Atom, Poly]) -> IndexMap:
        """Replace symbols that are not view indices."""
        if not env:
            return self
        return index_map((d.subst(env) for d in self.dims), (_subst(s, env) for s in self.path))

    def symbols(self) -> frozenset[Atom]:
        """The symbols the map depends on, view indices left out."""
        found = {leaf for d in self.dims for leaf in d.leaves()}
        for step in self.path:
            if isinstance(step, At):
                found |= step.index.leaves()
        return frozenset(leaf for leaf in found if _position(leaf) is None)

    def then(self, other: IndexMap) -> IndexMap:
        """View through this map, then through the other."""
        return compose(self, other)

    def element(self, indices: Iterable[PolyLike]) -> tuple[Step, ...]:
        """The path of one element of the view; more indices than dims go on into the data unchanged."""
        given = [poly(i) for i in indices]
        env: dict[Atom, Poly] = {view_index(k): e for k, e in enumerate(given[: len(self.dims)])}
        return tuple(_subst(s, env) for s in self.path)


def _subst(step: Step, env: Mapping[Atom, Poly]) -> Step:
    if isinstance(step, Component):
        return step
    return At(step.index.subst(env), step.extent.subst(env))


def index_map(dims: Iterable[PolyLike], path: Iterable[Step]) -> IndexMap:
    """The map in normal form."""
    bounds, steps = [poly(d) for d in dims], list(path)
    unary: dict[Atom, Poly] = {view_index(k): ZERO for k, d in enumerate(bounds) if d.const() == 1}
    if unary:
        steps = [_subst(s, unary) for s in steps]
    while bounds and steps:
        last = steps[-1]
        if isinstance(last, Component) or last.extent != bounds[-1]:
            break
        own = view_index(len(bounds) - 1)
        same = last.index.single() is own or (last.extent.const() == 1 and not last.index.terms)
        if not same or any(isinstance(s, At) and own in s.index.leaves() for s in steps[:-1]):
            break
        bounds.pop()
        steps.pop()
    return IndexMap(tuple(bounds), tuple(steps))


IDENTITY = IndexMap((), ())


def compose(first: IndexMap, second: IndexMap) -> IndexMap:
    """View through `first`, then view the result through `second` (functors: first >> second)."""
    if not first.dims and not first.path:
        return second
    if not second.dims and not second.path:
        return first
    dims, path = list(second.dims), list(second.path)
    for extent in first.dims[len(path) :]:  # what the second does not consume, it passes on
        path.append(At(poly(view_index(len(dims))), extent))
        dims.append(extent)
    env: dict[Atom, Poly] = {}
    for k in range(len(first.dims)):
        step = path[k]
        if isinstance(step, Component):
            raise ValueError(f"{second} takes a component where {first} has an array")
        env[view_index(k)] = step.index
    return index_map(dims, [*(_subst(s, env) for s in first.path), *path[len(first.dims) :]])


def compose_all(maps: Iterable[IndexMap]) -> IndexMap:
    result = IDENTITY
    for m in maps:
        result = compose(result, m)
    return result
