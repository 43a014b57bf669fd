"""Workspaces whose lifetimes do not meet are one workspace. (Locals of known size share in the C: share.py.)

A workspace lives, in the order that was found, from the first node of a scope that touches it to the last one. What lives in it has no value before it is written, so two of one type that
do not live at the same time can be one memory. It happens after scheduling, which need not know, and before the operator's scheme is made, so callers give one memory too; the
oracle, which remembers what every cell holds, runs with the places that are left.
"""

from __future__ import annotations

from atoll.madl import graph as g
from atoll.madl.depend import Dependencies
from atoll.madl.layout import Chunk, Layout, Place, common_scope, scope_of_wire
from atoll.madl.schedule import Schedule
from atoll.madl.typing import rebuild


def share_workspaces(deps: Dependencies, order: Schedule) -> Dependencies:
    """The dependencies with fewer workspaces."""
    layout = deps.layout
    shared = False
    for scope, found in order.bodies.items():
        spaces = [c for c in layout.chunks if c.role == "workspace" and all(scope_of_wire(deps.graph, w).within(scope) for w in c.wires)]
        if len(spaces) > 1:
            lives = _lives(deps, found.sequence)
            shared |= _merge(layout, sorted((c for c in spaces if c in lives), key=lambda c: (*lives[c], c.name)), lives)
    return Dependencies(deps.graph, layout, deps.known) if shared else deps


def _lives(deps: Dependencies, sequence: list[g.Computing]) -> dict[Chunk, tuple[int, int]]:
    """The first and the last node of a scope that touch a memory."""
    found: dict[Chunk, tuple[int, int]] = {}
    for number, node in enumerate(sequence):
        for chunk in _touched(deps, node):
            found[chunk] = (found.get(chunk, (number, 0))[0], number)
    return found


def _touched(deps: Dependencies, node: g.Computing) -> set[Chunk]:
    found = {deps.layout.chunk(read.wire) for read in deps.reads(node)} | {write.chunk for write in deps.writes(node)}
    if isinstance(node, g.Call):
        found |= {deps.layout.chunk(wire) for wire in node.chunks}
    if isinstance(node, g.Nest):
        for scope in node.scopes:
            for inner in [*scope.nodes, *(n for start in scope.starts for n in start.scope.nodes)]:
                found |= _touched(deps, inner)
    return found


def _merge(layout: Layout, spaces: list[Chunk], lives: dict[Chunk, tuple[int, int]]) -> bool:
    homes: list[tuple[Chunk, int]] = []  # a memory, and the last node that touches what is in it
    for chunk in spaces:
        first, last = lives[chunk]
        free = next((k for k, (home, until) in enumerate(homes) if until < first and _alike(home, chunk)), None)
        if free is None:
            homes.append((chunk, last))
            continue
        home = homes[free][0]
        homes[free] = (home, last)
        for wire in chunk.wires:
            layout.place[wire] = Place(home, layout.place[wire].view)
        home.wires += chunk.wires
        home.scope = common_scope([home.scope, chunk.scope], layout.graph.body)
        layout.chunks.remove(chunk)
    return len(homes) < len(spaces)


def _alike(a: Chunk, b: Chunk) -> bool:
    return rebuild(a.type, lambda t: t, lambda p: p) == rebuild(b.type, lambda t: t, lambda p: p)
