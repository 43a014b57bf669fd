"""Every value is defined, and none depends on itself within a cycle (thesis 4.1.4).

Arrays, tuples, operators, loops and blocks need all their inputs before any output: a relation or node is one point of the graph. `last` breaks a
cycle: it is there from the start.
"""

from __future__ import annotations

from typing import Any

from atoll.errors import fail
from atoll.madl import graph as g


def crossing(scope: g.Scope) -> list[g.Wire]:
    """Wires inside a scope that are needed when it ends."""
    return [w for w, _ in [*scope.aggregates, *scope.accumulates, *scope.lasts]]


def needs(graph: g.Graph, node: g.Relation | g.Computing) -> list[g.Wire]:
    """The wires something depends on; for a nest, those from outside it."""
    match node:
        case g.Relation():
            return [*node.sources(), *index_values(graph, node)]
        case g.Op(inputs=inputs):
            return list(inputs)
        case g.Copy(source=source):
            return [source]
        case g.Call(inputs=inputs):
            return list(inputs)
        case g.ResetCall():
            return []
    found = [node.condition] if node.condition is not None else []
    for scope in node.scopes:
        found += scope_needs(graph, scope)
    for _, parts in node.merges:
        found += parts
    return [w for w in found if w is not None and not any(w.scope.within(s) for s in node.scopes)]


def round_values(graph: g.Graph, scope: g.Scope) -> list[g.Wire]:
    """The values that say how many rounds a loop has: forward <<k>>, with k of type idx<<n>>."""
    if not graph.dynamic or scope.kind != "loop":
        return []
    symbols = {*scope.extent.leaves(), *scope.low.leaves()}
    return [wire for sym, (wire, _) in graph.dynamic.items() if sym in symbols]


def index_values(graph: g.Graph, relation: g.Relation) -> list[g.Wire]:
    """The values that say where a part lies."""
    if not graph.dynamic:
        return []
    symbols = {leaf for view, _ in relation.parts for p in view.prims for size in p.params for leaf in size.leaves()}
    return [wire for sym, (wire, _) in graph.dynamic.items() if sym in symbols]


def scope_needs(graph: g.Graph, scope: g.Scope) -> list[g.Wire]:
    found: list[g.Wire] = [*([scope.condition] if scope.condition is not None else []), *round_values(graph, scope)]
    for inner in [*(n for start in scope.starts for n in start.scope.nodes), *scope.nodes]:  # a nest tells what is needed inside it
        found += needs(graph, inner)
    for start in scope.starts:
        found += [value for _, value in start.targets]
    for wire in [*crossing(scope), *(w for whole, _ in scope.aliases for w in core_of(graph, scope, whole))]:
        found.append(wire)
    reached: dict[g.Wire, None] = {}
    inside = set(_scopes_in(scope))
    todo = list(found)
    while todo:  # through relations of the scope, to what comes from outside
        wire = todo.pop()
        if wire in reached:
            continue
        reached[wire] = None
        producer = graph.producer.get(wire)
        if wire.scope in inside and isinstance(producer, g.Relation):
            todo += needs(graph, producer)
    return list(reached)


def _scopes_in(scope: g.Scope) -> list[g.Scope]:
    found = [scope]
    for start in scope.starts:
        found += _scopes_in(start.scope)
    for node in scope.nodes:
        if isinstance(node, g.Nest):
            for inner in node.scopes:
                found += _scopes_in(inner)
    return found


def core_of(graph: g.Graph, scope: g.Scope, whole: g.Wire) -> list[g.Wire]:
    """The parts of an array under construction that the loop does not build itself; its alias shows them too."""
    elements = {array for _, array in scope.aggregates}
    found: list[g.Wire] = []

    def visit(wire: g.Wire) -> None:
        if wire in elements:
            return
        producer = graph.producer.get(wire)
        if isinstance(producer, g.Relation) and producer.flow == "build":
            for _, part in producer.parts:
                visit(part)
        elif isinstance(producer, g.Relation) and producer.parts[0][0].invertible:
            visit(producer.whole)
        else:
            found.append(wire)

    visit(whole)
    return found


class Feedback(Exception):
    """A value needs itself through calls that may not need what is fed back: they must be looked into."""

    def __init__(self, sites: list[Any]) -> None:
        super().__init__()
        self.sites = sites


def check(graph: g.Graph, look_into_calls: bool = False) -> None:
    """Undefined values and cycles are errors. A call needs all its inputs before it gives any output; Feedback asks to look into those on a cycle."""
    done: set[object] = set()
    active: list[tuple[object, g.Wire]] = []

    def visit(wire: g.Wire, user: g.Wire | None) -> None:
        if wire not in graph.producer:
            if wire.role in ("place", "chunk"):
                return
            fail("E0902", wire.span, name=wire.shown, where=graph.name)
        node = graph.producer[wire]
        if node is None or node in done:
            return
        for position, (other, _) in enumerate(active):
            if other is node:
                calls = [n for n, _ in active[position:] if isinstance(n, g.Call) and n.scheme.compiled is not None and not n.scheme.compiled_recursive()]
                if calls and look_into_calls:
                    raise Feedback([call.site for call in calls])
                _cycle([w for _, w in active[position:]], wire, graph)
        active.append((node, wire))
        for source in needs(graph, node):
            visit(source, wire)
        active.pop()
        done.add(node)

    for wire in graph.results:
        visit(wire, None)
    for scope in graph.scopes():
        for node in scope.nodes:
            for wire in needs(graph, node):
                visit(wire, None)
        for wire in crossing(scope):
            visit(wire, None)
        if scope.condition is not None:
            visit(scope.condition, None)


def _cycle(wires: list[g.Wire], last: g.Wire, graph: g.Graph) -> None:
    named = [w for w in wires if w.name]
    start = min(range(len(named)), key=lambda k: named[k].number) if named else 0
    around = named[start:] + named[:start]
    names = [w.shown for w in around] or [last.shown]
    first = around[0] if around else last
    story = " -> ".join([*dict.fromkeys(reversed(names[1:])), names[0]]) if len(names) > 1 else names[0]
    note = f"Dependency cycle: {names[0]} -> {story}" if len(names) > 1 else f"Dependency cycle: {names[0]} -> {names[0]}"
    fail("E0920", first.span, name=names[0], notes=[note, f"Variable {names[0]} used here: line {last.span.line}"], where=graph.name)
