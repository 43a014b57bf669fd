"""What a program's results and state need. The rest is not computed, and variables among it are told: they are mostly typos.

From the results backwards: through relations and nodes to their inputs, through `last` to the flow it is the last value of, through the result of a loop to the
element inside. Initial values are always kept: they are where state begins.
"""

from __future__ import annotations

from atoll.errors import Span
from atoll.madl import graph as g
from atoll.madl.causality import needs, round_values


def live_wires(graph: g.Graph, contracts: bool = False) -> set[g.Wire]:
    """The wires whose values matter; with `contracts`, also to what must hold."""
    flows, crossing = _crossings(graph)
    found: set[g.Wire] = set()
    todo = [*graph.results, *(graph.contracts if contracts else ())]
    for scope in graph.scopes():
        todo += [value for start in scope.starts for _, value in start.targets]
    while todo:
        wire = todo.pop()
        if wire in found:
            continue
        found.add(wire)
        todo += flows.get(wire, []) + crossing.get(wire, [])
        producer = graph.producer.get(wire)
        if isinstance(producer, g.Nest):
            todo += [producer.condition] if producer.condition is not None else []
        elif producer is not None:
            todo += needs(graph, producer)
        todo += [s.condition for s in wire.scope.chain() if s.condition is not None]
        todo += [w for s in wire.scope.chain() for w in [*_conditions(graph, s), *round_values(graph, s)]]
    return found


def _crossings(graph: g.Graph) -> tuple[dict[g.Wire, list[g.Wire]], dict[g.Wire, list[g.Wire]]]:
    """What `last` and aliases show, and what stands inside for a result outside."""
    flows: dict[g.Wire, list[g.Wire]] = {}
    inside: dict[g.Wire, list[g.Wire]] = {}
    for scope in graph.scopes():
        for flow, old in [*scope.lasts, *scope.aliases]:
            flows.setdefault(old, []).append(flow)
        for part, whole in [*scope.aggregates, *scope.accumulates]:
            inside.setdefault(whole, []).append(part)
        for node in scope.nodes:
            if isinstance(node, g.Nest):
                for whole, parts in node.merges:
                    inside.setdefault(whole, []).extend(parts)
    return flows, inside


def _conditions(graph: g.Graph, scope: g.Scope) -> list[g.Wire]:
    """The choices that decide whether a scope runs."""
    if scope.kind != "branch" or scope.parent is None:
        return []
    return [n.condition for n in scope.parent.nodes if isinstance(n, g.Nest) and scope in n.scopes and n.condition is not None]


def dead_nodes(graph: g.Graph, live: set[g.Wire]) -> set[int]:
    """The ids of nodes that compute nothing that matters. Initial values are kept."""
    dead: set[int] = set()

    def outputs(node: g.Computing) -> list[g.Wire]:
        match node:
            case g.Op(output=w) | g.Copy(target=w):
                return [w]
            case g.Call(outputs=ws):
                return list(ws)
        return []

    def visit(node: g.Computing) -> bool:
        """True when something in it matters."""
        if isinstance(node, g.Nest):
            inner = [visit(x) for scope in node.scopes for x in scope.nodes]
            wanted = any(inner) or any(scope.starts for scope in node.scopes) or any(w in live for w, _ in node.merges)
        elif isinstance(node, g.ResetCall):
            wanted = True
        else:
            wanted = any(w in live for w in outputs(node)) or (isinstance(node, g.Call) and not node.outputs)
        if not wanted:
            dead.add(id(node))
        return wanted

    for node in graph.body.nodes:
        visit(node)
    return dead


def unused(graph: g.Graph, live: set[g.Wire], operator: Span) -> list[tuple[str, Span]]:
    """Variables of the operator's own text that nothing needs."""
    found: dict[str, Span] = {}
    kept = {w.name for w in live} | _as_indices(graph)
    for wire in graph.wires:
        mine = operator.line <= wire.span.line <= operator.end_line and wire.span.source is operator.source
        if not mine or not wire.name or wire.name.startswith("_") or wire.name in kept or wire.role not in ("plain", "index") or wire.scope.kind == "init":
            continue
        found.setdefault(wire.name, wire.span)
    return list(found.items())


def _as_indices(graph: g.Graph) -> set[str]:
    """Names of loop indices that elements are taken or replaced at."""
    told = [view for r in graph.relations if r.construct in ("projection", "with") for view, _ in r.parts]
    symbols = {leaf for view in told for p in view.prims for size in p.params for leaf in size.leaves()}
    return {scope.index_name for sym, scope in graph.loops.items() if sym in symbols and scope.index_name is not None}
