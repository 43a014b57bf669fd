"""Who reads what from whom, and where: the dependencies that scheduling and the iteration checks are made of.

A value read by a node is followed back through relations to where it was made: a node of the scope, the start of the scope, or the outside. On the
way the index maps met are collected. The cells read are in the image of every map met (d+), and not in the cells a `with` on the way has
replaced (d-): a write conflicts with the flow only if it meets all of d+ and is not within d- (thesis 7.1.2).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from atoll.madl import graph as g
from atoll.madl.causality import core_of, crossing, round_values
from atoll.madl.known import Known
from atoll.madl.layout import Chunk, Layout
from atoll.sizes import Sym
from atoll.views.index_map import IndexMap


@dataclass(frozen=True, slots=True)
class Read:
    """A wire needed, at cells in all of `within` and none of `without`."""

    wire: g.Wire
    within: tuple[IndexMap, ...]
    without: tuple[IndexMap, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    chunk: Chunk
    map: IndexMap
    wire: g.Wire
    node: g.Computing


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value comes from: a node, the start of the scope (None), or a wire of the outside."""

    node: g.Computing | None
    outside: g.Wire | None
    read: Read


@dataclass
class Dependencies:
    graph: g.Graph
    layout: Layout
    known: Known
    _nest_reads: dict[g.Nest, list[Read]] = field(default_factory=dict)
    _writes: dict[g.Computing, list[Write]] = field(default_factory=dict)

    # -- one scope

    def trace(self, wire: g.Wire, scopes: set[g.Scope]) -> list[Source]:
        """The origins of a wire, seen from the given scopes."""
        here = Read(wire, (self.layout.map(wire),))
        if wire.scope not in scopes:
            return [Source(None, wire, here)]
        producer = self.graph.producer.get(wire)
        if producer is None:
            return [] if wire.role in ("place", "chunk") else [Source(None, None, here)]
        if not isinstance(producer, g.Relation):
            return [Source(producer, None, here)]
        found = []
        if producer.construct == "with":
            (_, old), (_, new) = producer.parts
            replaced = self.layout.map(new)
            found += [_through(s, wire, here, (replaced,)) for s in self.trace(old, scopes)]
            found += [_through(s, wire, here) for s in self.trace(new, scopes)]
            return found
        for source in producer.sources():
            found += [_through(s, wire, here) for s in self.trace(source, scopes)]
        return found

    def reads(self, node: g.Computing) -> list[Read]:
        """What a node needs, in terms of wires of its scope or outside it."""
        match node:
            case g.Op(inputs=inputs, output=output):
                return self._plain([*inputs], [*inputs, output])
            case g.Copy(source=source, target=target):
                return self._plain([source], [source, target])
            case g.Call(inputs=inputs, chunks=chunks):
                return self._plain([*inputs], [*inputs, *chunks])
            case g.ResetCall(call=call):
                return self._plain([], list(call.chunks))
        if node not in self._nest_reads:
            self._nest_reads[node] = self._of_nest(node)
        return self._nest_reads[node]

    def _plain(self, inputs: list[g.Wire], placed: list[g.Wire]) -> list[Read]:
        needed = dict.fromkeys(inputs)
        for wire in placed:  # a place that depends on a value needs the value
            for sym in self.layout.map(wire).symbols():
                if isinstance(sym, Sym) and sym in self.graph.dynamic:
                    needed[self.graph.dynamic[sym][0]] = None
        return [Read(w, (self.layout.map(w),)) for w in needed]

    def _of_nest(self, nest: g.Nest) -> list[Read]:
        found: list[Read] = []
        if nest.condition is not None:
            found.append(Read(nest.condition, (self.layout.map(nest.condition),)))
        for position, scope in enumerate(nest.scopes):
            found += self.outer_reads(scope)
            found += self.start_reads(scope)
            for wire in [*([scope.condition] if scope.condition is not None else []), *round_values(self.graph, scope)]:
                found.append(Read(wire, (self.layout.map(wire),)))
            for _, parts in nest.merges:
                found += self._outside([Read(parts[position], (self.layout.map(parts[position]),))], {scope})
        return list(dict.fromkeys(found))

    def outer_reads(self, scope: g.Scope) -> list[Read]:
        """What the rounds of a scope read from outside it, other than through its state."""
        needed = [read for node in scope.nodes for read in self.reads(node)]
        needed += [Read(w, (self.layout.map(w),)) for w in crossing(scope)]
        found = self._outside(needed, {scope})
        return [*found, *self.core_reads(scope)]

    def core_reads(self, scope: g.Scope) -> list[Read]:
        """Parts of arrays under construction that are visible through their aliases."""
        wires = [w for whole, _ in scope.aliases for w in core_of(self.graph, scope, whole)]
        return [Read(w, (self.layout.map(w),)) for w in dict.fromkeys(wires)]

    def start_reads(self, scope: g.Scope) -> list[Read]:
        """What the start of a scope reads."""
        inside = {start.scope for start in scope.starts}
        needed = [read for start in scope.starts for node in start.scope.nodes for read in self.reads(node)]
        needed += [Read(v, (self.layout.map(v),)) for start in scope.starts for _, v in start.targets]
        return self._outside(needed, inside)

    def _outside(self, needed: list[Read], scopes: set[g.Scope]) -> list[Read]:
        found: dict[Read, None] = {}
        for read in needed:
            for source in self.trace(read.wire, scopes):
                if source.outside is not None:
                    found[_join(Read(source.outside, source.read.within, source.read.without), read)] = None
        return list(found)

    def writes(self, node: g.Computing) -> list[Write]:
        if node not in self._writes:
            self._writes[node] = self._find_writes(node)
        return self._writes[node]

    def _find_writes(self, node: g.Computing) -> list[Write]:
        match node:
            case g.Op(output=wire) | g.Copy(target=wire):
                return [self._write(wire, node)]
            case g.Call():
                return [self._write(w, node) for w in node.written()]
            case g.ResetCall(call=call):
                return [self._write(w, node) for w in call.state()]
        found = []
        for scope in node.scopes:
            found += self.start_writes(scope) + self.body_writes(scope)
        return found

    def _write(self, wire: g.Wire, node: g.Computing) -> Write:
        here = self.layout.place[wire]
        return Write(here.chunk, here.map, wire, node)

    def body_writes(self, scope: g.Scope) -> list[Write]:
        """What a round of a scope writes, nested scopes and their starts included."""
        return [w for node in scope.nodes for w in self.writes(node)]

    def start_writes(self, scope: g.Scope) -> list[Write]:
        return [w for start in scope.starts for node in start.scope.nodes for w in self.writes(node)]

    # -- state that must survive

    def persistent(self, node: g.Computing) -> list[Read]:
        """State inside a node that lives on when the node has run: nobody else may write it."""
        match node:
            case g.Call():
                return [Read(w, (self.layout.map(w),)) for w in node.state()]
            case g.Nest(scopes=scopes):
                found = []
                for scope in scopes:
                    if scope.reset != "restart":
                        found += [Read(w, (self.layout.map(w),)) for w, _ in scope.lasts]
                        found += [read for inner in scope.nodes for read in self.persistent(inner)]
                return list(dict.fromkeys(found))
        return []

    # -- conflicts

    def conflicts(self, read: Read, write: Write, depth: int, extra: tuple[Sym, str] | None = None) -> bool:
        """The write may destroy what is read."""
        if self.layout.chunk(read.wire) is not write.chunk:
            return False
        if any(self.known.disjoint(m, write.map, depth, extra) for m in read.within):
            return False
        return not any(self.known.includes(m, write.map) for m in read.without) or extra is not None


def _through(source: Source, wire: g.Wire, here: Read, replaced: tuple[IndexMap, ...] = ()) -> Source:
    read = source.read
    joined = Read(read.wire, tuple(dict.fromkeys((*read.within, *here.within))), (*read.without, *replaced))
    return Source(source.node, source.outside, joined)


def _join(origin: Read, use: Read) -> Read:
    within = tuple(dict.fromkeys((*origin.within, *use.within)))
    return Read(origin.wire, within, tuple(dict.fromkeys((*origin.without, *use.without))))
