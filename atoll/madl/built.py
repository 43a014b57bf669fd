"""Where the part of an array that earlier rounds have built lies (thesis 6.2.5, docs/sources.md M5).

The elements of round i lie at indices linear in i: those that advance grow the built part at its end, those that go back grow it at its
start. The built part must be one slice, of the size that typing found, and the current elements must lie at its very ends:

    whole of size growth*n + fixed,   slice from (n - i) * backwards,   of length growth*i + fixed,   forwards + backwards = growth

So `[l] ++ [r]` (two parts growing forwards, with a hole between them) is refused, and `zip([l], [r])` and `reverse([l]) ++ [r]` are not.
"""

from __future__ import annotations

from atoll.errors import fail
from atoll.madl import graph as g
from atoll.madl.elaborate import Built
from atoll.madl.known import Known
from atoll.madl.typing import show_size_named
from atoll.sizes import Poly, poly
from atoll.sizes.poly import ZERO
from atoll.views.functor import ONE, Functor, functor, prim
from atoll.views.index_map import At, view_index


def place_aliases(graph: g.Graph, built: list[Built]) -> None:
    """Add, for every alias of an array under construction, the relation that says where it lies."""
    known = Known(graph)
    for b in built:
        view = _slice(graph, b, known)
        graph.relations.append(g.Relation(b.whole, ((view, b.alias),), None, "as", b.span))


def _slice(graph: g.Graph, b: Built, known: Known) -> Functor:
    scope = b.scope
    assert scope.index is not None
    index = poly(scope.index)
    forwards, backwards = ZERO, ZERO
    ends: list[tuple[Poly, Poly, Poly]] = []  # step, first cell, last cell, at the current round
    for element in b.elements:
        view = _path(b, element)
        step, low, high = _extent(view, b, graph)
        ends.append((step, low, high))
        if known.about(step).proves(step):
            forwards = step
        else:
            backwards = -step
    if forwards + backwards != b.growth:
        grows = show_size_named(forwards + backwards, graph.size_names)
        notes = [
            f"each round adds {show_size_named(b.growth, graph.size_names)} elements to {b.whole.shown},"
            f" but its ends move by {grows}: the parts already built are not side by side"
        ]
        fail("E0937", b.span, notes=notes, where=graph.name)
    start, length = (scope.extent - index) * backwards, b.growth * index + b.fixed
    ahead = [low for step, low, _ in ends if step == forwards and step.terms]
    behind = [high for step, _, high in ends if step == -backwards and step.terms]
    if (ahead and start + length not in ahead) or (behind and start - 1 not in behind):
        fail("E0937", b.span, notes=["there is a hole between what is built and the elements of this round"], where=graph.name)
    return functor(prim("slice", start, length, b.growth * scope.extent + b.fixed))


def _extent(view: Functor, b: Built, graph: g.Graph) -> tuple[Poly, Poly, Poly]:
    """How an element moves from round to round, and its first and last cell."""
    index_map, sym = view.map, b.scope.index
    assert sym is not None
    outer = index_map.path[0] if index_map.path else None
    step = outer.index.slope(sym) if isinstance(outer, At) else None
    if not isinstance(outer, At) or step is None:
        fail("E0937", b.span, notes=["the elements do not advance along the first dimension"], where=graph.name)
    low = high = outer.index
    for k, size in enumerate(index_map.dims):
        factor = outer.index.slope(view_index(k))
        if factor is not None and factor.terms:
            low = low.subst({view_index(k): ZERO})
            high = high.subst({view_index(k): size - 1})
    return step, low, high


def _path(b: Built, element: g.Wire) -> Functor:
    """The functor from the whole array to an element, through the relations made for it."""
    above: dict[g.Wire, list[tuple[g.Wire, Functor]]] = {}
    for relation in b.relations:
        for view, part in relation.parts:
            above.setdefault(part, []).append((relation.whole, view))
            if view.invertible:
                above.setdefault(relation.whole, []).append((part, view.inverse()))

    def climb(wire: g.Wire, seen: frozenset[g.Wire]) -> Functor | None:
        if wire is b.whole:
            return ONE
        for whole, view in above.get(wire, ()):
            if whole not in seen:
                found = climb(whole, seen | {whole})
                if found is not None:
                    return found.then(view)
        return None

    found = climb(element, frozenset((element,)))
    assert found is not None
    return found
