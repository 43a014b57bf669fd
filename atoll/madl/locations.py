"""Location inference: which wires are views of which memory.

Relations are equations `part = whole.view`. Those whose view is invertible join two wires into one class (a weighted union-find: every wire
is its class's root seen through a functor). The others are edges between classes. A class with two incoming edges has two definitions:

    both lead back to one root            they must be the same index map, and one is dropped
    to two roots                          after cancelling a common surjective end, one root is a view of the other if its side is
                                          invertible (or the identity); otherwise wait for other equations to decide

When nothing changes and a class still has two roots, no layout is known: "Invalid locations". Nothing is shared that was not asked for: roots are
never joined because their parts happen to meet (thesis 6.2, docs/sources.md M3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from atoll.errors import fail
from atoll.madl import graph as g
from atoll.madl.tell import where_is
from atoll.madl.typing import prune
from atoll.types.types import Array
from atoll.views.functor import ONE, Functor, cancel_common_end
from atoll.views.index_map import IDENTITY


@dataclass(frozen=True, eq=False, slots=True)
class Edge:
    """part = whole.view, because of a relation."""

    whole: g.Wire
    view: Functor
    part: g.Wire
    reason: g.Relation


class Locations:
    """The solution: `root_of(wire)` is the memory and the view of it that a wire is."""

    def __init__(self, graph: g.Graph) -> None:
        self.graph = graph
        self._up: dict[g.Wire, tuple[g.Wire, Functor]] = {}
        self.edges: list[Edge] = []
        for relation in graph.relations:
            for view, part in relation.parts:
                edge = Edge(relation.whole, view, part, relation)
                if view.invertible:
                    self._join(edge)
                else:
                    self.edges.append(edge)
        self._incoming: dict[g.Wire, list[Edge]] = {}
        self._solve()

    # -- classes

    def find(self, wire: g.Wire) -> tuple[g.Wire, Functor]:
        """The root of a wire's class, and the view of it that the wire is."""
        path: list[tuple[g.Wire, Functor]] = []
        while wire in self._up:
            above, view = self._up[wire]
            path.append((wire, view))
            wire = above
        total = ONE
        for below, view in reversed(path):  # shorten the path for next time
            total = total.then(view)
            self._up[below] = (wire, total)
        return wire, total

    def _join(self, edge: Edge) -> None:
        """whole.view = part, the view invertible: one class."""
        upper, to_whole = self.find(edge.whole)
        lower, to_part = self.find(edge.part)
        view = to_whole.then(edge.view).then(to_part.inverse())
        if upper is lower:
            if view.map != IDENTITY:
                self._contradiction(edge)
            return
        self._up[lower] = (upper, view)

    def _contradiction(self, edge: Edge) -> NoReturn:
        first, second = self._called(edge.whole), self._called(edge.part)
        notes = [
            f"{second} must lie at the same place as {first}, in the same order (line {edge.reason.span.line}: {edge.reason.construct}),",
            "but they are different views of one array",
        ]
        fail("E0930", edge.reason.span, notes=notes, help=f"copy one of them: !{second}", where=self.graph.name)

    # -- the forest

    def _collect(self) -> dict[g.Wire, list[Edge]]:
        incoming: dict[g.Wire, list[Edge]] = {}
        for edge in self.edges:
            incoming.setdefault(self.find(edge.part)[0], []).append(edge)
        return incoming

    def _lifted(self, edge: Edge) -> tuple[g.Wire, Functor]:
        """The edge between class roots: root(whole) and the view of it that root(part) is."""
        upper, to_whole = self.find(edge.whole)
        _, to_part = self.find(edge.part)
        return upper, to_whole.then(edge.view).then(to_part.inverse())

    def _climb(self, wire: g.Wire, incoming: dict[g.Wire, list[Edge]], seen: tuple[g.Wire, ...] = ()) -> tuple[g.Wire, Functor]:
        """The memory a wire lies in, following the first definition of every class."""
        root, view = self.find(wire)
        if root in seen:
            note = f"{wire.shown} would be a part of itself"
            fail("E0930", wire.span, notes=[note], help=f"copy it: !{wire.shown}", where=self.graph.name)
        if root not in incoming:
            return root, view
        above, step = self._lifted(incoming[root][0])
        top, path = self._climb(above, incoming, (*seen, root))
        return top, path.then(step).then(view)

    def root_of(self, wire: g.Wire) -> tuple[g.Wire, Functor]:
        return self._climb(wire, self._incoming)

    def _solve(self) -> None:
        while True:
            self._incoming = incoming = self._collect()
            pending: tuple[Edge, Edge] | None = None
            for shared, edges in incoming.items():
                changed, waiting = self._reduce(shared, edges, incoming)
                if changed:
                    break
                pending = pending or waiting
            else:
                if pending is not None:
                    self._no_layout(*pending)
                for wire in self.graph.wires:
                    self._climb(wire, incoming)
                return

    def _reduce(self, shared: g.Wire, edges: list[Edge], incoming: dict[g.Wire, list[Edge]]) -> tuple[bool, tuple[Edge, Edge] | None]:
        """Use two definitions of a class: whether something changed, else two edges that wait for others."""
        pending: tuple[Edge, Edge] | None = None
        first = edges[0]
        for second in edges[1:]:
            upper, view = self._through(first, shared, incoming)
            other, other_view = self._through(second, shared, incoming)
            if upper is other:
                if view.map != other_view.map:
                    self._two_places(first, second, upper, view, other_view)
                self.edges.remove(second)
                return True, None
            left, right = cancel_common_end(view, other_view)
            if left.invertible:
                new = Edge(other, right.then(left.inverse()), upper, first.reason)
            elif right.invertible:
                new = Edge(upper, left.then(right.inverse()), other, second.reason)
            elif left.map == IDENTITY:
                new = Edge(other, right, upper, first.reason)
            elif right.map == IDENTITY:
                new = Edge(upper, left, other, second.reason)
            else:
                pending = pending or (first, second)
                continue
            if new.view.invertible:
                self._join(new)
            else:
                self.edges.append(new)
            return True, None
        return False, pending

    def _through(self, edge: Edge, shared: g.Wire, incoming: dict[g.Wire, list[Edge]]) -> tuple[g.Wire, Functor]:
        above, step = self._lifted(edge)
        top, path = self._climb(above, incoming, (shared,))
        return top, path.then(step)

    # -- telling

    def _called(self, wire: g.Wire) -> str:
        """What the user calls a value: a name of their own for the same place, else the expression."""
        root, view = self.find(wire)
        same = [w for w in self.graph.wires if self.find(w)[0] is root and self.find(w)[1].map == view.map]
        t = prune(wire.type)
        if isinstance(t, Array) and t.size.const() == 1:  # [|d|] is told as d
            same += [w for w in self.graph.wires if self.find(w)[0] is root and prune(w.type) == prune(t.elem)]
        own = [w for w in same if not w.site and w.role != "place"]
        return next((w.name for w in own if w.name), own[0].shown if own else wire.shown)

    def _two_places(self, first: Edge, second: Edge, root: g.Wire, view: Functor, other: Functor) -> NoReturn:
        part, whole = self._called(second.part), self._called(root)
        names = self.graph.size_names
        notes = [
            f"{part} is {where_is(view.map, whole, names)} (line {first.reason.span.line}: {first.reason.construct})",
            f"and also {where_is(other.map, whole, names)} (line {second.reason.span.line}: {second.reason.construct})",
        ]
        fail("E0930", second.reason.span, notes=notes, help=f"copy one of them: !{part}", where=self.graph.name)

    def _no_layout(self, first: Edge, second: Edge) -> NoReturn:
        names = self.graph.size_names
        part, whole, other = self._called(first.part), self._called(first.whole), self._called(second.whole)
        notes = [
            f"{part} is {where_is(first.view.map, whole, names)} (line {first.reason.span.line}),"
            f" and also {where_is(second.view.map, other, names)} (line {second.reason.span.line})",
            f"{whole} and {other} would overlap in {part}, but nothing says that they belong to one array",
        ]
        help_ = f"copy: !{part}, or name the whole array with `at 'l` and say where both lie in it"
        fail("E0930", second.reason.span, notes=notes, help=help_, where=self.graph.name)
