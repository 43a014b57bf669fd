"""Every wire gets a place: a chunk of memory and an index map into it.

    memory     holds arguments or results: the caller supplies it
    state      initialised with the operator's instance: lives as long as it
    workspace  local, but of a size that is not a number: the caller supplies it
    local      a variable of the innermost scope that contains all its wires
    index      the counter of a loop; never written by the program
    none       only named by places; needs no memory

The root of a tree of views is chosen among the wires that are the whole chunk: an argument or result, else a named wire, the first in the
alphabet, which is what the thesis' compiler prints (`c` not `c0`). State of a loop that restarts is local to the scope around it, because that is
where its initial value is computed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from atoll.errors import Span, fail
from atoll.madl import graph as g
from atoll.madl.locations import Locations
from atoll.madl.tell import cell
from atoll.madl.typing import array_sizes, rebuild, show_size_named
from atoll.sizes import Poly, Sym, poly
from atoll.types.types import Type
from atoll.views.functor import ONE, Functor
from atoll.views.index_map import IDENTITY, IndexMap


@dataclass(eq=False)
class Chunk:
    name: str
    type: Type
    role: str
    scope: g.Scope
    wires: list[g.Wire] = field(default_factory=list)
    whole: g.Wire | None = None  # the wire the name comes from

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    chunk: Chunk
    view: Functor

    @property
    def map(self) -> IndexMap:
        return self.view.map


@dataclass(eq=False)
class Layout:
    graph: g.Graph
    place: dict[g.Wire, Place]
    chunks: list[Chunk]
    escapes: list[tuple[Span, str, str]]  # reported after the initialisation check, which explains more

    def map(self, wire: g.Wire) -> IndexMap:
        return self.place[wire].map

    def chunk(self, wire: g.Wire) -> Chunk:
        return self.place[wire].chunk

    def params(self) -> list[Chunk]:
        """The chunks a caller supplies, in the order of a call: arguments and results as they are declared, then workspaces, then state."""
        found = [c for c in self.chunks if c.role in ("memory", "state", "workspace")]
        declared: dict[Chunk, int] = {}
        for wire in [*self.graph.arguments, *self.graph.results]:
            declared.setdefault(self.chunk(wire), len(declared))
        last = {"memory": 0, "workspace": 1, "state": 2}
        return sorted(found, key=lambda c: (last[c.role], declared.get(c, 0), c.name, min(w.number for w in c.wires)))

    def told(self, wire: g.Wire) -> str:
        """The place of a wire in words."""
        here = self.place[wire]
        return cell(here.map, here.chunk.name, self.graph.size_names)


def lay_out(graph: g.Graph) -> Layout:
    locations = Locations(graph)
    groups: dict[g.Wire, list[tuple[g.Wire, Functor]]] = {}
    for wire in graph.wires:
        root, view = locations.root_of(wire)
        groups.setdefault(root, []).append((wire, view))
    place: dict[g.Wire, Place] = {}
    chunks = [_chunk(graph, members, place) for members in groups.values()]
    layout = Layout(graph, place, chunks, [])
    _roles(layout)
    _names(layout)
    _check_indices(layout)
    _check_state(layout)
    _escapes(layout)
    return layout


def _chunk(graph: g.Graph, members: list[tuple[g.Wire, Functor]], place: dict[g.Wire, Place]) -> Chunk:
    """Choose the root of one tree and express all its wires from there."""
    interface = {*graph.arguments, *graph.results}

    def preference(item: tuple[g.Wire, Functor]) -> tuple[bool, int, str, int, int]:
        wire, view = item
        rank = 0 if wire in interface else 1 if wire.name and wire.role != "place" else 2
        if rank == 2:  # no name: the wire nearest to the results, so that what is built last lies in order
            return (False, rank, "~", 0, -wire.number)
        return (bool(view.prims) and wire not in interface, rank, wire.name or "~", len(view.prims), wire.number)

    whole = min((m for m in members if m[1].invertible), key=preference)
    back = whole[1].inverse()
    chunk = Chunk("", whole[0].type, "local", graph.body)
    for wire, view in members:
        path = back.then(view)
        place[wire] = Place(chunk, ONE if path.map == IDENTITY and path.invertible else path)
        chunk.wires.append(wire)
    named = [w for w in chunk.wires if w.name and w.role not in ("place",) and place[w].map == IDENTITY]
    if named:
        chunk.whole = min(named, key=lambda w: (w.scope.depth, w.name or ""))
    return chunk


def scope_of_wire(graph: g.Graph, wire: g.Wire) -> g.Scope:
    scope = wire.scope
    while scope.kind == "init":
        scope = scope.parent or graph.body
    return scope


def common_scope(scopes: list[g.Scope], body: g.Scope) -> g.Scope:
    chains = [list(s.chain())[::-1] for s in scopes]
    found = body
    for level in zip(*chains, strict=False):
        if all(s is level[0] for s in level):
            found = level[0]
        else:
            break
    return found


def _roles(layout: Layout) -> None:
    graph = layout.graph
    interface = {*graph.arguments, *graph.results}
    states: set[Chunk] = set()
    homes: dict[Chunk, list[g.Scope]] = {}
    for node in g.scope_nodes(graph.body):
        if isinstance(node, g.Call) and node.home is not None:
            for wire in node.state():
                chunk = layout.chunk(wire)
                homes.setdefault(chunk, []).append(node.home.parent or graph.body)
                if node.home is graph.body:
                    states.add(chunk)
    for start in graph.body.starts:
        states |= {layout.chunk(flow) for flow, _ in start.targets}
    for chunk in layout.chunks:
        real = [w for w in chunk.wires if w.role != "place"]
        scopes = [scope_of_wire(graph, w) for w in real] + homes.get(chunk, [])
        chunk.scope = common_scope(scopes, graph.body) if scopes else graph.body
        if any(w.role == "index" for w in chunk.wires):
            chunk.role = "index"
        elif chunk in states:
            chunk.role = "state"
        elif any(w in interface for w in chunk.wires):
            chunk.role = "memory"
        elif not any(w.role == "chunk" or isinstance(graph.producer.get(w), (g.Op, g.Copy)) for w in chunk.wires):
            chunk.role = "none"
        elif any(p.const() is None for p in array_sizes(chunk.type)):
            _workspace(layout, chunk)
        if chunk.role in ("memory", "state", "workspace"):
            chunk.scope = graph.body


def _workspace(layout: Layout, chunk: Chunk) -> None:
    """A memory whose size is not a number is given by the caller. One whose size changes with the rounds of a loop is as large as the largest."""
    graph = layout.graph

    def largest(p: Poly) -> Poly:
        bound = p
        while loops := [leaf for leaf in bound.leaves() if leaf in graph.loops]:
            inner = max(loops, key=lambda leaf: graph.loops[leaf].depth)
            factor = bound.slope(inner)
            growth = factor.const() if factor is not None else None
            if growth is None:
                first = next((w for w in chunk.wires if w.name), chunk.wires[0])
                fail("E0942", first.span, name=first.shown, size=show_size_named(p, graph.size_names), where=graph.name)
            bound = bound.subst({inner: graph.loops[inner].extent if growth > 0 else poly(0)})
        return bound

    chunk.type = rebuild(chunk.type, lambda t: t, largest)
    if any(p.const() is None for p in array_sizes(chunk.type)):
        chunk.role = "workspace"


def _names(layout: Layout) -> None:
    graph = layout.graph
    results, arguments = set(graph.results), set(graph.arguments)
    used: set[str] = set()
    calls = [node for node in g.scope_nodes(graph.body) if isinstance(node, g.Call)]
    inner = {
        wire: f"{call.name}_{info.name}"  # what a called operator keeps for itself
        for call in calls
        for wire, info in zip(call.chunks, call.scheme.chunks, strict=True)
        if info.role in ("state", "workspace")
    }
    for chunk in sorted(layout.chunks, key=lambda c: (c.role not in ("memory", "state", "workspace"), min(w.number for w in c.wires))):
        if chunk.whole is not None and chunk.whole.name:
            base = chunk.whole.name
        else:
            kept = next((inner[w] for w in chunk.wires if w in inner), next((w.hint for w in chunk.wires if w.hint), "tmp"))
            base = "out" if results & set(chunk.wires) else "arg" if arguments & set(chunk.wires) else kept
        name, count = base, 2
        while name in used:
            name, count = f"{base}_{count}", count + 1
        used.add(name)
        chunk.name = name


def _check_indices(layout: Layout) -> None:
    """The index of a loop is no memory: it may be read in the loop, and copied."""
    for chunk in layout.chunks:
        index = next((w for w in chunk.wires if w.role == "index"), None)
        if index is None:
            continue
        for wire in chunk.wires:
            if not wire.scope.within(index.scope) or layout.map(wire) != IDENTITY or wire.role == "chunk":
                note = f"{wire.shown} would be the index {index.shown} itself"
                fail("E0938", wire.span, notes=[note], help=f"write !{index.shown}", where=layout.graph.name)


def _check_state(layout: Layout) -> None:
    graph = layout.graph
    for node in g.scope_nodes(graph.body):
        if isinstance(node, g.Call) and node.home is not None:
            for wire in node.state():
                for sym in layout.map(wire).symbols():
                    loop = graph.loops.get(sym)
                    if loop is not None and loop.within(node.home):
                        note = f"the result of {node.name} is its state, which would have to be at {layout.told(wire)}"
                        fail("E0923", node.span, notes=[note], help=f"copy it: !{node.name}(..)", where=graph.name)


def _escapes(layout: Layout) -> None:
    """A place that depends on the index of a loop, outside that loop; or on a value, where places must be fixed."""
    graph = layout.graph
    fixed: set[g.Wire] = {*graph.arguments, *graph.results}
    for scope in graph.scopes():
        fixed |= {w for pair in [*scope.lasts, *scope.accumulates, *scope.aggregates] for w in pair}
    for wire in graph.wires:
        if wire.role == "place":
            continue
        for sym in layout.map(wire).symbols():
            if not isinstance(sym, Sym):
                continue
            loop = graph.loops.get(sym)
            if loop is not None and not wire.scope.within(loop):
                note = f"{wire.shown} would be at {layout.told(wire)}, but {sym.name} is the index of a loop it is not in"
                layout.escapes.append((wire.span, note, f"copy it: !{wire.shown}, or let one cell stand for all: at repeat(_)"))
            if sym in graph.dynamic:
                value = graph.dynamic[sym][0]
                if wire in fixed or not wire.scope.within(value.scope):
                    what = f"the place of {wire.shown}, {layout.told(wire)},"
                    fail("E0939", wire.span, what=what, text=wire.shown, where=graph.name)
