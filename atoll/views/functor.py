"""Projection functors: the catalogue of views with what is known about each, their lists, and views that are tuples.

A functor leads from data to a view of it (Pauget, chapter 3). Three things are kept of it, because no one of them decides all
questions: the *list of primitives* it was composed of (flags and inverses travel along it, common ends can be cancelled), its
*index map* (equality, disjointness, code), and, for views that are tuples, one map per component (a `Fork`).

    primitive   injective: no cell is seen twice       a view that is written must be
                surjective: every cell is seen          a pattern that defines all of the data must be
                inverse: representable the other way     then either side may be the one that is stored

Flags are those of the catalogue, propagated and never computed: `repeat 1` is not injective although its map is (thesis 3.4.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from atoll.sizes import Atom, Poly, PolyLike, poly
from atoll.views.index_map import IDENTITY, At, Component, IndexMap, Step, compose, index_map, view_index

Params = tuple[Poly, ...]


def _v(k: int) -> Poly:
    return poly(view_index(k))


@dataclass(frozen=True, slots=True)
class _Row:
    """What a primitive is."""

    map: Callable[..., IndexMap]
    injective: bool = True
    surjective: bool = False
    inverse: Callable[..., Prim | None] = lambda *_: None


@dataclass(frozen=True, slots=True)
class Prim:
    """A primitive functor: a row of the catalogue and its sizes."""

    name: str
    params: Params

    def __repr__(self) -> str:
        return " ".join([self.name, *map(repr, self.params)])

    @property
    def map(self) -> IndexMap:
        return CATALOGUE[self.name].map(*self.params)

    @property
    def injective(self) -> bool:
        return CATALOGUE[self.name].injective

    @property
    def surjective(self) -> bool:
        return CATALOGUE[self.name].surjective or self.inverse is not None

    @property
    def inverse(self) -> Prim | None:
        return CATALOGUE[self.name].inverse(*self.params)

    def subst(self, env: Mapping[Atom, Poly]) -> Prim:
        return Prim(self.name, tuple(p.subst(env) for p in self.params))


def prim(name: str, *params: PolyLike) -> Prim:
    """`prim("reverse", n)`."""
    return Prim(name, tuple(poly(p) for p in params))


CATALOGUE: dict[str, _Row] = {
    # name: sizes -> map                                   data        view
    "single": _Row(lambda: index_map((1,), ()), inverse=lambda: prim("extract")),  # a -> [1]a
    "extract": _Row(lambda: index_map((), (At(poly(0), poly(1)),)), inverse=lambda: prim("single")),  # [1]a -> a
    "reverse": _Row(lambda n: index_map((n,), (At(n - 1 - _v(0), n),)), inverse=lambda n: prim("reverse", n)),
    "transpose": _Row(  # [n][m]a -> [m][n]a
        lambda n, m: index_map((m, n), (At(_v(1), n), At(_v(0), m))), inverse=lambda n, m: prim("transpose", m, n)
    ),
    "window": _Row(  # [n+k-1]a -> [n][k]a
        lambda n, k: index_map((n, k), (At(_v(0) + _v(1), n + k - 1),)), injective=False, surjective=True
    ),
    "sample": _Row(lambda n, k: index_map((n,), (At(_v(0) * k, n * k - k + 1),))),  # [n*k-k+1]a -> [n]a
    "split": _Row(lambda n, k: index_map((n, k), (At(_v(0) * k + _v(1), n * k),)), surjective=True),  # [n*k]a -> [n][k]a
    "repeat": _Row(lambda n: index_map((n,), ()), injective=False, surjective=True),  # a -> [n]a
    "left": _Row(lambda n, m: index_map((n,), (At(_v(0), n + m),))),  # [n+m]a -> [n]a, the first half of a cut
    "right": _Row(lambda n, m: index_map((m,), (At(_v(0) + n, n + m),))),  # [n+m]a -> [m]a
    "slice": _Row(lambda start, length, n: index_map((length,), (At(_v(0) + start, n),))),  # [n]a -> [length]a
    "index": _Row(  # [n]a -> a; the only element of a unary array is the array
        lambda e, n: index_map((), (At(e, n),)),
        inverse=lambda e, n: prim("single") if n.const() == 1 and not e.terms else None,
    ),
    "component": _Row(  # t1*..*tm -> tk
        lambda k, m: index_map((), (Component(k.const() or 0, m.const() or 0),)),
    ),
}


@dataclass(frozen=True)
class Functor:
    """A composition of primitives, outermost data first."""

    prims: tuple[Prim, ...] = ()

    def __repr__(self) -> str:
        return " >> ".join(map(repr, self.prims)) or "1"

    @cached_property
    def map(self) -> IndexMap:
        result = IDENTITY
        for p in self.prims:
            result = compose(result, p.map)
        return result

    @property
    def injective(self) -> bool:
        return all(p.injective for p in self.prims)

    @property
    def surjective(self) -> bool:
        return all(p.surjective for p in self.prims)

    @property
    def invertible(self) -> bool:
        return all(p.inverse is not None for p in self.prims)

    def inverse(self) -> Functor:
        found = [p.inverse for p in reversed(self.prims)]
        assert all(p is not None for p in found)
        return Functor(tuple(p for p in found if p is not None))

    def then(self, other: Functor) -> Functor:
        """View through this, then through the other."""
        return Functor(self.prims + other.prims) if other.prims else self

    def subst(self, env: Mapping[Atom, Poly]) -> Functor:
        return Functor(tuple(p.subst(env) for p in self.prims)) if env and self.prims else self


ONE = Functor()


def functor(*prims: Prim) -> Functor:
    return Functor(tuple(prims))


def cancel_common_end(first: Functor, second: Functor) -> tuple[Functor, Functor]:
    """Drop the longest common surjective end: d1.f.p = d2.g.p with p onto says d1.f = d2.g (thesis 6.2.3)."""
    a, b = first.prims, second.prims
    while a and b and a[-1] == b[-1] and a[-1].surjective:
        a, b = a[:-1], b[:-1]
    return Functor(a), Functor(b)


# -- views that are tuples


class IllFormed(ValueError):
    """A tuple view that misses a component, or whose components are views of different data."""


@dataclass(frozen=True, slots=True)
class Fork:
    """After `depth` array indices the view is a tuple, with one map (from the whole data) per component."""

    depth: int
    branches: tuple[View, ...]


View = IndexMap | Fork


def fork(branches: Mapping[int, View] | Iterable[View], count: int | None = None, depth: int = 0) -> View:
    """A tuple view from its components; all must be there and be views of the same data."""
    given = dict(branches) if isinstance(branches, Mapping) else dict(enumerate(branches))
    count = len(given) if count is None else count
    if sorted(given) != list(range(count)):
        missing = ", ".join(f"({k + 1}/{count})" for k in range(count) if k not in given)
        raise IllFormed(f"the view has no component {missing}")
    parts = tuple(given[k] for k in range(count))
    _same_data([path for p in parts for path in _paths(p)])
    ends = [p.path[-1:] for p in parts if isinstance(p, IndexMap)]
    if len(ends) == count and all(end == (Component(k, count),) for k, end in enumerate(ends)):
        stems = {index_map(p.dims, p.path[:-1]) for p in parts if isinstance(p, IndexMap)}
        if len(stems) == 1:  # every component of one thing, in order: that thing
            return stems.pop()
    return Fork(depth, parts)


def _paths(view: View) -> list[tuple[Step, ...]]:
    return [view.path] if isinstance(view, IndexMap) else [p for b in view.branches for p in _paths(b)]


def _same_data(paths: list[tuple[Step, ...]]) -> None:
    for level in range(max(map(len, paths), default=0)):
        found = {s.extent if isinstance(s, At) else s.count for p in paths if len(p) > level for s in (p[level],)}
        if len(found) > 1:
            raise IllFormed(f"the components are views of different data: sizes {', '.join(sorted(map(repr, found)))}")


def view_then(first: View, second: View) -> View:
    """first >> second, where either may be a tuple view."""
    if isinstance(second, Fork):
        return fork([view_then(first, b) for b in second.branches], depth=second.depth)
    if isinstance(first, IndexMap):
        return compose(first, second)
    # the second map consumes `depth` arrays and then a component of the first
    for at, step in enumerate(second.path):
        if isinstance(step, Component):
            if at != first.depth:
                raise IllFormed("a component is taken where the view has an array")
            rest = index_map(second.dims, second.path[:at] + second.path[at + 1 :])
            return view_then(first.branches[step.number], rest)
    if second == IDENTITY:
        return first
    return fork(
        [view_then(first, _append(second, Component(k, len(first.branches)))) for k in range(len(first.branches))],
        depth=len(second.dims) + first.depth - len(second.path),
    )


def _append(m: IndexMap, step: Step) -> IndexMap:
    return IndexMap(m.dims, (*m.path, step))


def at_part(view: View, where: tuple[int | None, ...], inner: View) -> View:
    """Local composition: view the part `where` through `inner`; None is "every element", a number a component."""
    if not where:
        return view_then(view, inner)
    head, *rest = where
    if head is None:
        return _under_axis(view, tuple(rest), inner)
    if not isinstance(view, Fork):
        raise IllFormed("this view has no components")
    parts = [at_part(b, tuple(rest), inner) if k == head else b for k, b in enumerate(view.branches)]
    return fork(parts, depth=view.depth)


def _under_axis(view: View, where: tuple[int | None, ...], inner: View) -> View:
    depth = 1
    while where and where[0] is None:
        where, depth = where[1:], depth + 1
    if where or not isinstance(inner, IndexMap) or not isinstance(view, IndexMap):
        raise IllFormed("only plain views are composed below an axis")
    if len(view.dims) < depth:
        raise IllFormed("the axis is not explicit in this view")
    lifted = {view_index(k): _v(k + depth) for k in range(len(inner.dims))}
    path: list[Step] = [At(_v(k), view.dims[k]) for k in range(depth)]
    path += [s if isinstance(s, Component) else At(s.index.subst(lifted), s.extent) for s in inner.path]
    return compose(view, IndexMap((*view.dims[:depth], *inner.dims), tuple(path)))


def cut(n: PolyLike, m: PolyLike) -> View:
    """[n+m]a -> [n]a * [m]a"""
    return fork([prim("left", n, m).map, prim("right", n, m).map])


def array_items(n: int) -> View:
    """[n]a -> a * .. * a"""
    return fork([prim("index", k, n).map for k in range(n)])


def swap() -> View:
    """a * b -> b * a"""
    return fork([prim("component", 1, 2).map, prim("component", 0, 2).map])
